// SPDX-License-Identifier: MIT OR Apache-2.0
//! Island: cloths that may touch each other, as a system of its own, among all colliders. Step size, convergence and
//! regime are its own: it moves as if there were no other cloth.
//!
//! A step, from top to bottom:
//!
//! 1. `next_interval` (`step_control`): step size;
//! 2. `predict_positions` (`step::stage`, `step::predictor`): initial guess;
//! 3. `begin_stage` (`constrained_system`): boundary conditions, candidate pairs of the broad phase (`response`);
//! 4. `solve_stage_equations` (`stage_solve`): Newton iterations (`newton`) of each stage (`time_integration`), each of
//!    them contact detection, `compute_newton_step` and `line_search`;
//! 5. `validate_step` (`response`): continuous collision detection; `truncate_displacements` if it fails;
//! 6. `apply_velocity_jumps` (`step::velocity_jumps`): impact impulses, Dirichlet conditions;
//! 7. `acceptance` (`acceptance`): convergence, stretch, truncation; `record_rejection` or `accept_step`;
//! 8. `adapt_step_size` (`step_control`).

mod acceptance;
mod accessors;
mod arguments;
mod constrained_system;
mod energy_guard;
mod snapshot;
mod stage_solve;
mod step;
mod step_control;
mod swept_volume;
#[cfg(test)]
mod tests;

use crate::{
    error::{Error, Result},
    forces,
    response::CollisionResponse,
    scene::{Cloth, ClothVertex, Collider, Integrator, Report, Settings},
    system::{EquationsOfMotion, ExplicitSteppingParameters, StabilityProblem},
    time_integration::{KinematicState, State, explicit_scheme},
    vec3::Vec3,
};
pub(crate) use snapshot::{IslandPart, Snapshot};
pub(crate) use swept_volume::SweptVolume;

use acceptance::{TruncationTolerance, acceptance};
use constrained_system::{ConstrainedSystem, alternative_count};
use stage_solve::StageSolver;
use step::{Step, TrialStep};
use step_control::{FrameProgress, StepControl, StepInterval, dense_pair_cost_factor};

/// Cloths that may touch each other, among all colliders.
pub(crate) struct Island {
    /// Number of alternative triangles of the cloths, strips of seams included.
    alternative_count: usize,
    pub(crate) system: ConstrainedSystem,
    pub(crate) solver: StageSolver,
    pub(crate) state: State,
    step_control: StepControl,
    /// Simulated fraction of the present frame, from 0 to 1.
    frame_fraction: f64,
    /// Space that each cloth has swept in the present frame; empty where no other cloth can be met.
    pub(crate) swept_volumes: Vec<SweptVolume>,
}

impl Island {
    /// Cloths at rest, which have been checked.
    pub(crate) fn new(cloths: &[Cloth], colliders: &[Collider], settings: Settings) -> Self {
        let mut positions: Vec<Vec3> =
            cloths.iter().flat_map(|cloth| cloth.positions.iter().copied()).collect();
        let step_control = StepControl::new(settings.time_step);
        let self_collision = settings.self_collision;
        let dynamics = EquationsOfMotion::new(cloths, &settings);
        let solver = StageSolver::new(settings, &dynamics);
        let alternative_count = alternative_count(cloths, &dynamics);
        let mut system =
            ConstrainedSystem::new(dynamics, cloths, colliders, self_collision, &positions);
        system.response.separate_coincident_cloth(&mut positions);
        system.dynamics.elements.initialize_internal_variables(&positions);
        system.update_rest_length_scales();
        Self {
            alternative_count,
            system,
            solver,
            state: State::at_rest(positions),
            step_control,
            frame_fraction: 0.0,
            swept_volumes: Vec::new(),
        }
    }

