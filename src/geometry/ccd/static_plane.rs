// SPDX-License-Identifier: MIT OR Apache-2.0
//! The quick answer for most pairs: one plane at rest that clears the whole motion.
//!
//! The plane is taken across the line between the points that are closest half-way through the motion,
//! however badly they are known. Let n be its normal, not of unit length, xᵢ the points of the hull as in
//! the module above, and R the largest coordinate used. If n·xᵢ > (g + 2⁻⁴⁰ R) |n| for all i at the start
//! and at the end, it is so all the time, as n·xᵢ(t) is linear, and the hull stays farther than g.
//!
//! **Rounding**, u = 2⁻⁵³. The coordinates are differences, rounded by a relative u wherever the origin
//! is. A product n·x is then off by less than 4 u √3 R |n|; for edges it is the difference of two, off by
//! less than 9 u √3 R |n|. |n| is off by a relative 3 u, and g < √3 R or there would be no such plane: that
//! is 6 u R |n|. Together it is less than 2⁵ u R |n|, of the 2¹³ u R |n| there are. What underflows adds some
//! 2⁻¹⁰⁷⁴, which is nothing beside 2⁻⁴⁰ R |n| as long as R and |n| are larger than 10⁻¹⁴⁰; in what is smaller
//! no such plane is accepted, nor in what overflows, where a limit is not finite.

use super::RELATIVE_TOLERANCE;
use crate::vec3::Vec3;

/// Whether a point certainly stays farther than `gap`, in m, from a triangle. Both are given by four
/// positions, the point first, at the start and at the end of a straight and even motion.
///
/// It costs a quarter of [`point_triangle_ccd`](super::point_triangle_ccd), which finds out where it
/// says no, and takes references because the copies into paths would cost as much again.
#[must_use]
#[inline]
pub fn point_triangle_stay_separated(start: [&Vec3; 4], end: [&Vec3; 4], gap: f64) -> bool {
    let (start, end) = (relative_to_first(start), relative_to_first(end));
    let normal = approximate_closest_on_triangle([0, 1, 2].map(|i: usize| start[i] + end[i]));
    let Some(limit) = separation_threshold(&normal, &[start, end], gap) else { return false };
    let is_clear = |points: &[Vec3; 3]| {
        let [a, b, c] = points.each_ref().map(|point| normal.dot(point));
        a > limit && b > limit && c > limit
    };
    is_clear(&start) && is_clear(&end)
}

/// Whether two edges certainly stay farther than `gap`, in m, from each other. They are given by four
/// positions, two for each, at the start and at the end of a straight and even motion.
///
/// It is to [`edge_edge_ccd`](super::edge_edge_ccd) what [`point_triangle_stay_separated`] is to the other.
#[must_use]
#[inline]
pub fn edge_edge_stay_separated(start: [&Vec3; 4], end: [&Vec3; 4], gap: f64) -> bool {
    let (start, end) = (relative_to_first(start), relative_to_first(end));
    let normal = approximate_edge_offset([0, 1, 2].map(|i: usize| start[i] + end[i]));
    let Some(limit) = separation_threshold(&normal, &[start, end], gap) else { return false };
    let is_clear = |points: &[Vec3; 3]| {
        let [b, c, d] = points.each_ref().map(|point| normal.dot(point));
        c > limit && d > limit && c - b > limit && d - b > limit
    };
    is_clear(&start) && is_clear(&end)
}

#[inline]
fn relative_to_first(positions: [&Vec3; 4]) -> [Vec3; 3] {
    let [first, others @ ..] = positions;
    others.map(|other| other - first)
}

/// How far all points must be along the normal; none for numbers too small to tell.
#[inline]
fn separation_threshold(normal: &Vec3, points: &[[Vec3; 3]; 2], gap: f64) -> Option<f64> {
    const MIN_MAGNITUDE: f64 = 1e-140;
    let largest = |one: f64, other: f64| if one > other { one } else { other };
    let extents = points.as_flattened().iter().fold(Vec3::zeros(), |extents, point| {
        extents.zip_map(point, |extent, coordinate| largest(extent, coordinate.abs()))
    });
    let extent = largest(largest(extents.x, extents.y), extents.z);
    let length = normal.norm();
    let is_resolved = extent > MIN_MAGNITUDE && length > MIN_MAGNITUDE;
    is_resolved.then_some((gap + extent * RELATIVE_TOLERANCE) * length)
}

/// The point of a triangle closest to the origin, nearly.
#[inline]
fn approximate_closest_on_triangle([a, b, c]: [Vec3; 3]) -> Vec3 {
    let (ab, ac) = (b - a, c - a);
    let (ab_ab, ab_ac, ac_ac) = (ab.norm_squared(), ab.dot(&ac), ac.norm_squared());
    let (along_ab, along_ac) = (-a.dot(&ab), -a.dot(&ac));
    let determinant = ab_ab * ac_ac - ab_ac * ab_ac;
    let (of_b, of_c) = (ac_ac * along_ab - ab_ac * along_ac, ab_ab * along_ac - ab_ac * along_ab);
    if of_b >= 0.0 && of_c >= 0.0 && of_b + of_c <= determinant {
        let inverse = 1.0 / determinant;
        return a + ab * (of_b * inverse) + ac * (of_c * inverse);
    }
    // The closest points of the edges, and their squared distances but for that of a.
    let (bc_bc, along_bc) = (ab_ab - 2.0 * ab_ac + ac_ac, along_ac - along_ab - ab_ac + ab_ab);
    let [on_ab, on_ac, on_bc] = [
        clamped_ratio(along_ab, ab_ab),
        clamped_ratio(along_ac, ac_ac),
        clamped_ratio(along_bc, bc_bc),
    ];
    let to_ab = on_ab * (on_ab * ab_ab - 2.0 * along_ab);
    let to_ac = on_ac * (on_ac * ac_ac - 2.0 * along_ac);
    let to_bc = ab_ab - 2.0 * along_ab + on_bc * (on_bc * bc_bc - 2.0 * along_bc);
    let mut best = (to_ab, on_ab, 0.0);
    if to_ac < best.0 {
        best = (to_ac, 0.0, on_ac);
    }
    if to_bc < best.0 {
        best = (to_bc, 1.0 - on_bc, on_bc);
    }
    a + ab * best.1 + ac * best.2
}

/// From the edge between the origin and `b` to the edge `c`, `d`, nearly.
#[inline]
fn approximate_edge_offset([b, c, d]: [Vec3; 3]) -> Vec3 {
    let cd = d - c;
    let (b_b, b_cd, cd_cd) = (b.norm_squared(), b.dot(&cd), cd.norm_squared());
    let (b_c, cd_c) = (b.dot(&c), cd.dot(&c));
    let on_first = clamped_ratio(b_c * cd_cd - b_cd * cd_c, b_b * cd_cd - b_cd * b_cd);
    let on_second = clamped_ratio(b_cd * on_first - cd_c, cd_cd);
    let on_first = clamped_ratio(b_cd * on_second + b_c, b_b);
    c + cd * on_second - b * on_first
}

/// Ratio clamped to the range from 0 to 1; 0 for 0/0.
#[inline]
fn clamped_ratio(numerator: f64, denominator: f64) -> f64 {
    // This also makes 0 of what is no number.
    let ratio = (numerator / denominator).max(0.0);
    if ratio < 1.0 { ratio } else { 1.0 }
}
