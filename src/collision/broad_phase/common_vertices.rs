// SPDX-License-Identifier: MIT OR Apache-2.0
//! Features of cloth with a common vertex: most pairs of one cloth whose boxes overlap, and never in
//! contact. The walks through the trees leave them out.

use super::FeatureTrees;
use crate::{geometry::PairExclusions, mesh::Incidence, surface::CollisionMesh};

/// Parameters of the excluded pairs.
struct CommonVertexParameters {
    /// Most edges at a vertex whose pairs are excluded (1): their number is quadratic in it. Effect:
    /// speed and memory only; pairs that are not excluded are rejected one by one. Evidence: a
    /// regular mesh with the alternative diagonals of its faces has 8.
    max_edges_at_vertex: usize,
}

impl CommonVertexParameters {
    const DEFAULT: Self = Self { max_edges_at_vertex: 32 };
}

/// Pairs of features of cloth with a common vertex.
#[derive(Clone, Debug, Default)]
pub(super) struct CommonVertices {
    /// Of a vertex and a triangle.
    pub(super) vertex_faces: PairExclusions,
    /// Of two edges.
    pub(super) edges: PairExclusions,
}

impl CommonVertices {
    /// Pairs of the trees of the cloths.
    pub(super) fn new(mesh: &CollisionMesh, cloths: &FeatureTrees) -> Self {
        let triangles = (0..).zip(&mesh.triangles[..mesh.cloth_triangle_count]);
        let vertex_faces = triangles
            .flat_map(|(triangle, corners): (u32, _)| corners.map(|vertex| [vertex, triangle]));
        let edges = &mesh.edges[..mesh.cloth_edge_count];
        let incident = Incidence::new(edges, mesh.cloth_vertex_count);
        let pairs_at = |vertex: usize| {
            let max = CommonVertexParameters::DEFAULT.max_edges_at_vertex;
            let at_vertex: Vec<u32> =
                incident.elements_of(vertex).map(|(edge, _)| edge).take(max + 1).collect();
            let excluded = if at_vertex.len() > max { Vec::new() } else { at_vertex };
            let pairs = |(place, one): (usize, &u32)| {
                let others = excluded[..place].iter();
                others.map(|other| [*other, *one]).collect::<Vec<[u32; 2]>>()
            };
            excluded.iter().enumerate().flat_map(pairs).collect::<Vec<[u32; 2]>>()
        };
        Self {
            vertex_faces: PairExclusions::between(
                &cloths.vertices,
                &cloths.triangles,
                vertex_faces,
            ),
            edges: PairExclusions::within(
                &cloths.edges,
                (0..mesh.cloth_vertex_count).flat_map(pairs_at),
            ),
        }
    }
}
