// SPDX-License-Identifier: MIT OR Apache-2.0
//! Displacement of points by rounding to single precision.

use crate::Vec3;

/// The part of its coordinates that a point is moved by where it is rounded to single precision twice.
const F32_ROUND_TRIP_ERROR: f64 = 1.0 / 4_194_304.0;

/// How far rounding moves points, in m: near the origin, what was moved there brought its error along.
pub(crate) fn coordinate_error(points: &[Vec3]) -> f64 {
    F32_ROUND_TRIP_ERROR * points.iter().map(Vec3::amax).fold(0.0, f64::max)
}
