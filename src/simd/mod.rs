// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vectors of eight single and four double precision lanes, 3×3 blocks, and dispatch to the instruction set at hand.

mod block3;
mod f32x8;
mod f64x4;
mod lanes;

pub use block3::{Block, Row3, dot};
pub(crate) use block3::{cross, serial_dot};
pub(crate) use f32x8::F32x8;
pub(crate) use f64x4::{F64x4, four_from, lane_indices, write_lanes};
#[cfg(test)]
pub(crate) use lanes::Portable;
pub(crate) use lanes::{Kernel, Lanes, dispatch};
