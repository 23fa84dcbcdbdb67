// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stiffening of contacts after CCD hits: a pair that a solution has brought too close becomes a
//! candidate, and stiffer with every further hit.
//!
//! Two edges that needed it are contacts from the start of the next step as well, as long as they
//! press. In a sharp fold whose tips meet no vertex–face pair can replace them: each step would end
//! with the edges intersecting and be solved once more.

use super::STEP_VALIDATION;
use crate::{collision::PrimitivePair, response::CollisionResponse};

impl CollisionResponse {
    /// Adds violating pairs, sorted by key, to the candidates, and stiffens their contacts.
    pub(crate) fn stiffen_contacts(&mut self, violations: &[PrimitivePair]) {
        self.add_candidate_pairs(violations);
        for violation in violations {
            if let Ok(index) =
                self.candidate_pairs.binary_search_by_key(&violation.key(), PrimitivePair::key)
            {
                let pair = &mut self.candidate_pairs[index];
                pair.stiffening_count = pair
                    .stiffening_count
                    .saturating_add(1)
                    .min(STEP_VALIDATION.max_stiffenings_per_pair);
                // The clearance may be that of other trajectories.
                pair.clearance = 0.0;
            }
        }
        self.index_contacts();
    }

    /// Restores the edge pairs that the last step had to stiffen; not while surfaces intersect, as
    /// they could block the recovery.
    pub(in crate::response) fn restore_stiffened_edge_pairs(&mut self) {
        if self.intersection_state.is_some() {
            return;
        }
        for key in self.contact_history.stiffened_edge_pairs() {
            // An edge pair that pressed is never redundant.
            if let Ok(index) = self.candidate_pairs.binary_search_by_key(&key, PrimitivePair::key) {
                self.candidate_pairs[index].stiffening_count = 1;
            }
        }
    }

    /// Adds pairs, each given once, to the candidates.
    fn add_candidate_pairs(&mut self, pairs: &[PrimitivePair]) {
        let count = self.candidate_pairs.len();
        for pair in pairs {
            if self.candidate_pairs[..count]
                .binary_search_by_key(&pair.key(), PrimitivePair::key)
                .is_err()
            {
                self.candidate_pairs.push(*pair);
            }
        }
        if self.candidate_pairs.len() > count {
            // A stable sort merges two sorted runs in linear time.
            self.candidate_pairs.sort_by_key(PrimitivePair::key);
        }
    }
}
