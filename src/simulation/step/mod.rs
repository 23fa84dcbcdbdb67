// SPDX-License-Identifier: MIT OR Apache-2.0
//! One time step: the stages of the integrator, solved and assembled to a trial step, which is accepted or rejected
//! later.

mod explicit;
mod stage;
mod trial;

pub(crate) use stage::StageProblem;
pub(crate) use trial::TrialStep;

use super::{Simulation, stage_solve::StageEquations, step_control::StepInterval};
use crate::{
    newton::reference::semi_implicit,
    scene::{ClothVertex, Integrator, Report},
    time_integration::{
        Measures, PreviousState, SDIRK2_GAMMA, Stage, StageEnd, State, explicit_scheme, filled,
    },
    vec3::Vec3,
};

/// Ratio of the step size to the previous one above which BDF(2) is restarted; its stability limit is 1 + √2.
const MAX_BDF2_STEP_RATIO: f64 = 2.4;

impl Simulation {
    /// Solves a step, without accepting it.
    pub(crate) fn solve_step(&mut self, interval: StepInterval, report: &mut Report) -> TrialStep {
        let trial = self.solve_step_with(self.settings.integrator, interval, report);
        self.or_implicit_euler_step(trial, interval, report)
    }

    /// Solves a step with an integrator, regardless of the settings.
    pub(crate) fn solve_step_with(
        &mut self,
        integrator: Integrator,
        interval: StepInterval,
        report: &mut Report,
    ) -> TrialStep {
        if let Some(scheme) = explicit_scheme(integrator) {
            return self.solve_explicit_step(scheme, interval, report);
        }
        let duration = interval.duration;
        let measures = self.dynamics.current_measures(&self.state.positions);
        let buffers = self.stage_buffers();
        let usable =
            |previous: &&PreviousState| duration <= MAX_BDF2_STEP_RATIO * previous.step_size;
        let previous = self.state.previous.as_ref().filter(usable);
        let has_previous = previous.is_some();
        let is_multistep = matches!(integrator, Integrator::Bdf2 | Integrator::Sbdf2);
        let stage = match previous.filter(|_| is_multistep) {
            Some(previous) => {
                let before = self.dynamics.take_previous_measures(&previous.positions);
                let extrapolated =
                    |weight: f64| self.dynamics.extrapolate_measures(&measures, before, weight);
                Stage::bdf2(&self.state, previous, extrapolated, duration, buffers)
            }
            None if integrator == Integrator::Bdf2 => {
                let first = Stage::sdirk2_first(&self.state, measures.clone(), duration, buffers);
                return self.solve_sdirk2_step(first, &measures, interval, report);
            }
            None if integrator == Integrator::ImplicitMidpoint => {
                let difference = self.measure_second_difference(&measures, 0.5 * duration);
                Stage::implicit_midpoint(&self.state, &measures, &difference, duration, buffers)
            }
            None if integrator == Integrator::ImexMidpoint => {
                Stage::to_middle(&self.state, measures, duration, buffers)
            }
            None => Stage::implicit_euler(&self.state, measures, duration, buffers),
        };
        let equations = if integrator.is_semi_implicit() {
            let extrapolates = has_previous && is_multistep;
            StageEquations::SemiImplicit(self.semi_implicit_forces(extrapolates, duration))
        } else {
            StageEquations::Implicit
        };
        self.solve_stage(StageProblem { stage, equations }, interval, report)
    }

    /// Explicit forces of a semi-implicit scheme, in N: those of the present state, or extrapolated from the previous
    /// one.
    fn semi_implicit_forces(&mut self, extrapolates: bool, duration: f64) -> Vec<Vec3> {
        self.update_constant_stiffness(duration);
        let Self { dynamics, constant_stiffness, state, .. } = self;
        let matrix = &constant_stiffness.matrix;
        let mut forces =
            semi_implicit::explicit_forces(dynamics, matrix, &state.kinematic_state(), 0.0);
        if let Some(previous) = state.previous.as_ref().filter(|_| extrapolates) {
            let present_variables = dynamics.internal_variables();
            let has_changed = present_variables != previous.internal_variables;
            if has_changed {
                dynamics.set_internal_variables(&previous.internal_variables);
            }
            let previous_state = semi_implicit::previous_kinematic_state(previous);
            let before = semi_implicit::explicit_forces(dynamics, matrix, &previous_state, 0.0);
            if has_changed {
                dynamics.set_internal_variables(&present_variables);
            }
            semi_implicit::extrapolate_forces(&mut forces, &before, duration / previous.step_size);
        }
        forces
    }

