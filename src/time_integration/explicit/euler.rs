// SPDX-License-Identifier: MIT OR Apache-2.0
//! Explicit Euler (Etzmuss 2002, eq. 3.4): both rates are those at the start. It feeds every motion that nothing damps.

use super::{Accelerations, Motion};

pub(crate) fn step(start: &Motion, time: f64, accelerations: Accelerations<'_>) -> Motion {
    let acceleration = accelerations(start, 0.0);
    start.moved(&start.velocities, &acceleration, time)
}
