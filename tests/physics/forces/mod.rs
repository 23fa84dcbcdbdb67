// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forces and equilibria of the default model: derivatives, closed forms, experiments.

mod air;
mod bending;
mod derivatives;
pub(crate) mod experiments;
mod fluid;
mod frequencies;
pub(crate) mod membrane;
pub(crate) mod statics;