    /// Internal variables that the next step needs, if its scheme extrapolates forces from this state.
    fn internal_variables_to_keep(&self) -> Vec<Vec<f64>> {
        if self.settings.integrator == Integrator::Sbdf2 {
            self.dynamics.internal_variables()
        } else {
            Vec::new()
        }
    }

    /// Second difference ε(x + v·time) − 2ε(x) + ε(x − v·time) of the measures, with a time in s.
    fn measure_second_difference(&self, measures: &Measures, time: f64) -> Measures {
        let state = self.state.kinematic_state();
        let before = self.dynamics.measure_extrapolated(&state, -time);
        let continued = self.dynamics.extrapolate_measures(measures, before, 1.0);
        let after = self.dynamics.measure_extrapolated(&state, time);
        self.dynamics.measure_difference(&after, continued)
    }

    /// Solves a step of SDIRK2, the second-order start, in two stages.
    fn solve_sdirk2_step(
        &mut self,
        first_stage: Stage,
        measures: &Measures,
        interval: StepInterval,
        report: &mut Report,
    ) -> TrialStep {
        let problem = StageProblem { stage: first_stage, equations: StageEquations::Implicit };
        let first = self.solve_stage(problem, interval.first_fraction(SDIRK2_GAMMA), report);
        let is_rejected = interval.rejects_unconverged(&first.outcome);
        if first.first_nonfinite_vertex().is_some() || is_rejected {
            return first;
        }
        let first_measures = self.dynamics.measure(&first.positions);
        let buffers = self.stage_buffers();
        // The second stage alters positions by all that the step recovers.
        let mut first_positions = filled(self.buffers.take(), first.positions.iter().copied());
        for (vertex, alteration) in &first.alterations {
            first_positions[*vertex] -= alteration;
        }
        let stage = Stage::sdirk2_second(
            &self.state,
            |weight| self.dynamics.extrapolate_measures(measures, first_measures, weight),
            StageEnd { positions: &first_positions, velocities: &first.velocities },
            interval.duration,
            buffers,
        );
        let history = self.response.contact_history.clone();
        self.response.contact_history = first.contact_history.clone();
        let first_stage = first.stage_summary();
        self.discard_step(first);
        self.buffers.give(first_positions);
        let problem = StageProblem { stage, equations: StageEquations::Implicit };
        let mut second = self.solve_stage(problem, interval, report);
        self.response.contact_history = history;
        second.include_stage(first_stage);
        second
    }

    /// Place of a vertex in its cloth.
    fn cloth_vertex(&self, vertex: u32) -> ClothVertex {
        let (cloth, vertex) = self.dynamics.mesh.cloth_of_vertex(vertex as usize);
        ClothVertex { cloth, vertex }
    }

    /// Buffers for x̂ and v̂ of a stage.
    fn stage_buffers(&self) -> [Vec<Vec3>; 2] {
        [self.buffers.take(), self.buffers.take()]
    }

    /// Returns the storage of a rejected or intermediate step to the pool of buffers.
    pub(crate) fn discard_step(&self, trial: TrialStep) {
        self.buffers.give(trial.positions);
        self.buffers.give(trial.velocities);
    }

    /// Makes a trial step the present state.
    pub(crate) fn accept_step(
        &mut self,
        trial: TrialStep,
        interval: StepInterval,
        report: &mut Report,
    ) {
        trial.add_to_report(report, self.tolerance_length);
        let TrialStep { positions, velocities, history_resets, contact_history, substeps, .. } =
            trial;
        let time = self.state.time + interval.duration;
        let state = State { time, positions, velocities, previous: None };
        let before = std::mem::replace(&mut self.state, state);
        self.state.previous = Some(PreviousState {
            step_size: interval.duration,
            positions: before.positions,
            velocities: before.velocities,
            history_resets,
            internal_variables: self.internal_variables_to_keep(),
        });
        if let Some(previous) = before.previous {
            self.buffers.give(previous.positions);
            self.buffers.give(previous.velocities);
        }
        self.dynamics.shift_cached_measures();
        if let Some(internal_variables) = &trial.internal_variables {
            self.dynamics.set_internal_variables(internal_variables);
        }
        let substep = interval.duration / substeps as f64;
        self.dynamics.update_internal_variables(&self.state.positions, substep);
        self.response.contact_history = contact_history;
        self.response.recovery.flypapering.accept_pinched_vertices();
        let held =
            self.response.recovery.flypapering.pinched_vertices.iter().filter(|one| one.is_held);
        report.pinched_vertices = held.map(|one| self.cloth_vertex(one.vertex)).collect();
    }
}
