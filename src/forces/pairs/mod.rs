// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elements between any two vertices of a cloth: seams, and springs of the caller.

mod sewing;
mod springs;

pub use sewing::sewing;
pub use springs::springs;
