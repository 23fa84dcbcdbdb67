// SPDX-License-Identifier: MIT OR Apache-2.0
//! Newton's method for the equations of a stage: inexact, with line search; contacts are detected anew in every
//! iteration.
//!
//! An iteration
//!
//! 1. tests convergence (`criteria`, `force_balance`), balances the net forces of a converged step (`net_force`), and
//!    validates its displacements by continuous collision detection;
//! 2. solves the linearised equations for the Newton step (`linear_system`);
//! 3. backtracks along the step until the potential decreases sufficiently (`line_search`), and accepts the contacts
//!    there.
//!
//! If the displacements of a converged stage would intersect, contacts are stiffened and the iteration continues.

mod convergence;
mod line_search;
mod linear_system;
mod net_force;
mod objective;
mod parameters;
pub(crate) mod reference;
mod regime;
#[cfg(test)]
mod tests;

pub(crate) use convergence::{
    ConvergenceCriteria, ForceBalanceParameters, Iterate, LengthScales, SolveOutcome,
    min_mean_edge_length, tolerance_length,
};
#[cfg(test)]
pub(crate) use convergence::{ForceBalance, force_balances};
pub(crate) use objective::{Objective, QuadraticPotential};
pub(crate) use reference::{Expansion, FixedPointParameters, ModelHessian, QuadraticModel};

use crate::{
    collision::Contact,
    linear_solver::Ordering,
    mesh::UnionFind,
    scene::{Preconditioning, RejectionReason, Report, Task},
    system::{EquationsOfMotion, TangentMatrix},
    vec3::Vec3,
};
use convergence::{EnergyNorm, IterationHistory, PredictedDecrease, SolveProgress};
use linear_system::{LinearSystem, LinearisationPoint};
use parameters::NewtonParameters;
use regime::Regime;

/// Newton's method with its storage, which is reused for every stage.
pub(crate) struct Newton {
    pub(crate) system: LinearSystem,
    /// Residuals without contacts at the iterate, in N.
    pub(crate) residuals: Vec<Vec3>,
    /// Whether stresses at the iterate have been predicted.
    has_predicted_stress: bool,
    /// Potential of contacts at the iterate, in J.
    pub(crate) contact_potential: f64,
    /// Trial point, in m; also a buffer for other vectors of all vertices.
    pub(crate) trial_point: Vec<Vec3>,
    /// Connected pieces of the cloths.
    pieces: UnionFind,
}

impl Newton {
    pub(crate) fn new(dynamics: &EquationsOfMotion, preconditioning: Preconditioning) -> Self {
        let count = dynamics.vertex_count();
        Self {
            system: LinearSystem::new(dynamics, preconditioning),
            residuals: vec![Vec3::zeros(); count],
            has_predicted_stress: false,
            contact_potential: 0.0,
            trial_point: vec![Vec3::zeros(); count],
            pieces: connected_pieces(dynamics),
        }
    }

    /// Order of the vertices in the rows of the linear system.
    pub(crate) fn ordering(&self) -> &Ordering {
        &self.system.tangent.ordering
    }

    /// Takes the stresses at the start of the step for the first tangent.
    fn carry_stress(&mut self, objective: &mut Objective<'_>, report: &mut Report) {
        self.has_predicted_stress = objective.quadratic_model.is_none();
        if self.has_predicted_stress {
            let Objective { dynamics, state, .. } = objective;
            self.trial_point.fill(Vec3::zeros());
            report.time(Task::Forces, || dynamics.elements.carry_stress(&state.positions));
        }
    }

    /// Tangent matrix without contact blocks, for use outside of Newton's method.
    pub(crate) fn tangent_without_contacts(&mut self) -> &mut TangentMatrix {
        let LinearSystem { tangent, assembled_matrix_id, .. } = &mut self.system;
        *assembled_matrix_id = None;
        tangent.matrix.clear_contact_blocks();
        tangent
    }
}

/// Stage to be solved.
pub(crate) struct StageSolve<'a, 'b> {
    pub(crate) newton: &'a mut Newton,
    pub(crate) objective: &'a mut Objective<'b>,
    /// Initial guess in m, which becomes the solution.
    pub(crate) positions: &'a mut [Vec3],
    pub(crate) criteria: ConvergenceCriteria,
    pub(crate) report: &'a mut Report,
}

