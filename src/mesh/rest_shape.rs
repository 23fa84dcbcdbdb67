// SPDX-License-Identifier: MIT OR Apache-2.0
//! The undeformed surface, measured once: areas, yarn axes, edge lengths and angles.

use super::{Edge, Topology, Uv, triangle, triangulation::CutFaces, yarn::warp_directions};
use crate::{
    Vec3,
    error::{Error, Result},
};
use std::sync::Arc;

/// Lengths, areas and yarn axes at rest; what many go through is shared.
#[derive(Clone, Debug, Default)]
pub struct RestShape {
    /// Where the vertices are at rest, in m.
    pub positions: Arc<Vec<Vec3>>,
    /// Area of each triangle, in m².
    pub areas: Arc<Vec<f64>>,
    /// Corners of each triangle in its plane, in m: first coordinate along the warp, second along the
    /// weft, counter-clockwise.
    pub corners: Vec<[[f64; 2]; 3]>,
    /// Gradient of each corner's shape function along warp and weft, in 1/m.
    pub gradients: Arc<Vec<[[f64; 2]; 3]>>,
    /// A third of the area of the triangles around each vertex, in m².
    pub vertex_areas: Arc<Vec<f64>>,
    /// Length of each edge, in m.
    pub edge_lengths: Vec<f64>,
    /// Angle between the triangles at each edge, in rad: 0 where flat, positive where the opposite
    /// corners rise along the normals.
    pub angles: Vec<f64>,
}

impl RestShape {
    /// Measures a surface at rest.
    ///
    /// # Errors
    /// A vertex that no face uses is refused by index: it would have no mass.
    pub(super) fn new(
        topology: &Topology,
        cut: &CutFaces,
        positions: &[Vec3],
        uv: Option<&Uv>,
    ) -> Result<Self> {
        let warps = warp_directions(cut, positions, uv);
        let (triangles, edges) = (topology.triangles.len(), topology.edges.len());
        let mut shape = Self {
            positions: Arc::new(positions.to_vec()),
            corners: Vec::with_capacity(triangles),
            edge_lengths: Vec::with_capacity(edges),
            angles: Vec::with_capacity(edges),
            ..Self::default()
        };
        let mut vertex_areas = vec![0.0; topology.vertex_count];
        let mut areas = Vec::with_capacity(triangles);
        let mut gradients = Vec::with_capacity(triangles);
        for (vertices, warp) in topology.triangles.iter().zip(warps) {
            let points = vertices.map(|v| positions[v as usize]);
            let corners = lay_flat(&points, &warp);
            let doubled = doubled_area(&corners);
            areas.push(0.5 * doubled);
            gradients.push(shape_gradients(&corners, doubled));
            shape.corners.push(corners);
            for vertex in vertices {
                vertex_areas[*vertex as usize] += doubled / 6.0;
            }
        }
        (shape.areas, shape.gradients) = (Arc::new(areas), Arc::new(gradients));
        if let Some(vertex) = vertex_areas.iter().position(|area| *area == 0.0) {
            let wanted = "a vertex that belongs to a face";
            return Err(Error::element("positions", "vertex", vertex, "in no face", wanted));
        }
        shape.vertex_areas = Arc::new(vertex_areas);
        for edge in &topology.edges {
            let [a, b] = edge.vertices.map(|v| positions[v as usize]);
            shape.edge_lengths.push((b - a).norm());
            shape.angles.push(rest_angle(topology, edge, positions));
        }
        Ok(shape)
    }

    /// Appends the measures of another surface.
    pub(super) fn append(&mut self, other: &Self) {
        Arc::make_mut(&mut self.positions).extend_from_slice(&other.positions);
        Arc::make_mut(&mut self.areas).extend_from_slice(&other.areas);
        self.corners.extend_from_slice(&other.corners);
        Arc::make_mut(&mut self.gradients).extend_from_slice(&other.gradients);
        Arc::make_mut(&mut self.vertex_areas).extend_from_slice(&other.vertex_areas);
        self.edge_lengths.extend_from_slice(&other.edge_lengths);
        self.angles.extend_from_slice(&other.angles);
    }

    /// Mean length of the edges, in m.
    #[must_use]
    pub fn mean_edge_length(&self) -> f64 {
        self.edge_lengths.iter().sum::<f64>() / self.edge_lengths.len().max(1) as f64
    }
}

/// Corners in the plane of the triangle, axes along warp and weft.
fn lay_flat(points: &[Vec3; 3], warp: &Vec3) -> [[f64; 2]; 3] {
    let normal = (points[1] - points[0]).cross(&(points[2] - points[0])).normalize();
    let weft = normal.cross(warp);
    points.map(|point| {
        let offset = point - points[0];
        [offset.dot(warp), offset.dot(&weft)]
    })
}

fn doubled_area(corners: &[[f64; 2]; 3]) -> f64 {
    let [a, b, c] = corners;
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn shape_gradients(corners: &[[f64; 2]; 3], doubled: f64) -> [[f64; 2]; 3] {
    [0, 1, 2].map(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        [(corners[j][1] - corners[k][1]) / doubled, (corners[k][0] - corners[j][0]) / doubled]
    })
}

fn rest_angle(topology: &Topology, edge: &Edge, positions: &[Vec3]) -> f64 {
    if edge.is_boundary() {
        return 0.0;
    }
    let [a, b] = edge.vertices.map(|v| positions[v as usize]);
    let [c, d] = [0, 1].map(|side| positions[topology.opposite(edge, side) as usize]);
    triangle::hinge_angle(&a, &b, &c, &d)
}
