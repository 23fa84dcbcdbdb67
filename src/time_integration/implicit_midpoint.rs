// SPDX-License-Identifier: MIT OR Apache-2.0
//! The implicit midpoint rule (Etzmuss 2002, eq. 3.26): an implicit Euler step to the middle of the step, which then goes
//! on as far again. Of second order, and it damps nothing.
//!
//! What is sought is the end of the step, so that contacts are met there.
//!
//! **Viscosity.** (ε(x) − ε̂)/β shall be the strain rate in the middle, where with ε̂ = ε(x₀) it would be that in the
//! middle of the way there, and the scheme of first order. Along a straight way ε(x) − ε(x₀) = βε̇ − ½β²ε̈, so
//! ε̂ = ε(x₀) − ½β²ε̈, and the second difference along the velocity at the start gives β²ε̈ well enough.

use super::{
    stage::{Measures, Stage},
    state::State,
};
use crate::Vec3;
use std::sync::Arc;

impl Stage {
    /// The implicit midpoint rule over `duration` from a state. `second_difference` is ε(x₀ + βv₀) − 2ε(x₀) + ε(x₀ − βv₀)
    /// with β half of the duration.
    pub(crate) fn implicit_midpoint(
        state: &State,
        now: &Measures,
        second_difference: &Measures,
        duration: f64,
        room: [Vec<Vec3>; 2],
    ) -> Self {
        let kinds = now.iter().zip(second_difference);
        let measures = kinds
            .map(|(now, curving)| {
                let pairs = now.iter().zip(curving.iter());
                Arc::new(pairs.map(|(now, curving)| now - 0.5 * curving).collect())
            })
            .collect();
        let to_end = Self::implicit_euler(state, measures, duration, room);
        Self { beta: 0.5 * duration, extrapolation_factor: 2.0, ..to_end }
    }
}
