// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ways of all vertices in single precision: boxes are made of them, and most pairs are told apart by them.
//!
//! **Rounding.** With u = 2⁻²⁴ a coordinate x is kept as fl(x), which is off by no more than u·|x|. Let M be the largest
//! coordinate of some points. A difference of two of them is off by no more than 4uM, its product with an axis a, which may
//! be any, by 18uM·‖a‖, and the length of a by 4u of itself. [`CAUTION`] is 64u. A box is off by u times its coordinates as they are rounded, as it is grown, and
//! as it is widened: [`WIDENED`] is 8u.

use super::{
    moving_tree::RoundedBox,
    pair::{Kind, Motion},
};
use crate::{
    eights::Eights,
    parallel,
    solver::{Kernel, Lanes, dispatch},
};
use rayon::prelude::*;
use wide::f32x4;

/// Room for rounding in distances, as a part of the largest coordinate.
const CAUTION: f32 = 1.0 / (1 << 18) as f32;
/// The same in boxes.
const WIDENED: f32 = 1.0 / (1 << 21) as f32;
/// A bound for coordinates in m, below which no product is too large for a number, and one for the square of the length of
/// an axis, above which none is too small.
const LARGEST: f32 = 1.0e15;
const SHORTEST: f32 = 1.0e-24;

/// Axes that are tried for a pair.
const ROUNDS: usize = 4;

/// The way of every vertex: where it starts and where it ends, in m, each with the largest of all six coordinates.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundedWays(Vec<[f32x4; 2]>);

impl RoundedWays {
    /// Follows other ways, which must be finite.
    pub(crate) fn follow(&mut self, Motion { starts, ends }: Motion<'_>) {
        let each = starts.par_iter().zip(ends).with_min_len(parallel::LIGHT_VERTICES);
        each.map(|(start, end)| {
            let rounded = |value: f64| (value as f32).clamp(f32::MIN, f32::MAX);
            let [start, end] = [start, end].map(|at| [at.x, at.y, at.z].map(rounded));
            let both = start.iter().chain(&end);
            let most = both.fold(0.0_f32, |most, value| most.max(value.abs()));
            [start, end].map(|[x, y, z]| f32x4::new([x, y, z, most]))
        })
        .collect_into_vec(&mut self.0);
    }

    /// The box around the ways of vertices with `margin` in m around.
    #[inline]
    pub(crate) fn around(&self, vertices: &[u32], margin: f64) -> RoundedBox {
        let margin = f32x4::splat(margin as f32);
        let room = |side: f32x4| {
            margin + (side.abs() + margin) * WIDENED + f32x4::splat(f32::MIN_POSITIVE)
        };
        let bounds = |time: usize| {
            let points = vertices.iter().map(|vertex| self.0[*vertex as usize][time]);
            let none = [f32::INFINITY, f32::NEG_INFINITY].map(f32x4::splat);
            let [low, high] =
                points.fold(none, |[low, high], at| [low.fast_min(at), high.fast_max(at)]);
            // What is infinite would meet the places of a tree that nothing is in.
            let [least, most] = [f32::MIN, f32::MAX].map(f32x4::splat);
            [(low - room(low)).fast_max(least), (high + room(high)).fast_min(most)]
        };
        RoundedBox::new([bounds(0), bounds(1)])
    }

    /// Bit by bit, which of some pairs of one kind certainly stay farther apart than the distance asked for: whether some axis
    /// keeps all differences between points of both features so far from 0 at the start and at the end, and so in between.
    /// The axis is the shortest difference at the start, as Gilbert, "An iterative procedure for computing the minimum of
    /// a quadratic form on a convex set" (1966), comes nearer to it with each of a few rounds.
    pub(crate) fn tell_apart(&self, kind: Kind, pairs: &[Spaced]) -> u32 {
        dispatch(TellApart { ways: &self.0, kind, pairs })
    }
}

/// Most pairs that are told apart at once.
pub(crate) const AT_ONCE: usize = 8;

/// The vertices of a pair, and a distance in m.
pub(crate) type Spaced = ([u32; 4], f64);

struct TellApart<'a> {
    ways: &'a [[f32x4; 2]],
    kind: Kind,
    /// At least one, and no more than [`AT_ONCE`].
    pairs: &'a [Spaced],
}

