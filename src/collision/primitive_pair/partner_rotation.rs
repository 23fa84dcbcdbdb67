// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the lever of a contact turns with the partner of a pair: a solid if there is one, otherwise the second feature.

use super::{PairKind, PrimitivePair, Trajectories};
use crate::{geometry::triangle_rotation, mesh::NO_INDEX, surface::CollisionMesh, vec3::Vec3};

/// A vector at the start of the trajectories, turned to their end by the mean of the triangles at the feature of
/// the partner.
pub(crate) fn turned_with_partner(
    pair: &PrimitivePair,
    mesh: &CollisionMesh,
    trajectories: Trajectories<'_>,
    vector: Vec3,
) -> Vec3 {
    let (mut sum, mut count) = (Vec3::zeros(), 0.0);
    for_each_partner_triangle(pair, mesh, |corners| {
        let [starts, ends] = [trajectories.starts, trajectories.ends]
            .map(|positions| corners.map(|vertex| positions[vertex as usize]));
        if starts != ends {
            sum += triangle_rotation(&starts, &ends) * vector - vector;
        }
        count += 1.0;
    });
    if count > 0.0 { vector + sum / count } else { vector }
}

/// Visits the triangles at the feature of the partner, by their corners.
fn for_each_partner_triangle(
    pair: &PrimitivePair,
    mesh: &CollisionMesh,
    mut visit: impl FnMut([u32; 3]),
) {
    let [first, second] = pair.representative_vertices().map(|vertex| mesh.is_cloth(vertex));
    let is_second = first || !second;
    let [_, a, b, c] = pair.vertices;
    match (pair.kind, is_second) {
        (PairKind::VertexFace, true) => visit([a, b, c]),
        (PairKind::VertexFace, false) => {
            let incident = mesh.vertex_triangles.elements_of(pair.vertices[0] as usize);
            incident.for_each(|(triangle, _)| visit(mesh.triangles[triangle as usize]));
        }
        (PairKind::EdgeEdge, _) => {
            let edge = pair.features[usize::from(is_second)] as usize;
            let [start, end] = mesh.edges[edge];
            let opposite = mesh.edge_adjacency[edge].opposite_vertices.into_iter();
            opposite
                .filter(|vertex| *vertex != NO_INDEX)
                .for_each(|vertex| visit([start, end, vertex]));
        }
    }
}
