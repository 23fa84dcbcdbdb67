// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use crate::{
    geometry::{closest_point_on_triangle, closest_points_of_segments},
    simd::Portable,
};
use proptest::{prelude::*, strategy::ValueTree, test_runner::RngSeed};

const TIMES: usize = 16;

/// Starts and ends of four vertices of some size, and of a larger displacement common to all.
fn trajectories() -> impl Strategy<Value = ([[Vec3; 4]; 2], f64)> {
    let vector = || [-1.0..1.0, -1.0..1.0, -1.0..1.0].prop_map(|own: [f64; 3]| Vec3::from(own));
    let four = || [vector(), vector(), vector(), vector()];
    let whole = (four(), four(), vector(), vector(), -3..2_i32, 0.0..1.0);
    whole.prop_map(|(start, change, place, displacement, exponent, fraction)| {
        let size = 10.0_f64.powi(exponent);
        let start = start.map(|own| own * size + place * 10.0);
        let end = std::array::from_fn(|k| start[k] + displacement + change[k] * (fraction * size));
        ([start, end], size)
    })
}

fn pair_distance(kind: PairKind, [a, b, c, d]: [Vec3; 4]) -> f64 {
    let square = match kind {
        PairKind::VertexFace => closest_point_on_triangle(&a, &[b, c, d]).distance_squared,
        PairKind::EdgeEdge => closest_points_of_segments(&[a, b], &[c, d]).distance_squared,
    };
    square.sqrt()
}

/// Least distance at sampled times.
fn least_distance(kind: PairKind, [starts, ends]: &[[Vec3; 4]; 2]) -> f64 {
    let at = |time: usize| {
        let fraction = time as f64 / TIMES as f64;
        std::array::from_fn(|k| starts[k] * (1.0 - fraction) + ends[k] * fraction)
    };
    (0..=TIMES).map(|time| pair_distance(kind, at(time))).fold(f64::INFINITY, f64::min)
}

fn rounded_trajectories([starts, ends]: &[[Vec3; 4]; 2]) -> TrajectoriesF32 {
    let mut trajectories = TrajectoriesF32::default();
    trajectories.set_trajectories(Trajectories { starts, ends });
    trajectories
}

fn is_certified(trajectories: &TrajectoriesF32, kind: PairKind, distance: f64) -> bool {
    trajectories.separated_mask(kind, &[query(distance)]) == 1
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
    fn pairs_certified_as_separated_are_separated((endpoints, size) in trajectories(), fraction in 0.0..1.5) {
        for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
            let found = least_distance(kind, &endpoints);
            // Around the exact distance, where rounding decides.
            for distance in [fraction * size, found * (1.0 - 1.0e-7), found * (1.0 + 1.0e-7)] {
                let is_apart = is_certified(&rounded_trajectories(&endpoints), kind, distance);
                prop_assert!(!is_apart || found > distance, "{kind:?}: {found} {distance}");
            }
        }
    }

    #[test]
    fn a_batch_certifies_the_same_pairs_as_each_pair_alone(
        samples in proptest::collection::vec((trajectories(), 0.0..1.5), 1..=PAIRS_PER_BATCH),
    ) {
        let side = |k: usize| samples.iter().flat_map(move |((endpoints, _), _)| endpoints[k]);
        let [starts, ends]: [Vec<Vec3>; 2] = [side(0).collect(), side(1).collect()];
        let mut trajectories = TrajectoriesF32::default();
        trajectories.set_trajectories(Trajectories { starts: &starts, ends: &ends });
        let pairs: Vec<SeparationQuery> = (0..).step_by(4).zip(&samples)
            .map(|(first, ((_, size), fraction))| SeparationQuery {
                vertices: [0, 1, 2, 3].map(|k| first + k),
                distance: fraction * size,
            })
            .collect();
        for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
            let alone = pairs.iter().map(|pair| trajectories.separated_mask(kind, &[*pair]));
            let bits = alone.enumerate().fold(0, |bits, (k, alone)| bits | alone << k);
            prop_assert_eq!(trajectories.separated_mask(kind, &pairs), bits);
            let plain = SeparationKernel { trajectories: &trajectories.trajectories, kind, queries: &pairs }.run(Portable);
            prop_assert_eq!(plain, bits, "on a machine without wide registers");
        }
    }

    #[test]
    fn rest_distances_are_below_their_upper_bounds((endpoints, _) in trajectories()) {
        for rest in &endpoints {
            let trajectories = TrajectoriesF32::new(rest);
            for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
                let pairs = [query(0.0); 2];
                let [found, same, ..] = trajectories.rest_distance_upper_bounds(kind, &pairs);
                let exact = pair_distance(kind, *rest);
                prop_assert!(f64::from(found) >= exact, "{kind:?}: {found} {exact}");
                prop_assert_eq!(found.to_bits(), same.to_bits());
                let plain = RestDistanceKernel { rest_positions: &trajectories.rest_positions, kind, queries: &pairs }.run(Portable);
                let bits = plain[0].to_bits();
                prop_assert_eq!(bits, found.to_bits(), "on a machine without wide registers");
            }
        }
    }

    #[test]
    fn boxes_contain_the_trajectories_with_their_margin((endpoints, size) in trajectories(), fraction in 0.0..1.5) {
        let (margin, own) = (fraction * size, [0, 2, 3]);
        let bounds = rounded_trajectories(&endpoints).swept_aabbs(&[own.map(|vertex| vertex as u32)], |_| margin).lane(0).bounds();
        for (time, points) in endpoints.iter().enumerate() {
            for axis in 0..3 {
                let along = own.map(|vertex| points[vertex][axis]);
                let low = along.iter().copied().fold(f64::INFINITY, f64::min) - margin;
                let high = along.iter().copied().fold(f64::NEG_INFINITY, f64::max) + margin;
                let [found_low, found_high] = [0, 1].map(|k| f64::from(bounds[2 * time + k][axis]));
                let tolerance = 1.0e-5 * (low.abs() + high.abs() + margin);
                prop_assert!((low - tolerance..=low).contains(&found_low));
                prop_assert!((high..=high + tolerance).contains(&found_high));
            }
        }
    }
}

