// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the search for the next positions begins.
//!
//! It is led there by the velocities of the vertices, and the mean acceleration of their cloth, so that nothing is left to
//! be corrected of a fall. But it does not go to the end of the ways that vertices go apart from each other: in
//! stiff cloth velocities hold what a step left of stretches, too, a part of which comes through the corrections of
//! the next step, and so on. Followed to the end such ways die away slowly, folds at points that are held snap
//! over, and what hangs never hangs still.

use super::velocity_trust::VelocityTrust;
use crate::{
    Vec3,
    time_integration::{PreviousState, State},
};
use std::ops::Range;

/// Part of the ways of vertices, but for the mean of their cloth, that a search stops short of, for each second that a step
/// takes, and at most: what of that comes through the corrections damps no more in many short steps than in few long ones.
/// (With a tenth of ways of 1/24 s slow motions lose a tenth of their speed; with 0.03 a twentieth more corrections are
/// made.)
const SHORT: f64 = 1.5;
const MOST_SHORT: f64 = 0.1;

/// The state at the beginning of a step.
pub(crate) struct Predictor<'a> {
    /// Of all cloths.
    pub(crate) state: &'a State,
    /// The past where anything touches, with what is to be doubted of ways then.
    pub(crate) contact_trust: Option<(&'a PreviousState, VelocityTrust)>,
    /// Flags of the vertices that are held; their motion says nothing of the others'.
    pub(crate) pinned: &'a [bool],
    /// In m/s².
    pub(crate) gravity: Vec3,
    /// Of the step, in s.
    pub(crate) duration: f64,
}

impl Predictor<'_> {
    /// Where the vertices of a cloth are led.
    pub(crate) fn extrapolated(&self, cloth: Range<usize>) -> impl Iterator<Item = Vec3> {
        let change = self.mean_acceleration(&cloth) * (0.5 * self.duration);
        cloth.map(move |vertex| {
            let way = (self.state.velocities[vertex] + change) * self.duration;
            let doubted = self.contact_trust.as_ref();
            let trusted =
                doubted.map_or(1.0, |(past, doubt)| doubt.factor(&way, &past.velocities[vertex]));
            self.state.positions[vertex] + way * trusted
        })
    }

    /// As far as it goes on: no faster than gravity makes anything fall, since what is thrown or drawn is not
    /// thrown or drawn again.
    fn mean_acceleration(&self, cloth: &Range<usize>) -> Vec3 {
        // At the start of all motion nothing moves yet, but what lies on something is pressed on it.
        let Some(past) = &self.state.previous else { return self.gravity };
        if self.contact_trust.is_some() {
            return Vec3::zeros();
        }
        let change = |vertex: usize| self.state.velocities[vertex] - past.velocities[vertex];
        let acceleration = self.mean_of_free_vertices(cloth, change) / past.step_size;
        acceleration.cap_magnitude(self.gravity.norm())
    }

    /// Draws the vertices of a cloth that have been led together.
    pub(crate) fn damp_relative_motion(&self, cloth: Range<usize>, positions: &mut [Vec3]) {
        let starts = &self.state.positions;
        let common =
            self.mean_of_free_vertices(&cloth, |vertex| positions[vertex] - starts[vertex]);
        let part = (SHORT * self.duration).min(MOST_SHORT);
        for vertex in cloth {
            let apart = positions[vertex] - starts[vertex] - common;
            positions[vertex] -= apart * part;
        }
    }

    /// Of the vertices of a cloth that are not held; 0 of none.
    fn mean_of_free_vertices(&self, cloth: &Range<usize>, of: impl Fn(usize) -> Vec3) -> Vec3 {
        let free = cloth.clone().filter(|vertex| !self.pinned[*vertex]);
        let (sum, count) = free
            .fold((Vec3::zeros(), 0_usize), |(sum, count), vertex| (sum + of(vertex), count + 1));
        sum / count.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: f64 = 0.02;
    const CLOTH: Range<usize> = 1..4;

    /// A vertex of another cloth, two that are free and one that is held.
    fn state() -> State {
        let of = |speeds: [f64; 4]| speeds.map(|speed| Vec3::x() * speed).to_vec();
        let past = PreviousState {
            step_size: STEP,
            positions: of([0.0; 4]),
            velocities: of([9.0, 0.9, 2.9, 0.0]),
            history_resets: Vec::new(),
            internal_variables: Vec::new(),
        };
        State {
            time: 0.0,
            positions: of([5.0, 1.0, 2.0, 3.0]),
            velocities: of([0.0, 1.0, 3.0, 1.0e9]),
            previous: Some(past),
        }
    }

    fn beginning<'a>(
        state: &'a State,
        doubted: Option<(&'a PreviousState, VelocityTrust)>,
    ) -> Predictor<'a> {
        let held = &[false, false, false, true];
        Predictor {
            state,
            contact_trust: doubted,
            pinned: held,
            gravity: Vec3::z() * -9.81,
            duration: STEP,
        }
    }

    #[test]
    fn the_mean_of_what_is_free_goes_on_as_it_did_but_where_anything_touches() {
        let mut state = state();
        let acceleration = |state: &State| beginning(state, None).mean_acceleration(&CLOTH);
        assert!((acceleration(&state) - Vec3::x() * 0.1 / STEP).norm() < 1e-9);
        let past = state.previous.as_ref().unwrap();
        let touching = beginning(&state, Some((past, VelocityTrust::new(1.0e-3))));
        assert_eq!(touching.mean_acceleration(&CLOTH), Vec3::zeros());
        // Thrown: no faster than a fall.
        state.velocities[1].x = 500.0;
        assert!((acceleration(&state) - Vec3::x() * 9.81).norm() < 1e-9);
        state.previous = None;
        assert_eq!(acceleration(&state), Vec3::z() * -9.81);
    }

    #[test]
    fn ways_apart_are_cut_short_and_their_mean_is_not() {
        let state = state();
        let beginning = beginning(&state, None);
        let mut positions = state.positions.clone();
        positions.splice(CLOTH, beginning.extrapolated(CLOTH));
        let before = positions.clone();
        beginning.damp_relative_motion(CLOTH, &mut positions);
        assert_eq!(positions[0], state.positions[0]);
        let mean = |of: &[Vec3]| (of[1] + of[2]) * 0.5;
        assert!((mean(&positions) - mean(&before)).norm() < 1e-12);
        let apart = |of: &[Vec3]| (of[2] - state.positions[2]) - (of[1] - state.positions[1]);
        let wanted = apart(&before) * (1.0 - SHORT * STEP);
        assert!((apart(&positions) - wanted).norm() < 1e-12 && wanted.norm() > 0.03);
    }
}
