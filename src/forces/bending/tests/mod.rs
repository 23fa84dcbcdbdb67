// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests of bending: derivatives, invariants, plate moduli, a clamped strip.

mod clamp;
mod derivatives;
mod invariants;
mod moduli;
mod passes;
mod robustness;
mod samples;
mod stabilisation;
