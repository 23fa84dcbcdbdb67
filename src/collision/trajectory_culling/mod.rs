// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conservative separating-axis test of the trajectories of eight pairs at once, in single
//! precision, and the swept AABBs of features.
//!
//! **Rounding.** With u = 2⁻²⁴ a coordinate x is kept as fl(x), which is off by no more than u·|x|. Let M be the largest
//! coordinate of some points. A difference of two of them is off by no more than 4uM, its product with an axis a, which may
//! be any, by 18uM·‖a‖, and the length of a by 4u of itself. [`DISTANCE_ROUNDING_F32`] is 64u. A box is off by u times its
//! coordinates as they are rounded, as it is grown, and as it is widened: `BOX_ROUNDING_F32` (in `boxes`) is 8u. A point between the
//! differences is off by 4uM as they are, and along each axis by 10uM more for each round that it has come nearer: by 76uM
//! in all, which is less than twice [`DISTANCE_ROUNDING_F32`].

mod boxes;
#[cfg(test)]
mod tests;

use super::primitive_pair::{PairKind, Trajectories};
use crate::{
    geometry::to_f32_clamped,
    parallel::reductions,
    simd::{F32x8, Kernel, Lanes, dispatch},
    vec3::Vec3,
};
use rayon::prelude::*;
use wide::f32x4;

/// Rounding allowance of distances, relative to the largest coordinate.
const DISTANCE_ROUNDING_F32: f32 = 1.0 / (1 << 18) as f32;
/// Largest coordinate in m for which no product overflows.
const MAX_COORDINATE: f32 = 1.0e15;
/// Smallest squared length of an axis, in m², for which no product underflows.
const MIN_AXIS_LENGTH_SQUARED: f32 = 1.0e-24;

/// Parameters of the separating-axis test.
struct TrajectoryCullingParameters {
    /// Axes tried for each pair: iterations of Gilbert's algorithm. The rounding analysis allows
    /// for four. Effect: speed only; more certify more pairs before the narrow phase but take
    /// longer themselves. Evidence: `most_separated_pairs_are_certified` (70 % of separated
    /// pairs); scenes keep their bits at 0.
    gilbert_iterations: usize,
}

impl TrajectoryCullingParameters {
    const DEFAULT: Self = Self { gilbert_iterations: 4 };
}

const PARAMETERS: TrajectoryCullingParameters = TrajectoryCullingParameters::DEFAULT;

/// Trajectories of all vertices, and rest positions of the cloths, in single precision.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrajectoriesF32 {
    /// Start and end position of every vertex in m, each with the largest of all six coordinates.
    trajectories: Vec<[f32x4; 2]>,
    /// Rest positions in m, each with its largest coordinate.
    rest_positions: Vec<f32x4>,
}

impl TrajectoriesF32 {
    /// Rest positions in m, finite, without any trajectories.
    pub(crate) fn new(rest_positions: &[Vec3]) -> Self {
        let rest_positions = rest_positions.iter().map(|position| {
            let [x, y, z] = to_f32_clamped(position);
            f32x4::new([x, y, z, max_abs(&[x, y, z])])
        });
        Self { trajectories: Vec::new(), rest_positions: rest_positions.collect() }
    }

    /// Sets the trajectories, which must be finite.
    pub(crate) fn set_trajectories(&mut self, Trajectories { starts, ends }: Trajectories<'_>) {
        let each =
            starts.par_iter().zip(ends).with_min_len(reductions::MIN_LIGHT_VERTICES_PER_TASK);
        each.map(|(start, end)| {
            let endpoints = [start, end].map(to_f32_clamped);
            let max = max_abs(endpoints.as_flattened());
            endpoints.map(|[x, y, z]| f32x4::new([x, y, z, max]))
        })
        .collect_into_vec(&mut self.trajectories);
    }

    /// Bit mask of the pairs of one kind that certainly stay farther apart than their query
    /// distance: some axis separates all differences between points of both features from 0 by
    /// this distance at the start and at the end, hence at all times between. The axis is an
    /// approximation of the shortest difference at the start, improved by a few iterations of
    /// Gilbert, "An iterative procedure for computing the minimum of a quadratic form on a convex
    /// set" (1966).
    pub(crate) fn separated_mask(&self, kind: PairKind, queries: &[SeparationQuery]) -> u32 {
        dispatch(SeparationKernel { trajectories: &self.trajectories, kind, queries })
    }

