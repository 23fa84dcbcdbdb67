// SPDX-License-Identifier: MIT OR Apache-2.0
//! Predictor: the initial guess of the positions at the end of a step.
//!
//! x⁰ = x + h(v + ½hā), with the mean acceleration ā of the cloth over the last step, at most g. With this guess free
//! fall leaves nothing to solve. Two corrections of the guess keep cloth calm:
//!
//! * **Relative motion is damped** by the fraction min(1.5 h, 0.1), with h in s. In stiff cloth velocities also contain
//!   the stretch that the last step left, and the Newton iterations of the next step remove only a fraction of it.
//!   Without the damping such modes decay slowly, folds at pinned points snap over, and hanging cloth never comes to
//!   rest.
//! * **During contact, displacements that turn are not trusted.** The error that a step leaves in soft modes is an
//!   error of the velocities as well, and the few Newton iterations of the next step hardly move the guess along those
//!   modes. Without the trust factor resting cloth trembles. Errors of successive steps are uncorrelated, whereas
//!   motion is not, and long displacements are not errors. Displacements that are too short to see are trusted: with a
//!   factor of its own for each vertex, layers that move together would come apart.

use crate::{
    time_integration::{PreviousState, State},
    vec3::Vec3,
};
use std::ops::Range;

/// Parameters of the predictor.
struct PredictorParameters {
    /// Damping of the displacements relative to the mean of the cloth, per second of the step, in 1/s. It depends on
    /// the step so that many short steps damp no more than a few long ones. Effect: larger slows motion down; smaller
    /// leaves more to the Newton iterations. Evidence:
    /// `time_integration::stillness::what_hangs_comes_to_rest_as_fast_as_its_converged_motion` (fails with 0);
    /// `sheet/pinned16_96` (3: 1.6 mm instead of 1.8 mm from the reference).
    relative_damping_rate: f64,
    /// Upper bound of that damping (fraction of the displacement). Effect: larger slows motion down; smaller costs
    /// Newton iterations. Evidence: with 0.1 at steps of 1/24 s slow motions lose a tenth of their speed, with 0.03 5 %
    /// more iterations are made; no bound and 0.2 change no scene.
    max_damping: f64,
    /// Length of displacement above which the trust factor acts (multiple of the tolerance). Effect: larger lets
    /// resting cloth tremble; smaller separates layers that move together. Evidence: none: no test or figure depends on
    /// it (0, 0.125 and 0.5 tried; bits of `rest/sheet_at_rest` and contact scenes change).
    distrust_band_start: f64,
    /// Length of displacement above which the trust factor fades out (multiple of the tolerance). Effect: larger holds
    /// back fast motion during contact; smaller lets resting cloth tremble. Evidence: none: no test or figure depends
    /// on it (0, 10, 40 and no bound tried; bits of `rest/sheet_at_rest` and contact scenes change).
    distrust_band_end: f64,
}

impl PredictorParameters {
    const DEFAULT: Self = Self {
        relative_damping_rate: 1.5,
        max_damping: 0.1,
        distrust_band_start: 0.25,
        distrust_band_end: 20.0,
    };
}

const PARAMETERS: PredictorParameters = PredictorParameters::DEFAULT;

/// Input of the initial guess of a step.
pub(crate) struct Predictor<'a> {
    /// State at the start of the step.
    pub(crate) state: &'a State,
    /// State one step ago and the trust factor; only during contact.
    pub(crate) contact_trust: Option<(&'a PreviousState, VelocityTrust)>,
    /// Flags of the pinned vertices. They are left out of the means.
    pub(crate) pinned: &'a [bool],
    /// Gravity, in m/s².
    pub(crate) gravity: Vec3,
    /// Duration h of the step, in s.
    pub(crate) duration: f64,
}

