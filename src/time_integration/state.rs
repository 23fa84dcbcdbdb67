// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a step changes.

use super::{explicit::KinematicState, stage::filled};
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
    /// Internal variables of the elements, if the scheme extrapolates forces; otherwise empty.
    pub(crate) internal_variables: Vec<Vec<f64>>,
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
