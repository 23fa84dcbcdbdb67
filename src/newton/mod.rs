// SPDX-License-Identifier: MIT OR Apache-2.0
//! The nonlinear equations of a stage: inexact Newton corrections with contacts that come and go.
//!
//! Each correction solves the linearised equations by filtered conjugate gradients, goes as far along them as the
//! potential allows, and then looks anew which surfaces touch. The stage is solved when the correction is small
//! and the ways of all vertices have been found to cross nothing.

mod convergence;
mod forcing_term;
mod objective;
mod quadratic_model;
pub(crate) mod reference;

pub(crate) use convergence::{
    ConvergenceCriteria, SolveOutcome, min_mean_edge_length, tolerance_length,
};
#[cfg(test)]
pub(crate) use convergence::{ForceBalance, force_balances};
pub(crate) use objective::Objective;
pub(crate) use quadratic_model::{ModelHessian, QuadraticModel, constant_quadratic_model};
pub(crate) use reference::UPDATES;

use crate::{
    Vec3,
    collision::Contact,
    linear_solver::{
        BlockJacobi, Filter, IncompleteCholesky, Multigrid, Ordering, Preconditioner,
        StoppingCriterion, Workspace, conjugate_gradients,
    },
    response::{ActiveSet, CollisionResponse, PrescribedVertex},
    scene::{Preconditioning, RejectionReason, Report, Task},
    simd::{Block, Row3},
    system::{EquationsOfMotion, TangentMatrix},
};
use convergence::{EnergyNorm, IterationHistory, PredictedDecrease};
use forcing_term::{forcing_factor, linear_stopping_criterion};
use objective::Potential;

/// Potentials before the current one that a correction is measured against: the second-order stretch
/// of a rotation may raise the potential for one correction.
const MEMORY: usize = 3;
/// Part of the decrease promised by the slope that a correction must bring.
const SUFFICIENT: f64 = 1.0e-4;
/// Halvings of a correction before it is taken as it is.
const MOST_HALVINGS: usize = 8;
/// The same for a correction that runs into other contacts.
const MOST_EVASIONS: usize = 3;
/// The part of the one before that a last correction has to be, where what it leaves is not looked at. (What forces with
/// bounds leave, as those of seams, does not fall like that.)
const CONVERGING: f64 = 0.5;

/// What solving stages needs, kept from one to the next.
pub(crate) struct Newton {
    tangent: TangentMatrix,
    /// The quadratic potential whose matrix and preconditioner are at hand, without contacts.
    assembled_matrix_id: Option<[u64; 3]>,
    preconditioner: Box<dyn Preconditioner + Sync>,
    workspace: Workspace,
    filter: Filter,
    active: ActiveSet,
    residuals: Vec<Vec3>,
    /// Blocks of contacts between rows that no element joins.
    contact_blocks: Vec<(u32, u32, Block)>,
    /// Whether stresses after the last correction have been predicted.
    has_predicted_stress: bool,
    /// The potential of the contacts where the corrections have come to, in J.
    contact_potential: f64,
    /// Where a correction leads; before, the correction itself.
    trial_point: Vec<Vec3>,
    right_hand_side: Vec<Row3>,
    newton_step: Vec<Row3>,
}

impl Newton {
    pub(crate) fn new(dynamics: &EquationsOfMotion, preconditioning: Preconditioning) -> Self {
        let count = dynamics.vertex_count();
        let tangent = TangentMatrix::new(dynamics);
        Self {
            preconditioner: new_preconditioner(preconditioning, dynamics, &tangent),
            workspace: Workspace::default(),
            filter: Filter::new(count),
            active: ActiveSet::default(),
            residuals: vec![Vec3::zeros(); count],
            contact_blocks: Vec::new(),
            has_predicted_stress: false,
            contact_potential: 0.0,
            trial_point: vec![Vec3::zeros(); count],
            right_hand_side: vec![[0.0; 4]; count],
            newton_step: vec![[0.0; 4]; count],
            tangent,
            assembled_matrix_id: None,
        }
    }

    /// The rows of the vertices.
    pub(crate) fn ordering(&self) -> &Ordering {
        &self.tangent.ordering
    }

    /// The tangent, for another use, without what contacts have added to it.
    pub(crate) fn tangent_without_contacts(&mut self) -> &mut TangentMatrix {
        self.assembled_matrix_id = None;
        self.tangent.matrix.clear_contact_blocks();
        &mut self.tangent
    }

