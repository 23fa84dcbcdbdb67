// SPDX-License-Identifier: MIT OR Apache-2.0
//! One time step: predict, solve the stages of the scheme, and hand on positions and velocities.

mod explicit_steps;

use super::{
    Simulation, predictor::Predictor, stage_solve::StageEquations, step_control::StepInterval,
    velocity_trust::VelocityTrust,
};
use crate::{
    Vec3,
    collision::{ContactHistory, Trajectories},
    geometry::OrthonormalBasis,
    newton::{SolveOutcome, reference::semi_implicit},
    response::{StepStart, TruncationResult},
    scene::{Integrator, RejectionReason, Report, Task},
    system::{EquationsOfMotion, PrescribedDisplacement},
    time_integration::{
        HistoryReset, Measures, PreviousState, SDIRK2_GAMMA, Stage, State, explicit, filled,
    },
};
use nalgebra::Matrix3;
use std::collections::BTreeMap;

/// What a direction adds to a projector along an axis is told from nothing by this part of it.
const MIN_COLUMN_LENGTH: f64 = 0.1;

/// A step that has been solved but not yet taken.
pub(crate) struct TrialStep {
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    history_resets: Vec<HistoryReset>,
    contact_history: ContactHistory,
    /// Steps that it is made of.
    substeps: usize,
    /// What materials remember before the last of them, where there are several.
    internal_variables: Option<Vec<Vec<f64>>>,
    /// How the equations were solved: the worst of all stages.
    pub(crate) outcome: SolveOutcome,
    /// Vertices that went only a part of their way, so that nothing crosses, and those of them that went nowhere.
    pub(crate) truncated_vertices: usize,
    pub(crate) frozen_vertices: usize,
    unresolved_contacts: usize,
    /// The first vertex on which forces are no numbers where the search began, or that a scheme has thrown away.
    invalid_vertex: Option<usize>,
}

impl TrialStep {
    /// The first vertex that leads to nothing that makes sense.
    pub(crate) fn first_invalid_vertex(&self) -> Option<usize> {
        self.invalid_vertex.or_else(|| self.first_nonfinite_vertex())
    }

    /// Where it leads, in m.
    pub(crate) fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// Kinetic energy of what it leads to, and that of height, in J.
    pub(crate) fn kinetic_and_gravity_energy(&self, dynamics: &EquationsOfMotion) -> [f64; 2] {
        dynamics.kinetic_and_gravity_energy(&self.positions, &self.velocities)
    }

    /// The energy of what it leads to, in J.
    pub(crate) fn energy(&self, dynamics: &EquationsOfMotion) -> f64 {
        dynamics.energy(&self.positions, &self.velocities).total()
    }

    /// The candidate with a violated criterion that counts as not solved, for a step that is taken all the same.
    pub(crate) fn judged(mut self, acceptance: Result<(), RejectionReason>) -> Self {
        self.outcome.unmet = acceptance.err().filter(|reason| reason.is_convergence_failure());
        self
    }

    /// The first vertex whose position or velocity is not finite.
    pub(crate) fn first_nonfinite_vertex(&self) -> Option<usize> {
        let mut pairs = self.positions.iter().zip(&self.velocities);
        pairs.position(|(x, v)| !(is_finite(x) && is_finite(v)))
    }
}

fn is_finite(vector: &Vec3) -> bool {
    vector.iter().all(|value| value.is_finite())
}

/// Beyond this ratio of one step to the last BDF(2) is not stable (it is below 1 + √2); it starts anew.
const MAX_BDF2_STEP_RATIO: f64 = 2.4;

impl Simulation {
    /// Solves a step without taking it.
    pub(crate) fn solve_step(&mut self, span: StepInterval, report: &mut Report) -> TrialStep {
        let candidate = self.solve_step_with(self.settings.integrator, span, report);
        self.or_implicit_euler_step(candidate, span, report)
    }

