// SPDX-License-Identifier: MIT OR Apache-2.0
//! Acceptance of a trial step, or its rejection with the criterion that it violates.
//!
//! A step is accepted if all of the following hold, in this order: its positions and velocities are finite; the
//! equations of all its stages have converged (`newton`, `fixed_point`); a linearised step changes no stretch
//! drastically; truncated displacements have not raised the energy, or shorter steps do not help
//! against that (`TruncationTolerance`). A rejected step is retried with half its length.

use super::{
    constrained_system::ConstrainedSystem, energy_guard::EnergyGuardParameters, step::TrialStep,
    step_control::StepControlParameters,
};
use crate::{
    mesh::gradients_of_all_corners, parallel::reductions, scene::RejectionReason,
    system::EquationsOfMotion, time_integration::State, vec3::Vec3,
};
use rayon::prelude::*;

/// Whether a trial step from a state is accepted; otherwise the first criterion that it violates.
pub(crate) fn acceptance(
    trial: &TrialStep,
    start: &State,
    system: &ConstrainedSystem,
    truncation: &mut TruncationTolerance,
    is_linearised: bool,
) -> Result<(), RejectionReason> {
    if trial.first_nonfinite_vertex().is_some() {
        return Err(RejectionReason::NotFinite);
    }
    trial.outcome.unmet.map_or(Ok(()), Err)?;
    let keeps_stretch =
        || has_small_stretch_change(&system.dynamics, &start.positions, &trial.positions);
    if is_linearised && !keeps_stretch() {
        return Err(RejectionReason::StretchChange);
    }
    if !truncation.tolerates(harmful_truncations(trial, start, system)) {
        return Err(RejectionReason::TruncatedDisplacement);
    }
    Ok(())
}

/// Number of vertices with truncated displacements, if these raised the energy; otherwise 0.
fn harmful_truncations(trial: &TrialStep, start: &State, system: &ConstrainedSystem) -> usize {
    if trial.truncated_vertices == 0 || system.response.recovery.intersection_count() > 0 {
        return 0;
    }
    let before = system.dynamics.energy(&start.positions, &start.velocities);
    let after = system.dynamics.energy(&trial.positions, &trial.velocities);
    let gain = after.total() - before.total();
    let allowed_fraction = EnergyGuardParameters::DEFAULT.max_truncation_gain;
    let is_harmful = gain > allowed_fraction * (before.total() - before.gravity);
    if is_harmful { trial.truncated_vertices } else { 0 }
}

/// Tolerance of truncated displacements within a frame. Shorter steps help against them after an impact, but not in a
/// squeeze; once a shorter step has not helped, they are tolerated for the rest of the frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TruncationTolerance {
    /// Number of truncated vertices of the last step.
    previously_truncated: usize,
    is_tolerated: bool,
}

impl TruncationTolerance {
    /// Whether a step with a number of truncated vertices is accepted.
    fn tolerates(&mut self, truncated: usize) -> bool {
        // A shorter step helps if it truncates less than half as many vertices.
        self.is_tolerated |= truncated > 0
            && self.previously_truncated > 0
            && 2 * truncated >= self.previously_truncated;
        self.previously_truncated = truncated;
        self.is_tolerated || truncated == 0
    }
}

