// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a step changes.

use crate::Vec3;
use serde::{Deserialize, Serialize};

/// Positions and velocities of all cloths, and what multi-step schemes remember.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    /// Simulated time, in s.
    pub(super) time: f64,
    /// Positions of all vertices, in m.
    pub(super) positions: Vec<Vec3>,
    /// Velocities of all vertices, in m/s.
    pub(super) velocities: Vec<Vec3>,
    /// The state one step ago, where there was one.
    pub(super) past: Option<Past>,
    /// Vertices whose past is not valid, because they hit something.
    pub(super) is_fresh: Vec<bool>,
}

/// A state one step ago.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Past {
    /// Length of the step since, in s.
    pub(super) step: f64,
    /// Positions then, in m.
    pub(super) positions: Vec<Vec3>,
    /// Velocities then, in m/s.
    pub(super) velocities: Vec<Vec3>,
}

impl State {
    /// A state at rest.
    pub(super) fn at_rest(positions: Vec<Vec3>) -> Self {
        let count = positions.len();
        Self {
            time: 0.0,
            positions,
            velocities: vec![Vec3::zeros(); count],
            past: None,
            is_fresh: vec![false; count],
        }
    }

    /// The velocity one step on, if it went on changing as it did.
    pub(super) fn extrapolated_velocity(&self, vertex: usize, step: f64) -> Vec3 {
        let velocity = self.velocities[vertex];
        match &self.past {
            Some(past) if !self.is_fresh[vertex] => {
                velocity + (velocity - past.velocities[vertex]) * (step / past.step)
            }
            _ => velocity,
        }
    }
}
