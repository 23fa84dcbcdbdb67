// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn vector() -> impl Strategy<Value = Vec3> {
    [-1.0..1.0, -1.0..1.0, -1.0..1.0].prop_map(|[x, y, z]: [f64; 3]| Vec3::new(x, y, z))
}

/// Three points of any shape: also on a line, or at one place, but for a little.
fn triangle() -> impl Strategy<Value = [Vec3; 3]> {
    let squeeze =
        prop_oneof![Just(1.0), Just(1e-3), Just(1e-7), Just(1e-9), Just(1e-15), Just(0.0)];
    (vector(), vector(), vector(), vector(), -1.0..2.0, squeeze.clone(), squeeze).prop_map(
        |(place, along, side, second_side, share, width, length)| {
            let along = along * length;
            [place, place + along + second_side * width, place + along * share + side * width]
        },
    )
}

/// By how much (p − q)·(v − q), which the closest point q to p makes negative for every corner v, may be
/// positive where q is as close but for a rounding of the distance.
fn slack(point: &Vec3, corners: &[Vec3; 3], distance: f64) -> f64 {
    let edge = |i: usize| corners[(i + 1) % 3] - corners[i];
    let longest = edge(0).norm().max(edge(1).norm()).max(edge(2).norm());
    let thinness = edge(0).cross(&edge(1)).norm() / (longest * longest);
    // So thin a triangle is taken for its edges, no farther from any of its points than its width.
    let shape = if thinness > 1e-8 { 4e-15 / thinness } else { 1e-8 };
    let place = corners[0].norm();
    let rounding = shape * longest + 4e-15 * (place + (point - corners[0]).norm());
    longest * (rounding * (rounding + 2.0 * distance)).sqrt() + 2e-15 * place * distance
}

#[test]
fn each_feature_of_a_triangle_is_recognised() {
    let triangle = [Vec3::zeros(), Vec3::new(4.0, 0.0, 0.0), Vec3::new(0.0, 4.0, 0.0)];
    let feature = |x, y, z| closest_point_on_triangle(&Vec3::new(x, y, z), &triangle).feature;
    assert_eq!(feature(1.0, 1.0, 5.0), TriangleFeature::Face);
    assert_eq!(feature(1.0, 1.0, 0.0), TriangleFeature::Face);
    assert_eq!(feature(3.0, 3.0, 1.0), TriangleFeature::Edge(0));
    assert_eq!(feature(-1.0, 2.0, 1.0), TriangleFeature::Edge(1));
    assert_eq!(feature(2.0, -1.0, 1.0), TriangleFeature::Edge(2));
    assert_eq!(feature(-1.0, -1.0, 1.0), TriangleFeature::Vertex(0));
    assert_eq!(feature(6.0, 1.0, 1.0), TriangleFeature::Vertex(1));
    assert_eq!(feature(1.0, 6.0, 1.0), TriangleFeature::Vertex(2));
}

#[test]
fn beside_an_obtuse_corner_the_far_edge_is_found() {
    // The point lies outside the edge a, c, and yet b, c is closer than any point of it.
    let triangle = [Vec3::zeros(), Vec3::new(4.0, 0.0, 0.0), Vec3::new(-4.0, 1.0, 0.0)];
    let closest = closest_point_on_triangle(&Vec3::new(2.0, 2.0, 0.0), &triangle);
    assert_eq!(closest.feature, TriangleFeature::Edge(0));
    let expected = 2.0_f64.mul_add(8.0, -2.0).powi(2) / 65.0;
    assert!((closest.distance_squared - expected).abs() < 1e-14);
}

#[test]
fn what_has_no_extent_is_a_point() {
    let place = Vec3::new(1.0, 2.0, 3.0);
    let on_triangle = closest_point_on_triangle(&Vec3::zeros(), &[place; 3]);
    assert_eq!(on_triangle.offset, -place);
    assert!(matches!(on_triangle.feature, TriangleFeature::Vertex(_)));
    let on_segments = closest_points_of_segments(&[place; 2], &[Vec3::zeros(); 2]);
    assert_eq!((on_segments.offset, on_segments.distance_squared), (place, 14.0));
    assert!(closest_point_on_triangle(&place, &[place; 3]).distance_squared <= 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 20_000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_point_of_the_triangle_is_closer(
        point in vector(), corners in triangle(), height in 0..=20_i32, along in -2.0..3.0,
        exponent in -6..=6_i32,
    ) {
        let scale = 10.0_f64.powi(exponent);
        let corners = corners.map(|corner| corner * scale);
        // From anywhere to a point on the line through an edge.
        let on_line = corners[0].lerp(&corners[1], along);
        let point = on_line.lerp(&(point * scale), 10.0_f64.powi(-height));
        let closest = closest_point_on_triangle(&point, &corners);
        let weights = closest.weights;
        prop_assert!(weights.iter().all(|weight| (0.0..=1.0).contains(weight)));
        prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        let place = corners[0] * weights[0] + corners[1] * weights[1] + corners[2] * weights[2];
        prop_assert!((point - place - closest.offset).norm() <= 1e-15 * (scale + point.norm()));
        let squared = closest.offset.norm_squared();
        prop_assert_eq!(closest.distance_squared.to_bits(), squared.to_bits());
        let slack = slack(&point, &corners, closest.offset.norm());
        for corner in &corners {
            let beyond = closest.offset.dot(&(corner - place));
            prop_assert!(beyond <= slack, "{beyond:e} {slack:e}");
        }
    }

    #[test]
    fn no_sample_of_the_triangle_is_closer(point in vector(), corners in triangle()) {
        let closest = closest_point_on_triangle(&point, &corners);
        for i in 0..=8 {
            for j in 0..=8 - i {
                let [a, b] = [f64::from(i) / 8.0, f64::from(j) / 8.0];
                let sample = corners[0] * a + corners[1] * b + corners[2] * (1.0 - a - b);
                let sampled = (point - sample).norm();
                prop_assert!(closest.distance_squared.sqrt() <= sampled + 1e-8);
            }
        }
    }

    #[test]
    fn no_points_of_the_segments_are_closer(
        ends in triangle(), direction in vector(), lean in 0..18_i32, length in 0..18_i32,
        exponent in -6..=6_i32,
    ) {
        let scale = 10.0_f64.powi(exponent);
        let first = [ends[0] * scale, ends[1] * scale];
        // From across to parallel, and from long to nothing.
        let along = (ends[1] - ends[0] + direction * 10.0_f64.powi(-lean)) * 10.0_f64.powi(-length);
        let second = [ends[2] * scale, (ends[2] + along) * scale];
        let closest = closest_points_of_segments(&first, &second);
        let [s, t] = closest.parameters;
        prop_assert!((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t));
        let places = [first[0].lerp(&first[1], s), second[0].lerp(&second[1], t)];
        prop_assert!((places[0] - places[1] - closest.offset).norm() <= 1e-14 * scale);
        let squared = closest.offset.norm_squared();
        prop_assert_eq!(closest.distance_squared.to_bits(), squared.to_bits());
        // The set of all differences is convex.
        for (one, other) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let difference = (places[0] - first[one]) - (places[1] - second[other]);
            let beyond = closest.offset.dot(&difference);
            prop_assert!(beyond <= 1e-13 * scale * scale, "{:e}", beyond / scale / scale);
        }
    }
}
