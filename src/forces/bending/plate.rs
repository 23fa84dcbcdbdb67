// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bending energy of one triangle as a plate, in the angles of its three edges.
//!
//! With φ_i the rotation of the surface against the face normal at the middle of edge i, the curvature of
//! the triangle (Morley's element) is κ = Σ (l_i/A) φ_i ν_i, ν_i = (n_x², n_y², 2n_x n_y) from the edge
//! normal in yarn axes, and its energy ½A κᵀDκ = ½ φᵀMφ with M_ij = (l_i l_j/A) ν_iᵀDν_j.
//!
//! With D = LLᵀ, M_ij = y_i·y_j for y_i = (l_i/√A) Lᵀν_i. At a free edge the bending moment vanishes: its
//! φ is whatever costs least, which projects the other y along y of that edge. Being a table of scalar
//! products, M stays positive semidefinite, for slivers and for rigidities of 0 as well.

use crate::{material::PlateRigidity, mesh::Mesh};
use nalgebra::Vector3;

/// M of one triangle, in N·m.
pub(super) type EdgeMatrix = [[f64; 3]; 3];

/// The isotropic plate without lateral contraction, from which the geometric correction starts.
pub(super) const UNIT_PLATE: PlateRigidity =
    PlateRigidity { d11: 1.0, d22: 1.0, d12: 0.0, d66: 0.5 };

/// The lower triangular factor of a plate matrix.
#[derive(Clone, Copy)]
pub(super) struct PlateFactor {
    l11: f64,
    l21: f64,
    l22: f64,
    l33: f64,
}

impl PlateFactor {
    pub(super) fn new(plate: &PlateRigidity) -> Self {
        let l11 = plate.d11.max(0.0).sqrt();
        let l21 = if l11 > 0.0 { plate.d12 / l11 } else { 0.0 };
        let l22 = (plate.d22 - l21 * l21).max(0.0).sqrt();
        Self { l11, l21, l22, l33: plate.d66.max(0.0).sqrt() }
    }

    /// Lᵀν.
    fn apply(&self, [first, second, mixed]: [f64; 3]) -> Vector3<f64> {
        Vector3::new(self.l11 * first + self.l21 * second, self.l22 * second, self.l33 * mixed)
    }
}

/// M of a triangle whose `free` edges carry no moment. Edges are numbered by their opposite corners.
pub(super) fn edge_matrix(
    mesh: &Mesh,
    triangle: usize,
    free: [bool; 3],
    plate: &PlateFactor,
) -> EdgeMatrix {
    let corners = mesh.rest.corners(triangle);
    let root_area = mesh.rest.areas[triangle].sqrt();
    let mut rows = [0, 1, 2].map(|i| {
        let (j, k) = (corners[(i + 1) % 3], corners[(i + 2) % 3]);
        let (x, y) = (k[1] - j[1], j[0] - k[0]);
        // (x, y) is l·n, so that this is l·ν.
        plate.apply([x * x, y * y, 2.0 * x * y]) / (x.hypot(y) * root_area)
    });
    for edge in (0..3).filter(|edge| free[*edge]) {
        condense_free_edge(&mut rows, edge);
    }
    rows.map(|row| rows.map(|other| row.dot(&other)))
}

/// Eliminates the angle of a free edge: it takes the value of least energy.
fn condense_free_edge(rows: &mut [Vector3<f64>; 3], edge: usize) {
    let freed = std::mem::replace(&mut rows[edge], Vector3::zeros());
    let square = freed.norm_squared();
    if square > 0.0 {
        for row in rows {
            *row -= freed * (row.dot(&freed) / square);
        }
    }
}
