// SPDX-License-Identifier: MIT OR Apache-2.0

mod behaviour;
mod contacts_by_construction;
mod counts;
mod exact;

use super::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// How close to the gap a contact is reported to be, by the largest coordinate: see the module.
const CLOSENESS: f64 = 1.0 / (1_u64 << 24) as f64;

/// Runs the same cases every time: more of them find more, not another run.
fn check<S: Strategy>(cases: u32, strategy: &S, test: impl Fn(S::Value)) {
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(strategy, |case| {
        test(case);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

fn distance_to_triangle(point: &Trajectory, triangle: &[Trajectory; 3], time: f64) -> f64 {
    let corners = triangle.map(|corner| corner.relative_to(point).position_at(time));
    closest_point_on_triangle(&Vec3::zeros(), &corners).distance_squared.sqrt()
}

fn distance_of_edges(first: &[Trajectory; 2], second: &[Trajectory; 2], time: f64) -> f64 {
    let [first, second] = [first, second].map(|edge| edge.map(|end| end.position_at(time)));
    closest_points_of_segments(&first, &second).distance_squared.sqrt()
}
