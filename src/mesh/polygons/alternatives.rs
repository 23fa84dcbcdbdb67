// SPDX-License-Identifier: MIT OR Apache-2.0
//! Alternative triangles: those that the faces are not cut into for the simulation, but may be by whoever draws them.
//!
//! A quad that bends is drawn along one diagonal or the other, a face with more corners by a triangulation of its
//! present shape. All of these triangles connect three corners of their face. So the alternatives are all such
//! triangles but the ones in use and those that lie outside of the face at rest, as beside a reflex corner.

use super::{
    Polygons, RestPositions,
    triangulation::{newell_normal, turn},
};
use crate::{mesh::triangle, vec3::Vec3};

/// Most corners of a face that has alternatives: their number grows with the third power of its corners. Effect:
/// larger guards larger faces at a higher price (8 corners: 50 triangles beside 6); smaller guards fewer faces.
/// Evidence: none; faces of more corners are rare in cloth, as they bend only at their border.
const MAX_GUARDED_CORNERS: usize = 8;

/// Triangles that faces may be cut into beside those in use.
#[derive(Clone, Debug, Default)]
pub struct AlternativeTriangles {
    /// Vertices of each triangle.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The face that each triangle belongs to, by its place among the faces that have alternatives.
    faces: Vec<u32>,
    /// First corner of each of these faces in the list of corners, and their number last.
    starts: Vec<u32>,
    /// Vertices around these faces.
    corners: Vec<u32>,
}

impl AlternativeTriangles {
    /// Alternatives to `triangles`, which come face by face.
    pub(super) fn new(
        polygons: &Polygons,
        positions: RestPositions<'_>,
        triangles: &[[u32; 3]],
    ) -> Self {
        let mut alternatives = Self { starts: vec![0], ..Self::default() };
        let mut first = 0;
        for face in 0..polygons.count() {
            let vertices = polygons.face(face);
            let in_use = &triangles[first..first + vertices.len() - 2];
            first += in_use.len();
            if (4..=MAX_GUARDED_CORNERS).contains(&vertices.len()) {
                alternatives.add_face(vertices, &positions.of_face(polygons, face), in_use);
            }
        }
        alternatives.triangles.shrink_to_fit();
        alternatives.faces.shrink_to_fit();
        alternatives.corners.shrink_to_fit();
        alternatives
    }

    fn add_face(&mut self, vertices: &[u32], points: &[Vec3], in_use: &[[u32; 3]]) {
        let shape = FaceShape::new(points);
        let face = self.starts.len() as u32 - 1;
        let count = self.triangles.len();
        for cut in corner_triples(vertices.len()) {
            let triangle = cut.map(|corner| vertices[corner]);
            let is_used = in_use.iter().any(|one| triangle.iter().all(|v| one.contains(v)));
            if !is_used && shape.contains(cut) {
                self.triangles.push(triangle);
                self.faces.push(face);
            }
        }
        if self.triangles.len() > count {
            self.corners.extend_from_slice(vertices);
            self.starts.push(self.corners.len() as u32);
        }
    }

    /// Adds a triangle that belongs to no face: to one without corners.
    pub(crate) fn push_without_face(&mut self, triangle: [u32; 3]) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.faces.push(self.starts.len() as u32 - 1);
        self.triangles.push(triangle);
        self.starts.push(self.corners.len() as u32);
    }

    /// Vertices around the face of a triangle.
    pub(crate) fn face_corners(&self, triangle: usize) -> &[u32] {
        let face = self.faces[triangle] as usize;
        &self.corners[self.starts[face] as usize..self.starts[face + 1] as usize]
    }

    /// Appends the alternatives of a surface whose vertices start at `first_vertex`.
    pub(crate) fn append(&mut self, other: &Self, first_vertex: u32) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        let (face, corner) = (self.starts.len() as u32 - 1, self.corners.len() as u32);
        self.triangles.extend(other.triangles.iter().map(|all| all.map(|v| v + first_vertex)));
        self.faces.extend(other.faces.iter().map(|one| one + face));
        self.corners.extend(other.corners.iter().map(|vertex| vertex + first_vertex));
        self.starts.extend(other.starts.iter().skip(1).map(|start| start + corner));
    }
}

/// All triples of corners, each in ascending order.
fn corner_triples(count: usize) -> impl Iterator<Item = [usize; 3]> {
    (0..count)
        .flat_map(move |a| (a + 1..count).flat_map(move |b| (b + 1..count).map(move |c| [a, b, c])))
}

/// A face in the plane of its area vector.
struct FaceShape<'a> {
    points: &'a [Vec3],
    normal: Vec3,
    /// Twice the area below which a triangle counts as having none, in m², times the length of the normal.
    rounding: f64,
}

