// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far vertices have come from the places where pairs were measured: what was far apart there needs no look as long
//! as it cannot have come near since.

use super::primitive_pair::PrimitivePair;
use crate::{Vec3, parallel::reductions};
use rayon::prelude::*;

/// Of the vertices of cloths; those of colliders go where they were expected.
#[derive(Clone, Debug, Default)]
pub(crate) struct DisplacementBound {
    predicted_positions: Vec<Vec3>,
    /// In m.
    deviations: Vec<f64>,
}

impl DisplacementBound {
    /// Pairs have been measured on the ways to these places, in m.
    pub(crate) fn set_predicted_positions(&mut self, expected: &[Vec3]) {
        self.predicted_positions.clear();
        self.predicted_positions.extend_from_slice(expected);
        self.deviations.clear();
        self.deviations.resize(expected.len(), 0.0);
    }

    /// The vertices have come to these places instead, in m.
    pub(crate) fn update(&mut self, positions: &[Vec3]) {
        let each =
            self.deviations.par_iter_mut().zip(self.predicted_positions.par_iter().zip(positions));
        each.with_min_len(reductions::MIN_LIGHT_VERTICES_PER_TASK)
            .for_each(|(length, (expected, position))| *length = (position - expected).norm());
    }

    /// The vertices that have come farther from there than their bound in m, in ascending order; `None` where pairs have
    /// not been measured for so many vertices.
    pub(crate) fn vertices_exceeding(
        &self,
        count: usize,
        bound: impl Fn(usize) -> f64 + Sync,
    ) -> Option<Vec<u32>> {
        let each = self
            .deviations
            .par_iter()
            .enumerate()
            .with_min_len(reductions::MIN_LIGHT_VERTICES_PER_TASK);
        let beyond = each.filter(|(vertex, length)| **length > bound(*vertex));
        (self.deviations.len() == count).then(|| beyond.map(|(vertex, _)| vertex as u32).collect())
    }

    /// Whether the pair must still be farther apart than `reach` in m.
    pub(crate) fn certifies_separation(&self, pair: &PrimitivePair, reach: f64) -> bool {
        let farthest = |vertices: &[u32]| {
            let each = vertices.iter().filter_map(|vertex| self.deviations.get(*vertex as usize));
            each.fold(0.0, |most: f64, length| most.max(*length))
        };
        let (first, second) = pair.vertices_by_feature();
        pair.clearance - farthest(first) - farthest(second) > reach
    }
}
