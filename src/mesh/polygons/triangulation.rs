// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cutting polygons into triangles, in their rest shape.
//!
//! A quad is cut along its shorter diagonal. If both are equally long, as on a grid, diagonals are chosen to meet: the
//! resulting pattern alternates and has no preferred direction. From a face with more corners the best-shaped ear is
//! cut off until a triangle remains.

use super::{Polygons, RestPositions};
use crate::{
    error::{Error, Result},
    mesh::triangle,
    vec3::Vec3,
};
use std::collections::HashSet;

/// Triangles with the faces and corners that they were cut from.
#[derive(Clone, Debug, Default)]
pub(in crate::mesh) struct TriangulatedFaces {
    /// Vertices of each triangle.
    pub(in crate::mesh) triangles: Vec<[u32; 3]>,
    /// Corners of each triangle as indices into the list of all face corners.
    pub(in crate::mesh) corners: Vec<[u32; 3]>,
    /// The face each triangle was cut from.
    pub(in crate::mesh) faces: Vec<u32>,
}

impl TriangulatedFaces {
    fn push(&mut self, polygons: &Polygons, face: usize, cut: [usize; 3]) {
        let vertices = polygons.face(face);
        let first = polygons.first_corner(face);
        self.triangles.push(cut.map(|corner| vertices[corner]));
        self.corners.push(cut.map(|corner| (first + corner) as u32));
        self.faces.push(face as u32);
    }
}

/// Relative difference below which two diagonals count as equally long. Evidence: no test fails with 0; without it
/// rounding decides the pattern of grids.
const LENGTH_TOLERANCE: f64 = 1.0e-3;

