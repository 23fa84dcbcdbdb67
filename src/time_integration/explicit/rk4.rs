// SPDX-License-Identifier: MIT OR Apache-2.0
//! The classical Runge-Kutta method of fourth order, on positions and velocities alike.

use super::{AccelerationFunction, KinematicState};
use crate::Vec3;

pub(crate) fn step(
    start: &KinematicState,
    time: f64,
    accelerations: AccelerationFunction<'_>,
) -> KinematicState {
    let first = accelerations(start, 0.0);
    let second_at = start.advanced(&start.velocities, &first, 0.5 * time);
    let second = accelerations(&second_at, 0.5 * time);
    let third_at = start.advanced(&second_at.velocities, &second, 0.5 * time);
    let third = accelerations(&third_at, 0.5 * time);
    let fourth_at = start.advanced(&third_at.velocities, &third, time);
    let fourth = accelerations(&fourth_at, time);
    let mean = |parts: [&[Vec3]; 4]| -> Vec<Vec3> {
        let [a, b, c, d] = parts;
        (0..a.len()).map(|k| (a[k] + (b[k] + c[k]) * 2.0 + d[k]) / 6.0).collect()
    };
    let velocities = mean([
        &start.velocities,
        &second_at.velocities,
        &third_at.velocities,
        &fourth_at.velocities,
    ]);
    start.advanced(&velocities, &mean([&first, &second, &third, &fourth]), time)
}
