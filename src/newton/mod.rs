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

pub(crate) use convergence::{Accuracy, Solved, length_of_edges, length_of_tolerance};
#[cfg(test)]
pub(crate) use convergence::{Balance, balances};
pub(crate) use objective::Problem;
pub(crate) use quadratic_model::{Metric, Quadratic, constant_quadratic};
pub(crate) use reference::UPDATES;

use crate::{
    Vec3,
    collision::Contact,
    linear_solver::{
        BlockJacobi, Filter, IncompleteCholesky, Multigrid, Ordering, Preconditioner, Stopping,
        Workspace, conjugate_gradients,
    },
    response::{ActiveSet, Response},
    scene::{Preconditioning, RejectionReason, Report, Task},
    simd::{Block, Row3},
    system::{Dynamics, Tangent},
};
use convergence::{Cloths, Progress, Promise};
use forcing_term::{part_to_leave, stopping};
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
    tangent: Tangent,
    /// The quadratic potential whose matrix and preconditioner are at hand, without contacts.
    kept: Option<[u64; 3]>,
    preconditioner: Box<dyn Preconditioner + Sync>,
    workspace: Workspace,
    filter: Filter,
    active: ActiveSet,
    residuals: Vec<Vec3>,
    /// Blocks of contacts between rows that no element joins.
    coupling: Vec<(u32, u32, Block)>,
    /// Whether stresses after the last correction have been predicted.
    is_predicted: bool,
    /// The potential of the contacts where the corrections have come to, in J.
    touching: f64,
    /// Where a correction leads; before, the correction itself.
    trial: Vec<Vec3>,
    right_side: Vec<Row3>,
    solution: Vec<Row3>,
}

impl Newton {
    pub(crate) fn new(dynamics: &Dynamics, preconditioning: Preconditioning) -> Self {
        let count = dynamics.vertex_count();
        let tangent = Tangent::new(dynamics);
        Self {
            preconditioner: preconditioner(preconditioning, dynamics, &tangent),
            workspace: Workspace::default(),
            filter: Filter::new(count),
            active: ActiveSet::default(),
            residuals: vec![Vec3::zeros(); count],
            coupling: Vec::new(),
            is_predicted: false,
            touching: 0.0,
            trial: vec![Vec3::zeros(); count],
            right_side: vec![[0.0; 4]; count],
            solution: vec![[0.0; 4]; count],
            tangent,
            kept: None,
        }
    }

    /// The rows of the vertices.
    pub(crate) fn ordering(&self) -> &Ordering {
        &self.tangent.ordering
    }

    /// The tangent, for another use, without what contacts have added to it.
    pub(crate) fn tangent(&mut self) -> &mut Tangent {
        self.kept = None;
        self.tangent.matrix.clear_coupling();
        &mut self.tangent
    }

    /// Solves a stage from the start `positions`, which become its solution.
    pub(crate) fn solve(
        &mut self,
        problem: &mut Problem<'_>,
        positions: &mut [Vec3],
        accuracy: Accuracy,
        report: &mut Report,
    ) -> Solved {
        let mut recent = vec![self.start(problem, positions, report)];
        let mut solved = Solved::UNSOLVED;
        let mut progress = Progress::new();
        loop {
            let mut wanted = self.wanted((problem, positions), accuracy, (&solved, &progress));
            solved.unmet = if !progress.is_within(&wanted) {
                Some(RejectionReason::NewtonStep)
            } else if !self.keeps_momentum((problem, positions), accuracy, (&solved, &progress)) {
                Some(RejectionReason::ForceBalance)
            } else {
                None
            };
            if solved.converged() {
                let response = &mut *problem.response;
                solved.is_clear = report.time(Task::Contact, || response.verify(positions));
                if solved.is_clear || !progress.rescue(solved.iterations) {
                    return solved;
                }
                let contacts = problem.look(positions, solved.iterations, report);
                self.take(problem, (contacts, positions), &mut recent);
                wanted = self.wanted((problem, positions), accuracy, (&solved, &progress));
            }
            progress.compare(solved.iterations, solved.correction);
            let touches = !problem.response.contacts().is_empty();
            let is_hopeless = touches && progress.is_hopeless(solved.iterations);
            if is_hopeless || solved.iterations == accuracy.max_iterations {
                return solved.given_up(is_hopeless);
            }
            let is_first = solved.iterations == 0;
            let enough = if is_first { 0.0 } else { enough(problem, &wanted) };
            let longest = CONVERGING * solved.correction;
            let Some(promise) = self.correct(problem, positions, (is_first, enough), report) else {
                return solved.ended_by(RejectionReason::LinearSolve);
            };
            let lengths = Cloths::new(problem.dynamics, problem.stage).lengths(&promise.squares);
            solved.correction = progress.measure(lengths);
            solved.iterations += 1;
            report.newton_iterations += 1;
            let is_last = progress.is_within(&wanted);
            let is_sure = is_last && !is_first && !touches && solved.correction <= longest;
            if is_sure && self.arrives(problem, positions, solved.iterations, report) {
                return Solved { unmet: None, is_clear: true, ..solved };
            }
            self.predict(problem, is_last, report);
            let way = (solved.iterations, &promise);
            let Some(raised) = self.follow((problem, positions), way, &mut recent, report) else {
                return solved.ended_by(RejectionReason::NotFinite);
            };
            let cloths = Cloths::new(problem.dynamics, problem.stage);
            let main = promise.main();
            solved.correction = progress.lengthen(main, cloths.length(main, 2.0 * raised));
        }
    }

