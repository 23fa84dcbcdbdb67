// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time integration: the equations of a stage, of one form for all schemes.
//!
//! Every implicit stage has the form x = x̂ + β v and M (v − v̂) = β f(x, v), with x̂ and v̂ combined from present and
//! previous states. With v eliminated, x is a stationary point of Σ m/(2β²)‖x − (x̂ + βv̂)‖² + W(x).
//!
//! * implicit Euler: x̂ = x₀, v̂ = v₀, β = h;
//! * the implicit midpoint rule: implicit Euler to the middle of the step, extrapolated by the factor 2 to its end
//!   (`implicit_midpoint`);
//! * BDF(2) with ω = h/h₋₁ (Etzmuss 2002, section 3.4.2): x̂ = c₁x₀ − c₂x₋₁, v̂ likewise, β = c₃h;
//! * SDIRK2, the second-order start of BDF(2): two stages of a singly diagonally implicit Runge-Kutta method with γ = 1
//!   − 1/√2, which is L-stable and needs neither a previous state nor the force at the start.
//!
//! Semi-implicit schemes (`semi_implicit`) take some forces from previous states, explicit schemes (`explicit`) all of
//! them.

use super::{
    explicit::KinematicState,
    state::{PreviousState, State},
};
use crate::vec3::Vec3;
use std::{collections::BTreeMap, sync::Arc};

/// γ of SDIRK2.
pub(crate) const SDIRK2_GAMMA: f64 = 1.0 - std::f64::consts::FRAC_1_SQRT_2;

/// Coefficients (c₁, c₂, c₃) of BDF(2) for the ratio ω of the step size to the previous one.
pub(crate) fn bdf2_coefficients(ratio: f64) -> [f64; 3] {
    let scale = 1.0 / (1.0 + 2.0 * ratio);
    [(1.0 + ratio).powi(2) * scale, ratio * ratio * scale, (1.0 + ratio) * scale]
}

/// Equations of one stage of a time integrator.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// Time from the start of the step to the end of the stage, in s.
    pub(crate) duration: f64,
    /// β, in s.
    pub(crate) beta: f64,
    /// Extrapolation factor 1/θ: displacement to the end of the stage over that to the point where its equations hold.
    pub(crate) extrapolation_factor: f64,
    /// x̂ of each vertex, in m.
    pub(crate) base_positions: Vec<Vec3>,
    /// v̂ of each vertex, in m/s.
    pub(crate) base_velocities: Vec<Vec3>,
    /// ε̂ of all elements: the reference of strain rates.
    pub(crate) base_measures: Measures,
    /// Position alteration y of vertices in m: part of x̂, and of no velocity.
    pub(crate) alterations: BTreeMap<usize, Vec3>,
}

/// Strain measures of the elements at given positions, by kind of element; shared between stages.
pub(crate) type Measures = Vec<Arc<Vec<f64>>>;

/// End of a stage.
#[derive(Clone, Copy)]
pub(crate) struct StageEnd<'a> {
    /// Positions of all vertices, in m.
    pub(crate) positions: &'a [Vec3],
    /// Velocities of all vertices, in m/s.
    pub(crate) velocities: &'a [Vec3],
}

impl Stage {
    /// Stage of infinite duration, without inertia and viscosity.
    pub(crate) const STATIC: Self = Self {
        duration: f64::INFINITY,
        beta: f64::INFINITY,
        extrapolation_factor: 1.0,
        base_positions: Vec::new(),
        base_velocities: Vec::new(),
        base_measures: Vec::new(),
        alterations: BTreeMap::new(),
    };

    /// Implicit Euler over `duration` in s from a state with these measures. The buffers are for x̂ and v̂.
    pub(crate) fn implicit_euler(
        state: &State,
        measures: Measures,
        duration: f64,
        [positions, velocities]: [Vec<Vec3>; 2],
    ) -> Self {
        Self {
            duration,
            base_positions: filled(positions, state.positions.iter().copied()),
            base_velocities: filled(velocities, state.velocities.iter().copied()),
            base_measures: measures,
            beta: duration,
            ..Self::STATIC
        }
    }

    /// Stage of the contact projection of an explicit step: its solution without contacts is `target`, and a
    /// displacement from it changes velocities over `duration` in s.
    pub(crate) fn contact_projection(target: KinematicState, duration: f64) -> Self {
        let pairs = target.positions.iter().zip(&target.velocities);
        let base_positions = pairs.map(|(x, v)| x - v * duration).collect();
        let KinematicState { velocities: base_velocities, .. } = target;
        Self { duration, beta: duration, base_positions, base_velocities, ..Self::STATIC }
    }