    /// The same with an integrator, whatever the settings say.
    pub(crate) fn solve_step_with(
        &mut self,
        integrator: Integrator,
        span: StepInterval,
        report: &mut Report,
    ) -> TrialStep {
        if let Some(scheme) = explicit::explicit_scheme(integrator) {
            return self.solve_explicit_step(scheme, span, report);
        }
        let now = self.dynamics.current_measures(&self.state.positions);
        let room = self.room();
        let past = self.state.previous.as_ref();
        let usable = past.filter(|past| span.duration <= MAX_BDF2_STEP_RATIO * past.step_size);
        let has_past = usable.is_some();
        let needs_past = matches!(integrator, Integrator::Bdf2 | Integrator::Sbdf2);
        let stage = match usable.filter(|_| needs_past) {
            Some(past) => {
                let before = self.dynamics.take_previous_measures(&past.positions);
                let measures =
                    |weight: f64| self.dynamics.extrapolate_measures(&now, before, weight);
                Stage::bdf2(&self.state, past, measures, span.duration, room)
            }
            None if integrator == Integrator::Bdf2 => {
                return self.solve_sdirk2_step((&now, room), span, report);
            }
            None if integrator == Integrator::ImplicitMidpoint => {
                let difference = self.measure_second_difference(&now, 0.5 * span.duration);
                Stage::implicit_midpoint(&self.state, &now, &difference, span.duration, room)
            }
            None => Stage::implicit_euler(&self.state, now, span.duration, room),
        };
        let work = match integrator {
            Integrator::ImexEuler => {
                StageEquations::SemiImplicit(self.semi_implicit_forces(false, span.duration))
            }
            Integrator::Sbdf2 => {
                StageEquations::SemiImplicit(self.semi_implicit_forces(has_past, span.duration))
            }
            _ => StageEquations::Implicit,
        };
        self.solve_stage((stage, work), span, report)
    }

    /// What a scheme with one solve takes from the present, or from the past as well.
    fn semi_implicit_forces(&mut self, has_past: bool, duration: f64) -> Vec<Vec3> {
        self.update_constant_stiffness(duration);
        let Self { dynamics, constant_stiffness: constant, state, .. } = self;
        let motion = state.kinematic_state();
        let mut forces = semi_implicit::explicit_forces(dynamics, &constant.1, &motion);
        if let Some(past) = state.previous.as_ref().filter(|_| has_past) {
            let motion = semi_implicit::previous_kinematic_state(past);
            let now = dynamics.internal_variables();
            if now != past.internal_variables {
                dynamics.set_internal_variables(&past.internal_variables);
            }
            let before = semi_implicit::explicit_forces(dynamics, &constant.1, &motion);
            if now != past.internal_variables {
                dynamics.set_internal_variables(&now);
            }
            semi_implicit::extrapolate_forces(&mut forces, &before, duration / past.step_size);
        }
        forces
    }

    /// What the elements remember at the start of a step, for schemes that take forces from there in the next.
    fn internal_variables_to_keep(&self) -> Vec<Vec<f64>> {
        if self.settings.integrator == Integrator::Sbdf2 {
            self.dynamics.internal_variables()
        } else {
            Vec::new()
        }
    }

    /// ε(x + v·time) − 2ε(x) + ε(x − v·time).
    fn measure_second_difference(&self, now: &Measures, time: f64) -> Measures {
        let motion = self.state.kinematic_state();
        let before = self.dynamics.measure_extrapolated(&motion, -time);
        let continued = self.dynamics.extrapolate_measures(now, before, 1.0);
        self.dynamics
            .measure_difference(&self.dynamics.measure_extrapolated(&motion, time), continued)
    }

    /// The second-order start, in two stages.
    fn solve_sdirk2_step(
        &mut self,
        (now, room): (&Measures, [Vec<Vec3>; 2]),
        span: StepInterval,
        report: &mut Report,
    ) -> TrialStep {
        let part = span.first_fraction(SDIRK2_GAMMA);
        let stage = Stage::sdirk2_first(&self.state, now.clone(), span.duration, room);
        let first = self.solve_stage((stage, StageEquations::Implicit), part, report);
        if first.first_nonfinite_vertex().is_some() || span.rejects_unconverged(&first.outcome) {
            return first;
        }
        let then = self.dynamics.measure(&first.positions);
        let room = self.room();
        let stage = Stage::sdirk2_second(
            &self.state,
            |weight| self.dynamics.extrapolate_measures(now, then, weight),
            (&first.positions, &first.velocities),
            span.duration,
            room,
        );
        let memory = self.response.contact_history().clone();
        self.response.set_contact_history(first.contact_history.clone());
        let (solved, shortened, stopped) =
            (first.outcome, first.truncated_vertices, first.frozen_vertices);
        let lost = first.invalid_vertex;
        self.discard_step(first);
        let mut second = self.solve_stage((stage, StageEquations::Implicit), span, report);
        self.response.set_contact_history(memory);
        second.outcome.unmet = solved.unmet.or(second.outcome.unmet);
        second.truncated_vertices += shortened;
        second.frozen_vertices += stopped;
        second.invalid_vertex = lost.or(second.invalid_vertex);
        second.outcome.step_length = second.outcome.step_length.max(solved.step_length);
        second
    }

