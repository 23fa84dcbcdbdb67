// SPDX-License-Identifier: MIT OR Apache-2.0
//! One time step: predict, solve the stages of the scheme, and hand on positions and velocities.

use super::{
    Report, Simulation, State,
    guides::Guidance,
    newton::{Accuracy, Problem, Solved},
    report::Task,
    scheme::{Measures, START_GAMMA, Stage},
    state::{Past, Restart},
};
use crate::{
    Vec3,
    collision::{Memory, Retreated},
    settings::Integrator,
};
use nalgebra::Matrix3;
use std::collections::BTreeMap;

/// The part of a frame that a step covers, from 0 to 1, and its length in s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) duration: f64,
}

impl Span {
    /// A part of the span from its start.
    fn first_part(&self, part: f64) -> Self {
        Self {
            start: self.start,
            end: self.start + (self.end - self.start) * part,
            duration: self.duration * part,
        }
    }
}

/// A step that has been solved but not yet taken.
pub(super) struct Candidate {
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    restarts: Vec<Restart>,
    memory: Memory,
    /// How the equations were solved: the worst of all stages.
    pub(super) solved: Solved,
    unresolved: usize,
}

impl Candidate {
    /// The first vertex whose position or velocity is not finite.
    pub(super) fn not_finite(&self) -> Option<usize> {
        let is_finite = |vector: &Vec3| vector.iter().all(|value| value.is_finite());
        let pairs = self.positions.iter().zip(&self.velocities);
        pairs
            .enumerate()
            .find(|(_, (x, v))| !(is_finite(x) && is_finite(v)))
            .map(|(index, _)| index)
    }
}

/// What touches is solved to the tolerance of its thickness, but not finer than of this part of an edge.
const FINEST: f64 = 0.02;
/// Beyond this ratio of one step to the last BDF(2) is not stable (it is below 1 + √2); it starts anew.
const LARGEST_RATIO: f64 = 2.4;

impl Simulation {
    /// Solves a step without taking it.
    pub(super) fn solve_step(&mut self, span: Span, report: &mut Report) -> Candidate {
        let now = self.measure(&self.state.positions);
        let past = self.state.past.clone();
        let usable = past.as_ref().filter(|past| span.duration <= LARGEST_RATIO * past.step);
        match (self.settings.integrator, usable) {
            (Integrator::ImplicitEuler, _) => {
                let stage = Stage::implicit_euler(&self.state, now, span.duration);
                self.solve_stage(stage, span, report)
            }
            (Integrator::Bdf2, Some(past)) => {
                let before = self.measure(&past.positions);
                let measures = |weight: f64| self.dynamics.extrapolate(&now, &before, weight);
                let stage = Stage::bdf2(&self.state, past, measures, span.duration);
                self.solve_stage(stage, span, report)
            }
            (Integrator::Bdf2, None) => self.solve_start(&now, span, report),
        }
    }

    /// The second-order start, in two stages.
    fn solve_start(&mut self, now: &Measures, span: Span, report: &mut Report) -> Candidate {
        let part = span.first_part(START_GAMMA);
        let stage = Stage::start_first(&self.state, now.clone(), span.duration);
        let first = self.solve_stage(stage, part, report);
        if first.not_finite().is_some() {
            return first;
        }
        let then = self.measure(&first.positions);
        let stage = Stage::start_second(
            &self.state,
            |weight| self.dynamics.extrapolate(now, &then, weight),
            (&first.positions, &first.velocities),
            span.duration,
        );
        let memory = self.response.memory().clone();
        self.response.set_memory(first.memory.clone());
        let mut second = self.solve_stage(stage, span, report);
        self.response.set_memory(memory);
        second.solved.converged &= first.solved.converged;
        second.solved.correction = second.solved.correction.max(first.solved.correction);
        second
    }

    fn measure(&self, positions: &[Vec3]) -> Measures {
        self.dynamics.measure(positions)
    }

    fn solve_stage(&mut self, stage: Stage, span: Span, report: &mut Report) -> Candidate {
        let state = &self.state;
        // At the start of all motion nothing moves yet, but what lies on something is pressed on it.
        let fall = if state.past.is_some() { Vec3::zeros() } else { self.dynamics.gravity };
        let mut positions: Vec<Vec3> = (0..state.positions.len())
            .map(|vertex| {
                let mean = state.velocities[vertex] + fall * (0.5 * span.duration);
                state.positions[vertex] + mean * span.duration
            })
            .collect();
        let expected = state.extrapolated_velocities(span.duration);
        self.dynamics.predict_air(&positions, &expected);
        let guidance: Vec<Guidance> =
            self.guides.guidance(&state.positions, span.end, span.duration).collect();
        let held = self.guides.held(positions.len());
        let response = &mut self.response;
        report.time(Task::BroadPhase, || {
            let ways = (state.positions.as_slice(), positions.as_slice());
            response.begin(ways, &held, ([span.start, span.end], span.duration));
        });
        let mut problem = Problem {
            dynamics: &mut self.dynamics,
            response,
            stage: &stage,
            state,
            guidance: &guidance,
        };
        let edge = self.edge_length;
        let accuracy = Accuracy {
            correction: self.settings.tolerance * edge,
            touching: self.settings.tolerance
                * edge.min(problem.response.thickness()).max(FINEST * edge),
            max_iterations: self.settings.max_iterations,
        };
        let mut solved = self.newton.solve(&mut problem, &mut positions, accuracy, report);
        let response = &mut self.response;
        let retreated = if solved.is_clear {
            Retreated::default()
        } else {
            report.time(Task::Contact, || response.retreat(&mut positions))
        };
        solved.converged &= !retreated.has_stopped;
        hand_on(self, &stage, positions, (solved, &retreated), &guidance)
    }

    /// Takes a step that has been solved.
    pub(super) fn take(&mut self, candidate: Candidate, span: Span, report: &mut Report) {
        let Candidate { positions, velocities, restarts, memory, solved, unresolved } = candidate;
        let time = self.state.time + span.duration;
        let before =
            std::mem::replace(&mut self.state, State { time, positions, velocities, past: None });
        self.state.past = Some(Past {
            step: span.duration,
            positions: before.positions,
            velocities: before.velocities,
            restarts,
        });
        self.dynamics.end_step(&self.state.positions, span.duration);
        report.steps += 1;
        report.converged &= solved.converged;
        report.residual = report.residual.max(solved.correction / self.edge_length);
        report.contacts = memory.contact_count();
        report.unresolved_contacts += unresolved;
        self.response.set_memory(memory);
    }
}

/// Velocities at the end of a stage: what the scheme says, but where impacts end them, vertices have been
/// stopped, or guides say otherwise.
fn hand_on(
    simulation: &Simulation,
    stage: &Stage,
    positions: Vec<Vec3>,
    (solved, retreated): (Solved, &Retreated),
    guidance: &[Guidance],
) -> Candidate {
    let (state, response) = (&simulation.state, &simulation.response);
    let mut velocities: Vec<Vec3> =
        positions.iter().enumerate().map(|(vertex, x)| stage.velocity(vertex, x)).collect();
    let inverse_mass = |vertex: usize| {
        if response.is_held(vertex) { 0.0 } else { 1.0 / simulation.dynamics.masses[vertex] }
    };
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
        jumps.insert(guide.vertex, guide.projector);
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
    Candidate { positions, velocities, restarts, memory, solved, unresolved }
}
