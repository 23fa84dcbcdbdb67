// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeSet;

/// Whole numbers, so that boxes touch, and middles are equal, as often as not.
fn vector(limit: i32) -> impl Strategy<Value = Vec3> {
    let range = -limit..=limit;
    [range.clone(), range.clone(), range].prop_map(|whole| Vec3::from(whole.map(f64::from)))
}

fn bounds(limit: i32) -> impl Strategy<Value = Aabb> {
    (vector(limit), vector(3))
        .prop_map(|(place, extent)| Aabb { lower: place, upper: place + extent.abs() })
}

fn moving() -> impl Strategy<Value = SweptAabb> {
    let anywhere = (bounds(20), bounds(20));
    // Together with the others, as far as to the other end of space and beyond it.
    let together = (bounds(20), bounds(1)).prop_map(|(start, motion)| {
        let by = |place: Vec3, motion: Vec3| place + motion + Vec3::new(60.0, 0.0, -30.0);
        let end =
            Aabb { lower: by(start.lower, motion.lower), upper: by(start.upper, motion.upper) };
        (start, end)
    });
    prop_oneof![anywhere, together].prop_map(|(start, end)| SweptAabb { start, end })
}

fn soup() -> impl Strategy<Value = Vec<SweptAabb>> {
    let few = prop::collection::vec(moving(), 0..20);
    prop_oneof![1 => few, 3 => prop::collection::vec(moving(), 0..900)]
}

fn sorted<T: Ord>(mut pairs: Vec<T>) -> Vec<T> {
    pairs.sort_unstable();
    pairs
}

fn self_pairs(tree: &SweptBvh) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    tree.overlapping_self_pairs(|one, other, found| found.push((one, other)), &mut found);
    found
}

fn pairs(first: &SweptBvh, second: &SweptBvh) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    first.overlapping_pairs(second, |one, other, found| found.push((one, other)), &mut found);
    found
}

fn pairs_by_hand(first: &[SweptAabb], second: &[SweptAabb]) -> Vec<(u32, u32)> {
    let partners = |(one, bounds): (u32, &SweptAabb)| {
        let bounds = *bounds;
        let overlaps = move |(_, other): &(u32, &SweptAabb)| bounds.may_overlap(other);
        (0..).zip(second).filter(overlaps).map(move |(other, _)| (one, other))
    };
    (0..).zip(first).flat_map(partners).collect()
}

/// Two sheets that cross each other, as many boxes as several threads work on.
fn sheets() -> Vec<SweptAabb> {
    let place = |i: u32| Vec3::new(f64::from(i % 100), f64::from(i / 100 % 100), 0.0);
    let sheet = |i: u32| {
        let (start, tilt) = (place(i), f64::from(i / 10_000) * 0.1);
        let end = start + Vec3::new(300.0, 0.0, 20.0 - tilt * start.x);
        SweptAabb::from_trajectories([(&start, &end)]).inflated(0.6)
    };
    (0..20_000).map(sheet).collect()
}

#[test]
fn a_tree_over_nothing_finds_nothing() {
    let (nothing, one) = (SweptBvh::new(&[]), SweptBvh::new(&sheets()[..1]));
    assert!(nothing.is_empty() && self_pairs(&nothing).is_empty());
    assert!(pairs(&nothing, &one).is_empty() && pairs(&one, &nothing).is_empty());
    assert!(self_pairs(&one).is_empty());
    assert_eq!(pairs(&one, &one), [(0, 0)]);
    nothing.for_each_overlapping(&SweptAabbF32::from(&sheets()[0]), |_| panic!("found"));
}

#[test]
fn all_numbers_that_are_finite_will_do() {
    let everywhere = Aabb { lower: Vec3::repeat(f64::MIN), upper: Vec3::repeat(f64::MAX) };
    let far = Aabb { lower: Vec3::repeat(1e300), upper: Vec3::repeat(1e301) };
    let near = Aabb { lower: Vec3::repeat(-1e-300), upper: Vec3::repeat(1e-310) };
    let boxes = [everywhere, far, near].map(|bounds| SweptAabb { start: bounds, end: bounds });
    let tree = SweptBvh::new(&boxes);
    assert_eq!(sorted(self_pairs(&tree)), [(0, 1), (0, 2)]);
    let mut found = Vec::new();
    tree.for_each_overlapping(&SweptAabbF32::from(&boxes[0]), |primitive| found.push(primitive));
    assert_eq!(sorted(found), [0, 1, 2]);
}

#[test]
fn threads_change_neither_the_pairs_nor_their_order() {
    let boxes = sheets();
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let tree = SweptBvh::new(&boxes);
            let other = SweptBvh::new(&boxes[5000..]);
            (self_pairs(&tree), pairs(&tree, &other), pairs(&other, &tree))
        })
    };
    let expected = with_threads(1);
    assert!(expected.0.len() > 70_000, "{} pairs", expected.0.len());
    for threads in [2, 3, 7] {
        assert!(with_threads(threads) == expected, "other with {threads} threads");
    }
    let distinct: BTreeSet<_> = expected.0.iter().collect();
    assert_eq!(distinct.len(), expected.0.len());
}

