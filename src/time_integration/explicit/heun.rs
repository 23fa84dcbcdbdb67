// SPDX-License-Identifier: MIT OR Apache-2.0
//! Heun's method, the Runge-Kutta method of second order of Cords 2004, table 2.1: the mean of the rates at the start and
//! at the end of an Euler step, for velocities and, unlike the document's eq. 2.29, for positions.

use super::{AccelerationFunction, KinematicState};
use crate::vec3::Vec3;

pub(crate) fn step(
    start: &KinematicState,
    time: f64,
    accelerations: AccelerationFunction<'_>,
) -> KinematicState {
    let first = accelerations(start, 0.0);
    let end = start.advanced(&start.velocities, &first, time);
    let second = accelerations(&end, time);
    let mean = |first: &[Vec3], second: &[Vec3]| -> Vec<Vec3> {
        first.iter().zip(second).map(|(a, b)| (a + b) * 0.5).collect()
    };
    start.advanced(&mean(&start.velocities, &end.velocities), &mean(&first, &second), time)
}
