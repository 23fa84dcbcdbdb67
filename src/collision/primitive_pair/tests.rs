// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::collision::displacement_bound::DisplacementBound;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Times at which the distance is looked at.
const SAMPLES: usize = 32;

fn vector() -> impl Strategy<Value = Vec3> {
    [-1.0..1.0, -1.0..1.0, -1.0..1.0].prop_map(|[x, y, z]: [f64; 3]| Vec3::new(x, y, z))
}

fn points() -> impl Strategy<Value = [Vec3; 4]> {
    [vector(), vector(), vector(), vector()]
}

fn pair() -> impl Strategy<Value = PrimitivePair> {
    prop_oneof![Just(PairKind::VertexFace), Just(PairKind::EdgeEdge)]
        .prop_map(|kind| PrimitivePair::new(kind, [0; 2], [0, 1, 2, 3]))
}

/// The smallest of the distances that are looked at on straight ways.
fn nearest(pair: &PrimitivePair, starts: &[Vec3; 4], ends: &[Vec3; 4]) -> f64 {
    let distance = |sample: usize| {
        let time = sample as f64 / SAMPLES as f64;
        pair.closest_points(&std::array::from_fn(|k| starts[k].lerp(&ends[k], time))).distance
    };
    (0..=SAMPLES).map(distance).fold(f64::INFINITY, f64::min)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 20_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    /// What is measured is a bound on every kind of way, and what is told apart never comes within reach.
    #[test]
    fn a_pair_is_never_nearer_than_it_was_measured(
        mut pair in pair(),
        starts in points(),
        changes in points(),
        shared in vector(),
        (turn, reach) in (prop_oneof![Just(0.0), Just(0.05), Just(1.0)], 0.0..0.5),
    ) {
        let ends = std::array::from_fn(|k| starts[k] + changes[k] * turn + shared);
        let may_meet = pair.update_clearance(Trajectories { starts: &starts, ends: &ends }, reach);
        let nearest = nearest(&pair, &starts, &ends);
        if may_meet {
            prop_assert!(pair.clearance <= nearest + 1.0e-12, "{} > {nearest}", pair.clearance);
        } else {
            prop_assert!(nearest > reach, "{nearest} <= {reach}");
        }
    }

    /// Nor is a pair that is left out because its vertices have hardly gone elsewhere than they were expected to.
    #[test]
    fn a_pair_that_is_left_apart_stays_out_of_reach(
        mut pair in pair(),
        starts in points(),
        way in vector(),
        deviations in points(),
        (size, reach) in (0.0..0.3, 0.0..0.5),
    ) {
        let expected: [Vec3; 4] = std::array::from_fn(|k| starts[k] + way);
        let ends: [Vec3; 4] = std::array::from_fn(|k| expected[k] + deviations[k] * size);
        // Within so much are all of them.
        let is_measured = pair.update_clearance(Trajectories { starts: &starts, ends: &expected }, 10.0);
        prop_assert!(is_measured);
        let mut found = DisplacementBound::default();
        found.set_predicted_positions(&expected);
        found.update(&ends);
        if found.certifies_separation(&pair, reach) {
            let nearest = nearest(&pair, &starts, &ends);
            prop_assert!(nearest >= reach - 1.0e-12, "{nearest} < {reach}");
        }
    }
}

#[test]
fn what_slides_over_a_face_is_told_apart_across_it() {
    // The way is longer than the gap, so that only the direction across tells.
    let starts = [Vec3::new(0.1, 0.2, 0.1), Vec3::zeros(), Vec3::x(), Vec3::y()];
    let mut ends = starts;
    ends[0].x = 0.6;
    let mut pair = PrimitivePair::new(PairKind::VertexFace, [0; 2], [0, 1, 2, 3]);
    assert!(!pair.update_clearance(Trajectories { starts: &starts, ends: &ends }, 0.09));
    assert!(pair.update_clearance(Trajectories { starts: &starts, ends: &ends }, 0.11));
    assert!((pair.clearance - 0.1).abs() < 1.0e-9, "{}", pair.clearance);
}

#[test]
fn what_hardly_keeps_apart_comes_no_nearer_but_may_leave() {
    // Nearly all of this is more than continuous detection can promise.
    let gap = 1.0e-11;
    let starts = [Vec3::new(0.2, 0.3, gap), Vec3::zeros(), Vec3::x(), Vec3::y()];
    for (height, expected) in [(0.1, false), (0.5 * gap, true), (-0.1, true)] {
        let mut ends = starts;
        ends[0] = Vec3::new(0.25, 0.28, height);
        let motion = Trajectories { starts: &starts, ends: &ends };
        let mut pair = PrimitivePair::new(PairKind::VertexFace, [0; 2], [0, 1, 2, 3]);
        assert!(pair.update_clearance(motion, 1.0e-3));
        assert_eq!(
            pair.ccd_comes_within(motion, 0.999 * pair.start_distance),
            expected,
            "{height}"
        );
    }
}

/// The corner of one cloth so far above the middle of another, with its neighbours as high as `raised`, in m.
fn pricked(height: f64, raised: f64) -> (CollisionMesh, Vec<Vec3>) {
    let flat = [Vec3::zeros(), Vec3::x(), Vec3::y()];
    let [a, b, c] = flat.map(|corner| corner + Vec3::new(0.25, 0.25, raised));
    let positions = [flat, [Vec3::new(a.x, a.y, height), b, c]].concat();
    let rest = positions.clone();
    (CollisionMesh::of_thin_cloths(&[[0, 1, 2], [3, 4, 5]], &[0, 3, 6], rest, &[]), positions)
}

#[test]
fn what_touched_from_the_start_belongs_where_it_is_or_the_cloth_around_it() {
    // Where it is cannot be told; all of it touches; where it is can be told.
    let cases = [(0.0, 0.1, 1.0), (1.0e-15, -0.1, -1.0), (0.0, 0.0, 1.0), (1.0e-12, -0.1, 1.0)];
    for (height, raised, expected) in cases {
        let (surfaces, starts) = pricked(height, raised);
        for way in [0.001, -0.001] {
            let mut ends = starts.clone();
            ends[3].z += way;
            let mut pair = PrimitivePair::vertex_face(&surfaces, 3, 0);
            let motion = Trajectories { starts: &starts, ends: &ends };
            assert!(pair.update_clearance(motion, 1.0) && pair.is_coincident_at_start(motion));
            let gap = pair.gap_from_coincident_start(&surfaces, motion).unwrap();
            assert!((gap - expected * way).abs() < 1.0e-9, "{height}, {raised}, {way}: {gap}");
        }
    }
}
