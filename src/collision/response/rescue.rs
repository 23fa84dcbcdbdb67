// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pairs that corrections have led too close: they are among the contacts from then on, stiffer with every time.
//!
//! Two edges that needed it press from the start of the next step as well, as long as they do so at all: in a sharp fold
//! whose tips have come together no vertex or triangle may stand for them, and each step would end with them
//! crossed, and be corrected once more.

use super::Response;
use crate::collision::pair::Pair;

impl Response {
    /// Makes contacts of pairs that would come too close, in order, or stiffer ones.
    pub(super) fn rescue(&mut self, violations: &[Pair]) {
        for violated in violations {
            let pair = self.looked_at(violated);
            pair.rescues += 1;
            // It may have been measured on other ways.
            pair.clearance = 0.0;
        }
        self.find_places();
    }

    /// Rescues the edges that press because the last step had to, where nothing is tangled that they might hold as it is.
    pub(super) fn rescue_again(&mut self) {
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

    /// A pair among those that are looked at after each correction, where it is one from now on.
    fn looked_at(&mut self, pair: &Pair) -> &mut Pair {
        let place = self.pairs.binary_search_by_key(&pair.key(), Pair::key);
        let place = place.unwrap_or_else(|place| {
            self.pairs.insert(place, *pair);
            place
        });
        &mut self.pairs[place]
    }
}
