// SPDX-License-Identifier: MIT OR Apache-2.0
//! One time step: the stages of the integrator, solved and assembled to a trial step, which is accepted or rejected
//! later.

mod explicit;
mod predictor;
mod stage;
mod trial;
mod velocity_jumps;

pub(crate) use trial::TrialStep;

use super::{
    constrained_system::ConstrainedSystem,
    energy_guard::needs_implicit_euler_step,
    stage_solve::{StageEquations, StageSolver},
    step_control::StepInterval,
};
use crate::{
    newton::reference::semi_implicit,
    scene::{Integrator, Report},
    time_integration::{
        Measures, PreviousState, SDIRK2_GAMMA, Stage, StageEnd, State, explicit_scheme, filled,
    },
    vec3::Vec3,
};
use stage::StageProblem;

/// Ratio of the step size to the previous one above which BDF(2) is restarted; its stability limit is 1 + √2.
const MAX_BDF2_STEP_RATIO: f64 = 2.4;

/// Step from a state that is to be solved.
pub(crate) struct Step<'a> {
    pub(crate) system: &'a mut ConstrainedSystem,
    pub(crate) solver: &'a mut StageSolver,
    pub(crate) start: &'a State,
    pub(crate) interval: StepInterval,
    pub(crate) report: &'a mut Report,
}

impl Step<'_> {
    /// Solves the step by the integrator of the settings, without accepting it.
    pub(crate) fn solve(&mut self) -> TrialStep {
        let mut trial = self.solve_step_with(self.solver.settings.integrator);
        let Self { system, solver, start, interval, .. } = self;
        if !needs_implicit_euler_step(&trial, start, system, solver, *interval) {
            return trial;
        }
        trial.discard(&solver.buffers);
        self.solve_step_with(Integrator::ImplicitEuler)
    }

    /// Solves the step with an integrator, regardless of the settings.
    fn solve_step_with(&mut self, integrator: Integrator) -> TrialStep {
        if let Some(scheme) = explicit_scheme(integrator) {
            return self.solve_explicit_step(scheme);
        }
        let (state, interval) = (self.start, self.interval);
        let (dynamics, duration) = (&mut self.system.dynamics, interval.duration);
        let measures = dynamics.elements.current_measures(&state.positions);
        let buffers = self.solver.stage_buffers();
        let usable =
            |previous: &&PreviousState| duration <= MAX_BDF2_STEP_RATIO * previous.step_size;
        let is_multistep = matches!(integrator, Integrator::Bdf2 | Integrator::Sbdf2);
        let previous = state.previous.as_ref().filter(usable).filter(|_| is_multistep);
        let stage = match previous {
            Some(previous) => {
                let before = dynamics.elements.take_previous_measures(&previous.positions);
                let extrapolated =
                    |weight: f64| dynamics.elements.extrapolate_measures(&measures, before, weight);
                Stage::bdf2(state, previous, extrapolated, duration, buffers)
            }
            None if integrator == Integrator::Bdf2 => {
                let first = Stage::sdirk2_first(state, measures.clone(), duration, buffers);
                return self.solve_sdirk2_step(first, &measures);
            }
            None if integrator == Integrator::ImplicitMidpoint => {
                let elements = &dynamics.elements;
                let difference =
                    elements.second_difference(&state.kinematic_state(), &measures, 0.5 * duration);
                Stage::implicit_midpoint(state, &measures, &difference, duration, buffers)
            }
            None if integrator == Integrator::ImexMidpoint => {
                Stage::to_middle(state, measures, duration, buffers)
            }
            None => Stage::implicit_euler(state, measures, duration, buffers),
        };
        let equations = if integrator.is_semi_implicit() {
            StageEquations::SemiImplicit(self.semi_implicit_forces(previous))
        } else {
            StageEquations::Implicit
        };
        self.solve_stage(StageProblem { stage, equations }, interval)
    }

    /// Explicit forces of a semi-implicit scheme, in N: those of the present state, or extrapolated from a previous one.
    fn semi_implicit_forces(&mut self, previous: Option<&PreviousState>) -> Vec<Vec3> {
        let (dynamics, duration) = (&mut self.system.dynamics, self.interval.duration);
        self.solver.update_constant_stiffness(dynamics, duration);
        let matrix = &self.solver.constant_stiffness.matrix;
        let state = self.start.kinematic_state();
        let mut forces = semi_implicit::explicit_forces(dynamics, matrix, &state, 0.0);
        if let Some(previous) = previous {
            let present_variables = dynamics.elements.internal_variables(&dynamics.mesh);
            let has_changed = present_variables != previous.internal_variables;
            if has_changed {
                dynamics
                    .elements
                    .set_internal_variables(&dynamics.mesh, &previous.internal_variables);
            }
            let previous_state = semi_implicit::previous_kinematic_state(previous);
            let before = semi_implicit::explicit_forces(dynamics, matrix, &previous_state, 0.0);
            if has_changed {
                dynamics.elements.set_internal_variables(&dynamics.mesh, &present_variables);
            }
            semi_implicit::extrapolate_forces(&mut forces, &before, duration / previous.step_size);
        }
        forces
    }

    /// Solves a step of SDIRK2, the second-order start, in two stages.
    fn solve_sdirk2_step(&mut self, first_stage: Stage, measures: &Measures) -> TrialStep {
        let interval = self.interval;
        let problem = StageProblem { stage: first_stage, equations: StageEquations::Implicit };
        let mut first = self.solve_stage(problem, interval.first_fraction(SDIRK2_GAMMA));
        let is_rejected = interval.rejects_unconverged(&first.outcome);
        if first.first_nonfinite_vertex().is_some() || is_rejected {
            return first;
        }
        let dynamics = &self.system.dynamics;
        let first_measures = dynamics.elements.measure(&first.positions);
        let buffers = self.solver.stage_buffers();
        // The second stage alters positions by all that the step recovers.
        let buffer = self.solver.buffers.take();
        let mut first_positions = filled(buffer, first.positions.iter().copied());
        for (vertex, alteration) in &first.alterations {
            first_positions[*vertex] -= alteration;
        }
        let stage = Stage::sdirk2_second(
            self.start,
            |weight| dynamics.elements.extrapolate_measures(measures, first_measures, weight),
            StageEnd { positions: &first_positions, velocities: &first.velocities },
            interval.duration,
            buffers,
        );
        let history = self.system.response.contact_history.clone();
        self.system.response.contact_history = first.contact_history.clone();
        first.discard(&self.solver.buffers);
        self.solver.buffers.give(first_positions);
        let problem = StageProblem { stage, equations: StageEquations::Implicit };
        let mut second = self.solve_stage(problem, interval);
        self.system.response.contact_history = history;
        second.include_stage(&first);
        second
    }
}
