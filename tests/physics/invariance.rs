// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must make no difference: threads, distant things, and, within limits, resolution and frame rate.

use crate::scenes::{Ball, sheet};
use std::collections::BTreeSet;
use weft::{Collider, Material, Settings, Simulation, Vec3};

/// Bits of positions and velocities.
fn bits(simulation: &Simulation) -> Vec<[u64; 3]> {
    let positions = simulation.positions(0).unwrap().iter();
    let all = positions.chain(simulation.velocities(0).unwrap());
    all.map(|vector| [vector.x, vector.y, vector.z].map(f64::to_bits)).collect()
}

/// A sheet that falls on a ball, large enough that its loops are shared among threads.
fn draped(threads: usize, others: &[Collider]) -> Vec<[u64; 3]> {
    let colliders = [&[Ball::new(0.3, 24, 12).collider(Vec3::zeros())], others].concat();
    let settings = Settings { threads, wind: Vec3::new(1.0, 0.5, 0.0), ..Settings::default() };
    let cloth = sheet(50, 1.0, 0.31, Material::default());
    let mut simulation = Simulation::new(&[cloth], &colliders, settings).unwrap();
    let mut contacts = 0;
    for _ in 0..4 {
        contacts = simulation.advance(1.0 / 24.0).unwrap().contacts;
    }
    assert!(contacts > 0);
    bits(&simulation)
}

#[test]
fn every_number_of_threads_gives_the_same_bits() {
    let alone = draped(1, &[]);
    for threads in [1, 2, 8] {
        assert!(draped(threads, &[]) == alone, "{threads} threads");
    }
}

#[test]
fn a_collider_far_away_changes_no_bit() {
    let distant = Ball::new(1.0, 8, 4).collider(Vec3::new(60.0, 80.0, 0.0));
    assert!(draped(2, &[distant]) == draped(2, &[]));
}

/// Area in m² that a square sheet of n × n vertices covers, looked at along an axis; in squares of 4 mm.
fn silhouette(positions: &[Vec3], n: usize, axis: usize) -> f64 {
    const PIXEL: f64 = 0.004;
    let flat = |vertex: usize| {
        let point = positions[vertex] / PIXEL;
        [point[(axis + 1) % 3], point[(axis + 2) % 3]]
    };
    let mut covered = BTreeSet::new();
    for cell in (0..n * (n - 1)).filter(|cell| cell % n < n - 1) {
        for corners in [[cell, cell + 1, cell + n], [cell + 1, cell + n + 1, cell + n]] {
            cover(&corners.map(flat), &mut covered);
        }
    }
    covered.len() as f64 * PIXEL * PIXEL
}

/// Adds the squares of side 1 whose middle lies in a triangle.
fn cover(corners: &[[f64; 2]; 3], covered: &mut BTreeSet<[i64; 2]>) {
    let range = |axis: usize| {
        let values = corners.map(|corner| corner[axis]);
        let low = values.into_iter().fold(f64::INFINITY, f64::min).floor() as i64;
        low..=values.into_iter().fold(f64::NEG_INFINITY, f64::max).ceil() as i64
    };
    for (x, y) in range(0).flat_map(|x| range(1).map(move |y| (x, y))) {
        let middle = [x as f64 + 0.5, y as f64 + 0.5];
        let sides = [0, 1, 2].map(|k| {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            (b[0] - a[0]) * (middle[1] - a[1]) - (b[1] - a[1]) * (middle[0] - a[0]) > 0.0
        });
        if sides[0] == sides[1] && sides[1] == sides[2] {
            covered.insert([x, y]);
        }
    }
}

/// Lowest point in m and silhouette in m² of sheets of 1 m that differ in vertices a side and frames a second.
fn check_alike(sheets: [(usize, usize); 3], measure: impl Fn(usize, usize) -> [f64; 2]) {
    let [first, others @ ..] = sheets.map(|(n, rate)| measure(n, rate));
    for (found, sheet) in others.iter().zip(&sheets[1..]) {
        for (found, wanted) in found.iter().zip(&first) {
            assert!((found / wanted - 1.0).abs() < 0.03, "{sheet:?}: {found}, not {wanted}");
        }
    }
}

#[test]
fn resolution_and_frame_rate_do_not_change_how_a_sheet_swings_down() {
    check_alike([(50, 24), (50, 60), (100, 24)], |n, rate| {
        let cloth = sheet(n, 1.0, 0.0, Material::default());
        let mut simulation = Simulation::new(&[cloth], &[], Settings::default()).unwrap();
        simulation.set_pins(0, &[0, n - 1], None).unwrap();
        for _ in 0..rate {
            simulation.advance(1.0 / rate as f64).unwrap();
        }
        let positions = simulation.positions(0).unwrap();
        let lowest = positions.iter().map(|point| point.z).fold(f64::INFINITY, f64::min);
        [lowest, silhouette(positions, n, 1)]
    });
}

#[test]
#[ignore = "known defect: 5 % in silhouette on a ball, 3 % wanted"]
fn resolution_and_frame_rate_do_not_change_how_a_sheet_drapes() {
    check_alike([(30, 24), (30, 60), (45, 24)], |n, rate| {
        let cloth = sheet(n, 1.0, 0.32, Material::default());
        let ball = Ball::new(0.3, 32, 16).collider(Vec3::zeros());
        let mut simulation = Simulation::new(&[cloth], &[ball], Settings::default()).unwrap();
        for _ in 0..3 * rate / 2 {
            simulation.advance(1.0 / rate as f64).unwrap();
        }
        let positions = simulation.positions(0).unwrap();
        let lowest = positions.iter().map(|point| point.z).fold(f64::INFINITY, f64::min);
        [lowest, silhouette(positions, n, 2)]
    });
}
