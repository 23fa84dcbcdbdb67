// SPDX-License-Identifier: MIT OR Apache-2.0
//! Advance of a simulation: the loop over the steps of a frame.

use super::{
    Simulation,
    step::TrialStep,
    step_control::{FrameProgress, StepInterval},
};
use crate::{
    error::{Error, Result},
    forces,
    scene::{Report, check_duration},
    system::{EquationsOfMotion, ExplicitSteppingParameters, StabilityProblem},
    time_integration::explicit_scheme,
};
use std::time::Instant;

/// Upper bound of the steps of one call.
const MAX_STEPS_PER_CALL: f64 = 1.0e7;

impl Simulation {
    /// Simulates `duration` seconds with as many steps as needed, none longer than `time_step`. Hard contact makes
    /// steps shorter; it is never an error.
    ///
    /// # Errors
    /// A duration that is not positive, or below the shortest time step; or a position or velocity that is not finite:
    /// the state before that step is kept.
    pub fn advance(&mut self, duration: f64) -> Result<Report> {
        check_duration("duration", duration)?;
        if duration > MAX_STEPS_PER_CALL * self.settings.time_step {
            let wanted =
                format!("at most {MAX_STEPS_PER_CALL:e} steps of {:?} s", self.settings.time_step);
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
            let interval = StepInterval {
                start_fraction: 0.0,
                end_fraction: 1.0,
                duration,
                fraction_of_max_step: 1.0,
                max_iterations: simulation.settings.max_iterations,
                can_retry_shorter: false,
            };
            simulation.stable_step_size = f64::INFINITY;
            let trial = simulation.solve_step(interval, report);
            simulation.check_finite(trial.first_invalid_vertex())?;
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
            let EquationsOfMotion { mesh, gradients, .. } = &self.dynamics;
            report.max_stretch = forces::largest_stretch(mesh, gradients, &self.state.positions);
            Ok(report)
        });
        // Boundary conditions and colliders stay where the frame ended, by an error perhaps.
        self.boundary_conditions.end_frame(self.frame_fraction);
        for motion in &mut self.response.scene.collider_motions {
            motion.end_frame(self.frame_fraction);
        }
        let mut report: Report = outcome?;
        report.total_seconds = start.elapsed().as_secs_f64();
        Ok(report)
    }

    /// Simulates a frame of `duration` in s: solve a trial step, accept or reject it, adapt the step size.
    pub(crate) fn advance_frame(&mut self, duration: f64, report: &mut Report) -> Result<()> {
        let mut frame = FrameProgress::new(duration);
        while frame.fraction < 1.0 {
            if frame.needs_stability_estimate(report.steps) {
                self.stable_step_size = self.find_stable_step_size()?;
            }
            let interval = self.next_interval(&frame);
            let iterations_before = report.newton_iterations;
            let trial = self.solve_step(interval, report);
            let iterations = report.newton_iterations - iterations_before;
            self.charge_iterations(&mut frame, iterations);
            let acceptance = self.acceptance(&trial, &mut frame.truncation);
            if let Err(reason) = acceptance
                && interval.can_retry_shorter
            {
                self.reject_step(trial, reason, interval, report);
                continue;
            }
            let trial = trial.judged(acceptance);
            let trial = self.or_restart_from_rest(trial, interval, report)?;
            self.accept_step(trial, interval, report);
            self.adapt_step_size(iterations as f64, interval);
            frame.fraction = interval.end_fraction;
            self.frame_fraction = interval.end_fraction;
        }
        Ok(())
    }

    /// The trial step, or, if its equations overflowed, a step from rest at the present positions: cloth that fast
    /// would never stop.
    fn or_restart_from_rest(
        &mut self,
        trial: TrialStep,
        interval: StepInterval,
        report: &mut Report,
    ) -> Result<TrialStep> {
        self.check_finite(trial.first_nonfinite_vertex())?;
        if trial.outcome.step_length.is_finite() {
            return Ok(trial);
        }
        self.discard_step(trial);
        let moving = self.state.clone();
        self.state.bring_to_rest();
        let last_attempt = StepInterval { can_retry_shorter: false, ..interval };
        let resting = self.solve_step(last_attempt, report);
        self.check_finite(resting.first_invalid_vertex()).inspect_err(|_| self.state = moving)?;
        Ok(resting)
    }

    /// Longest step at which the integrator is stable, in s; infinite for an implicit one.
    fn find_stable_step_size(&mut self) -> Result<f64> {
        let parameters = ExplicitSteppingParameters::DEFAULT;
        let Some(scheme) = explicit_scheme(self.settings.integrator) else {
            return Ok(f64::INFINITY);
        };
        let horizon = parameters.steps_per_estimate as f64 * self.max_step_size();
        let positions = self.state.positions.as_slice();
        let pinned = self.boundary_conditions.pinned(positions.len());
        self.dynamics.spring_targets =
            self.boundary_conditions.spring_targets(positions.len(), self.frame_fraction);
        let problem = StabilityProblem {
            scheme,
            dynamics: &mut self.dynamics,
            tangent: self.newton.tangent_without_contacts(),
            positions,
            pinned: &pinned,
            horizon,
        };
        let limit = problem.max_stable_step();
        if limit < parameters.min_stable_step {
            let found = format!(
                "{} needs steps of {limit:.1e} s for this cloth, {:.0} a film frame",
                self.settings.integrator.name(),
                1.0 / (24.0 * limit)
            );
            let wanted = "a softer or coarser cloth, another damping, or an implicit integrator";
            return Err(Error::value("integrator", found, wanted));
        }
        Ok(limit)
    }

    fn check_finite(&self, vertex: Option<usize>) -> Result<()> {
        vertex.map_or(Ok(()), |vertex| {
            let (cloth, vertex) = self.dynamics.mesh.cloth_of_vertex(vertex);
            Err(Error::NotFinite { cloth, vertex, time: self.state.time })
        })
    }
}
