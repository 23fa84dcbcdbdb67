// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fixed-point iteration of Etzmuss 2002, section 3.4.3: the step of a semi-implicit scheme, repeated with the forces
//! at its result until it satisfies the equations of the implicit scheme. It is Newton's method with a constant matrix.
//!
//! It contracts slowly where the matrix overestimates the stiffness, as across a stiff sheet; the slower the larger
//! h²k/(ρl²). Anderson acceleration (`anderson`) helps, shorter steps help more.
//!
//! **Convergence.** A short update does not imply a small error: where the iteration hardly contracts, the error is
//! many times the last update. The residual forces R at the end bound the error by √⟨R, β²M⁻¹R⟩ in the energy norm,
//! because the tangent is no less than M/β²; that bound must be within the tolerance. Contacts enter R by the forces
//! that the linear system has found for them.

use super::anderson::AndersonAcceleration;
use crate::{
    Vec3,
    newton::{
        StageSolve,
        convergence::{EnergyNorm, SolveOutcome, SolveProgress, largest_displacement},
        objective::Objective,
        quadratic_model::{Expansion, QuadraticModel},
    },
    scene::{RejectionReason, Report},
    system::{EquationsOfMotion, RevisedStiffness},
    time_integration::Stage,
};

/// Parameters of the fixed-point iteration.
pub(crate) struct FixedPointParameters {
    /// Updates allowed per allowed iteration of Newton's method; an update costs that much less. Effect: larger takes
    /// longer; smaller rejects more steps. Evidence: none recorded.
    pub(crate) updates_per_iteration: usize,
    /// Tolerance of the iteration (fraction of the tolerance). The last Newton iteration leaves the square of an error,
    /// but an update leaves most of it, and at the tolerance itself the errors of all steps would add up visibly.
    /// Effect: larger accumulates errors; smaller costs updates. Evidence: none recorded.
    strictness: f64,
    /// Tolerance of the linear system (fraction of that tolerance). Effect: larger costs updates; smaller costs
    /// conjugate gradient iterations. Evidence: none recorded.
    inner_tolerance: f64,
    /// Lower bound of the tolerance of the linear system (fraction of the last update). Effect: larger costs updates;
    /// smaller costs conjugate gradient iterations. Evidence: none recorded.
    inner_absolute: f64,
}

impl FixedPointParameters {
    pub(crate) const DEFAULT: Self = Self {
        updates_per_iteration: 4,
        strictness: 0.1,
        inner_tolerance: 0.1,
        inner_absolute: 0.1,
    };
}

const PARAMETERS: FixedPointParameters = FixedPointParameters::DEFAULT;

/// Solves a stage by the fixed-point iteration with the constant stiffness.
pub(crate) fn solve(solve: StageSolve<'_, '_>, stiffness: &RevisedStiffness) -> SolveOutcome {
    let StageSolve { newton, objective, positions, criteria, report } = solve;
    let stage = objective.stage;
    let criteria = criteria.scaled(PARAMETERS.strictness);
    let inner = criteria.scaled(PARAMETERS.inner_tolerance);
    let max_updates = PARAMETERS.updates_per_iteration * criteria.max_iterations;
    let mut outcome = SolveOutcome::UNSOLVED;
    let mut residuals = vec![Vec3::zeros(); positions.len()];
    let (mut first_length, mut last_length, mut has_contacts) = (0.0, 0.0, false);
    let mut anderson = AndersonAcceleration::default();
    let iterations_before = report.newton_iterations;
    objective.apply_prescribed_displacements(positions);
    while outcome.iterations < max_updates {
        let point = positions.to_vec();
        let potential = objective.dynamics.evaluate(stage, &point, &mut residuals, report);
        if !potential.is_finite() {
            outcome.unmet = Some(RejectionReason::NotFinite);
            return outcome;
        }
        let expansion = Expansion { point: &point, residuals: &residuals };
        let model = QuadraticModel::with_constant_stiffness(
            objective.dynamics,
            stage,
            stiffness,
            expansion,
        );
        // Every update detects contacts anew; converged contacts of an early update would be lost in the next.
        let progress = SolveProgress { iterations: outcome.iterations, is_strict: true };
        let is_far = last_length > criteria.quadratic_threshold(progress, first_length, true);
        let mut linear_criteria = inner.with_min_threshold(PARAMETERS.inner_absolute * last_length);
        if is_far && has_contacts {
            linear_criteria.max_iterations = 1;
        }
        let mut quadratic = objective.with_quadratic_model(&model);
        let linear = newton.solve(&mut quadratic, positions, linear_criteria, report);
        anderson.record(&point, positions, |field| model.hessian_product(field));
        outcome.iterations += 1;
        // The report counts updates, not the Newton iterations within them.
        report.newton_iterations = iterations_before + outcome.iterations;
        let squares = anderson.last_squared_norms(&objective.dynamics.mesh.cloth_starts);
        let norm = EnergyNorm::new(objective.dynamics, stage);
        last_length = largest_displacement(&norm.equivalent_displacements(&squares));
        outcome.step_length = last_length;
        has_contacts = !objective.response.contacts().is_empty();
        if outcome.iterations == 1 {
            first_length = last_length;
        }
        let progress = SolveProgress { iterations: outcome.iterations, is_strict: true };
        let threshold = criteria.quadratic_threshold(progress, first_length, has_contacts);
        outcome.is_collision_free = linear.is_collision_free;
        outcome.unmet = unmet_criterion(outcome.step_length <= threshold, &linear);
        if outcome.converged() {
            let contacts = LastContacts { anderson: &anderson, residuals_at_point: &residuals };
            let contacts = has_contacts.then_some(contacts);
            let error = error_bound(objective, positions, contacts, report);
            outcome.step_length = outcome.step_length.max(error);
            if outcome.step_length <= threshold {
                return outcome;
            }
            outcome.unmet = Some(RejectionReason::ForceResidual);
        }
        if outcome.iterations < max_updates {
            outcome.is_collision_free = false;
            anderson.mix(positions);
        }
    }
    outcome
}

