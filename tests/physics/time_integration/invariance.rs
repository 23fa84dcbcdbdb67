// SPDX-License-Identifier: MIT OR Apache-2.0
//! Independence of the result from threads, distant things, how vertices are numbered, and, within limits, resolution and frame rate.

use crate::fixtures::scenes::{Ball, grid, largest_distance, sheet};
use std::collections::BTreeSet;
use weft::{
    Cloth, Collider, Integrator, Material, Settings, Simulation, Solver, Vec3, mesh::Polygons,
};

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

/// Two sheets, pinned at a corner, pulled by a spring at another, with a prescribed velocity at a third; if they are to `touch`, one lies close above the
/// other over a ball. Vertex `v` is number `v · stride` modulo their number, which has no factor in common with it.
/// Gives positions in the order of `v`.
fn numbered(stride: usize, settings: &Settings, touch: bool) -> Vec<Vec3> {
    const SIDE: usize = 18;
    let number = |vertex: usize| vertex * stride % (SIDE * SIDE);
    let (flat, polygons) = grid(SIDE, SIDE, [0.6; 2]);
    let corners = (0..polygons.count()).flat_map(|face| polygons.face(face));
    let corners: Vec<usize> = corners.map(|vertex| number(*vertex as usize)).collect();
    let polygons = Polygons::new(&vec![4; corners.len() / 4], &corners, flat.len()).unwrap();
    let cloth = |height: f64| {
        let mut positions = flat.clone();
        for (vertex, position) in flat.iter().enumerate() {
            positions[number(vertex)] = position + Vec3::z() * height;
        }
        Cloth::new(positions, &polygons, Material::default(), None, None).unwrap()
    };
    let ball = Ball::new(0.2, 24, 12).collider(Vec3::zeros());
    let (gap, colliders) = if touch { (0.0021, vec![ball]) } else { (0.1, Vec::new()) };
    let cloths = [cloth(0.2011), cloth(0.2011 + gap)];
    let mut simulation = Simulation::new(&cloths, &colliders, settings.clone()).unwrap();
    simulation.set_pins(0, &[number(0)], None).unwrap();
    simulation.set_soft_pins(1, &[number(SIDE - 1)], None, &[50.0]).unwrap();
    let last = number(SIDE * SIDE - 1);
    simulation.set_guided_velocity(0, &[last], &[Vec3::x()], Vec3::x() * 0.1).unwrap();
    let report = simulation.advance(1.0 / 24.0).unwrap();
    assert_eq!(report.contacts > 0, touch);
    let positions = [0, 1].map(|cloth| simulation.positions(cloth).unwrap());
    positions.iter().flat_map(|of| (0..SIDE * SIDE).map(|vertex| of[number(vertex)])).collect()
}

#[test]
fn the_numbering_of_vertices_makes_no_difference() {
    let with = |integrator, solver| Settings {
        integrator,
        solver,
        tolerance: 1.0e-5,
        ..Settings::default()
    };
    // Sheets that are pulled and moved by their corners buckle: less finely solved they may end on the way to it.
    let finely = Settings { tolerance: 1.0e-7, ..Settings::default() };
    for settings in [
        finely,
        with(Integrator::Bdf2, Solver::FixedPoint),
        with(Integrator::Bdf2, Solver::Linearised),
        with(Integrator::ImexEuler, Solver::Newton),
        with(Integrator::SymplecticEuler, Solver::Newton),
    ] {
        // In m; all have fallen by 8 mm. What touches is found in the order of numbers, and how it slips depends on it.
        for (touch, allowed) in [(false, 1.0e-4), (true, 1.0e-3)] {
            let [plain, other] = [1, 131].map(|stride| numbered(stride, &settings, touch));
            let distance = largest_distance(&plain, &other);
            let name = format!("{:?}, {:?}, {touch}", settings.integrator, settings.solver);
            assert!(distance < allowed, "{name}: {distance:e} m");
        }
    }
}