impl Kernel for TellApart<'_> {
    type Output = u32;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u32 {
        let corners = self.corners(lanes, 0);
        let (wanted, mut open) = self.wanted(lanes, &corners);
        let starts = self.differences(lanes, &corners);
        let mut axis = mean(lanes, &starts);
        let (mut ends, mut apart) = (None, 0);
        for _ in 0..ROUNDS {
            let square = lanes.inner(&axis, &axis);
            open &= lanes.bits(lanes.less(lanes.repeat(SHORTEST), square));
            let wanted = lanes.multiply(wanted, lanes.square_root(square));
            let along = along_axis(lanes, &starts, &axis);
            let found = open & lanes.bits(lanes.less(wanted, least(lanes, &along)));
            if found != 0 {
                let differences = match ends {
                    Some(known) => known,
                    None => self.differences(lanes, &self.corners(lanes, 1)),
                };
                ends = Some(differences);
                let along = along_axis(lanes, &differences, &axis);
                apart |= found & lanes.bits(lanes.less(wanted, least(lanes, &along)));
                open &= !found;
            }
            if open == 0 {
                break;
            }
            axis = nearer(lanes, &axis, (&starts, &along));
        }
        apart
    }
}

/// Differences between points of both features, of eight pairs.
type Differences<L> = [[<L as Eights>::Eight; 3]; 4];

impl TellApart<'_> {
    /// The vertices at a time, each with its largest coordinate; places without a pair have the last one.
    #[inline(always)]
    fn corners<L: Lanes>(&self, lanes: L, time: usize) -> [[L::Eight; 4]; 4] {
        [
            self.corner(lanes, (0, time)),
            self.corner(lanes, (1, time)),
            self.corner(lanes, (2, time)),
            self.corner(lanes, (3, time)),
        ]
    }

    #[inline(always)]
    fn corner<L: Lanes>(&self, lanes: L, (corner, time): (usize, usize)) -> [L::Eight; 4] {
        let last = self.pairs.len() - 1;
        lanes.columns(|place| {
            let (vertices, _) = &self.pairs[place.min(last)];
            self.ways[vertices[corner] as usize][time].to_array()
        })
    }

    /// The distances with room for rounding, and which pairs there are within the range of numbers.
    #[inline(always)]
    fn wanted<L: Lanes>(&self, lanes: L, corners: &[[L::Eight; 4]; 4]) -> (L::Eight, u32) {
        let [a, b, c, d] = corners.map(|[_, _, _, most]| most);
        let most = lanes.greater(lanes.greater(a, b), lanes.greater(c, d));
        let mut distances = [0.0; AT_ONCE];
        for (wanted, (_, distance)) in distances.iter_mut().zip(self.pairs) {
            *wanted = *distance as f32;
        }
        let caution = lanes.multiply(lanes.repeat(CAUTION), most);
        let cautious = lanes.sum(lanes.eight(&distances), caution);
        let there = (1 << self.pairs.len()) - 1;
        let open = there & lanes.bits(lanes.less(most, lanes.repeat(LARGEST)));
        (lanes.multiply(cautious, lanes.repeat(1.0 + CAUTION)), open)
    }

    #[inline(always)]
    fn differences<L: Lanes>(&self, lanes: L, corners: &[[L::Eight; 4]; 4]) -> Differences<L> {
        let [a, b, c, d] = corners.map(|[x, y, z, _]| [x, y, z]);
        let [first, second] = match self.kind {
            Kind::VertexFace => [[&a, &b], [&a, &c]],
            Kind::EdgeEdge => [[&a, &c], [&a, &d]],
        };
        let [third, fourth] = match self.kind {
            Kind::VertexFace => [[&a, &d]; 2],
            Kind::EdgeEdge => [[&b, &c], [&b, &d]],
        };
        [
            lanes.apart(first[0], first[1]),
            lanes.apart(second[0], second[1]),
            lanes.apart(third[0], third[1]),
            lanes.apart(fourth[0], fourth[1]),
        ]
    }
}

/// A mean.
#[inline(always)]
fn mean<L: Lanes>(lanes: L, [a, b, c, d]: &Differences<L>) -> [L::Eight; 3] {
    let ab = [lanes.sum(a[0], b[0]), lanes.sum(a[1], b[1]), lanes.sum(a[2], b[2])];
    let cd = [lanes.sum(c[0], d[0]), lanes.sum(c[1], d[1]), lanes.sum(c[2], d[2])];
    let quarter = lanes.repeat(0.25);
    [
        lanes.multiply(quarter, lanes.sum(ab[0], cd[0])),
        lanes.multiply(quarter, lanes.sum(ab[1], cd[1])),
        lanes.multiply(quarter, lanes.sum(ab[2], cd[2])),
    ]
}