impl Predictor<'_> {
    /// Extrapolated positions of the vertices of a cloth, in m.
    pub(crate) fn extrapolated(&self, cloth: Range<usize>) -> impl Iterator<Item = Vec3> {
        let velocity_change = self.mean_acceleration(&cloth) * (0.5 * self.duration);
        cloth.map(move |vertex| {
            let displacement = (self.state.velocities[vertex] + velocity_change) * self.duration;
            let trust = self.contact_trust.as_ref().map_or(1.0, |(previous, trust)| {
                trust.factor(&displacement, &previous.velocities[vertex])
            });
            self.state.positions[vertex] + displacement * trust
        })
    }

    /// Mean acceleration of a cloth over the last step, in m/s², limited to the magnitude of gravity: an impact or a
    /// pull does not repeat itself. 0 during contact.
    fn mean_acceleration(&self, cloth: &Range<usize>) -> Vec3 {
        // Without a previous state nothing moves yet, and gravity presses cloth onto its support.
        let Some(previous) = &self.state.previous else { return self.gravity };
        if self.contact_trust.is_some() {
            return Vec3::zeros();
        }
        let change = |vertex: usize| self.state.velocities[vertex] - previous.velocities[vertex];
        let acceleration = self.mean_of_free_vertices(cloth, change) / previous.step_size;
        acceleration.cap_magnitude(self.gravity.norm())
    }

    /// Shortens the displacements of the vertices of a cloth relative to their mean.
    pub(crate) fn damp_relative_motion(&self, cloth: Range<usize>, positions: &mut [Vec3]) {
        let starts = &self.state.positions;
        let mean = self.mean_of_free_vertices(&cloth, |vertex| positions[vertex] - starts[vertex]);
        let damping =
            (PARAMETERS.relative_damping_rate * self.duration).min(PARAMETERS.max_damping);
        for vertex in cloth {
            let relative = positions[vertex] - starts[vertex] - mean;
            positions[vertex] -= relative * damping;
        }
    }

    /// Mean of a vector over the vertices of a cloth that are not pinned; 0 if all are.
    fn mean_of_free_vertices(&self, cloth: &Range<usize>, value: impl Fn(usize) -> Vec3) -> Vec3 {
        let free = cloth.clone().filter(|vertex| !self.pinned[*vertex]);
        let (sum, count) = free.fold((Vec3::zeros(), 0_usize), |(sum, count), vertex| {
            (sum + value(vertex), count + 1)
        });
        sum / count.max(1) as f64
    }
}

/// Trust factor of predicted displacements during contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VelocityTrust {
    /// Squares of the lengths between which displacements are distrusted, in m².
    squared_band: [f64; 2],
}

impl VelocityTrust {
    /// Trust factor for a tolerance in m.
    pub(crate) fn new(tolerance: f64) -> Self {
        let band = [PARAMETERS.distrust_band_start, PARAMETERS.distrust_band_end];
        Self { squared_band: band.map(|multiple| (multiple * tolerance).powi(2)) }
    }

    /// Trusted fraction of a displacement in m, 1 − sin²θ inside the band, where θ is the angle to `previous_velocity`.
    pub(crate) fn factor(&self, displacement: &Vec3, previous_velocity: &Vec3) -> f64 {
        let [shortest, longest] = self.squared_band;
        let square = displacement.norm_squared();
        let squares = square * previous_velocity.norm_squared();
        if squares == 0.0 {
            return 1.0;
        }
        let cosine = displacement.dot(previous_velocity).max(0.0) / squares.sqrt();
        let above_band_start = square / (square + shortest);
        let below_band_end = longest / (square + longest);
        1.0 - (1.0 - cosine * cosine) * above_band_start * below_band_end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: f64 = 0.02;
    const TOLERANCE: f64 = 1.0e-3;
    const CLOTH: Range<usize> = 1..4;

    /// A vertex of another cloth, two free vertices and a pinned one.
    fn state() -> State {
        let along_x = |speeds: [f64; 4]| speeds.map(|speed| Vec3::x() * speed).to_vec();
        let previous = PreviousState {
            step_size: STEP,
            positions: along_x([0.0; 4]),
            velocities: along_x([9.0, 0.9, 2.9, 0.0]),
            history_resets: Vec::new(),
            internal_variables: Vec::new(),
        };
        State {
            time: 0.0,
            positions: along_x([5.0, 1.0, 2.0, 3.0]),
            velocities: along_x([0.0, 1.0, 3.0, 1.0e9]),
            previous: Some(previous),
        }
    }

    fn predictor<'a>(
        state: &'a State,
        contact_trust: Option<(&'a PreviousState, VelocityTrust)>,
    ) -> Predictor<'a> {
        let pinned = &[false, false, false, true];
        Predictor { state, contact_trust, pinned, gravity: Vec3::z() * -9.81, duration: STEP }
    }

