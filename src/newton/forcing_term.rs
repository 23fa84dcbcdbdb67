// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forcing term: how closely conjugate gradients solve the linear system of a Newton step.

use super::regime::Regime;
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
    /// Regime of the iteration.
    pub(crate) regime: Regime,
    /// Whether it is the first step of the solve.
    pub(crate) is_first: bool,
    /// Relative residual of the settings.
    pub(crate) linear_tolerance: f64,
    /// Error of the solution that the acceleration tolerates, in m; `None` where it does not count.
    pub(crate) displacement_error: Option<f64>,
}

/// Stopping criterion of conjugate gradients. `couples_layers` says whether the matrix couples layers of cloth, by
/// contacts or by the recovery of intersections.
pub(crate) fn linear_stopping_criterion(
    context: LinearSolveContext,
    couples_layers: bool,
) -> StoppingCriterion {
    let has_contacts = context.regime.has_contacts();
    let tolerance = if context.is_first && couples_layers {
        PARAMETERS.layered_first_tolerance * tolerance_ratio(context.linear_tolerance)
    } else if has_contacts && !context.regime.is_quadratic() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::newton::regime::Coupling;

    const LATER: LinearSolveContext = LinearSolveContext {
        regime: Regime::Free,
        is_first: false,
        linear_tolerance: Settings::DEFAULT_LINEAR_TOLERANCE,
        displacement_error: None,
    };

    /// Relative tolerance, in units of that of the settings, and lower bound of the iterations.
    fn stopping(context: LinearSolveContext, couples_layers: bool) -> (f64, usize) {
        let stopping = linear_stopping_criterion(context, couples_layers);
        (stopping.relative_tolerance / context.linear_tolerance, stopping.min_iterations)
    }

    #[test]
    fn contact_loosens_linear_solves_but_the_first_of_layers() {
        let of = |regime: Regime, is_first: bool, couples_layers: bool| {
            let (tolerance, iterations) =
                stopping(LinearSolveContext { regime, is_first, ..LATER }, couples_layers);
            ((100.0 * tolerance).round() / 100.0, iterations)
        };
        assert_eq!(of(Regime::Free, false, false), (1.0, 0));
        assert_eq!(of(Regime::OnSolids, true, false), (2.0, 3));
        assert_eq!(of(Regime::Layered, true, true), (0.3, 3));
        assert_eq!(of(Regime::Layered, false, true), (2.0, 3));
        assert_eq!(of(Regime::Untangling(Some(Coupling::Solids)), false, false), (2.0, 3));
        assert_eq!(of(Regime::Quadratic(Some(Coupling::Solids)), false, false), (1.0, 3));
    }

    #[test]
    fn tolerances_follow_the_settings_up_to_a_bound() {
        let of = |linear_tolerance: f64| {
            let context =
                LinearSolveContext { regime: Regime::OnSolids, linear_tolerance, ..LATER };
            linear_stopping_criterion(context, false).relative_tolerance
        };
        assert!((of(1.0e-3) - 2.0e-3).abs() < 1e-15);
        assert!((of(0.9) - MAX_RELATIVE_RESIDUAL).abs() < 1e-15);
    }

    #[test]
    fn a_small_update_counts_only_behind_the_first_step() {
        let of = |is_first: bool| {
            let context = LinearSolveContext { is_first, displacement_error: Some(2.0), ..LATER };
            linear_stopping_criterion(context, false).update.unwrap().absolute
        };
        assert!(of(true).abs() < 1e-15);
        assert!((of(false) - 2.0 * PARAMETERS.absolute_update).abs() < 1e-15);
        assert_eq!(linear_stopping_criterion(LATER, false).update, None);
    }
}