/// Convergence criterion that an update does not meet, before its residual forces are known, given the outcome of its
/// linear system.
fn unmet_criterion(is_short: bool, linear: &SolveOutcome) -> Option<RejectionReason> {
    let long_update = (!is_short).then_some(RejectionReason::NewtonStep);
    let penetration = (!linear.is_collision_free).then_some(RejectionReason::Penetration);
    long_update.or(linear.unmet).or(penetration)
}

/// Contact forces of the last update: the acceleration history, and the residuals at the point where the update began,
/// in N.
#[derive(Clone, Copy)]
struct LastContacts<'a> {
    anderson: &'a AndersonAcceleration,
    residuals_at_point: &'a [Vec3],
}

/// Bound of the error at `positions` by the residual forces there, in m.
fn error_bound(
    objective: &mut Objective<'_>,
    positions: &[Vec3],
    contacts: Option<LastContacts<'_>>,
    report: &mut Report,
) -> f64 {
    let mut residuals = vec![Vec3::zeros(); positions.len()];
    objective.dynamics.evaluate(objective.stage, positions, &mut residuals, report);
    if let Some(LastContacts { anderson, residuals_at_point }) = contacts {
        anderson.add_contact_forces(residuals_at_point, &mut residuals);
    }
    for prescribed in objective.prescribed_displacements {
        let residual = &mut residuals[prescribed.vertex];
        *residual = prescribed.free_projector * *residual;
    }
    let EquationsOfMotion { masses, mesh, .. } = &*objective.dynamics;
    let Stage { beta, extrapolation_factor, .. } = *objective.stage;
    // ⟨R, β²M⁻¹R⟩ of a cloth.
    let squared_norm = |ends: &[usize]| {
        let pairs = residuals[ends[0]..ends[1]].iter().zip(&masses[ends[0]..ends[1]]);
        let squares = pairs.map(|(force, mass)| force.norm_squared() / mass);
        extrapolation_factor * beta * beta * squares.sum::<f64>()
    };
    let squares: Vec<f64> = mesh.cloth_starts.windows(2).map(squared_norm).collect();
    let norm = EnergyNorm::new(objective.dynamics, objective.stage);
    largest_displacement(&norm.equivalent_displacements(&squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_criterion_that_an_update_violates_is_named() {
        let solved =
            SolveOutcome { unmet: None, is_collision_free: true, ..SolveOutcome::UNSOLVED };
        assert_eq!(unmet(true, &solved), None);
        assert_eq!(unmet(false, &solved), Some(RejectionReason::NewtonStep));
        let crossing = SolveOutcome { is_collision_free: false, ..solved };
        assert_eq!(unmet(true, &crossing), Some(RejectionReason::Penetration));
        let stagnant = SolveOutcome { unmet: Some(RejectionReason::Stagnation), ..crossing };
        assert_eq!(unmet(true, &stagnant), Some(RejectionReason::Stagnation));
    }
}
