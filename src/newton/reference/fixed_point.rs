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

use super::{
    anderson::AndersonAcceleration,
    quadratic_model::{Expansion, QuadraticModel},
};
use crate::{
    newton::{
        StageSolve,
        convergence::{
            ConvergenceCriteria, EnergyNorm, SolveOutcome, SolveProgress, largest_displacement,
        },
        regime::Regime,
    },
    scene::RejectionReason,
    system::{EquationsOfMotion, RevisedStiffness},
    time_integration::Stage,
    vec3::Vec3,
};

/// Parameters of the fixed-point iteration.
pub(crate) struct FixedPointParameters {
    /// Updates allowed per allowed iteration of Newton's method; an update costs that much less. Effect: larger takes
    /// longer; smaller rejects more steps. Evidence: `sheet/ball10_bdf2_fixed_point` (1: 15 rejected steps instead of
    /// 5).
    pub(crate) updates_per_iteration: usize,
    /// Tolerance of the iteration (fraction of the tolerance). The last Newton iteration leaves the square of an error,
    /// but an update leaves most of it, and at the tolerance itself the errors of all steps would add up visibly.
    /// Effect: larger accumulates errors; smaller costs updates. Evidence: `sheet/pinned10_fixed` (1 saves 59 %
    /// updates).
    strictness: f64,
    /// Tolerance of the linear system (fraction of that tolerance). Effect: larger costs updates; smaller costs
    /// conjugate gradient iterations. Evidence: `sheet/pinned10_fixed` (1 saves 31 % conjugate gradient iterations).
    inner_tolerance: f64,
    /// Lower bound of the tolerance of the linear system (fraction of the last update). Effect: larger costs updates;
    /// smaller costs conjugate gradient iterations. Evidence: none: no test or figure depends on it (0 tried; bits of
    /// `sheet/pinned10_fixed` change).
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
pub(crate) fn solve(stage: StageSolve<'_, '_>, stiffness: &RevisedStiffness) -> SolveOutcome {
    let iteration = FixedPointIteration {
        criteria: stage.criteria.scaled(PARAMETERS.strictness),
        residuals: vec![Vec3::zeros(); stage.positions.len()],
        stage,
        stiffness,
        outcome: SolveOutcome::UNSOLVED,
        first_length: 0.0,
        last_length: 0.0,
        regime: Regime::Quadratic(None),
        anderson: AndersonAcceleration::default(),
    };
    iteration.run()
}

/// Fixed-point iteration in progress.
struct FixedPointIteration<'a, 'b> {
    stage: StageSolve<'a, 'b>,
    stiffness: &'a RevisedStiffness,
    /// Criteria of the updates.
    criteria: ConvergenceCriteria,
    outcome: SolveOutcome,
    /// Residuals without contacts at the point where the last update began, in N.
    residuals: Vec<Vec3>,
    /// Length of the first update, in m.
    first_length: f64,
    /// Length of the last update, in m.
    last_length: f64,
    /// Regime at the end of the last update.
    regime: Regime,
    anderson: AndersonAcceleration,
}

impl FixedPointIteration<'_, '_> {
    fn run(mut self) -> SolveOutcome {
        let max_updates = PARAMETERS.updates_per_iteration * self.criteria.max_iterations;
        let iterations_before = self.stage.report.newton_iterations;
        self.stage.objective.apply_prescribed_displacements(self.stage.positions);
        while self.outcome.iterations < max_updates {
            let Some(linear) = self.update() else {
                self.outcome.unmet = Some(RejectionReason::NotFinite);
                return self.outcome;
            };
            // The report counts updates, not the Newton iterations within them.
            self.stage.report.newton_iterations = iterations_before + self.outcome.iterations;
            let threshold = self.threshold();
            self.outcome.is_collision_free = linear.is_collision_free;
            self.outcome.unmet = unmet_criterion(self.outcome.step_length <= threshold, &linear);
            if self.outcome.converged() {
                self.outcome.step_length = self.outcome.step_length.max(self.error_bound());
                if self.outcome.step_length <= threshold {
                    return self.outcome;
                }
                self.outcome.unmet = Some(RejectionReason::ForceResidual);
            }
            if self.outcome.iterations < max_updates {
                self.outcome.is_collision_free = false;
                self.anderson.mix(self.stage.positions);
            }
        }
        self.outcome
    }

