// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stiffness and viscosity of elements as one number for every pair of vertices, whatever their shape.

use sprs::CsMatI;

/// Symmetric matrices K in N/m and D in N·s/m by vertices; the tangent of a stage is (K + D/β) ⊗ I₃.
#[derive(Clone, Debug)]
pub struct ScalarStiffness {
    /// K.
    pub(crate) elastic: CsMatI<f64, u32>,
    /// D.
    pub(crate) viscous: CsMatI<f64, u32>,
    /// 1/β of the last evaluation, in 1/s.
    pub(crate) inverse_beta: f64,
    /// Number of times that the matrices have been set.
    pub(crate) revision: u64,
}

impl ScalarStiffness {
    pub(crate) fn new(elastic: CsMatI<f64, u32>, viscous: CsMatI<f64, u32>) -> Self {
        Self { elastic, viscous, inverse_beta: 0.0, revision: 1 }
    }

    /// Replaces both matrices.
    pub(crate) fn replace(&mut self, other: Self) {
        *self = Self { inverse_beta: self.inverse_beta, revision: self.revision + 1, ..other };
    }
}
