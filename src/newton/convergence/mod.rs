// SPDX-License-Identifier: MIT OR Apache-2.0
//! Convergence of a stage: criteria, error of the acceleration, energy norm of the Newton step, force balance, iteration history.

mod acceleration_error;
mod criteria;
mod energy_norm;
mod force_balance;
mod iteration_history;

pub(crate) use criteria::{
    ConvergenceCriteria, Iterate, LengthScales, SolveProgress, min_mean_edge_length,
    tolerance_length,
};
pub(crate) use energy_norm::{EnergyNorm, PredictedDecrease, largest_displacement};
pub(crate) use force_balance::ForceBalanceParameters;
#[cfg(test)]
pub(crate) use force_balance::{ForceBalance, force_balances};
pub(crate) use iteration_history::{IterationHistory, SolveOutcome};
