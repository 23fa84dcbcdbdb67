// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linear algebra of a step: a sparse matrix of 3×3 blocks, constraints as filters, conjugate gradients.
//!
//! Newton's method updates positions in `f64`; inside an iteration the matrix and the search directions are `f32`,
//! which halves the memory traffic and costs no accuracy, because the next iteration starts again from a
//! force in `f64`.

mod adjacency;
mod block_matrix;
mod conjugate_gradients;
mod contact_blocks;
mod filter;
mod group_product;
mod ordering;
mod pattern;
pub mod preconditioner;
mod rank_one_term;
mod scalar_couplings;

pub use block_matrix::{BlockMatrix, BlockPair, GroupBlocks};
pub use conjugate_gradients::{
    FilteredSystem, SolveOutcome, StoppingCriterion, Workspace, conjugate_gradients,
};
pub use contact_blocks::{ContactBlocks, OffGroupBlocks};
pub use filter::{Direction, Filter, Prescribed};
pub use ordering::Ordering;
pub use pattern::{GROUP, Pattern, SparseRows};
pub(crate) use preconditioner::{BlockJacobi, IncompleteCholesky};
pub use preconditioner::{FilteredMatrix, Multigrid, Preconditioner};
pub use rank_one_term::RankOneTerm;
pub use scalar_couplings::{ScalarCouplings, ScalarPattern};
