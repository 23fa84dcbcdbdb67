// SPDX-License-Identifier: MIT OR Apache-2.0
//! The quadrilaterals of the original mesh, and their order around its vertices.

use super::Mesh;
use crate::vec3::Vec3;
use std::ops::Range;

/// Quads of a mesh, wound as its triangles are.
#[derive(Clone, Debug, Default)]
pub struct Quads {
    /// Corners of each quad, in order.
    pub vertices: Vec<[u32; 4]>,
    /// Direction of the warp in each quad at rest, a unit vector.
    pub warps: Vec<Vec3>,
    /// The cloth each quad belongs to.
    pub cloths: Vec<u32>,
    /// Part of the cloth at each corner of each quad that is there.
    pub coverage: Vec<[f64; 4]>,
}

/// A corner of a quad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuadCorner {
    /// The quad.
    pub quad: u32,
    /// The corner, 0 to 3.
    pub corner: u8,
}

/// Quads around a vertex in their order: each has one edge at the vertex in common with the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fan {
    /// The vertex in the middle.
    pub vertex: u32,
    /// The corner of each quad at the vertex.
    pub quads: Vec<QuadCorner>,
    /// Whether the last quad has an edge in common with the first.
    pub is_closed: bool,
}

impl Quads {
    /// The faces of a mesh that have four corners.
    #[must_use]
    pub fn new(mesh: &Mesh) -> Self {
        let mut quads = Self::default();
        for triangles in faces(mesh).into_iter().filter(|triangles| triangles.len() == 2) {
            let (first, second) = (triangles.start, triangles.start + 1);
            let corners = around(mesh, first);
            quads.coverage.push(corners.map(|vertex| coverage(mesh, [first, second], vertex)));
            quads.vertices.push(corners);
            let warp = mesh.warp(first) + mesh.warp(second);
            quads.warps.push(warp.try_normalize(0.0).unwrap_or_else(|| mesh.warp(first)));
            quads.cloths.push(mesh.cloth_of_triangle[first]);
        }
        quads
    }

    /// The first face of a mesh that is no convex quad, and a description of it.
    #[must_use]
    pub fn first_other_face(mesh: &Mesh) -> Option<(usize, String)> {
        for triangles in faces(mesh) {
            let face = mesh.topology.face_of_triangle[triangles.start] as usize;
            if triangles.len() != 2 {
                return Some((face, format!("{} corners", triangles.len() + 2)));
            }
            let corners = around(mesh, triangles.start);
            if !is_convex(&corners.map(|vertex| mesh.rest.positions[vertex as usize])) {
                return Some((face, "not convex at rest".to_owned()));
            }
        }
        None
    }

    /// The quads around every vertex. A vertex where several pieces touch has several fans.
    #[must_use]
    pub fn fans(&self, vertex_count: usize) -> Vec<Fan> {
        let mut around = vec![Vec::new(); vertex_count];
        for (quad, corners) in self.vertices.iter().enumerate() {
            for (corner, vertex) in corners.iter().enumerate() {
                let member = QuadCorner { quad: quad as u32, corner: corner as u8 };
                around[*vertex as usize].push(member);
            }
        }
        let each = around.into_iter().enumerate();
        each.flat_map(|(vertex, quads)| self.fans_of(vertex as u32, quads)).collect()
    }

    /// The vertex `count` corners after a corner of a quad.
    #[must_use]
    pub fn corner_after(&self, start: QuadCorner, count: usize) -> u32 {
        self.vertices[start.quad as usize][(usize::from(start.corner) + count) % 4]
    }

    fn fans_of(&self, vertex: u32, mut quads: Vec<QuadCorner>) -> Vec<Fan> {
        let mut fans = Vec::new();
        while !quads.is_empty() {
            // An open fan starts at the quad whose first edge belongs to no other quad.
            let is_first = |member: &QuadCorner| {
                let edge = self.corner_after(*member, 1);
                quads.iter().all(|other| self.corner_after(*other, 3) != edge)
            };
            let start = quads.iter().position(is_first).unwrap_or(0);
            let mut members = vec![quads.remove(start)];
            while let Some(last) = members.last() {
                let edge = self.corner_after(*last, 3);
                let next = quads.iter().position(|other| self.corner_after(*other, 1) == edge);
                match next {
                    Some(next) => members.push(quads.remove(next)),
                    None => break,
                }
            }
            let (first, last) = (members[0], members[members.len() - 1]);
            let is_closed =
                members.len() > 2 && self.corner_after(last, 3) == self.corner_after(first, 1);
            fans.push(Fan { vertex, quads: members, is_closed });
        }
        fans
    }
}

impl Fan {
    /// The vertices at the other ends of the edges between the quads: one more than quads in an open fan.
    #[must_use]
    pub fn spokes(&self, quads: &Quads) -> Vec<u32> {
        let mut spokes: Vec<u32> =
            self.quads.iter().map(|quad| quads.corner_after(*quad, 1)).collect();
        if !self.is_closed {
            spokes.extend(self.quads.last().map(|quad| quads.corner_after(*quad, 3)));
        }
        spokes
    }

    /// Pairs of spokes that continue each other through the vertex, if the quads around it form a grid or a part
    /// of one at its boundary; `None` otherwise.
    #[must_use]
    pub fn lines(&self) -> Option<&'static [[usize; 2]]> {
        match (self.is_closed, self.quads.len()) {
            (false, 1) => Some(&[]),
            (false, 2) => Some(&[[0, 2]]),
            (true, 4) | (false, 3) => Some(&[[0, 2], [1, 3]]),
            _ => None,
        }
    }
}