    /// Solves a stage, starting from where the velocities lead.
    fn solve_stage(
        &mut self,
        (stage, work): (Stage, StageEquations),
        span: StepInterval,
        report: &mut Report,
    ) -> TrialStep {
        let room = self.buffers.take();
        let state = &self.state;
        let touched =
            state.previous.as_ref().filter(|_| self.response.contact_history().contact_count() > 0);
        let doubt = || VelocityTrust::new(self.settings.tolerance * self.tolerance_length);
        let beginning = Predictor {
            state,
            contact_trust: touched.map(|past| (past, doubt())),
            pinned: &self.boundary_conditions.pinned(state.positions.len()),
            gravity: self.dynamics.gravity,
            duration: span.duration,
        };
        let starts = self.dynamics.mesh.cloth_starts.clone();
        let cloths = || starts.windows(2).map(|ends| ends[0]..ends[1]);
        let mut positions = filled(room, cloths().flat_map(|cloth| beginning.extrapolated(cloth)));
        let expected = state.extrapolated_velocities(span.duration, self.buffers.take());
        self.dynamics.predict_stage_air(&stage, &positions, &expected);
        self.buffers.give(expected);
        for cloth in cloths() {
            beginning.damp_relative_motion(cloth, &mut positions);
        }
        self.solve_stage_from((stage, work), positions, span, report)
    }

    /// Solves a stage from the start `positions`, with contacts.
    fn solve_stage_from(
        &mut self,
        (mut stage, work): (Stage, StageEquations),
        mut positions: Vec<Vec3>,
        span: StepInterval,
        report: &mut Report,
    ) -> TrialStep {
        let state = &self.state;
        let guidance: Vec<PrescribedDisplacement> = self
            .boundary_conditions
            .prescribed_displacements(&state.positions, span.end_fraction, span.duration)
            .collect();
        for guide in &guidance {
            let position = &mut positions[guide.vertex];
            *position = guide.constrained_end(&state.positions[guide.vertex], position);
        }
        let held = self.boundary_conditions.pinned(positions.len());
        let middle = span.start_fraction
            + (span.end_fraction - span.start_fraction) / stage.extrapolation_factor;
        self.dynamics.spring_targets =
            self.boundary_conditions.spring_targets(positions.len(), middle);
        let response = &mut self.response;
        report.time(Task::BroadPhase, || {
            response.begin_step(&StepStart {
                start_positions: &state.positions,
                predicted_positions: &positions,
                is_pinned: &held,
                frame_fractions: [span.start_fraction, span.end_fraction],
                duration: span.duration,
            });
        });
        let solved = self.solve_stage_equations(
            (&mut stage, &work),
            &mut positions,
            (&guidance, span),
            report,
        );
        let response = &mut self.response;
        let retreated = if solved.is_collision_free || span.rejects_unconverged(&solved) {
            TruncationResult::default()
        } else {
            report.time(Task::Contact, || response.truncate_displacements(&mut positions))
        };
        let lost = if solved.step_length.is_finite() {
            None
        } else {
            self.first_vertex_with_nonfinite_force(&stage, &positions, report)
        };
        let mut candidate =
            assemble_trial_step(self, &mut stage, positions, (solved, &retreated), &guidance);
        candidate.invalid_vertex = lost;
        self.buffers.give(stage.base_positions);
        self.dynamics.reuse(stage.base_measures);
        candidate
    }

    /// The first vertex on which the forces of a stage are no numbers with all at `positions`.
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

    /// Room for x̂ and v̂ of a stage.
    fn room(&mut self) -> [Vec<Vec3>; 2] {
        [self.buffers.take(), self.buffers.take()]
    }

    /// Gives back what a step is made of that is not taken.
    pub(crate) fn discard_step(&mut self, candidate: TrialStep) {
        self.buffers.give(candidate.positions);
        self.buffers.give(candidate.velocities);
    }

