// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flat triangulations, finite or periodic, and things to bend them with.

use crate::{
    forces::{
        bending::{Bending, BendingLaw},
        strain_history::StrainHistory,
    },
    material::PlateRigidity,
    mesh::{Edge, Incidence, Mesh, RestShape, Topology, shape_gradients},
    vec3::Vec3,
};
use std::{collections::BTreeMap, sync::Arc};

/// An orthotropic plate with nothing symmetric about it, in N·m.
pub(super) const FABRIC: PlateRigidity = PlateRigidity { d11: 1.0, d22: 0.4, d12: 0.06, d66: 0.2 };

/// No viscosity.
pub(super) const ELASTIC: StrainHistory<'static, f64> =
    StrainHistory { reference: &[], inverse_beta: 0.0 };

pub(super) type Point = [f64; 2];

/// How a sheet is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    Equilateral,
    /// Squares, all cut along the same diagonal.
    Right,
    /// Squares cut along the diagonals of a union jack.
    Alternating,
    /// Shifted vertices, Delaunay-like.
    Irregular,
    /// Shifted vertices, edges turned at random: angles from 9 degrees up.
    Poor,
}

pub(super) const PATTERNS: [Pattern; 5] =
    [Pattern::Equilateral, Pattern::Right, Pattern::Alternating, Pattern::Irregular, Pattern::Poor];

/// Reproducible numbers between −1 and 1.
pub(super) struct Noise(u64);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(super) fn vectors(&mut self, count: usize, size: f64) -> Vec<Vec3> {
        (0..count).map(|_| Vec3::new(self.next(), self.next(), self.next()) * size).collect()
    }
}

/// Triangles in the plane. In a periodic sheet the corners of a triangle lie together, not where their
/// vertices are.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    pub(super) vertex_count: usize,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) corners: Vec<[Point; 3]>,
}

