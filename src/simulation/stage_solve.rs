// SPDX-License-Identifier: MIT OR Apache-2.0
//! Solution of the equations of a stage, contacts included, by the solver of the settings.

use super::{Simulation, step_control::StepInterval};
use crate::{
    newton::{
        ConvergenceCriteria, Expansion, ForceBalanceParameters, LengthScales, ModelHessian,
        Objective, QuadraticModel, SolveOutcome, StageSolve,
        reference::{fixed_point, linearised, semi_implicit},
    },
    scene::{Integrator, Report, Settings, Solver},
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
        stage: &Stage,
        equations: &StageEquations,
        positions: &mut [Vec3],
        prescribed_displacements: &[PrescribedDisplacement],
        interval: StepInterval,
        report: &mut Report,
    ) -> SolveOutcome {
        let criteria = self.convergence_criteria(interval);
        let solver = self.stage_solver();
        if matches!((equations, solver), (StageEquations::Implicit, Solver::FixedPoint)) {
            self.update_constant_stiffness(stage.duration);
        }
        let Self { dynamics, response, state, newton, constant_stiffness, .. } = self;
        let mut objective = Objective {
            dynamics,
            response,
            stage,
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

    fn convergence_criteria(&self, interval: StepInterval) -> ConvergenceCriteria {
        let scales = LengthScales {
            tolerance_length: self.tolerance_length,
            mean_edge_length: self.mean_edge_length,
            thickness: self.response.scene.min_cloth_thickness(),
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
