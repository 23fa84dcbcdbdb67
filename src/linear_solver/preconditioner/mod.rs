// SPDX-License-Identifier: MIT OR Apache-2.0
//! Approximate inverses of the matrix of a step.

mod block_jacobi;
mod incomplete_cholesky;
mod multigrid;
#[cfg(test)]
mod tests;

pub use block_jacobi::BlockJacobi;
pub use incomplete_cholesky::IncompleteCholesky;
pub use multigrid::{LevelSizes, Multigrid};

use super::block_matrix::BlockMatrix;
use crate::simd::Row3;

/// A symmetric positive definite approximation of a matrix's inverse.
pub trait Preconditioner: Send {
    /// Updates the preconditioner to the values of a matrix, which has the pattern of its construction.
    fn update(&mut self, matrix: &BlockMatrix);

    /// `result` ≈ matrix⁻¹ · `vector`.
    fn apply(&mut self, matrix: &BlockMatrix, vector: &[Row3], result: &mut [Row3]);
}
