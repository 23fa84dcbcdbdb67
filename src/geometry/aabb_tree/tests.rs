// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Whole numbers, so that boxes touch, and centres and distances are equal, as often as not.
fn vector(limit: i32) -> impl Strategy<Value = Vec3> {
    let range = -limit..=limit;
    [range.clone(), range.clone(), range].prop_map(|whole| Vec3::from(whole.map(f64::from)))
}

fn bounds() -> impl Strategy<Value = Aabb> {
    (vector(20), vector(4))
        .prop_map(|(place, extent)| Aabb { lower: place, upper: place + extent.abs() })
}

fn overlapping(tree: &AabbTree, query: &Aabb) -> Vec<usize> {
    let mut found = Vec::new();
    tree.for_each_overlapping(query, |primitive| found.push(primitive));
    found.sort_unstable();
    found
}

fn overlapping_by_hand(boxes: &[Aabb], query: &Aabb) -> Vec<usize> {
    let is_apart = |one: &Aabb| {
        (0..3)
            .any(|axis| one.upper[axis] < query.lower[axis] || query.upper[axis] < one.lower[axis])
    };
    (0..boxes.len()).filter(|primitive| !is_apart(&boxes[*primitive])).collect()
}

/// Square of the distance of a point from the middle of a box.
fn to_middle(bounds: &Aabb, point: &Vec3) -> f64 {
    (bounds.lower.lerp(&bounds.upper, 0.5) - point).norm_squared()
}

/// As many boxes as several threads work on.
fn many_boxes() -> Vec<Aabb> {
    let place = |i: u32| Vec3::new(f64::from(i % 31), f64::from(i * 7 % 101), f64::from(i / 60));
    (0..20_000).map(|i| Aabb::from_points([&place(i)]).inflated(0.4)).collect()
}

#[test]
fn a_tree_over_nothing_finds_nothing() {
    let mut tree = AabbTree::new(&[]);
    tree.refit(&[]);
    let everywhere = Aabb::from_points([&Vec3::repeat(-1e9), &Vec3::repeat(1e9)]);
    assert!(overlapping(&tree, &everywhere).is_empty());
    assert_eq!(tree.nearest(&Vec3::zeros(), f64::INFINITY, |_| (0.0, ())), None);
}

#[test]
fn primitives_at_one_place_are_all_found() {
    let boxes = vec![Aabb::from_points([&Vec3::x()]); 1000];
    let tree = AabbTree::new(&boxes);
    assert_eq!(overlapping(&tree, &boxes[0]), (0..1000).collect::<Vec<_>>());
    let nearest = tree.nearest(&Vec3::zeros(), 1.0, |_| (1.0, "measured"));
    let expected = NearestPrimitive { primitive: 0, payload: "measured", distance_squared: 1.0 };
    assert_eq!(nearest, Some(expected));
    assert_eq!(tree.nearest(&Vec3::zeros(), 0.99, |_| (1.0, ())), None);
}

#[test]
fn most_primitives_are_never_looked_at() {
    let boxes = many_boxes();
    let tree = AabbTree::new(&boxes);
    let point = Vec3::new(15.2, 50.1, 170.3);
    let mut measured = 0;
    let nearest = tree.nearest(&point, f64::INFINITY, |primitive| {
        measured += 1;
        (to_middle(&boxes[primitive], &point), ())
    });
    assert!(nearest.is_some());
    assert!(measured < 50, "{measured} of {} measured", boxes.len());
}

