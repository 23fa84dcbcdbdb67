// SPDX-License-Identifier: MIT OR Apache-2.0
//! Four hinges at a time, with what lists of pairs have for them and their neighbours.

use super::hinges::Hinges;
use crate::simd::{Lanes, lane_indices};

/// A hinge and its four neighbours.
pub(super) const FIVE: usize = 5;

/// Two numbers of a hinge, a half or a patch.
pub(super) type Pair = [f64; 2];

/// Four hinges in a row; past the end the last one again, whose coefficients are 0.
pub(super) struct FourHinges<'a> {
    /// Number of the four.
    pub(super) batch: usize,
    pub(super) own: [usize; 4],
    neighbours: [&'a [u32; 4]; 4],
}

impl<'a> FourHinges<'a> {
    /// The hinges from the `first` on, a multiple of four.
    #[inline(always)]
    pub(super) fn new(hinges: &'a Hinges, first: usize) -> Self {
        let own = lane_indices(first, hinges.count());
        let [a, b, c, d] = own;
        let all = &hinges.neighbours;
        Self { batch: first / 4, own, neighbours: [&all[a], &all[b], &all[c], &all[d]] }
    }

    /// Pairs of the hinges and their neighbours: all first numbers, and all second ones.
    #[inline(always)]
    pub(super) fn near<L: Lanes>(&self, lanes: L, list: &[Pair]) -> [[L::Four; FIVE]; 2] {
        let own = lanes.pairs(|k| &list[self.own[k]]);
        let neighbour =
            |place: usize| lanes.pairs(|k| &list[self.neighbours[k][place] as usize / 2]);
        let (a, b, c, d) = (neighbour(0), neighbour(1), neighbour(2), neighbour(3));
        [[own[0], a[0], b[0], c[0], d[0]], [own[1], a[1], b[1], c[1], d[1]]]
    }

    /// Pairs of the halves of a side, in a list of halves: of the hinges themselves and of both neighbours there.
    #[inline(always)]
    pub(super) fn halves<L: Lanes>(
        &self,
        lanes: L,
        list: &[Pair],
        side: usize,
    ) -> [[L::Four; 2]; 3] {
        let neighbour = |place: usize| lanes.pairs(|k| &list[self.neighbours[k][place] as usize]);
        [
            lanes.pairs(|k| &list[2 * self.own[k] + side]),
            neighbour(2 * side),
            neighbour(2 * side + 1),
        ]
    }
}
