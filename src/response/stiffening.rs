// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pairs that corrections have led too close: they are among the contacts from then on, stiffer with every time.
//!
//! Two edges that needed it press from the start of the next step as well, as long as they do so at all: in a sharp fold
//! whose tips have come together no vertex or triangle may stand for them, and each step would end with them
//! crossed, and be corrected once more.

use super::CollisionResponse;
use crate::collision::PrimitivePair;

/// A contact that has been rescued so often is as stiff as contacts become: one search for a solution makes none stiffer, but
/// the fixed-point solver searches anew with each update.
const MOST_RESCUES: u8 = 8;

impl CollisionResponse {
    /// Makes contacts of pairs that would come too close, in order, or stiffer ones.
    pub(crate) fn stiffen_contacts(&mut self, violations: &[PrimitivePair]) {
        self.add_candidate_pairs(violations);
        for violated in violations {
            if let Ok(place) =
                self.candidate_pairs.binary_search_by_key(&violated.key(), PrimitivePair::key)
            {
                let pair = &mut self.candidate_pairs[place];
                pair.stiffening_count = pair.stiffening_count.saturating_add(1).min(MOST_RESCUES);
                // It may have been measured on other ways.
                pair.clearance = 0.0;
            }
        }
        self.index_contacts();
    }

    /// Rescues the edges that press because the last step had to, where nothing is tangled that they might hold as it is.
    pub(crate) fn restore_stiffened_edge_pairs(&mut self) {
        if self.intersection_state.is_some() {
            return;
        }
        for key in self.contact_history.stiffened_edge_pairs() {
            // No edges that pressed are idle.
            if let Ok(place) = self.candidate_pairs.binary_search_by_key(&key, PrimitivePair::key) {
                self.candidate_pairs[place].stiffening_count = 1;
            }
        }
    }

    /// Looks at some more pairs, each of them given once, after each correction from now on.
    fn add_candidate_pairs(&mut self, pairs: &[PrimitivePair]) {
        let known = self.candidate_pairs.len();
        for pair in pairs {
            if self.candidate_pairs[..known]
                .binary_search_by_key(&pair.key(), PrimitivePair::key)
                .is_err()
            {
                self.candidate_pairs.push(*pair);
            }
        }
        if self.candidate_pairs.len() > known {
            // Both parts are in order, which a stable sort merges.
            self.candidate_pairs.sort_by_key(PrimitivePair::key);
        }
    }
}
