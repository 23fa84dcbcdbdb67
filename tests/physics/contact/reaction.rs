// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reaction constraints of the explicit schemes: Etzmuss 2002, section 4.3.

use crate::fixtures::scenes::{grid, ground, sheet, soft, square, throw, vacuum};
use nalgebra::Rotation3;
use weft::{Cloth, Collider, Integrator, Settings, Simulation, Vec3};

const GRAVITY: f64 = 9.81;
/// Contact thickness of cloth and ground together, in m.
const THICKNESS: f64 = 0.002;
/// Time constant of the stabilisation, in s.
const TIME_CONSTANT: f64 = 0.02;

fn explicit() -> impl Iterator<Item = Integrator> {
    Integrator::ALL.into_iter().filter(|integrator| integrator.is_explicit())
}

/// A small sheet that lies on level ground.
fn resting(integrator: Integrator, friction: f64) -> Simulation {
    let cloth = sheet(6, 0.3, THICKNESS, soft(0.001, friction));
    simulated(integrator, cloth, ground(square(4.0), friction))
}

fn simulated(integrator: Integrator, cloth: Cloth, solid: Collider) -> Simulation {
    let (gravity, time_step) = (Vec3::z() * -GRAVITY, 1.0e-3);
    let settings = Settings { integrator, gravity, time_step, ..vacuum() };
    Simulation::new(&[cloth], &[solid], settings).unwrap()
}

fn heights(simulation: &Simulation) -> impl Iterator<Item = f64> {
    simulation.positions(0).unwrap().iter().map(|position| position.z)
}

/// The reaction along the surface is μ times that along the normal, from the first step on.
#[test]
fn a_sheet_on_an_incline_has_the_acceleration_of_its_coefficient() {
    let (sine, cosine) = 30.0_f64.to_radians().sin_cos();
    let turn = Rotation3::new(Vec3::y() * 30.0_f64.to_radians());
    let (flat, polygons) = grid(6, 6, [0.3; 2]);
    for integrator in explicit() {
        for coefficient in [0.0, 0.2, 0.4] {
            let tilted = flat.iter().map(|point| turn * (point + Vec3::z() * THICKNESS)).collect();
            let cloth =
                Cloth::new(tilted, &polygons, soft(0.001, coefficient), None, None).unwrap();
            let corners = square(20.0).iter().map(|corner| turn * corner).collect();
            let mut simulation = simulated(integrator, cloth, ground(corners, coefficient));
            simulation.advance(0.1).unwrap();
            let wanted = 0.1 * GRAVITY * (sine - coefficient * cosine);
            for velocity in simulation.velocities(0).unwrap() {
                let found = velocity.dot(&(turn * Vec3::x()));
                let name = format!("{integrator:?}, {coefficient}");
                assert!((found / wanted - 1.0).abs() < 2.0e-3, "{name}: {found}, not {wanted} m/s");
            }
        }
    }
}

/// Force before the response that drags the sheet away: half of the weight, upwards.
#[test]
fn a_reaction_does_not_pull() {
    for integrator in explicit() {
        let mut simulation = resting(integrator, 0.3);
        simulation.advance(0.1).unwrap();
        let before = heights(&simulation).fold(f64::INFINITY, f64::min);
        simulation.set_gravity(Vec3::z() * (0.5 * GRAVITY)).unwrap();
        simulation.advance(0.1).unwrap();
        let wanted = 0.5 * 0.5 * GRAVITY * 0.01;
        for height in heights(&simulation) {
            let found = height - before;
            assert!((found / wanted - 1.0).abs() < 0.02, "{integrator:?}: {found}, not {wanted} m");
        }
    }
}