    /// Solves a stage from the start `positions`, which become its solution.
    pub(crate) fn solve(
        &mut self,
        problem: &mut Objective<'_>,
        positions: &mut [Vec3],
        accuracy: ConvergenceCriteria,
        report: &mut Report,
    ) -> SolveOutcome {
        let mut recent = vec![self.evaluate_initial_guess(problem, positions, report)];
        let mut solved = SolveOutcome::UNSOLVED;
        let mut progress = IterationHistory::new();
        loop {
            let mut wanted =
                self.convergence_thresholds((problem, positions), accuracy, (&solved, &progress));
            solved.unmet = if !progress.is_within_thresholds(&wanted) {
                Some(RejectionReason::NewtonStep)
            } else if !self.satisfies_force_balance(
                (problem, positions),
                accuracy,
                (&solved, &progress),
            ) {
                Some(RejectionReason::ForceBalance)
            } else {
                None
            };
            if solved.converged() {
                let response = &mut *problem.response;
                solved.is_collision_free =
                    report.time(Task::Contact, || response.validate_step(positions));
                if solved.is_collision_free || !progress.record_stiffening(solved.iterations) {
                    return solved;
                }
                let contacts = problem.detect_contacts(positions, solved.iterations, report);
                self.accept_contacts(problem, (contacts, positions), &mut recent);
                wanted = self.convergence_thresholds(
                    (problem, positions),
                    accuracy,
                    (&solved, &progress),
                );
            }
            progress.update_shortest_step(solved.iterations, solved.step_length);
            let touches = !problem.response.contacts().is_empty();
            let is_hopeless = touches && progress.is_stagnant(solved.iterations);
            if is_hopeless || solved.iterations == accuracy.max_iterations {
                return solved.given_up(is_hopeless);
            }
            let is_first = solved.iterations == 0;
            let enough = if is_first { 0.0 } else { absolute_linear_tolerance(problem, &wanted) };
            let longest = CONVERGING * solved.step_length;
            let Some(promise) =
                self.compute_newton_step(problem, positions, (is_first, enough), report)
            else {
                return solved.ended_by(RejectionReason::LinearSolve);
            };
            let lengths = EnergyNorm::new(problem.dynamics, problem.stage)
                .equivalent_displacements(&promise.squared_norms);
            solved.step_length = progress.record_step(lengths);
            solved.iterations += 1;
            report.newton_iterations += 1;
            let is_last = progress.is_within_thresholds(&wanted);
            let is_sure = is_last && !is_first && !touches && solved.step_length <= longest;
            if is_sure && self.accept_final_step(problem, positions, solved.iterations, report) {
                return SolveOutcome { unmet: None, is_collision_free: true, ..solved };
            }
            self.predict_stress(problem, is_last, report);
            let way = (solved.iterations, &promise);
            let Some(raised) =
                self.take_newton_step((problem, positions), way, &mut recent, report)
            else {
                return solved.ended_by(RejectionReason::NotFinite);
            };
            let cloths = EnergyNorm::new(problem.dynamics, problem.stage);
            let main = promise.dominant_cloth();
            solved.step_length = progress
                .raise_step_length(main, cloths.equivalent_displacement(main, 2.0 * raised));
        }
    }

    /// Goes along the last of so many corrections if that leads to where nothing touches and crosses nothing. Where each is
    /// much shorter than the one before, what is left of the equations there need not be known.
    fn accept_final_step(
        &mut self,
        problem: &mut Objective<'_>,
        positions: &mut [Vec3],
        iterations: usize,
        report: &mut Report,
    ) -> bool {
        self.set_trial_point(positions, 1.0);
        let is_free = problem.detect_contacts(&self.trial_point, iterations, report).is_empty();
        let response = &mut *problem.response;
        let is_clear =
            is_free && report.time(Task::Contact, || response.validate_step(&self.trial_point));
        if is_clear {
            positions.copy_from_slice(&self.trial_point);
        }
        is_clear
    }

    /// Leaves as the trial where a part of the correction leads from `positions`.
    fn set_trial_point(&mut self, positions: &[Vec3], part: f64) {
        let moved = |vertex: usize, way| positions[vertex] + way * part;
        self.tangent.ordering.scatter_with(&self.newton_step, &mut self.trial_point, moved);
    }

