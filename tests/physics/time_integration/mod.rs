// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time schemes and solvers: order, stability, conservation, invariance, rejected steps.

mod conservation;
mod fixed_point;
mod integrators;
mod invariance;
mod one_solve;
mod order;
mod rejections;
mod stillness;
