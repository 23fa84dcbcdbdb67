// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ways of all vertices in single precision: boxes are made of them, and most pairs are told apart by them.
//!
//! **Rounding.** With u = 2⁻²⁴ a coordinate x is kept as fl(x), which is off by no more than u·|x|. Let M be the largest
//! coordinate of some points. A difference of two of them is off by no more than 4uM, its product with an axis a, which may
//! be any, by 18uM·‖a‖, and the length of a by 4u of itself. [`CAUTION`] is 64u. A box is off by u times its coordinates as
//! they are rounded, as it is grown, and as it is widened: [`WIDENED`] is 8u. A point between the differences is off by
//! 4uM as they are, and along each axis by 10uM more for each round that it has come nearer: by 76uM in all, which is less
//! than twice [`CAUTION`].

#[cfg(test)]
mod tests;

use super::primitive_pair::{Kind, Motion};
use crate::{
    Vec3,
    geometry::RoundedBox,
    parallel::reductions,
    simd::{Eights, Kernel, Lanes, dispatch},
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

/// The way of every vertex, and where those of cloths are at rest.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundedWays {
    /// Where it starts and where it ends, in m, each with the largest of all six coordinates.
    ways: Vec<[f32x4; 2]>,
    /// In m, with the largest coordinate.
    rests: Vec<f32x4>,
}

impl RoundedWays {
    /// Without any ways as yet; `rest` in m, and finite.
    pub(crate) fn new(rest: &[Vec3]) -> Self {
        let rests = rest.iter().map(|at| {
            let [x, y, z] = rounded(at);
            f32x4::new([x, y, z, largest(&[x, y, z])])
        });
        Self { ways: Vec::new(), rests: rests.collect() }
    }

    /// Follows other ways, which must be finite.
    pub(crate) fn follow(&mut self, Motion { starts, ends }: Motion<'_>) {
        let each = starts.par_iter().zip(ends).with_min_len(reductions::LIGHT_VERTICES);
        each.map(|(start, end)| {
            let both = [start, end].map(rounded);
            let most = largest(both.as_flattened());
            both.map(|[x, y, z]| f32x4::new([x, y, z, most]))
        })
        .collect_into_vec(&mut self.ways);
    }

    /// The box around the ways of vertices with `margin` in m around.
    #[inline]
    pub(crate) fn around(&self, vertices: &[u32], margin: f64) -> RoundedBox {
        let margin = f32x4::splat(margin as f32);
        let room = |side: f32x4| {
            margin + (side.abs() + margin) * WIDENED + f32x4::splat(f32::MIN_POSITIVE)
        };
        let bounds = |time: usize| {
            let points = vertices.iter().map(|vertex| self.ways[*vertex as usize][time]);
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
        dispatch(TellApart { ways: &self.ways, kind, pairs })
    }

    /// What the distances of some pairs of one kind at rest are no more than, and hardly less, in m: those of points that come
    /// nearer to each other as above. All vertices are of cloths.
    pub(crate) fn rest_distances(&self, kind: Kind, pairs: &[Spaced]) -> [f32; AT_ONCE] {
        dispatch(RestDistances { rests: &self.rests, kind, pairs })
    }
}

fn rounded(at: &Vec3) -> [f32; 3] {
    [at.x, at.y, at.z].map(|value| (value as f32).clamp(f32::MIN, f32::MAX))
}

fn largest(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |most, value| most.max(value.abs()))
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
        let starts = differences(lanes, self.kind, &corners);
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
                    None => differences(lanes, self.kind, &self.corners(lanes, 1)),
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

impl TellApart<'_> {
    /// The vertices at a time.
    #[inline(always)]
    fn corners<L: Lanes>(&self, lanes: L, time: usize) -> Corners<L> {
        corners(lanes, self.pairs, |vertex| self.ways[vertex][time].to_array())
    }

    /// The distances with room for rounding, and which pairs there are within the range of numbers.
    #[inline(always)]
    fn wanted<L: Lanes>(&self, lanes: L, corners: &Corners<L>) -> (L::Eight, u32) {
        let most = most(lanes, corners);
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
}

/// Finds the distances at rest of some pairs.
struct RestDistances<'a> {
    rests: &'a [f32x4],
    kind: Kind,
    /// At least one, and no more than [`AT_ONCE`].
    pairs: &'a [Spaced],
}

impl Kernel for RestDistances<'_> {
    type Output = [f32; AT_ONCE];

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Self::Output {
        let Self { rests, kind, pairs } = self;
        let corners = corners(lanes, pairs, |vertex| rests[vertex].to_array());
        let all = differences(lanes, kind, &corners);
        let mut point = mean(lanes, &all);
        let mut least = lanes.inner(&point, &point);
        for _ in 0..ROUNDS {
            point = nearer(lanes, &point, (&all, &along_axis(lanes, &all, &point)));
            least = lanes.lesser(lanes.inner(&point, &point), least);
        }
        let caution = lanes.multiply(lanes.repeat(2.0 * CAUTION), most(lanes, &corners));
        let cautious = lanes.sum(lanes.square_root(least), caution);
        let found = lanes.array(lanes.multiply(cautious, lanes.repeat(1.0 + CAUTION)));
        found.map(|distance| if distance.is_finite() { distance } else { f32::INFINITY })
    }
}

/// Vertices of eight pairs, each with its largest coordinate.
type Corners<L> = [[<L as Eights>::Eight; 4]; 4];

/// The vertices of pairs; places without a pair have the last one.
#[inline(always)]
fn corners<L: Lanes>(lanes: L, pairs: &[Spaced], of: impl Fn(usize) -> [f32; 4]) -> Corners<L> {
    let corner = |corner: usize| {
        lanes.columns(|place| {
            let (vertices, _) = &pairs[place.min(pairs.len() - 1)];
            of(vertices[corner] as usize)
        })
    };
    [corner(0), corner(1), corner(2), corner(3)]
}

/// The largest coordinates.
#[inline(always)]
fn most<L: Lanes>(lanes: L, corners: &Corners<L>) -> L::Eight {
    let [a, b, c, d] = corners.map(|[_, _, _, most]| most);
    lanes.greater(lanes.greater(a, b), lanes.greater(c, d))
}

/// Differences between points of both features, of eight pairs.
type Differences<L> = [[<L as Eights>::Eight; 3]; 4];

#[inline(always)]
fn differences<L: Lanes>(lanes: L, kind: Kind, corners: &Corners<L>) -> Differences<L> {
    let [a, b, c, d] = corners.map(|[x, y, z, _]| [x, y, z]);
    let [first, second] = match kind {
        Kind::VertexFace => [[&a, &b], [&a, &c]],
        Kind::EdgeEdge => [[&a, &c], [&a, &d]],
    };
    let [third, fourth] = match kind {
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
    // Where both are in one place but for rounding it may be any number, and none.
    let part = lanes.greater(lanes.lesser(part, lanes.repeat(1.0)), lanes.repeat(0.0));
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