    /// Solves the linear system of an update. Returns its outcome; `None` if the potential is not finite.
    fn update(&mut self) -> Option<SolveOutcome> {
        let criteria = self.linear_criteria();
        let StageSolve { newton, objective, positions, report, .. } = &mut self.stage;
        let stage = objective.stage;
        let point = positions.to_vec();
        let potential = objective.dynamics.evaluate(stage, &point, &mut self.residuals, report);
        if !potential.is_finite() {
            return None;
        }
        let expansion = Expansion { point: &point, residuals: &self.residuals };
        let dynamics = &*objective.dynamics;
        let model =
            QuadraticModel::with_constant_stiffness(dynamics, stage, self.stiffness, expansion);
        let objective = &mut objective.with_quadratic_model(&model);
        let linear = StageSolve { newton, objective, positions, criteria, report }.by_newton();
        self.regime = Regime::new(objective, false);
        self.anderson.record(&point, positions, |field| model.hessian_product(field));
        let squares = self.anderson.last_squared_norms(&objective.dynamics.mesh.cloth_starts);
        let norm = EnergyNorm::new(objective.dynamics, stage);
        self.last_length = largest_displacement(&norm.equivalent_displacements(&squares));
        if self.outcome.iterations == 0 {
            self.first_length = self.last_length;
        }
        self.outcome.step_length = self.last_length;
        self.outcome.iterations += 1;
        Some(linear)
    }

    /// Criteria of the linear system of the next update. Every update detects contacts anew; converged contacts of an
    /// early update would be lost in the next.
    fn linear_criteria(&self) -> ConvergenceCriteria {
        let inner = self.criteria.scaled(PARAMETERS.inner_tolerance);
        let mut criteria = inner.with_min_threshold(PARAMETERS.inner_absolute * self.last_length);
        if self.regime.has_contacts() && self.last_length > self.threshold() {
            criteria.max_iterations = 1;
        }
        criteria
    }

    /// Threshold of an update, in m.
    fn threshold(&self) -> f64 {
        let progress = SolveProgress { iterations: self.outcome.iterations, regime: self.regime };
        self.criteria.threshold(progress, self.first_length)
    }

    /// Bound of the error by the residual forces at the present positions, in m. Contact forces are those of the last
    /// update.
    fn error_bound(&mut self) -> f64 {
        let StageSolve { objective, positions, report, .. } = &mut self.stage;
        let mut residuals = vec![Vec3::zeros(); positions.len()];
        objective.dynamics.evaluate(objective.stage, positions, &mut residuals, report);
        if self.regime.has_contacts() {
            self.anderson.add_contact_forces(&self.residuals, &mut residuals);
        }
        for prescribed in objective.prescribed_displacements {
            let residual = &mut residuals[prescribed.vertex];
            *residual = prescribed.free_projector * *residual;
        }
        let EquationsOfMotion { masses, mesh, .. } = &*objective.dynamics;
        let Stage { beta, extrapolation_factor, .. } = *objective.stage;
        // ⟨R, β²M⁻¹R⟩ of a cloth.
        let squared_norm = |ends: &[usize]| {
            let pairs = residuals[ends[0]..ends[1]].iter().zip(&masses.vertices[ends[0]..ends[1]]);
            let squares = pairs.map(|(force, mass)| force.norm_squared() / mass);
            extrapolation_factor * beta * beta * squares.sum::<f64>()
        };
        let squares: Vec<f64> = mesh.cloth_starts.windows(2).map(squared_norm).collect();
        let norm = EnergyNorm::new(objective.dynamics, objective.stage);
        largest_displacement(&norm.equivalent_displacements(&squares))
    }
}

/// Convergence criterion that an update does not meet, before its residual forces are known, given the outcome of its
/// linear system.
fn unmet_criterion(is_short: bool, linear: &SolveOutcome) -> Option<RejectionReason> {
    let long_update = (!is_short).then_some(RejectionReason::NewtonStep);
    let penetration = (!linear.is_collision_free).then_some(RejectionReason::Penetration);
    long_update.or(linear.unmet).or(penetration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_criterion_that_an_update_violates_is_named() {
        let solved =
            SolveOutcome { unmet: None, is_collision_free: true, ..SolveOutcome::UNSOLVED };
        assert_eq!(unmet_criterion(true, &solved), None);
        assert_eq!(unmet_criterion(false, &solved), Some(RejectionReason::NewtonStep));
        let penetrating = SolveOutcome { is_collision_free: false, ..solved };
        assert_eq!(unmet_criterion(true, &penetrating), Some(RejectionReason::Penetration));
        let stagnant = SolveOutcome { unmet: Some(RejectionReason::Stagnation), ..penetrating };
        assert_eq!(unmet_criterion(true, &stagnant), Some(RejectionReason::Stagnation));
    }
}