    /// Tight upper bounds of the rest distances of pairs of one kind, in m, by Gilbert's iteration.
    /// All vertices are of cloths.
    pub(crate) fn rest_distance_upper_bounds(
        &self,
        kind: PairKind,
        queries: &[SeparationQuery],
    ) -> [f32; PAIRS_PER_BATCH] {
        dispatch(RestDistanceKernel { rest_positions: &self.rest_positions, kind, queries })
    }
}

/// Largest absolute value.
fn max_abs(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |max, value| max.max(value.abs()))
}

/// Most pairs tested at once.
pub(crate) const PAIRS_PER_BATCH: usize = 8;

/// Pair and test distance of a separation query.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SeparationQuery {
    /// Vertices of the pair, as in `PrimitivePair`.
    pub(crate) vertices: [u32; 4],
    /// Test distance, in m.
    pub(crate) distance: f64,
}

/// Separating-axis test of a batch of pairs.
struct SeparationKernel<'a> {
    trajectories: &'a [[f32x4; 2]],
    kind: PairKind,
    /// At least one, at most [`PAIRS_PER_BATCH`].
    queries: &'a [SeparationQuery],
}

impl Kernel for SeparationKernel<'_> {
    type Output = u32;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u32 {
        let vertices = self.vertices_at(lanes, 0);
        let (thresholds, mut undecided) = self.thresholds(lanes, &vertices);
        let starts = pair_differences(lanes, self.kind, &vertices);
        let mut axis = mean_difference(lanes, &starts);
        let (mut ends, mut separated) = (None, 0);
        for _ in 0..PARAMETERS.gilbert_iterations {
            let square = lanes.vector_dot(&axis, &axis);
            undecided &=
                lanes.mask_bits(lanes.less_than(lanes.splat(MIN_AXIS_LENGTH_SQUARED), square));
            let scaled_thresholds = lanes.multiply(thresholds, lanes.square_root(square));
            let start_projections = projections(lanes, &starts, &axis);
            let min_projection = min_of_four(lanes, &start_projections);
            let at_start =
                undecided & lanes.mask_bits(lanes.less_than(scaled_thresholds, min_projection));
            if at_start != 0 {
                let differences = match ends {
                    Some(known) => known,
                    None => pair_differences(lanes, self.kind, &self.vertices_at(lanes, 1)),
                };
                ends = Some(differences);
                let end_projections = projections(lanes, &differences, &axis);
                let min_projection = min_of_four(lanes, &end_projections);
                separated |=
                    at_start & lanes.mask_bits(lanes.less_than(scaled_thresholds, min_projection));
                undecided &= !at_start;
            }
            if undecided == 0 {
                break;
            }
            axis = gilbert_step(lanes, &axis, &starts, &start_projections);
        }
        separated
    }
}

impl SeparationKernel<'_> {
    /// Vertices of all pairs at the start (0) or at the end (1).
    #[inline(always)]
    fn vertices_at<L: Lanes>(&self, lanes: L, time: usize) -> PairVertices<L> {
        load_vertices(lanes, self.queries, |vertex| self.trajectories[vertex][time].to_array())
    }

    /// Test distances with their rounding allowance, and the mask of pairs within the range of
    /// numbers.
    #[inline(always)]
    fn thresholds<L: Lanes>(&self, lanes: L, vertices: &PairVertices<L>) -> (L::Eight, u32) {
        let max = max_coordinate(lanes, vertices);
        let mut distances = [0.0; PAIRS_PER_BATCH];
        for (distance, query) in distances.iter_mut().zip(self.queries) {
            *distance = query.distance as f32;
        }
        let allowance = lanes.multiply(lanes.splat(DISTANCE_ROUNDING_F32), max);
        let thresholds = lanes.sum(lanes.load(&distances), allowance);
        let occupied = (1 << self.queries.len()) - 1;
        let undecided =
            occupied & lanes.mask_bits(lanes.less_than(max, lanes.splat(MAX_COORDINATE)));
        (lanes.multiply(thresholds, lanes.splat(1.0 + DISTANCE_ROUNDING_F32)), undecided)
    }
}

/// Upper bounds of the rest distances of a batch of pairs.
struct RestDistanceKernel<'a> {
    rest_positions: &'a [f32x4],
    kind: PairKind,
    /// At least one, at most [`PAIRS_PER_BATCH`].
    queries: &'a [SeparationQuery],
}