pub(super) fn triangulate(
    polygons: &Polygons,
    positions: RestPositions<'_>,
) -> Result<TriangulatedFaces> {
    let mut cut = TriangulatedFaces::default();
    let mut diagonals = Diagonals::new(polygons);
    for face in 0..polygons.count() {
        let vertices = polygons.face(face);
        let points = positions.of_face(polygons, face);
        let normal = newell_normal(&points);
        check_area(face, &points, &normal)?;
        let triangles = match (polygons.given_triangles(face), vertices.len()) {
            (Some(given), _) => given.to_vec(),
            (None, 3) => vec![[0, 1, 2]],
            (None, 4) => cut_quad(&points, &normal, vertices, &mut diagonals),
            (None, _) => clip_ears(&points, &normal),
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
pub(super) fn newell_normal(points: &[Vec3]) -> Vec3 {
    let origin = points[0];
    points
        .windows(2)
        .map(|pair| (pair[0] - origin).cross(&(pair[1] - origin)))
        .fold(Vec3::zeros(), |sum, part| sum + part)
}

fn check_area(face: usize, points: &[Vec3], normal: &Vec3) -> Result<()> {
    let extent = points.iter().map(|point| (point - points[0]).norm()).fold(0.0, f64::max);
    if !normal.norm().is_finite() {
        let found = "its area is beyond the range of numbers";
        return Err(Error::element("faces", "face", face, found, "a smaller face"));
    }
    if normal.norm() <= triangle::MIN_AREA_RATIO * extent * extent {
        return Err(degenerate(face));
    }
    Ok(())
}

fn cut_quad(
    points: &[Vec3],
    normal: &Vec3,
    vertices: &[u32],
    diagonals: &mut Diagonals,
) -> Vec<[usize; 3]> {
    let convex = (0..4)
        .all(|corner| turn(points, normal, [corner, (corner + 1) % 4, (corner + 2) % 4]) > 0.0);
    if !convex {
        return clip_ears(points, normal);
    }
    let first = (points[2] - points[0]).norm();
    let second = (points[3] - points[1]).norm();
    let of = |corners: [usize; 2]| corners.map(|corner| vertices[corner]);
    let meeting = |corners: [usize; 2]| diagonals.meeting(of(corners));
    let [is_first_edge, is_second_edge] =
        [[0, 2], [1, 3]].map(|corners| diagonals.is_edge(of(corners)));
    let along_first = if is_first_edge != is_second_edge {
        is_second_edge
    } else if (first - second).abs() <= LENGTH_TOLERANCE * first {
        meeting([0, 2]) >= meeting([1, 3])
    } else {
        first < second
    };
    let (ends, triangles) = if along_first {
        ([0, 2], vec![[0, 1, 2], [0, 2, 3]])
    } else {
        ([1, 3], vec![[0, 1, 3], [1, 2, 3]])
    };
    diagonals.add(of(ends));
    triangles
}

/// Diagonals so far, and the edges that no other diagonal may coincide with: sheets that are welded along their borders
/// have the diagonal in common that cuts off a corner.
struct Diagonals {
    /// Number of diagonals that end at each vertex.
    counts: Vec<u32>,
    edges: HashSet<[u32; 2]>,
}

impl Diagonals {
    fn new(polygons: &Polygons) -> Self {
        let sides = (0..polygons.count()).flat_map(|face| {
            let vertices = polygons.face(face);
            let following = vertices.iter().cycle().skip(1);
            vertices.iter().zip(following).map(|(from, to)| sorted([*from, *to]))
        });
        Self { counts: vec![0; polygons.vertex_limit()], edges: sides.collect() }
    }

    fn meeting(&self, ends: [u32; 2]) -> u32 {
        ends.into_iter().map(|end| self.counts[end as usize]).sum()
    }

    fn is_edge(&self, ends: [u32; 2]) -> bool {
        self.edges.contains(&sorted(ends))
    }

    fn add(&mut self, ends: [u32; 2]) {
        for end in ends {
            self.counts[end as usize] += 1;
        }
        self.edges.insert(sorted(ends));
    }
}

fn sorted([one, other]: [u32; 2]) -> [u32; 2] {
    [one.min(other), one.max(other)]
}

/// Twice the signed area of three corners, seen from the side `normal` points to.
pub(super) fn turn(points: &[Vec3], normal: &Vec3, [a, b, c]: [usize; 3]) -> f64 {
    (points[b] - points[a]).cross(&(points[c] - points[b])).dot(normal)
}

fn clip_ears(points: &[Vec3], normal: &Vec3) -> Vec<[usize; 3]> {
    let mut ring = RemainingPolygon::new(points, normal);
    let mut triangles = Vec::with_capacity(points.len() - 2);
    while ring.corners.len() > 3 {
        triangles.push(ring.clip_best());
    }
    triangles.push([ring.corners[0], ring.corners[1], ring.corners[2]]);
    triangles
}

/// The remaining polygon, with the ear at each of its corners. An ear is evaluated again only when one of its
/// neighbours is cut off, or the corner that blocks it: evaluating all of them each time takes O(n³).
struct RemainingPolygon<'a> {
    points: &'a [Vec3],
    normal: &'a Vec3,
    corners: Vec<usize>,
    ears: Vec<Ear>,
}

/// The triangle of a corner with its neighbours.
#[derive(Clone, Copy)]
struct Ear {
    /// 1 where it is equilateral.
    quality: f64,
    obstacle: EarObstacle,
}

/// Reason why an ear cannot be cut off.
#[derive(Clone, Copy, PartialEq)]
enum EarObstacle {
    Nothing,
    /// It is outside of the polygon.
    Turn,
    /// A corner that is inside of it.
    Corner(usize),
}

impl Ear {
    /// Score for the order of clipping; blocked ears have lower ones than all others.
    fn score(&self) -> f64 {
        if self.obstacle == EarObstacle::Nothing { self.quality } else { self.quality - 2.0 }
    }
}

impl<'a> RemainingPolygon<'a> {
    fn new(points: &'a [Vec3], normal: &'a Vec3) -> Self {
        let corners: Vec<usize> = (0..points.len()).collect();
        let mut ring = Self { points, normal, corners, ears: Vec::new() };
        ring.ears = (0..points.len()).map(|place| ring.ear(place)).collect();
        ring
    }

    fn around(&self, place: usize) -> [usize; 3] {
        let count = self.corners.len();
        [place + count - 1, place, place + 1].map(|place| self.corners[place % count])
    }

    fn ear(&self, place: usize) -> Ear {
        let Self { points, normal, .. } = *self;
        let corners = self.around(place);
        let [a, b, c] = corners.map(|corner| points[corner]);
        let blocking =
            || self.corners.iter().find(|other| inside(points, normal, corners, **other));
        let block = if turn(points, normal, corners) <= 0.0 {
            EarObstacle::Turn
        } else {
            blocking().map_or(EarObstacle::Nothing, |corner| EarObstacle::Corner(*corner))
        };
        Ear { quality: triangle::shape_quality(&a, &b, &c), obstacle: block }
    }

    /// Cuts off the ear of the best shape. In a polygon that intersects itself, where every ear contains other corners,
    /// the best-shaped one of these.
    fn clip_best(&mut self) -> [usize; 3] {
        let mut best = (0, f64::NEG_INFINITY);
        for (place, ear) in self.ears.iter().enumerate() {
            if ear.score() > best.1 {
                best = (place, ear.score());
            }
        }
        let place = best.0;
        let triangle = self.around(place);
        let gone = EarObstacle::Corner(self.corners.remove(place));
        self.ears.remove(place);
        let count = self.corners.len();
        let neighbours = [(place + count - 1) % count, place % count];
        for place in 0..count {
            if neighbours.contains(&place) || self.ears[place].obstacle == gone {
                self.ears[place] = self.ear(place);
            }
        }
        triangle
    }
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

    fn cut(positions: &[[f64; 3]], faces: &[&[usize]]) -> Result<TriangulatedFaces> {
        let counts: Vec<usize> = faces.iter().map(|face| face.len()).collect();
        let corners: Vec<usize> = faces.concat();
        let points: Vec<Vec3> = positions.iter().map(|p| Vec3::from(*p)).collect();
        Polygons::new(&counts, &corners, points.len())?.triangulate(RestPositions::Vertex(&points))
    }

    fn area(positions: &[[f64; 3]], cut: &TriangulatedFaces) -> f64 {
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

    /// The ears of a polygon in the plane z = 0, each time looking at all that are left.
    fn cut_one_by_one(points: &[Vec3]) -> Vec<[usize; 3]> {
        let normal = newell_normal(points);
        let mut ring = RemainingPolygon::new(points, &normal);
        let mut triangles = Vec::new();
        while ring.corners.len() > 3 {
            ring.ears = (0..ring.corners.len()).map(|place| ring.ear(place)).collect();
            triangles.push(ring.clip_best());
        }
        triangles.push([ring.corners[0], ring.corners[1], ring.corners[2]]);
        triangles
    }

    /// Corners around the origin, at distances in m and directions in turns.
    fn polygon(corners: impl Iterator<Item = (f64, f64)>) -> Vec<Vec3> {
        let place = |(distance, turns): (f64, f64)| {
            let angle = turns * std::f64::consts::TAU;
            Vec3::new(distance * angle.cos(), distance * angle.sin(), 0.0)
        };
        corners.map(place).collect()
    }

    #[test]
    fn ears_that_are_remembered_are_those_that_are_found_anew() {
        let mut seed = 7_u32;
        let mut any = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(seed >> 8) / f64::from(1 << 24)
        };
        for count in (5..60).flat_map(|count| [count; 4]) {
            let parts = (0..count).map(|k| f64::from(k) / f64::from(count));
            let star = polygon(parts.clone().map(|part| (0.2 + any(), part)));
            let knot = polygon(parts.clone().map(|part| (0.2 + any(), 2.0 * part + 0.1 * any())));
            let even = polygon(parts.map(|part| (1.0 + (8.0 * part).floor() % 2.0, part)));
            for points in [star, knot, even] {
                let found = clip_ears(&points, &newell_normal(&points));
                assert_eq!(found, cut_one_by_one(&points), "{points:?}");
            }
        }
    }

    /// Looking at all ears anew after each took 76 s.
    #[test]
    fn thousands_of_corners_are_cut_at_once() {
        const COUNT: u32 = 3200;
        let parts = (0..COUNT).map(|k| f64::from(k) / f64::from(COUNT));
        let jagged = |turns: f64| {
            let distance = move |k: u32, part: f64| {
                let tooth = f64::from(k % 2);
                0.5 + 0.3 * tooth + 0.2 * (turns * part * std::f64::consts::TAU).sin()
            };
            polygon(parts.clone().zip(0..COUNT).map(move |(part, k)| (distance(k, part), part)))
        };
        for points in [polygon(parts.clone().map(|part| (1.0, part))), jagged(0.0), jagged(9.0)] {
            let start = std::time::Instant::now();
            let triangles = clip_ears(&points, &newell_normal(&points));
            assert_eq!(triangles.len() as u32, COUNT - 2);
            assert!(start.elapsed().as_secs_f64() < 5.0, "{:?}", start.elapsed());
        }
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
    fn sheets_that_share_their_border_have_no_diagonal_in_common() {
        let points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
        let cut = cut(&points, &[&[0, 1, 2, 3], &[0, 3, 2, 1]]).unwrap().triangles;
        let has = |a: u32, b: u32| cut.iter().filter(|t| t.contains(&a) && t.contains(&b)).count();
        assert_eq!([has(0, 2), has(1, 3)], [2, 2]);
    }

    #[test]
    fn a_face_that_is_too_large_is_not_called_degenerate() {
        for size in [1.0e100, 1.0e160] {
            let large = [[0.0; 3], [size, 0.0, 0.0], [0.0, size, size]];
            let message = cut(&large, &[&[0, 1, 2]]).unwrap_err().to_string();
            assert!(message.contains("face 0: its area is beyond"), "{message}");
        }
    }

    #[test]
    fn a_face_without_area_is_refused_by_index() {
        let line = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let message = cut(&line, &[&[0, 1, 3], &[0, 1, 2]]).unwrap_err().to_string();
        assert!(message.contains("face 1"), "{message}");
    }
}
