// SPDX-License-Identifier: MIT OR Apache-2.0
//! Displacement bound of a Verlet list: pairs that were far apart on the predicted trajectories
//! need no test as long as no vertex has deviated enough to bring them together.

use super::primitive_pair::PrimitivePair;
use crate::{parallel::reductions, vec3::Vec3};
use rayon::prelude::*;

/// Deviations of the vertices of cloths from their predicted positions. Colliders reach theirs
/// exactly.
#[derive(Clone, Debug, Default)]
pub(crate) struct DisplacementBound {
    /// Ends of the trajectories on which pairs were measured, in m.
    predicted_positions: Vec<Vec3>,
    /// Distances from there, in m.
    deviations: Vec<f64>,
}

impl DisplacementBound {
    /// Sets the ends of the trajectories on which pairs have been measured, in m.
    pub(crate) fn set_predicted_positions(&mut self, positions: &[Vec3]) {
        self.predicted_positions.clear();
        self.predicted_positions.extend_from_slice(positions);
        self.deviations.clear();
        self.deviations.resize(positions.len(), 0.0);
    }

    /// Updates the deviations for the present `positions`, in m.
    pub(crate) fn update(&mut self, positions: &[Vec3]) {
        let predicted = self.predicted_positions.par_iter();
        let each = self.deviations.par_iter_mut().zip(predicted.zip(positions));
        each.with_min_len(reductions::MIN_LIGHT_VERTICES_PER_TASK).for_each(
            |(deviation, (predicted, position))| *deviation = (position - predicted).norm(),
        );
    }

    /// Vertices whose deviation exceeds their bound in m, in ascending order; `None` where pairs
    /// have not been measured for `count` vertices.
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
        let exceeding = each.filter(|(vertex, deviation)| **deviation > bound(*vertex));
        (self.deviations.len() == count)
            .then(|| exceeding.map(|(vertex, _)| vertex as u32).collect())
    }

    /// Whether the pair certainly still is farther apart than `distance` in m.
    pub(crate) fn certifies_separation(&self, pair: &PrimitivePair, distance: f64) -> bool {
        let max_deviation = |vertices: &[u32]| {
            let each = vertices.iter().filter_map(|vertex| self.deviations.get(*vertex as usize));
            each.fold(0.0, |max: f64, deviation| max.max(*deviation))
        };
        let (first, second) = pair.vertices_by_feature();
        pair.clearance - max_deviation(first) - max_deviation(second) > distance
    }
}
