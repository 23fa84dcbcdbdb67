// SPDX-License-Identifier: MIT OR Apache-2.0
//! Report of an advance or a step: counts, residual, times.

use std::time::{Duration, Instant};

/// Timed task of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Broad phase: refit of bounding volume hierarchies and search for candidate pairs.
    BroadPhase,
    /// Narrow phase: contact detection, CCD, friction, truncation.
    Contact,
    /// Forces and energies.
    Forces,
    /// Assembly of the tangent matrix.
    Assembly,
    /// Construction of the preconditioner.
    Preconditioner,
    /// Conjugate gradients.
    LinearSolve,
}

impl Task {
    /// All tasks with their names in a report.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::BroadPhase, "broad_phase"),
        (Self::Contact, "contact"),
        (Self::Forces, "forces"),
        (Self::Assembly, "assembly"),
        (Self::Preconditioner, "preconditioner"),
        (Self::LinearSolve, "linear_solve"),
    ];
}

/// Criterion that a step violated, so that it was rejected and retried with a shorter length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectionReason {
    /// Newton steps are short enough, but the net residual force on a cloth in contact is above its threshold.
    ForceBalance,
    /// Updates of the fixed-point iteration are short enough, but the residual forces bound the error by more than the
    /// threshold.
    ForceResidual,
    /// An explicit scheme stretched a triangle by more than ten times its length at rest.
    Instability,
    /// Conjugate gradients found no descent direction, or the linear equations overflow single precision.
    LinearSolve,
    /// The last Newton step, or update of the fixed-point iteration, is longer than the threshold at the iteration
    /// limit.
    NewtonStep,
    /// A potential, position or velocity is not a finite number.
    NotFinite,
    /// The fixed-point iteration ended with displacements that are not certified free of intersections.
    Penetration,
    /// Newton steps in contact are longer than the threshold and have not become shorter for several iterations.
    Stagnation,
    /// A linearised step changes the stretch of a triangle drastically.
    StretchChange,
    /// Displacements had to be truncated so that nothing intersects, and that raised the energy.
    TruncatedDisplacement,
}

impl RejectionReason {
    /// All reasons with their names in a report, in alphabetical order, which is that of the variants.
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::ForceBalance, "force_balance"),
        (Self::ForceResidual, "force_residual"),
        (Self::Instability, "instability"),
        (Self::LinearSolve, "linear_solve"),
        (Self::NewtonStep, "newton_step"),
        (Self::NotFinite, "not_finite"),
        (Self::Penetration, "penetration"),
        (Self::Stagnation, "stagnation"),
        (Self::StretchChange, "stretch_change"),
        (Self::TruncatedDisplacement, "truncated_displacement"),
    ];

    /// Whether the equations of the step are not solved; truncated displacements are a consequence of a solution.
    pub(crate) fn is_convergence_failure(self) -> bool {
        self != Self::TruncatedDisplacement
    }
}

/// Vertex of a cloth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClothVertex {
    /// Index of the cloth.
    pub cloth: usize,
    /// Index of the vertex in the cloth.
    pub vertex: usize,
}

/// Report of an advance or a step. Cloths that do not touch are islands, which are advanced independently: counts are
/// summed over them.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Accepted steps.
    pub steps: usize,
    /// Rejected steps, each retried with half its length.
    pub rejected_steps: usize,
    /// Newton iterations of all steps, or updates of the fixed-point iteration.
    pub newton_iterations: usize,
    /// Conjugate gradient iterations of all steps.
    pub linear_iterations: usize,
    /// Pairs under contact pressure at the end: a vertex and a triangle, or two edges.
    pub contacts: usize,
    /// Intersections, summed over all steps: edge-triangle intersections at the start of a step, and pairs whose
    /// penetration the step could not prevent.
    pub unresolved_contacts: usize,
    /// Vertices between colliders that left them no room, and that held them at the end.
    pub pinched_vertices: Vec<ClothVertex>,
    /// Largest residual of an accepted step, see `Settings::tolerance`.
    pub residual: f64,
    /// Whether every step satisfied the convergence criteria of `Settings::tolerance`, and none froze a vertex to
    /// prevent a penetration. For changing contacts the criteria allow eight times the tolerance; four
    /// times for linear equations.
    pub converged: bool,
    /// Largest principal stretch of a triangle at the end, minus 1, relative to its scaled lengths at rest.
    pub max_stretch: f64,
    /// Total time, in s.
    pub total_seconds: f64,
    seconds: [f64; Task::ALL.len()],
    /// Rejected steps by reason, in the order of `RejectionReason::ALL`.
    rejections: [usize; RejectionReason::ALL.len()],
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
            pinched_vertices: Vec::new(),
            residual: 0.0,
            converged: true,
            max_stretch: 0.0,
            total_seconds: 0.0,
            seconds: [0.0; Task::ALL.len()],
            rejections: [0; RejectionReason::ALL.len()],
        }
    }
}

impl Report {
    /// Runs a task and adds its time.
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

    /// Report of two islands: counts and times are summed.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.steps += other.steps;
        self.rejected_steps += other.rejected_steps;
        self.newton_iterations += other.newton_iterations;
        self.linear_iterations += other.linear_iterations;
        self.contacts += other.contacts;
        self.unresolved_contacts += other.unresolved_contacts;
        self.pinched_vertices.extend(&other.pinched_vertices);
        self.residual = self.residual.max(other.residual);
        self.converged &= other.converged;
        self.max_stretch = self.max_stretch.max(other.max_stretch);
        self.seconds = std::array::from_fn(|task| self.seconds[task] + other.seconds[task]);
        self.rejections = std::array::from_fn(|one| self.rejections[one] + other.rejections[one]);
        self
    }

    /// Counts a rejected step.
    pub(crate) fn reject(&mut self, reason: RejectionReason) {
        self.rejected_steps += 1;
        self.rejections[reason as usize] += 1;
    }

    /// Rejected steps by reason, with the names of the reasons that occurred, in alphabetical order. Their sum is
    /// `rejected_steps`.
    pub fn rejections(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let named = RejectionReason::ALL.iter().zip(&self.rejections);
        named.filter(|(_, count)| **count > 0).map(|((_, name), count)| (*name, *count))
    }

    /// Time by task in s, with the names of the tasks.
    pub fn seconds(&self) -> impl Iterator<Item = (&'static str, f64)> {
        Task::ALL.iter().zip(&self.seconds).map(|((_, name), seconds)| (*name, *seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_listed_in_the_order_of_their_variants_and_names() {
        assert!(RejectionReason::ALL.is_sorted_by_key(|(_, name)| name));
        for (index, (reason, _)) in RejectionReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
        }
    }

    #[test]
    fn rejected_steps_are_counted_by_reason() {
        let mut report = Report::default();
        assert_eq!(report.rejections().count(), 0);
        for reason in [RejectionReason::Stagnation, RejectionReason::ForceBalance] {
            report.reject(reason);
            report.reject(RejectionReason::Stagnation);
            assert!(report.rejections().any(|(_, count)| count > 0), "{reason:?}");
        }
        assert_eq!(
            report.rejections().collect::<Vec<_>>(),
            [("force_balance", 1), ("stagnation", 3)]
        );
        assert_eq!(report.rejected_steps, 4);
    }
}
