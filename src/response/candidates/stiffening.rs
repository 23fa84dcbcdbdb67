// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stiffening of contacts after CCD hits: a pair that a solution has brought too close becomes a
//! candidate, and stiffer with every further hit.
//!
//! Two edges that needed it are contacts from the start of the next step as well, as long as they
//! press. In a sharp fold whose tips meet no vertex–face pair can replace them: each step would end
//! with the edges intersecting and be solved once more.

use super::{Candidates, STEP_VALIDATION};
use crate::collision::{ContactHistory, PrimitivePair};

impl Candidates {
    /// Adds violating pairs, sorted by key, and stiffens their contacts.
    pub(super) fn stiffen_contacts(&mut self, violations: &[PrimitivePair]) {
        self.add_candidate_pairs(violations);
        for violation in violations {
            if let Ok(index) = self.pairs.binary_search_by_key(&violation.key(), PrimitivePair::key)
            {
                let pair = &mut self.pairs[index];
                pair.stiffening_count = pair
                    .stiffening_count
                    .saturating_add(1)
                    .min(STEP_VALIDATION.max_stiffenings_per_pair);
                // The clearance may be that of other trajectories.
                pair.clearance = 0.0;
            }
        }
    }

    /// Restores the edge pairs that the last step had to stiffen.
    pub(in crate::response) fn restore_stiffened_edge_pairs(&mut self, history: &ContactHistory) {
        for key in history.stiffened_edge_pairs() {
            // An edge pair that pressed is never redundant.
            if let Ok(index) = self.pairs.binary_search_by_key(&key, PrimitivePair::key) {
                self.pairs[index].stiffening_count = 1;
            }
        }
    }

    /// Adds pairs, each given once.
    fn add_candidate_pairs(&mut self, pairs: &[PrimitivePair]) {
        let count = self.pairs.len();
        for pair in pairs {
            if self.pairs[..count].binary_search_by_key(&pair.key(), PrimitivePair::key).is_err() {
                self.pairs.push(*pair);
            }
        }
        if self.pairs.len() > count {
            // A stable sort merges two sorted runs in linear time.
            self.pairs.sort_by_key(PrimitivePair::key);
        }
    }
}