    /// Goes along a correction, the last of so many, and takes the contacts there. Gives what it has raised the potential by,
    /// in J; `None` where that is beyond the range of numbers.
    fn take_newton_step(
        &mut self,
        (problem, positions): (&mut Objective<'_>, &mut [Vec3]),
        (iterations, promise): (usize, &PredictedDecrease),
        recent: &mut Vec<f64>,
        report: &mut Report,
    ) -> Option<f64> {
        for potential in recent.iter_mut() {
            *potential += promise.contact_potential - self.contact_potential;
        }
        self.contact_potential = promise.contact_potential;
        let along = (iterations, promise.slope);
        let (potential, contacts) = self.line_search(problem, positions, (recent, along), report);
        if !potential.total().is_finite() {
            return None;
        }
        // A correction that turns triangles may raise the potential: that is still to be taken away.
        let rise = recent.last().map_or(0.0, |last| potential.total() - last);
        let inside = rise - (potential.contact - self.contact_potential);
        let raised = rise.min(inside).max(0.0);
        recent.push(potential.total());
        if recent.len() > MEMORY {
            recent.remove(0);
        }
        self.contact_potential = potential.contact;
        self.accept_contacts(problem, (contacts, positions), recent);
        Some(raised)
    }

    /// Goes on with these contacts, and measures what is compared with the potential from the new one.
    fn accept_contacts(
        &mut self,
        problem: &mut Objective<'_>,
        (contacts, positions): (Vec<Contact>, &[Vec3]),
        recent: &mut [f64],
    ) {
        problem.response.accept_contacts(contacts);
        let touching = problem.response.contact_potential(positions);
        for potential in recent {
            *potential += touching - self.contact_potential;
        }
        self.contact_potential = touching;
    }

    /// How short the last correction of each cloth has to be in a stage, in m.
    fn convergence_thresholds(
        &self,
        (problem, positions): (&Objective<'_>, &[Vec3]),
        accuracy: ConvergenceCriteria,
        (solved, progress): (&SolveOutcome, &IterationHistory),
    ) -> Vec<f64> {
        let (made, is_fine) = self.iteration_index(problem, (solved, progress));
        let of_cloth = |cloth: usize| {
            let first = progress.first_lengths.get(cloth).copied().unwrap_or_default();
            accuracy.threshold((problem, positions, cloth), (made, first), is_fine)
        };
        (0..problem.dynamics.cloth_masses.len()).map(of_cloth).collect()
    }

    /// Whether what is left of the equations moves no cloth as a whole.
    fn satisfies_force_balance(
        &mut self,
        (problem, positions): (&Objective<'_>, &[Vec3]),
        accuracy: ConvergenceCriteria,
        (solved, progress): (&SolveOutcome, &IterationHistory),
    ) -> bool {
        let effort = self.iteration_index(problem, (solved, progress));
        self.trial_point.copy_from_slice(&self.residuals);
        accuracy.satisfies_force_balance((problem, positions), &mut self.trial_point, effort)
    }

    /// How many corrections count, and whether contacts join layers of cloth or equations are quadratic.
    fn iteration_index(
        &self,
        problem: &Objective<'_>,
        (solved, progress): (&SolveOutcome, &IterationHistory),
    ) -> (usize, bool) {
        // What is drawn apart is crossed however closely it is solved.
        let made = if problem.response.is_untangling() {
            solved.iterations
        } else {
            progress.iterations_since_stiffening(solved.iterations)
        };
        (made, problem.quadratic_model.is_some() || !self.contact_blocks.is_empty())
    }

    /// Predicts the stress after a correction, where the next one is to use it and there will be one.
    fn predict_stress(&mut self, problem: &mut Objective<'_>, is_last: bool, report: &mut Report) {
        self.has_predicted_stress = !is_last && uses_stress_prediction(problem);
        if self.has_predicted_stress {
            report.time(Task::Forces, || {
                problem.dynamics.predict_stress(problem.stage, &self.trial_point)
            });
        }
    }

    /// Puts what is guided where it is to be, and evaluates the start.
    fn evaluate_initial_guess(
        &mut self,
        problem: &mut Objective<'_>,
        positions: &mut [Vec3],
        report: &mut Report,
    ) -> f64 {
        problem.apply_prescribed_displacements(positions);
        self.has_predicted_stress = false;
        let response = &mut *problem.response;
        report.time(Task::Contact, || response.detect_initial_contacts(positions));
        let potential = problem.evaluate(positions, &mut self.residuals, report);
        self.contact_potential = potential.contact;
        potential.total()
    }

    /// Finds the next correction, as `solution`, and what it promises; `None` where the equations are beyond the range
    /// of numbers. No less need be left of the square of what they still ask for than `enough`, in J.
    fn compute_newton_step(
        &mut self,
        problem: &mut Objective<'_>,
        positions: &[Vec3],
        (is_first, enough): (bool, f64),
        report: &mut Report,
    ) -> Option<PredictedDecrease> {
        let is_kept = self.assemble_tangent((problem, positions), report);
        self.tangent.ordering.gather(&self.residuals, &mut self.right_hand_side);
        self.assemble_contacts(problem.response, positions);
        self.active.prescribed.eliminate(&self.tangent.matrix, &mut self.right_hand_side);
        self.filter.apply(&mut self.right_hand_side);
        if !is_kept {
            self.filter.apply_to(&mut self.tangent.matrix);
            report.time(Task::Preconditioner, || self.preconditioner.update(&self.tangent.matrix));
        }
        let stopping =
            linear_stopping_criterion(problem, (is_first, enough), !self.contact_blocks.is_empty());
        let solved = self.solve_linear_system(stopping, report);
        solved.then(|| self.promise(problem, positions))
    }

    /// What the Newton step promises, with the multipliers of constraints that it has found.
    fn promise(&mut self, problem: &mut Objective<'_>, positions: &[Vec3]) -> PredictedDecrease {
        let cloths = EnergyNorm::new(problem.dynamics, problem.stage);
        let loads = self.active.prescribed.loads(&self.right_hand_side);
        let squares = cloths.products_per_cloth(&self.tangent.ordering, loads, &self.newton_step);
        let (multipliers, gained) =
            self.active.update_multipliers(&self.newton_step, problem.response);
        let touching = problem.response.contact_potential(positions);
        let promise = PredictedDecrease {
            slope: -(squares.iter().sum::<f64>() + gained),
            squared_norms: squares,
            contact_potential: touching,
        };
        promise.with(&multipliers, (&cloths, &self.tangent.ordering))
    }

    /// Fills the matrix but for contacts, and sets the filter. Says whether both and the preconditioner are at hand.
    fn assemble_tangent(
        &mut self,
        (problem, positions): (&mut Objective<'_>, &[Vec3]),
        report: &mut Report,
    ) -> bool {
        let Some(quadratic) = problem.quadratic_model else {
            if self.has_predicted_stress && uses_stress_prediction(problem) {
                problem.dynamics.use_predicted_stress();
            }
            report.time(Task::Assembly, || self.tangent.assemble(problem.dynamics, problem.stage));
            self.constrain(problem, positions);
            self.assembled_matrix_id = None;
            return false;
        };
        let before = self.filter.clone();
        self.constrain(problem, positions);
        let is_free = problem.response.all_contacts().next().is_none();
        let number = quadratic.matrix_id.filter(|_| is_free);
        let is_kept =
            number.is_some() && number == self.assembled_matrix_id && before == self.filter;
        if !is_kept {
            report.time(Task::Assembly, || quadratic.fill_tangent(&mut self.tangent));
        }
        self.assembled_matrix_id = number;
        is_kept
    }

    /// Adds the contacts to both sides of the equations.
    fn assemble_contacts(&mut self, response: &CollisionResponse, positions: &[Vec3]) {
        let TangentMatrix { matrix, ordering, .. } = &mut self.tangent;
        self.contact_blocks.clear();
        for (contact, reaction) in response.all_contacts().zip(response.contact_forces(positions)) {
            let parts = contact.pair.vertices.iter().zip(&contact.linearised.weights);
            let cloth = parts.filter(|(vertex, _)| response.is_cloth(**vertex));
            let cloth = cloth.map(|(vertex, weight)| (ordering.row(*vertex as usize), *weight));
            for (row, weight) in cloth.clone() {
                let force = reaction.force * weight;
                let right = &mut self.right_hand_side[row];
                for k in 0..3 {
                    right[k] += force[k] as f32;
                }
                for (column, other) in cloth.clone().filter(|(column, _)| *column >= row) {
                    let block = Block::from_matrix(&(reaction.stiffness * (weight * other)));
                    if row == column {
                        matrix.add_diagonal(row, &block);
                    } else if !matrix.add_pair(row, column, &block) {
                        self.contact_blocks.push((row as u32, column as u32, block));
                    }
                }
            }
        }
        matrix.set_contact_blocks(&self.contact_blocks);
    }

    /// Sets the filter.
    fn constrain(&mut self, problem: &Objective<'_>, positions: &[Vec3]) {
        let prescribed = problem
            .prescribed_displacements
            .iter()
            .map(|one| PrescribedVertex { vertex: one.vertex, projector: one.free_projector });
        let constraints = problem.response.active_constraints(positions);
        self.active.set(prescribed, constraints, &self.tangent.ordering, &mut self.filter);
    }

    /// Solves the linear equations. Says whether that gave numbers.
    fn solve_linear_system(&mut self, stopping: StoppingCriterion, report: &mut Report) -> bool {
        self.newton_step.fill([0.0; 4]);
        let outcome = report.time(Task::LinearSolve, || {
            conjugate_gradients(
                &self.tangent.matrix,
                &self.right_hand_side,
                &self.filter,
                self.preconditioner.as_mut(),
                stopping,
                (&mut self.workspace, &mut self.newton_step),
            )
        });
        report.linear_iterations += outcome.iterations;
        // A search direction that conjugate gradients could not follow at all is none.
        if outcome.indefinite && outcome.iterations == 0 {
            return false;
        }
        self.active.prescribed.complete(&mut self.newton_step);
        self.tangent.ordering.scatter_with(&self.newton_step, &mut self.trial_point, |_, way| way);
        self.trial_point.iter().all(|way| way.iter().all(|part| part.is_finite()))
    }

    /// Goes along the correction, halving it until the potential agrees, with that of contacts that it runs into. Leaves
    /// the residuals there, and gives the potential with the contacts there were, and the contacts there are.
    fn line_search(
        &mut self,
        problem: &mut Objective<'_>,
        positions: &mut [Vec3],
        (recent, (iterations, slope)): (&[f64], (usize, f64)),
        report: &mut Report,
    ) -> (Potential, Vec<Contact>) {
        let reference = recent.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut length = 1.0;
        let mut halvings = 0;
        loop {
            self.set_trial_point(positions, length);
            let potential = problem.evaluate(&self.trial_point, &mut self.residuals, report);
            let allowed = reference + SUFFICIENT * length * slope + 1.0e-12 * reference.abs();
            if potential.total() <= allowed || halvings == MOST_HALVINGS {
                let contacts = problem.detect_contacts(&self.trial_point, iterations, report);
                // Running into something may cost what the correction was to bring, but no more.
                let exchange =
                    problem.response.active_set_potential_change(&contacts, &self.trial_point);
                let whole = potential.total() + exchange;
                if whole <= reference - length * slope || halvings >= MOST_EVASIONS {
                    positions.copy_from_slice(&self.trial_point);
                    return (potential, contacts);
                }
            }
            length *= 0.5;
            halvings += 1;
        }
    }
}

/// What linear equations may leave of the square of a correction, where so much is wanted of each cloth, in J.
fn absolute_linear_tolerance(problem: &Objective<'_>, wanted: &[f64]) -> f64 {
    let cloths = EnergyNorm::new(problem.dynamics, problem.stage);
    cloths.min_squared_norm(forcing_factor(problem), wanted)
}

/// Whether tangents are to be taken at predicted stresses. Not where anything touches: cloth that is pressed and crumpled is
/// stretched by what its corrections run into, not by turning, and a prediction without that takes tensions away and
/// brings them back with every other correction. But a scheme that goes farther than to where its equations hold, and damps
/// nothing, needs the solution that is found with predictions, or what lands has twice its energy more often.
fn uses_stress_prediction(problem: &Objective<'_>) -> bool {
    let is_free = problem.response.contacts().is_empty();
    problem.quadratic_model.is_none() && (is_free || problem.stage.extrapolation_factor > 1.0)
}

fn new_preconditioner(
    kind: Preconditioning,
    dynamics: &EquationsOfMotion,
    tangent: &TangentMatrix,
) -> Box<dyn Preconditioner + Sync> {
    let TangentMatrix { matrix, ordering, .. } = tangent;
    let pattern = matrix.pattern();
    match kind {
        Preconditioning::Multigrid => {
            Box::new(Multigrid::new(pattern, &ordering.rows_of(&dynamics.coupled_pairs())))
        }
        Preconditioning::IncompleteCholesky => Box::new(IncompleteCholesky::new(pattern)),
        Preconditioning::BlockJacobi => Box::new(BlockJacobi::default()),
    }
}
