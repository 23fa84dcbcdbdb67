// SPDX-License-Identifier: MIT OR Apache-2.0
//! When moving things come within a distance of each other, without any rounding.
//!
//! As in the library, a point and a triangle are three moving points, and two edges four, whose hull is to
//! stay away from the origin. The hull comes within the gap g of it where
//!
//! - a point x does: x·x ≤ g²; or
//! - an edge from x to y of length e = y − x > 0 does, between its ends: (x × y)² ≤ g² e·e, 0 ≤ −x·e ≤ e·e; or
//! - the face of normal N = e × f ≠ 0 does, inside: (x·N)² ≤ g² N·N, and the coordinates of the foot
//!   of the origin are those of an inner point.
//!
//! All of these are polynomials of the time. The distance is continuous: the first time at which it is no
//! more than g is the start, or a root of one of the first-named polynomials. (Where one of those is zero
//! all the time, as for things that slide in one plane, the first time is when the foot comes in over an edge or a
//! point, and one of theirs is zero, too.)

use crate::polynomial::{Dyadic, Polynomial};
use num_bigint::BigInt;
use weft::{Vec3, geometry::Trajectory};

/// Coordinates that change with time.
type Vector = [Polynomial; 3];

/// A feature of a hull, and when it is within the gap.
struct Part {
    /// Not positive, or zero if there is no gap, where its line or plane is within the gap.
    distance: Polynomial,
    /// Positive where the part has a line or a plane.
    extent: Polynomial,
    /// Not negative where the foot of the origin is inside.
    inside: Vec<Polynomial>,
}

/// A moving hull, as parts.
pub(crate) struct Hull {
    parts: Vec<Part>,
    has_gap: bool,
}

impl Hull {
    /// Of a triangle as seen from a point, with the gap in m.
    pub(crate) fn of_triangle(point: &Trajectory, triangle: &[Trajectory; 3], gap: f64) -> Self {
        let whole = Whole::new(&[point, &triangle[0], &triangle[1], &triangle[2]], gap);
        let [a, b, c] = [1, 2, 3].map(|corner| whole.between(0, corner));
        let normal = cross(&minus(&b, &a), &minus(&c, &a));
        let inside =
            [[&a, &b], [&b, &c], [&c, &a]].map(|[one, other]| dot(&normal, &cross(one, other)));
        let edges = [[&a, &b], [&b, &c], [&c, &a]];
        Self::new(&whole, &[&a, &b, &c], &edges, &normal, &a, inside.into())
    }

    /// Of the differences of two edges, with the gap in m.
    pub(crate) fn of_edges(first: &[Trajectory; 2], second: &[Trajectory; 2], gap: f64) -> Self {
        let whole = Whole::new(&[&first[0], &first[1], &second[0], &second[1]], gap);
        let [a, b, c, d] = [(0, 2), (0, 3), (1, 2), (1, 3)].map(|(i, j)| whole.between(i, j));
        let (along, other) = (minus(&a, &c), minus(&b, &a));
        let normal = cross(&along, &other);
        let extent = squared(&normal);
        let on_first = dot(&normal, &cross(&a, &other));
        let on_second = dot(&normal, &cross(&a, &along));
        let inside = vec![&extent - &on_first, &extent - &on_second, on_first, on_second];
        let edges = [[&a, &b], [&c, &d], [&a, &c], [&b, &d]];
        Self::new(&whole, &[&a, &b, &c, &d], &edges, &normal, &a, inside)
    }

    fn new(
        whole: &Whole,
        points: &[&Vector],
        edges: &[[&Vector; 2]],
        normal: &Vector,
        place: &Vector,
        inside: Vec<Polynomial>,
    ) -> Self {
        let gap_squared = Polynomial::constant(&whole.gap * &whole.gap);
        let has_gap = !gap_squared.is_zero();
        let beyond =
            |distance: &Polynomial, extent: &Polynomial| distance - &(extent * &gap_squared);
        let (volume, area) = (dot(normal, place), squared(normal));
        // Without a gap the volume has the roots of its square.
        let distance = if has_gap { beyond(&volume.squared(), &area) } else { volume };
        let mut parts = vec![Part { distance, extent: area, inside }];
        parts.extend(edges.iter().map(|[x, y]| {
            let edge = minus(y, x);
            let extent = squared(&edge);
            let to_end = dot(y, &edge);
            Part {
                distance: beyond(&squared(&cross(x, y)), &extent),
                inside: vec![&extent - &to_end, to_end],
                extent,
            }
        }));
        let one = Polynomial::constant(BigInt::from(1));
        parts.extend(points.iter().map(|point| Part {
            distance: beyond(&squared(point), &one),
            extent: one.clone(),
            inside: Vec::new(),
        }));
        Self { parts, has_gap }
    }