    /// BDF(2) over `duration` in s from a state and the previous one. `extrapolated_measures` extrapolates the measures
    /// from the previous state by a multiple of the last step. The buffers are for x̂ and v̂.
    pub(crate) fn bdf2(
        state: &State,
        previous: &PreviousState,
        extrapolated_measures: impl FnOnce(f64) -> Measures,
        duration: f64,
        [positions, velocities]: [Vec<Vec3>; 2],
    ) -> Self {
        let [c1, c2, c3] = bdf2_coefficients(duration / previous.step_size);
        let combine = |buffer: Vec<Vec3>, now: &[Vec3], before: &[Vec3]| {
            filled(buffer, now.iter().zip(before).map(|(now, before)| now * c1 - before * c2))
        };
        let mut base_positions = combine(positions, &state.positions, &previous.positions);
        let mut base_velocities = combine(velocities, &state.velocities, &previous.velocities);
        for reset in &previous.history_resets {
            let vertex = reset.vertex as usize;
            base_positions[vertex] = state.positions[vertex] * c1 - reset.position * c2;
            base_velocities[vertex] = state.velocities[vertex] * c1 - reset.velocity * c2;
        }
        let base_measures = extrapolated_measures(c2);
        Self {
            duration,
            beta: c3 * duration,
            base_positions,
            base_velocities,
            base_measures,
            ..Self::STATIC
        }
    }

    /// First stage of an SDIRK2 step of `duration` in s.
    pub(crate) fn sdirk2_first(
        state: &State,
        measures: Measures,
        duration: f64,
        buffers: [Vec<Vec3>; 2],
    ) -> Self {
        Self::implicit_euler(state, measures, SDIRK2_GAMMA * duration, buffers)
    }

    /// Second stage of an SDIRK2 step: x̂ = x₀ + (1 − γ)h·(rate of the first stage). `extrapolated_measures`
    /// extrapolates the measures from the end of the first stage to the start by a multiple of that displacement. The
    /// buffers are for x̂ and v̂.
    pub(crate) fn sdirk2_second(
        state: &State,
        extrapolated_measures: impl FnOnce(f64) -> Measures,
        first: StageEnd<'_>,
        duration: f64,
        [positions, velocities]: [Vec<Vec3>; 2],
    ) -> Self {
        let beta = SDIRK2_GAMMA * duration;
        let weight = (1.0 - SDIRK2_GAMMA) / SDIRK2_GAMMA;
        let combine = |buffer: Vec<Vec3>, now: &[Vec3], then: &[Vec3]| {
            filled(buffer, now.iter().zip(then).map(|(a, b)| a + (b - a) * weight))
        };
        let base_measures = extrapolated_measures(-weight);
        Self {
            duration,
            base_positions: combine(positions, &state.positions, first.positions),
            base_velocities: combine(velocities, &state.velocities, first.velocities),
            base_measures,
            beta,
            ..Self::STATIC
        }
    }

    /// Adds a position alteration y in m to x̂: x = x̂ + y + βv (Baraff and Witkin 1998, eq. 17).
    pub(crate) fn alter(&mut self, alterations: BTreeMap<usize, Vec3>) {
        for (vertex, alteration) in &alterations {
            self.base_positions[*vertex] += alteration;
        }
        self.alterations = alterations;
    }

    /// Position alteration of a vertex, in m.
    pub(crate) fn alteration(&self, vertex: usize) -> Vec3 {
        self.alterations.get(&vertex).copied().unwrap_or_default()
    }

    /// Position at which the equations hold if a vertex ends the stage at `position`, in m.
    pub(crate) fn evaluation_point(&self, vertex: usize, position: &Vec3) -> Vec3 {
        let start = self.base_positions[vertex];
        start + (position - start) / self.extrapolation_factor
    }

    /// Positions at which the equations hold if the stage ends at `positions`, in m.
    pub(crate) fn evaluation_points(&self, positions: &[Vec3]) -> Vec<Vec3> {
        let each = positions.iter().enumerate();
        each.map(|(vertex, position)| self.evaluation_point(vertex, position)).collect()
    }

    /// Positions and velocities at which the equations hold if the stage ends at `positions`, in m.
    pub(crate) fn evaluation_state(&self, positions: &[Vec3]) -> KinematicState {
        let points = self.evaluation_points(positions);
        let pairs = points.iter().zip(&self.base_positions);
        let velocities = pairs.map(|(x, base)| (x - base) / self.beta).collect();
        KinematicState { positions: points, velocities }
    }

