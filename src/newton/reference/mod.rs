// SPDX-License-Identifier: MIT OR Apache-2.0
//! Solvers that exist for comparison with the documents: fixed-point iteration, Anderson acceleration, semi-implicit
//! schemes. The default path, Newton's method, does not need them.

mod anderson;
pub(crate) mod fixed_point;
pub(crate) mod semi_implicit;

pub(crate) use fixed_point::UPDATES;
