// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a simulation tells about what it did.

use std::time::{Duration, Instant};

/// Stages of the work, as they are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Refitting collider trees and looking for faces near vertices.
    BroadPhase,
    /// Contacts: impacts, planes, friction.
    Contact,
    /// Forces and energies.
    Forces,
    /// Building the matrix.
    Assembly,
    /// Building the preconditioner.
    Preconditioner,
    /// Conjugate gradients.
    LinearSolve,
}

impl Task {
    /// All tasks, with their names in a report.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::BroadPhase, "broad_phase"),
        (Self::Contact, "contact"),
        (Self::Forces, "forces"),
        (Self::Assembly, "assembly"),
        (Self::Preconditioner, "preconditioner"),
        (Self::LinearSolve, "linear_solve"),
    ];
}

/// Account of an advance or a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Steps taken.
    pub steps: usize,
    /// Steps given up and tried again with a shorter length.
    pub rejected_steps: usize,
    /// Newton corrections of all steps, or updates of the fixed-point solver.
    pub newton_iterations: usize,
    /// Conjugate gradient iterations of all steps.
    pub linear_iterations: usize,
    /// Pairs that press on each other at the end: a vertex and a triangle, or two edges.
    pub contacts: usize,
    /// Places where surfaces cross, added up over all steps: edges that go through triangles where a step begins, and pairs
    /// that it could not keep from crossing.
    pub unresolved_contacts: usize,
    /// The largest residual that any step was accepted with: see `Settings::tolerance`.
    pub residual: f64,
    /// Whether every step was solved as closely as `Settings::tolerance` says, and none had to stop a vertex for good so that
    /// it crosses nothing. Where much moves or contacts come and go, eight times the tolerance will do; four times where the
    /// equations are linear.
    pub converged: bool,
    /// The largest principal stretch of any triangle at the end, less 1, against its lengths at rest as they are scaled.
    pub max_stretch: f64,
    /// Time in all, in s.
    pub total_seconds: f64,
    seconds: [f64; Task::ALL.len()],
}

impl Default for Report {
    fn default() -> Self {
        Self {
            steps: 0,
            rejected_steps: 0,
            newton_iterations: 0,
            linear_iterations: 0,
            contacts: 0,
            unresolved_contacts: 0,
            residual: 0.0,
            converged: true,
            max_stretch: 0.0,
            total_seconds: 0.0,
            seconds: [0.0; Task::ALL.len()],
        }
    }
}

impl Report {
    /// Times a task.
    pub(crate) fn time<Value>(&mut self, task: Task, work: impl FnOnce() -> Value) -> Value {
        let start = Instant::now();
        let value = work();
        self.add(task, start.elapsed());
        value
    }

    fn add(&mut self, task: Task, elapsed: Duration) {
        if let Some(index) = Task::ALL.iter().position(|(known, _)| *known == task) {
            self.seconds[index] += elapsed.as_secs_f64();
        }
    }

    /// Time by task, in s, with the names of the tasks.
    pub fn seconds(&self) -> impl Iterator<Item = (&'static str, f64)> {
        Task::ALL.iter().zip(&self.seconds).map(|((_, name), seconds)| (*name, *seconds))
    }
}
