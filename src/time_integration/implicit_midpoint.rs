// SPDX-License-Identifier: MIT OR Apache-2.0
//! Implicit midpoint rule (Etzmuss 2002, eq. 3.26): implicit Euler to the middle of the step, extrapolated by the
//! factor 2 to its end. Second order, without numerical damping.
//!
//! The unknowns are the positions at the end of the step, so that contacts are satisfied there.
//!
//! **Viscosity.** (ε(x) − ε̂)/β must be the strain rate in the middle of the step. With ε̂ = ε(x₀) it would be that at
//! a quarter of the step, and the scheme of first order. Along a straight trajectory ε(x) − ε(x₀) = βε̇ − ½β²ε̈, so
//! that ε̂ = ε(x₀) − ½β²ε̈; the second difference along the initial velocity approximates β²ε̈.

use super::{
    stage::{Measures, Stage},
    state::State,
};
use crate::vec3::Vec3;
use std::sync::Arc;

impl Stage {
    /// Implicit midpoint rule over `duration` in s from a state with these measures. `second_difference` is
    /// ε(x₀ + βv₀) − 2ε(x₀) + ε(x₀ − βv₀) with β half of the duration. The buffers are for x̂ and v̂.
    pub(crate) fn implicit_midpoint(
        state: &State,
        measures: &Measures,
        second_difference: &Measures,
        duration: f64,
        buffers: [Vec<Vec3>; 2],
    ) -> Self {
        let kinds = measures.iter().zip(second_difference);
        let base_measures = kinds
            .map(|(measure, difference)| {
                let pairs = measure.iter().zip(difference.iter());
                Arc::new(pairs.map(|(measure, difference)| measure - 0.5 * difference).collect())
            })
            .collect();
        Self::to_middle(state, base_measures, duration, buffers)
    }

    /// Implicit Euler to the middle of a step of `duration` in s, extrapolated to its end. The buffers are for x̂ and v̂.
    pub(crate) fn to_middle(
        state: &State,
        measures: Measures,
        duration: f64,
        buffers: [Vec<Vec3>; 2],
    ) -> Self {
        let to_end = Self::implicit_euler(state, measures, duration, buffers);
        Self { beta: 0.5 * duration, extrapolation_factor: 2.0, ..to_end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ε = x² of a vertex that falls: its rate in the middle of the step, from a reference at its start.
    #[test]
    fn strain_rates_are_those_in_the_middle_of_the_step() {
        let errors = [0.02, 0.01].map(|duration| {
            let (position, velocity, acceleration) = (1.0, 0.5, -3.0);
            let beta = 0.5 * duration;
            let strain = |x: f64| x * x;
            let [before, now, after] = [-beta, 0.0, beta].map(|t| strain(position + velocity * t));
            let list = |value: f64| vec![Arc::new(vec![value])];
            let difference = list(after - 2.0 * now + before);
            let state = State::at_rest(vec![Vec3::x() * position]);
            let no_buffers = [Vec::new(), Vec::new()];
            let stage =
                Stage::implicit_midpoint(&state, &list(now), &difference, duration, no_buffers);
            // The scheme itself moves in a straight line to the middle.
            let mean_velocity = velocity + acceleration * beta;
            let middle = position + mean_velocity * beta;
            let rate = (strain(middle) - stage.base_measures[0][0]) / stage.beta;
            (rate - 2.0 * middle * mean_velocity).abs()
        });
        // Without the second difference the error is of first order.
        let order = (errors[0] / errors[1]).log2();
        assert!(order > 1.9 && errors[0] < 1e-3, "order {order}, {errors:?}");
    }
}
