// SPDX-License-Identifier: MIT OR Apache-2.0
//! Input polygons, checked; every error names the index. They are cut into triangles by the caller (see `given`) or here (see
//! `triangulation`); the other triangles that they may be cut into are `alternatives`.

mod alternatives;
mod given;
mod rest_positions;
mod triangulation;

pub use alternatives::AlternativeTriangles;
pub(crate) use rest_positions::RestPositions;
pub(super) use triangulation::TriangulatedFaces;

use crate::{
    error::{Error, Result},
    vec3::Vec3,
};
use given::GivenTriangles;

/// Faces of three and more corners, as offsets into one list of corners.
#[derive(Clone, Debug)]
pub struct Polygons {
    starts: Vec<usize>,
    corners: Vec<u32>,
    /// The triangles that the faces are cut into, where the caller has chosen them.
    triangles: Option<GivenTriangles>,
}

impl Polygons {
    /// Faces from their corner counts and all corners in one list.
    ///
    /// # Errors
    /// A face with fewer than three corners or a corner twice, an index that is no vertex, or no face
    /// at all.
    ///
    /// # Panics
    /// If `counts` do not add up to the number of corners.
    pub fn new(counts: &[usize], corners: &[usize], vertex_count: usize) -> Result<Self> {
        if counts.is_empty() {
            return Err(Error::value("faces", "no faces", "one face or more"));
        }
        assert_eq!(counts.iter().sum::<usize>(), corners.len(), "corner counts");
        let mut starts = vec![0];
        for (face, count) in counts.iter().enumerate() {
            let start = starts[face];
            check_face(face, &corners[start..start + count], vertex_count)?;
            starts.push(start + count);
        }
        let corners = corners.iter().map(|corner| *corner as u32).collect();
        Ok(Self { starts, corners, triangles: None })
    }

    /// Chooses the triangles that the faces are cut into, those of each face together and in the order of the faces.
    ///
    /// # Errors
    /// Names the first triangle that is none of its face, or overlaps another, or the wrong number of triangles.
    pub fn with_triangles(mut self, triangles: &[[usize; 3]]) -> Result<Self> {
        self.triangles = Some(GivenTriangles::new(&self, triangles)?);
        Ok(self)
    }

    /// Number of faces.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of corners of all faces.
    #[must_use]
    pub fn corner_count(&self) -> usize {
        self.corners.len()
    }

    /// The vertices around a face.
    #[must_use]
    pub fn face(&self, face: usize) -> &[u32] {
        &self.corners[self.starts[face]..self.starts[face + 1]]
    }

    /// Number above every vertex of a face.
    pub(super) fn vertex_limit(&self) -> usize {
        self.corners.iter().max().map_or(0, |last| *last as usize + 1)
    }

    /// Index of the first corner of a face in the list of all corners.
    #[must_use]
    pub fn first_corner(&self, face: usize) -> usize {
        self.starts[face]
    }

    /// The triangles of a face by its corners, where the caller has chosen them.
    pub(super) fn given_triangles(&self, face: usize) -> Option<&[[usize; 3]]> {
        self.triangles.as_ref().map(|given| given.of_face(self, face))
    }

    /// The other triangles that the faces may be cut into in a shape, beside
    /// `triangles`, which come face by face.
    pub(crate) fn alternatives(
        &self,
        shape: RestPositions<'_>,
        triangles: &[[u32; 3]],
    ) -> AlternativeTriangles {
        AlternativeTriangles::new(self, shape, triangles)
    }

    /// Cuts every face into triangles, in its rest shape.
    pub(super) fn triangulate(&self, shape: RestPositions<'_>) -> Result<TriangulatedFaces> {
        triangulation::triangulate(self, shape)
    }
}

fn check_face(face: usize, corners: &[usize], vertex_count: usize) -> Result<()> {
    let refused =
        |found: String, wanted: &str| Err(Error::element("faces", "face", face, found, wanted));
    if corners.len() < 3 {
        return refused(format!("{} corners", corners.len()), "three corners or more");
    }
    if let Some(index) = corners.iter().find(|index| **index >= vertex_count) {
        let wanted = format!("an index below the {vertex_count} vertices");
        return refused(format!("vertex {index}"), &wanted);
    }
    let mut sorted = corners.to_vec();
    sorted.sort_unstable();
    let mut neighbours = sorted.iter().zip(&sorted[1..]);
    if let Some((twice, _)) = neighbours.find(|(first, second)| first == second) {
        return refused(format!("degenerate: vertex {twice} twice"), "distinct vertices");
    }
    Ok(())
}

/// Refuses an empty list of positions or one with a coordinate that is no finite number.
///
/// # Errors
/// Names the argument and the first such vertex.
pub fn check_positions(argument: &str, positions: &[Vec3]) -> Result<()> {
    if positions.is_empty() {
        return Err(Error::value(argument, "no vertices", "one vertex or more"));
    }
    match positions.iter().position(|point| !point.iter().all(|value| value.is_finite())) {
        Some(vertex) => {
            let point = positions[vertex];
            let found = format!("({}, {}, {})", point.x, point.y, point.z);
            Err(Error::element(argument, "vertex", vertex, found, "finite coordinates"))
        }
        None => Ok(()),
    }
}
