// SPDX-License-Identifier: MIT OR Apache-2.0
//! One time step: predict, solve the stages of the scheme, and hand on positions and velocities.

mod explicit_steps;

use super::{
    Simulation, predictor::Beginning, stage_solve::Work, step_control::Span, velocity_trust::Doubt,
};
use crate::{
    Vec3,
    collision::Memory,
    geometry::Basis,
    newton::{Solved, reference::semi_implicit},
    response::{Retreated, landing},
    scene::{Integrator, RejectionReason, Report, Task},
    system::{Dynamics, Guidance},
    time_integration::{Measures, Past, Restart, START_GAMMA, Stage, State, explicit, filled},
};
use nalgebra::Matrix3;
use std::collections::BTreeMap;

/// What a direction adds to a projector along an axis is told from nothing by this part of it.
const SHORT_COLUMN: f64 = 0.1;

/// A step that has been solved but not yet taken.
pub(crate) struct Candidate {
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    restarts: Vec<Restart>,
    memory: Memory,
    /// Steps that it is made of.
    steps: usize,
    /// What materials remember before the last of them, where there are several.
    memories: Option<Vec<Vec<f64>>>,
    /// How the equations were solved: the worst of all stages.
    pub(crate) solved: Solved,
    /// Vertices that went only a part of their way, so that nothing crosses, and those of them that went nowhere.
    pub(crate) shortened: usize,
    pub(crate) stopped: usize,
    unresolved: usize,
    /// The first vertex on which forces are no numbers where the search began, or that a scheme has thrown away.
    lost: Option<usize>,
}

impl Candidate {
    /// The first vertex that leads to nothing that makes sense.
    pub(crate) fn lost(&self) -> Option<usize> {
        self.lost.or_else(|| self.not_finite())
    }

    /// Where it leads, in m.
    pub(crate) fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// Kinetic energy of what it leads to, and that of height, in J.
    pub(crate) fn energy_of_motion(&self, dynamics: &Dynamics) -> [f64; 2] {
        dynamics.energy_of_motion(&self.positions, &self.velocities)
    }

    /// The energy of what it leads to, in J.
    pub(crate) fn energy(&self, dynamics: &Dynamics) -> f64 {
        dynamics.energy(&self.positions, &self.velocities).total()
    }

    /// The candidate with a violated criterion that counts as not solved, for a step that is taken all the same.
    pub(crate) fn judged(mut self, acceptance: Result<(), RejectionReason>) -> Self {
        self.solved.unmet = acceptance.err().filter(|reason| reason.is_convergence_failure());
        self
    }

    /// The first vertex whose position or velocity is not finite.
    pub(crate) fn not_finite(&self) -> Option<usize> {
        let mut pairs = self.positions.iter().zip(&self.velocities);
        pairs.position(|(x, v)| !(is_finite(x) && is_finite(v)))
    }
}

fn is_finite(vector: &Vec3) -> bool {
    vector.iter().all(|value| value.is_finite())
}

/// Beyond this ratio of one step to the last BDF(2) is not stable (it is below 1 + √2); it starts anew.
const LARGEST_RATIO: f64 = 2.4;

impl Simulation {
    /// Solves a step without taking it.
    pub(crate) fn solve_step(&mut self, span: Span, report: &mut Report) -> Candidate {
        let candidate = self.solve_by(self.settings.integrator, span, report);
        self.damped(candidate, span, report)
    }

    /// The same with an integrator, whatever the settings say.
    pub(crate) fn solve_by(
        &mut self,
        integrator: Integrator,
        span: Span,
        report: &mut Report,
    ) -> Candidate {
        if let Some(scheme) = explicit::scheme(integrator) {
            return self.solve_explicit(scheme, span, report);
        }
        let now = self.dynamics.measure_now(&self.state.positions);
        let room = self.room();
        let past = self.state.past.as_ref();
        let usable = past.filter(|past| span.duration <= LARGEST_RATIO * past.step);
        let has_past = usable.is_some();
        let needs_past = matches!(integrator, Integrator::Bdf2 | Integrator::Sbdf2);
        let stage = match usable.filter(|_| needs_past) {
            Some(past) => {
                let before = self.dynamics.measure_past(&past.positions);
                let measures = |weight: f64| self.dynamics.extrapolate(&now, before, weight);
                Stage::bdf2(&self.state, past, measures, span.duration, room)
            }
            None if integrator == Integrator::Bdf2 => {
                return self.solve_start((&now, room), span, report);
            }
            None if integrator == Integrator::ImplicitMidpoint => {
                let difference = self.second_difference(&now, 0.5 * span.duration);
                Stage::implicit_midpoint(&self.state, &now, &difference, span.duration, room)
            }
            None => Stage::implicit_euler(&self.state, now, span.duration, room),
        };
        let work = match integrator {
            Integrator::ImexEuler => Work::Once(self.explicit_forces(false, span.duration)),
            Integrator::Sbdf2 => Work::Once(self.explicit_forces(has_past, span.duration)),
            _ => Work::Implicit,
        };
        self.solve_stage((stage, work), span, report)
    }

