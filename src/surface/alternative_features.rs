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

#[cfg(test)]
mod tests {
    use super::super::{ContactFilter, SurfaceProperties};
    use super::*;
    use crate::{
        mesh::{Polygons, RestPositions},
        vec3::Vec3,
    };

    #[test]
    fn alternatives_come_behind_the_triangles_in_use() {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let positions: Vec<Vec3> = square.iter().map(|p| Vec3::new(p[0], p[1], 0.0)).collect();
        let face = Polygons::new(&[4], &[0, 1, 2, 3], 4).unwrap();
        let cut = [[0, 1, 2], [0, 2, 3]];
        let collider = Collider::new(positions.clone(), &cut, 0.0, 0.0).unwrap();
        let collider = collider.with_faces(face.clone()).unwrap();
        let triangles = [[0, 1, 2], [0, 2, 3]];
        let mut cloths = ClothCollisionData {
            triangles: &triangles,
            alternatives: face.alternatives(RestPositions::Vertex(&positions), &triangles),
            vertex_offsets: &[0, 4],
            surface_properties: vec![SurfaceProperties { friction: 0.0, thickness: 0.0 }],
            rest_positions: positions.into(),
            vertex_areas: vec![0.25; 4].into(),
            seams: &[],
            contact_filter: ContactFilter::default(),
            friction_scale: Vec::new(),
            layers: Vec::new(),
        };
        let (alternatives, triangles, in_use) =
            AlternativeFeatures::new(&mut cloths, &[collider], 8);
        assert_eq!(triangles[2..4], [[0, 1, 3], [1, 2, 3]]);
        assert_eq!(triangles[6..], [[4, 5, 7], [5, 6, 7]]);
        assert_eq!(alternatives.others().collect::<Vec<u32>>(), [0, 1, 4, 5]);
        assert_eq!(alternatives.face_corners(3), Some(&[0, 1, 2, 3][..]));
        assert_eq!(alternatives.face_corners(4), None);
        assert_eq!(alternatives.face_corners(6), Some(&[4, 5, 6, 7][..]));
        assert_eq!(alternatives.at_vertex(5).collect::<Vec<_>>(), [(6, 1), (7, 0)]);
        assert_eq!(in_use.elements_of(5).collect::<Vec<_>>(), [(4, 1)]);
    }
}
