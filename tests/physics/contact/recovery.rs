// SPDX-License-Identifier: MIT OR Apache-2.0
//! Surfaces that start closer than their thickness come apart without a velocity (Baraff and Witkin 1998, section 6.2;
//! Etzmuss 2002, section 4.4).

use crate::fixtures::scenes::{ground, sheet, soft, square, vacuum};
use weft::{Cloth, Collider, Integrator, Material, Settings, Simulation, Solver, Vec3};

const FRAME: f64 = 1.0 / 24.0;
/// Collision distance, in m, of which the ground has 1 mm.
const DISTANCE: f64 = 0.01;
const START: f64 = 0.004;
const FRICTION: f64 = 0.4;

fn combinations() -> impl Iterator<Item = (Integrator, Solver)> {
    let newton = Integrator::ALL.map(|integrator| (integrator, Solver::Newton));
    let others = [Integrator::Bdf2, Integrator::ImplicitEuler, Integrator::ImplicitMidpoint]
        .into_iter()
        .flat_map(|one| [(one, Solver::FixedPoint), (one, Solver::Linearised)]);
    newton.into_iter().chain(others)
}

fn fastest(simulation: &Simulation, cloth: usize) -> f64 {
    simulation.velocities(cloth).unwrap().iter().map(Vec3::norm).fold(0.0, f64::max)
}

fn floor() -> Collider {
    ground(square(4.0), 0.4)
}

/// Without a load nothing takes back the speed that a recovery would leave: 0.1 m/s, once.
#[test]
fn a_sheet_that_starts_too_near_a_solid_stops_at_the_collision_distance() {
    for (integrator, solver) in combinations() {
        let settings = Settings { integrator, solver, threads: 1, ..vacuum() };
        let cloth = sheet(6, 0.3, START, soft(DISTANCE - 0.001, FRICTION));
        let mut simulation = Simulation::new(&[cloth], &[floor()], settings).unwrap();
        for _ in 0..8 {
            simulation.advance(FRAME).unwrap();
        }
        let name = format!("{integrator:?}, {solver:?}");
        for position in simulation.positions(0).unwrap() {
            assert!((position.z - DISTANCE).abs() < 2.0e-4, "{name}: at {} m", position.z);
        }
        assert!(fastest(&simulation, 0) < 2.0e-3, "{name}: {} m/s", fastest(&simulation, 0));
    }
}

/// Neither of them moves on, and both have moved as far.
#[test]
fn sheets_that_start_too_near_each_other_stop_at_the_collision_distance() {
    for integrator in
        [Integrator::Bdf2, Integrator::ImplicitEuler, Integrator::Sbdf2, Integrator::Verlet]
    {
        let material = soft(0.5 * DISTANCE, FRICTION);
        let cloths: [Cloth; 2] = [0.0, START].map(|z| sheet(6, 0.3, z, material.clone()));
        let settings = Settings { integrator, threads: 1, ..vacuum() };
        let mut simulation = Simulation::new(&cloths, &[], settings).unwrap();
        for _ in 0..8 {
            simulation.advance(FRAME).unwrap();
        }
        let mean = |cloth: usize| {
            let positions = simulation.positions(cloth).unwrap();
            positions.iter().map(|position| position.z).sum::<f64>() / positions.len() as f64
        };
        let gap = mean(1) - mean(0);
        assert!((gap - DISTANCE).abs() < 3.0e-4, "{integrator:?}: {gap} m");
        assert!((mean(0) + mean(1) - START).abs() < 1.0e-6, "{integrator:?}: momentum");
        for cloth in [0, 1] {
            let speed = fastest(&simulation, cloth);
            assert!(speed < 5.0e-3, "{integrator:?}: {speed} m/s");
        }
    }
}

/// It swung 46 mm off the wall, as a pendulum that the recovery had thrown.
#[test]
fn a_sheet_that_hangs_too_near_a_wall_does_not_swing_off_it() {
    for integrator in [Integrator::Bdf2, Integrator::ImplicitEuler, Integrator::ImexEuler] {
        let gravity = Vec3::y() * -9.81;
        let settings = Settings { integrator, gravity, threads: 1, ..Settings::default() };
        let material = Material { thickness: DISTANCE - 0.001, ..Material::default() };
        let cloth = sheet(11, 0.4, START, material);
        let mut simulation = Simulation::new(&[cloth], &[floor()], settings).unwrap();
        simulation.set_pins(0, &[110, 120], None).unwrap();
        let mut furthest: f64 = 0.0;
        for _ in 0..24 {
            simulation.advance(FRAME).unwrap();
            let heights = simulation.positions(0).unwrap().iter().map(|position| position.z);
            furthest = heights.fold(furthest, f64::max);
        }
        // The pins hold its corners 6 mm inside.
        assert!(furthest < 1.7 * DISTANCE, "{integrator:?}: {furthest} m");
    }
}

/// Lifted against its weight, it never passes the distance at which it comes to rest.
#[test]
fn a_sheet_that_starts_too_near_a_floor_does_not_overshoot() {
    for integrator in
        [Integrator::Bdf2, Integrator::ImplicitMidpoint, Integrator::Sbdf2, Integrator::Verlet]
    {
        let gravity = Vec3::z() * -9.81;
        let settings = Settings { integrator, gravity, threads: 1, ..Settings::default() };
        let cloth = sheet(9, 0.4, START, soft(DISTANCE - 0.001, FRICTION));
        let mut simulation = Simulation::new(&[cloth], &[floor()], settings).unwrap();
        for frame in 0..48 {
            simulation.advance(0.5 * FRAME).unwrap();
            let heights = simulation.positions(0).unwrap().iter().map(|position| position.z);
            let highest = heights.fold(0.0, f64::max);
            assert!(highest < 1.02 * DISTANCE, "{integrator:?}, half frame {frame}: {highest} m");
        }
        assert!(fastest(&simulation, 0) < 2.0e-3, "{integrator:?}");
    }
}

/// What falls is stopped at the collision distance: no vertex is left within it.
#[test]
fn a_soft_sheet_that_falls_keeps_the_collision_distance() {
    for integrator in [Integrator::Bdf2, Integrator::ImplicitEuler, Integrator::Verlet] {
        let gravity = Vec3::z() * -9.81;
        let settings = Settings { integrator, gravity, threads: 1, ..Settings::default() };
        let cloth = sheet(9, 0.4, 0.2, soft(DISTANCE - 0.001, FRICTION));
        let mut simulation = Simulation::new(&[cloth], &[floor()], settings).unwrap();
        for frame in 0..16 {
            simulation.advance(FRAME).unwrap();
            let heights = simulation.positions(0).unwrap().iter().map(|position| position.z);
            let lowest = heights.fold(f64::INFINITY, f64::min);
            assert!(lowest > 0.9 * DISTANCE, "{integrator:?}, frame {frame}: {lowest} m");
        }
    }
}
