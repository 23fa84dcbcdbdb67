// SPDX-License-Identifier: MIT OR Apache-2.0
//! Solution of the equations of a stage, contacts included, by the solver of the settings.

use super::{Simulation, step_control::StepInterval};
use crate::{
    newton::{
        ConvergenceCriteria, Expansion, ForceBalanceParameters, LengthScales, ModelHessian,
        Objective, QuadraticModel, SolveOutcome, StageSolve,
        reference::{fixed_point, linearised, semi_implicit},
    },
    scene::{Integrator, Report, Settings, Solver, Task},
    system::{ConstantStiffness, PrescribedDisplacement, RevisedStiffness},
    time_integration::Stage,
    vec3::Vec3,
};

/// Equations of a stage.
pub(crate) enum StageEquations {
    /// All forces are implicit: evaluated at the end of the stage, or where its equations hold.
    Implicit,
    /// Linear forces are implicit, others are given, in N.
    SemiImplicit(Vec<Vec3>),
    /// Contacts alone: all forces are in the initial guess, which is projected onto the contacts.
    ContactProjection,
}

impl Simulation {
    /// Solves a stage of a step. `positions` are the initial guess, in m, and become the solution.
    pub(crate) fn solve_stage_equations(
        &mut self,
        stage: &mut Stage,
        equations: &StageEquations,
        positions: &mut [Vec3],
        prescribed_displacements: &[PrescribedDisplacement],
        interval: StepInterval,
        report: &mut Report,
    ) -> SolveOutcome {
        let is_projection = matches!(equations, StageEquations::ContactProjection);
        if is_projection && self.retarget_contacting_vertices(stage, positions, report) {
            return SolveOutcome::EXACT;
        }
        let criteria = self.convergence_criteria(interval);
        let solver = self.stage_solver();
        if matches!((equations, solver), (StageEquations::Implicit, Solver::FixedPoint)) {
            self.update_constant_stiffness(stage.duration);
        }
        let Self { dynamics, response, state, newton, constant_stiffness, .. } = self;
        let mut objective = Objective {
            dynamics,
            response,
            stage: &*stage,
            state,
            prescribed_displacements,
            quadratic_model: None,
        };
        let solve = StageSolve { newton, objective: &mut objective, positions, criteria, report };
        match (equations, solver) {
            (StageEquations::Implicit, Solver::Newton) => solve.by_newton(),
            (StageEquations::Implicit, Solver::FixedPoint) => {
                fixed_point::solve(solve, constant_stiffness)
            }
            (StageEquations::Implicit, Solver::Linearised) => linearised::solve(solve),
            (StageEquations::SemiImplicit(forces), _) => {
                semi_implicit::solve(solve, constant_stiffness, forces)
            }
            (StageEquations::ContactProjection, _) => project_onto_contacts(solve),
        }
    }

    /// Solver of the settings. A step of implicit Euler in place of one of an explicit scheme is solved by Newton's
    /// method.
    fn stage_solver(&self) -> Solver {
        let is_implicit = self.settings.integrator.is_implicit();
        if is_implicit { self.settings.solver } else { Solver::Newton }
    }

    /// Returns whether the displacements to the initial guess are free of contacts and intersections. Otherwise the
    /// target of vertices in contact becomes x₀ + hv, with the velocity v at the end of the explicit step, instead of
    /// the result of the scheme: a contact then removes (x − x₀)/h − v from the velocity, so that resting cloth has
    /// none left, and friction is that of the whole force. (Relative to the result of the scheme a contact would remove
    /// half of that for second-order schemes, and nothing for Euler's.)
    fn retarget_contacting_vertices(
        &mut self,
        stage: &mut Stage,
        positions: &mut [Vec3],
        report: &mut Report,
    ) -> bool {
        let (response, starts) = (&mut self.response, &self.state.positions);
        report.time(Task::Contact, || {
            let pairs = starts.iter().zip(&stage.base_velocities);
            let altered =
                pairs.enumerate().map(|(vertex, (x, v))| (x + stage.alteration(vertex), v));
            let targets: Vec<Vec3> = altered.map(|(x, v)| x + v * stage.duration).collect();
            response.detect_initial_contacts(&targets);
            let mut is_contact_free = true;
            for vertex in response.all_contacts().flat_map(|contact| contact.pair.vertices) {
                let vertex = vertex as usize;
                is_contact_free = false;
                if vertex < positions.len() {
                    positions[vertex] = targets[vertex];
                    stage.base_positions[vertex] = starts[vertex] + stage.alteration(vertex);
                }
            }
            is_contact_free && response.validate_step(positions)
        })
    }

    fn convergence_criteria(&self, interval: StepInterval) -> ConvergenceCriteria {
        let scales = LengthScales {
            tolerance_length: self.tolerance_length,
            mean_edge_length: self.mean_edge_length,
            thickness: self.response.min_cloth_thickness(),
        };
        let min_checked_step_fraction = ForceBalanceParameters::DEFAULT.min_checked_step_fraction;
        let checks_force_balance = interval.fraction_of_max_step > min_checked_step_fraction;
        let Settings { tolerance, linear_tolerance, .. } = self.settings;
        ConvergenceCriteria::new(tolerance, scales, interval.max_iterations, checks_force_balance)
            .with_linear_tolerance(linear_tolerance)
    }

    /// Recomputes the constant stiffness if materials or seams have changed, for a step of `duration` in s.
    pub(crate) fn update_constant_stiffness(&mut self, duration: f64) {
        let revision = self.dynamics.stiffness_revision + 1;
        if self.constant_stiffness.revision != revision {
            let tangent = self.newton.tangent_without_contacts();
            let matrix = ConstantStiffness::new(&mut self.dynamics, tangent, duration);
            // The IMEX midpoint rule is stable only where the matrix is no less than the tangent.
            let needs_more = self.settings.integrator == Integrator::ImexMidpoint;
            let matrix = if needs_more { matrix.doubled() } else { matrix };
            self.constant_stiffness = RevisedStiffness { revision, matrix };
        }
    }
}

/// Projects the initial guess onto the contacts: the smallest mass-weighted displacement that satisfies them.
fn project_onto_contacts(solve: StageSolve<'_, '_>) -> SolveOutcome {
    let target = solve.positions.to_vec();
    let no_residuals = vec![Vec3::zeros(); target.len()];
    let expansion = Expansion { point: &target, residuals: &no_residuals };
    let Objective { stage, dynamics, .. } = &*solve.objective;
    let model = QuadraticModel::new(ModelHessian::Inertia, stage, &dynamics.masses, expansion);
    solve.with_quadratic_model(&model)
}