impl StageSolve<'_, '_> {
    /// Solves the stage by Newton's method.
    pub(crate) fn by_newton(self) -> SolveOutcome {
        NewtonSolve::new(self).run()
    }

    /// Solves the stage by Newton's method with a quadratic model as its potential without contacts.
    pub(crate) fn with_quadratic_model(self, model: &dyn QuadraticPotential) -> SolveOutcome {
        let Self { newton, positions, criteria, report, .. } = self;
        let objective = &mut self.objective.with_quadratic_model(model);
        StageSolve { newton, objective, positions, criteria, report }.by_newton()
    }
}

/// Newton iterations of a stage.
pub(crate) struct NewtonSolve<'a, 'b> {
    pub(crate) newton: &'a mut Newton,
    pub(crate) objective: &'a mut Objective<'b>,
    /// Iterate, in m.
    pub(crate) positions: &'a mut [Vec3],
    criteria: ConvergenceCriteria,
    pub(crate) report: &'a mut Report,
    outcome: SolveOutcome,
    /// Progress at the iterate.
    progress: SolveProgress,
    history: IterationHistory,
    /// Potentials of the last iterates in J, oldest first, all with the present contacts.
    pub(crate) recent_potentials: Vec<f64>,
}

impl<'a, 'b> NewtonSolve<'a, 'b> {
    /// Solve before its first iteration.
    fn new(stage: StageSolve<'a, 'b>) -> Self {
        let StageSolve { newton, objective, positions, criteria, report } = stage;
        Self {
            newton,
            objective,
            positions,
            criteria,
            report,
            outcome: SolveOutcome::UNSOLVED,
            progress: SolveProgress { iterations: 0, regime: Regime::Free },
            history: IterationHistory::new(),
            recent_potentials: Vec::new(),
        }
    }

    fn run(mut self) -> SolveOutcome {
        self.evaluate_initial_guess();
        loop {
            let mut thresholds = self.convergence_thresholds();
            self.outcome.unmet = self.unmet_criterion(&thresholds);
            if self.outcome.converged() {
                self.balance_net_forces();
                self.outcome.is_collision_free = self.validate_step();
                if self.outcome.is_collision_free || !self.continue_with_stiffened_contacts() {
                    return self.outcome;
                }
                thresholds = self.convergence_thresholds();
            }
            if let Some(outcome) = self.give_up() {
                self.balance_net_forces();
                return outcome;
            }
            let previous_length = self.outcome.step_length;
            let Some(predicted) = self.compute_newton_step() else {
                return self.outcome.ended_by(RejectionReason::LinearSolve);
            };
            self.record_newton_step(&predicted);
            let is_last = self.has_short_step(&thresholds);
            if is_last && self.is_contracting(previous_length) && self.accept_final_step() {
                return SolveOutcome { unmet: None, is_collision_free: true, ..self.outcome };
            }
            self.predict_stress(is_last);
            let Some(increase) = self.take_newton_step(&predicted) else {
                return self.outcome.ended_by(RejectionReason::NotFinite);
            };
            self.record_potential_increase(&predicted, increase);
        }
    }

    /// Applies the Dirichlet conditions to the initial guess, detects its contacts and evaluates the objective.
    fn evaluate_initial_guess(&mut self) {
        let Self { newton, objective, positions, report, .. } = self;
        objective.apply_prescribed_displacements(positions);
        newton.carry_stress(objective, report);
        report.time(Task::Contact, || objective.response.detect_initial_contacts(positions));
        let potential = objective.evaluate(positions, &mut newton.residuals, report);
        if newton.has_predicted_stress {
            objective.dynamics.elements.take_stress_of_guess(&newton.trial_point);
        }
        newton.contact_potential = potential.contact;
        self.recent_potentials.push(potential.total());
    }

    /// Threshold of the Newton step of each cloth at a new iterate, in m.
    fn convergence_thresholds(&mut self) -> Vec<f64> {
        self.progress = self.progress();
        let threshold = |cloth: usize| {
            let first_length = self.history.first_lengths.get(cloth).copied().unwrap_or_default();
            self.criteria.threshold(self.progress, first_length)
        };
        (0..self.objective.dynamics.masses.cloths.len()).map(threshold).collect()
    }