#[test]
fn flying_together_costs_no_pairs() {
    let boxes = sheets();
    let resting: Vec<SweptAabb> =
        boxes.iter().map(|bounds| SweptAabb { end: bounds.start, ..*bounds }).collect();
    let [moving, resting] = [&boxes[..10_000], &resting[..10_000]].map(SweptBvh::new);
    assert_eq!(sorted(self_pairs(&moving)), sorted(self_pairs(&resting)));
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn all_pairs_that_may_overlap_are_found_once(boxes in soup(), refitted in any::<bool>()) {
        let mut tree = SweptBvh::new(&boxes);
        let mut boxes = boxes;
        if refitted {
            boxes.reverse();
            tree.refit(&boxes);
        }
        let found = self_pairs(&tree);
        prop_assert!(found.iter().all(|(one, other)| one < other));
        let mut expected = pairs_by_hand(&boxes, &boxes);
        expected.retain(|(one, other)| one < other);
        prop_assert_eq!(sorted(found), expected);
    }

    #[test]
    fn all_pairs_of_two_trees_are_found_once(first in soup(), second in soup()) {
        let [one, other] = [&first, &second].map(|boxes| SweptBvh::new(boxes));
        prop_assert_eq!(sorted(pairs(&one, &other)), pairs_by_hand(&first, &second));
        for (index, bounds) in first.iter().enumerate().take(20) {
            let mut found = Vec::new();
            other.for_each_overlapping(&SweptAabbF32::from(bounds), |primitive| found.push((index as u32, primitive)));
            let expected = pairs_by_hand(&first[index..=index], &second);
            let expected: Vec<_> = expected.iter().map(|pair| (index as u32, pair.1)).collect();
            prop_assert_eq!(sorted(found), expected);
        }
    }

    #[test]
    fn pairs_that_collide_during_the_step_are_not_culled(
        ends in [vector(20), vector(20), vector(20), vector(20)], shares in [0..=8, 0..=8, 0..=8_i32],
    ) {
        // Two moving edges, the second led through the first at a share of the time.
        let [s, t, time] = shares.map(|share| f64::from(share) / 8.0);
        let [a, b, c, d] = ends;
        let first = [(a, b), (c, d)];
        let at = |path: &(Vec3, Vec3)| path.0.lerp(&path.1, time);
        let place = at(&first[0]).lerp(&at(&first[1]), s);
        let motion = b - c;
        let through = (place - motion * time, place + motion * (1.0 - time));
        let along = d - a;
        let second = [-t, 1.0 - t].map(|fraction| (through.0 + along * fraction, through.1 + along * fraction));
        let [first, second] =
            [first, second].map(|edge| SweptAabb::from_trajectories(edge.iter().map(|path| (&path.0, &path.1))));
        prop_assert!(first.may_overlap(&second));
        prop_assert_eq!(pairs(&SweptBvh::new(&[first]), &SweptBvh::new(&[second])), [(0, 0)]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(3),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_widened_box_holds_what_it_was_and_what_it_is_widened_by(
        boxes in prop::collection::vec(moving(), 1..300),
        others in prop::collection::vec((any::<prop::sample::Index>(), moving()), 0..9),
    ) {
        let (mut tree, mut widened) = (SweptBvh::new(&boxes), boxes.clone());
        for (index, other) in others {
            let primitive = index.index(boxes.len());
            tree.expand(&[primitive as u32], |_| Node8::of_boxes(std::iter::once(SweptAabbF32::from(&other))));
            widened[primitive] = widened[primitive].merged(&other);
        }
        let all = SweptBvh::new(&boxes);
        prop_assert_eq!(sorted(pairs(&tree, &all)), pairs_by_hand(&widened, &boxes));
    }
}

/// Pairs found by a walk that leaves out `excluded`.
fn pairs_without(
    one: &SweptBvh,
    other: Option<&SweptBvh>,
    excluded: &PairExclusions,
) -> Vec<(u32, u32)> {
    let visit = |a: u32, b: u32, found: &mut Vec<(u32, u32)>| found.push((a, b));
    let visitor = PairVisitor { excluded, visit, finish: |found| found };
    let mut found = Vec::new();
    match other {
        Some(other) => one.collect_overlapping_pairs(other, &visitor, &mut found),
        None => one.collect_overlapping_self_pairs(&visitor, &mut found),
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(6),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_walk_finds_all_pairs_but_the_excluded_ones(
        first in soup(),
        second in soup(),
        step in 1..5_usize,
    ) {
        let [one, other] = [&first, &second].map(|boxes| SweptBvh::new(boxes));
        for partner in [Some(&other), None] {
            let mut all = pairs_without(&one, partner, &PairExclusions::default());
            // Every few of them, of one tree in either order.
            let left_out: Vec<[u32; 2]> = all.iter().step_by(step).map(|(a, b)| [*a, *b]).collect();
            let excluded = if let Some(other) = partner {
                PairExclusions::between(&one, other, left_out.iter().copied())
            } else {
                let turned = left_out.iter().enumerate();
                let turned = turned.map(|(k, [a, b])| if k % 2 == 0 { [*a, *b] } else { [*b, *a] });
                PairExclusions::within(&one, turned)
            };
            let left_out: BTreeSet<_> = left_out.into_iter().collect();
            all.retain(|(a, b)| !left_out.contains(&[*a, *b]));
            prop_assert_eq!(pairs_without(&one, partner, &excluded), all);
        }
    }
}
