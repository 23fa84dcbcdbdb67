// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cutting polygons into triangles, in their rest shape.
//!
//! A quad is cut along its shorter diagonal. Where both are as long, as on a grid, the diagonals are
//! made to meet: the resulting pattern alternates and has no preferred direction. A face of more corners
//! loses its best-shaped ear until a triangle is left.

use super::polygons::Polygons;
use super::triangle;
use crate::{
    Vec3,
    error::{Error, Result},
};

/// Triangles with what is needed to trace them back to the faces they were cut from.
#[derive(Clone, Debug, Default)]
pub(super) struct CutFaces {
    /// Vertices of each triangle.
    pub(super) triangles: Vec<[u32; 3]>,
    /// The same corners as indices into the list of all face corners.
    pub(super) corners: Vec<[u32; 3]>,
    /// The face each triangle was cut from.
    pub(super) faces: Vec<u32>,
}

impl CutFaces {
    fn push(&mut self, polygons: &Polygons, face: usize, cut: [usize; 3]) {
        let vertices = polygons.face(face);
        let first = polygons.first_corner(face);
        self.triangles.push(cut.map(|corner| vertices[corner]));
        self.corners.push(cut.map(|corner| (first + corner) as u32));
        self.faces.push(face as u32);
    }
}

/// Two diagonals count as equally long below this relative difference.
const SAME_LENGTH: f64 = 1.0e-3;

pub(super) fn triangulate(polygons: &Polygons, positions: &[Vec3]) -> Result<CutFaces> {
    let mut cut = CutFaces::default();
    // Number of diagonals that end at each vertex so far.
    let mut diagonals = vec![0_u32; positions.len()];
    for face in 0..polygons.count() {
        let vertices = polygons.face(face);
        let points: Vec<Vec3> = vertices.iter().map(|v| positions[*v as usize]).collect();
        let normal = newell_normal(&points);
        check_area(face, &points, &normal)?;
        let triangles = match vertices.len() {
            3 => vec![[0, 1, 2]],
            4 => cut_quad(&points, &normal, vertices, &mut diagonals),
            _ => cut_ears(&points, &normal),
        };
        for triangle in triangles {
            let [a, b, c] = triangle.map(|corner| points[corner]);
            if triangle::is_degenerate(&a, &b, &c) {
                return Err(degenerate(face));
            }
            cut.push(polygons, face, triangle);
        }
    }
    Ok(cut)
}

fn degenerate(face: usize) -> Error {
    Error::element("faces", "face", face, "degenerate: no area at rest", "a face with an area")
}

/// Twice the vector area of a closed polygon.
fn newell_normal(points: &[Vec3]) -> Vec3 {
    let origin = points[0];
    points
        .windows(2)
        .map(|pair| (pair[0] - origin).cross(&(pair[1] - origin)))
        .fold(Vec3::zeros(), |sum, part| sum + part)
}

fn check_area(face: usize, points: &[Vec3], normal: &Vec3) -> Result<()> {
    let extent = points.iter().map(|point| (point - points[0]).norm()).fold(0.0, f64::max);
    if normal.norm() <= triangle::SMALLEST_AREA_RATIO * extent * extent {
        return Err(degenerate(face));
    }
    Ok(())
}

fn cut_quad(
    points: &[Vec3],
    normal: &Vec3,
    vertices: &[u32],
    diagonals: &mut [u32],
) -> Vec<[usize; 3]> {
    let convex = (0..4)
        .all(|corner| turn(points, normal, [corner, (corner + 1) % 4, (corner + 2) % 4]) > 0.0);
    if !convex {
        return cut_ears(points, normal);
    }
    let first = (points[2] - points[0]).norm();
    let second = (points[3] - points[1]).norm();
    let meeting = |corners: [usize; 2]| -> u32 {
        corners.iter().map(|corner| diagonals[vertices[*corner] as usize]).sum()
    };
    let along_first = if (first - second).abs() <= SAME_LENGTH * first {
        meeting([0, 2]) >= meeting([1, 3])
    } else {
        first < second
    };
    let (ends, triangles) = if along_first {
        ([0, 2], vec![[0, 1, 2], [0, 2, 3]])
    } else {
        ([1, 3], vec![[0, 1, 3], [1, 2, 3]])
    };
    for end in ends {
        diagonals[vertices[end] as usize] += 1;
    }
    triangles
}

/// Twice the signed area of three corners, seen from the side `normal` points to.
fn turn(points: &[Vec3], normal: &Vec3, [a, b, c]: [usize; 3]) -> f64 {
    (points[b] - points[a]).cross(&(points[c] - points[b])).dot(normal)
}