    /// What a scheme with one solve takes from the present, or from the past as well.
    fn explicit_forces(&mut self, has_past: bool, duration: f64) -> Vec<Vec3> {
        self.update_constant_matrix(duration);
        let Self { dynamics, constant, state, .. } = self;
        let motion = state.motion();
        let mut forces = semi_implicit::explicit_forces(dynamics, &constant.1, &motion);
        if let Some(past) = state.past.as_ref().filter(|_| has_past) {
            let motion = semi_implicit::motion_before(past);
            let now = dynamics.memories();
            if now != past.memories {
                dynamics.set_memories(&past.memories);
            }
            let before = semi_implicit::explicit_forces(dynamics, &constant.1, &motion);
            if now != past.memories {
                dynamics.set_memories(&now);
            }
            semi_implicit::extrapolated(&mut forces, &before, duration / past.step);
        }
        forces
    }

    /// What the elements remember at the start of a step, for schemes that take forces from there in the next.
    fn memories_to_keep(&self) -> Vec<Vec<f64>> {
        if self.settings.integrator == Integrator::Sbdf2 {
            self.dynamics.memories()
        } else {
            Vec::new()
        }
    }

    /// ε(x + v·time) − 2ε(x) + ε(x − v·time).
    fn second_difference(&self, now: &Measures, time: f64) -> Measures {
        let motion = self.state.motion();
        let before = self.dynamics.measure_along(&motion, -time);
        let continued = self.dynamics.extrapolate(now, before, 1.0);
        self.dynamics.difference(&self.dynamics.measure_along(&motion, time), continued)
    }

    /// The second-order start, in two stages.
    fn solve_start(
        &mut self,
        (now, room): (&Measures, [Vec<Vec3>; 2]),
        span: Span,
        report: &mut Report,
    ) -> Candidate {
        let part = span.first_part(START_GAMMA);
        let stage = Stage::start_first(&self.state, now.clone(), span.duration, room);
        let first = self.solve_stage((stage, Work::Implicit), part, report);
        if first.not_finite().is_some() || span.gives_up(&first.solved) {
            return first;
        }
        let then = self.dynamics.measure(&first.positions);
        let room = self.room();
        let stage = Stage::start_second(
            &self.state,
            |weight| self.dynamics.extrapolate(now, then, weight),
            (&first.positions, &first.velocities),
            span.duration,
            room,
        );
        let memory = self.response.memory().clone();
        self.response.set_memory(first.memory.clone());
        let (solved, shortened, stopped) = (first.solved, first.shortened, first.stopped);
        let lost = first.lost;
        self.discard(first);
        let mut second = self.solve_stage((stage, Work::Implicit), span, report);
        self.response.set_memory(memory);
        second.solved.unmet = solved.unmet.or(second.solved.unmet);
        second.shortened += shortened;
        second.stopped += stopped;
        second.lost = lost.or(second.lost);
        second.solved.correction = second.solved.correction.max(solved.correction);
        second
    }

    /// Solves a stage, starting from where the velocities lead.
    fn solve_stage(
        &mut self,
        (stage, work): (Stage, Work),
        span: Span,
        report: &mut Report,
    ) -> Candidate {
        let room = self.buffers.take();
        let state = &self.state;
        let touched = state.past.as_ref().filter(|_| self.response.memory().contact_count() > 0);
        let doubt = || Doubt::new(self.settings.tolerance * self.length_of_tolerance);
        let beginning = Beginning {
            state,
            doubted: touched.map(|past| (past, doubt())),
            held: &self.guides.held(state.positions.len()),
            gravity: self.dynamics.gravity,
            duration: span.duration,
        };
        let starts = self.dynamics.mesh.cloth_starts.clone();
        let cloths = || starts.windows(2).map(|ends| ends[0]..ends[1]);
        let mut positions = filled(room, cloths().flat_map(|cloth| beginning.led(cloth)));
        let expected = state.extrapolated_velocities(span.duration, self.buffers.take());
        self.dynamics.predict_air_in(&stage, &positions, &expected);
        self.buffers.give(expected);
        for cloth in cloths() {
            beginning.draw_together(cloth, &mut positions);
        }
        self.finish_stage((stage, work), positions, span, report)
    }

    /// Solves a stage from the start `positions`, with contacts.
    fn finish_stage(
        &mut self,
        (mut stage, work): (Stage, Work),
        mut positions: Vec<Vec3>,
        span: Span,
        report: &mut Report,
    ) -> Candidate {
        let state = &self.state;
        let guidance: Vec<Guidance> =
            self.guides.guidance(&state.positions, span.end, span.duration).collect();
        for guide in &guidance {
            let position = &mut positions[guide.vertex];
            *position = guide.led(&state.positions[guide.vertex], position);
        }
        let held = self.guides.held(positions.len());
        let middle = span.start + (span.end - span.start) / stage.reach;
        self.dynamics.goals = self.guides.goals(positions.len(), middle);
        let response = &mut self.response;
        report.time(Task::BroadPhase, || {
            let ways = (state.positions.as_slice(), positions.as_slice());
            response.begin(ways, &held, ([span.start, span.end], span.duration));
        });
        let solved =
            self.solve_equations((&mut stage, &work), &mut positions, (&guidance, span), report);
        let response = &mut self.response;
        let retreated = if solved.is_clear || span.gives_up(&solved) {
            Retreated::default()
        } else {
            report.time(Task::Contact, || response.retreat(&mut positions))
        };
        let lost = if solved.correction.is_finite() {
            None
        } else {
            self.without_force(&stage, &positions, report)
        };
        let mut candidate = hand_on(self, &mut stage, positions, (solved, &retreated), &guidance);
        candidate.lost = lost;
        self.buffers.give(stage.positions);
        self.dynamics.reuse(stage.measures);
        candidate
    }