impl Sheet {
    /// A torus of `count` × `count` cells, vertices 1 m apart or so.
    pub(super) fn periodic(count: usize, pattern: Pattern, seed: u64) -> Self {
        let mut noise = Noise::new(seed);
        let jitter = if matches!(pattern, Pattern::Irregular | Pattern::Poor) { 0.3 } else { 0.0 };
        let offsets: Vec<Point> =
            (0..count * count).map(|_| [jitter * noise.next(), jitter * noise.next()]).collect();
        let id = |i: usize, j: usize| (i % count) + count * (j % count);
        let point = |i: usize, j: usize| {
            let (x, y) = (i as f64, j as f64);
            let [dx, dy] = offsets[id(i, j)];
            if pattern == Pattern::Right || pattern == Pattern::Alternating {
                [x, y]
            } else {
                [x + 0.5 * y + dx, 0.75_f64.sqrt() * y + dy]
            }
        };
        let mut sheet =
            Self { vertex_count: count * count, triangles: Vec::new(), corners: Vec::new() };
        for (i, j) in (0..count * count).map(|cell| (cell % count, cell / count)) {
            let [a, b, c, d] = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
            let other = pattern == Pattern::Alternating && (i + j) % 2 == 1;
            let along_first = pattern == Pattern::Right || other;
            let cut = if along_first { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] };
            for three in cut {
                sheet.triangles.push(three.map(|[i, j]| id(i, j) as u32));
                sheet.corners.push(three.map(|[i, j]| point(i, j)));
            }
        }
        sheet.turn_edges_of(pattern, &mut noise);
        sheet
    }

    /// A strip with straight edges, `length` × `width` cells of 1 m or so along x and y. Returns the points
    /// as well. The first two columns of vertices are at x = −1 and x = 0.
    pub(super) fn strip(
        length: usize,
        width: usize,
        pattern: Pattern,
        seed: u64,
    ) -> (Self, Vec<Point>) {
        let mut noise = Noise::new(seed);
        let jitter = if matches!(pattern, Pattern::Irregular | Pattern::Poor) { 0.25 } else { 0.0 };
        let columns: Vec<Vec<Point>> = (0..length + 2)
            .map(|i| {
                let heights: Vec<f64> = if pattern == Pattern::Equilateral && i % 2 == 1 {
                    let inner = (0..width).map(|j| j as f64 + 0.5);
                    [0.0].into_iter().chain(inner).chain([width as f64]).collect()
                } else {
                    (0..=width).map(|j| j as f64).collect()
                };
                let last = heights.len() - 1;
                let shift = |(j, y): (usize, f64)| {
                    let free_x = if i < 2 || i > length { 0.0 } else { jitter };
                    let free_y = if j == 0 || j == last { 0.0 } else { jitter };
                    let x = (i as f64 - 1.0) + free_x * noise.next();
                    [x, y + free_y * noise.next()]
                };
                heights.into_iter().enumerate().map(shift).collect()
            })
            .collect();
        let points = columns.concat();
        let mut sheet =
            Self { vertex_count: points.len(), triangles: Vec::new(), corners: Vec::new() };
        let mut start = 0;
        for (i, pair) in columns.windows(2).enumerate() {
            let next = start + pair[0].len();
            sheet.zip_columns(&points, start..next, next..next + pair[1].len(), |j| {
                pattern != Pattern::Alternating || (i + j) % 2 == 0
            });
            start = next;
        }
        sheet.turn_edges_of(pattern, &mut noise);
        (sheet, points)
    }

    /// Fills the space between two columns along shorter diagonals; `rises` decides between equal ones.
    fn zip_columns(
        &mut self,
        points: &[Point],
        left: std::ops::Range<usize>,
        right: std::ops::Range<usize>,
        rises: impl Fn(usize) -> bool,
    ) {
        let (mut p, mut q) = (left.start, right.start);
        while p + 1 < left.end || q + 1 < right.end {
            let falling = if p + 1 < left.end { distance(points[p + 1], points[q]) } else { 1e9 };
            let rising = if q + 1 < right.end { distance(points[p], points[q + 1]) } else { 1e9 };
            let tied = (falling - rising).abs() < 1e-9;
            let rise = if tied { rises(p - left.start) } else { rising < falling };
            let third = if rise { q + 1 } else { p + 1 };
            let three = [p, q, third];
            self.triangles.push(three.map(|vertex| vertex as u32));
            self.corners.push(three.map(|vertex| points[vertex]));
            if rise { q += 1 } else { p += 1 }
        }
    }

    fn turn_edges_of(&mut self, pattern: Pattern, noise: &mut Noise) {
        if pattern == Pattern::Irregular {
            // Delaunay: the edge that gives the larger smallest angle.
            for _ in 0..4 {
                self.turn_edges(|before, after| after > before);
            }
        }
        if pattern == Pattern::Poor {
            for _ in 0..2 {
                self.turn_edges(|_, after| after > 0.16 && noise.next() > 0.0);
            }
        }
    }

    /// Replaces every edge whose two smallest angles (rad), as it is and turned, `wanted` accepts.
    fn turn_edges(&mut self, mut wanted: impl FnMut(f64, f64) -> bool) {
        let keys: Vec<[u32; 2]> = self.edges().into_keys().collect();
        for key in keys {
            let edges = self.edges();
            let Some([(first, i), (second, j)]) = edges.get(&key).map(Vec::as_slice) else {
                continue;
            };
            let (first, i, second, j) = (*first, *i, *second, *j);
            let [c, a, b] = rotated(self.corners[first], i);
            let [vc, va, vb] = rotated(self.triangles[first], i);
            let [d, b_there, _] = rotated(self.corners[second], j);
            let vd = self.triangles[second][j];
            let d = [d[0] + b[0] - b_there[0], d[1] + b[1] - b_there[1]];
            // Where strips are clamped the edges stay.
            if a[0] == 0.0 && b[0] == 0.0 {
                continue;
            }
            let before = smallest_angle([c, a, b]).min(smallest_angle([d, b, a]));
            let after = smallest_angle([c, a, d]).min(smallest_angle([c, d, b]));
            if vc == vd || edges.contains_key(&[vc.min(vd), vc.max(vd)]) || !wanted(before, after) {
                continue;
            }
            (self.triangles[first], self.corners[first]) = ([vc, va, vd], [c, a, d]);
            (self.triangles[second], self.corners[second]) = ([vc, vd, vb], [c, d, b]);
        }
    }

    /// Triangle and opposite corner on each side of each edge.
    fn edges(&self) -> BTreeMap<[u32; 2], Vec<(usize, usize)>> {
        let mut edges: BTreeMap<[u32; 2], Vec<(usize, usize)>> = BTreeMap::new();
        for (triangle, vertices) in self.triangles.iter().enumerate() {
            for corner in 0..3 {
                let (a, b) = (vertices[(corner + 1) % 3], vertices[(corner + 2) % 3]);
                edges.entry([a.min(b), a.max(b)]).or_default().push((triangle, corner));
            }
        }
        edges
    }

    /// The mesh, its warp at `angle` rad from x.
    pub(super) fn mesh(&self, angle: f64) -> Mesh {
        let mut topology = Topology {
            vertex_count: self.vertex_count,
            triangles: Arc::new(self.triangles.clone()),
            incidence: Arc::new(Incidence::new(&self.triangles, self.vertex_count)),
            face_of_triangle: (0..self.triangles.len() as u32).collect(),
            edges: Vec::new(),
        };
        let mut rest = RestShape::default();
        for sides in self.edges().values() {
            let (left, i) = sides[0];
            let [_, a, b] = rotated(self.triangles[left], i);
            let right = sides.get(1).map_or((Edge::NONE, 0), |(t, j)| (*t as u32, *j as u8));
            topology.edges.push(Edge {
                vertices: [a, b],
                triangles: [left as u32, right.0],
                corners: [i as u8, right.1],
            });
        }
        let (sine, cosine) = angle.sin_cos();
        let turned = |[x, y]: Point| [cosine * x + sine * y, cosine * y - sine * x];
        let gradients = self.corners.iter().map(|three| shape_gradients(&three.map(turned)));
        rest.gradients = Arc::new(gradients.collect());
        let hinges = topology.edges.iter().filter(|edge| !edge.is_boundary());
        rest.angles = Arc::new(vec![0.0; hinges.count()]);
        rest.areas = Arc::new(self.corners.iter().map(|three| area(*three)).collect());
        Mesh {
            cloth_of_triangle: Arc::new(vec![0; self.triangles.len()]),
            cloth_starts: vec![0, self.vertex_count],
            topology,
            rest,
        }
    }
}

