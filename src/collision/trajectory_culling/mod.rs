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

use super::primitive_pair::{PairKind, Trajectories};
use crate::{
    Vec3,
    geometry::SweptAabbF32,
    parallel::reductions,
    simd::{F32x8, Kernel, Lanes, dispatch},
};
use rayon::prelude::*;
use wide::f32x4;

/// Room for rounding in distances, as a part of the largest coordinate.
const DISTANCE_ROUNDING_F32: f32 = 1.0 / (1 << 18) as f32;
/// The same in boxes.
const BOX_ROUNDING_F32: f32 = 1.0 / (1 << 21) as f32;
/// A bound for coordinates in m, below which no product is too large for a number, and one for the square of the length of
/// an axis, above which none is too small.
const MAX_COORDINATE: f32 = 1.0e15;
const MIN_AXIS_LENGTH_SQUARED: f32 = 1.0e-24;

/// Axes that are tried for a pair.
const GILBERT_ITERATIONS: usize = 4;

/// The way of every vertex, and where those of cloths are at rest.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrajectoriesF32 {
    /// Where it starts and where it ends, in m, each with the largest of all six coordinates.
    trajectories: Vec<[f32x4; 2]>,
    /// In m, with the largest coordinate.
    rest_positions: Vec<f32x4>,
}

impl TrajectoriesF32 {
    /// Without any ways as yet; `rest` in m, and finite.
    pub(crate) fn new(rest: &[Vec3]) -> Self {
        let rests = rest.iter().map(|at| {
            let [x, y, z] = to_f32_clamped(at);
            f32x4::new([x, y, z, max_abs(&[x, y, z])])
        });
        Self { trajectories: Vec::new(), rest_positions: rests.collect() }
    }

    /// Follows other ways, which must be finite.
    pub(crate) fn set_trajectories(&mut self, Trajectories { starts, ends }: Trajectories<'_>) {
        let each =
            starts.par_iter().zip(ends).with_min_len(reductions::MIN_LIGHT_VERTICES_PER_TASK);
        each.map(|(start, end)| {
            let both = [start, end].map(to_f32_clamped);
            let most = max_abs(both.as_flattened());
            both.map(|[x, y, z]| f32x4::new([x, y, z, most]))
        })
        .collect_into_vec(&mut self.trajectories);
    }

    /// The box around the ways of vertices with `margin` in m around.
    #[inline]
    pub(crate) fn swept_aabb(&self, vertices: &[u32], margin: f64) -> SweptAabbF32 {
        let margin = f32x4::splat(margin as f32);
        let room = |side: f32x4| {
            margin + (side.abs() + margin) * BOX_ROUNDING_F32 + f32x4::splat(f32::MIN_POSITIVE)
        };
        let bounds = |time: usize| {
            let points = vertices.iter().map(|vertex| self.trajectories[*vertex as usize][time]);
            let none = [f32::INFINITY, f32::NEG_INFINITY].map(f32x4::splat);
            let [low, high] =
                points.fold(none, |[low, high], at| [low.fast_min(at), high.fast_max(at)]);
            // What is infinite would meet the places of a tree that nothing is in.
            let [least, most] = [f32::MIN, f32::MAX].map(f32x4::splat);
            [(low - room(low)).fast_max(least), (high + room(high)).fast_min(most)]
        };
        SweptAabbF32::new([bounds(0), bounds(1)])
    }

    /// Bit by bit, which of some pairs of one kind certainly stay farther apart than the distance asked for: whether some axis
    /// keeps all differences between points of both features so far from 0 at the start and at the end, and so in between.
    /// The axis is the shortest difference at the start, as Gilbert, "An iterative procedure for computing the minimum of
    /// a quadratic form on a convex set" (1966), comes nearer to it with each of a few rounds.
    pub(crate) fn separated_mask(&self, kind: PairKind, pairs: &[SeparationQuery]) -> u32 {
        dispatch(SeparationKernel { trajectories: &self.trajectories, kind, queries: pairs })
    }

    /// What the distances of some pairs of one kind at rest are no more than, and hardly less, in m: those of points that come
    /// nearer to each other as above. All vertices are of cloths.
    pub(crate) fn rest_distance_upper_bounds(
        &self,
        kind: PairKind,
        pairs: &[SeparationQuery],
    ) -> [f32; PAIRS_PER_BATCH] {
        dispatch(RestDistanceKernel { rest_positions: &self.rest_positions, kind, queries: pairs })
    }
}

fn to_f32_clamped(at: &Vec3) -> [f32; 3] {
    [at.x, at.y, at.z].map(|value| (value as f32).clamp(f32::MIN, f32::MAX))
}

fn max_abs(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |most, value| most.max(value.abs()))
}

/// Most pairs that are told apart at once.
pub(crate) const PAIRS_PER_BATCH: usize = 8;

