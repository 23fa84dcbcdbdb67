// SPDX-License-Identifier: MIT OR Apache-2.0
//! One stage of a step: predict the positions, solve the equations with contacts, truncate displacements that would
//! penetrate, and compute the velocities at the end.

use super::trial::{TrialStep, is_finite};
use crate::{
    collision::Trajectories,
    geometry::OrthonormalBasis,
    newton::{SolveOutcome, reference::semi_implicit::midpoint_velocity_changes},
    response::{
        CollisionResponse, ContactVelocities, MotionDeviation, StepStart, TruncationResult,
        VelocityJump,
    },
    scene::{Report, Task},
    simulation::{
        Simulation, predictor::Predictor, stage_solve::StageEquations, step_control::StepInterval,
    },
    system::PrescribedDisplacement,
    time_integration::{HistoryReset, Stage, StageEnd, filled},
    vec3::Vec3,
};
use nalgebra::Matrix3;
use std::collections::BTreeMap;

/// Length of the column of a projector below which it adds no direction to those of the other columns.
const MIN_COLUMN_LENGTH: f64 = 0.1;

/// Stage to be solved.
pub(crate) struct StageProblem {
    pub(crate) stage: Stage,
    pub(crate) equations: StageEquations,
}

/// Solution of the equations of a stage.
struct StageSolution<'a> {
    /// Positions of all vertices at the end of the stage, in m.
    positions: Vec<Vec3>,
    outcome: SolveOutcome,
    truncation: TruncationResult,
    prescribed_displacements: &'a [PrescribedDisplacement],
}

impl Simulation {
    /// Solves a stage from the predicted positions.
    pub(crate) fn solve_stage(
        &mut self,
        problem: StageProblem,
        interval: StepInterval,
        report: &mut Report,
    ) -> TrialStep {
        let initial_guess = self.predict_positions(&problem.stage, interval.duration);
        self.solve_stage_from(initial_guess, problem, interval, report)
    }

    /// Initial guess of a step of `duration` in s, in m. Freezes the air forces of the stage at the expected state.
    fn predict_positions(&mut self, stage: &Stage, duration: f64) -> Vec<Vec3> {
        let buffer = self.buffers.take();
        let state = &self.state;
        let velocities = state.extrapolated_velocities(duration, self.buffers.take());
        let predictor = Predictor {
            stage,
            state,
            pinned: &self.boundary_conditions.pinned(state.positions.len()),
            gravity: self.dynamics.gravity,
        };
        let starts = &self.dynamics.mesh.cloth_starts;
        let cloths = starts.windows(2).map(|ends| ends[0]..ends[1]);
        let extrapolated = cloths.flat_map(|cloth| predictor.extrapolated(cloth));
        let positions = filled(buffer, extrapolated);
        self.dynamics.predict_stage_air(stage, &positions, &velocities);
        self.buffers.give(velocities);
        positions
    }

    /// Solves a stage with contacts from an initial guess in m.
    pub(crate) fn solve_stage_from(
        &mut self,
        initial_guess: Vec<Vec3>,
        problem: StageProblem,
        interval: StepInterval,
        report: &mut Report,
    ) -> TrialStep {
        let StageProblem { mut stage, equations } = problem;
        let mut positions = initial_guess;
        let prescribed = self.begin_stage(&stage, &mut positions, interval, report);
        self.alter_positions(&mut stage, &mut positions, &prescribed, report);
        let outcome = self.solve_stage_equations(
            &stage,
            &equations,
            &mut positions,
            &prescribed,
            interval,
            report,
        );
        let response = &mut self.response;
        let truncation = if outcome.is_collision_free || interval.rejects_unconverged(&outcome) {
            TruncationResult::default()
        } else {
            report.time(Task::Contact, || response.truncate_displacements(&mut positions))
        };
        let invalid_vertex = if outcome.step_length.is_finite() {
            None
        } else {
            self.first_vertex_with_nonfinite_force(&stage, &positions, report)
        };
        let velocities = self.end_velocities(&mut stage, &equations, &positions);
        let prescribed_displacements = &prescribed;
        let solution = StageSolution { positions, outcome, truncation, prescribed_displacements };
        let mut trial = self.assemble_trial_step(&mut stage, solution, velocities);
        trial.invalid_vertex = invalid_vertex;
        self.buffers.give(stage.base_positions);
        self.dynamics.reuse(stage.base_measures);
        trial
    }

