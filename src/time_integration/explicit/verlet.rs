// SPDX-License-Identifier: MIT OR Apache-2.0
//! Velocity Verlet (Hayler 2004, chapter 3), which needs no previous state and so allows any step size.
//!
//! Forces that depend on velocities need the velocity at the end before it is known: an Euler step predicts it,
//! which preserves the second order.

use super::{AccelerationFunction, KinematicState};

pub(crate) fn step(
    start: &KinematicState,
    time: f64,
    accelerations: AccelerationFunction<'_>,
) -> KinematicState {
    let first = accelerations(start, 0.0);
    let mut end = start.advanced(&start.velocities, &first, time);
    for (position, acceleration) in end.positions.iter_mut().zip(&first) {
        *position += acceleration * (0.5 * time * time);
    }
    let second = accelerations(&end, time);
    for ((velocity, first), second) in end.velocities.iter_mut().zip(&first).zip(&second) {
        *velocity += (second - first) * (0.5 * time);
    }
    end
}
