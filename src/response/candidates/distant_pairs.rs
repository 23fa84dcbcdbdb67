// SPDX-License-Identifier: MIT OR Apache-2.0
//! Candidate pairs that certainly have no contact at the trial point, as both sides stay too far apart
//! on the way there. Most pairs without a contact are told apart so, for a tenth of what it takes to
//! find their closest points.

use super::Candidates;
use crate::{
    collision::{PAIRS_PER_BATCH, PairKind, PrimitivePair, SeparationQuery},
    mesh::NO_INDEX,
    parallel::reductions,
};
use rayon::prelude::*;

/// Pairs, as a bit mask for every eight.
pub(in crate::response) struct DistantPairs(Vec<u32>);

impl DistantPairs {
    /// Whether the pair of an index is among them.
    pub(in crate::response) fn contains(&self, index: usize) -> bool {
        self.0[index / PAIRS_PER_BATCH] >> (index % PAIRS_PER_BATCH) & 1 > 0
    }
}

impl Candidates {
    /// Pairs without a present contact that certainly stay farther apart than a `reach` in multiples
    /// of their thickness, on the trajectories to the trial point that the broad phase holds.
    pub(in crate::response) fn distant_pairs(
        &self,
        reach: impl Fn(&PrimitivePair) -> f64 + Sync,
    ) -> DistantPairs {
        let pairs = self.pairs.par_chunks(PAIRS_PER_BATCH);
        let each = pairs.zip(self.contact_of_pair.par_chunks(PAIRS_PER_BATCH));
        let each = each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK / PAIRS_PER_BATCH);
        let masks = each.map(|(pairs, contacts)| {
            let kinds = [PairKind::VertexFace, PairKind::EdgeEdge];
            kinds.into_iter().fold(0, |mask, kind| {
                let is_open =
                    |place: usize| pairs[place].kind == kind && contacts[place] == NO_INDEX;
                mask | self.distant_mask(pairs, kind, is_open, &reach)
            })
        });
        DistantPairs(masks.collect())
    }

    /// Bit mask of the distant ones among the pairs of a kind whose places are open, out of eight.
    fn distant_mask(
        &self,
        pairs: &[PrimitivePair],
        kind: PairKind,
        is_open: impl Fn(usize) -> bool,
        reach: impl Fn(&PrimitivePair) -> f64,
    ) -> u32 {
        let (mut distant, mut undecided) = (0, 0);
        let mut queries = [SeparationQuery::default(); PAIRS_PER_BATCH];
        let mut places = [0; PAIRS_PER_BATCH];
        for (place, pair) in pairs.iter().enumerate().filter(|(place, _)| is_open(*place)) {
            let distance = reach(pair) * pair.thickness;
            if self.displacement_bound.certifies_separation(pair, distance) {
                distant |= 1 << place;
            } else {
                queries[undecided] = SeparationQuery { vertices: pair.vertices, distance };
                places[undecided] = place;
                undecided += 1;
            }
        }
        if undecided > 0 {
            let separated = self.broad_phase.separated_mask(kind, &queries[..undecided]);
            for (index, place) in places[..undecided].iter().enumerate() {
                distant |= (separated >> index & 1) << place;
            }
        }
        distant
    }
}
