// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the corners of faces are at rest.
//!
//! A surface that was welded from panels has no common shape at rest: each panel is flat for itself. Baraff and Witkin
//! 1998, section 4.2, take the (u, v) of every triangle for its own, so that panels that are sewn share vertices; here
//! positions at rest are those of face corners then.

use super::{Polygons, TriangulatedFaces};
use crate::vec3::Vec3;

/// Positions of face corners at rest, in m.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RestPositions<'a> {
    /// One for each vertex.
    Vertex(&'a [Vec3]),
    /// One for each face corner, in the order of the faces.
    Corner(&'a [Vec3]),
}

impl RestPositions<'_> {
    /// Corners of a face.
    pub(in crate::mesh) fn of_face(&self, polygons: &Polygons, face: usize) -> Vec<Vec3> {
        let vertices = polygons.face(face);
        match self {
            Self::Vertex(positions) => vertices.iter().map(|v| positions[*v as usize]).collect(),
            Self::Corner(positions) => {
                let first = polygons.first_corner(face);
                positions[first..first + vertices.len()].to_vec()
            }
        }
    }

    /// Corners of a triangle as it was cut.
    pub(in crate::mesh) fn of_triangle(
        &self,
        cut: &TriangulatedFaces,
        triangle: usize,
    ) -> [Vec3; 3] {
        let pick =
            |positions: &[Vec3], indices: [u32; 3]| indices.map(|index| positions[index as usize]);
        match self {
            Self::Vertex(positions) => pick(positions, cut.triangles[triangle]),
            Self::Corner(positions) => pick(positions, cut.corners[triangle]),
        }
    }
}