    /// Convergence criterion that the iterate does not meet; `None` if it has converged.
    fn unmet_criterion(&mut self, thresholds: &[f64]) -> Option<RejectionReason> {
        if !self.has_short_step(thresholds) {
            Some(RejectionReason::NewtonStep)
        } else if !self.satisfies_force_balance() {
            Some(RejectionReason::ForceBalance)
        } else {
            None
        }
    }

    /// Whether the last Newton step of every cloth is short, in the energy norm and against the acceleration. A first one
    /// tells only where a tangent does not depend on where it is taken: it may have the stress of the start of the step,
    /// and pull at open contacts.
    fn has_short_step(&self, thresholds: &[f64]) -> bool {
        (self.outcome.iterations > 1 || self.progress.regime == Regime::Quadratic(None))
            && self.history.is_within_thresholds(thresholds)
            && self
                .displacement_error_thresholds()
                .is_none_or(|thresholds| self.history.has_small_errors(&thresholds))
    }

    /// Largest error of the end positions of each cloth, in m; `None` where the criterion does not apply.
    fn displacement_error_thresholds(&self) -> Option<Vec<f64>> {
        let iterate = Iterate { objective: &*self.objective, positions: &*self.positions };
        let regime = self.progress.regime;
        self.criteria.displacement_error_thresholds(iterate, regime, self.outcome.iterations)
    }

    fn satisfies_force_balance(&mut self) -> bool {
        let iterate = Iterate { objective: &*self.objective, positions: &*self.positions };
        let newton = &mut *self.newton;
        newton.trial_point.copy_from_slice(&newton.residuals);
        let regime = self.progress.regime;
        self.criteria.satisfies_force_balance(iterate, &mut newton.trial_point, regime)
    }

    /// Progress at the iterate, with its regime.
    fn progress(&self) -> SolveProgress {
        let is_untangling = self.objective.response.is_untangling();
        // Untangling intersects however closely it is solved.
        let iterations = if is_untangling {
            self.outcome.iterations
        } else {
            self.history.iterations_since_stiffening(self.outcome.iterations)
        };
        let regime = Regime::new(self.objective, is_untangling);
        SolveProgress { iterations, regime }
    }

    /// Balances the net forces of free bodies at the iterate.
    fn balance_net_forces(&mut self) {
        let (objective, pieces) = (&*self.objective, &self.newton.pieces);
        self.report.time(Task::Forces, || objective.balance_net_forces(pieces, self.positions));
    }

    /// Whether continuous collision detection finds no intersection on the trajectories to the iterate.
    fn validate_step(&mut self) -> bool {
        let response = &mut *self.objective.response;
        self.report.time(Task::Contact, || response.validate_step(self.positions))
    }

    /// Continues with the contacts that the validation has stiffened. Returns whether more iterations are allowed.
    fn continue_with_stiffened_contacts(&mut self) -> bool {
        let may_continue = self.history.record_stiffening(self.outcome.iterations);
        if may_continue {
            // The balance of net forces has moved the iterate.
            self.objective.evaluate(self.positions, &mut self.newton.residuals, self.report);
            let iteration = self.outcome.iterations;
            let contacts = self.objective.detect_contacts(self.positions, iteration, self.report);
            self.accept_contacts(contacts);
        }
        may_continue
    }

    /// Outcome of a stage that stagnates or is at the iteration limit.
    fn give_up(&mut self) -> Option<SolveOutcome> {
        let SolveOutcome { iterations, step_length, .. } = self.outcome;
        self.history.update_shortest_step(iterations, step_length);
        let is_stagnant =
            self.progress.regime.has_contacts() && self.history.is_stagnant(iterations);
        let is_at_limit = iterations == self.criteria.max_iterations;
        (is_stagnant || is_at_limit).then(|| self.outcome.given_up(is_stagnant))
    }

