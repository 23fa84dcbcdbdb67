// SPDX-License-Identifier: MIT OR Apache-2.0
//! What bending is held to: derivatives, invariants, plate moduli, a clamped strip.

mod clamp;
mod derivatives;
mod invariants;
mod moduli;
mod robustness;
mod samples;
