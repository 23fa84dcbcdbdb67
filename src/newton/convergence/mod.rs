// SPDX-License-Identifier: MIT OR Apache-2.0
//! When the equations of a stage count as solved: energy norm of the Newton step, force balance, iteration history.

mod criteria;
mod energy_norm;
mod force_balance;
mod iteration_history;

pub(crate) use criteria::{Accuracy, length_of_edges, length_of_tolerance};
pub(crate) use energy_norm::{Cloths, Promise, longest};
#[cfg(test)]
pub(crate) use force_balance::{Balance, balances};
pub(crate) use iteration_history::{Progress, Solved};