    /// Applies the boundary conditions of a stage to the initial guess, and begins the step of the response. Returns
    /// the Dirichlet conditions.
    pub(super) fn begin_stage(
        &mut self,
        stage: &Stage,
        positions: &mut [Vec3],
        interval: StepInterval,
        report: &mut Report,
    ) -> Vec<PrescribedDisplacement> {
        let StepInterval { start_fraction: start, end_fraction: end, duration, .. } = interval;
        let starts = &self.state.positions;
        let conditions = &self.boundary_conditions;
        let mut prescribed: Vec<PrescribedDisplacement> =
            conditions.prescribed_displacements(starts, end, duration).collect();
        for prescribed in &prescribed {
            let position = &mut positions[prescribed.vertex];
            *position = prescribed.constrained_end(&starts[prescribed.vertex], position);
        }
        let pinned = conditions.pinned(positions.len());
        let evaluation = start + (end - start) / stage.extrapolation_factor;
        self.dynamics.spring_targets = conditions.spring_targets(positions.len(), evaluation);
        let compliance = |mass: &f64| stage.beta * stage.beta / mass;
        let vertex_compliances = self.dynamics.masses.iter().map(compliance).collect();
        let response = &mut self.response;
        report.time(Task::BroadPhase, || {
            response.begin_step(StepStart {
                start_positions: starts,
                predicted_positions: positions,
                is_pinned: &pinned,
                frame_fractions: [start, end],
                duration,
                vertex_compliances,
            });
        });
        for held in response.recovery.flypapering.held_vertices() {
            positions[held.vertex] = held.end;
            prescribed.retain(|one| one.vertex != held.vertex);
            prescribed.push(held.prescribed_displacement(&starts[held.vertex]));
        }
        prescribed.sort_by_key(|one| one.vertex);
        prescribed
    }

    /// Lets surfaces that start closer than their thickness come apart in a stage, without a velocity. `positions` in m
    /// are its initial guess.
    pub(super) fn alter_positions(
        &mut self,
        stage: &mut Stage,
        positions: &mut [Vec3],
        prescribed_displacements: &[PrescribedDisplacement],
        report: &mut Report,
    ) {
        let has_reactions = self.settings.integrator.is_explicit();
        let mut alterations = report.time(Task::Contact, || {
            self.response.position_alterations(has_reactions, |v| self.inverse_mass(v))
        });
        for prescribed in prescribed_displacements {
            let free = prescribed.free_projector;
            alterations.entry(prescribed.vertex).and_modify(|y| *y = free * *y);
        }
        for (vertex, alteration) in &alterations {
            positions[*vertex] += alteration;
        }
        stage.alter(alterations);
    }

    /// First vertex whose force is not finite at `positions`.
    fn first_vertex_with_nonfinite_force(
        &mut self,
        stage: &Stage,
        positions: &[Vec3],
        report: &mut Report,
    ) -> Option<usize> {
        let mut forces = vec![Vec3::zeros(); positions.len()];
        self.dynamics.evaluate(stage, positions, &mut forces, report);
        forces.iter().position(|force| !is_finite(force))
    }

