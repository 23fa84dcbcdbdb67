// SPDX-License-Identifier: MIT OR Apache-2.0
//! Classical Runge-Kutta method of fourth order, for positions and velocities alike.

use super::{AccelerationFunction, KinematicState};
use crate::vec3::Vec3;

pub(crate) fn step(
    start: &KinematicState,
    time: f64,
    accelerations: AccelerationFunction<'_>,
) -> KinematicState {
    let first = accelerations(start, 0.0);
    let second_state = start.advanced(&start.velocities, &first, 0.5 * time);
    let second = accelerations(&second_state, 0.5 * time);
    let third_state = start.advanced(&second_state.velocities, &second, 0.5 * time);
    let third = accelerations(&third_state, 0.5 * time);
    let fourth_state = start.advanced(&third_state.velocities, &third, time);
    let fourth = accelerations(&fourth_state, time);
    let mean = |rates: [&[Vec3]; 4]| -> Vec<Vec3> {
        let [a, b, c, d] = rates;
        (0..a.len()).map(|k| (a[k] + (b[k] + c[k]) * 2.0 + d[k]) / 6.0).collect()
    };
    let velocities = mean([
        &start.velocities,
        &second_state.velocities,
        &third_state.velocities,
        &fourth_state.velocities,
    ]);
    start.advanced(&velocities, &mean([&first, &second, &third, &fourth]), time)
}