    /// Position in m at which a vertex ends the stage under an acceleration in m/s² where its equations hold.
    pub(crate) fn end_position(&self, vertex: usize, acceleration: &Vec3) -> Vec3 {
        let velocity = self.base_velocities[vertex] + acceleration * self.beta;
        self.base_positions[vertex] + velocity * (self.beta * self.extrapolation_factor)
    }

    /// Velocities of all vertices in m/s for positions at the end of the stage. The storage of v̂ is reused.
    pub(crate) fn end_velocities(&mut self, positions: &[Vec3]) -> Vec<Vec3> {
        let mut velocities = std::mem::take(&mut self.base_velocities);
        for (vertex, (base, position)) in velocities.iter_mut().zip(positions).enumerate() {
            let velocity =
                (self.evaluation_point(vertex, position) - self.base_positions[vertex]) / self.beta;
            *base = if self.extrapolation_factor > 1.0 {
                *base + (velocity - *base) * self.extrapolation_factor
            } else {
                velocity
            };
        }
        velocities
    }
}

/// List of values in the storage of a buffer.
pub(crate) fn filled(mut buffer: Vec<Vec3>, values: impl Iterator<Item = Vec3>) -> Vec<Vec3> {
    buffer.clear();
    buffer.extend(values);
    buffer
}

#[cfg(test)]
mod tests {
    use super::{super::state::HistoryReset, *};

    const NO_BUFFERS: [Vec<Vec3>; 2] = [Vec::new(), Vec::new()];

    fn state(position: f64, velocity: f64) -> State {
        let velocities = vec![Vec3::x() * velocity];
        State { velocities, ..State::at_rest(vec![Vec3::x() * position]) }
    }

    /// Makes the end of a stage of an oscillator of a frequency in 1/s the present state, with a step of a size in s.
    fn advance(state: &mut State, mut stage: Stage, frequency: f64, step_size: f64) {
        let theta = 1.0 / stage.extrapolation_factor;
        let (base, velocity) = (stage.base_positions[0].x, stage.base_velocities[0].x);
        // (v − v̂) = −βω²x with x = x̂ + βv where the equations hold.
        let point = (base + stage.beta * velocity) / (1.0 + (stage.beta * frequency).powi(2));
        let positions = vec![Vec3::x() * (base + (point - base) / theta)];
        let velocities = stage.end_velocities(&positions);
        state.advance(KinematicState { positions, velocities }, step_size, Vec::new(), Vec::new());
    }

    fn sdirk2_step(state: &mut State, frequency: f64, step: f64) {
        let mut first = state.clone();
        let stage = Stage::sdirk2_first(state, Vec::new(), step, NO_BUFFERS);
        advance(&mut first, stage, frequency, step);
        let end = StageEnd { positions: &first.positions, velocities: &first.velocities };
        let second = Stage::sdirk2_second(state, |_| Vec::new(), end, step, NO_BUFFERS);
        advance(state, second, frequency, step);
    }

    fn bdf2_step(state: &mut State, frequency: f64, step: f64) {
        let Some(previous) = &state.previous else { return sdirk2_step(state, frequency, step) };
        let stage = Stage::bdf2(state, previous, |_| Vec::new(), step, NO_BUFFERS);
        advance(state, stage, frequency, step);
    }

    fn euler_step(state: &mut State, frequency: f64, step: f64) {
        let stage = Stage::implicit_euler(state, Vec::new(), step, NO_BUFFERS);
        advance(state, stage, frequency, step);
    }

    fn midpoint_step(state: &mut State, frequency: f64, step: f64) {
        let stage = Stage::to_middle(state, Vec::new(), step, NO_BUFFERS);
        advance(state, stage, frequency, step);
    }

    type StepFunction = fn(&mut State, f64, f64);

    /// Error after 1 s of an oscillation of 3 rad/s, with steps that alternate by a ratio.
    fn error(step: StepFunction, pairs: u32, ratio: f64) -> f64 {
        let (mut state, frequency) = (state(1.0, 0.0), 3.0);
        let short = 1.0 / f64::from(pairs) / (1.0 + ratio);
        for _ in 0..pairs {
            step(&mut state, frequency, short);
            step(&mut state, frequency, ratio * short);
        }
        let exact = [frequency.cos(), -frequency * frequency.sin()];
        (state.positions[0].x - exact[0]).hypot(state.velocities[0].x - exact[1])
    }

