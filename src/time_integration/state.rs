// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a step changes.

use super::{explicit::KinematicState, stage::filled};
use crate::Vec3;
use serde::{Deserialize, Serialize};

/// Positions and velocities of all cloths, and what multi-step schemes remember.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    /// Simulated time, in s.
    pub(crate) time: f64,
    /// Positions of all vertices, in m.
    pub(crate) positions: Vec<Vec3>,
    /// Velocities of all vertices, in m/s.
    pub(crate) velocities: Vec<Vec3>,
    /// The state one step ago, where there was one.
    pub(crate) previous: Option<PreviousState>,
}

/// A state one step ago.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PreviousState {
    /// Length of the step since, in s.
    pub(crate) step_size: f64,
    /// Positions then, in m.
    pub(crate) positions: Vec<Vec3>,
    /// Velocities then, in m/s.
    pub(crate) velocities: Vec<Vec3>,
    /// Vertices with another past than their real one.
    pub(crate) history_resets: Vec<HistoryReset>,
    /// What the elements remembered then, where forces are extrapolated from there; empty elsewhere.
    pub(crate) internal_variables: Vec<Vec<f64>>,
}

/// A vertex whose velocity has jumped. Along the directions of the jump its past is that of a steady motion
/// with the velocity it has now; along the others it keeps its past, or forces between vertices would no longer
/// cancel and momentum would be lost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HistoryReset {
    pub(crate) vertex: u32,
    /// Position one step ago, in m.
    pub(crate) position: Vec3,
    /// Velocity one step ago, in m/s.
    pub(crate) velocity: Vec3,
}

impl State {
    /// A state at rest.
    pub(crate) fn at_rest(positions: Vec<Vec3>) -> Self {
        let velocities = vec![Vec3::zeros(); positions.len()];
        Self { time: 0.0, positions, velocities, previous: None }
    }

    /// Ends all motion.
    pub(crate) fn bring_to_rest(&mut self) {
        self.velocities.fill(Vec3::zeros());
        self.previous = None;
    }

    /// Positions and velocities.
    pub(crate) fn kinematic_state(&self) -> KinematicState {
        KinematicState { positions: self.positions.clone(), velocities: self.velocities.clone() }
    }

    /// The velocities one step on, if they went on changing as they did.
    pub(crate) fn extrapolated_velocities(&self, step: f64, buffer: Vec<Vec3>) -> Vec<Vec3> {
        let mut velocities = filled(buffer, self.velocities.iter().copied());
        if let Some(past) = &self.previous {
            let weight = step / past.step_size;
            for (velocity, before) in velocities.iter_mut().zip(&past.velocities) {
                *velocity += (*velocity - before) * weight;
            }
            for restart in &past.history_resets {
                let now = self.velocities[restart.vertex as usize];
                velocities[restart.vertex as usize] = now + (now - restart.velocity) * weight;
            }
        }
        velocities
    }
}