/// The vertices of a pair, and a distance in m.
pub(crate) type SeparationQuery = ([u32; 4], f64);

struct SeparationKernel<'a> {
    trajectories: &'a [[f32x4; 2]],
    kind: PairKind,
    /// At least one, and no more than [`AT_ONCE`].
    queries: &'a [SeparationQuery],
}

impl Kernel for SeparationKernel<'_> {
    type Output = u32;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u32 {
        let corners = self.vertices_at(lanes, 0);
        let (wanted, mut open) = self.thresholds(lanes, &corners);
        let starts = pair_differences(lanes, self.kind, &corners);
        let mut axis = mean_difference(lanes, &starts);
        let (mut ends, mut apart) = (None, 0);
        for _ in 0..GILBERT_ITERATIONS {
            let square = lanes.vector_dot(&axis, &axis);
            open &= lanes.mask_bits(lanes.less_than(lanes.splat(MIN_AXIS_LENGTH_SQUARED), square));
            let wanted = lanes.multiply(wanted, lanes.square_root(square));
            let along = projections(lanes, &starts, &axis);
            let found = open & lanes.mask_bits(lanes.less_than(wanted, min_of_four(lanes, &along)));
            if found != 0 {
                let differences = match ends {
                    Some(known) => known,
                    None => pair_differences(lanes, self.kind, &self.vertices_at(lanes, 1)),
                };
                ends = Some(differences);
                let along = projections(lanes, &differences, &axis);
                apart |=
                    found & lanes.mask_bits(lanes.less_than(wanted, min_of_four(lanes, &along)));
                open &= !found;
            }
            if open == 0 {
                break;
            }
            axis = gilbert_step(lanes, &axis, (&starts, &along));
        }
        apart
    }
}

impl SeparationKernel<'_> {
    /// The vertices at a time.
    #[inline(always)]
    fn vertices_at<L: Lanes>(&self, lanes: L, time: usize) -> PairVertices<L> {
        load_vertices(lanes, self.queries, |vertex| self.trajectories[vertex][time].to_array())
    }

    /// The distances with room for rounding, and which pairs there are within the range of numbers.
    #[inline(always)]
    fn thresholds<L: Lanes>(&self, lanes: L, corners: &PairVertices<L>) -> (L::Eight, u32) {
        let most = max_coordinate(lanes, corners);
        let mut distances = [0.0; PAIRS_PER_BATCH];
        for (wanted, (_, distance)) in distances.iter_mut().zip(self.queries) {
            *wanted = *distance as f32;
        }
        let caution = lanes.multiply(lanes.splat(DISTANCE_ROUNDING_F32), most);
        let cautious = lanes.sum(lanes.load(&distances), caution);
        let there = (1 << self.queries.len()) - 1;
        let open = there & lanes.mask_bits(lanes.less_than(most, lanes.splat(MAX_COORDINATE)));
        (lanes.multiply(cautious, lanes.splat(1.0 + DISTANCE_ROUNDING_F32)), open)
    }
}

/// Finds the distances at rest of some pairs.
struct RestDistanceKernel<'a> {
    rest_positions: &'a [f32x4],
    kind: PairKind,
    /// At least one, and no more than [`AT_ONCE`].
    queries: &'a [SeparationQuery],
}

impl Kernel for RestDistanceKernel<'_> {
    type Output = [f32; PAIRS_PER_BATCH];

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Self::Output {
        let Self { rest_positions: rests, kind, queries: pairs } = self;
        let corners = load_vertices(lanes, pairs, |vertex| rests[vertex].to_array());
        let all = pair_differences(lanes, kind, &corners);
        let mut point = mean_difference(lanes, &all);
        let mut least = lanes.vector_dot(&point, &point);
        for _ in 0..GILBERT_ITERATIONS {
            point = gilbert_step(lanes, &point, (&all, &projections(lanes, &all, &point)));
            least = lanes.minimum(lanes.vector_dot(&point, &point), least);
        }
        let caution = lanes
            .multiply(lanes.splat(2.0 * DISTANCE_ROUNDING_F32), max_coordinate(lanes, &corners));
        let cautious = lanes.sum(lanes.square_root(least), caution);
        let found =
            lanes.to_array(lanes.multiply(cautious, lanes.splat(1.0 + DISTANCE_ROUNDING_F32)));
        found.map(|distance| if distance.is_finite() { distance } else { f32::INFINITY })
    }
}

/// Vertices of eight pairs, each with its largest coordinate.
type PairVertices<L> = [[<L as F32x8>::Eight; 4]; 4];

/// The vertices of pairs; places without a pair have the last one.
#[inline(always)]
fn load_vertices<L: Lanes>(
    lanes: L,
    pairs: &[SeparationQuery],
    of: impl Fn(usize) -> [f32; 4],
) -> PairVertices<L> {
    let corner = |corner: usize| {
        lanes.transpose_rows(|place| {
            let (vertices, _) = &pairs[place.min(pairs.len() - 1)];
            of(vertices[corner] as usize)
        })
    };
    [corner(0), corner(1), corner(2), corner(3)]
}

