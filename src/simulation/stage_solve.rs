// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the equations of a stage are solved, contacts included.

use super::{Simulation, step_control::Span};
use crate::{
    Vec3,
    newton::{
        Accuracy, Metric, Newton, Problem, Quadratic, Solved, constant_quadratic,
        reference::{fixed_point, semi_implicit},
    },
    scene::{Report, Solver, Task},
    system::{ConstantMatrix, Guidance},
    time_integration::Stage,
};
use std::sync::Arc;

/// What is to be solved.
pub(crate) enum Work {
    /// All forces at the end of the stage, or where its equations hold.
    Implicit,
    /// Linear forces, with these others given, in N.
    Once(Vec<Vec3>),
    /// Nothing but contacts: all forces have led to where the search starts.
    Ballistic,
}

/// What touches is solved to the tolerance of this part of its thickness, but not finer than of a part of an edge.
const FINE_PART: f64 = 0.25;
const FINEST: f64 = 0.005;
/// While anything touches corrections may end at this multiple of the tolerance, as a part of the first one: of cloth on
/// solids, and where layers touch or equations are quadratic.
const RELATIVE: [f64; 2] = [10.0, 5.0];
/// Meanwhile this multiple of the tolerance, as a part of the weight and the inertia of a cloth, may be lost of the forces on
/// it as a whole, on solids and where layers touch. Friction comes out right with five times as much; but what is lost has
/// another direction in every step, and keeps cloth that hangs over something from coming to rest.
const LOST: [f64; 2] = [6.0, 3.0];
/// That is not asked of steps of no more than this part of the longest, or what has made them short would not let go of them.
const SHORT: f64 = 0.4;

impl Simulation {
    /// Solves a stage from the start `positions`, which become its solution, of a step.
    pub(crate) fn solve_equations(
        &mut self,
        (stage, work): (&mut Stage, &Work),
        positions: &mut [Vec3],
        (guidance, span): (&[Guidance], Span),
        report: &mut Report,
    ) -> Solved {
        if matches!(work, Work::Ballistic) && self.lead_on(stage, positions, report) {
            return Solved { iterations: 0, correction: 0.0, unmet: None, is_clear: true };
        }
        let accuracy = self.accuracy(span);
        // What takes the place of a step by another scheme has no setting of its own.
        let has_setting = self.settings.integrator.is_implicit();
        let solver = if has_setting { self.settings.solver } else { Solver::Newton };
        if matches!((work, solver), (Work::Implicit, Solver::FixedPoint)) {
            self.update_constant_matrix(stage.duration);
        }
        let Self { dynamics, response, state, newton, constant, .. } = self;
        let (revision, matrix) = (constant.0, &constant.1);
        let stage = &*stage;
        let mut problem = Problem { dynamics, response, stage, state, guidance, quadratic: None };
        let search = (newton, &mut problem);
        match work {
            Work::Implicit => match solver {
                Solver::Newton => search.0.solve(search.1, positions, accuracy, report),
                Solver::FixedPoint => {
                    fixed_point::solve(search, (matrix, revision), positions, accuracy, report)
                }
                Solver::Linearised => linearised(search, positions, accuracy, report),
            },
            Work::Once(explicit) => {
                let given = (matrix, revision, explicit.as_slice());
                once(search, given, positions, accuracy, report)
            }
            Work::Ballistic => ballistic(search, positions, accuracy, report),
        }
    }

    /// Where nothing touches on the way to `positions`, says so. Otherwise, what touches something is led on by its
    /// velocity v at the end, from the start of the step, and not to where its scheme has led it: a contact then takes
    /// (x − x₀)/h − v from the velocity, so that what rests has none left, and friction is that of the whole force.
    /// (Against the other place a contact takes half of that with schemes of second order, and nothing with Euler's.)
    fn lead_on(&mut self, stage: &mut Stage, positions: &mut [Vec3], report: &mut Report) -> bool {
        let (response, starts) = (&mut self.response, &self.state.positions);
        report.time(Task::Contact, || {
            let pairs = starts.iter().zip(&stage.velocities);
            let led: Vec<Vec3> = pairs.map(|(start, v)| start + v * stage.duration).collect();
            response.start(&led);
            let mut is_free = true;
            for vertex in response.reactions().flat_map(|contact| contact.pair.vertices) {
                let vertex = vertex as usize;
                is_free = false;
                if vertex < positions.len() {
                    positions[vertex] = led[vertex];
                    stage.positions[vertex] = starts[vertex];
                }
            }
            is_free && response.verify(positions)
        })
    }