    /// Goes along the last of so many corrections if that leads to where nothing touches and crosses nothing. Where each is
    /// much shorter than the one before, what is left of the equations there need not be known.
    fn arrives(
        &mut self,
        problem: &mut Problem<'_>,
        positions: &mut [Vec3],
        iterations: usize,
        report: &mut Report,
    ) -> bool {
        self.go(positions, 1.0);
        let is_free = problem.look(&self.trial, iterations, report).is_empty();
        let response = &mut *problem.response;
        let is_clear = is_free && report.time(Task::Contact, || response.verify(&self.trial));
        if is_clear {
            positions.copy_from_slice(&self.trial);
        }
        is_clear
    }

    /// Leaves as the trial where a part of the correction leads from `positions`.
    fn go(&mut self, positions: &[Vec3], part: f64) {
        let moved = |vertex: usize, way| positions[vertex] + way * part;
        self.tangent.ordering.scatter(&self.solution, &mut self.trial, moved);
    }

    /// Goes along a correction, the last of so many, and takes the contacts there. Gives what it has raised the potential by,
    /// in J; `None` where that is beyond the range of numbers.
    fn follow(
        &mut self,
        (problem, positions): (&mut Problem<'_>, &mut [Vec3]),
        (iterations, promise): (usize, &Promise),
        recent: &mut Vec<f64>,
        report: &mut Report,
    ) -> Option<f64> {
        for potential in recent.iter_mut() {
            *potential += promise.touching - self.touching;
        }
        self.touching = promise.touching;
        let along = (iterations, promise.slope);
        let (potential, contacts) = self.search(problem, positions, (recent, along), report);
        if !potential.whole().is_finite() {
            return None;
        }
        // A correction that turns triangles may raise the potential: that is still to be taken away.
        let rise = recent.last().map_or(0.0, |last| potential.whole() - last);
        let inside = rise - (potential.touching - self.touching);
        let raised = rise.min(inside).max(0.0);
        recent.push(potential.whole());
        if recent.len() > MEMORY {
            recent.remove(0);
        }
        self.touching = potential.touching;
        self.take(problem, (contacts, positions), recent);
        Some(raised)
    }

    /// Goes on with these contacts, and measures what is compared with the potential from the new one.
    fn take(
        &mut self,
        problem: &mut Problem<'_>,
        (contacts, positions): (Vec<Contact>, &[Vec3]),
        recent: &mut [f64],
    ) {
        problem.response.take(contacts);
        let touching = problem.response.potential(positions);
        for potential in recent {
            *potential += touching - self.touching;
        }
        self.touching = touching;
    }

    /// How short the last correction of each cloth has to be in a stage, in m.
    fn wanted(
        &self,
        (problem, positions): (&Problem<'_>, &[Vec3]),
        accuracy: Accuracy,
        (solved, progress): (&Solved, &Progress),
    ) -> Vec<f64> {
        let (made, is_fine) = self.effort(problem, (solved, progress));
        let of_cloth = |cloth: usize| {
            let first = progress.first.get(cloth).copied().unwrap_or_default();
            accuracy.wanted((problem, positions, cloth), (made, first), is_fine)
        };
        (0..problem.dynamics.cloth_masses.len()).map(of_cloth).collect()
    }

    /// Whether what is left of the equations moves no cloth as a whole.
    fn keeps_momentum(
        &mut self,
        (problem, positions): (&Problem<'_>, &[Vec3]),
        accuracy: Accuracy,
        (solved, progress): (&Solved, &Progress),
    ) -> bool {
        let effort = self.effort(problem, (solved, progress));
        self.trial.copy_from_slice(&self.residuals);
        accuracy.keeps_momentum((problem, positions), &mut self.trial, effort)
    }

    /// How many corrections count, and whether contacts join layers of cloth or equations are quadratic.
    fn effort(
        &self,
        problem: &Problem<'_>,
        (solved, progress): (&Solved, &Progress),
    ) -> (usize, bool) {
        // What is drawn apart is crossed however closely it is solved.
        let made = if problem.response.untangles() {
            solved.iterations
        } else {
            progress.since_rescue(solved.iterations)
        };
        (made, problem.quadratic.is_some() || !self.coupling.is_empty())
    }

    /// Predicts the stress after a correction, where the next one is to use it and there will be one.
    fn predict(&mut self, problem: &mut Problem<'_>, is_last: bool, report: &mut Report) {
        self.is_predicted = !is_last && predicts(problem);
        if self.is_predicted {
            report.time(Task::Forces, || problem.dynamics.predict(problem.stage, &self.trial));
        }
    }

    /// Puts what is guided where it is to be, and evaluates the start.
    fn start(
        &mut self,
        problem: &mut Problem<'_>,
        positions: &mut [Vec3],
        report: &mut Report,
    ) -> f64 {
        problem.lead(positions);
        self.is_predicted = false;
        let response = &mut *problem.response;
        report.time(Task::Contact, || response.start(positions));
        let potential = problem.evaluate(positions, &mut self.residuals, report);
        self.touching = potential.touching;
        potential.whole()
    }

    /// Finds the next correction, as `solution`, and what it promises; `None` where the equations are beyond the range
    /// of numbers. No less need be left of the square of what they still ask for than `enough`, in J.
    fn correct(
        &mut self,
        problem: &mut Problem<'_>,
        positions: &[Vec3],
        (is_first, enough): (bool, f64),
        report: &mut Report,
    ) -> Option<Promise> {
        let is_kept = self.prepare((problem, positions), report);
        self.tangent.ordering.gather(&self.residuals, &mut self.right_side);
        self.add_contacts(problem.response, positions);
        self.active.prescribed.eliminate(&self.tangent.matrix, &mut self.right_side);
        self.filter.apply(&mut self.right_side);
        if !is_kept {
            self.filter.apply_to(&mut self.tangent.matrix);
            report.time(Task::Preconditioner, || self.preconditioner.update(&self.tangent.matrix));
        }
        let stopping = stopping(problem, (is_first, enough), !self.coupling.is_empty());
        let solved = self.solve_linear(stopping, report);
        solved.then(|| self.promise(problem, positions))
    }

    /// What the Newton step promises, with the multipliers of constraints that it has found.
    fn promise(&mut self, problem: &mut Problem<'_>, positions: &[Vec3]) -> Promise {
        let cloths = Cloths::new(problem.dynamics, problem.stage);
        let loads = self.active.prescribed.loads(&self.right_side);
        let squares = cloths.products(&self.tangent.ordering, loads, &self.solution);
        let (multipliers, gained) = self.active.balance(&self.solution, problem.response);
        let touching = problem.response.potential(positions);
        let promise = Promise { slope: -(squares.iter().sum::<f64>() + gained), squares, touching };
        promise.with(&multipliers, (&cloths, &self.tangent.ordering))
    }

    /// Fills the matrix but for contacts, and sets the filter. Says whether both and the preconditioner are at hand.
    fn prepare(
        &mut self,
        (problem, positions): (&mut Problem<'_>, &[Vec3]),
        report: &mut Report,
    ) -> bool {
        let Some(quadratic) = problem.quadratic else {
            if self.is_predicted && predicts(problem) {
                problem.dynamics.use_prediction();
            }
            report.time(Task::Assembly, || self.tangent.fill(problem.dynamics, problem.stage));
            self.constrain(problem, positions);
            self.kept = None;
            return false;
        };
        let before = self.filter.clone();
        self.constrain(problem, positions);
        let is_free = problem.response.reactions().next().is_none();
        let number = quadratic.number.filter(|_| is_free);
        let is_kept = number.is_some() && number == self.kept && before == self.filter;
        if !is_kept {
            report.time(Task::Assembly, || quadratic.fill(&mut self.tangent));
        }
        self.kept = number;
        is_kept
    }

    /// Adds the contacts to both sides of the equations.
    fn add_contacts(&mut self, response: &Response, positions: &[Vec3]) {
        let Tangent { matrix, ordering, .. } = &mut self.tangent;
        self.coupling.clear();
        for (contact, reaction) in response.reactions().zip(response.react(positions)) {
            let parts = contact.pair.vertices.iter().zip(&contact.touch.weights);
            let cloth = parts.filter(|(vertex, _)| response.is_cloth(**vertex));
            let cloth = cloth.map(|(vertex, weight)| (ordering.row(*vertex as usize), *weight));
            for (row, weight) in cloth.clone() {
                let force = reaction.force * weight;
                let right = &mut self.right_side[row];
                for k in 0..3 {
                    right[k] += force[k] as f32;
                }
                for (column, other) in cloth.clone().filter(|(column, _)| *column >= row) {
                    let block = Block::from_matrix(&(reaction.stiffness * (weight * other)));
                    if row == column {
                        matrix.add_diagonal(row, &block);
                    } else if !matrix.add_pair(row, column, &block) {
                        self.coupling.push((row as u32, column as u32, block));
                    }
                }
            }
        }
        matrix.set_coupling(&self.coupling);
    }

    /// Sets the filter.
    fn constrain(&mut self, problem: &Problem<'_>, positions: &[Vec3]) {
        let given = problem.guidance.iter().map(|guide| (guide.vertex, guide.projector));
        let contacts = (&*problem.response, positions);
        let rows = (&*self.tangent.ordering, &mut self.filter);
        self.active.find(given, contacts, rows);
    }

    /// Solves the linear equations. Says whether that gave numbers.
    fn solve_linear(&mut self, stopping: Stopping, report: &mut Report) -> bool {
        self.solution.fill([0.0; 4]);
        let outcome = report.time(Task::LinearSolve, || {
            conjugate_gradients(
                &self.tangent.matrix,
                &self.right_side,
                &self.filter,
                self.preconditioner.as_mut(),
                stopping,
                (&mut self.workspace, &mut self.solution),
            )
        });
        report.linear_iterations += outcome.iterations;
        // A search direction that conjugate gradients could not follow at all is none.
        if outcome.indefinite && outcome.iterations == 0 {
            return false;
        }
        self.active.prescribed.complete(&mut self.solution);
        self.tangent.ordering.scatter(&self.solution, &mut self.trial, |_, way| way);
        self.trial.iter().all(|way| way.iter().all(|part| part.is_finite()))
    }

    /// Goes along the correction, halving it until the potential agrees, with that of contacts that it runs into. Leaves
    /// the residuals there, and gives the potential with the contacts there were, and the contacts there are.
    fn search(
        &mut self,
        problem: &mut Problem<'_>,
        positions: &mut [Vec3],
        (recent, (iterations, slope)): (&[f64], (usize, f64)),
        report: &mut Report,
    ) -> (Potential, Vec<Contact>) {
        let reference = recent.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut length = 1.0;
        let mut halvings = 0;
        loop {
            self.go(positions, length);
            let potential = problem.evaluate(&self.trial, &mut self.residuals, report);
            let allowed = reference + SUFFICIENT * length * slope + 1.0e-12 * reference.abs();
            if potential.whole() <= allowed || halvings == MOST_HALVINGS {
                let contacts = problem.look(&self.trial, iterations, report);
                // Running into something may cost what the correction was to bring, but no more.
                let exchange = problem.response.exchange(&contacts, &self.trial);
                let whole = potential.whole() + exchange;
                if whole <= reference - length * slope || halvings >= MOST_EVASIONS {
                    positions.copy_from_slice(&self.trial);
                    return (potential, contacts);
                }
            }
            length *= 0.5;
            halvings += 1;
        }
    }
}

/// What linear equations may leave of the square of a correction, where so much is wanted of each cloth, in J.
fn enough(problem: &Problem<'_>, wanted: &[f64]) -> f64 {
    let cloths = Cloths::new(problem.dynamics, problem.stage);
    cloths.least_square(part_to_leave(problem), wanted)
}

/// Whether tangents are to be taken at predicted stresses. Not where anything touches: cloth that is pressed and crumpled is
/// stretched by what its corrections run into, not by turning, and a prediction without that takes tensions away and
/// brings them back with every other correction. But a scheme that goes farther than to where its equations hold, and damps
/// nothing, needs the solution that is found with predictions, or what lands has twice its energy more often.
fn predicts(problem: &Problem<'_>) -> bool {
    let is_free = problem.response.contacts().is_empty();
    problem.quadratic.is_none() && (is_free || problem.stage.reach > 1.0)
}

fn preconditioner(
    kind: Preconditioning,
    dynamics: &Dynamics,
    tangent: &Tangent,
) -> Box<dyn Preconditioner + Sync> {
    let Tangent { matrix, ordering, .. } = tangent;
    let pattern = matrix.pattern();
    match kind {
        Preconditioning::Multigrid => {
            Box::new(Multigrid::new(pattern, &ordering.rows_of(&dynamics.joints())))
        }
        Preconditioning::IncompleteCholesky => Box::new(IncompleteCholesky::new(pattern)),
        Preconditioning::BlockJacobi => Box::new(BlockJacobi::default()),
    }
}
