// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use crate::{
    geometry::{closest_point_on_triangle, closest_points_of_segments},
    simd::Portable,
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

fn distance(kind: PairKind, [a, b, c, d]: [Vec3; 4]) -> f64 {
    let square = match kind {
        PairKind::VertexFace => closest_point_on_triangle(&a, &[b, c, d]).distance_squared,
        PairKind::EdgeEdge => closest_points_of_segments(&[a, b], &[c, d]).distance_squared,
    };
    square.sqrt()
}

/// The least distance at some times.
fn least_distance(kind: PairKind, [starts, ends]: &[[Vec3; 4]; 2]) -> f64 {
    let at = |time: usize| {
        let part = time as f64 / TIMES as f64;
        std::array::from_fn(|k| starts[k] * (1.0 - part) + ends[k] * part)
    };
    (0..=TIMES).map(|time| distance(kind, at(time))).fold(f64::INFINITY, f64::min)
}

fn rounded([starts, ends]: &[[Vec3; 4]; 2]) -> TrajectoriesF32 {
    let mut ways = TrajectoriesF32::default();
    ways.set_trajectories(Trajectories { starts, ends });
    ways
}

fn is_told_apart(ways: &TrajectoriesF32, kind: PairKind, wanted: f64) -> bool {
    ways.separated_mask(kind, &[query(wanted)]) == 1
}

/// Query of the pair of the first four vertices.
fn query(distance: f64) -> SeparationQuery {
    SeparationQuery { vertices: [0, 1, 2, 3], distance }
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_told_apart_is_apart((motion, size) in ways(), part in 0.0..1.5) {
        for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
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
        motions in proptest::collection::vec((ways(), 0.0..1.5), 1..=PAIRS_PER_BATCH),
    ) {
        let side = |k: usize| motions.iter().flat_map(move |((motion, _), _)| motion[k]);
        let [starts, ends]: [Vec<Vec3>; 2] = [side(0).collect(), side(1).collect()];
        let mut ways = TrajectoriesF32::default();
        ways.set_trajectories(Trajectories { starts: &starts, ends: &ends });
        let pairs: Vec<SeparationQuery> = (0..).step_by(4).zip(&motions)
            .map(|(first, ((_, size), part))| SeparationQuery {
                vertices: [0, 1, 2, 3].map(|k| first + k),
                distance: part * size,
            })
            .collect();
        for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
            let alone = pairs.iter().map(|pair| ways.separated_mask(kind, &[*pair]));
            let bits = alone.enumerate().fold(0, |bits, (k, alone)| bits | alone << k);
            prop_assert_eq!(ways.separated_mask(kind, &pairs), bits);
            let plain = SeparationKernel { trajectories: &ways.trajectories, kind, queries: &pairs }.run(Portable);
            prop_assert_eq!(plain, bits, "on a machine without wide registers");
        }
    }

    #[test]
    fn distances_at_rest_are_no_more_than_found((motion, _) in ways()) {
        for rest in &motion {
            let ways = TrajectoriesF32::new(rest);
            for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
                let pairs = [query(0.0); 2];
                let [found, same, ..] = ways.rest_distance_upper_bounds(kind, &pairs);
                let least = distance(kind, *rest);
                prop_assert!(f64::from(found) >= least, "{kind:?}: {found} {least}");
                prop_assert_eq!(found.to_bits(), same.to_bits());
                let plain = RestDistanceKernel { rest_positions: &ways.rest_positions, kind, queries: &pairs }.run(Portable);
                let bits = plain[0].to_bits();
                prop_assert_eq!(bits, found.to_bits(), "on a machine without wide registers");
            }
        }
    }

    #[test]
    fn boxes_hold_the_ways_with_their_margin((motion, size) in ways(), part in 0.0..1.5) {
        let (margin, own) = (part * size, [0, 2, 3]);
        let sides = rounded(&motion).swept_aabb(&own.map(|vertex| vertex as u32), margin).bounds();
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
        for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
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
fn most_distances_at_rest_are_hardly_less_than_found() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut all, mut close) = (0, 0);
    for _ in 0..2000 {
        let ([rest, _], _) = ways().new_tree(&mut runner).unwrap().current();
        let ways = TrajectoriesF32::new(&rest);
        for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
            let [found, ..] = ways.rest_distance_upper_bounds(kind, &[query(0.0)]);
            all += 1;
            close += usize::from(f64::from(found) < 1.1 * distance(kind, rest));
        }
    }
    assert!(10 * close > 7 * all, "{close} of {all}");
}

#[test]
fn nothing_is_told_apart_beyond_the_range_of_numbers() {
    let far = [0.0, 1.0, 2.0, 3.0].map(|k| Vec3::new(1.0e30 * k, 1.0e39, k));
    let same = [Vec3::new(1.0e-20, 0.0, 0.0); 4];
    for points in [far, same] {
        let ways = rounded(&[points, points]);
        for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
            assert!(!is_told_apart(&ways, kind, 0.0));
        }
    }
    let ways = TrajectoriesF32::new(&far);
    for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
        let [found, ..] = ways.rest_distance_upper_bounds(kind, &[query(0.0)]);
        assert!(found.is_infinite());
    }
}

/// Places of a tree that nothing is in are beyond all finite boxes.
#[test]
fn boxes_stay_finite_beyond_the_range_of_numbers() {
    let points = [0.0, 1.0, -1.0, 2.0].map(|k| Vec3::new(1.0e300 * k, -1.0e39 * k, k));
    let bounds = rounded(&[points, points]).swept_aabb(&[0, 1, 2, 3], 0.001);
    assert!(bounds.bounds().as_flattened().iter().all(|side| side.is_finite()));
}
