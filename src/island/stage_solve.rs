// SPDX-License-Identifier: MIT OR Apache-2.0
//! Solution of the equations of a stage, contacts included, by the solver of the settings.

use super::step_control::StepInterval;
use crate::{
    newton::{
        self, ConvergenceCriteria, Expansion, ForceBalanceParameters, LengthScales, ModelHessian,
        Newton, Objective, QuadraticModel, SolveOutcome, StageSolve,
        reference::{fixed_point, linearised, semi_implicit},
    },
    parallel::BufferPool,
    scene::{Integrator, Preconditioning, Report, Settings, Solver},
    system::{ConstantStiffness, EquationsOfMotion, RevisedStiffness},
    vec3::Vec3,
};

/// Idle vectors of all vertices in the pool: as many as a step returns.
const POOLED_VECTORS: usize = 4;

/// Solver of the equations of stages by the settings, with its storage.
pub(crate) struct StageSolver {
    pub(crate) settings: Settings,
    pub(crate) newton: Newton,
    pub(crate) constant_stiffness: RevisedStiffness,
    /// Buffers for vectors of all vertices.
    pub(crate) buffers: BufferPool<Vec<Vec3>>,
    /// Minimum over all cloths of the mean edge length, in m.
    pub(crate) mean_edge_length: f64,
    /// Length that the tolerance is relative to, in m.
    pub(crate) tolerance_length: f64,
}

/// Equations of a stage.
pub(crate) enum StageEquations {
    /// All forces are implicit: evaluated at the end of the stage, or where its equations hold.
    Implicit,
    /// Linear forces are implicit, others are given, in N.
    SemiImplicit(Vec<Vec3>),
    /// Contacts alone: all forces are in the initial guess, which is projected onto the contacts.
    ContactProjection,
}

impl StageSolver {
    pub(crate) fn new(settings: Settings, dynamics: &EquationsOfMotion) -> Self {
        Self {
            newton: Newton::new(dynamics, preconditioning(&settings)),
            constant_stiffness: RevisedStiffness::default(),
            buffers: BufferPool::new(POOLED_VECTORS),
            mean_edge_length: newton::min_mean_edge_length(&dynamics.mesh),
            tolerance_length: newton::tolerance_length(&dynamics.mesh),
            settings,
        }
    }

    /// Begins anew with the pattern of the matrix, after a change of springs.
    pub(crate) fn renew_pattern(&mut self, dynamics: &EquationsOfMotion) {
        self.newton = Newton::new(dynamics, preconditioning(&self.settings));
    }

    /// Solves a stage. `positions` are the initial guess, in m, and become the solution.
    pub(crate) fn solve_stage_equations(
        &mut self,
        mut objective: Objective<'_>,
        equations: &StageEquations,
        positions: &mut [Vec3],
        interval: StepInterval,
        report: &mut Report,
    ) -> SolveOutcome {
        let criteria =
            self.convergence_criteria(interval, objective.response.scene.min_cloth_thickness());
        let solver = self.stage_solver();
        if matches!((equations, solver), (StageEquations::Implicit, Solver::FixedPoint)) {
            self.update_constant_stiffness(objective.dynamics, objective.stage.duration);
        }
        let Self { newton, constant_stiffness, .. } = self;
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

    /// Criteria of a stage, with the smallest contact thickness of the cloths in m.
    fn convergence_criteria(&self, interval: StepInterval, thickness: f64) -> ConvergenceCriteria {
        let Self { tolerance_length, mean_edge_length, .. } = *self;
        let scales = LengthScales { tolerance_length, mean_edge_length, thickness };
        let min_checked_step_fraction = ForceBalanceParameters::DEFAULT.min_checked_step_fraction;
        let checks_force_balance = interval.fraction_of_max_step > min_checked_step_fraction;
        let Settings { tolerance, linear_tolerance, .. } = self.settings;
        // The one solve of a linearised step leaves what the step leaves.
        let linear_tolerance =
            if self.settings.is_linearised() { tolerance } else { linear_tolerance };
        ConvergenceCriteria::new(tolerance, scales, interval.max_iterations, checks_force_balance)
            .with_linear_tolerance(linear_tolerance)
    }

    /// Recomputes the constant stiffness if materials or seams have changed, for a step of `duration` in s.
    pub(crate) fn update_constant_stiffness(
        &mut self,
        dynamics: &mut EquationsOfMotion,
        duration: f64,
    ) {
        let revision = dynamics.elements.stiffness_revision + 1;
        if self.constant_stiffness.revision != revision {
            let tangent = self.newton.tangent_without_contacts();
            let matrix = ConstantStiffness::new(dynamics, tangent, duration);
            // The IMEX midpoint rule is stable only where the matrix is no less than the tangent.
            let needs_more = self.settings.integrator == Integrator::ImexMidpoint;
            let matrix = if needs_more { matrix.doubled() } else { matrix };
            self.constant_stiffness = RevisedStiffness { revision, matrix };
        }
    }

    /// Buffers for x̂ and v̂ of a stage.
    pub(crate) fn stage_buffers(&self) -> [Vec<Vec3>; 2] {
        [self.buffers.take(), self.buffers.take()]
    }
}

/// Preconditioner of the settings. For explicit schemes only contacts couple vertices, and the diagonal blocks suffice.
fn preconditioning(settings: &Settings) -> Preconditioning {
    if settings.integrator.is_explicit() {
        Preconditioning::BlockJacobi
    } else {
        settings.preconditioner
    }
}

/// Projects the initial guess onto the contacts: the smallest mass-weighted displacement that satisfies them.
fn project_onto_contacts(solve: StageSolve<'_, '_>) -> SolveOutcome {
    let target = solve.positions.to_vec();
    let no_residuals = vec![Vec3::zeros(); target.len()];
    let expansion = Expansion { point: &target, residuals: &no_residuals };
    let Objective { stage, dynamics, .. } = &*solve.objective;
    let model =
        QuadraticModel::new(ModelHessian::Inertia, stage, &dynamics.masses.vertices, expansion);
    solve.with_quadratic_model(&model)
}
