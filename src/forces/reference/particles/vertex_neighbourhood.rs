// SPDX-License-Identifier: MIT OR Apache-2.0
//! The quads around a vertex at rest, laid flat.
//!
//! The edges at the vertex keep their lengths; the angles between them are scaled so that they close, where the
//! rest shape is curved. The first edge is the first axis.

use crate::{
    mesh::{Fan, Mesh, QuadCorner, Quads},
    vec3::Vec3,
};
use std::f64::consts::TAU;

/// A vertex and the corners of the quads around it.
pub(super) struct VertexNeighbourhood {
    /// The vertex, the ends of its edges, and the far corners of its quads.
    pub(super) vertices: Vec<u32>,
    /// Positions in the flattened plane, in m; the vertex is at the origin.
    pub(super) points: Vec<[f64; 2]>,
    /// Whether all quads at them here are pinned.
    pub(super) is_beyond_clamp: Vec<bool>,
    /// Number of edges at the vertex.
    pub(super) spoke_count: usize,
    /// One for each quad.
    pub(super) corners: Vec<Corner>,
}

/// A quad at the vertex.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    /// Places in the ring of its two edges and of its far corner.
    pub(super) edges: [usize; 2],
    pub(super) far: usize,
    /// Area of the cloth at the vertex: of a quarter of the parallelogram of its edges, in m².
    pub(super) area: f64,
    /// Direction of its warp.
    pub(super) warp: [f64; 2],
    /// Whether all its corners are pinned.
    pub(super) is_pinned: bool,
}

impl VertexNeighbourhood {
    pub(super) fn new(mesh: &Mesh, quads: &Quads, fan: &Fan, pinned: &[bool]) -> Self {
        let spokes = fan.spokes(quads);
        let far = fan.quads.iter().map(|quad| quads.corner_after(*quad, 2));
        let vertices: Vec<u32> =
            std::iter::once(fan.vertex).chain(spokes.iter().copied()).chain(far).collect();
        let mut ring = Self {
            points: vec![[0.0; 2]; vertices.len()],
            is_beyond_clamp: vec![false; vertices.len()],
            spoke_count: spokes.len(),
            corners: Vec::with_capacity(fan.quads.len()),
            vertices,
        };
        let flats: Vec<FlatCorner> = (0..fan.quads.len())
            .map(|corner| ring.flatten(mesh, quads, fan.quads[corner], corner))
            .collect();
        let total: f64 = flats.iter().map(|flat| flat.angle).sum();
        let scale = if fan.is_closed { TAU / total } else { 1.0 };
        let mut start = 0.0;
        for (corner, flat) in flats.iter().enumerate() {
            let quad = quads.vertices[fan.quads[corner].quad as usize];
            let is_pinned = quad.iter().all(|vertex| pinned[*vertex as usize]);
            ring.place(corner, flat, start, scale, is_pinned);
            start += scale * flat.angle;
        }
        ring.find_beyond_clamp();
        ring
    }

    /// Places in the ring of the two edges and the far corner of a quad.
    fn places(&self, corner: usize) -> ([usize; 2], usize) {
        ([1 + corner, 1 + (corner + 1) % self.spoke_count], 1 + self.spoke_count + corner)
    }

    fn flatten(&self, mesh: &Mesh, quads: &Quads, member: QuadCorner, corner: usize) -> FlatCorner {
        let ([first, second], far) = self.places(corner);
        let warp = &quads.warps[member.quad as usize];
        let coverage = quads.coverage[member.quad as usize][usize::from(member.corner)];
        let from_middle = |place: usize| {
            let at = |place: usize| mesh.rest.positions[self.vertices[place] as usize];
            at(place) - at(0)
        };
        let (first, second, far) = (from_middle(first), from_middle(second), from_middle(far));
        let normal = first.cross(&second);
        let along = first.normalize();
        let across = normal.cross(&along).normalize();
        let polar = |vector: &Vec3| {
            let (x, y) = (vector.dot(&along), vector.dot(&across));
            [x.hypot(y), y.atan2(x)]
        };
        FlatCorner {
            lengths: [first.norm(), second.norm()],
            angle: polar(&second)[1],
            far: polar(&far),
            warp: polar(warp)[1],
            area: 0.25 * normal.norm() * coverage,
        }
    }

    fn place(&mut self, corner: usize, flat: &FlatCorner, start: f64, scale: f64, is_pinned: bool) {
        let at = |length: f64, angle: f64| [length * angle.cos(), length * angle.sin()];
        let (edges, far) = self.places(corner);
        self.points[edges[0]] = at(flat.lengths[0], start);
        if edges[1] != 1 {
            self.points[edges[1]] = at(flat.lengths[1], start + scale * flat.angle);
        }
        self.points[far] = at(flat.far[0], start + scale * flat.far[1]);
        let warp = at(1.0, start + flat.warp);
        self.corners.push(Corner { edges, far, area: flat.area, warp, is_pinned });
    }

    fn find_beyond_clamp(&mut self) {
        for place in 1..self.vertices.len() {
            let mut around = self
                .corners
                .iter()
                .filter(|corner| corner.edges.contains(&place) || corner.far == place);
            self.is_beyond_clamp[place] = around.all(|corner| corner.is_pinned);
        }
    }

    /// The heights of the ring where the surface is bent to w = ½pᵀKp, as factors of (κ₁₁, κ₂₂, 2κ₁₂); vertices beyond
    /// a clamp are not bent.
    pub(super) fn heights(&self, place: usize) -> [f64; 3] {
        let [x, y] = self.points[place];
        if self.is_beyond_clamp[place] { [0.0; 3] } else { [0.5 * x * x, 0.5 * y * y, 0.5 * x * y] }
    }

    /// Factors of all places in the derivatives along both axes at the vertex: exact for linear functions, and closest
    /// to the differences along the edges.
    pub(super) fn gradients(&self) -> Vec<[f64; 2]> {
        let mut matrix = nalgebra::Matrix2::zeros();
        let weight = |[x, y]: [f64; 2]| 1.0 / (x * x + y * y);
        let spokes = 1..=self.spoke_count;
        for point in &self.points[spokes.clone()] {
            let vector = nalgebra::Vector2::from(*point);
            matrix += vector * vector.transpose() * weight(*point);
        }
        let inverse = matrix.try_inverse().unwrap_or_default();
        let mut gradients = vec![[0.0; 2]; self.points.len()];
        for place in spokes {
            let point = self.points[place];
            let gradient = inverse * nalgebra::Vector2::from(point) * weight(point);
            gradients[place] = gradient.into();
            for axis in 0..2 {
                gradients[0][axis] -= gradient[axis];
            }
        }
        gradients
    }
}

/// A quad in the plane of its own two edges at the vertex.
struct FlatCorner {
    lengths: [f64; 2],
    /// Between both edges, in rad.
    angle: f64,
    /// Distance of the far corner, and its angle from the first edge.
    far: [f64; 2],
    /// Angle of the warp from the first edge.
    warp: f64,
    area: f64,
}
