// SPDX-License-Identifier: MIT OR Apache-2.0
//! Symplectic Euler (Euler-Cromer): positions advance with the new velocities, so that the energy of oscillations stays
//! bounded.

use super::{AccelerationFunction, KinematicState};

pub(crate) fn step(
    start: &KinematicState,
    time: f64,
    accelerations: AccelerationFunction<'_>,
) -> KinematicState {
    let acceleration = accelerations(start, 0.0);
    start.advanced_semi_implicitly(&acceleration, time)
}
