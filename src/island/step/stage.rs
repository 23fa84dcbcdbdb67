// SPDX-License-Identifier: MIT OR Apache-2.0
//! One stage of a step: predict the positions, solve the equations with contacts, truncate displacements that would
//! penetrate, and compute the velocities at the end.

use super::{
    Step,
    predictor::Predictor,
    trial::{TrialStep, is_finite},
    velocity_jumps::SolvedStage,
};
use crate::{
    island::{stage_solve::StageEquations, step_control::StepInterval},
    newton::{Objective, reference::semi_implicit::midpoint_velocity_changes},
    response::TruncationResult,
    scene::{Report, Task},
    system::{ConstantStiffness, EquationsOfMotion},
    time_integration::{KinematicState, Stage, filled},
    vec3::Vec3,
};

/// Stage to be solved.
pub(super) struct StageProblem {
    pub(super) stage: Stage,
    pub(super) equations: StageEquations,
}

impl Step<'_> {
    /// Solves a stage from the predicted positions.
    pub(super) fn solve_stage(
        &mut self,
        problem: StageProblem,
        interval: StepInterval,
    ) -> TrialStep {
        let initial_guess = self.predict_positions(&problem.stage, interval.duration);
        self.solve_stage_from(initial_guess, problem, interval)
    }

    /// Initial guess of a stage of `duration` in s, in m. Freezes the air forces of the stage at the expected state.
    fn predict_positions(&mut self, stage: &Stage, duration: f64) -> Vec<Vec3> {
        let (state, buffers) = (self.start, &self.solver.buffers);
        let buffer = buffers.take();
        let velocities = state.extrapolated_velocities(duration, buffers.take());
        let predictor = Predictor {
            stage,
            state,
            pinned: &self.system.boundary_conditions.pinned(state.positions.len()),
            gravity: self.system.dynamics.external_forces.gravity,
        };
        let starts = &self.system.dynamics.mesh.cloth_starts;
        let cloths = starts.windows(2).map(|ends| ends[0]..ends[1]);
        let extrapolated = cloths.flat_map(|cloth| predictor.extrapolated(cloth));
        let positions = filled(buffer, extrapolated);
        self.system.dynamics.external_forces.predict_stage(stage, &positions, &velocities);
        buffers.give(velocities);
        positions
    }

    /// Solves a stage with contacts from an initial guess in m. Velocities at its end are those of the scheme, except
    /// where impact impulses, truncated displacements or Dirichlet conditions change them.
    pub(super) fn solve_stage_from(
        &mut self,
        initial_guess: Vec<Vec3>,
        problem: StageProblem,
        interval: StepInterval,
    ) -> TrialStep {
        let StageProblem { mut stage, equations } = problem;
        let Self { system, solver, start, report, .. } = self;
        let mut positions = initial_guess;
        // Linear equations have one solution, wherever they are solved from.
        let is_extrapolated = matches!(equations, StageEquations::Implicit);
        let prescribed =
            system.begin_stage(&stage, start, &mut positions, interval, is_extrapolated, report);
        let has_reactions = solver.settings.integrator.is_explicit();
        report.time(Task::Contact, || {
            system.alter_positions(&mut stage, &mut positions, &prescribed, has_reactions);
        });
        let objective = Objective {
            dynamics: &mut system.dynamics,
            response: &mut system.response,
            stage: &stage,
            state: start,
            prescribed_displacements: &prescribed,
            quadratic_model: None,
        };
        let outcome =
            solver.solve_stage_equations(objective, &equations, &mut positions, interval, report);
        let truncation = if outcome.is_collision_free || interval.rejects_unconverged(&outcome) {
            TruncationResult::default()
        } else {
            report.time(Task::Contact, || system.response.truncate_displacements(&mut positions))
        };
        let dynamics = &mut system.dynamics;
        let invalid_vertex = (!outcome.step_length.is_finite())
            .then(|| first_vertex_with_nonfinite_force(dynamics, &stage, &positions, report));
        let matrix = &solver.constant_stiffness.matrix;
        let mut velocities = end_velocities(dynamics, matrix, &mut stage, &equations, &positions);
        let solution = SolvedStage {
            system,
            start,
            stage: &stage,
            positions: &positions,
            truncated_vertices: &truncation.truncated_vertices,
            prescribed_displacements: &prescribed,
        };
        let history_resets = solution.apply_velocity_jumps(&mut velocities);
        let history = system.response.new_contact_history(truncation.violating_pair_count);
        let unresolved =
            truncation.violating_pair_count + system.response.recovery.intersection_count();
        solver.buffers.give(stage.base_positions);
        system.dynamics.elements.buffers.give(stage.base_measures);
        TrialStep {
            alterations: stage.alterations,
            history_resets,
            truncated_vertices: truncation.truncated_vertices.len(),
            frozen_vertices: truncation.frozen_vertex_count,
            invalid_vertex: invalid_vertex.flatten(),
            ..TrialStep::at(KinematicState { positions, velocities }, outcome, history, unresolved)
        }
    }
}

/// First vertex whose force is not finite at `positions`.
fn first_vertex_with_nonfinite_force(
    dynamics: &mut EquationsOfMotion,
    stage: &Stage,
    positions: &[Vec3],
    report: &mut Report,
) -> Option<usize> {
    let mut forces = vec![Vec3::zeros(); positions.len()];
    dynamics.evaluate(stage, positions, &mut forces, report);
    forces.iter().position(|force| !is_finite(force))
}

/// Velocities of the scheme at the end of a stage, in m/s. The storage of v̂ is reused.
fn end_velocities(
    dynamics: &mut EquationsOfMotion,
    matrix: &ConstantStiffness,
    stage: &mut Stage,
    equations: &StageEquations,
    positions: &[Vec3],
) -> Vec<Vec3> {
    let changes = match equations {
        StageEquations::SemiImplicit(forces) if stage.extrapolation_factor > 1.0 => {
            midpoint_velocity_changes(stage, matrix, dynamics, forces, positions)
        }
        _ => Vec::new(),
    };
    let mut velocities = stage.end_velocities(positions);
    for (velocity, change) in velocities.iter_mut().zip(&changes) {
        *velocity += change;
    }
    velocities
}
