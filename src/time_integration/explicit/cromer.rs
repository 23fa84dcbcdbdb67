// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cromer variants of the Runge-Kutta methods (Cords 2004, eq. 2.46 and section 5.4): velocities follow the method,
//! positions advance with the new velocity, in every stage and at the end. Positions are then of first order.
//!
//! They damp: the determinant of a step of an oscillator is about 1 − ω²h²/2, where Euler-Cromer has 1.

use super::{AccelerationFunction, KinematicState};

pub(crate) fn midpoint(
    start: &KinematicState,
    time: f64,
    accelerations: AccelerationFunction<'_>,
) -> KinematicState {
    let first = accelerations(start, 0.0);
    let middle = start.advanced_semi_implicitly(&first, 0.5 * time);
    let second = accelerations(&middle, 0.5 * time);
    start.advanced_semi_implicitly(&second, time)
}

pub(crate) fn heun(
    start: &KinematicState,
    time: f64,
    accelerations: AccelerationFunction<'_>,
) -> KinematicState {
    let first = accelerations(start, 0.0);
    let end = start.advanced_semi_implicitly(&first, time);
    let second = accelerations(&end, time);
    let pairs = first.iter().zip(&second);
    let mean: Vec<_> = pairs.map(|(a, b)| (a + b) * 0.5).collect();
    start.advanced_semi_implicitly(&mean, time)
}

pub(crate) fn rk4(
    start: &KinematicState,
    time: f64,
    accelerations: AccelerationFunction<'_>,
) -> KinematicState {
    let first = accelerations(start, 0.0);
    let middle = start.advanced_semi_implicitly(&first, 0.5 * time);
    let second = accelerations(&middle, 0.5 * time);
    let middle = start.advanced_semi_implicitly(&second, 0.5 * time);
    let third = accelerations(&middle, 0.5 * time);
    let end = start.advanced_semi_implicitly(&third, time);
    let fourth = accelerations(&end, time);
    let sum = |k: usize| first[k] + (second[k] + third[k]) * 2.0 + fourth[k];
    let mean: Vec<_> = (0..first.len()).map(|k| sum(k) / 6.0).collect();
    start.advanced_semi_implicitly(&mean, time)
}