    /// Whether it is within the gap where polynomials have these signs.
    fn is_within(&self, mut sign: impl FnMut(&Polynomial) -> i8) -> bool {
        self.parts.iter().any(|part| {
            let distance = sign(&part.distance);
            (if self.has_gap { distance <= 0 } else { distance == 0 })
                && sign(&part.extent) > 0
                && part.inside.iter().all(|one| sign(one) >= 0)
        })
    }

    /// Whether it is within the gap at a time.
    pub(crate) fn is_within_at(&self, time: f64) -> bool {
        let time = dyadic(time);
        self.is_within(|polynomial| polynomial.sign_at(&time))
    }

    /// Whether it comes within the gap before a time, or at all.
    pub(crate) fn comes_within(&self, before: Option<f64>) -> bool {
        let before = before.map(dyadic);
        let starts_before = before.as_ref().is_none_or(|time| time.numerator > BigInt::ZERO);
        starts_before && self.is_within_at(0.0) || self.comes_within_later(before.as_ref())
    }

    fn comes_within_later(&self, before: Option<&Dyadic>) -> bool {
        // Without a gap they only meet in one plane; that settles it if they are not always in one.
        let is_settled = !self.has_gap && !self.parts[0].distance.is_zero();
        let parts = if is_settled { &self.parts[..1] } else { &self.parts };
        let mut roots = parts.iter().flat_map(|part| part.distance.roots_within_one());
        roots.any(|mut root| {
            before.is_none_or(|time| root.is_before(time))
                && self.is_within(|polynomial| root.sign_of(polynomial))
        })
    }
}

/// Paths and a gap in whole multiples of one length.
struct Whole {
    paths: Vec<[[BigInt; 3]; 2]>,
    gap: BigInt,
}

impl Whole {
    fn new(paths: &[&Trajectory], gap: f64) -> Self {
        let numbers = paths.iter().flat_map(|path| path.start.iter().chain(&path.end));
        let smallest = numbers.chain([&gap]).map(|number| parts_of(*number).1).min().unwrap_or(0);
        let whole = |number: f64| {
            let (mantissa, exponent) = parts_of(number);
            let shift = if mantissa == 0 { 0 } else { exponent - smallest };
            BigInt::from(mantissa) << shift
        };
        let point = |place: &Vec3| [whole(place.x), whole(place.y), whole(place.z)];
        let ends = |path: &&Trajectory| [point(&path.start), point(&path.end)];
        Self { paths: paths.iter().map(ends).collect(), gap: whole(gap) }
    }

    /// From one path to another, at all times.
    fn between(&self, from: usize, to: usize) -> Vector {
        let (from, to) = (&self.paths[from], &self.paths[to]);
        [0, 1, 2].map(|axis: usize| {
            let [start, end] = [0, 1].map(|end: usize| &to[end][axis] - &from[end][axis]);
            Polynomial::new(vec![start.clone(), end - start])
        })
    }
}

/// A number as a whole one times a power of two; zero with the largest power.
pub(crate) fn parts_of(number: f64) -> (i64, i32) {
    let bits = number.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)).cast_signed();
    let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    if mantissa == 0 {
        return (0, i32::MAX);
    }
    let zeros = mantissa.trailing_zeros();
    let sign = if number < 0.0 { -1 } else { 1 };
    (sign * (mantissa >> zeros), exponent.max(1) - 1075 + zeros.cast_signed())
}

/// A time from 0 to 1.
fn dyadic(time: f64) -> Dyadic {
    let (mantissa, exponent) = parts_of(time);
    match usize::try_from(-exponent) {
        Ok(exponent) => Dyadic { numerator: mantissa.into(), exponent },
        Err(_) => Dyadic::whole(if mantissa == 0 { 0 } else { mantissa << exponent }),
    }
}

fn minus(one: &Vector, other: &Vector) -> Vector {
    [0, 1, 2].map(|axis: usize| &one[axis] - &other[axis])
}

fn dot(one: &Vector, other: &Vector) -> Polynomial {
    &(&(&one[0] * &other[0]) + &(&one[1] * &other[1])) + &(&one[2] * &other[2])
}

fn squared(vector: &Vector) -> Polynomial {
    dot(vector, vector)
}

fn cross(one: &Vector, other: &Vector) -> Vector {
    [0, 1, 2].map(|axis: usize| {
        let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
        &(&one[next] * &other[last]) - &(&one[last] * &other[next])
    })
}
