// SPDX-License-Identifier: MIT OR Apache-2.0
//! Explicit midpoint rule: both rates are those in the middle of an Euler step.

use super::{AccelerationFunction, KinematicState};

pub(crate) fn step(
    start: &KinematicState,
    time: f64,
    accelerations: AccelerationFunction<'_>,
) -> KinematicState {
    let acceleration = accelerations(start, 0.0);
    let middle = start.advanced(&start.velocities, &acceleration, 0.5 * time);
    let acceleration = accelerations(&middle, 0.5 * time);
    start.advanced(&middle.velocities, &acceleration, time)
}
