// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time integration: integrators as sequences of stages, and the state that they advance.

pub(crate) mod explicit;
mod implicit_midpoint;
mod internal_variables;
mod stage;
mod state;

pub(crate) use explicit::{ExplicitScheme, KinematicState, explicit_scheme};
pub(crate) use internal_variables::ClothInternalVariables;
pub(crate) use stage::{Measures, SDIRK2_GAMMA, Stage, StageEnd, filled};
pub(crate) use state::{HistoryReset, PreviousState, State};