/// The largest coordinates.
#[inline(always)]
fn max_coordinate<L: Lanes>(lanes: L, corners: &PairVertices<L>) -> L::Eight {
    let [a, b, c, d] = corners.map(|[_, _, _, most]| most);
    lanes.maximum(lanes.maximum(a, b), lanes.maximum(c, d))
}

/// Differences between points of both features, of eight pairs.
type PairDifferences<L> = [[<L as F32x8>::Eight; 3]; 4];

#[inline(always)]
fn pair_differences<L: Lanes>(
    lanes: L,
    kind: PairKind,
    corners: &PairVertices<L>,
) -> PairDifferences<L> {
    let [a, b, c, d] = corners.map(|[x, y, z, _]| [x, y, z]);
    let [first, second] = match kind {
        PairKind::VertexFace => [[&a, &b], [&a, &c]],
        PairKind::EdgeEdge => [[&a, &c], [&a, &d]],
    };
    let [third, fourth] = match kind {
        PairKind::VertexFace => [[&a, &d]; 2],
        PairKind::EdgeEdge => [[&b, &c], [&b, &d]],
    };
    [
        lanes.vector_difference(first[0], first[1]),
        lanes.vector_difference(second[0], second[1]),
        lanes.vector_difference(third[0], third[1]),
        lanes.vector_difference(fourth[0], fourth[1]),
    ]
}

/// A mean.
#[inline(always)]
fn mean_difference<L: Lanes>(lanes: L, [a, b, c, d]: &PairDifferences<L>) -> [L::Eight; 3] {
    let ab = [lanes.sum(a[0], b[0]), lanes.sum(a[1], b[1]), lanes.sum(a[2], b[2])];
    let cd = [lanes.sum(c[0], d[0]), lanes.sum(c[1], d[1]), lanes.sum(c[2], d[2])];
    let quarter = lanes.splat(0.25);
    [
        lanes.multiply(quarter, lanes.sum(ab[0], cd[0])),
        lanes.multiply(quarter, lanes.sum(ab[1], cd[1])),
        lanes.multiply(quarter, lanes.sum(ab[2], cd[2])),
    ]
}

/// Products with an axis.
#[inline(always)]
fn projections<L: Lanes>(
    lanes: L,
    [a, b, c, d]: &PairDifferences<L>,
    axis: &[L::Eight; 3],
) -> [L::Eight; 4] {
    [
        lanes.vector_dot(a, axis),
        lanes.vector_dot(b, axis),
        lanes.vector_dot(c, axis),
        lanes.vector_dot(d, axis),
    ]
}

#[inline(always)]
fn min_of_four<L: Lanes>(lanes: L, [a, b, c, d]: &[L::Eight; 4]) -> L::Eight {
    lanes.minimum(lanes.minimum(*a, *b), lanes.minimum(*c, *d))
}

/// The shortest vector between a point and the difference that is the least of these `along` it.
#[inline(always)]
fn gilbert_step<L: Lanes>(
    lanes: L,
    point: &[L::Eight; 3],
    (differences, along): (&PairDifferences<L>, &[L::Eight; 4]),
) -> [L::Eight; 3] {
    let [a, b, c, d] = differences;
    let one = select_smaller(lanes, (along[0], a), (along[1], b));
    let other = select_smaller(lanes, (along[2], c), (along[3], d));
    let (_, place) = select_smaller(lanes, (one.0, &one.1), (other.0, &other.1));
    let toward = lanes.vector_difference(&place, point);
    let against = lanes.difference(lanes.splat(0.0), lanes.vector_dot(&toward, &toward));
    let part = lanes.divide(lanes.vector_dot(point, &toward), against);
    // Where both are in one place but for rounding it may be any number, and none.
    let part = lanes.maximum(lanes.minimum(part, lanes.splat(1.0)), lanes.splat(0.0));
    [
        lanes.sum(point[0], lanes.multiply(part, toward[0])),
        lanes.sum(point[1], lanes.multiply(part, toward[1])),
        lanes.sum(point[2], lanes.multiply(part, toward[2])),
    ]
}

/// The second vector where its number is less, and the first elsewhere.
#[inline(always)]
fn select_smaller<L: Lanes>(
    lanes: L,
    one: (L::Eight, &[L::Eight; 3]),
    other: (L::Eight, &[L::Eight; 3]),
) -> (L::Eight, [L::Eight; 3]) {
    let is_less = lanes.less_than(other.0, one.0);
    let vector = [
        lanes.select(is_less, other.1[0], one.1[0]),
        lanes.select(is_less, other.1[1], one.1[1]),
        lanes.select(is_less, other.1[2], one.1[2]),
    ];
    (lanes.select(is_less, other.0, one.0), vector)
}
