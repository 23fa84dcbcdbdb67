// SPDX-License-Identifier: MIT OR Apache-2.0
//! Trial step: the solution of a step before it is accepted.

use crate::{
    collision::ContactHistory,
    newton::SolveOutcome,
    parallel::BufferPool,
    scene::{RejectionReason, Report},
    time_integration::{ClothInternalVariables, HistoryReset, KinematicState},
    vec3::Vec3,
};
use std::collections::BTreeMap;

/// Solution of a step that has not been accepted yet.
pub(crate) struct TrialStep {
    /// Positions of all vertices at the end, in m.
    pub(crate) positions: Vec<Vec3>,
    /// Velocities of all vertices at the end, in m/s.
    pub(crate) velocities: Vec<Vec3>,
    /// Position alterations of vertices within these positions, in m.
    pub(crate) alterations: BTreeMap<usize, Vec3>,
    pub(crate) history_resets: Vec<HistoryReset>,
    pub(crate) contact_history: ContactHistory,
    /// Number of substeps of an explicit scheme; 1 for implicit ones.
    pub(crate) substeps: usize,
    /// Internal variables before the last substep, if there are several.
    pub(crate) internal_variables: Option<Vec<ClothInternalVariables>>,
    /// Outcome of the solve: the worst of all stages.
    pub(crate) outcome: SolveOutcome,
    /// Number of vertices whose displacements were truncated to prevent a penetration.
    pub(crate) truncated_vertices: usize,
    /// Number of vertices that were frozen to prevent a penetration.
    pub(crate) frozen_vertices: usize,
    /// Number of intersections and unprevented penetrations.
    pub(crate) unresolved_contacts: usize,
    /// First vertex with forces that are not finite at the initial guess, or on which an explicit scheme diverged.
    pub(crate) invalid_vertex: Option<usize>,
}

impl TrialStep {
    /// First vertex without a meaningful result.
    pub(crate) fn first_invalid_vertex(&self) -> Option<usize> {
        self.invalid_vertex.or_else(|| self.first_nonfinite_vertex())
    }

    /// Trial step that ends in a state as it is, before it has been solved any further.
    pub(crate) fn at(
        KinematicState { positions, velocities }: KinematicState,
        outcome: SolveOutcome,
        contact_history: ContactHistory,
        unresolved_contacts: usize,
    ) -> Self {
        Self {
            positions,
            velocities,
            alterations: BTreeMap::new(),
            history_resets: Vec::new(),
            contact_history,
            substeps: 1,
            internal_variables: None,
            outcome,
            truncated_vertices: 0,
            frozen_vertices: 0,
            unresolved_contacts,
            invalid_vertex: None,
        }
    }

    /// Returns the storage of a rejected or intermediate step to a pool of buffers.
    pub(crate) fn discard(&mut self, buffers: &BufferPool<Vec<Vec3>>) {
        buffers.give(std::mem::take(&mut self.positions));
        buffers.give(std::mem::take(&mut self.velocities));
    }

    /// The trial step with the result of `acceptance`, for a step that is accepted all the same.
    pub(crate) fn judged(mut self, acceptance: Result<(), RejectionReason>) -> Self {
        self.outcome.unmet = acceptance.err().filter(|reason| reason.is_convergence_failure());
        self
    }

    /// First vertex whose position or velocity is not finite.
    pub(crate) fn first_nonfinite_vertex(&self) -> Option<usize> {
        let mut pairs = self.positions.iter().zip(&self.velocities);
        pairs.position(|(x, v)| !(is_finite(x) && is_finite(v)))
    }

    /// Includes the outcome of an earlier stage of the step.
    pub(crate) fn include_stage(&mut self, earlier: &Self) {
        self.outcome.unmet = earlier.outcome.unmet.or(self.outcome.unmet);
        self.truncated_vertices += earlier.truncated_vertices;
        self.frozen_vertices += earlier.frozen_vertices;
        self.invalid_vertex = earlier.invalid_vertex.or(self.invalid_vertex);
        self.outcome.step_length = self.outcome.step_length.max(earlier.outcome.step_length);
    }

    /// Adds the step to a report, with residuals relative to a length in m.
    pub(crate) fn add_to_report(&self, report: &mut Report, tolerance_length: f64) {
        report.steps += self.substeps;
        report.converged &= self.outcome.converged() && self.frozen_vertices == 0;
        report.residual = report.residual.max(self.outcome.step_length / tolerance_length);
        report.contacts = self.contact_history.contact_count();
        report.unresolved_contacts += self.unresolved_contacts;
    }
}

/// Whether all components of a vector are finite.
pub(crate) fn is_finite(vector: &Vec3) -> bool {
    vector.iter().all(|value| value.is_finite())
}
