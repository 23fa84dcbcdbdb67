// SPDX-License-Identifier: MIT OR Apache-2.0
//! Strain measures of all elements at given positions, and their rates.

use super::element_set::ElementSet;
use crate::{
    time_integration::{KinematicState, Measures},
    vec3::Vec3,
};
use std::sync::Arc;

/// Half interval of the central difference of strains for their rate, in s. Strains are smooth over it, and their
/// rounding errors divided by it are far below any rate.
const STRAIN_RATE_INTERVAL: f64 = 1.0e-6;

impl ElementSet {
    /// Discards cached measures, after a change of what they depend on.
    pub(super) fn invalidate_measures(&mut self) {
        self.cached_measures = [None, None];
    }

    /// Measures of the present state, whose positions these are.
    pub(crate) fn current_measures(&mut self, positions: &[Vec3]) -> Measures {
        if let Some(measures) = &self.cached_measures[0] {
            return measures.clone();
        }
        let buffer = self.buffers.take();
        let measures = self.measure_in(buffer, positions);
        self.cached_measures[0] = Some(measures.clone());
        measures
    }

    /// Measures of the previous state, whose positions these are, taken out of the cache: only a step that is retried
    /// needs them twice.
    pub(crate) fn take_previous_measures(&mut self, positions: &[Vec3]) -> Measures {
        self.cached_measures[1].take().unwrap_or_else(|| self.measure(positions))
    }

    /// Makes the cached measures of the present state those of the previous one, after a step.
    pub(crate) fn shift_cached_measures(&mut self) {
        self.cached_measures = [None, self.cached_measures[0].take()];
    }

    /// Measures at `positions`.
    pub(crate) fn measure(&self, positions: &[Vec3]) -> Measures {
        self.measure_in(Measures::new(), positions)
    }

    /// Measures at `positions`, in the storage of a buffer as far as it is not shared.
    fn measure_in(&self, mut buffer: Measures, positions: &[Vec3]) -> Measures {
        buffer.resize_with(self.kinds.len(), Arc::default);
        for (elements, measures) in self.kinds.iter().zip(&mut buffer) {
            if Arc::get_mut(measures).is_none() {
                *measures = Arc::default();
            }
            let own: &mut Vec<f64> = Arc::make_mut(measures);
            own.resize(elements.measure_count(), 0.0);
            elements.measure(positions, own);
        }
        buffer
    }

    /// Measures at the positions extrapolated by the velocities over a time in s.
    fn measure_extrapolated(&self, state: &KinematicState, time: f64) -> Measures {
        let pairs = state.positions.iter().zip(&state.velocities);
        self.measure(&pairs.map(|(x, v)| x + v * time).collect::<Vec<_>>())
    }

    /// Extrapolated measures `first`·(1 + `weight`) − `second`·`weight`.
    pub(crate) fn extrapolate_measures(
        &self,
        first: &Measures,
        mut second: Measures,
        weight: f64,
    ) -> Measures {
        for (elements, (first, second)) in self.kinds.iter().zip(first.iter().zip(&mut second)) {
            let before: &mut Vec<f64> = Arc::make_mut(second);
            elements.extrapolate_all(first, before, weight);
        }
        second
    }

    /// Difference of measures, first minus second.
    fn measure_difference(&self, first: &Measures, second: Measures) -> Measures {
        let mut differences = self.extrapolate_measures(first, second, 1.0);
        for (differences, first) in differences.iter_mut().zip(first) {
            for (difference, first) in Arc::make_mut(differences).iter_mut().zip(first.iter()) {
                *difference -= first;
            }
        }
        differences
    }

    /// Second difference ε(x + v·time) − 2ε(x) + ε(x − v·time) of measures at a state, with a time in s.
    pub(crate) fn second_difference(
        &self,
        state: &KinematicState,
        measures: &Measures,
        time: f64,
    ) -> Measures {
        let before = self.measure_extrapolated(state, -time);
        let continued = self.extrapolate_measures(measures, before, 1.0);
        self.measure_difference(&self.measure_extrapolated(state, time), continued)
    }

    /// ε̂ and 1/β in 1/s for which (ε − ε̂)/β is the strain rate of a kinematic state; 0 unless it `is_viscous`.
    pub(super) fn rate_references(
        &self,
        state: &KinematicState,
        is_viscous: bool,
    ) -> (Measures, f64) {
        let now = self.measure(&state.positions);
        if !is_viscous {
            return (now, 0.0);
        }
        let [before, after] = [-STRAIN_RATE_INTERVAL, STRAIN_RATE_INTERVAL]
            .map(|time| self.measure_extrapolated(state, time));
        let changes = self.measure_difference(&after, before);
        let kinds = now.into_iter().zip(changes).map(|(now, changes)| {
            let pairs = now.iter().zip(changes.iter());
            Arc::new(pairs.map(|(now, change)| now - 0.5 * change).collect())
        });
        (kinds.collect(), 1.0 / STRAIN_RATE_INTERVAL)
    }
}
