// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linearised solver (Baraff and Witkin 1998, eq. 6): one Newton step from the start of the step, with contacts against
//! its matrix.
//!
//! The expansion point is the start, not the predicted positions: linearised there, elements that rotate would appear
//! stretched and oscillate with growing amplitude.

use super::quadratic_model::{Expansion, ModelHessian, QuadraticModel};
use crate::{
    newton::{StageSolve, convergence::SolveOutcome, objective::Objective},
    vec3::Vec3,
};
use std::sync::Arc;

/// Solves a stage that is linearised once.
pub(crate) fn solve(solve: StageSolve<'_, '_>) -> SolveOutcome {
    let Objective { stage, state, dynamics, .. } = &mut *solve.objective;
    let start = state.positions.clone();
    let mut residuals = vec![Vec3::zeros(); start.len()];
    dynamics.evaluate(stage, &start, &mut residuals, solve.report);
    let tangent = solve.newton.tangent_without_contacts();
    tangent.assemble(dynamics, stage);
    let (matrix, ordering) = (tangent.matrix.clone(), Arc::clone(&tangent.ordering));
    let hessian = ModelHessian::Matrix(&matrix, &ordering);
    let expansion = Expansion { point: &start, residuals: &residuals };
    let model = QuadraticModel::new(hessian, stage, &dynamics.masses.vertices, expansion);
    solve.with_quadratic_model(&model)
}