#[test]
fn most_separated_pairs_are_certified() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut apart, mut certified) = (0, 0);
    for _ in 0..2000 {
        let (endpoints, size) = trajectories().new_tree(&mut runner).unwrap().current();
        for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
            let distance = 0.1 * size;
            if least_distance(kind, &endpoints) > distance {
                apart += 1;
                let is_certified = is_certified(&rounded_trajectories(&endpoints), kind, distance);
                certified += usize::from(is_certified);
            }
        }
    }
    assert!(apart > 2000 && 10 * certified > 7 * apart, "{certified} of {apart}");
}

#[test]
fn most_upper_bounds_of_rest_distances_are_tight() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut all, mut close) = (0, 0);
    for _ in 0..2000 {
        let ([rest, _], _) = trajectories().new_tree(&mut runner).unwrap().current();
        let trajectories = TrajectoriesF32::new(&rest);
        for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
            let [found, ..] = trajectories.rest_distance_upper_bounds(kind, &[query(0.0)]);
            all += 1;
            close += usize::from(f64::from(found) < 1.1 * pair_distance(kind, rest));
        }
    }
    assert!(10 * close > 7 * all, "{close} of {all}");
}

#[test]
fn nothing_is_certified_beyond_the_range_of_numbers() {
    let far = [0.0, 1.0, 2.0, 3.0].map(|k| Vec3::new(1.0e30 * k, 1.0e39, k));
    let same = [Vec3::new(1.0e-20, 0.0, 0.0); 4];
    for points in [far, same] {
        let trajectories = rounded_trajectories(&[points, points]);
        for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
            assert!(!is_certified(&trajectories, kind, 0.0));
        }
    }
    let trajectories = TrajectoriesF32::new(&far);
    for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
        let [found, ..] = trajectories.rest_distance_upper_bounds(kind, &[query(0.0)]);
        assert!(found.is_infinite());
    }
}

/// Infinite bounds are those of the empty lanes of a tree.
#[test]
fn boxes_stay_finite_beyond_the_range_of_numbers() {
    let points = [0.0, 1.0, -1.0, 2.0].map(|k| Vec3::new(1.0e300 * k, -1.0e39 * k, k));
    let bounds =
        rounded_trajectories(&[points, points]).swept_aabbs(&[[0, 1, 2, 3]], |_| 0.001).lane(0);
    assert!(bounds.bounds().as_flattened().iter().all(|side| side.is_finite()));
}