    /// The first vertex on which the forces of a stage are no numbers with all at `positions`.
    fn without_force(
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
    pub(crate) fn discard(&mut self, candidate: Candidate) {
        self.buffers.give(candidate.positions);
        self.buffers.give(candidate.velocities);
    }

    /// Takes a step that has been solved.
    pub(crate) fn take(&mut self, candidate: Candidate, span: Span, report: &mut Report) {
        let Candidate { positions, velocities, restarts, memory, steps, solved, stopped, .. } =
            candidate;
        let time = self.state.time + span.duration;
        let before =
            std::mem::replace(&mut self.state, State { time, positions, velocities, past: None });
        self.state.past = Some(Past {
            step: span.duration,
            positions: before.positions,
            velocities: before.velocities,
            restarts,
            memories: self.memories_to_keep(),
        });
        if let Some(past) = before.past {
            self.buffers.give(past.positions);
            self.buffers.give(past.velocities);
        }
        self.dynamics.take_step();
        if let Some(memories) = &candidate.memories {
            self.dynamics.set_memories(memories);
        }
        self.dynamics.end_step(&self.state.positions, span.duration / steps as f64);
        report.steps += steps;
        report.converged &= solved.converged() && stopped == 0;
        report.residual = report.residual.max(solved.correction / self.length_of_tolerance);
        report.contacts = memory.contact_count();
        report.unresolved_contacts += candidate.unresolved;
        self.response.set_memory(memory);
    }
}

/// Projector onto the directions that two projectors both leave free.
fn both_free(projectors: [Matrix3<f64>; 2]) -> Matrix3<f64> {
    let taken = projectors.map(|free| Matrix3::identity() - free);
    let directions = taken.iter().flat_map(|taken| taken.column_iter());
    // Columns that are shorter have no direction that others of the same projector do not have.
    let units = directions.filter_map(|column| column.clone_owned().try_normalize(SHORT_COLUMN));
    Basis::of(units).projector()
}

/// Velocities at the end of a stage: what the scheme says, but where impacts end them, vertices have been
/// stopped, or guides say otherwise.
fn hand_on(
    simulation: &Simulation,
    stage: &mut Stage,
    positions: Vec<Vec3>,
    (solved, retreated): (Solved, &Retreated),
    guidance: &[Guidance],
) -> Candidate {
    let (state, response) = (&simulation.state, &simulation.response);
    let mut velocities = stage.end_velocities(&positions);
    let inverse_mass = |vertex: usize| {
        if response.is_held(vertex) { 0.0 } else { 1.0 / simulation.dynamics.masses[vertex] }
    };
    if stage.reach > 1.0 {
        let ways = (state.positions.as_slice(), positions.as_slice());
        landing::follow(response, ways, stage.duration, &mut velocities, inverse_mass);
    }
    let impacts = response.end_impacts(&positions, &mut velocities, inverse_mass);
    let mut jumps: BTreeMap<usize, Matrix3<f64>> =
        impacts.into_iter().map(|jump| (jump.vertex, jump.free)).collect();
    for vertex in &retreated.vertices {
        let vertex = *vertex as usize;
        velocities[vertex] = (positions[vertex] - state.positions[vertex]) / stage.duration;
        jumps.insert(vertex, Matrix3::zeros());
    }
    for guide in guidance {
        let velocity = &mut velocities[guide.vertex];
        *velocity = guide.projector * *velocity + guide.displacement / stage.duration;
        let own = guide.projector;
        jumps.entry(guide.vertex).and_modify(|free| *free = both_free([*free, own])).or_insert(own);
    }
    let restart = |(vertex, free): (usize, Matrix3<f64>)| {
        let jumped = Matrix3::identity() - free;
        let steady = positions[vertex] - velocities[vertex] * stage.duration;
        Restart {
            vertex: vertex as u32,
            position: free * state.positions[vertex] + jumped * steady,
            velocity: free * state.velocities[vertex] + jumped * velocities[vertex],
        }
    };
    let restarts = jumps.into_iter().map(restart).collect();
    let memory = response.recall(retreated.crossing);
    let unresolved = retreated.crossing + response.crossing_count();
    Candidate {
        positions,
        velocities,
        restarts,
        memory,
        steps: 1,
        memories: None,
        solved,
        shortened: retreated.vertices.len(),
        stopped: retreated.stopped,
        unresolved,
        lost: None,
    }
}
