// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time schemes, all of one form.
//!
//! Every implicit stage here reads x = x̂ + β v and M (v − v̂) = β f(x, v), with x̂ and v̂ combined from
//! the past. Eliminating v, x is where Σ m/(2β²)‖x − (x̂ + βv̂)‖² + W(x) is stationary.
//!
//! * implicit Euler: x̂ = x₀, v̂ = v₀, β = h;
//! * BDF(2) with ω = h/h₋₁ (Etzmuss 2002, section 3.4.2): x̂ = c₁x₀ − c₂x₋₁, v̂ likewise, β = c₃h;
//! * the second-order start: two stages of a singly diagonal Runge-Kutta method with γ = 1 − 1/√2,
//!   which is L-stable and needs no past and no force at the start.

use super::state::{Past, State};
use crate::{
    Vec3,
    forces::{Membrane, Strain, bending::Bending, bending::extrapolate_angle},
};

/// γ of the starting method.
pub(super) const START_GAMMA: f64 = 1.0 - std::f64::consts::FRAC_1_SQRT_2;

/// Coefficients (c₁, c₂, c₃) of BDF(2) for a ratio ω of this step to the last.
pub(super) fn bdf2_coefficients(ratio: f64) -> [f64; 3] {
    let scale = 1.0 / (1.0 + 2.0 * ratio);
    [(1.0 + ratio).powi(2) * scale, ratio * ratio * scale, (1.0 + ratio) * scale]
}

/// The equations of one stage.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    /// From the start of the step to the end of the stage, in s.
    pub(super) duration: f64,
    /// β, in s.
    pub(super) beta: f64,
    /// x̂ of each vertex, in m.
    pub(super) positions: Vec<Vec3>,
    /// v̂ of each vertex, in m/s.
    pub(super) velocities: Vec<Vec3>,
    /// ε̂ of each triangle.
    pub(super) strains: Vec<Strain>,
    /// θ̂ of each hinge, in rad.
    pub(super) angles: Vec<f64>,
}

/// What the elements measure of a shape.
#[derive(Clone, Debug)]
pub(super) struct Measures {
    strains: Vec<Strain>,
    angles: Vec<f64>,
}

impl Measures {
    pub(super) fn new(membrane: &Membrane, bending: &Bending, positions: &[Vec3]) -> Self {
        let mut strains = vec![[0.0; 3]; membrane.triangle_count()];
        membrane.strains(positions, &mut strains);
        let mut angles = vec![0.0; bending.hinge_count()];
        bending.angles(positions, &mut angles);
        Self { strains, angles }
    }

    /// `first`·(1 + `step`) − `second`·`step`: continues the way from the second to the first.
    fn extrapolated(first: &Self, second: &Self, step: f64) -> Self {
        let strains = first.strains.iter().zip(&second.strains);
        let angles = first.angles.iter().zip(&second.angles);
        Self {
            strains: strains.map(|(a, b)| [0, 1, 2].map(|k| a[k] + step * (a[k] - b[k]))).collect(),
            angles: angles.map(|(a, b)| extrapolate_angle(*a, *b, step)).collect(),
        }
    }
}

impl Stage {
    /// Implicit Euler over `duration` from a state.
    pub(super) fn implicit_euler(state: &State, now: Measures, duration: f64) -> Self {
        Self {
            duration,
            positions: state.positions.clone(),
            velocities: state.velocities.clone(),
            strains: now.strains,
            angles: now.angles,
            beta: duration,
        }
    }

    /// BDF(2) over `duration` from a state and its past.
    pub(super) fn bdf2(
        state: &State,
        past: &Past,
        (now, before): (&Measures, &Measures),
        duration: f64,
    ) -> Self {
        let [c1, c2, c3] = bdf2_coefficients(duration / past.step);
        let combine = |now: &[Vec3], before: &[Vec3]| -> Vec<Vec3> {
            now.iter().zip(before).map(|(now, before)| now * c1 - before * c2).collect()
        };
        let mut positions = combine(&state.positions, &past.positions);
        let mut velocities = combine(&state.velocities, &past.velocities);
        for restart in &past.restarts {
            let vertex = restart.vertex as usize;
            positions[vertex] = state.positions[vertex] * c1 - restart.position * c2;
            velocities[vertex] = state.velocities[vertex] * c1 - restart.velocity * c2;
        }
        let measures = Measures::extrapolated(now, before, c2);
        Self {
            duration,
            beta: c3 * duration,
            positions,
            velocities,
            strains: measures.strains,
            angles: measures.angles,
        }
    }

    /// First stage of the start of a step of `duration`.
    pub(super) fn start_first(state: &State, now: Measures, duration: f64) -> Self {
        Self::implicit_euler(state, now, START_GAMMA * duration)
    }

    /// Second stage of the start: x̂ = x₀ + (1 − γ)h·(rate of the first stage).
    pub(super) fn start_second(
        state: &State,
        (now, then): (&Measures, &Measures),
        first: (&[Vec3], &[Vec3]),
        duration: f64,
    ) -> Self {
        let beta = START_GAMMA * duration;
        let weight = (1.0 - START_GAMMA) / START_GAMMA;
        let combine = |now: &[Vec3], then: &[Vec3]| -> Vec<Vec3> {
            now.iter().zip(then).map(|(a, b)| a + (b - a) * weight).collect()
        };
        let measures = Measures::extrapolated(now, then, -weight);
        Self {
            duration,
            positions: combine(&state.positions, first.0),
            velocities: combine(&state.velocities, first.1),
            strains: measures.strains,
            angles: measures.angles,
            beta,
        }
    }

    /// Velocity of a vertex at a position at the end of the stage, in m/s.
    pub(super) fn velocity(&self, vertex: usize, position: &Vec3) -> Vec3 {
        (position - self.positions[vertex]) / self.beta
    }
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
