// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the search for the next positions begins.
//!
//! It is led there by the velocities of the vertices, and the mean acceleration of their cloth, so that nothing is left to
//! be corrected of a fall. But it does not go to the end of the ways that vertices go apart from each other: in
//! stiff cloth velocities hold what a step left of stretches, too, a part of which comes through the corrections of
//! the next step, and so on. Followed to the end such ways die away slowly, folds at points that are held snap
//! over, and what hangs never hangs still.

use super::{
    doubt::Doubt,
    state::{Past, State},
};
use crate::Vec3;

/// Part of the ways of vertices, but for the mean of their cloth, that a search stops short of, for each second that a step
/// takes, and at most: what of that comes through the corrections damps no more in many short steps than in few long ones.
/// (With a tenth at 24 steps a second slow motions lose a tenth of their speed; with 0.03 a tenth more corrections are made.)
const SHORT: f64 = 1.5;
const SHORTEST: f64 = 0.1;

/// A cloth at the start of a step.
pub(super) struct Beginning<'a> {
    /// Of all cloths.
    pub(super) state: &'a State,
    /// The past where anything touches, with what is to be doubted of ways then.
    pub(super) doubted: Option<(&'a Past, Doubt)>,
    /// In m/s².
    pub(super) gravity: Vec3,
    /// Of the step, in s.
    pub(super) duration: f64,
}

impl Beginning<'_> {
    /// Where some vertices are led, of which those that are not free do not count for the others.
    pub(super) fn led(
        &self,
        vertices: std::ops::Range<usize>,
        is_free: impl Fn(&usize) -> bool,
    ) -> impl Iterator<Item = Vec3> {
        let change = self.mean_acceleration(vertices.clone(), is_free) * (0.5 * self.duration);
        vertices.map(move |vertex| {
            let way = (self.state.velocities[vertex] + change) * self.duration;
            let trusted = self
                .doubted
                .as_ref()
                .map_or(1.0, |(past, doubt)| doubt.trusted(&way, &past.velocities[vertex]));
            self.state.positions[vertex] + way * trusted
        })
    }

    /// As far as it goes on: no faster than gravity makes anything fall, since what is thrown or drawn is not
    /// thrown or drawn again.
    fn mean_acceleration(
        &self,
        vertices: std::ops::Range<usize>,
        is_free: impl Fn(&usize) -> bool,
    ) -> Vec3 {
        // At the start of all motion nothing moves yet, but what lies on something is pressed on it.
        let Some(past) = &self.state.past else { return self.gravity };
        if self.doubted.is_some() {
            return Vec3::zeros();
        }
        let change = |vertex| self.state.velocities[vertex] - past.velocities[vertex];
        let acceleration = mean(vertices.filter(is_free).map(change)) / past.step;
        acceleration.cap_magnitude(self.gravity.norm())
    }

    /// Draws some vertices that have been led together.
    pub(super) fn draw_together(
        &self,
        vertices: std::ops::Range<usize>,
        is_free: impl Fn(&usize) -> bool,
        positions: &mut [Vec3],
    ) {
        let starts = &self.state.positions;
        let way = |vertex: usize| positions[vertex] - starts[vertex];
        let common = mean(vertices.clone().filter(is_free).map(way));
        let part = (SHORT * self.duration).min(SHORTEST);
        for vertex in vertices {
            let apart = positions[vertex] - starts[vertex] - common;
            positions[vertex] -= apart * part;
        }
    }
}

/// 0 of none.
fn mean(vectors: impl Iterator<Item = Vec3>) -> Vec3 {
    let (sum, count) =
        vectors.fold((Vec3::zeros(), 0_usize), |(sum, count), vector| (sum + vector, count + 1));
    sum / count.max(1) as f64
}