    /// Velocities of the scheme at the end of a stage, in m/s. The storage of v̂ is reused.
    fn end_velocities(
        &mut self,
        stage: &mut Stage,
        equations: &StageEquations,
        positions: &[Vec3],
    ) -> Vec<Vec3> {
        let changes = match equations {
            StageEquations::SemiImplicit(forces) if stage.extrapolation_factor > 1.0 => {
                let (dynamics, matrix) = (&mut self.dynamics, &self.constant_stiffness.matrix);
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

    /// Trial step of the solution of a stage. Velocities are those of the scheme, except where impact impulses,
    /// truncated displacements or Dirichlet conditions change them; the history of such vertices is reset.
    fn assemble_trial_step(
        &self,
        stage: &mut Stage,
        solution: StageSolution<'_>,
        mut velocities: Vec<Vec3>,
    ) -> TrialStep {
        let history_resets = self.apply_velocity_jumps(stage, &solution, &mut velocities);
        let StageSolution { positions, outcome, truncation, .. } = solution;
        let response = &self.response;
        let violating_pairs = truncation.violating_pair_count;
        TrialStep {
            positions,
            velocities,
            alterations: std::mem::take(&mut stage.alterations),
            history_resets,
            contact_history: response.new_contact_history(violating_pairs),
            substeps: 1,
            internal_variables: None,
            outcome,
            truncated_vertices: truncation.truncated_vertices.len(),
            frozen_vertices: truncation.frozen_vertex_count,
            unresolved_contacts: violating_pairs + response.recovery.intersection_count(),
            invalid_vertex: None,
        }
    }

    /// Applies impact impulses, truncated displacements and Dirichlet conditions to the velocities at the end of a
    /// stage, in m/s. Returns the resets of the vertices whose velocities have jumped.
    fn apply_velocity_jumps(
        &self,
        stage: &Stage,
        solution: &StageSolution<'_>,
        velocities: &mut [Vec3],
    ) -> Vec<HistoryReset> {
        let (starts, positions) = (&self.state.positions, &solution.positions);
        let contact_velocities = self.contact_velocities();
        if stage.extrapolation_factor > 1.0 {
            let starts: Vec<Vec3> =
                starts.iter().enumerate().map(|(v, start)| start + stage.alteration(v)).collect();
            let trajectories = Trajectories { starts: &starts, ends: positions };
            contact_velocities.apply_midpoint_rule(trajectories, stage.duration, velocities);
        }
        let jumps = contact_velocities.apply_impacts(positions, velocities);
        let projectors = self.apply_prescribed_velocities(stage, solution, velocities);
        self.history_resets(stage, StageEnd { positions, velocities }, jumps, &projectors)
    }

    /// Sets the velocities in m/s of truncated and prescribed displacements. Returns for each such vertex the projector
    /// onto the directions in which its velocity is free.
    fn apply_prescribed_velocities(
        &self,
        stage: &Stage,
        solution: &StageSolution<'_>,
        velocities: &mut [Vec3],
    ) -> BTreeMap<usize, Matrix3<f64>> {
        let (starts, positions) = (&self.state.positions, &solution.positions);
        let mut projectors = BTreeMap::new();
        for vertex in &solution.truncation.truncated_vertices {
            let vertex = *vertex as usize;
            velocities[vertex] = (positions[vertex] - starts[vertex]) / stage.duration;
            projectors.insert(vertex, Matrix3::zeros());
        }
        for prescribed in solution.prescribed_displacements {
            let free = prescribed.free_projector;
            let velocity = &mut velocities[prescribed.vertex];
            *velocity = free * *velocity + prescribed.displacement / stage.duration;
            projectors
                .entry(prescribed.vertex)
                .and_modify(|projector| *projector = common_free_projector([*projector, free]))
                .or_insert(free);
        }
        projectors
    }

    /// History of the vertices whose velocities have jumped in a stage with this end: by `jumps` of contacts, or by
    /// displacements that are free only as the projectors tell. That of vertices with altered positions is displaced
    /// with them.
    fn history_resets(
        &self,
        stage: &Stage,
        end: StageEnd<'_>,
        mut jumps: Vec<VelocityJump<'_>>,
        free_projectors: &BTreeMap<usize, Matrix3<f64>>,
    ) -> Vec<HistoryReset> {
        let uniform =
            |vertex: usize| end.positions[vertex] - end.velocities[vertex] * stage.duration;
        let deviation = |vertex: usize| MotionDeviation {
            position: self.state.positions[vertex] + stage.alteration(vertex) - uniform(vertex),
            velocity: self.state.velocities[vertex] - end.velocities[vertex],
        };
        let contact_velocities = self.contact_velocities();
        let vertices = contact_velocities.vertices_of_jumps(&jumps);
        let vertices = vertices.chain(free_projectors.keys().copied());
        let vertices = vertices.chain(stage.alterations.keys().copied());
        let mut deviations: BTreeMap<usize, MotionDeviation> =
            vertices.map(|vertex| (vertex, deviation(vertex))).collect();
        contact_velocities.make_past_uniform(&mut jumps, &mut deviations);
        let reset = |(vertex, deviation): (usize, MotionDeviation)| {
            let free = free_projectors.get(&vertex);
            let deviation = free.map_or(deviation, |free| deviation.projected(free));
            HistoryReset {
                vertex: vertex as u32,
                position: uniform(vertex) + deviation.position,
                velocity: end.velocities[vertex] + deviation.velocity,
            }
        };
        deviations.into_iter().map(reset).collect()
    }

    /// Contacts of the step with the inverse masses of their vertices.
    fn contact_velocities(&self) -> ContactVelocities<'_, impl Fn(usize) -> f64> {
        let CollisionResponse { contact_set: contacts, step, .. } = &self.response;
        ContactVelocities { contacts, step, inverse_masses: |vertex| self.inverse_mass(vertex) }
    }

    /// Inverse mass of a vertex in 1/kg; 0 if it is pinned.
    fn inverse_mass(&self, vertex: usize) -> f64 {
        if self.response.step.is_pinned(vertex) { 0.0 } else { 1.0 / self.dynamics.masses[vertex] }
    }
}

/// Projector onto the directions that are free for both projectors.
fn common_free_projector(projectors: [Matrix3<f64>; 2]) -> Matrix3<f64> {
    let complements = projectors.map(|free| Matrix3::identity() - free);
    let columns = complements.iter().flat_map(|complement| complement.column_iter());
    let directions =
        columns.filter_map(|column| column.clone_owned().try_normalize(MIN_COLUMN_LENGTH));
    OrthonormalBasis::from_spanning_set(directions).complement_projector()
}
