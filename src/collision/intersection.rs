// SPDX-License-Identifier: MIT OR Apache-2.0
//! Edge–triangle intersections of the collision mesh.

use crate::{Vec3, geometry::segment_intersects_triangle, surface::CollisionMesh};

/// An edge that goes through a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Intersection {
    pub(crate) edge: u32,
    pub(crate) triangle: u32,
}

impl Intersection {
    /// Of the edge and of the triangle.
    pub(crate) fn bodies(self, surfaces: &CollisionMesh) -> [u32; 2] {
        let [end, _] = surfaces.edges[self.edge as usize];
        [surfaces.bodies[end as usize], surfaces.body_of_triangle(self.triangle)]
    }
}

/// Whether an edge goes through a triangle that it has no vertex in common with.
pub(crate) fn is_intersecting(
    surfaces: &CollisionMesh,
    positions: &[Vec3],
    crossing: Intersection,
) -> bool {
    let ends = surfaces.edges[crossing.edge as usize];
    let corners = surfaces.triangles[crossing.triangle as usize];
    let at = |vertex: u32| positions[vertex as usize];
    let [from, to] = ends.map(at);
    !ends.iter().any(|vertex| corners.contains(vertex))
        && !surfaces.excludes_pair(&ends, &corners)
        && segment_intersects_triangle(&from, &to, &corners.map(at))
}