    fn compute_newton_step(&mut self) -> Option<PredictedDecrease> {
        let newton = &mut *self.newton;
        let point = LinearisationPoint {
            uses_predicted_stress: newton.has_predicted_stress,
            objective: &mut *self.objective,
            positions: &*self.positions,
            residuals: &newton.residuals,
        };
        newton.system.compute_newton_step(point, self.criteria.linear_tolerance, self.report)
    }

    fn record_newton_step(&mut self, predicted: &PredictedDecrease) {
        let norm = EnergyNorm::new(self.objective.dynamics, self.objective.stage);
        let lengths = norm.equivalent_displacements(&predicted.squared_norms);
        self.outcome.step_length = self.history.record_step(lengths);
        let root_mean_squares = self.newton.system.step_root_mean_squares(&norm);
        self.history.record_root_mean_squares(&root_mean_squares);
        self.outcome.iterations += 1;
        self.report.newton_iterations += 1;
    }

    /// Whether steps contract fast enough, without contact, to accept the last one without evaluating its residuals.
    fn is_contracting(&self, previous_length: f64) -> bool {
        self.outcome.iterations > 1
            && !self.progress.regime.has_contacts()
            && self.outcome.step_length <= NewtonParameters::DEFAULT.contraction * previous_length
    }

    /// Takes the whole Newton step if its end is free of contacts and the trajectories are free of intersections.
    /// Returns whether it was taken.
    fn accept_final_step(&mut self) -> bool {
        let newton = &mut *self.newton;
        newton.system.set_trial_point(self.positions, 1.0, &mut newton.trial_point);
        self.objective.balance_net_forces(&newton.pieces, &mut newton.trial_point);
        let is_contact_free = self.detect_contacts_at_trial_point().is_empty();
        let (response, trial_point) = (&mut *self.objective.response, &self.newton.trial_point);
        let is_valid = is_contact_free
            && self.report.time(Task::Contact, || response.validate_step(trial_point));
        if is_valid {
            self.positions.copy_from_slice(trial_point);
        }
        is_valid
    }

    pub(crate) fn detect_contacts_at_trial_point(&mut self) -> Vec<Contact> {
        let (trial_point, iteration) = (&self.newton.trial_point, self.outcome.iterations);
        self.objective.detect_contacts(trial_point, iteration, self.report)
    }

    /// Predicts the stresses after the Newton step for the tangent of the next iteration, if there is one.
    fn predict_stress(&mut self, is_last: bool) {
        let (newton, objective) = (&mut *self.newton, &mut *self.objective);
        newton.has_predicted_stress = !is_last && !self.progress.regime.is_quadratic();
        if newton.has_predicted_stress {
            newton.system.scatter_newton_step(&mut newton.trial_point);
            self.report.time(Task::Forces, || {
                objective.dynamics.elements.predict_stress(objective.stage, &newton.trial_point);
            });
        }
    }

    /// Raises the length of the last step to that of a step which decreases the potential by its increase.
    fn record_potential_increase(&mut self, predicted: &PredictedDecrease, increase: f64) {
        let norm = EnergyNorm::new(self.objective.dynamics, self.objective.stage);
        let cloth = predicted.dominant_cloth();
        let length = norm.equivalent_displacement(cloth, 2.0 * increase);
        self.outcome.step_length = self.history.raise_step_length(cloth, length);
    }

    /// Replaces the contacts, and adjusts past potentials to the new ones.
    pub(crate) fn accept_contacts(&mut self, contacts: Vec<Contact>) {
        self.objective.response.accept_contacts(contacts);
        let contact_potential = self.objective.response.contact_potential(self.positions);
        self.set_contact_potential(contact_potential);
    }

    /// Sets the potential of contacts at the iterate in J, and adjusts past potentials to it.
    pub(crate) fn set_contact_potential(&mut self, contact_potential: f64) {
        for potential in &mut self.recent_potentials {
            *potential += contact_potential - self.newton.contact_potential;
        }
        self.newton.contact_potential = contact_potential;
    }
}

/// Pieces of the cloths that are connected by edges, seams and springs.
fn connected_pieces(dynamics: &EquationsOfMotion) -> UnionFind {
    let mut pieces = UnionFind::new(dynamics.vertex_count());
    dynamics.coupled_pairs().into_iter().for_each(|[one, other]| pieces.union(one, other));
    pieces
}
