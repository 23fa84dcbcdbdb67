// SPDX-License-Identifier: MIT OR Apache-2.0
//! Edge–triangle intersections of the collision mesh.

use crate::{
    geometry::segment_intersects_triangle,
    surface::{CollisionMesh, Configuration},
};

/// Edge and triangle that intersect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Intersection {
    pub(crate) edge: u32,
    pub(crate) triangle: u32,
}

impl Intersection {
    /// Whether the edge or the triangle is an alternative.
    pub(crate) fn is_alternative(self, mesh: &CollisionMesh) -> bool {
        mesh.is_alternative_edge(self.edge) || mesh.is_alternative_triangle(self.triangle)
    }

    /// Whether the edge or the triangle belongs to a strip between both sides of a seam.
    pub(crate) fn is_of_strip(self, mesh: &CollisionMesh) -> bool {
        mesh.seam_strips.has_edge(self.edge) || mesh.seam_strips.triangles.contains(&self.triangle)
    }

    /// Whether one of them belongs to a strip between both sides of a seam, and the other to cloth.
    pub(crate) fn is_between_strip_and_cloth(self, mesh: &CollisionMesh) -> bool {
        let is_edge_of_strip = mesh.seam_strips.has_edge(self.edge);
        is_edge_of_strip != mesh.seam_strips.triangles.contains(&self.triangle)
            && self.bodies(mesh).iter().all(|body| (*body as usize) < mesh.cloth_count)
    }

    /// Bodies of the edge and of the triangle.
    pub(crate) fn bodies(self, mesh: &CollisionMesh) -> [u32; 2] {
        let [end, _] = mesh.edges[self.edge as usize];
        [mesh.bodies[end as usize], mesh.body_of_triangle(self.triangle)]
    }
}

/// Whether an edge passes through a triangle without a common vertex, in a pair that is not excluded.
pub(crate) fn is_intersecting(
    configuration: Configuration<'_>,
    Intersection { edge, triangle }: Intersection,
) -> bool {
    let mesh = configuration.mesh;
    let ends = mesh.edges[edge as usize];
    let corners = mesh.triangles[triangle as usize];
    let [start, end] = configuration.edge_ends(edge);
    !ends.iter().any(|vertex| corners.contains(vertex))
        && !mesh.triangle_edges[triangle as usize]
            .iter()
            .any(|side| mesh.are_crossing_diagonals(edge, *side))
        && !mesh.excludes_pair(&ends, &corners)
        && segment_intersects_triangle(&start, &end, &configuration.triangle_corners(triangle))
}