/// Products with an axis.
#[inline(always)]
fn along_axis<L: Lanes>(
    lanes: L,
    [a, b, c, d]: &Differences<L>,
    axis: &[L::Eight; 3],
) -> [L::Eight; 4] {
    [lanes.inner(a, axis), lanes.inner(b, axis), lanes.inner(c, axis), lanes.inner(d, axis)]
}

#[inline(always)]
fn least<L: Lanes>(lanes: L, [a, b, c, d]: &[L::Eight; 4]) -> L::Eight {
    lanes.lesser(lanes.lesser(*a, *b), lanes.lesser(*c, *d))
}

/// The shortest vector between a point and the difference that is the least of these `along` it.
#[inline(always)]
fn nearer<L: Lanes>(
    lanes: L,
    point: &[L::Eight; 3],
    (differences, along): (&Differences<L>, &[L::Eight; 4]),
) -> [L::Eight; 3] {
    let [a, b, c, d] = differences;
    let one = lesser(lanes, (along[0], a), (along[1], b));
    let other = lesser(lanes, (along[2], c), (along[3], d));
    let (_, place) = lesser(lanes, (one.0, &one.1), (other.0, &other.1));
    let toward = lanes.apart(&place, point);
    let against = lanes.difference(lanes.repeat(0.0), lanes.inner(&toward, &toward));
    let part = lanes.divide(lanes.inner(point, &toward), against);
    let part = lanes.lesser(part, lanes.repeat(1.0));
    [
        lanes.sum(point[0], lanes.multiply(part, toward[0])),
        lanes.sum(point[1], lanes.multiply(part, toward[1])),
        lanes.sum(point[2], lanes.multiply(part, toward[2])),
    ]
}

