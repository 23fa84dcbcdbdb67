// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time schemes, all of one form.
//!
//! Every implicit stage here reads x = x̂ + β v and M (v − v̂) = β f(x, v), with x̂ and v̂ combined from
//! the past. Eliminating v, x is where Σ m/(2β²)‖x − (x̂ + βv̂)‖² + W(x) is stationary.
//!
//! * implicit Euler: x̂ = x₀, v̂ = v₀, β = h;
//! * the implicit midpoint rule: the same to the middle of the step, and as far again;
//! * BDF(2) with ω = h/h₋₁ (Etzmuss 2002, section 3.4.2): x̂ = c₁x₀ − c₂x₋₁, v̂ likewise, β = c₃h;
//! * the second-order start: two stages of a singly diagonal Runge-Kutta method with γ = 1 − 1/√2,
//!   which is L-stable and needs no past and no force at the start.
//!
//! Schemes that solve once a step (`semi_implicit`) take part of the forces from the past, and explicit ones
//! (`explicit`) all of them.

use super::{
    explicit::KinematicState,
    state::{PreviousState, State},
};
use crate::Vec3;
use std::sync::Arc;

/// γ of the starting method.
pub(crate) const SDIRK2_GAMMA: f64 = 1.0 - std::f64::consts::FRAC_1_SQRT_2;

/// Coefficients (c₁, c₂, c₃) of BDF(2) for a ratio ω of this step to the last.
pub(crate) fn bdf2_coefficients(ratio: f64) -> [f64; 3] {
    let scale = 1.0 / (1.0 + 2.0 * ratio);
    [(1.0 + ratio).powi(2) * scale, ratio * ratio * scale, (1.0 + ratio) * scale]
}

/// The equations of one stage.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// From the start of the step to the end of the stage, in s.
    pub(crate) duration: f64,
    /// β, in s.
    pub(crate) beta: f64,
    /// How far the stage leads, as a multiple of the way to where its equations hold.
    pub(crate) extrapolation_factor: f64,
    /// x̂ of each vertex, in m.
    pub(crate) base_positions: Vec<Vec3>,
    /// v̂ of each vertex, in m/s.
    pub(crate) base_velocities: Vec<Vec3>,
    /// ε̂ of all elements.
    pub(crate) base_measures: Measures,
}

/// What the elements measure of a shape, kind by kind; shared by all who ask for that shape.
pub(crate) type Measures = Vec<Arc<Vec<f64>>>;

impl Stage {
    /// A stage without end, in which only elastic forces count.
    pub(crate) const STATIC: Self = Self {
        duration: f64::INFINITY,
        beta: f64::INFINITY,
        extrapolation_factor: 1.0,
        base_positions: Vec::new(),
        base_velocities: Vec::new(),
        base_measures: Vec::new(),
    };

    /// Implicit Euler over `duration` from a state. `room` is for x̂ and v̂, here and below.
    pub(crate) fn implicit_euler(
        state: &State,
        now: Measures,
        duration: f64,
        [positions, velocities]: [Vec<Vec3>; 2],
    ) -> Self {
        Self {
            duration,
            base_positions: filled(positions, state.positions.iter().copied()),
            base_velocities: filled(velocities, state.velocities.iter().copied()),
            base_measures: now,
            beta: duration,
            extrapolation_factor: 1.0,
        }
    }

    /// A stage that forces have led to a motion; what moves it from there moves velocities over `duration`.
    pub(crate) fn contact_projection(target: KinematicState, duration: f64) -> Self {
        let pairs = target.positions.iter().zip(&target.velocities);
        let base_positions = pairs.map(|(x, v)| x - v * duration).collect();
        let KinematicState { velocities: base_velocities, .. } = target;
        Self {
            duration,
            beta: duration,
            extrapolation_factor: 1.0,
            base_positions,
            base_velocities,
            base_measures: Vec::new(),
        }
    }

