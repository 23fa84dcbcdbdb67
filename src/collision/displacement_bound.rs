// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far vertices have come from the places where pairs were measured: what was far apart there needs no look as long
//! as it cannot have come near since.

use super::primitive_pair::Pair;
use crate::{Vec3, parallel::reductions};
use rayon::prelude::*;

/// Of the vertices of cloths; those of colliders go where they were expected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deviations {
    expected: Vec<Vec3>,
    /// In m.
    lengths: Vec<f64>,
}

impl Deviations {
    /// Pairs have been measured on the ways to these places, in m.
    pub(crate) fn expect(&mut self, expected: &[Vec3]) {
        self.expected.clear();
        self.expected.extend_from_slice(expected);
        self.lengths.clear();
        self.lengths.resize(expected.len(), 0.0);
    }

    /// The vertices have come to these places instead, in m.
    pub(crate) fn measure(&mut self, positions: &[Vec3]) {
        let each = self.lengths.par_iter_mut().zip(self.expected.par_iter().zip(positions));
        each.with_min_len(reductions::LIGHT_VERTICES)
            .for_each(|(length, (expected, position))| *length = (position - expected).norm());
    }

    /// The vertices that have come farther from there than their bound in m, in ascending order; `None` where pairs have
    /// not been measured for so many vertices.
    pub(crate) fn beyond(
        &self,
        count: usize,
        bound: impl Fn(usize) -> f64 + Sync,
    ) -> Option<Vec<u32>> {
        let each = self.lengths.par_iter().enumerate().with_min_len(reductions::LIGHT_VERTICES);
        let beyond = each.filter(|(vertex, length)| **length > bound(*vertex));
        (self.lengths.len() == count).then(|| beyond.map(|(vertex, _)| vertex as u32).collect())
    }

    /// Whether the pair must still be farther apart than `reach` in m.
    pub(crate) fn leave_apart(&self, pair: &Pair, reach: f64) -> bool {
        let farthest = |vertices: &[u32]| {
            let each = vertices.iter().filter_map(|vertex| self.lengths.get(*vertex as usize));
            each.fold(0.0, |most: f64, length| most.max(*length))
        };
        let (first, second) = pair.sides();
        pair.clearance - farthest(first) - farthest(second) > reach
    }
}
