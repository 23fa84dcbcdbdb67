// SPDX-License-Identifier: MIT OR Apache-2.0
//! Physics: what the simulation is held to, by closed forms.
#![allow(clippy::unwrap_used, reason = "scenes are built outside of test functions, too")]
#![allow(clippy::cast_sign_loss, reason = "counts of steps and places in tables are not negative")]

mod air;
mod bending;
mod conservation;
mod constraints;
mod contact;
mod derivatives;
mod equilibrium;
mod experiments;
mod factors;
mod fixed_point;
mod frequencies;
mod friction;
mod inelastic;
mod integrators;
mod invariance;
mod membrane;
mod memory;
mod model_cycles;
mod model_experiments;
mod model_forces;
mod model_memory;
mod model_parts;
mod model_table;
mod models;
mod noise;
mod one_solve;
mod oscillator;
mod quads;
mod rejections;
mod samples;
mod scenes;
mod statics;
mod stillness;
mod strips;
mod time_integration;
