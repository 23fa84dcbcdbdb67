// SPDX-License-Identifier: MIT OR Apache-2.0
//! The explicit midpoint rule: both rates are those in the middle of an Euler step.

use super::{Accelerations, Motion};

pub(crate) fn step(start: &Motion, time: f64, accelerations: Accelerations<'_>) -> Motion {
    let acceleration = accelerations(start, 0.0);
    let middle = start.moved(&start.velocities, &acceleration, 0.5 * time);
    let acceleration = accelerations(&middle, 0.5 * time);
    start.moved(&middle.velocities, &acceleration, time)
}
