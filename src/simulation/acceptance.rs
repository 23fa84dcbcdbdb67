// SPDX-License-Identifier: MIT OR Apache-2.0
//! Acceptance of a trial step, or its rejection with the criterion that it violates.
//!
//! A step is accepted if all of the following hold, in this order: its positions and velocities are finite; the
//! equations of all its stages have converged (`newton`, `fixed_point`); a linearised step changes no stretch
//! drastically (`step_control`); truncated displacements have not raised the energy, or shorter steps do not help
//! against that (`TruncationTolerance`). A rejected step is retried with half its length.

use super::{
    Simulation,
    energy_guard::EnergyGuardParameters,
    step::TrialStep,
    step_control::{StepInterval, TruncationTolerance},
};
use crate::scene::{RejectionReason, Report};

impl Simulation {
    /// Whether a trial step is accepted; otherwise the first criterion that it violates.
    pub(crate) fn acceptance(
        &self,
        trial: &TrialStep,
        truncation: &mut TruncationTolerance,
    ) -> Result<(), RejectionReason> {
        if trial.first_nonfinite_vertex().is_some() {
            return Err(RejectionReason::NotFinite);
        }
        trial.outcome.unmet.map_or(Ok(()), Err)?;
        if self.is_linearised() && !self.has_small_stretch_change(trial) {
            return Err(RejectionReason::StretchChange);
        }
        if !truncation.tolerates(self.harmful_truncations(trial)) {
            return Err(RejectionReason::TruncatedDisplacement);
        }
        Ok(())
    }

    /// Rejects a trial step. The next one is half as long.
    pub(crate) fn reject_step(
        &mut self,
        trial: TrialStep,
        reason: RejectionReason,
        interval: StepInterval,
        report: &mut Report,
    ) {
        self.preferred_step_size = 0.5 * interval.duration;
        if reason.is_convergence_failure() {
            self.step_control.record_rejection();
        }
        report.reject(reason);
        self.discard_step(trial);
    }

    fn has_small_stretch_change(&self, trial: &TrialStep) -> bool {
        self.dynamics.has_small_stretch_change(&self.state.positions, trial.positions())
    }

    /// Number of vertices with truncated displacements, if these raised the energy; otherwise 0.
    fn harmful_truncations(&self, trial: &TrialStep) -> usize {
        if trial.truncated_vertices == 0 || self.response.recovery.intersection_count() > 0 {
            return 0;
        }
        let before = self.dynamics.energy(&self.state.positions, &self.state.velocities);
        let gain = trial.energy(&self.dynamics) - before.total();
        let allowed_fraction = EnergyGuardParameters::DEFAULT.max_truncation_gain;
        let is_harmful = gain > allowed_fraction * (before.total() - before.gravity);
        if is_harmful { trial.truncated_vertices } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        material::Material,
        mesh::Polygons,
        scene::{Cloth, Integrator, Settings},
        vec3::Vec3,
    };

    const FRAME: f64 = 1.0 / 24.0;

    /// The rejected steps of a frame that may end in an error, of a soft triangle with one pinned corner.
    fn rejected(integrator: Integrator, drive: impl FnOnce(&mut Simulation)) -> Report {
        let polygons = Polygons::new(&[3], &[0, 1, 2], 3).unwrap();
        let material = Material {
            stretch_warp: 20.0,
            stretch_weft: 20.0,
            shear: 5.0,
            ..Material::preset("cotton").unwrap()
        };
        let corners = vec![Vec3::zeros(), Vec3::x(), Vec3::y()];
        let cloth = Cloth::new(corners, &polygons, material, None, None).unwrap();
        let settings = Settings { integrator, threads: 1, ..Settings::default() };
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        simulation.set_pins(0, &[0], None).unwrap();
        drive(&mut simulation);
        let mut report = Report::default();
        let _ = simulation.advance_frame(FRAME, &mut report);
        report
    }

    fn reasons(report: &Report) -> Vec<&'static str> {
        report.rejections().map(|(reason, _)| reason).collect()
    }

    #[test]
    fn an_explicit_scheme_that_throws_the_cloth_away_is_unstable() {
        let report = rejected(Integrator::SymplecticEuler, |simulation| {
            simulation.set_vertex_forces(0, &[Vec3::z() * 1.0e12; 3]).unwrap();
        });
        assert_eq!(reasons(&report), ["instability"]);
    }

    #[test]
    fn speeds_beyond_the_range_of_numbers_are_not_finite() {
        let report = rejected(Integrator::Bdf2, |simulation| {
            simulation.set_pins(0, &[0], Some(&[Vec3::x() * 1.0e308])).unwrap();
        });
        assert!(reasons(&report).contains(&"not_finite"), "{report:?}");
    }
}
