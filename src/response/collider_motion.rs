// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prescribed motion of a collider within a frame.

use crate::{scene::Collider, vec3::Vec3};

/// Linear motion of a collider's vertices between two frames.
#[derive(Clone, Debug)]
pub(crate) struct ColliderMotion {
    frame_positions: [Vec<Vec3>; 2],
}

impl ColliderMotion {
    /// Motion of a collider at rest.
    pub(crate) fn new(collider: &Collider) -> Self {
        Self {
            frame_positions: [
                collider.initial_positions().to_vec(),
                collider.initial_positions().to_vec(),
            ],
        }
    }

    /// Sets the positions at the end of the frame, in m.
    pub(crate) fn set_target(&mut self, positions: Vec<Vec3>) {
        self.frame_positions[1] = positions;
    }

    /// Positions at the start and at the end of the frame, in m.
    pub(crate) fn frame_positions(&self) -> &[Vec<Vec3>; 2] {
        &self.frame_positions
    }

    /// Restores the positions of a frame from a checkpoint, in m.
    pub(crate) fn set_frame_positions(&mut self, frame: [Vec<Vec3>; 2]) {
        self.frame_positions = frame;
    }

    /// Number of vertices of the collider.
    pub(crate) fn vertex_count(&self) -> usize {
        self.frame_positions[0].len()
    }

    /// Ends the frame at a `fraction` of its duration; the next one starts there.
    pub(crate) fn end_frame(&mut self, fraction: f64) {
        let [start, end] = &mut self.frame_positions;
        for (start, end) in start.iter_mut().zip(end) {
            if fraction < 1.0 {
                *end = *start + (*end - *start) * fraction;
            }
            *start = *end;
        }
    }

    /// Positions at a `fraction` of the frame from 0 to 1, in m; exact for vertices at rest.
    pub(crate) fn positions_at(&self, fraction: f64) -> impl Iterator<Item = Vec3> {
        let pairs = self.frame_positions[0].iter().zip(&self.frame_positions[1]);
        pairs
            .map(move |(from, to)| if fraction < 1.0 { from + (to - from) * fraction } else { *to })
    }
}
