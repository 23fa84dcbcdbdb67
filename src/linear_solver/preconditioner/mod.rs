// SPDX-License-Identifier: MIT OR Apache-2.0
//! Approximate inverses of the matrix of a step.

mod block_jacobi;
mod incomplete_cholesky;
mod multigrid;
#[cfg(test)]
mod tests;

pub use block_jacobi::BlockJacobi;
pub use incomplete_cholesky::IncompleteCholesky;
pub use multigrid::Multigrid;

use super::{block_matrix::BlockMatrix, filter::Filter};
use crate::{simd::Row3, vec3::Vec3};

/// A matrix S A S + (I − S)δ (see [`Filter::apply_to`]) and the shape that it belongs to.
#[derive(Clone, Copy)]
pub struct FilteredMatrix<'a> {
    /// The matrix.
    pub matrix: &'a BlockMatrix,
    /// S.
    pub filter: &'a Filter,
    /// Positions of the rows, in m.
    pub positions: &'a [Vec3],
}

/// A symmetric positive definite approximation of a matrix's inverse.
pub trait Preconditioner: Send {
    /// Updates the preconditioner to the values of a matrix, which has the pattern of its construction.
    fn update(&mut self, matrix: FilteredMatrix<'_>);

    /// `result` ≈ matrix⁻¹ · `vector`, for a filtered vector.
    fn apply(&mut self, matrix: &BlockMatrix, vector: &[Row3], result: &mut [Row3]);
}
