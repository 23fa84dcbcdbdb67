// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a segment crosses a triangle, both ends of it moved a little: by real little numbers, and without any
//! rounding.

use crate::{contact::parts_of, random::Random};
use num_bigint::{BigInt, Sign};
use weft::{Vec3, geometry::segment_intersects_triangle};

type Point = [BigInt; 3];

/// The ends of a segment and the corners of a triangle.
type Places = [Vec3; 5];

/// Places on a few whole numbers, or a few of these moved, so that most things lie in one plane or on one line.
pub(crate) fn places(random: &mut Random) -> Places {
    let limit = random.pick(&[1, 1, 2, 3, 8]);
    let is_whole = !random.is_one_in(3);
    let mut places =
        [(); 5].map(|()| if is_whole { random.whole_vector(limit) } else { random.vector() });
    if random.is_one_in(3) {
        let [s, t] = [(); 2].map(|()| random.pick(&[0.0, 0.25, 0.5, 1.0, 0.3, -1.0]));
        let [_, other, a, b, c] = places;
        places[0] = a.lerp(&b, s).lerp(&c, t);
        if random.is_one_in(2) {
            places[0] += (places[0] - other) * random.pick(&[1.0, 0.5, -0.5]);
        }
    }
    let offset = random.whole_vector(4) * random.pick(&[0.0, 1.0, 4096.0]);
    let scale = 2.0_f64.powi(random.whole(-20, 20));
    places = places.map(|place| (place + offset) * scale);
    if random.is_one_in(4) {
        let shaken = random.below(5);
        places[shaken].z = places[shaken].z.next_up();
    }
    places
}

/// Bits behind the point.
const BITS: usize = FIRST + 5 * STEP;
/// The first of six little numbers is two to the power of minus this.
const FIRST: usize = 3000;
/// By how many bits each is smaller than the one before: more than two areas can differ by.
const STEP: usize = 400;

/// A panic where the library says something else than exact numbers do.
pub(crate) fn check(places: &Places) {
    let [from, to, a, b, c] = places;
    let expected = crosses(places);
    assert_eq!(segment_intersects_triangle(from, to, &[*a, *b, *c]), expected, "{places:?}");
}

fn crosses(places: &Places) -> bool {
    let coordinates = places.iter().flat_map(Vec3::iter);
    let smallest = coordinates.map(|number| parts_of(*number).1).min().unwrap_or(0);
    let whole = |number: f64| {
        let (mantissa, exponent) = parts_of(number);
        let shift = if mantissa == 0 { 0 } else { exponent - smallest };
        BigInt::from(mantissa) << shift << BITS
    };
    // What is smaller than 2⁻²⁰⁰ m counts as zero.
    let whole = |number: f64| whole(if number.abs() < 2.0_f64.powi(-200) { 0.0 } else { number });
    let [mut from, mut to, a, b, c] =
        places.map(|place| [whole(place.x), whole(place.y), whole(place.z)]);
    // Each is by far smaller than the one before, and yet larger than the product of any two.
    for (number, coordinate) in from.iter_mut().chain(&mut to).enumerate() {
        *coordinate += BigInt::from(1) << (BITS - FIRST - number * STEP);
    }
    if volume(&a, &b, &c, &from) == volume(&a, &b, &c, &to) {
        return false;
    }
    let turns = [[&a, &b], [&b, &c], [&c, &a]].map(|[one, other]| volume(&from, &to, one, other));
    turns[0] == turns[1] && turns[1] == turns[2]
}

/// The sign of the volume of a tetrahedron; none if it is flat.
fn volume(a: &Point, b: &Point, c: &Point, d: &Point) -> Sign {
    let [a, b, c] = [a, b, c].map(|one| [0, 1, 2].map(|axis: usize| &one[axis] - &d[axis]));
    let minor = |i: usize, j: usize| &b[i] * &c[j] - &b[j] * &c[i];
    (&a[0] * minor(1, 2) + &a[1] * minor(2, 0) + &a[2] * minor(0, 1)).sign()
}
