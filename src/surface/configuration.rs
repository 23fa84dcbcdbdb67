// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration: the collision mesh with the positions of its vertices at one time.

use super::collision_mesh::CollisionMesh;
use crate::{mesh::NO_INDEX, vec3::Vec3};

/// Collision mesh with the positions of all its vertices at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Configuration<'a> {
    pub(crate) mesh: &'a CollisionMesh,
    /// Positions of all vertices, in m.
    pub(crate) positions: &'a [Vec3],
}

impl Configuration<'_> {
    /// Position of a vertex, in m.
    pub(crate) fn position(self, vertex: u32) -> Vec3 {
        self.positions[vertex as usize]
    }

    /// Positions of the ends of an edge, in m.
    pub(crate) fn edge_ends(self, edge: u32) -> [Vec3; 2] {
        self.mesh.edges[edge as usize].map(|vertex| self.position(vertex))
    }

    /// Positions of the corners of a triangle, in m.
    pub(crate) fn triangle_corners(self, triangle: u32) -> [Vec3; 3] {
        self.mesh.triangles[triangle as usize].map(|vertex| self.position(vertex))
    }

    /// Unit normal of a triangle; `None` for one without area.
    pub(crate) fn triangle_normal(self, triangle: u32) -> Option<Vec3> {
        let [a, b, c] = self.triangle_corners(triangle);
        (b - a).cross(&(c - a)).try_normalize(f64::MIN_POSITIVE)
    }

    /// Signed height of a vertex over the plane of a triangle, in m; 0 for one without area.
    pub(crate) fn signed_height(self, triangle: u32, vertex: u32) -> f64 {
        let corner = self.position(self.mesh.triangles[triangle as usize][0]);
        let normal = self.triangle_normal(triangle).unwrap_or_else(Vec3::zeros);
        (self.position(vertex) - corner).dot(&normal)
    }

    /// Whether a vertex is a reflex corner of a face: what lies beside it in the face is turned against the face as a
    /// whole.
    pub(crate) fn is_reflex_corner(self, face: &[u32], vertex: u32) -> bool {
        let Some(place) = face.iter().position(|corner| *corner == vertex) else { return false };
        let count = face.len();
        let at = |place: usize| self.position(face[place % count]) - self.position(vertex);
        let turn = |place: usize| at(place).cross(&at(place + 1));
        let area: Vec3 = (0..count).map(turn).sum();
        at(place + 1).cross(&at(place + count - 1)).dot(&area) < 0.0
    }

    /// Whether any of the vertices is a reflex corner of a face.
    pub(crate) fn is_at_reflex_corner(self, face: &[u32], vertices: &[u32]) -> bool {
        vertices.iter().any(|vertex| self.is_reflex_corner(face, *vertex))
    }

    /// Directions across an edge into its adjacent triangles.
    pub(crate) fn directions_into_adjacent_triangles(
        self,
        edge: u32,
    ) -> impl Iterator<Item = Vec3> {
        let [start, end] = self.edge_ends(edge);
        let along = end - start;
        let adjacency = self.mesh.edge_adjacency[edge as usize];
        let opposite = adjacency.opposite_vertices.into_iter().filter(|vertex| *vertex != NO_INDEX);
        opposite.map(move |vertex| {
            let side = self.position(vertex) - start;
            side * along.norm_squared() - along * side.dot(&along)
        })
    }

    /// Directions of the edges at a vertex.
    pub(crate) fn edge_directions_at_vertex(self, vertex: u32) -> impl Iterator<Item = Vec3> {
        let incident = self.mesh.vertex_triangles.elements_of(vertex as usize);
        let corners =
            incident.flat_map(move |(triangle, _)| self.mesh.triangles[triangle as usize]);
        corners.map(move |other| self.position(other) - self.position(vertex))
    }
}