    /// Takes a step that has been solved.
    pub(crate) fn accept_step(
        &mut self,
        candidate: TrialStep,
        span: StepInterval,
        report: &mut Report,
    ) {
        let TrialStep {
            positions,
            velocities,
            history_resets: restarts,
            contact_history: memory,
            substeps: steps,
            outcome: solved,
            frozen_vertices: stopped,
            ..
        } = candidate;
        let time = self.state.time + span.duration;
        let before = std::mem::replace(
            &mut self.state,
            State { time, positions, velocities, previous: None },
        );
        self.state.previous = Some(PreviousState {
            step_size: span.duration,
            positions: before.positions,
            velocities: before.velocities,
            history_resets: restarts,
            internal_variables: self.internal_variables_to_keep(),
        });
        if let Some(past) = before.previous {
            self.buffers.give(past.positions);
            self.buffers.give(past.velocities);
        }
        self.dynamics.shift_cached_measures();
        if let Some(memories) = &candidate.internal_variables {
            self.dynamics.set_internal_variables(memories);
        }
        self.dynamics
            .update_internal_variables(&self.state.positions, span.duration / steps as f64);
        report.steps += steps;
        report.converged &= solved.converged() && stopped == 0;
        report.residual = report.residual.max(solved.step_length / self.tolerance_length);
        report.contacts = memory.contact_count();
        report.unresolved_contacts += candidate.unresolved_contacts;
        self.response.set_contact_history(memory);
    }
}

/// Projector onto the directions that two projectors both leave free.
fn common_free_projector(projectors: [Matrix3<f64>; 2]) -> Matrix3<f64> {
    let taken = projectors.map(|free| Matrix3::identity() - free);
    let directions = taken.iter().flat_map(|taken| taken.column_iter());
    // Columns that are shorter have no direction that others of the same projector do not have.
    let units =
        directions.filter_map(|column| column.clone_owned().try_normalize(MIN_COLUMN_LENGTH));
    OrthonormalBasis::from_spanning_set(units).complement_projector()
}

/// Velocities at the end of a stage: what the scheme says, but where impacts end them, vertices have been
/// stopped, or guides say otherwise.
fn assemble_trial_step(
    simulation: &Simulation,
    stage: &mut Stage,
    positions: Vec<Vec3>,
    (solved, retreated): (SolveOutcome, &TruncationResult),
    guidance: &[PrescribedDisplacement],
) -> TrialStep {
    let (state, response) = (&simulation.state, &simulation.response);
    let mut velocities = stage.end_velocities(&positions);
    let inverse_mass = |vertex: usize| {
        if response.is_pinned(vertex) { 0.0 } else { 1.0 / simulation.dynamics.masses[vertex] }
    };
    if stage.extrapolation_factor > 1.0 {
        let cloths = Trajectories { starts: &state.positions, ends: &positions };
        response.apply_midpoint_velocities(cloths, stage.duration, &mut velocities, inverse_mass);
    }
    let impacts = response.apply_impact_impulses(&positions, &mut velocities, inverse_mass);
    let mut jumps: BTreeMap<usize, Matrix3<f64>> =
        impacts.into_iter().map(|jump| (jump.vertex, jump.continuity_projector)).collect();
    for vertex in &retreated.truncated_vertices {
        let vertex = *vertex as usize;
        velocities[vertex] = (positions[vertex] - state.positions[vertex]) / stage.duration;
        jumps.insert(vertex, Matrix3::zeros());
    }
    for guide in guidance {
        let velocity = &mut velocities[guide.vertex];
        *velocity = guide.free_projector * *velocity + guide.displacement / stage.duration;
        let own = guide.free_projector;
        jumps
            .entry(guide.vertex)
            .and_modify(|free| *free = common_free_projector([*free, own]))
            .or_insert(own);
    }
    let restart = |(vertex, free): (usize, Matrix3<f64>)| {
        let jumped = Matrix3::identity() - free;
        let steady = positions[vertex] - velocities[vertex] * stage.duration;
        HistoryReset {
            vertex: vertex as u32,
            position: free * state.positions[vertex] + jumped * steady,
            velocity: free * state.velocities[vertex] + jumped * velocities[vertex],
        }
    };
    let restarts = jumps.into_iter().map(restart).collect();
    let memory = response.new_contact_history(retreated.violating_pair_count);
    let unresolved = retreated.violating_pair_count + response.intersection_count();
    TrialStep {
        positions,
        velocities,
        history_resets: restarts,
        contact_history: memory,
        substeps: 1,
        internal_variables: None,
        outcome: solved,
        truncated_vertices: retreated.truncated_vertices.len(),
        frozen_vertices: retreated.frozen_vertex_count,
        unresolved_contacts: unresolved,
        invalid_vertex: None,
    }
}