    fn trust(length: f64, angle: f64) -> f64 {
        let displacement = Vec3::new(length * angle.cos(), length * angle.sin(), 0.0);
        VelocityTrust::new(TOLERANCE).factor(&displacement, &Vec3::new(0.3, 0.0, 0.0))
    }

    #[test]
    fn the_mean_acceleration_of_free_vertices_continues_except_during_contact() {
        let mut state = state();
        let acceleration = |state: &State| predictor(state, None).mean_acceleration(&CLOTH);
        assert!((acceleration(&state) - Vec3::x() * 0.1 / STEP).norm() < 1e-9);
        let previous = state.previous.as_ref().unwrap();
        let in_contact = predictor(&state, Some((previous, VelocityTrust::new(TOLERANCE))));
        assert_eq!(in_contact.mean_acceleration(&CLOTH), Vec3::zeros());
        // An impact: limited to free fall.
        state.velocities[1].x = 500.0;
        assert!((acceleration(&state) - Vec3::x() * 9.81).norm() < 1e-9);
        state.previous = None;
        assert_eq!(acceleration(&state), Vec3::z() * -9.81);
    }

    #[test]
    fn relative_displacements_are_damped_and_their_mean_is_not() {
        let state = state();
        let predictor = predictor(&state, None);
        let mut positions = state.positions.clone();
        positions.splice(CLOTH, predictor.extrapolated(CLOTH));
        let before = positions.clone();
        predictor.damp_relative_motion(CLOTH, &mut positions);
        assert_eq!(positions[0], state.positions[0]);
        let mean = |of: &[Vec3]| (of[1] + of[2]) * 0.5;
        assert!((mean(&positions) - mean(&before)).norm() < 1e-12);
        let relative = |of: &[Vec3]| (of[2] - state.positions[2]) - (of[1] - state.positions[1]);
        let expected = relative(&before) * (1.0 - PARAMETERS.relative_damping_rate * STEP);
        assert!((relative(&positions) - expected).norm() < 1e-12 && expected.norm() > 0.03);
    }

    #[test]
    fn displacements_in_the_previous_direction_or_from_rest_are_trusted() {
        for length in [1.0e-6, 1.0e-3, 1.0] {
            assert!((trust(length, 0.0) - 1.0).abs() < 1e-12);
            let from_rest =
                VelocityTrust::new(TOLERANCE).factor(&(Vec3::x() * length), &Vec3::zeros());
            assert!((from_rest - 1.0).abs() < 1e-12);
        }
        let at_rest = VelocityTrust::new(TOLERANCE).factor(&Vec3::zeros(), &Vec3::x());
        assert!((at_rest - 1.0).abs() < 1e-12);
    }

    #[test]
    fn displacements_that_turn_are_trusted_only_outside_of_the_band() {
        assert!(trust(2.0e-3, 3.0) < 0.03);
        assert!((trust(2.0e-3, 0.785) - 0.5).abs() < 0.03);
        assert!(trust(1.0e-5, 3.0) > 0.99);
        assert!(trust(1.0, 3.0) > 0.99);
    }
}
