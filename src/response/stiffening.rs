// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pairs that corrections have led too close: they are among the contacts from then on, stiffer with every time.
//!
//! Two edges that needed it press from the start of the next step as well, as long as they do so at all: in a sharp fold
//! whose tips have come together no vertex or triangle may stand for them, and each step would end with them
//! crossed, and be corrected once more.

use super::Response;
use crate::collision::Pair;

/// A contact that has been rescued so often is as stiff as contacts become: one search for a solution makes none stiffer, but
/// the fixed-point solver searches anew with each update.
const MOST_RESCUES: u8 = 8;

impl Response {
    /// Makes contacts of pairs that would come too close, in order, or stiffer ones.
    pub(crate) fn rescue(&mut self, violations: &[Pair]) {
        self.look_at(violations);
        for violated in violations {
            if let Ok(place) = self.pairs.binary_search_by_key(&violated.key(), Pair::key) {
                let pair = &mut self.pairs[place];
                pair.rescues = pair.rescues.saturating_add(1).min(MOST_RESCUES);
                // It may have been measured on other ways.
                pair.clearance = 0.0;
            }
        }
        self.find_places();
    }

    /// Rescues the edges that press because the last step had to, where nothing is tangled that they might hold as it is.
    pub(crate) fn rescue_again(&mut self) {
        if self.tangle.is_some() {
            return;
        }
        for key in self.memory.rescued() {
            // No edges that pressed are idle.
            if let Ok(place) = self.pairs.binary_search_by_key(&key, Pair::key) {
                self.pairs[place].rescues = 1;
            }
        }
    }

    /// Looks at some more pairs, each of them given once, after each correction from now on.
    fn look_at(&mut self, pairs: &[Pair]) {
        let known = self.pairs.len();
        for pair in pairs {
            if self.pairs[..known].binary_search_by_key(&pair.key(), Pair::key).is_err() {
                self.pairs.push(*pair);
            }
        }
        if self.pairs.len() > known {
            // Both parts are in order, which a stable sort merges.
            self.pairs.sort_by_key(Pair::key);
        }
    }
}
