// SPDX-License-Identifier: MIT OR Apache-2.0
//! When the linear equations of a correction count as solved.

use super::objective::Objective;
use crate::linear_solver::StoppingCriterion;

/// Relative residual of the linear equations of a correction, and of one of nonlinear equations where anything touches:
/// that changes what touches what, and the next correction begins elsewhere anyway.
const LINEAR_TOLERANCE: f64 = 0.1;
const TOUCHING_TOLERANCE: f64 = 0.2;
/// The same of a first correction where contacts join layers of cloth: their stiffness hides errors from the norm that is
/// measured in, and what moves or holds all layers together is found here.
const HARD_TOLERANCE: f64 = 0.03;
/// What is left of the linear equations of a correction need not be less than this part of the correction that ends the
/// stage. The first correction, on which the others build, and equations that are quadratic themselves are solved as if
/// there were no such part. (With half as much again soft coarse sheets are led astray: what is left is more than the norm
/// of the preconditioner says.)
const ENOUGH: f64 = 0.08;
/// In steps shorter than this, in s, it is a smaller part where nothing touches: there what ends a stage does not become
/// shorter with the step, and errors of many steps add up.
const LONG_STEP: f64 = 1.0 / 24.0;
/// Least conjugate gradient iterations of a correction where anything touches: stiff errors go first, and a correction that
/// takes only these leaves the others to the next one, which costs more than iterations. And most iterations of any.
const LEAST_ITERATIONS: usize = 3;
const MOST_ITERATIONS: usize = 2000;

/// When the linear equations of a correction are solved, the square of which that may be left is `enough`, in J; `is_joined`
/// where contacts join layers of cloth.
pub(crate) fn linear_stopping_criterion(
    problem: &Objective<'_>,
    (is_first, enough): (bool, f64),
    is_joined: bool,
) -> StoppingCriterion {
    let touches = !problem.response.contacts().is_empty();
    let tolerance = match (is_first && is_joined, touches && problem.quadratic_model.is_none()) {
        (true, _) => HARD_TOLERANCE,
        (false, true) => TOUCHING_TOLERANCE,
        (false, false) => LINEAR_TOLERANCE,
    };
    let least = if touches { LEAST_ITERATIONS } else { 0 };
    StoppingCriterion {
        relative_tolerance: tolerance,
        absolute_tolerance: enough,
        min_iterations: least,
        max_iterations: MOST_ITERATIONS,
    }
}

/// The part of the correction that ends a stage which linear equations may leave.
pub(crate) fn forcing_factor(problem: &Objective<'_>) -> f64 {
    let touches = !problem.response.contacts().is_empty();
    match problem.quadratic_model {
        Some(_) => 0.0,
        None if touches => ENOUGH,
        None => ENOUGH * (problem.stage.duration / LONG_STEP).min(1.0),
    }
}
