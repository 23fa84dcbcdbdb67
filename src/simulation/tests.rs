// SPDX-License-Identifier: MIT OR Apache-2.0
use super::Simulation;
use crate::{
    error::Error,
    material::Material,
    mesh::Polygons,
    scene::{Cloth, Collider, Report, Settings},
    vec3::Vec3,
};

const FRAME: f64 = 1.0 / 24.0;

/// Settings with a number of threads.
fn settings(threads: usize) -> Settings {
    Settings { threads, ..Settings::default() }
}

/// A level square sheet of 0.2 m with its middle at a point, in m.
fn sheet(middle: Vec3) -> Cloth {
    const SIDE: usize = 5;
    let place = |index: usize| 0.2 * (index as f64 / (SIDE - 1) as f64 - 0.5);
    let positions: Vec<Vec3> = (0..SIDE * SIDE)
        .map(|index| middle + Vec3::new(place(index % SIDE), place(index / SIDE), 0.0))
        .collect();
    let first = (0..SIDE * SIDE).filter(|v| v % SIDE < SIDE - 1 && v / SIDE < SIDE - 1);
    let corners: Vec<usize> = first.flat_map(|v| [v, v + 1, v + SIDE + 1, v + SIDE]).collect();
    let polygons = Polygons::new(&vec![4; corners.len() / 4], &corners, positions.len()).unwrap();
    let cotton = Material::preset("cotton").unwrap();
    Cloth::new(positions, &polygons, cotton, None, None).unwrap()
}

fn floor() -> Collider {
    let corner = |x: f64, y: f64| Vec3::new(x, y, 0.0);
    let corners = vec![corner(-5.0, -5.0), corner(5.0, -5.0), corner(5.0, 5.0), corner(-5.0, 5.0)];
    Collider::new(corners, &[[0, 1, 2], [0, 2, 3]], 0.4, 0.001).unwrap()
}

fn simulation(cloths: &[Cloth], threads: usize) -> Simulation {
    Simulation::new(cloths, &[floor()], settings(threads)).unwrap()
}

fn advance(simulation: &mut Simulation, frames: usize) -> Vec<Report> {
    (0..frames).map(|_| simulation.advance(FRAME).unwrap()).collect()
}

/// Bits of the positions of a cloth.
fn bits(simulation: &Simulation, cloth: usize) -> Vec<u64> {
    simulation.positions(cloth).unwrap().iter().flatten().map(|x| x.to_bits()).collect()
}

/// Counts of a report that two islands add up.
fn counts(report: &Report) -> [usize; 5] {
    let Report { steps, newton_iterations, linear_iterations, contacts, rejected_steps, .. } =
        *report;
    [steps, newton_iterations, linear_iterations, contacts, rejected_steps]
}

#[test]
fn cloths_that_do_not_meet_move_as_each_alone_on_any_number_of_threads() {
    let cloths = [sheet(Vec3::new(-0.3, 0.0, 0.02)), sheet(Vec3::new(0.3, 0.1, 0.3))];
    let mut alone = cloths.each_ref().map(|cloth| simulation(std::slice::from_ref(cloth), 1));
    let reports = alone.each_mut().map(|one| advance(one, 10));
    for threads in [1, 2, 7] {
        let mut both = simulation(&cloths, threads);
        let together = advance(&mut both, 10);
        assert_eq!(both.islands.groups.len(), 2);
        for cloth in [0, 1] {
            assert_eq!(bits(&both, cloth), bits(&alone[cloth], 0), "cloth {cloth}");
        }
        for (frame, report) in together.iter().enumerate() {
            let parts = reports.each_ref().map(|of_one| counts(&of_one[frame]));
            let sum: [usize; 5] = std::array::from_fn(|index| parts[0][index] + parts[1][index]);
            assert_eq!(counts(report), sum, "frame {frame}");
        }
    }
}

/// Two sheets one above the other, of which the upper one falls faster.
fn one_that_falls_on_another() -> Simulation {
    let mut simulation =
        simulation(&[sheet(Vec3::new(0.03, 0.02, 0.2)), sheet(Vec3::new(0.0, 0.0, 0.01))], 2);
    simulation.set_guided_velocity(0, &[12], &[Vec3::z()], Vec3::z() * -2.0).unwrap();
    simulation
}

