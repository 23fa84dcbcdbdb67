// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulation of cloths and colliders.
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
mod animated_settings;
mod arguments;
mod checkpoint;
mod constrained_system;
mod energy_guard;
mod stage_solve;
mod step;
mod step_control;
#[cfg(test)]
mod tests;

use crate::{
    error::{Error, Result},
    forces,
    parallel::SimulationThreads,
    response::CollisionResponse,
    scene::{Cloth, ClothVertex, Collider, Integrator, Report, Settings, check_duration},
    system::{self, EquationsOfMotion, ExplicitSteppingParameters, StabilityProblem},
    time_integration::{KinematicState, State, explicit_scheme},
    vec3::Vec3,
};
use acceptance::{TruncationTolerance, acceptance};
use checkpoint::Fingerprint;
use constrained_system::{ConstrainedSystem, alternative_count};
use stage_solve::StageSolver;
use std::time::Instant;
use step::{Step, TrialStep};
use step_control::{FrameProgress, StepControl, StepInterval, dense_pair_cost_factor};

/// Simulation of cloths and colliders.
pub struct Simulation {
    /// Of meshes, colliders and settings, for checkpoints.
    fingerprint: Fingerprint,
    /// Number of alternative triangles of the cloths, strips of seams included.
    alternative_count: usize,
    pub(crate) system: ConstrainedSystem,
    pub(crate) solver: StageSolver,
    pub(crate) state: State,
    step_control: StepControl,
    /// Simulated fraction of the present frame, from 0 to 1.
    frame_fraction: f64,
    threads: SimulationThreads,
}

/// Upper bound of the steps of one call.
const MAX_STEPS_PER_CALL: f64 = 1.0e7;

impl Simulation {
    /// Simulation of cloths at rest.
    ///
    /// # Errors
    /// No cloth, a setting out of range, cloths that the model cannot simulate, or threads that the system refuses.
    pub fn new(cloths: &[Cloth], colliders: &[Collider], settings: Settings) -> Result<Self> {
        let settings = settings.checked()?;
        if cloths.is_empty() {
            return Err(Error::value("cloths", "no cloths", "one cloth or more"));
        }
        system::check_cloths(&settings, cloths)?;
        let mut positions: Vec<Vec3> =
            cloths.iter().flat_map(|cloth| cloth.positions.iter().copied()).collect();
        let threads = SimulationThreads::new(settings.threads, positions.len())?;
        let fingerprint = Fingerprint::new(cloths, colliders, &settings);
        let step_control = StepControl::new(settings.time_step);
        let self_collision = settings.self_collision;
        let (dynamics, solver) = threads.run(|| {
            let dynamics = EquationsOfMotion::new(cloths, &settings);
            let solver = StageSolver::new(settings, &dynamics);
            (dynamics, solver)
        });
        let alternative_count = alternative_count(cloths, &dynamics);
        let mut system =
            ConstrainedSystem::new(dynamics, cloths, colliders, self_collision, &positions)?;
        threads.run(|| {
            system.response.separate_coincident_cloth(&mut positions);
            system.dynamics.elements.initialize_internal_variables(&positions);
        });
        system.update_rest_length_scales();
        Ok(Self {
            fingerprint,
            alternative_count,
            system,
            solver,
            state: State::at_rest(positions),
            step_control,
            frame_fraction: 0.0,
            threads,
        })
    }

    /// Simulates `duration` seconds with as many steps as needed, none longer than `time_step`. Hard contact makes
    /// steps shorter; it is never an error.
    ///
    /// # Errors
    /// A duration that is not positive, or below the shortest time step; or a position or velocity that is not finite:
    /// the state before that step is kept.
    pub fn advance(&mut self, duration: f64) -> Result<Report> {
        check_duration("duration", duration)?;
        let time_step = self.solver.settings.time_step;
        if duration > MAX_STEPS_PER_CALL * time_step {
            let wanted = format!("at most {MAX_STEPS_PER_CALL:e} steps of {time_step:?} s");
            return Err(Error::value("duration", format!("{duration:?} s"), wanted));
        }
        self.run_frame(|simulation, report| simulation.advance_frame(duration, report))
    }

    /// Simulates exactly one step of `duration` seconds.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn step(&mut self, duration: f64) -> Result<Report> {
        check_duration("h", duration)?;
        self.run_frame(|simulation, report| {
            let max_iterations = simulation.solver.settings.max_iterations;
            let interval = StepInterval::whole_frame(duration, max_iterations);
            simulation.step_control.stable = f64::INFINITY;
            let trial = simulation.solve_step(interval, report);
            let Self { system, state, .. } = &*simulation;
            system.check_finite(trial.first_invalid_vertex(), state.time)?;
            simulation.accept_step(trial, interval, report);
            simulation.frame_fraction = 1.0;
            Ok(())
        })
    }

    /// Runs a frame on the threads of the simulation, and ends it.
    fn run_frame(
        &mut self,
        frame: impl FnOnce(&mut Self, &mut Report) -> Result<()> + Send,
    ) -> Result<Report> {
        let start = Instant::now();
        let threads = self.threads.clone();
        self.frame_fraction = 0.0;
        let outcome = threads.run(|| {
            let mut report = Report::default();
            frame(self, &mut report)?;
            let EquationsOfMotion { mesh, gradients, .. } = &self.system.dynamics;
            report.max_stretch = forces::largest_stretch(mesh, gradients, &self.state.positions);
            Ok(report)
        });
        // Boundary conditions and colliders stay where the frame ended, by an error perhaps.
        self.system.end_frame(self.frame_fraction);
        let mut report: Report = outcome?;
        report.total_seconds = start.elapsed().as_secs_f64();
        Ok(report)
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
