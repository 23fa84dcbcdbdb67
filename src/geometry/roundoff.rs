// SPDX-License-Identifier: MIT OR Apache-2.0
//! Error of coordinates that were rounded to single precision.

use crate::vec3::Vec3;

/// Error of a coordinate that was rounded to single precision twice, relative to its magnitude.
const F32_ROUND_TRIP_ERROR: f64 = 1.0 / 4_194_304.0;

/// Rounding error of points, in m. It is that of the largest coordinate for all of them: points
/// that were moved to the origin brought their error along.
pub(crate) fn coordinate_error(points: &[Vec3]) -> f64 {
    F32_ROUND_TRIP_ERROR * points.iter().map(Vec3::amax).fold(0.0, f64::max)
}

/// Point in single precision, clamped to finite numbers: infinite bounds are those of empty boxes. Monotone in each
/// coordinate.
#[inline]
pub(crate) fn to_f32_clamped(point: &Vec3) -> [f32; 3] {
    [point.x, point.y, point.z].map(|coordinate| (coordinate as f32).clamp(f32::MIN, f32::MAX))
}