/// The force before the response still presses, but the sheet flies on: with 1 m/s 51 mm in a tenth of a second.
#[test]
fn a_sheet_flies_on_when_its_ground_stops() {
    for integrator in explicit() {
        let mut simulation = resting(integrator, 0.3);
        let rise = |simulation: &mut Simulation, height: f64| {
            let corners = square(4.0).iter().map(|corner| corner + Vec3::z() * height).collect();
            simulation.set_collider(0, corners).unwrap();
            simulation.advance(0.01).unwrap();
        };
        (1..=10).for_each(|frame| rise(&mut simulation, 0.01 * f64::from(frame)));
        (0..10).for_each(|_| rise(&mut simulation, 0.1));
        let wanted = 0.1 - 0.5 * GRAVITY * 0.01;
        for height in heights(&simulation) {
            let found = height - 0.1 - THICKNESS;
            assert!((found / wanted - 1.0).abs() < 0.03, "{integrator:?}: {found}, not {wanted} m");
        }
    }
}

/// (x̄ − x)/τ² − 2v/τ from rest: x̄ − x falls as (1 + t/τ)exp(−t/τ). Its ground becomes thicker by a millimetre.
#[test]
fn a_loaded_contact_returns_to_its_distance_as_a_critically_damped_oscillator() {
    for integrator in explicit() {
        let mut simulation = resting(integrator, 0.3);
        simulation.advance(0.2).unwrap();
        let start = heights(&simulation).sum::<f64>() / 36.0;
        simulation.set_collider_surface(0, 0.3, 0.002).unwrap();
        let lacking = THICKNESS + 0.001 - start;
        for step in 1..=20 {
            simulation.advance(0.01).unwrap();
            let time = 0.01 * f64::from(step) / TIME_CONSTANT;
            let wanted = lacking * (1.0 + time) * (-time).exp();
            for height in heights(&simulation) {
                let found = THICKNESS + 0.001 - height;
                let name = format!("{integrator:?}, step {step}");
                assert!((found - wanted).abs() < 0.03 * lacking, "{name}: {found}, not {wanted} m");
                assert!(found > 0.0, "{name}: {found} m beyond its distance");
            }
        }
    }
}

/// A force that drags a contact away on its return switches the reaction off: it flies freely from there.
#[test]
fn a_return_ends_where_a_force_drags_the_sheet_away() {
    for integrator in explicit() {
        let mut simulation = resting(integrator, 0.3);
        simulation.advance(0.2).unwrap();
        simulation.set_collider_surface(0, 0.3, 0.002).unwrap();
        simulation.advance(2.0 * TIME_CONSTANT).unwrap();
        let speed = |simulation: &Simulation| {
            let velocities = simulation.velocities(0).unwrap();
            velocities.iter().map(|velocity| velocity.z).sum::<f64>() / 36.0
        };
        let (before, drag, time) = (speed(&simulation), 0.5 * GRAVITY, 0.01);
        simulation.set_gravity(Vec3::z() * drag).unwrap();
        simulation.advance(time).unwrap();
        let (gained, wanted) = (speed(&simulation) - before, drag * time);
        assert!((gained / wanted - 1.0).abs() < 0.02, "{integrator:?}: {gained}, not {wanted} m/s");
    }
}

/// An impact leaves no speed along the normal, and takes μ times as much along the ground.
#[test]
fn an_impact_does_not_rebound_and_takes_its_friction() {
    for integrator in explicit() {
        let cloth = sheet(6, 0.3, 0.02, soft(0.001, 0.3));
        let mut simulation = simulated(integrator, cloth, ground(square(4.0), 0.3));
        throw(&mut simulation, |_| Vec3::new(2.0, 0.0, -2.0));
        let normal = (4.0 + 2.0 * GRAVITY * (0.02 - THICKNESS)).sqrt();
        let impact = (normal - 2.0) / GRAVITY;
        for _ in 0..10 {
            simulation.advance(0.005).unwrap();
            let highest = heights(&simulation).fold(0.0, f64::max);
            let is_over = simulation.time() > impact + 0.005;
            assert!(!is_over || highest < 1.001 * THICKNESS, "{integrator:?}: {highest} m");
        }
        let sliding = simulation.time() - impact;
        let wanted = 2.0 - 0.3 * (normal + GRAVITY * sliding);
        for velocity in simulation.velocities(0).unwrap() {
            let name = format!("{integrator:?}: {velocity:?}, not {wanted}");
            assert!((velocity.x - wanted).abs() < 0.01 && velocity.yz().norm() < 0.01, "{name}");
        }
    }
}