    /// BDF(2) over `duration` from a state and its past. `extrapolated` continues the way of the measures from
    /// the past by a part of the step since.
    pub(crate) fn bdf2(
        state: &State,
        past: &PreviousState,
        extrapolated: impl FnOnce(f64) -> Measures,
        duration: f64,
        [positions, velocities]: [Vec<Vec3>; 2],
    ) -> Self {
        let [c1, c2, c3] = bdf2_coefficients(duration / past.step_size);
        let combine = |room: Vec<Vec3>, now: &[Vec3], before: &[Vec3]| {
            filled(room, now.iter().zip(before).map(|(now, before)| now * c1 - before * c2))
        };
        let mut base_positions = combine(positions, &state.positions, &past.positions);
        let mut base_velocities = combine(velocities, &state.velocities, &past.velocities);
        for restart in &past.history_resets {
            let vertex = restart.vertex as usize;
            base_positions[vertex] = state.positions[vertex] * c1 - restart.position * c2;
            base_velocities[vertex] = state.velocities[vertex] * c1 - restart.velocity * c2;
        }
        let base_measures = extrapolated(c2);
        Self {
            duration,
            beta: c3 * duration,
            extrapolation_factor: 1.0,
            base_positions,
            base_velocities,
            base_measures,
        }
    }

    /// First stage of the start of a step of `duration`.
    pub(crate) fn sdirk2_first(
        state: &State,
        now: Measures,
        duration: f64,
        room: [Vec<Vec3>; 2],
    ) -> Self {
        Self::implicit_euler(state, now, SDIRK2_GAMMA * duration, room)
    }

    /// Second stage of the start: x̂ = x₀ + (1 − γ)h·(rate of the first stage). `extrapolated` continues the way of
    /// the measures from the end of the first stage to the start by a part of it.
    pub(crate) fn sdirk2_second(
        state: &State,
        extrapolated: impl FnOnce(f64) -> Measures,
        first: (&[Vec3], &[Vec3]),
        duration: f64,
        [positions, velocities]: [Vec<Vec3>; 2],
    ) -> Self {
        let beta = SDIRK2_GAMMA * duration;
        let weight = (1.0 - SDIRK2_GAMMA) / SDIRK2_GAMMA;
        let combine = |room: Vec<Vec3>, now: &[Vec3], then: &[Vec3]| {
            filled(room, now.iter().zip(then).map(|(a, b)| a + (b - a) * weight))
        };
        let base_measures = extrapolated(-weight);
        Self {
            duration,
            base_positions: combine(positions, &state.positions, first.0),
            base_velocities: combine(velocities, &state.velocities, first.1),
            base_measures,
            beta,
            extrapolation_factor: 1.0,
        }
    }

    /// Where the equations hold when the stage ends at a position.
    pub(crate) fn evaluation_point(&self, vertex: usize, position: &Vec3) -> Vec3 {
        let start = self.base_positions[vertex];
        start + (position - start) / self.extrapolation_factor
    }

    /// Velocities of all vertices at positions at the end of the stage, in m/s. They take the place of v̂.
    pub(crate) fn end_velocities(&mut self, positions: &[Vec3]) -> Vec<Vec3> {
        let mut velocities = std::mem::take(&mut self.base_velocities);
        for (vertex, (given, position)) in velocities.iter_mut().zip(positions).enumerate() {
            let velocity =
                (self.evaluation_point(vertex, position) - self.base_positions[vertex]) / self.beta;
            *given = if self.extrapolation_factor > 1.0 {
                *given + (velocity - *given) * self.extrapolation_factor
            } else {
                velocity
            };
        }
        velocities
    }
}

/// A list of these values, in the room of another.
pub(crate) fn filled(mut room: Vec<Vec3>, values: impl Iterator<Item = Vec3>) -> Vec<Vec3> {
    room.clear();
    room.extend(values);
    room
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bdf2_differentiates_quadratics_exactly_for_any_step_ratio() {
        for ratio in [0.3, 1.0, 2.0] {
            let (last, step) = (0.1, 0.1 * ratio);
            let [c1, c2, c3] = bdf2_coefficients(ratio);
            let quadratic = |t: f64| 3.0 * t * t - 2.0 * t + 1.0;
            let rate =
                (quadratic(step) - c1 * quadratic(0.0) + c2 * quadratic(-last)) / (c3 * step);
            assert!((rate - (6.0 * step - 2.0)).abs() < 1e-12);
        }
    }
}
