// SPDX-License-Identifier: MIT OR Apache-2.0
//! Last resorts of a step whose trajectories still collide: displacements are truncated, and prescribed motion is
//! distributed over the cloth around it.

mod distribution;
mod truncation;

pub(crate) use truncation::TruncationResult;
