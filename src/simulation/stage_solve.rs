// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the equations of a stage are solved, contacts included.

use super::{Simulation, step_control::StepInterval};
use crate::{
    Vec3,
    newton::{
        ConvergenceCriteria, ModelHessian, Newton, Objective, QuadraticModel, SolveOutcome,
        constant_quadratic_model,
        reference::{fixed_point, semi_implicit},
    },
    scene::{Report, Solver, Task},
    system::{ConstantStiffness, PrescribedDisplacement},
    time_integration::Stage,
};
use std::sync::Arc;

/// What is to be solved.
pub(crate) enum StageEquations {
    /// All forces at the end of the stage, or where its equations hold.
    Implicit,
    /// Linear forces, with these others given, in N.
    SemiImplicit(Vec<Vec3>),
    /// Nothing but contacts: all forces have led to where the search starts.
    ContactProjection,
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
    pub(crate) fn solve_stage_equations(
        &mut self,
        (stage, work): (&mut Stage, &StageEquations),
        positions: &mut [Vec3],
        (guidance, span): (&[PrescribedDisplacement], StepInterval),
        report: &mut Report,
    ) -> SolveOutcome {
        if matches!(work, StageEquations::ContactProjection)
            && self.retarget_contacting_vertices(stage, positions, report)
        {
            return SolveOutcome {
                iterations: 0,
                step_length: 0.0,
                unmet: None,
                is_collision_free: true,
            };
        }
        let accuracy = self.convergence_criteria(span);
        // What takes the place of a step by another scheme has no setting of its own.
        let has_setting = self.settings.integrator.is_implicit();
        let solver = if has_setting { self.settings.solver } else { Solver::Newton };
        if matches!((work, solver), (StageEquations::Implicit, Solver::FixedPoint)) {
            self.update_constant_stiffness(stage.duration);
        }
        let Self { dynamics, response, state, newton, constant_stiffness: constant, .. } = self;
        let (revision, matrix) = (constant.0, &constant.1);
        let stage = &*stage;
        let mut problem = Objective {
            dynamics,
            response,
            stage,
            state,
            prescribed_displacements: guidance,
            quadratic_model: None,
        };
        let search = (newton, &mut problem);
        match work {
            StageEquations::Implicit => match solver {
                Solver::Newton => search.0.solve(search.1, positions, accuracy, report),
                Solver::FixedPoint => {
                    fixed_point::solve(search, (matrix, revision), positions, accuracy, report)
                }
                Solver::Linearised => solve_linearised(search, positions, accuracy, report),
            },
            StageEquations::SemiImplicit(explicit) => {
                let given = (matrix, revision, explicit.as_slice());
                solve_semi_implicit(search, given, positions, accuracy, report)
            }
            StageEquations::ContactProjection => {
                solve_contact_projection(search, positions, accuracy, report)
            }
        }
    }

    /// Where nothing touches on the way to `positions`, says so. Otherwise, what touches something is led on by its
    /// velocity v at the end, from the start of the step, and not to where its scheme has led it: a contact then takes
    /// (x − x₀)/h − v from the velocity, so that what rests has none left, and friction is that of the whole force.
    /// (Against the other place a contact takes half of that with schemes of second order, and nothing with Euler's.)
    fn retarget_contacting_vertices(
        &mut self,
        stage: &mut Stage,
        positions: &mut [Vec3],
        report: &mut Report,
    ) -> bool {
        let (response, starts) = (&mut self.response, &self.state.positions);
        report.time(Task::Contact, || {
            let pairs = starts.iter().zip(&stage.base_velocities);
            let led: Vec<Vec3> = pairs.map(|(start, v)| start + v * stage.duration).collect();
            response.detect_initial_contacts(&led);
            let mut is_free = true;
            for vertex in response.all_contacts().flat_map(|contact| contact.pair.vertices) {
                let vertex = vertex as usize;
                is_free = false;
                if vertex < positions.len() {
                    positions[vertex] = led[vertex];
                    stage.base_positions[vertex] = starts[vertex];
                }
            }
            is_free && response.validate_step(positions)
        })
    }

