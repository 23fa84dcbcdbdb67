// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a step changes.

use super::{explicit::KinematicState, internal_variables::ClothInternalVariables, stage::filled};
use crate::vec3::Vec3;
use serde::{Deserialize, Serialize};

/// Positions and velocities of all cloths, and the previous state for multistep schemes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    /// Simulated time, in s.
    pub(crate) time: f64,
    /// Positions of all vertices, in m.
    pub(crate) positions: Vec<Vec3>,
    /// Velocities of all vertices, in m/s.
    pub(crate) velocities: Vec<Vec3>,
    /// State one step ago; `None` after the start or a discontinuity of the forces.
    pub(crate) previous: Option<PreviousState>,
}

/// State one step ago.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PreviousState {
    /// Size of the step since then, in s.
    pub(crate) step_size: f64,
    /// Positions of all vertices, in m.
    pub(crate) positions: Vec<Vec3>,
    /// Velocities of all vertices, in m/s.
    pub(crate) velocities: Vec<Vec3>,
    /// Vertices whose history has been reset.
    pub(crate) history_resets: Vec<HistoryReset>,
    /// Internal variables of each cloth, if the scheme extrapolates forces; otherwise empty.
    pub(crate) internal_variables: Vec<ClothInternalVariables>,
}

/// History reset of a vertex whose velocity has jumped: a previous state in which the jump has happened already. Those
/// of both sides of a contact have the momentum of the actual previous state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HistoryReset {
    /// Index of the vertex.
    pub(crate) vertex: u32,
    /// Position one step ago, in m.
    pub(crate) position: Vec3,
    /// Velocity one step ago, in m/s.
    pub(crate) velocity: Vec3,
}

impl State {
    /// State at rest at time 0.
    pub(crate) fn at_rest(positions: Vec<Vec3>) -> Self {
        let velocities = vec![Vec3::zeros(); positions.len()];
        Self { time: 0.0, positions, velocities, previous: None }
    }

    /// Sets all velocities to 0 and discards the previous state.
    pub(crate) fn bring_to_rest(&mut self) {
        self.velocities.fill(Vec3::zeros());
        self.previous = None;
    }

    /// Makes the end of a step of a size in s the present state, and this one the previous, with these resets and
    /// internal variables. Returns the state before.
    pub(crate) fn advance(
        &mut self,
        end: KinematicState,
        step_size: f64,
        history_resets: Vec<HistoryReset>,
        internal_variables: Vec<ClothInternalVariables>,
    ) -> Option<PreviousState> {
        let positions = std::mem::replace(&mut self.positions, end.positions);
        let velocities = std::mem::replace(&mut self.velocities, end.velocities);
        self.time += step_size;
        self.previous.replace(PreviousState {
            step_size,
            positions,
            velocities,
            history_resets,
            internal_variables,
        })
    }

    /// Root mean square of the speeds of all vertices, in m/s.
    pub(crate) fn mean_speed(&self) -> f64 {
        let squares: f64 = self.velocities.iter().map(Vec3::norm_squared).sum();
        (squares / self.velocities.len() as f64).sqrt()
    }

    /// Positions and velocities.
    pub(crate) fn kinematic_state(&self) -> KinematicState {
        KinematicState { positions: self.positions.clone(), velocities: self.velocities.clone() }
    }

    /// Velocities after a further step of a size in s, linearly extrapolated from the last two states, in m/s, in the
    /// storage of a buffer.
    pub(crate) fn extrapolated_velocities(&self, step_size: f64, buffer: Vec<Vec3>) -> Vec<Vec3> {
        let mut velocities = filled(buffer, self.velocities.iter().copied());
        if let Some(previous) = &self.previous {
            let weight = step_size / previous.step_size;
            for (velocity, before) in velocities.iter_mut().zip(&previous.velocities) {
                *velocity += (*velocity - before) * weight;
            }
            for reset in &previous.history_resets {
                let now = self.velocities[reset.vertex as usize];
                velocities[reset.vertex as usize] = now + (now - reset.velocity) * weight;
            }
        }
        velocities
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two vertices that sped up in a step of 0.5 s.
    fn moving() -> State {
        let mut state = State::at_rest(vec![Vec3::zeros(); 2]);
        let velocities = vec![Vec3::x() * 3.0, Vec3::y() * 4.0];
        let positions = velocities.iter().map(|velocity| velocity * 0.5).collect();
        let replaced =
            state.advance(KinematicState { positions, velocities }, 0.5, Vec::new(), Vec::new());
        assert!(replaced.is_none());
        state
    }

    #[test]
    fn a_step_makes_the_present_state_the_previous_one() {
        let mut state = moving();
        assert_eq!((state.time, state.positions[0]), (0.5, Vec3::x() * 1.5));
        let end = State::at_rest(vec![Vec3::z(); 2]).kinematic_state();
        let mut variables = vec![ClothInternalVariables::default()];
        variables[0].set_kind(0, vec![7.0]);
        let replaced = state.advance(end, 0.25, Vec::new(), variables.clone()).unwrap();
        assert_eq!((replaced.step_size, replaced.positions), (0.5, vec![Vec3::zeros(); 2]));
        let previous = state.previous.unwrap();
        assert_eq!((previous.step_size, previous.positions[0]), (0.25, Vec3::x() * 1.5));
        assert_eq!(previous.internal_variables, variables);
        assert!((state.time - 0.75).abs() < 1e-15);
    }

    #[test]
    fn velocities_are_extrapolated_from_the_history_but_where_it_is_reset() {
        let mut state = moving();
        let extrapolated = state.extrapolated_velocities(0.25, vec![Vec3::z(); 7]);
        assert_eq!(extrapolated, [Vec3::x() * 4.5, Vec3::y() * 6.0]);
        let reset = HistoryReset { vertex: 1, position: Vec3::zeros(), velocity: Vec3::y() * 4.0 };
        state.previous.as_mut().unwrap().history_resets.push(reset);
        let extrapolated = state.extrapolated_velocities(0.25, Vec::new());
        assert_eq!(extrapolated, [Vec3::x() * 4.5, Vec3::y() * 4.0]);
    }

    #[test]
    fn rest_has_neither_speed_nor_history() {
        let mut state = moving();
        assert!((state.mean_speed() - 12.5_f64.sqrt()).abs() < 1e-15);
        state.bring_to_rest();
        assert_eq!((state.mean_speed(), state.previous), (0.0, None));
    }
}