impl Kernel for RestDistanceKernel<'_> {
    type Output = [f32; PAIRS_PER_BATCH];

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Self::Output {
        let Self { rest_positions, kind, queries } = self;
        let vertices = load_vertices(lanes, queries, |vertex| rest_positions[vertex].to_array());
        let differences = pair_differences(lanes, kind, &vertices);
        let mut point = mean_difference(lanes, &differences);
        let mut min_squared = lanes.vector_dot(&point, &point);
        for _ in 0..PARAMETERS.gilbert_iterations {
            let projections = projections(lanes, &differences, &point);
            point = gilbert_step(lanes, &point, &differences, &projections);
            min_squared = lanes.minimum(lanes.vector_dot(&point, &point), min_squared);
        }
        let allowance = lanes
            .multiply(lanes.splat(2.0 * DISTANCE_ROUNDING_F32), max_coordinate(lanes, &vertices));
        let upper_bounds = lanes.sum(lanes.square_root(min_squared), allowance);
        let rounding = lanes.splat(1.0 + DISTANCE_ROUNDING_F32);
        let found = lanes.to_array(lanes.multiply(upper_bounds, rounding));
        found.map(|distance| if distance.is_finite() { distance } else { f32::INFINITY })
    }
}

/// Vertices of eight pairs, each with its largest coordinate.
type PairVertices<L> = [[<L as F32x8>::Eight; 4]; 4];

/// Vertices of pairs; lanes without a pair repeat the last one.
#[inline(always)]
fn load_vertices<L: Lanes>(
    lanes: L,
    queries: &[SeparationQuery],
    position: impl Fn(usize) -> [f32; 4],
) -> PairVertices<L> {
    let vertex = |vertex: usize| {
        lanes.transpose_rows(|lane| {
            let query = &queries[lane.min(queries.len() - 1)];
            position(query.vertices[vertex] as usize)
        })
    };
    [vertex(0), vertex(1), vertex(2), vertex(3)]
}

/// Largest coordinates of each pair.
#[inline(always)]
fn max_coordinate<L: Lanes>(lanes: L, vertices: &PairVertices<L>) -> L::Eight {
    let [a, b, c, d] = vertices.map(|[_, _, _, max]| max);
    lanes.maximum(lanes.maximum(a, b), lanes.maximum(c, d))
}

/// Differences between points of both features, of eight pairs.
type PairDifferences<L> = [[<L as F32x8>::Eight; 3]; 4];

#[inline(always)]
fn pair_differences<L: Lanes>(
    lanes: L,
    kind: PairKind,
    vertices: &PairVertices<L>,
) -> PairDifferences<L> {
    let [a, b, c, d] = vertices.map(|[x, y, z, _]| [x, y, z]);
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

/// Mean of the four differences.
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

/// Scalar products of the differences with an axis.
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

/// Gilbert's iteration: shortest vector between a point and the difference of least projection on
/// it.
#[inline(always)]
fn gilbert_step<L: Lanes>(
    lanes: L,
    point: &[L::Eight; 3],
    differences: &PairDifferences<L>,
    projections: &[L::Eight; 4],
) -> [L::Eight; 3] {
    let [a, b, c, d] = differences;
    let one = min_projection(lanes, [projections[0], projections[1]], [a, b]);
    let other = min_projection(lanes, [projections[2], projections[3]], [c, d]);
    let keys = [one.projection, other.projection];
    let support = min_projection(lanes, keys, [&one.difference, &other.difference]).difference;
    let toward = lanes.vector_difference(&support, point);
    let negative_square = lanes.difference(lanes.splat(0.0), lanes.vector_dot(&toward, &toward));
    let fraction = lanes.divide(lanes.vector_dot(point, &toward), negative_square);
    // Where both points coincide up to rounding it may be any number, or none.
    let fraction = lanes.maximum(lanes.minimum(fraction, lanes.splat(1.0)), lanes.splat(0.0));
    [
        lanes.sum(point[0], lanes.multiply(fraction, toward[0])),
        lanes.sum(point[1], lanes.multiply(fraction, toward[1])),
        lanes.sum(point[2], lanes.multiply(fraction, toward[2])),
    ]
}

/// Difference between points of both features, of eight pairs, with its projection on an axis.
struct Projected<L: Lanes> {
    projection: L::Eight,
    difference: [L::Eight; 3],
}

/// Difference of smaller projection; the first of equal ones.
#[inline(always)]
fn min_projection<L: Lanes>(
    lanes: L,
    projections: [L::Eight; 2],
    differences: [&[L::Eight; 3]; 2],
) -> Projected<L> {
    let is_less = lanes.less_than(projections[1], projections[0]);
    let [one, other] = differences;
    let difference = [
        lanes.select(is_less, other[0], one[0]),
        lanes.select(is_less, other[1], one[1]),
        lanes.select(is_less, other[2], one[2]),
    ];
    Projected { projection: lanes.select(is_less, projections[1], projections[0]), difference }
}
