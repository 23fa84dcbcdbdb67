// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forcing term: how closely conjugate gradients solve the linear system of a Newton step.

use super::objective::Objective;
use crate::{
    linear_solver::{StoppingCriterion, UpdateTolerance},
    scene::Settings,
};

/// Parameters of the forcing term. Tolerances are those at the default of [`Settings::linear_tolerance`], to which they
/// are in proportion.
struct ForcingTermParameters {
    /// Relative residual of nonlinear objectives during contact, where the step changes the active set and the next one
    /// starts from other contacts anyway. Effect: larger costs Newton iterations; smaller costs conjugate gradient
    /// iterations. Evidence: `sheet/ball16_solve` and `sheet/self16_solve` (0.1: 13.7 mm and 18.7 mm instead of 16.9 mm
    /// and 23.9 mm from the reference).
    contact_tolerance: f64,
    /// Relative residual of the first step where contacts couple layers of cloth. Their stiffness hides errors from the
    /// energy norm, and the common motion of all layers is found here. Effect: larger loses the support of stacked
    /// layers; smaller costs conjugate gradient iterations. Evidence: none: no test or figure depends on it (0.015,
    /// 0.06 and 0.2 tried; bits of `sheet/self16_solve` and hostile scenes change).
    layered_first_tolerance: f64,
    /// Root mean square of the last update of conjugate gradients (fraction of that of the Newton step so far). The norm
    /// of the preconditioner hardly sees soft modes: what slides or buckles would be left where it was guessed. Effect:
    /// larger leaves soft modes to further Newton iterations; smaller costs conjugate gradient iterations. Evidence: a
    /// sheet on a ball after 3 s (0.2: 52 mm/s instead of 14 mm/s at 16 % fewer conjugate gradient iterations; 0.05: 27
    /// % more).
    relative_update: f64,
    /// Root mean square of the last update below which it counts as none (fraction of the error that the acceleration
    /// tolerates). Effect: as for `relative_update`, near convergence. Evidence: none: only 0.3 has been tried.
    absolute_update: f64,
    /// Lower bound of conjugate gradient iterations during contact. The first ones remove stiff errors only; a step of
    /// those alone leaves the others to the next Newton iteration. Effect: larger and smaller cost time. Evidence:
    /// `contact::friction::accelerated_ground_carries_a_sheet_along` (fails with 0); contact scenes (6 doubles the
    /// iterations, 1 saves 42 %).
    min_iterations: usize,
    /// Upper bound of conjugate gradient iterations. Effect: larger lets an ill-conditioned system take longer; smaller
    /// ends it earlier. Evidence: none: neither tests nor scenes depend on it (1000, 4000 and no limit tried).
    max_iterations: usize,
}

impl ForcingTermParameters {
    const DEFAULT: Self = Self {
        contact_tolerance: 0.2,
        layered_first_tolerance: 0.03,
        relative_update: 0.1,
        absolute_update: 0.3,
        min_iterations: 3,
        max_iterations: 2000,
    };
}

/// Relative residual from which on conjugate gradients would not have to begin.
const MAX_RELATIVE_RESIDUAL: f64 = 0.99;

const PARAMETERS: ForcingTermParameters = ForcingTermParameters::DEFAULT;

/// Linear system of a Newton step, as far as its accuracy depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearSolveContext {
    /// Whether it is the first step of the solve.
    pub(crate) is_first: bool,
    /// Relative residual of the settings.
    pub(crate) linear_tolerance: f64,
    /// Error of the solution that the acceleration tolerates, in m; `None` where it does not count.
    pub(crate) displacement_error: Option<f64>,
}

/// Stopping criterion of conjugate gradients. `couples_layers` says whether contacts couple layers of cloth.
pub(crate) fn linear_stopping_criterion(
    objective: &Objective<'_>,
    context: LinearSolveContext,
    couples_layers: bool,
) -> StoppingCriterion {
    let has_contacts = !objective.response.contact_set.detected.is_empty();
    let is_nonlinear = objective.quadratic_model.is_none();
    let tolerance = if context.is_first && couples_layers {
        PARAMETERS.layered_first_tolerance * tolerance_ratio(context.linear_tolerance)
    } else if has_contacts && is_nonlinear {
        PARAMETERS.contact_tolerance * tolerance_ratio(context.linear_tolerance)
    } else {
        context.linear_tolerance
    };
    StoppingCriterion {
        relative_tolerance: tolerance.min(MAX_RELATIVE_RESIDUAL),
        min_iterations: if has_contacts { PARAMETERS.min_iterations } else { 0 },
        max_iterations: PARAMETERS.max_iterations,
        update: context.displacement_error.map(|error| UpdateTolerance {
            relative: PARAMETERS.relative_update,
            absolute: if context.is_first { 0.0 } else { PARAMETERS.absolute_update * error },
        }),
    }
}

/// Ratio of a relative residual to that of the default.
fn tolerance_ratio(linear_tolerance: f64) -> f64 {
    linear_tolerance / Settings::DEFAULT_LINEAR_TOLERANCE
}
