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
use crate::parallel;
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
        let each = starts.par_iter().zip(ends).with_min_len(4 * parallel::VERTICES);
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
            [low - room(low), high + room(high)]
        };
        RoundedBox::new([bounds(0), bounds(1)])
    }

    /// Whether a pair with these vertices certainly stays farther apart than `distance` in m: whether some axis keeps all
    /// differences between points of both features so far from 0 at the start and at the end, and so in between. The axis is
    /// the shortest difference at the start, as Gilbert, "An iterative procedure for computing the minimum of a
    /// quadratic form on a convex set" (1966), comes nearer to it with each of a few rounds.
    #[inline]
    pub(crate) fn are_apart(&self, kind: Kind, vertices: &[u32; 4], distance: f64) -> bool {
        let [a, b, c, d] = vertices.map(|vertex| &self.0[vertex as usize]);
        let most = a[0].fast_max(b[0]).fast_max(c[0].fast_max(d[0])).to_array()[3];
        if most >= LARGEST {
            return false;
        }
        let wanted = (distance as f32 + CAUTION * most) * (1.0 + CAUTION);
        let at = |time: usize| Differences::new(kind, [a[time], b[time], c[time], d[time]]);
        let start = at(0);
        let mut axis = start.mean();
        for _ in 0..ROUNDS {
            let square = dot(&axis, &axis);
            if square <= SHORTEST {
                return false;
            }
            let wanted = wanted * square.sqrt();
            let along = start.along(&axis).to_array();
            if least(&along) > wanted {
                return least(&at(1).along(&axis).to_array()) > wanted;
            }
            axis = start.nearer(&axis, &along);
        }
        false
    }
}

/// The differences between vertices of the first feature and of the second, as coordinates along each axis.
struct Differences([f32x4; 3]);

impl Differences {
    #[inline]
    fn new(kind: Kind, [a, b, c, d]: [f32x4; 4]) -> Self {
        let differences = match kind {
            Kind::VertexFace => [a - b, a - c, a - d, a - d],
            Kind::EdgeEdge => [a - c, a - d, b - c, b - d],
        };
        let [x, y, z, _] = f32x4::transpose(differences);
        Self([x, y, z])
    }

    /// A mean.
    #[inline]
    fn mean(&self) -> [f32; 3] {
        self.0.each_ref().map(|along| {
            let [a, b, c, d] = along.to_array();
            0.25 * ((a + b) + (c + d))
        })
    }

    /// Products with an axis.
    #[inline]
    fn along(&self, [x, y, z]: &[f32; 3]) -> f32x4 {
        let [a, b, c] = self.0;
        a * *x + b * *y + c * *z
    }

    /// The shortest vector between a point and the difference that is the least of these `along` it.
    #[inline]
    fn nearer(&self, point: &[f32; 3], along: &[f32; 4]) -> [f32; 3] {
        let less = |best: usize, next: usize| if along[next] < along[best] { next } else { best };
        let place = less(less(0, 1), less(2, 3));
        let toward = [0, 1, 2].map(|k| self.0[k].to_array()[place] - point[k]);
        let part = (dot(point, &toward) / -dot(&toward, &toward)).min(1.0);
        [0, 1, 2].map(|k| point[k] + part * toward[k])
    }
}

#[inline]
fn dot(a: &[f32; 3], b: &[f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
fn least([a, b, c, d]: &[f32; 4]) -> f32 {
    a.min(*b).min(c.min(*d))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Vec3,
        collision::{closest_on_segments, closest_on_triangle},
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
                    let is_apart = rounded(&motion).are_apart(kind, &[0, 1, 2, 3], wanted);
                    prop_assert!(!is_apart || found > wanted, "{kind:?}: {found} {wanted}");
                }
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
                    let is_told = rounded(&motion).are_apart(kind, &[0, 1, 2, 3], wanted);
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
                assert!(!ways.are_apart(kind, &[0, 1, 2, 3], 0.0));
            }
        }
    }
}