/// Whether the stretch of no triangle changes drastically along the yarns between two lists of positions in m.
fn has_small_stretch_change(dynamics: &EquationsOfMotion, before: &[Vec3], after: &[Vec3]) -> bool {
    let triangles = dynamics.mesh.topology.triangles.par_iter().zip(dynamics.gradients.as_slice());
    triangles.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).all(|(corners, gradients)| {
        let gradients = gradients_of_all_corners(gradients);
        [0, 1].into_iter().all(|axis| {
            let [before, after] = [before, after].map(|positions| {
                let terms = corners.iter().zip(&gradients);
                let derivative: Vec3 =
                    terms.map(|(vertex, g)| positions[*vertex as usize] * g[axis]).sum();
                derivative.norm()
            });
            (after - before).abs() <= StepControlParameters::DEFAULT.max_stretch_change
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        island::{
            Island,
            tests::{flat, three_triangles},
        },
        material::Material,
        mesh::Polygons,
        newton::SolveOutcome,
        scene::{Cloth, Integrator, Report, Settings},
        time_integration::KinematicState,
    };

    #[test]
    fn truncation_is_tolerated_once_a_shorter_step_does_not_help() {
        let mut truncation = TruncationTolerance::default();
        assert_eq!(
            [9, 4, 1, 0, 3].map(|count| truncation.tolerates(count)),
            [false, false, false, true, false]
        );
        assert_eq!([2, 5, 0].map(|count| truncation.tolerates(count)), [true; 3]);
        assert!(!TruncationTolerance::default().tolerates(1));
    }

    #[test]
    fn a_change_of_stretch_is_relative_to_scaled_lengths_at_rest() {
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        let polygons = Polygons::new(&[3], &[0, 1, 2], 3).unwrap();
        let cloth = Cloth::new(corners.to_vec(), &polygons, Material::default(), None, None);
        let longer = cloth.unwrap().with_rest_scale(vec![[2.0; 2]; 3]).unwrap();
        let dynamics = EquationsOfMotion::new(&[longer], &Settings::default());
        let stretched = |factor: f64| corners.map(|corner| corner * factor);
        assert!(has_small_stretch_change(&dynamics, &stretched(2.0), &stretched(2.4)));
        assert!(!has_small_stretch_change(&dynamics, &stretched(2.0), &stretched(2.6)));
    }

    const FRAME: f64 = 1.0 / 24.0;

    /// The rejected steps of a frame that may end in an error, of a soft triangle with one pinned corner.
    fn rejected(integrator: Integrator, drive: impl FnOnce(&mut Island)) -> Report {
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
        let mut island = Island::new(&[cloth], &[], settings);
        island.set_pins(0, &[0], None).unwrap();
        drive(&mut island);
        let mut report = Report::default();
        let _ = island.advance_frame(FRAME, &mut report);
        report
    }

    /// Acceptance of a step that ends in a shape, with a number of truncated vertices and another outcome.
    fn judged(
        end: Vec<Vec3>,
        truncated_vertices: usize,
        unmet: Option<RejectionReason>,
        is_linearised: bool,
    ) -> Result<(), RejectionReason> {
        let Island { system, state, .. } = three_triangles(Settings::default());
        let velocities = vec![Vec3::zeros(); end.len()];
        let end = KinematicState { positions: end, velocities };
        let history = system.response.contact_history.clone();
        let outcome = SolveOutcome { unmet, ..SolveOutcome::EXACT };
        let trial = TrialStep { truncated_vertices, ..TrialStep::at(end, outcome, history, 0) };
        acceptance(&trial, &state, &system, &mut TruncationTolerance::default(), is_linearised)
    }

    #[test]
    fn the_first_criterion_that_is_violated_is_the_reason() {
        let scaled = |factor: f64| -> Vec<Vec3> { flat().iter().map(|x| x * factor).collect() };
        let unmet = Some(RejectionReason::Stagnation);
        assert_eq!(judged(scaled(f64::NAN), 1, unmet, true), Err(RejectionReason::NotFinite));
        assert_eq!(judged(scaled(1.5), 1, unmet, true), Err(RejectionReason::Stagnation));
        assert_eq!(judged(scaled(1.5), 1, None, true), Err(RejectionReason::StretchChange));
        let truncated = Err(RejectionReason::TruncatedDisplacement);
        assert_eq!(judged(scaled(1.5), 1, None, false), truncated);
        assert_eq!(judged(scaled(1.5), 0, None, false), Ok(()));
        // Truncation that raises no energy does no harm.
        assert_eq!(judged(scaled(1.0), 1, None, true), Ok(()));
    }

    fn reasons(report: &Report) -> Vec<&'static str> {
        report.rejections().map(|(reason, _)| reason).collect()
    }

    #[test]
    fn an_explicit_scheme_that_throws_the_cloth_away_is_unstable() {
        let report = rejected(Integrator::SymplecticEuler, |island| {
            island.set_vertex_forces(0, &[Vec3::z() * 1.0e12; 3]).unwrap();
        });
        assert_eq!(reasons(&report), ["instability"]);
    }

    #[test]
    fn speeds_beyond_the_range_of_numbers_are_not_finite() {
        let report = rejected(Integrator::Bdf2, |island| {
            island.set_pins(0, &[0], Some(&[Vec3::x() * 1.0e308])).unwrap();
        });
        assert!(reasons(&report).contains(&"not_finite"), "{report:?}");
    }
}