    /// Simulates a frame of a `duration` in s, or an only step of it, and reports it. The frame has to be ended.
    ///
    /// # Errors
    /// A position or velocity that is not finite: the state before that step is kept; or an explicit scheme that needs
    /// too short steps.
    pub(crate) fn run_frame(&mut self, duration: f64, is_one_step: bool) -> Result<Report> {
        self.frame_fraction = 0.0;
        let mut report = Report::default();
        if is_one_step {
            self.take_one_step(duration, &mut report)?;
        } else {
            self.advance_frame(duration, &mut report)?;
        }
        let EquationsOfMotion { mesh, gradients, .. } = &self.system.dynamics;
        report.max_stretch = forces::largest_stretch(mesh, gradients, &self.state.positions);
        Ok(report)
    }

    /// Begins the swept volumes of a frame where the cloths are.
    pub(crate) fn begin_swept_volumes(&mut self) {
        for volume in &mut self.swept_volumes {
            volume.clear();
        }
        self.extend_swept_volumes();
    }

    fn extend_swept_volumes(&mut self) {
        for (cloth, volume) in self.swept_volumes.iter_mut().enumerate() {
            volume.extend(&self.state.positions[self.system.dynamics.mesh.vertices_of(cloth)]);
        }
    }

    /// Returns to the state in which the frame began.
    pub(crate) fn return_to_start_of_frame(&mut self, start: Snapshot) {
        self.restore(start);
        self.frame_fraction = 0.0;
    }

    /// Ends the frame: boundary conditions and colliders stay where it has come to, by an error perhaps.
    pub(crate) fn end_frame(&mut self) {
        self.system.end_frame(self.frame_fraction);
    }

    /// Simulates exactly one step of a `duration` in s.
    fn take_one_step(&mut self, duration: f64, report: &mut Report) -> Result<()> {
        let max_iterations = self.solver.settings.max_iterations;
        let interval = StepInterval::whole_frame(duration, max_iterations);
        self.step_control.stable = f64::INFINITY;
        let trial = self.solve_step(interval, report);
        let Self { system, state, .. } = &*self;
        system.check_finite(trial.first_invalid_vertex(), state.time)?;
        self.accept_step(trial, interval, report);
        self.frame_fraction = 1.0;
        Ok(())
    }

    /// Simulates a frame of `duration` in s: solve a trial step, accept or reject it, adapt the step size.
    fn advance_frame(&mut self, duration: f64, report: &mut Report) -> Result<()> {
        let (mut frame, mut truncation) =
            (FrameProgress::new(duration), TruncationTolerance::default());
        while frame.fraction < 1.0 {
            if frame.needs_stability_estimate(report.steps) {
                let Self { system, solver, state, step_control, .. } = self;
                let longest = step_control.max_step_size(&solver.settings);
                let positions = &state.positions;
                step_control.stable =
                    find_stable_step_size(system, solver, positions, frame.fraction, longest)?;
            }
            let cost_factor = dense_pair_cost_factor(&self.system);
            let interval = self.step_control.next_interval(&frame, self.settings(), cost_factor);
            let iterations_before = report.newton_iterations;
            let mut trial = self.solve_step(interval, report);
            let iterations = report.newton_iterations - iterations_before;
            let Self { system, solver, state, step_control, .. } = self;
            frame.charge_iterations(iterations, &solver.settings, system);
            let is_linearised = solver.settings.is_linearised();
            let acceptance = acceptance(&trial, state, system, &mut truncation, is_linearised);
            if let Err(reason) = acceptance
                && interval.can_retry_shorter
            {
                step_control.record_rejection(interval, reason);
                report.reject(reason);
                trial.discard(&solver.buffers);
                continue;
            }
            let trial = trial.judged(acceptance);
            let trial = self.or_restart_from_rest(trial, interval, report)?;
            self.accept_step(trial, interval, report);
            let Self { system, solver, step_control, .. } = self;
            let CollisionResponse { contact_set, step, .. } = &system.response;
            let slip = [contact_set.mean_slip_speed(step), solver.mean_edge_length];
            step_control.adapt_step_size(interval, iterations as f64, slip, &solver.settings);
            frame.fraction = interval.end_fraction;
            self.frame_fraction = interval.end_fraction;
        }
        Ok(())
    }

    /// Solves a step from the present state, without accepting it.
    fn solve_step(&mut self, interval: StepInterval, report: &mut Report) -> TrialStep {
        let Self { system, solver, state: start, .. } = self;
        Step { system, solver, start, interval, report }.solve()
    }

