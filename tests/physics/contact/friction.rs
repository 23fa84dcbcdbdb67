// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sheet on an inclined plane, and on ground that moves.

use crate::fixtures::scenes::{grid, ground, largest_distance, square, throw, vacuum};
use nalgebra::Rotation3;
use weft::{Cloth, Integrator, Material, Settings, Simulation, Vec3};

const GRAVITY: f64 = 9.81;
/// Contact thickness of cloth and ground together, in m.
const THICKNESS: f64 = 0.002;

/// A sheet of 10 × 10 vertices that rests on a large square, turned about y.
struct Resting {
    simulation: Simulation,
    start: Vec<Vec3>,
    turn: Rotation3<f64>,
}

impl Resting {
    fn new(degrees: f64, [cloth, plane]: [f64; 2], integrator: Integrator) -> Self {
        let turn = Rotation3::new(Vec3::y() * degrees.to_radians());
        let (flat, polygons) = grid(10, 10, [0.4, 0.4]);
        let start: Vec<Vec3> =
            flat.iter().map(|point| turn * (point + Vec3::z() * THICKNESS)).collect();
        let material = Material { friction: cloth, thickness: 0.001, ..Material::default() };
        let sheet = Cloth::new(start.clone(), &polygons, material, None, None).unwrap();
        let corners = square(20.0).iter().map(|corner| turn * corner).collect();
        let mut settings =
            Settings { integrator, gravity: Vec3::z() * -GRAVITY, tolerance: 1.0e-4, ..vacuum() };
        if integrator == Integrator::Sbdf2 {
            // What it takes from the past lags behind where contacts come and go.
            settings.time_step = 1.0 / 48.0;
        }
        let simulation = Simulation::new(&[sheet], &[ground(corners, plane)], settings).unwrap();
        Self { simulation, start, turn }
    }

    fn advance(&mut self, frames: usize) {
        for _ in 0..frames {
            let report = self.simulation.advance(1.0 / 24.0).unwrap();
            assert!(report.converged, "{report:?}");
        }
    }

    /// Ways that the vertices have gone, downhill along x, across along y, and away from the plane along z.
    fn displacements(&self) -> Vec<Vec3> {
        let positions = self.simulation.positions(0).unwrap();
        positions.iter().zip(&self.start).map(|(a, b)| self.turn.inverse() * (a - b)).collect()
    }
}

/// incline.csv: it sticks if the coefficient is more than tan 30° = .5774, without creeping.
#[test]
fn a_sheet_sticks_to_an_inclined_plane_without_creeping() {
    for integrator in Integrator::ALL {
        for coefficient in [0.6, 0.8] {
            let mut resting = Resting::new(30.0, [coefficient; 2], integrator);
            // Explicit schemes take hundreds of steps a frame.
            resting.advance(if integrator.is_explicit() { 12 } else { 240 });
            let furthest = resting
                .displacements()
                .iter()
                .map(|displacement| displacement.xy().norm())
                .fold(0.0, f64::max);
            assert!(furthest < 1.0e-4, "{integrator:?}, {coefficient}: {furthest} m");
        }
    }
}

/// incline.csv: it slides by ½at², a = g(sin θ − μ cos θ). The coefficient of a pair is the geometric mean of both.
#[test]
fn a_sheet_slides_down_an_inclined_plane() {
    let table = [
        ([0.2, 0.2], 3.205_858_16),
        ([0.4, 0.4], 1.506_716_32),
        ([0.1, 0.4], 3.205_858_16),
        ([0.0, 0.7], 4.905),
    ];
    for integrator in Integrator::ALL {
        for (coefficients, acceleration) in table {
            let frames = if integrator.is_explicit() { 4 } else { 24 };
            let seconds = f64::from(frames) / 24.0;
            let mut resting = Resting::new(30.0, coefficients, integrator);
            resting.advance(frames as usize);
            let displacements = resting.displacements();
            let mean = displacements.iter().sum::<Vec3>() / displacements.len() as f64;
            let name = format!("{integrator:?}, {coefficients:?}");
            let wanted = 0.5 * acceleration * seconds * seconds;
            // Schemes of first order come as far as the exact motion does half a step later.
            let is_first = matches!(integrator, Integrator::ImplicitEuler | Integrator::ImexEuler);
            let lag = if is_first { Settings::default().time_step / seconds } else { 0.0 };
            assert!((mean.x / wanted - 1.0).abs() < 0.02 + lag, "{name}: {mean:?}");
            assert!(mean.y.abs() < 1.0e-4, "{name}: {mean:?}");
        }
    }
}

/// Steps in each of four frames of a sheet that slides along a longer one, both with edges of .044 m, at a speed in m/s.
fn steps_on_cloth(speed: f64) -> Vec<usize> {
    let material = Material { friction: 0.0, thickness: 0.001, ..Material::default() };
    let sheet = |columns: usize, height: f64| {
        let (flat, polygons) = grid(columns, 10, [0.4 / 9.0 * (columns - 1) as f64, 0.4]);
        let positions = flat.iter().map(|point| point + Vec3::z() * height).collect();
        Cloth::new(positions, &polygons, material.clone(), None, None).unwrap()
    };
    // With so many iterations allowed none of the steps is shortened for those that it takes.
    let (time_step, max_iterations) = (1.0 / 24.0, 100);
    let settings =
        Settings { air_density: 0.0, threads: 1, time_step, max_iterations, ..Settings::default() };
    let cloths = [sheet(10, THICKNESS), sheet(19, 0.0)];
    let mut simulation = Simulation::new(&cloths, &[], settings).unwrap();
    let below: Vec<usize> = (0..190).collect();
    simulation.set_pins(1, &below, None).unwrap();
    throw(&mut simulation, |_| Vec3::x() * speed);
    (0..4).map(|_| simulation.advance(1.0 / 24.0).unwrap().steps).collect()
}