/// The second vector where its number is less, and the first elsewhere.
#[inline(always)]
fn lesser<L: Lanes>(
    lanes: L,
    one: (L::Eight, &[L::Eight; 3]),
    other: (L::Eight, &[L::Eight; 3]),
) -> (L::Eight, [L::Eight; 3]) {
    let is_less = lanes.less(other.0, one.0);
    let vector = [
        lanes.replace(is_less, other.1[0], one.1[0]),
        lanes.replace(is_less, other.1[1], one.1[1]),
        lanes.replace(is_less, other.1[2], one.1[2]),
    ];
    (lanes.replace(is_less, other.0, one.0), vector)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Vec3,
        collision::{closest_on_segments, closest_on_triangle},
        solver::Plain,
    };
    use proptest::{prelude::*, strategy::ValueTree, test_runner::RngSeed};

    const TIMES: usize = 16;

    /// Starts and ends of four vertices of some size, and of a larger way that all go together.
    fn ways() -> impl Strategy<Value = ([[Vec3; 4]; 2], f64)> {
        let vector = || [-1.0..1.0, -1.0..1.0, -1.0..1.0].prop_map(|own: [f64; 3]| Vec3::from(own));
        let four = || [vector(), vector(), vector(), vector()];
        let whole = (four(), four(), vector(), vector(), -3..2_i32, 0.0..1.0);
        whole.prop_map(|(start, change, place, way, exponent, part)| {
            let size = 10.0_f64.powi(exponent);
            let start = start.map(|own| own * size + place * 10.0);
            let end = std::array::from_fn(|k| start[k] + way + change[k] * (part * size));
            ([start, end], size)
        })
    }

    fn distance(kind: Kind, [a, b, c, d]: [Vec3; 4]) -> f64 {
        let square = match kind {
            Kind::VertexFace => closest_on_triangle(&a, &[b, c, d]).distance_squared,
            Kind::EdgeEdge => closest_on_segments(&[a, b], &[c, d]).distance_squared,
        };
        square.sqrt()
    }

    /// The least distance at some times.
    fn least_distance(kind: Kind, [starts, ends]: &[[Vec3; 4]; 2]) -> f64 {
        let at = |time: usize| {
            let part = time as f64 / TIMES as f64;
            std::array::from_fn(|k| starts[k] * (1.0 - part) + ends[k] * part)
        };
        (0..=TIMES).map(|time| distance(kind, at(time))).fold(f64::INFINITY, f64::min)
    }

    fn rounded([starts, ends]: &[[Vec3; 4]; 2]) -> RoundedWays {
        let mut ways = RoundedWays::default();
        ways.follow(Motion { starts, ends });
        ways
    }

    fn is_told_apart(ways: &RoundedWays, kind: Kind, wanted: f64) -> bool {
        ways.tell_apart(kind, &[([0, 1, 2, 3], wanted)]) == 1
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(4),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn what_is_told_apart_is_apart((motion, size) in ways(), part in 0.0..1.5) {
            for kind in [Kind::VertexFace, Kind::EdgeEdge] {
                let found = least_distance(kind, &motion);
                // Around the distance that there is, where rounding decides.
                for wanted in [part * size, found * (1.0 - 1.0e-7), found * (1.0 + 1.0e-7)] {
                    let is_apart = is_told_apart(&rounded(&motion), kind, wanted);
                    prop_assert!(!is_apart || found > wanted, "{kind:?}: {found} {wanted}");
                }
            }
        }

        #[test]
        fn together_pairs_are_told_apart_as_each_alone(
            motions in proptest::collection::vec((ways(), 0.0..1.5), 1..=AT_ONCE),
        ) {
            let side = |k: usize| motions.iter().flat_map(move |((motion, _), _)| motion[k]);
            let [starts, ends]: [Vec<Vec3>; 2] = [side(0).collect(), side(1).collect()];
            let mut ways = RoundedWays::default();
            ways.follow(Motion { starts: &starts, ends: &ends });
            let pairs: Vec<Spaced> = (0..).step_by(4).zip(&motions)
                .map(|(first, ((_, size), part))| ([0, 1, 2, 3].map(|k| first + k), part * size))
                .collect();
            for kind in [Kind::VertexFace, Kind::EdgeEdge] {
                let alone = pairs.iter().map(|pair| ways.tell_apart(kind, &[*pair]));
                let bits = alone.enumerate().fold(0, |bits, (k, alone)| bits | alone << k);
                prop_assert_eq!(ways.tell_apart(kind, &pairs), bits);
                let plain = TellApart { ways: &ways.0, kind, pairs: &pairs }.run(Plain);
                prop_assert_eq!(plain, bits, "on a machine without wide registers");
            }
        }

        #[test]
        fn boxes_hold_the_ways_with_their_margin((motion, size) in ways(), part in 0.0..1.5) {
            let (margin, own) = (part * size, [0, 2, 3]);
            let sides = rounded(&motion).around(&own.map(|vertex| vertex as u32), margin).sides();
            for (time, points) in motion.iter().enumerate() {
                for axis in 0..3 {
                    let along = own.map(|vertex| points[vertex][axis]);
                    let low = along.iter().copied().fold(f64::INFINITY, f64::min) - margin;
                    let high = along.iter().copied().fold(f64::NEG_INFINITY, f64::max) + margin;
                    let [found_low, found_high] = [0, 1].map(|k| f64::from(sides[2 * time + k][axis]));
                    let room = 1.0e-5 * (low.abs() + high.abs() + margin);
                    prop_assert!((low - room..=low).contains(&found_low));
                    prop_assert!((high..=high + room).contains(&found_high));
                }
            }
        }
    }

    #[test]
    fn most_of_what_is_apart_is_told_apart() {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let (mut apart, mut told) = (0, 0);
        for _ in 0..2000 {
            let (motion, size) = ways().new_tree(&mut runner).unwrap().current();
            for kind in [Kind::VertexFace, Kind::EdgeEdge] {
                let wanted = 0.1 * size;
                if least_distance(kind, &motion) > wanted {
                    apart += 1;
                    let is_told = is_told_apart(&rounded(&motion), kind, wanted);
                    told += usize::from(is_told);
                }
            }
        }
        assert!(apart > 2000 && 10 * told > 7 * apart, "{told} of {apart}");
    }

    #[test]
    fn nothing_is_told_apart_beyond_the_range_of_numbers() {
        let far = [0.0, 1.0, 2.0, 3.0].map(|k| Vec3::new(1.0e30 * k, 1.0e39, k));
        let same = [Vec3::new(1.0e-20, 0.0, 0.0); 4];
        for points in [far, same] {
            let ways = rounded(&[points, points]);
            for kind in [Kind::VertexFace, Kind::EdgeEdge] {
                assert!(!is_told_apart(&ways, kind, 0.0));
            }
        }
    }

    /// Places of a tree that nothing is in are beyond all finite boxes.
    #[test]
    fn boxes_stay_finite_beyond_the_range_of_numbers() {
        let points = [0.0, 1.0, -1.0, 2.0].map(|k| Vec3::new(1.0e300 * k, -1.0e39 * k, k));
        let bounds = rounded(&[points, points]).around(&[0, 1, 2, 3], 0.001);
        assert!(bounds.sides().as_flattened().iter().all(|side| side.is_finite()));
    }
}
