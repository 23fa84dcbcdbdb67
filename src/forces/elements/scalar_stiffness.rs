// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stiffness and viscosity of elements as one number for every pair of vertices, whatever their shape.

use nalgebra::Vector2;
use sprs::{CsMatI, binop::csmat_binop};

/// Symmetric matrices K in N/m and D in N·s/m by vertices; the tangent of a stage is (K + D/β) ⊗ I₃.
#[derive(Clone, Debug)]
pub struct ScalarStiffness {
    /// Entries of K and D.
    pub(crate) entries: CsMatI<Vector2<f32>, u32>,
    /// 1/β of the last evaluation, in 1/s.
    pub(crate) inverse_beta: f64,
    /// Number of times that the matrices have been set.
    pub(crate) revision: u64,
}

impl ScalarStiffness {
    /// Matrices of the elastic and the viscous stiffness.
    pub(crate) fn new(elastic: &CsMatI<f64, u32>, viscous: &CsMatI<f64, u32>) -> Self {
        let entry = |elastic: &f64, viscous: &f64| Vector2::new(*elastic as f32, *viscous as f32);
        let entries = csmat_binop(elastic.view(), viscous.view(), entry);
        let shape = entries.shape();
        // There is room for the entries of both, of which all are in the same places.
        let (starts, mut columns, mut values) = entries.into_raw_storage();
        columns.shrink_to_fit();
        values.shrink_to_fit();
        let entries = CsMatI::new(shape, starts, columns, values);
        Self { entries, inverse_beta: 0.0, revision: 1 }
    }

    /// Replaces both matrices.
    pub(crate) fn replace(&mut self, other: Self) {
        *self = Self { inverse_beta: self.inverse_beta, revision: self.revision + 1, ..other };
    }
}