/// The triangles of each face.
fn faces(mesh: &Mesh) -> Vec<Range<usize>> {
    let mut next = 0;
    let faces = mesh.topology.face_of_triangle.chunk_by(|a, b| a == b).map(|triangles| {
        next += triangles.len();
        next - triangles.len()..next
    });
    faces.collect()
}

/// The corners of a quad, from the first of its two triangles.
fn around(mesh: &Mesh, triangle: usize) -> [u32; 4] {
    let [first, second] = [triangle, triangle + 1].map(|half| mesh.topology.triangles[half]);
    let lone = first.iter().position(|vertex| !second.contains(vertex)).unwrap_or(0);
    let [a, b, c] = [0, 1, 2].map(|place| first[(lone + place) % 3]);
    let far = second.iter().find(|vertex| !first.contains(vertex));
    [a, b, *far.unwrap_or(&a), c]
}

/// Part of the cloth at a vertex of a quad of two triangles.
fn coverage(mesh: &Mesh, triangles: [usize; 2], vertex: u32) -> f64 {
    let of_triangle = |triangle: usize| {
        let corner = mesh.topology.triangles[triangle].iter().position(|own| *own == vertex)?;
        Some(mesh.rest.coverage.get(triangle)?[corner])
    };
    triangles.into_iter().find_map(of_triangle).unwrap_or(1.0)
}

/// Whether a quad is convex, with every corner above the smallest ratio of areas.
fn is_convex(points: &[Vec3; 4]) -> bool {
    let normal = (points[2] - points[0]).cross(&(points[3] - points[1]));
    let size = normal.norm();
    (0..4).all(|corner| {
        let [before, here, after] = [3, 0, 1].map(|place| points[(corner + place) % 4]);
        let turn = (after - here).cross(&(before - here));
        turn.dot(&normal) > MIN_CORNER_RATIO * size * size
    })
}

/// Smallest ratio of the parallelogram of a corner to twice the area of a convex quad. Evidence: no test fails with 0;
/// kept as a guard against degenerate corners.
const MIN_CORNER_RATIO: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::polygons::Polygons;

    fn mesh(counts: &[usize], corners: &[usize], points: &[[f64; 2]]) -> Mesh {
        let positions: Vec<Vec3> = points.iter().map(|p| Vec3::new(p[0], p[1], 0.0)).collect();
        let polygons = Polygons::new(counts, corners, positions.len()).unwrap();
        Mesh::new(&polygons, &positions, None).unwrap()
    }

    const GRID: [[f64; 2]; 9] = [
        [0.0, 0.0],
        [1.0, 0.0],
        [2.0, 0.0],
        [0.0, 1.0],
        [1.0, 1.0],
        [2.0, 1.0],
        [0.0, 2.0],
        [1.0, 2.0],
        [2.0, 2.0],
    ];

    #[test]
    fn the_quads_around_a_vertex_follow_each_other() {
        let corners = [0, 1, 4, 3, 4, 5, 8, 7, 1, 2, 5, 4, 3, 4, 7, 6];
        let mesh = mesh(&[4; 4], &corners, &GRID);
        let quads = Quads::new(&mesh);
        let fans = quads.fans(9);
        assert!(fans[4].is_closed && fans[4].quads.len() == 4);
        let spokes = fans[4].spokes(&quads);
        let lines = fans[4].lines().unwrap();
        for line in lines {
            let mut ends = line.map(|end| spokes[end]);
            ends.sort_unstable();
            assert!(ends == [1, 7] || ends == [3, 5], "{ends:?}");
        }
        assert_eq!(fans[1].spokes(&quads).len(), 3);
        assert_eq!(fans[1].spokes(&quads)[1], 4);
        assert!(fans[0].lines().unwrap().is_empty());
    }

    #[test]
    fn quads_keep_their_corners_in_order() {
        let square = [[0.0, 0.0], [2.0, 0.1], [2.1, 2.0], [0.0, 2.2]];
        for (ring, points) in [
            ([0, 1, 2, 3], square),
            ([2, 0, 3, 1], [square[1], square[3], square[0], square[2]]),
            ([3, 2, 1, 0], square),
        ] {
            let [a, b, c, d] = Quads::new(&mesh(&[4], &ring, &points)).vertices[0];
            let place = |vertex: u32| ring.iter().position(|v| *v == vertex as usize).unwrap();
            let steps =
                [(a, b), (b, c), (c, d), (d, a)].map(|(x, y)| (place(y) + 4 - place(x)) % 4);
            assert!(steps == [1; 4] || steps == [3; 4], "{ring:?}: {steps:?}");
        }
    }

    #[test]
    fn other_faces_are_found_by_index() {
        let triangle =
            mesh(&[4, 3], &[0, 1, 4, 3, 1, 2, 4], &[GRID[0], GRID[1], GRID[2], GRID[3], GRID[4]]);
        assert_eq!(Quads::first_other_face(&triangle), Some((1, "3 corners".to_owned())));
        let arrow = [[0.0, 0.0], [1.0, 1.0], [0.0, 0.4], [-1.0, 1.0]];
        let arrow = mesh(&[4], &[0, 1, 2, 3], &arrow);
        assert!(Quads::first_other_face(&arrow).is_some_and(|(face, _)| face == 0));
    }
}