/// Bending of one cloth without pins, 1 s of damping.
pub(super) fn bending(mesh: &Mesh, rigidity: PlateRigidity) -> Bending {
    let law = BendingLaw { rigidity, damping: 1.0 };
    Bending::new(mesh, &[law], &vec![false; mesh.vertex_count()])
}

/// Points of the plane in space.
pub(super) fn flat(points: &[Point]) -> Vec<Vec3> {
    points.iter().map(|[x, y]| Vec3::new(*x, *y, 0.0)).collect()
}

/// Twice nothing: the forces alone.
pub(super) fn forces(
    bending: &mut Bending,
    positions: &[Vec3],
    history: StrainHistory<'_, f64>,
) -> Vec<Vec3> {
    let mut forces = vec![Vec3::zeros(); positions.len()];
    bending.evaluate(positions, history, &mut forces);
    forces
}

pub(super) fn product(bending: &mut Bending, direction: &[Vec3]) -> Vec<Vec3> {
    let mut out = vec![Vec3::zeros(); direction.len()];
    bending.add_gauss_newton_product(direction, &mut out);
    out
}

pub(super) fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

pub(super) fn norm(vectors: &[Vec3]) -> f64 {
    dot(vectors, vectors).sqrt()
}

pub(super) fn area([a, b, c]: [Point; 3]) -> f64 {
    0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
}

fn distance(a: Point, b: Point) -> f64 {
    (b[0] - a[0]).hypot(b[1] - a[1])
}

fn rotated<T: Copy>(three: [T; 3], first: usize) -> [T; 3] {
    [0, 1, 2].map(|n| three[(first + n) % 3])
}

/// Negative where the corners run clockwise.
fn smallest_angle(corners: [Point; 3]) -> f64 {
    let angle = |i: usize| {
        let [a, b, c] = rotated(corners, i);
        let (u, v) = ([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
        (u[0] * v[1] - u[1] * v[0]).atan2(u[0] * v[0] + u[1] * v[1])
    };
    angle(0).min(angle(1)).min(angle(2))
}
