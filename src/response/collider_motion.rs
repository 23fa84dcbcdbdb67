// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prescribed motion of a collider within a frame.

use crate::{Vec3, scene::Collider};

/// A collider on its way through a frame.
#[derive(Clone, Debug)]
pub(crate) struct ColliderMotion {
    frame_positions: [Vec<Vec3>; 2],
}

impl ColliderMotion {
    pub(crate) fn new(collider: &Collider) -> Self {
        Self {
            frame_positions: [
                collider.initial_positions().to_vec(),
                collider.initial_positions().to_vec(),
            ],
        }
    }

    /// Positions to reach at the end of the frame that begins.
    pub(crate) fn set_target(&mut self, positions: Vec<Vec3>) {
        self.frame_positions[1] = positions;
    }

    /// Positions at the start and at the end of the frame, in m.
    pub(crate) fn frame_positions(&self) -> &[Vec<Vec3>; 2] {
        &self.frame_positions
    }

    /// Takes the way of a frame from a checkpoint.
    pub(crate) fn set_frame_positions(&mut self, frame: [Vec<Vec3>; 2]) {
        self.frame_positions = frame;
    }

    pub(crate) fn vertex_count(&self) -> usize {
        self.frame_positions[0].len()
    }

    /// The frame has ended when it had come to `part` of itself; the next one starts there.
    pub(crate) fn end_frame(&mut self, part: f64) {
        let [start, end] = &mut self.frame_positions;
        for (start, end) in start.iter_mut().zip(end) {
            if part < 1.0 {
                *end = *start + (*end - *start) * part;
            }
            *start = *end;
        }
    }

    /// Positions at a `part` of the frame from 0 to 1, in m; exact where nothing moves.
    pub(crate) fn positions_at(&self, part: f64) -> impl Iterator<Item = Vec3> {
        let pairs = self.frame_positions[0].iter().zip(&self.frame_positions[1]);
        pairs.map(move |(from, to)| if part < 1.0 { from + (to - from) * part } else { *to })
    }
}
