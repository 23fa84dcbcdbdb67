// SPDX-License-Identifier: MIT OR Apache-2.0
//! One triangle, or two at an edge: shape and angle.

use super::atan2::{atan2, atan2_lanes};
use crate::{simd::F64x4, vec3::Vec3};

/// Ratio of area to the square of the longest edge below which a triangle is refused as degenerate. Evidence: no test
/// fails with 0; kept as a guard against rounding.
pub(super) const MIN_AREA_RATIO: f64 = 1.0e-7;

/// Twice the area over the sum of squared edge lengths, scaled to 1 for an equilateral triangle.
pub(super) fn shape_quality(a: &Vec3, b: &Vec3, c: &Vec3) -> f64 {
    let squares = (b - a).norm_squared() + (c - b).norm_squared() + (a - c).norm_squared();
    if squares == 0.0 {
        return 0.0;
    }
    2.0 * 3.0_f64.sqrt() * (b - a).cross(&(c - a)).norm() / squares
}

/// Whether a triangle is too thin to compute with.
pub(super) fn is_degenerate(a: &Vec3, b: &Vec3, c: &Vec3) -> bool {
    let longest = (b - a).norm_squared().max((c - b).norm_squared()).max((a - c).norm_squared());
    let area = 0.5 * (b - a).cross(&(c - a)).norm();
    area <= MIN_AREA_RATIO * longest
}

/// Angle in rad between the triangles a,b,c and b,a,d at their edge a→b: 0 where flat, positive where
/// c and d rise along the normals. 0 as well where a triangle has no area.
pub(crate) fn hinge_angle(a: &Vec3, b: &Vec3, c: &Vec3, d: &Vec3) -> f64 {
    let edge = b - a;
    let (first, second) = (edge.cross(&(c - a)), (d - a).cross(&edge));
    angle_between(&first, &second, &edge, edge.norm())
}

/// Angle in rad between two triangles from their normals, of any length, and the common edge with its length.
#[inline]
fn angle_between(first: &Vec3, second: &Vec3, edge: &Vec3, length: f64) -> f64 {
    atan2(-first.cross(second).dot(edge), first.dot(second) * length)
}

/// [`hinge_angle`] of four hinges.
#[inline(always)]
pub(crate) fn hinge_angle_lanes<F: F64x4>(lanes: F, corners: &[[F::Four; 3]; 4]) -> F::Four {
    let [a, b, c, d] = corners;
    let edge = lanes.vectors_between(b, a);
    let first = lanes.cross(&edge, &lanes.vectors_between(c, a));
    let second = lanes.cross(&lanes.vectors_between(d, a), &edge);
    let length = lanes.root(lanes.dot(&edge, &edge));
    angle_between_lanes(lanes, [&first, &second], &edge, length)
}

/// [`angle_between`] of four pairs of normals.
#[inline(always)]
pub(crate) fn angle_between_lanes<F: F64x4>(
    lanes: F,
    [first, second]: [&[F::Four; 3]; 2],
    edge: &[F::Four; 3],
    length: F::Four,
) -> F::Four {
    let across = lanes.dot(&lanes.cross(second, first), edge);
    atan2_lanes(lanes, across, lanes.product(lanes.dot(first, second), length))
}
