// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::collision::displacement_bound::DisplacementBound;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Times at which the distance is sampled.
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

/// Smallest sampled distance on straight trajectories.
fn min_sampled_distance(pair: &PrimitivePair, starts: &[Vec3; 4], ends: &[Vec3; 4]) -> f64 {
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

    /// The clearance is a lower bound for every kind of trajectories, and rejected pairs never come within the distance.
    #[test]
    fn the_clearance_is_a_lower_bound_of_the_distance(
        mut pair in pair(),
        starts in points(),
        changes in points(),
        shared in vector(),
        (turn, distance) in (prop_oneof![Just(0.0), Just(0.05), Just(1.0)], 0.0..0.5),
    ) {
        let ends = std::array::from_fn(|k| starts[k] + changes[k] * turn + shared);
        let may_come_within = pair.update_clearance(Trajectories { starts: &starts, ends: &ends }, distance);
        let min_sampled_distance = min_sampled_distance(&pair, &starts, &ends);
        if may_come_within {
            prop_assert!(pair.clearance <= min_sampled_distance + 1.0e-12, "{} > {min_sampled_distance}", pair.clearance);
        } else {
            prop_assert!(min_sampled_distance > distance, "{min_sampled_distance} <= {distance}");
        }
    }

    /// The displacement bound never certifies a pair that comes within the distance.
    #[test]
    fn a_pair_certified_by_the_displacement_bound_stays_separated(
        mut pair in pair(),
        starts in points(),
        displacement in vector(),
        deviations in points(),
        (size, distance) in (0.0..0.3, 0.0..0.5),
    ) {
        let expected: [Vec3; 4] = std::array::from_fn(|k| starts[k] + displacement);
        let ends: [Vec3; 4] = std::array::from_fn(|k| expected[k] + deviations[k] * size);
        // All pairs are within this distance.
        let is_within = pair.update_clearance(Trajectories { starts: &starts, ends: &expected }, 10.0);
        prop_assert!(is_within);
        let mut found = DisplacementBound::default();
        found.set_predicted_positions(&expected);
        found.update(&ends);
        if found.certifies_separation(&pair, distance) {
            let min_sampled_distance = min_sampled_distance(&pair, &starts, &ends);
            prop_assert!(min_sampled_distance >= distance - 1.0e-12, "{min_sampled_distance} < {distance}");
        }
    }
}

#[test]
fn a_vertex_that_slides_over_a_face_is_separated_along_its_normal() {
    // The displacement exceeds the gap, so that only the normal separates.
    let starts = [Vec3::new(0.1, 0.2, 0.1), Vec3::zeros(), Vec3::x(), Vec3::y()];
    let mut ends = starts;
    ends[0].x = 0.6;
    let mut pair = PrimitivePair::new(PairKind::VertexFace, [0; 2], [0, 1, 2, 3]);
    assert!(!pair.update_clearance(Trajectories { starts: &starts, ends: &ends }, 0.09));
    assert!(pair.update_clearance(Trajectories { starts: &starts, ends: &ends }, 0.11));
    assert!((pair.clearance - 0.1).abs() < 1.0e-9, "{}", pair.clearance);
}

#[test]
fn a_gap_below_the_resolution_of_ccd_may_not_shrink_but_may_grow() {
    // Nearly all of this is below the resolution of CCD.
    let gap = 1.0e-11;
    let starts = [Vec3::new(0.2, 0.3, gap), Vec3::zeros(), Vec3::x(), Vec3::y()];
    for (height, expected) in [(0.1, false), (0.5 * gap, true), (-0.1, true)] {
        let mut ends = starts;
        ends[0] = Vec3::new(0.25, 0.28, height);
        let trajectories = Trajectories { starts: &starts, ends: &ends };
        let mut pair = PrimitivePair::new(PairKind::VertexFace, [0; 2], [0, 1, 2, 3]);
        assert!(pair.update_clearance(trajectories, 1.0e-3));
        assert_eq!(
            pair.ccd_comes_within(trajectories, 0.999 * pair.start_distance),
            expected,
            "{height}"
        );
    }
}

/// Corner of one cloth at a height above the middle of another, with its neighbours at the height `raised`, in m.
fn vertex_above_face(height: f64, raised: f64) -> (CollisionMesh, Vec<Vec3>) {
    let flat = [Vec3::zeros(), Vec3::x(), Vec3::y()];
    let [a, b, c] = flat.map(|corner| corner + Vec3::new(0.25, 0.25, raised));
    let positions = [flat, [Vec3::new(a.x, a.y, height), b, c]].concat();
    let rest = positions.clone();
    (CollisionMesh::of_thin_cloths(&[[0, 1, 2], [3, 4, 5]], &[0, 3, 6], rest, &[]), positions)
}

#[test]
fn a_coincident_vertex_belongs_on_its_own_side_or_on_that_of_its_neighbours() {
    // The side of the vertex is below rounding; all vertices coincide; the side of the vertex is exact.
    let cases = [(0.0, 0.1, 1.0), (1.0e-15, -0.1, -1.0), (0.0, 0.0, 1.0), (1.0e-12, -0.1, 1.0)];
    for (height, raised, expected) in cases {
        let (mesh, starts) = vertex_above_face(height, raised);
        for displacement in [0.001, -0.001] {
            let mut ends = starts.clone();
            ends[3].z += displacement;
            let mut pair = PrimitivePair::vertex_face(&mesh, 3, 0);
            let trajectories = Trajectories { starts: &starts, ends: &ends };
            assert!(
                pair.update_clearance(trajectories, 1.0)
                    && pair.is_coincident_at_start(trajectories)
            );
            let gap = pair.gap_from_coincident_start(&mesh, trajectories).unwrap();
            assert!(
                (gap - expected * displacement).abs() < 1.0e-9,
                "{height}, {raised}, {displacement}: {gap}"
            );
        }
    }
}