#[test]
fn threads_do_not_change_the_boxes() {
    let boxes = many_boxes();
    let moved: Vec<Aabb> = boxes.iter().rev().map(|one| one.inflated(0.1)).collect();
    let bounds_with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut tree = AabbTree::new(&boxes);
            tree.refit(&moved);
            tree.nodes.iter().map(|node| node.aabb).collect::<Vec<_>>()
        })
    };
    assert_eq!(bounds_with(1), bounds_with(4));
    assert_eq!(bounds_with(4)[0], moved.iter().fold(Aabb::EMPTY, |all, b| all.merged(b)));
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_box_finds_what_overlaps_it(
        boxes in prop::collection::vec(bounds(), 0..300), queries in prop::collection::vec(bounds(), 20),
    ) {
        let tree = AabbTree::new(&boxes);
        for query in &queries {
            prop_assert_eq!(overlapping(&tree, query), overlapping_by_hand(&boxes, query));
        }
    }

    #[test]
    fn the_nearest_is_nearest_and_first(
        boxes in prop::collection::vec(bounds(), 0..300), points in prop::collection::vec(vector(40), 20),
        radius in prop_oneof![Just(0.0), 0.0..20.0, Just(f64::INFINITY)],
    ) {
        let tree = AabbTree::new(&boxes);
        for point in &points {
            let distance = |primitive: usize| to_middle(&boxes[primitive], point);
            let by_hand = (0..boxes.len())
                .filter(|primitive| distance(*primitive) <= radius * radius)
                .min_by(|one, other| distance(*one).total_cmp(&distance(*other)).then(one.cmp(other)));
            let found = tree
                .nearest(point, radius, |primitive| (distance(primitive), primitive + 1))
                .map(|nearest| (nearest.primitive, nearest.payload, nearest.distance_squared));
            let expected = by_hand.map(|primitive| (primitive, primitive + 1, distance(primitive)));
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_refitted_tree_finds_what_a_new_one_does(
        moves in prop::collection::vec((bounds(), bounds()), 0..300),
        queries in prop::collection::vec(bounds(), 20),
    ) {
        let (before, after): (Vec<_>, Vec<_>) = moves.into_iter().unzip();
        let mut refitted = AabbTree::new(&before);
        refitted.refit(&after);
        let rebuilt = AabbTree::new(&after);
        prop_assert_eq!(
            refitted.nodes.first().map(|root| root.aabb),
            rebuilt.nodes.first().map(|root| root.aabb)
        );
        for query in &queries {
            prop_assert_eq!(overlapping(&refitted, query), overlapping(&rebuilt, query));
            let nearest = |tree: &AabbTree| {
                tree.nearest(&query.lower, f64::INFINITY, |primitive| {
                    (to_middle(&after[primitive], &query.lower), ())
                })
            };
            prop_assert_eq!(nearest(&refitted), nearest(&rebuilt));
        }
    }

    #[test]
    fn a_grown_box_is_never_too_small(
        low in -1e3..1e3, extent in 0.0..1.0, exponent in -20..0_i32, share in -1.0..1.0,
    ) {
        let margin = 10.0_f64.powi(exponent);
        let bounds = Aabb { lower: Vec3::repeat(low), upper: Vec3::repeat(low + extent) };
        let grown = bounds.inflated(margin);
        // The sum of two numbers differs from its rounding by another number.
        let exceeds = |sum: f64, a: f64, b: f64| {
            let rounded = a + b;
            let kept = rounded - a;
            let lost = (a - (rounded - kept)) + (b - kept);
            sum - rounded >= lost
        };
        prop_assert!(exceeds(grown.upper.x, low + extent, margin));
        prop_assert!(exceeds(-grown.lower.x, -low, margin));
        let point = Vec3::repeat(low + extent) + Vec3::new(1.0, share, 0.5) * margin;
        prop_assert!(grown.overlaps(&Aabb::from_points([&point])));
    }

    #[test]
    fn a_box_is_no_farther_than_its_points(bounds in bounds(), point in vector(40), share in 0.0..1.0) {
        let tiny = point / 3.0;
        let corner = bounds.lower.lerp(&bounds.upper, share);
        prop_assert!(bounds.distance_squared(&tiny) <= (corner - tiny).norm_squared());
        let outside = bounds.lower.zip_zip_map(&bounds.upper, &point, |low, high, at| {
            (low - at).max(at - high).max(0.0)
        });
        // Whole numbers: their squares and sums are exact.
        let exact = outside.norm_squared();
        prop_assert!(bounds.distance_squared(&point) <= exact);
        prop_assert!(bounds.distance_squared(&point) >= exact * (1.0 - 1e-14));
    }
}