    fn accuracy(&self, span: Span) -> Accuracy {
        let edge = self.edge_length;
        Accuracy {
            correction: self.settings.tolerance * self.length_of_tolerance,
            part: self.settings.tolerance,
            touching: self.settings.tolerance
                * edge.min(FINE_PART * self.response.thickness()).max(FINEST * edge),
            parts: RELATIVE.map(|relative| relative * self.settings.tolerance),
            lost: (span.part > SHORT).then(|| LOST.map(|lost| lost * self.settings.tolerance)),
            max_iterations: span.corrections,
        }
    }

    /// Makes the constant matrix anew where materials or seams have changed, for a step of `duration` seconds.
    pub(crate) fn update_constant_matrix(&mut self, duration: f64) {
        let revision = self.dynamics.revision + 1;
        if self.constant.0 != revision {
            let tangent = self.newton.tangent();
            let matrix = ConstantMatrix::new(&mut self.dynamics, tangent, duration);
            self.constant = (revision, matrix);
        }
    }
}

/// One linear system, with given forces.
fn once(
    (newton, problem): (&mut Newton, &mut Problem<'_>),
    (matrix, revision, explicit): (&ConstantMatrix, u64, &[Vec3]),
    positions: &mut [Vec3],
    accuracy: Accuracy,
    report: &mut Report,
) -> Solved {
    let stage = problem.stage;
    let reference = positions.to_vec();
    let linear = (matrix, &*problem.dynamics);
    let residuals = semi_implicit::residuals(stage, linear, explicit, &reference);
    let around = (reference.as_slice(), residuals.as_slice());
    let quadratic = constant_quadratic(problem, (matrix, revision), around);
    newton.solve(&mut problem.with(&quadratic), positions, accuracy, report)
}

/// The equations linearised at the start of the step (Baraff and Witkin 1998, eq. 6): one correction of Newton's from
/// there, and contacts against its matrix. Where the velocities lead instead, all that turns is stretched, and
/// linearised there it swings ever more.
fn linearised(
    (newton, problem): (&mut Newton, &mut Problem<'_>),
    positions: &mut [Vec3],
    accuracy: Accuracy,
    report: &mut Report,
) -> Solved {
    let stage = problem.stage;
    let reference = problem.state.positions.clone();
    let mut residuals = vec![Vec3::zeros(); positions.len()];
    problem.dynamics.evaluate(stage, &reference, &mut residuals, report);
    let tangent = newton.tangent();
    tangent.fill(problem.dynamics, stage);
    let (matrix, ordering) = (tangent.matrix.clone(), Arc::clone(&tangent.ordering));
    let around = (reference.as_slice(), residuals.as_slice());
    let metric = Metric::Matrix(&matrix, &ordering);
    let quadratic = Quadratic::new(metric, stage, &problem.dynamics.masses, around);
    newton.solve(&mut problem.with(&quadratic), positions, accuracy, report)
}

/// The least change of positions, weighed by mass, that contacts ask for.
fn ballistic(
    (newton, problem): (&mut Newton, &mut Problem<'_>),
    positions: &mut [Vec3],
    accuracy: Accuracy,
    report: &mut Report,
) -> Solved {
    let target = positions.to_vec();
    let none = vec![Vec3::zeros(); positions.len()];
    let masses = &problem.dynamics.masses;
    let around = (target.as_slice(), none.as_slice());
    let quadratic = Quadratic::new(Metric::Inertia, problem.stage, masses, around);
    newton.solve(&mut problem.with(&quadratic), positions, accuracy, report)
}