fn cut_ears(points: &[Vec3], normal: &Vec3) -> Vec<[usize; 3]> {
    let mut ring: Vec<usize> = (0..points.len()).collect();
    let mut triangles = Vec::with_capacity(points.len() - 2);
    while ring.len() > 3 {
        let ear = best_ear(points, normal, &ring);
        triangles.push(ear_corners(&ring, ear));
        ring.remove(ear);
    }
    triangles.push([ring[0], ring[1], ring[2]]);
    triangles
}

fn ear_corners(ring: &[usize], ear: usize) -> [usize; 3] {
    let count = ring.len();
    [ring[(ear + count - 1) % count], ring[ear], ring[(ear + 1) % count]]
}

/// The corner that makes the best-shaped triangle with its neighbours. Among corners of a polygon that
/// crosses itself, where no ear is free of other corners, the best-shaped one all the same.
fn best_ear(points: &[Vec3], normal: &Vec3, ring: &[usize]) -> usize {
    let score = |ear: usize| {
        let corners = ear_corners(ring, ear);
        let [a, b, c] = corners.map(|corner| points[corner]);
        let shape = triangle::shape(&a, &b, &c);
        let blocked = turn(points, normal, corners) <= 0.0
            || ring.iter().any(|other| inside(points, normal, corners, *other));
        if blocked { shape - 2.0 } else { shape }
    };
    let mut best = (0, f64::NEG_INFINITY);
    for ear in 0..ring.len() {
        let value = score(ear);
        if value > best.1 {
            best = (ear, value);
        }
    }
    best.0
}

fn inside(points: &[Vec3], normal: &Vec3, [a, b, c]: [usize; 3], other: usize) -> bool {
    ![a, b, c].contains(&other)
        && turn(points, normal, [a, b, other]) >= 0.0
        && turn(points, normal, [b, c, other]) >= 0.0
        && turn(points, normal, [c, a, other]) >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(positions: &[[f64; 3]], faces: &[&[usize]]) -> Result<CutFaces> {
        let counts: Vec<usize> = faces.iter().map(|face| face.len()).collect();
        let corners: Vec<usize> = faces.concat();
        let points: Vec<Vec3> = positions.iter().map(|p| Vec3::from(*p)).collect();
        Polygons::new(&counts, &corners, points.len())?.triangulate(&points)
    }

    fn area(positions: &[[f64; 3]], cut: &CutFaces) -> f64 {
        let point = |v: u32| Vec3::from(positions[v as usize]);
        let one = |t: &[u32; 3]| {
            0.5 * (point(t[1]) - point(t[0])).cross(&(point(t[2]) - point(t[0]))).norm()
        };
        cut.triangles.iter().map(one).sum()
    }

    #[test]
    fn an_arrow_shaped_quad_is_cut_inside() {
        let arrow = [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.4, 0.0], [-1.0, 1.0, 0.0]];
        let cut = cut(&arrow, &[&[0, 1, 2, 3]]).unwrap();
        assert!((area(&arrow, &cut) - 0.4).abs() < 1e-12);
    }

    #[test]
    fn a_concave_polygon_keeps_its_area() {
        let comb = [
            [0.0, 0.0, 0.0],
            [4.0, 0.0, 0.0],
            [4.0, 2.0, 0.0],
            [3.0, 2.0, 0.0],
            [3.0, 1.0, 0.0],
            [1.0, 1.0, 0.0],
            [1.0, 2.0, 0.0],
            [0.0, 2.0, 0.0],
        ];
        let cut = cut(&comb, &[&[0, 1, 2, 3, 4, 5, 6, 7]]).unwrap();
        assert_eq!(cut.triangles.len(), 6);
        assert!((area(&comb, &cut) - 6.0).abs() < 1e-12);
    }

    #[test]
    fn the_diagonals_of_a_grid_alternate() {
        let grid: Vec<[f64; 3]> =
            (0..9).map(|i| [f64::from(i % 3), f64::from(i / 3), 0.0]).collect();
        let cut = cut(&grid, &[&[0, 1, 4, 3], &[1, 2, 5, 4], &[3, 4, 7, 6], &[4, 5, 8, 7]]);
        let at_centre = cut.unwrap().triangles.iter().filter(|t| t.contains(&4)).count();
        assert_eq!(at_centre, 8);
    }

    #[test]
    fn a_face_without_area_is_refused_by_index() {
        let line = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let message = cut(&line, &[&[0, 1, 3], &[0, 1, 2]]).unwrap_err().to_string();
        assert!(message.contains("face 1"), "{message}");
    }
}
