// SPDX-License-Identifier: MIT OR Apache-2.0
//! Acceptance of a solved step, and rejection with the criterion that it violates.
//!
//! A step is accepted if all of the following hold, in this order: its positions and velocities are finite numbers; the
//! equations of all its stages have converged (`newton`, `fixed_point`); a linearised step changes no stretch drastically
//! (`step_control`); truncated displacements have not raised the energy, or shorter steps do not help against that
//! (`Squeeze`); no energy comes from nothing (`gains`). A rejected step is retried with half its length.

use super::{
    RejectionReason, Report, Simulation, step::Candidate, step_control::Span, step_control::Squeeze,
};

/// Rise of the energy above which displacements that were truncated count as torn, as a fraction of the energy before
/// without that of gravity.
const TORN: f64 = 0.02;

impl Simulation {
    /// Whether a step may be taken, or the first criterion that it violates.
    pub(super) fn acceptance(
        &self,
        candidate: &Candidate,
        span: Span,
        squeeze: &mut Squeeze,
    ) -> Result<(), RejectionReason> {
        if candidate.not_finite().is_some() {
            return Err(RejectionReason::NotFinite);
        }
        candidate.solved.unmet.map_or(Ok(()), Err)?;
        if self.is_linearised() && !self.stretches_little(candidate) {
            return Err(RejectionReason::StretchChange);
        }
        if !squeeze.bears(self.torn(candidate)) {
            return Err(RejectionReason::TruncatedDisplacement);
        }
        if self.gains_energy(candidate, span) {
            return Err(RejectionReason::EnergyGain);
        }
        Ok(())
    }

    /// Gives up a step; the next one is half as long.
    pub(super) fn reject(
        &mut self,
        candidate: Candidate,
        reason: RejectionReason,
        span: Span,
        report: &mut Report,
    ) {
        self.preferred_step = 0.5 * span.duration;
        if reason.is_convergence_failure() {
            self.step_control.fail();
        }
        report.reject(reason);
        self.discard(candidate);
    }

    fn stretches_little(&self, candidate: &Candidate) -> bool {
        self.dynamics.stretches_little(&self.state.positions, candidate.positions())
    }

    /// Number of vertices with truncated displacements, if these raised the energy; otherwise 0.
    fn torn(&self, candidate: &Candidate) -> usize {
        if candidate.shortened == 0 || self.response.crossing_count() > 0 {
            return 0;
        }
        let before = self.dynamics.energy(&self.state.positions, &self.state.velocities);
        let grown = candidate.energy(&self.dynamics) - before.total();
        if grown > TORN * (before.total() - before.gravity) { candidate.shortened } else { 0 }
    }
}
