// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measured fabrics: curves with internal variables, factors by vertex.

mod factors;
pub(crate) mod inelastic;
mod memory;
mod peaks;
mod rest_shape;
