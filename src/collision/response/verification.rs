// SPDX-License-Identifier: MIT OR Apache-2.0
//! The check of a step: what would come too close on the ways that it takes.

use super::{Response, SLACK};
use crate::{
    Vec3,
    collision::{
        pair::{Motion, Pair},
        surfaces::Surfaces,
    },
};

/// The part of the thickness that a step leaves at least.
const LEAST_GAP: f64 = 0.01;

impl Response {
    /// Checks the ways to `positions` against all pairs. Says whether any would come too close; those are
    /// among the contacts from now on, stiffer than they were.
    pub(crate) fn verify(&mut self, positions: &[Vec3]) -> bool {
        let violations = self.violations(positions);
        if violations.is_empty() {
            return true;
        }
        self.widen_pairs();
        for violated in &violations {
            match self.pairs.binary_search_by_key(&violated.key(), Pair::key) {
                Ok(place) => self.pairs[place].rescues += 1,
                Err(place) => self.pairs.insert(place, Pair { rescues: 1, ..*violated }),
            }
        }
        for pair in &mut self.pairs {
            // They were measured on other ways.
            pair.clearance = 0.0;
        }
        let contacts = std::mem::take(&mut self.contacts);
        self.take(contacts);
        false
    }

    /// Takes in the pairs along the ways that corrections have led to.
    fn widen_pairs(&mut self) {
        let motion = Motion { starts: &self.starts, ends: &self.ends };
        self.broad_phase.refit_cloths(&self.surfaces, motion, 1.0 + SLACK);
        let mut pairs = self.find_pairs();
        pairs.retain(|pair| self.pairs.binary_search_by_key(&pair.key(), Pair::key).is_err());
        self.pairs.extend(pairs);
        self.pairs.sort_unstable_by_key(Pair::key);
    }

    /// The pairs that come too close on the ways to `positions`, in order.
    pub(in crate::collision) fn violations(&mut self, positions: &[Vec3]) -> Vec<Pair> {
        self.move_to(positions);
        if self.is_alone() {
            return Vec::new();
        }
        let (surfaces, motion) =
            (&self.surfaces, Motion { starts: &self.starts, ends: &self.ends });
        self.broad_phase.refit_cloths(surfaces, motion, LEAST_GAP);
        let mut found = self.broad_phase.pairs(surfaces, self.with_self, |pair| {
            self.is_guarded(pair) && is_violated(pair, surfaces, motion)
        });
        found.sort_unstable_by_key(Pair::key);
        found
    }
}

/// Whether a pair comes closer than a step may leave it.
fn is_violated(pair: &mut Pair, surfaces: &Surfaces, motion: Motion<'_>) -> bool {
    let [first, second] = pair.ends().map(|vertex| surfaces.kinds[vertex as usize]);
    let most = LEAST_GAP * (first.thickness + second.thickness);
    if !pair.measure(motion, most) {
        return false;
    }
    if let Some(gap) = pair.gap_from_touch(surfaces, motion) {
        return gap < 0.0;
    }
    let least = (LEAST_GAP * pair.thickness(surfaces)).min(0.5 * pair.start);
    pair.comes_within(motion, least)
}