    /// The trial step, or, if its equations overflowed, a step from rest at the present positions: cloth that fast
    /// would never stop.
    fn or_restart_from_rest(
        &mut self,
        mut trial: TrialStep,
        interval: StepInterval,
        report: &mut Report,
    ) -> Result<TrialStep> {
        let time = self.state.time;
        self.system.check_finite(trial.first_nonfinite_vertex(), time)?;
        if trial.outcome.step_length.is_finite() {
            return Ok(trial);
        }
        trial.discard(&self.solver.buffers);
        let moving = self.state.clone();
        self.state.bring_to_rest();
        let last_attempt = StepInterval { can_retry_shorter: false, ..interval };
        let resting = self.solve_step(last_attempt, report);
        let is_finite = self.system.check_finite(resting.first_invalid_vertex(), time);
        is_finite.inspect_err(|_| self.state = moving)?;
        Ok(resting)
    }

    /// Makes a trial step the present state.
    fn accept_step(&mut self, trial: TrialStep, interval: StepInterval, report: &mut Report) {
        let Self { system: ConstrainedSystem { dynamics, response, .. }, solver, state, .. } = self;
        trial.add_to_report(report, solver.tolerance_length);
        let TrialStep { positions, velocities, history_resets, contact_history, .. } = trial;
        // Variables that the next step needs, if its scheme extrapolates forces from this state.
        let extrapolates_forces = solver.settings.integrator == Integrator::Sbdf2;
        let variables = if extrapolates_forces {
            dynamics.elements.internal_variables(&dynamics.mesh)
        } else {
            Vec::new()
        };
        let end = KinematicState { positions, velocities };
        if let Some(replaced) = state.advance(end, interval.duration, history_resets, variables) {
            solver.buffers.give(replaced.positions);
            solver.buffers.give(replaced.velocities);
        }
        dynamics.elements.shift_cached_measures();
        if let Some(internal_variables) = &trial.internal_variables {
            dynamics.elements.set_internal_variables(&dynamics.mesh, internal_variables);
        }
        let substep = interval.duration / trial.substeps as f64;
        dynamics.elements.update_internal_variables(&state.positions, substep);
        response.contact_history = contact_history;
        response.recovery.flypapering.accept_pinched_vertices();
        let held = response.recovery.flypapering.pinched_vertices.iter().filter(|one| one.is_held);
        let places = held.map(|one| dynamics.mesh.cloth_of_vertex(one.vertex as usize));
        report.pinched_vertices =
            places.map(|(cloth, vertex)| ClothVertex { cloth, vertex }).collect();
        self.extend_swept_volumes();
    }
}

/// Longest step at which the integrator is stable until the next estimate, in s; infinite for an implicit one. Steps
/// are at most `max_step_size` in s.
fn find_stable_step_size(
    system: &mut ConstrainedSystem,
    solver: &mut StageSolver,
    positions: &[Vec3],
    frame_fraction: f64,
    max_step_size: f64,
) -> Result<f64> {
    let integrator = solver.settings.integrator;
    let parameters = ExplicitSteppingParameters::DEFAULT;
    let Some(scheme) = explicit_scheme(integrator) else {
        return Ok(f64::INFINITY);
    };
    let conditions = &system.boundary_conditions;
    system.dynamics.spring_targets = conditions.spring_targets(positions.len(), frame_fraction);
    let problem = StabilityProblem {
        scheme,
        dynamics: &mut system.dynamics,
        tangent: solver.newton.tangent_without_contacts(),
        positions,
        pinned: &conditions.pinned(positions.len()),
        horizon: parameters.steps_per_estimate as f64 * max_step_size,
    };
    let limit = problem.max_stable_step();
    if limit < parameters.min_stable_step {
        let found = format!(
            "{} needs steps of {limit:.1e} s for this cloth, {:.0} a film frame",
            integrator.name(),
            1.0 / (24.0 * limit)
        );
        let wanted = "a softer or coarser cloth, another damping, or an implicit integrator";
        return Err(Error::value("integrator", found, wanted));
    }
    Ok(limit)
}
