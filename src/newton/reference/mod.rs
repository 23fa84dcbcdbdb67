// SPDX-License-Identifier: MIT OR Apache-2.0
//! Solvers for comparison with the literature: fixed-point iteration with Anderson acceleration, semi-implicit schemes,
//! and equations linearised once per step. The default, Newton's method, does not need them.

mod anderson;
pub(crate) mod fixed_point;
pub(crate) mod linearised;
mod quadratic_model;
pub(crate) mod semi_implicit;

pub(crate) use fixed_point::FixedPointParameters;
pub(crate) use quadratic_model::{Expansion, ModelHessian, QuadraticModel};