impl<'a> FaceShape<'a> {
    fn new(points: &'a [Vec3]) -> Self {
        let normal = newell_normal(points);
        let extent = points.iter().map(|point| (point - points[0]).norm()).fold(0.0, f64::max);
        let rounding = triangle::MIN_AREA_RATIO * extent * extent * normal.norm();
        Self { points, normal, rounding }
    }

    /// Whether three corners form a triangle that is part of the face: it is wound like the face, and neither a corner
    /// nor a side of the face is inside. Three corners on a line count: the face may bend there.
    fn contains(&self, cut: [usize; 3]) -> bool {
        let count = self.points.len();
        let [a, b, c] = cut;
        self.turn(cut) >= -self.rounding
            && (0..count).all(|corner| !self.is_inside(cut, corner))
            && (0..count).all(|start| {
                let side = [start, (start + 1) % count];
                [[a, b], [b, c], [c, a]].iter().all(|other| !self.do_cross(side, *other))
            })
    }

    fn turn(&self, corners: [usize; 3]) -> f64 {
        turn(self.points, &self.normal, corners)
    }

    fn is_inside(&self, [a, b, c]: [usize; 3], corner: usize) -> bool {
        [[a, b, corner], [b, c, corner], [c, a, corner]]
            .iter()
            .all(|part| self.turn(*part) > self.rounding)
    }

    fn do_cross(&self, [a, b]: [usize; 2], [c, d]: [usize; 2]) -> bool {
        let are_apart = |one: [usize; 3], other: [usize; 3]| {
            let [one, other] = [self.turn(one), self.turn(other)];
            (one > self.rounding && other < -self.rounding)
                || (one < -self.rounding && other > self.rounding)
        };
        are_apart([a, b, c], [a, b, d]) && are_apart([c, d, a], [c, d, b])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alternatives(points: &[[f64; 2]]) -> Vec<[u32; 3]> {
        let positions: Vec<Vec3> = points.iter().map(|p| Vec3::new(p[0], p[1], 0.0)).collect();
        let corners: Vec<usize> = (0..points.len()).collect();
        let polygons = Polygons::new(&[points.len()], &corners, points.len()).unwrap();
        let cut = polygons.triangulate(RestPositions::Vertex(&positions)).unwrap();
        polygons.alternatives(RestPositions::Vertex(&positions), &cut.triangles).triangles
    }

    #[test]
    fn a_quad_has_its_other_diagonal() {
        let skewed = [[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [1.0, 1.0]];
        assert_eq!(alternatives(&skewed), [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn an_arrow_has_none_outside() {
        let arrow = [[0.0, 0.0], [1.0, 1.0], [0.0, 0.4], [-1.0, 1.0]];
        assert_eq!(alternatives(&arrow), [[0; 3]; 0]);
    }

    #[test]
    fn corners_on_a_line_may_form_a_triangle() {
        let straight = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 1.0]];
        assert_eq!(alternatives(&straight), [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn convex_faces_have_all_triangles_and_concave_ones_those_inside() {
        let regular = |count: u32| -> Vec<[f64; 2]> {
            let angle = |k: u32| f64::from(k) * std::f64::consts::TAU / f64::from(count);
            (0..count).map(|k| [angle(k).cos(), angle(k).sin()]).collect()
        };
        assert_eq!(alternatives(&regular(5)).len(), 10 - 3);
        assert_eq!(alternatives(&regular(6)).len(), 20 - 4);
        assert_eq!(alternatives(&regular(9)).len(), 0);
        // An L: the notch belongs to no triangle.
        let shape = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
        let inside = alternatives(&shape);
        assert!(!inside.is_empty() && !inside.contains(&[2, 3, 4]) && !inside.contains(&[2, 4, 5]));
    }

    #[test]
    fn joined_alternatives_know_their_faces() {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let positions: Vec<Vec3> = square.iter().map(|p| Vec3::new(p[0], p[1], 0.0)).collect();
        let polygons = Polygons::new(&[4], &[0, 1, 2, 3], 4).unwrap();
        let cut = polygons.triangulate(RestPositions::Vertex(&positions)).unwrap();
        let one = polygons.alternatives(RestPositions::Vertex(&positions), &cut.triangles);
        let mut joined = AlternativeTriangles::default();
        joined.append(&one, 0);
        joined.append(&one, 4);
        assert_eq!(joined.triangles.len(), 4);
        assert_eq!(joined.face_corners(1), [0, 1, 2, 3]);
        assert_eq!(joined.face_corners(2), [4, 5, 6, 7]);
    }
}