/// Half an edge is .022 m, and a frame 1/24 s.
#[test]
fn steps_are_halved_where_layers_slide_by_more_than_half_an_edge() {
    assert_eq!(steps_on_cloth(0.3), [1, 1, 1, 1]);
    assert_eq!(steps_on_cloth(0.8), [1, 2, 2, 2]);
}

/// Moves level ground, on which the sheet has come to rest, as a function of time takes its points, for so
/// long, one step a frame.
fn carry(resting: &mut Resting, seconds: f64, place: impl Fn(f64, &Vec3) -> Vec3) {
    resting.advance(6);
    for frame in 1..=(96.0 * seconds) as usize {
        let time = frame as f64 / 96.0;
        let corners = square(20.0).iter().map(|corner| place(time, corner)).collect();
        resting.simulation.set_collider(0, corners).unwrap();
        resting.simulation.advance(1.0 / 96.0).unwrap();
    }
}

/// Ground that is accelerated by less than μg takes a sheet along.
#[test]
fn accelerated_ground_carries_a_sheet_along() {
    let mut resting = Resting::new(0.0, [0.5; 2], Integrator::Bdf2);
    let displacement = |time: f64| Vec3::new(0.5 * 3.0 * time * time, 0.5 * 1.0 * time * time, 0.0);
    carry(&mut resting, 1.0, |time, corner| corner + displacement(time));
    let wanted: Vec<Vec3> = resting.start.iter().map(|point| point + displacement(1.0)).collect();
    let slip = largest_distance(resting.simulation.positions(0).unwrap(), &wanted);
    assert!(slip < 1.0e-4, "{slip} m");
}

/// Ground that is accelerated by more than μg slips away below the sheet, which follows with just μg.
#[test]
fn ground_that_is_pulled_away_drags_a_sheet_with_its_friction() {
    let mut resting = Resting::new(0.0, [0.3; 2], Integrator::Bdf2);
    carry(&mut resting, 0.5, |time, corner| corner + Vec3::x() * (0.5 * 6.0 * time * time));
    for velocity in resting.simulation.velocities(0).unwrap() {
        // Friction sets in within the first two steps.
        let [least, most] = [46.0, 48.0].map(|steps| 0.3 * GRAVITY * steps / 96.0);
        assert!(velocity.x > 0.99 * least && velocity.x < 1.01 * most, "{velocity:?}");
        assert!(velocity.yz().norm() < 1.0e-3, "{velocity:?}");
    }
}

/// A turntable that turns slowly enough takes a sheet round with it.
#[test]
fn a_turntable_carries_a_sheet_round() {
    let mut resting = Resting::new(0.0, [0.5; 2], Integrator::Bdf2);
    // At the corners of the sheet, .28 m from the axis, at most 1.6 m/s².
    let turn = |time: f64| Rotation3::new(Vec3::z() * (0.5 * 2.0 * time * time));
    carry(&mut resting, 1.0, |time, corner| turn(time) * corner);
    let wanted: Vec<Vec3> = resting.start.iter().map(|point| turn(1.0) * point).collect();
    let slip = largest_distance(resting.simulation.positions(0).unwrap(), &wanted);
    // The corners of the ground go in straight lines: a step of 1/50 rad cuts 5e-5 of the radius.
    assert!(slip < 1.0e-4, "{slip} m");
}

/// Thrown flat on the ground, a sheet loses μ times its normal velocity along the ground, and then slides on.
#[test]
fn an_oblique_impact_takes_the_impulse_of_friction() {
    let (coefficient, height) = (0.3, 0.1);
    for integrator in [Integrator::Bdf2, Integrator::ImplicitEuler] {
        for speed in [3.0, 1.0, 0.4] {
            let mut resting = Resting::new(0.0, [coefficient; 2], integrator);
            let lowered = square(20.0).iter().map(|corner| corner - Vec3::z() * height).collect();
            resting.simulation.set_collider(0, lowered).unwrap();
            throw(&mut resting.simulation, |_| Vec3::new(speed, 0.0, -2.0));
            let normal = (4.0 + 2.0 * GRAVITY * height).sqrt();
            let impact = (normal - 2.0) / GRAVITY;
            for _ in 0..12 {
                resting.simulation.advance(1.0 / 96.0).unwrap();
            }
            let sliding = resting.simulation.time() - impact;
            let wanted = (speed - coefficient * (normal + GRAVITY * sliding)).max(0.0);
            // The time of the impact is known to a step, and so are speed and duration of what follows.
            let allowed = 3.0 * coefficient * GRAVITY / 96.0;
            for velocity in resting.simulation.velocities(0).unwrap() {
                let name = format!("{integrator:?}, {speed} m/s");
                assert!(
                    (velocity.x - wanted).abs() < allowed,
                    "{name}: {velocity:?}, not {wanted}"
                );
            }
        }
    }
}
