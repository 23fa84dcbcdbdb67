// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a straight segment crosses a triangle, decided so that counting crossings is exact.
//!
//! The signs of the determinants involved are exact (Shewchuk, Adaptive precision floating-point
//! arithmetic and fast robust geometric predicates, Discrete & Computational Geometry 18, 1997), as long
//! as the product of three coordinates does not overflow: plain arithmetic decides where it is certain, by
//! Shewchuk's bound on its error, and expansions do where it is not. Coordinates smaller than 2⁻²⁰⁰ m are
//! taken for zero; all others, and their differences, are multiples of 2⁻²⁵² m, and nothing underflows.
//!
//! **Touching.** Where a determinant is zero, because the segment meets an edge or a corner, or ends on the
//! triangle, it takes the sign it would have were both ends moved a little, the second by far less than
//! the first, and both by far less along y than along x and along z than along y, each of them upward
//! (Edelsbrunner and Mücke, Simulation of simplicity, ACM Transactions on Graphics 9, 1990). The little
//! is the same for every triangle: of those around an edge or a corner as many are crossed as would be
//! beside it, and a closed surface is crossed an odd number of times exactly if one end is inside.

#[cfg(test)]
mod tests;

use crate::vec3::Vec3;
use robust::{Coord, Coord3D, orient2d, orient3d};

/// Whether the segment `from`→`to` crosses the triangle. A segment that ends on a surface may cross or
/// not, but all triangles of the surface agree on it. A triangle without area is never crossed.
#[must_use]
pub fn segment_intersects_triangle(from: &Vec3, to: &Vec3, triangle: &[Vec3; 3]) -> bool {
    let [from, to] = [from, to].map(flush_tiny_to_zero);
    let [a, b, c] = triangle.each_ref().map(flush_tiny_to_zero);
    let heights = [&from, &to].map(|end| -orientation_3d([&a, &b, &c, end]));
    if sign(heights[0]) == sign(heights[1]) {
        return false;
    }
    let areas = || (0..3).map(|axis| projected_orientation_2d(axis, &a, &b, &c));
    let [from_above, to_above] =
        heights.map(|height| first_nonzero_is_positive(std::iter::once(height).chain(areas())));
    if from_above == to_above {
        return false;
    }
    let turn = edge_passes_left(&from, &to, &a, &b);
    turn == edge_passes_left(&from, &to, &b, &c) && turn == edge_passes_left(&from, &to, &c, &a)
}

#[inline]
fn flush_tiny_to_zero(point: &Vec3) -> Vec3 {
    /// 2⁻²⁰⁰.
    const FLUSH_THRESHOLD: f64 = f64::from_bits((1023 - 200) << 52);
    point.map(|coordinate| if coordinate.abs() < FLUSH_THRESHOLD { 0.0 } else { coordinate })
}

/// Whether, seen along `from`→`to`, both moved a little, a→b passes on a fixed side of it: which one
/// does not matter, so long as it is the other one for b→a.
fn edge_passes_left(from: &Vec3, to: &Vec3, a: &Vec3, b: &Vec3) -> bool {
    // The derivatives by `from` and by `to`. They are all zero only where all four points lie on one line,
    // and then both ends are on one side of the triangle.
    let by_from = (0..3).map(|axis| projected_orientation_2d(axis, to, a, b));
    let by_to = (0..3).map(|axis| projected_orientation_2d(axis, a, from, b));
    first_nonzero_is_positive(
        std::iter::once(orientation_3d([from, to, a, b])).chain(by_from).chain(by_to),
    )
}

/// Six times the volume of a tetrahedron, with an exact sign: the determinant of (a − d, b − d, c − d).
#[inline]
fn orientation_3d([a, b, c, d]: [&Vec3; 4]) -> f64 {
    /// By the sum of the absolute products: (7 + 56 u) u for a rounding u of 2⁻⁵³, in the article above.
    const RELATIVE_ERROR: f64 = (3.5 + 14.0 * f64::EPSILON) * f64::EPSILON;
    let [from_a, from_b, from_c] = [a - d, b - d, c - d];
    let mut determinant = 0.0;
    let mut absolute = 0.0;
    for (first, second, third) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        let [one, other] = [from_b[second] * from_c[third], from_b[third] * from_c[second]];
        determinant += from_a[first] * (one - other);
        absolute += from_a[first].abs() * (one.abs() + other.abs());
    }
    // Exactly zero, too, where all products are, as in a plane along two axes.
    if determinant.abs() > absolute * RELATIVE_ERROR || absolute == 0.0 {
        determinant
    } else {
        orient3d(to_coord(a), to_coord(b), to_coord(c), to_coord(d))
    }
}

fn sign(number: f64) -> i8 {
    i8::from(number > 0.0) - i8::from(number < 0.0)
}

fn first_nonzero_is_positive(mut signs: impl Iterator<Item = f64>) -> bool {
    signs.find(|sign| *sign != 0.0).is_some_and(|sign| sign > 0.0)
}

fn to_coord(point: &Vec3) -> Coord3D<f64> {
    Coord3D { x: point.x, y: point.y, z: point.z }
}

/// Twice the area of the triangle a, b, c seen along an axis, with an exact sign.
fn projected_orientation_2d(axis: usize, a: &Vec3, b: &Vec3, c: &Vec3) -> f64 {
    let flat = |point: &Vec3| Coord { x: point[(axis + 1) % 3], y: point[(axis + 2) % 3] };
    orient2d(flat(a), flat(b), flat(c))
}
