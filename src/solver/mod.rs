// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linear algebra of a step: a sparse matrix of 3×3 blocks, constraints as filters, conjugate gradients.
//!
//! Newton's method corrects in `f64`; inside a correction the matrix and the search directions are `f32`,
//! which halves the memory moved and costs no accuracy, because the next correction starts again from a
//! force in `f64`.

mod block;
mod block_matrix;
mod conjugate_gradients;
mod coupling;
mod filter;
mod graph;
mod lanes;
mod near;
mod ordering;
mod pattern;
pub mod preconditioner;

pub use block::{Block, Row3, dot};
pub use block_matrix::{BlockMatrix, BlockPair, GroupBlocks};
pub use conjugate_gradients::{Outcome, Stopping, Workspace, conjugate_gradients};
pub use coupling::{Coupling, Outer};
pub use filter::{Direction, Filter, Prescribed};
pub(crate) use lanes::{Kernel, Lanes, Plain, dispatch};
pub use ordering::Ordering;
pub use pattern::{GROUP, Pattern, RowList};
