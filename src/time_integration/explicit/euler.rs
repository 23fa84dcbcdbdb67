// SPDX-License-Identifier: MIT OR Apache-2.0
//! Explicit Euler (Etzmuss 2002, eq. 3.4): both rates are those at the start. It amplifies undamped motion.

use super::{AccelerationFunction, KinematicState};

pub(crate) fn step(
    start: &KinematicState,
    time: f64,
    accelerations: AccelerationFunction<'_>,
) -> KinematicState {
    let acceleration = accelerations(start, 0.0);
    start.advanced(&start.velocities, &acceleration, time)
}
