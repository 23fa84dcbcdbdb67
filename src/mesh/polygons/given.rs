// SPDX-License-Identifier: MIT OR Apache-2.0
//! Triangles that the caller cuts the faces into.

use super::Polygons;
use crate::error::{Error, Result};

/// Triangles of all faces, in the order of the faces, by the corners of their faces in ascending order.
#[derive(Clone, Debug)]
pub(super) struct GivenTriangles(Vec<[usize; 3]>);

impl GivenTriangles {
    /// Checks that the triangles tile the faces. They may be wound either way.
    pub(super) fn new(polygons: &Polygons, triangles: &[[usize; 3]]) -> Result<Self> {
        let count = polygons.corner_count() - 2 * polygons.count();
        if triangles.len() != count {
            let wanted = format!("{count}, two fewer than its corners of every face");
            let found = format!("{} triangles", triangles.len());
            return Err(Error::value("triangles", found, wanted));
        }
        let mut cuts = Vec::with_capacity(count);
        for face in 0..polygons.count() {
            let first = cuts.len();
            let vertices = polygons.face(face);
            let own = triangles.iter().enumerate().skip(first).take(vertices.len() - 2);
            for (triangle, corners) in own {
                cuts.push(corners_of(vertices, *corners, face, triangle)?);
            }
            check_tiling(vertices.len(), &cuts[first..], face, first)?;
        }
        Ok(Self(cuts))
    }

    /// Triangles of a face.
    pub(super) fn of_face(&self, polygons: &Polygons, face: usize) -> &[[usize; 3]] {
        let first = polygons.first_corner(face) - 2 * face;
        &self.0[first..first + polygons.face(face).len() - 2]
    }
}

/// Corners of a face that are the vertices of a triangle, in ascending order.
fn corners_of(
    face_vertices: &[u32],
    vertices: [usize; 3],
    face: usize,
    triangle: usize,
) -> Result<[usize; 3]> {
    let refused = |found: String| {
        let wanted = format!("three corners of face {face}: triangles come in the order of faces");
        Err(Error::element("triangles", "triangle", triangle, found, wanted))
    };
    let mut corners = [0; 3];
    for (corner, vertex) in corners.iter_mut().zip(vertices) {
        match face_vertices.iter().position(|own| *own as usize == vertex) {
            Some(place) => *corner = place,
            None => return refused(format!("vertex {vertex}")),
        }
    }
    corners.sort_unstable();
    if corners[0] == corners[1] || corners[1] == corners[2] {
        return refused("a vertex twice".to_owned());
    }
    Ok(corners)
}

/// Checks that triangles, which all go around like their face, leave nothing of it out and do not overlap: each side
/// is one of the face, or runs once in either direction.
fn check_tiling(count: usize, cuts: &[[usize; 3]], face: usize, first: usize) -> Result<()> {
    let sides_of = |[a, b, c]: [usize; 3]| [[a, b], [b, c], [c, a]];
    let mut sides: Vec<[usize; 2]> = cuts.iter().copied().flat_map(sides_of).collect();
    sides.sort_unstable();
    let times = |side: [usize; 2]| {
        sides.partition_point(|one| *one <= side) - sides.partition_point(|one| *one < side)
    };
    let is_wrong = |[start, end]: [usize; 2]| {
        let is_of_face = end == (start + 1) % count;
        times([start, end]) > 1 || !(is_of_face || times([end, start]) == 1)
    };
    match cuts.iter().position(|cut| sides_of(*cut).into_iter().any(is_wrong)) {
        None => Ok(()),
        Some(index) => {
            let found = "overlaps another, or leaves a gap";
            let wanted = format!("triangles that tile face {face}");
            Err(Error::element("triangles", "triangle", first + index, found, wanted))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::RestPositions;
    use crate::vec3::Vec3;

    fn faces() -> Polygons {
        Polygons::new(&[4, 3, 5], &[3, 2, 1, 0, 4, 5, 6, 7, 8, 9, 10, 11], 12).unwrap()
    }

    const PENTAGON: [[usize; 3]; 3] = [[7, 8, 9], [10, 9, 7], [10, 11, 7]];

    #[test]
    fn triangles_of_either_winding_cut_their_face() {
        let triangles = [&[[1, 2, 0], [2, 3, 0], [4, 5, 6]][..], &PENTAGON].concat();
        let polygons = faces().with_triangles(&triangles).unwrap();
        assert_eq!(polygons.given_triangles(0), Some(&[[1, 2, 3], [0, 1, 3]][..]));
        assert_eq!(polygons.given_triangles(2), Some(&[[0, 1, 2], [0, 2, 3], [0, 3, 4]][..]));
        let points: Vec<Vec3> =
            (0..12).map(f64::from).map(|k| Vec3::new(k.cos(), k.sin(), 0.01 * k * k)).collect();
        let cut = polygons.triangulate(RestPositions::Vertex(&points)).unwrap();
        assert_eq!(cut.triangles[..2], [[2, 1, 0], [3, 2, 0]]);
    }

    #[test]
    fn triangles_that_do_not_tile_their_face_are_named() {
        for (quad, wanted) in [
            ([[3, 2, 1], [2, 1, 0]], "triangle 0"),
            ([[3, 2, 1], [3, 2, 1]], "triangle 0"),
            ([[3, 2, 1], [1, 0, 4]], "triangle 1"),
            ([[3, 2, 1], [1, 0, 0]], "triangle 1"),
        ] {
            let triangles = [&quad[..], &[[4, 5, 6]], &PENTAGON].concat();
            let error = faces().with_triangles(&triangles).unwrap_err().to_string();
            assert!(error.contains("triangles") && error.contains(wanted), "{error}");
        }
        let error = faces().with_triangles(&PENTAGON).unwrap_err().to_string();
        assert!(error.contains("3 triangles") && error.contains('6'), "{error}");
    }
}
