// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hinge angles, which are known modulo 2π.

use std::f64::consts::{PI, TAU};

/// The angle `now + weight·(now − before)`, its difference taken the short way round.
///
/// An angle passes from π to −π where a sheet is folded onto itself, so c₁θₙ − c₂θₙ₋₁ must be formed as
/// this with weight c₂ = c₁ − 1.
#[must_use]
pub fn extrapolate_angle(now: f64, before: f64, weight: f64) -> f64 {
    now + weight * wrap_angle(now - before)
}

/// An angle modulo 2π, between −π and π.
#[inline]
pub(crate) fn wrap_angle(angle: f64) -> f64 {
    // Rest angles are mostly 0 and most folds open: rarely anything to do, and then bit for bit nothing.
    if angle.abs() <= PI { angle } else { angle - TAU * (angle / TAU).round() }
}

/// Quantities of the angle of a hinge from its rest angle, and of the change of the angle since the past state.
pub(super) type AngleAndChange = [f64; 2];
