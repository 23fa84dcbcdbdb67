// SPDX-License-Identifier: MIT OR Apache-2.0
//! Alternative triangles in the collision mesh (see [`AlternativeTriangles`]): behind the triangles of the cloths come
//! their alternatives, and behind those of the colliders theirs.

use super::{collision_mesh::ClothCollisionData, outward_winding::wound_outward};
use crate::{
    mesh::{AlternativeTriangles, Incidence},
    scene::Collider,
};

/// Alternative triangles of all cloths and colliders.
#[derive(Clone, Debug)]
pub(super) struct AlternativeFeatures {
    faces: AlternativeTriangles,
    /// Alternatives around every vertex.
    at_vertices: Incidence,
    /// Number of alternatives of cloths.
    cloth_count: usize,
    /// First alternative of the cloths and of the colliders among all triangles.
    starts: [usize; 2],
    /// First triangle of a collider.
    pub(super) first_collider_triangle: usize,
}

impl AlternativeFeatures {
    /// Takes the alternatives of cloths and colliders, and gives all triangles in their order, and those around every
    /// vertex without alternatives. Triangles of colliders are wound to face outward.
    pub(super) fn new(
        cloths: &mut ClothCollisionData<'_>,
        colliders: &[Collider],
        vertex_count: usize,
    ) -> (Self, Vec<[u32; 3]>, Incidence) {
        let mut faces = std::mem::take(&mut cloths.alternatives);
        let cloth_count = faces.triangles.len();
        let mut triangles = cloths.triangles.to_vec();
        let first_alternative = triangles.len();
        triangles.extend_from_slice(&faces.triangles);
        let first_collider_triangle = triangles.len();
        let mut first = cloths.rest_positions.len() as u32;
        for collider in colliders {
            let outward = wound_outward(&collider.triangles, collider.initial_positions());
            triangles.extend(outward.into_iter().map(|corners| corners.map(|v| v + first)));
            faces.append(&collider.alternatives, first);
            first += collider.vertex_count() as u32;
        }
        let starts = [first_alternative, triangles.len()];
        triangles.extend_from_slice(&faces.triangles[cloth_count..]);
        faces.triangles = Vec::new();
        let mut alternatives = Self {
            faces,
            at_vertices: Incidence::default(),
            cloth_count,
            starts,
            first_collider_triangle,
        };
        let all = Incidence::new(&triangles, vertex_count);
        alternatives.at_vertices = all.filtered(|triangle| alternatives.contains(triangle));
        let in_use = all.filtered(|triangle| !alternatives.contains(triangle));
        (alternatives, triangles, in_use)
    }

    /// Whether a triangle is an alternative.
    pub(super) fn contains(&self, triangle: u32) -> bool {
        self.place_of(triangle as usize).is_some()
    }

    /// Place of a triangle among the alternatives.
    fn place_of(&self, triangle: usize) -> Option<usize> {
        let [of_cloths, of_colliders] = self.starts;
        if triangle >= of_colliders {
            Some(triangle - of_colliders + self.cloth_count)
        } else if triangle < self.first_collider_triangle {
            triangle.checked_sub(of_cloths)
        } else {
            None
        }
    }

    /// Vertices around the face of an alternative; `None` for any other triangle.
    pub(super) fn face_corners(&self, triangle: u32) -> Option<&[u32]> {
        self.place_of(triangle as usize).map(|place| self.faces.face_corners(place))
    }

    /// Triangles that are no alternatives.
    pub(super) fn others(&self) -> impl Iterator<Item = u32> + use<> {
        let [of_cloths, of_colliders] = self.starts.map(|start| start as u32);
        (0..of_cloths).chain(self.first_collider_triangle as u32..of_colliders)
    }

    /// Alternatives around a vertex, each with the vertex's corner in it.
    pub(super) fn at_vertex(&self, vertex: u32) -> impl Iterator<Item = (u32, u8)> {
        self.at_vertices.elements_of(vertex as usize)
    }
}