    fn convergence_criteria(&self, span: StepInterval) -> ConvergenceCriteria {
        let edge = self.mean_edge_length;
        ConvergenceCriteria {
            step_tolerance: self.settings.tolerance * self.tolerance_length,
            relative_tolerance: self.settings.tolerance,
            min_contact_threshold: self.settings.tolerance
                * edge.min(FINE_PART * self.response.min_cloth_thickness()).max(FINEST * edge),
            contact_reduction: RELATIVE.map(|relative| relative * self.settings.tolerance),
            force_balance_tolerance: (span.fraction_of_max_step > SHORT)
                .then(|| LOST.map(|lost| lost * self.settings.tolerance)),
            max_iterations: span.max_iterations,
        }
    }

    /// Makes the constant matrix anew where materials or seams have changed, for a step of `duration` seconds.
    pub(crate) fn update_constant_stiffness(&mut self, duration: f64) {
        let revision = self.dynamics.stiffness_revision + 1;
        if self.constant_stiffness.0 != revision {
            let tangent = self.newton.tangent_without_contacts();
            let matrix = ConstantStiffness::new(&mut self.dynamics, tangent, duration);
            self.constant_stiffness = (revision, matrix);
        }
    }
}

/// One linear system, with given forces.
fn solve_semi_implicit(
    (newton, problem): (&mut Newton, &mut Objective<'_>),
    (matrix, revision, explicit): (&ConstantStiffness, u64, &[Vec3]),
    positions: &mut [Vec3],
    accuracy: ConvergenceCriteria,
    report: &mut Report,
) -> SolveOutcome {
    let stage = problem.stage;
    let reference = positions.to_vec();
    let linear = (matrix, &*problem.dynamics);
    let residuals = semi_implicit::stage_residuals(stage, linear, explicit, &reference);
    let around = (reference.as_slice(), residuals.as_slice());
    let quadratic = constant_quadratic_model(problem, (matrix, revision), around);
    newton.solve(&mut problem.with_quadratic_model(&quadratic), positions, accuracy, report)
}

/// The equations linearised at the start of the step (Baraff and Witkin 1998, eq. 6): one correction of Newton's from
/// there, and contacts against its matrix. Where the velocities lead instead, all that turns is stretched, and
/// linearised there it swings ever more.
fn solve_linearised(
    (newton, problem): (&mut Newton, &mut Objective<'_>),
    positions: &mut [Vec3],
    accuracy: ConvergenceCriteria,
    report: &mut Report,
) -> SolveOutcome {
    let stage = problem.stage;
    let reference = problem.state.positions.clone();
    let mut residuals = vec![Vec3::zeros(); positions.len()];
    problem.dynamics.evaluate(stage, &reference, &mut residuals, report);
    let tangent = newton.tangent_without_contacts();
    tangent.assemble(problem.dynamics, stage);
    let (matrix, ordering) = (tangent.matrix.clone(), Arc::clone(&tangent.ordering));
    let around = (reference.as_slice(), residuals.as_slice());
    let metric = ModelHessian::Matrix(&matrix, &ordering);
    let quadratic = QuadraticModel::new(metric, stage, &problem.dynamics.masses, around);
    newton.solve(&mut problem.with_quadratic_model(&quadratic), positions, accuracy, report)
}

/// The least change of positions, weighed by mass, that contacts ask for.
fn solve_contact_projection(
    (newton, problem): (&mut Newton, &mut Objective<'_>),
    positions: &mut [Vec3],
    accuracy: ConvergenceCriteria,
    report: &mut Report,
) -> SolveOutcome {
    let target = positions.to_vec();
    let none = vec![Vec3::zeros(); positions.len()];
    let masses = &problem.dynamics.masses;
    let around = (target.as_slice(), none.as_slice());
    let quadratic = QuadraticModel::new(ModelHessian::Inertia, problem.stage, masses, around);
    newton.solve(&mut problem.with_quadratic_model(&quadratic), positions, accuracy, report)
}