#[test]
fn cloths_that_meet_are_united_where_they_began_the_frame_and_never_cross() {
    let mut simulation = one_that_falls_on_another();
    assert_eq!(simulation.islands.groups.len(), 2);
    let reports = advance(&mut simulation, 8);
    assert_eq!(simulation.islands.groups.len(), 1);
    assert!(reports.iter().all(|report| report.unresolved_contacts == 0));
    let lowest = simulation.positions(0).unwrap().iter().map(|x| x.z);
    assert!(lowest.fold(f64::INFINITY, f64::min) > 0.0);
    assert!((simulation.time() - 8.0 * FRAME).abs() < 1e-12);
}

#[test]
fn a_cloth_that_leaves_another_is_an_island_again() {
    let mut simulation =
        simulation(&[sheet(Vec3::new(0.0, 0.0, 0.004)), sheet(Vec3::new(0.0, 0.0, 0.002))], 1);
    advance(&mut simulation, 2);
    assert_eq!(simulation.islands.groups.len(), 1);
    let up: Vec<Vec3> =
        simulation.positions(0).unwrap().iter().map(|x| x + Vec3::z() * 0.1).collect();
    let all: Vec<usize> = (0..up.len()).collect();
    simulation.set_pins(0, &all, Some(&up)).unwrap();
    advance(&mut simulation, 3);
    assert_eq!(simulation.islands.groups.len(), 2);
    for (held, wanted) in simulation.positions(0).unwrap().iter().zip(&up) {
        assert!((held - wanted).norm() < 1e-12);
    }
    let lying = simulation.positions(1).unwrap().iter().map(|x| x.z);
    assert!(lying.fold(0.0, f64::max) < 0.01);
}

#[test]
fn a_checkpoint_keeps_the_islands_and_their_bits() {
    let mut first = one_that_falls_on_another();
    for frames in [1, 5] {
        advance(&mut first, frames);
        let state = first.state().unwrap();
        let mut second = one_that_falls_on_another();
        second.restore(&state).unwrap();
        advance(&mut first, 4);
        advance(&mut second, 4);
        assert_eq!(first.islands.groups.len(), second.islands.groups.len());
        assert!([0, 1].iter().all(|cloth| bits(&first, *cloth) == bits(&second, *cloth)));
    }
}

#[test]
fn an_error_in_one_island_returns_all_to_where_the_frame_began() {
    let cloths = [sheet(Vec3::new(-0.3, 0.0, 0.2)), sheet(Vec3::new(0.3, 0.0, 0.2))];
    let mut simulation = simulation(&cloths, 1);
    advance(&mut simulation, 1);
    let before = [0, 1].map(|cloth| bits(&simulation, cloth));
    simulation.set_pins(1, &[0], Some(&[Vec3::x() * 1.0e308])).unwrap();
    let outcome = simulation.advance(FRAME);
    assert!(matches!(outcome, Err(Error::NotFinite { cloth: 1, .. })), "{outcome:?}");
    assert_eq!([0, 1].map(|cloth| bits(&simulation, cloth)), before);
    assert!((simulation.time() - FRAME).abs() < 1e-15);
    simulation.release_pins(1, None).unwrap();
    advance(&mut simulation, 1);
}

#[test]
fn matrices_are_those_of_all_cloths_in_their_order() {
    let cloths = [sheet(Vec3::new(-0.3, 0.0, 0.2)), sheet(Vec3::new(0.3, 0.0, 0.4))];
    let mut both = simulation(&cloths, 1);
    let matrices = both.matrices(None).unwrap();
    assert_eq!((both.islands.groups.len(), matrices.masses.len()), (2, 50));
    let mut last = simulation(&cloths[1..], 1);
    let of_last = last.matrices(None).unwrap();
    assert_eq!(matrices.masses[25..], of_last.masses);
    assert_eq!(matrices.positions[25..], of_last.positions);
}
