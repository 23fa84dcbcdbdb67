// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time integrators, each as a sequence of stages, and the state that they advance.

pub(crate) mod explicit;
mod implicit_midpoint;
mod stage;
mod state;

pub(crate) use explicit::{Motion, Scheme, scheme};
pub(crate) use stage::{Measures, START_GAMMA, Stage, filled};
pub(crate) use state::{Past, Restart, State};
