// SPDX-License-Identifier: MIT OR Apache-2.0
//! Physics of the simulation against closed forms.
#![allow(clippy::unwrap_used, reason = "scenes are built outside of test functions, too")]
#![allow(clippy::cast_sign_loss, reason = "counts of steps and places in tables are not negative")]

mod contact;
mod fixtures;
mod forces;
mod material;
mod models;
mod time_integration;