    #[test]
    fn errors_fall_with_the_order_of_each_scheme_at_steps_of_two_sizes() {
        let schemes: [(StepFunction, f64); 4] =
            [(euler_step, 1.0), (midpoint_step, 2.0), (sdirk2_step, 2.0), (bdf2_step, 2.0)];
        for (index, (step, order)) in schemes.into_iter().enumerate() {
            for ratio in [1.0, 2.0] {
                let found = (error(step, 200, ratio) / error(step, 400, ratio)).log2();
                assert!((found - order).abs() < 0.05, "{index}, {ratio}: order {found}");
            }
        }
    }

    #[test]
    fn stiff_motion_dies_out_but_with_the_midpoint_rule() {
        for step in [euler_step, sdirk2_step, bdf2_step] {
            let mut state = state(1.0, 0.0);
            (0..3).for_each(|_| step(&mut state, 1.0e6, 0.01));
            assert!(state.positions[0].norm() < 1e-3, "{state:?}");
        }
        let mut state = state(1.0, 2.0);
        let energy =
            |state: &State| state.positions[0].x.powi(2) * 9.0 + state.velocities[0].x.powi(2);
        let before = energy(&state);
        (0..100).for_each(|_| midpoint_step(&mut state, 3.0, 0.2));
        assert!((energy(&state) / before - 1.0).abs() < 1e-12);
    }

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

    /// A fall x = 3t² − 2t + 1 with 6 m/s², from its states at −0.1 s and 0.
    fn falling() -> State {
        let mut falling = state(1.23, -2.6);
        let KinematicState { positions, velocities } = state(1.0, -2.0).kinematic_state();
        let end = KinematicState { positions, velocities };
        falling.advance(end, 0.1, Vec::new(), Vec::new());
        falling
    }

    #[test]
    fn bdf2_continues_a_parabola_exactly_for_any_step_ratio() {
        let state = falling();
        for step in [0.03, 0.1, 0.24] {
            let previous = state.previous.as_ref().unwrap();
            let mut stage = Stage::bdf2(&state, previous, |_| Vec::new(), step, NO_BUFFERS);
            let end = stage.end_position(0, &(Vec3::x() * 6.0));
            assert!((end.x - (3.0 * step * step - 2.0 * step + 1.0)).abs() < 1e-13);
            let velocity = stage.end_velocities(&[end])[0];
            assert!((velocity.x - (6.0 * step - 2.0)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_history_reset_takes_the_place_of_the_previous_state_of_its_vertex() {
        let mut state = falling();
        let previous = state.previous.as_mut().unwrap();
        // Uniform motion at the present velocity.
        let (position, velocity) = (Vec3::x() * 1.2, Vec3::x() * -2.0);
        previous.history_resets = vec![HistoryReset { vertex: 0, position, velocity }];
        let previous = previous.clone();
        let stage = Stage::bdf2(&state, &previous, |_| Vec::new(), 0.15, NO_BUFFERS);
        assert!((stage.end_position(0, &Vec3::zeros()).x - 0.7).abs() < 1e-13);
    }

    #[test]
    fn a_position_alteration_is_part_of_no_velocity() {
        let mut stage = Stage::implicit_euler(&state(1.0, 4.0), Vec::new(), 0.5, NO_BUFFERS);
        stage.alter(BTreeMap::from([(0, Vec3::x() * 0.25)]));
        let end = stage.end_position(0, &Vec3::zeros());
        assert!((end.x - 3.25).abs() < 1e-15);
        assert!((stage.end_velocities(&[end])[0].x - 4.0).abs() < 1e-14);
        assert_eq!(stage.alteration(0), Vec3::x() * 0.25);
    }

    #[test]
    fn a_contact_projection_that_displaces_nothing_keeps_the_velocities_of_its_target() {
        let target = state(3.0, 5.0).kinematic_state();
        let mut stage = Stage::contact_projection(target.clone(), 0.1);
        let moved = [target.positions[0] + Vec3::y() * 0.01];
        let velocity = stage.end_velocities(&moved)[0];
        assert!((velocity - Vec3::new(5.0, 0.1, 0.0)).norm() < 1e-13);
    }

    #[test]
    fn the_midpoint_rule_holds_in_the_middle() {
        let stage = Stage::to_middle(&state(1.0, 2.0), Vec::new(), 0.2, NO_BUFFERS);
        let end = [Vec3::x() * 1.6];
        let middle = stage.evaluation_state(&end);
        assert!((middle.positions[0].x - 1.3).abs() < 1e-15);
        assert!((middle.velocities[0].x - 3.0).abs() < 1e-13);
        assert_eq!(stage.evaluation_points(&end), middle.positions);
        assert!((stage.clone().end_velocities(&end)[0].x - 4.0).abs() < 1e-13);
    }
}
