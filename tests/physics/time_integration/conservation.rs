// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conserved quantities of motion without external forces.

use crate::fixtures::{
    scenes::{ground, sheet, square, throw, vacuum},
    strips::{Pattern, Strip},
};
use nalgebra::Rotation3;
use weft::{Integrator, Material, Settings, Simulation, Vec3};

const GRAVITY: f64 = 9.81;

/// The error of a step is δ = tolerance · edge. As an error δ/β of the velocity it is carried on, so that n
/// steps leave at most about n²δ.
#[test]
fn free_fall_is_exact_for_bdf2_whatever_the_steps() {
    let even = [1.0, 1.0, 1.0];
    for (size, tolerance, rhythm) in
        [(1.0, 1.0e-9, even), (1.0, 1.0e-9, [0.5, 1.0, 2.0]), (0.01, 1.0e-3, even)]
    {
        let gravity = Vec3::new(0.0, 0.0, -GRAVITY);
        let settings = Settings { gravity, tolerance, ..vacuum() };
        let cloth = sheet(10, size, 0.0, Material::default());
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        let start = simulation.positions(0).unwrap().to_vec();
        for beats in rhythm.repeat(16) {
            let report = simulation.step(beats / 48.0).unwrap();
            assert!(report.converged, "{size} {rhythm:?}: {report:?}");
        }
        let fallen = Vec3::new(0.0, 0.0, -0.5 * GRAVITY * simulation.time().powi(2));
        let allowed = 48.0_f64.powi(2) * tolerance * size / 9.0;
        for (vertex, (now, then)) in simulation.positions(0).unwrap().iter().zip(&start).enumerate()
        {
            let error = (now - then - fallen).norm();
            assert!(error < allowed, "{size} m, {rhythm:?}, vertex {vertex}: {error:e} m");
        }
    }
}

/// A sheet shaken out of its rest shape, spinning and flying.
struct Flight {
    simulation: Simulation,
    masses: Vec<f64>,
}

const FLIGHT: Vec3 = Vec3::new(0.4, -0.3, 0.6);
const SPIN: Vec3 = Vec3::new(1.0, 2.0, 3.0);

impl Flight {
    fn new(integrator: Integrator) -> Self {
        let strip = Strip::new(Pattern::Random, 0.6, [7, 5]);
        let material = Material {
            stretch_warp: 20.0,
            stretch_weft: 15.0,
            shear: 8.0,
            bend_warp: 1.0e-3,
            bend_weft: 2.0e-3,
            stretch_damping: 0.01,
            shear_damping: 0.01,
            bend_damping: 0.01,
            ..Material::default()
        };
        let bent = strip.map(|x| {
            let out =
                Vec3::new(0.02 * (5.0 * x.y).sin(), 0.03 * x.x, 0.3 * (4.0 * x.x).sin() * x.y);
            x + out
        });
        let masses = strip.masses(material.density);
        let settings = Settings { integrator, ..vacuum() };
        let cloth = strip.cloth(material, bent, 0.4);
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        throw(&mut simulation, |x| FLIGHT + SPIN.cross(x));
        Self { simulation, masses }
    }

    /// Momentum in kg·m/s and angular momentum around the origin in kg·m²/s.
    fn momenta(&self) -> [Vec3; 2] {
        let positions = self.simulation.positions(0).unwrap();
        let velocities = self.simulation.velocities(0).unwrap();
        let mut momenta = [Vec3::zeros(); 2];
        for ((x, v), mass) in positions.iter().zip(velocities).zip(&self.masses) {
            momenta[0] += v * *mass;
            momenta[1] += x.cross(v) * *mass;
        }
        momenta
    }

    /// Loss of both in half a second, relative to their values at the start.
    fn losses(mut self, steps: usize) -> [f64; 2] {
        let before = self.momenta();
        for _ in 0..steps {
            assert!(self.simulation.step(0.5 / steps as f64).unwrap().converged);
        }
        let after = self.momenta();
        [0, 1].map(|k| (after[k] - before[k]).norm() / before[k].norm())
    }
}

#[test]
fn momentum_is_kept_to_the_tolerance_and_angular_momentum_with_the_order_of_the_scheme() {
    for (integrator, order) in [(Integrator::Bdf2, 2), (Integrator::ImplicitEuler, 1)] {
        let [coarse, fine] = [200, 400].map(|steps| Flight::new(integrator).losses(steps));
        // As for free fall: n²·tolerance·edge, over the length of the flight.
        let allowed = 400.0_f64.powi(2) * vacuum().tolerance * 0.1 / (0.5 * FLIGHT.norm());
        assert!(coarse[0].max(fine[0]) < allowed, "{integrator:?}: {coarse:?} {fine:?}");
        assert!(coarse[1] < 0.1, "{integrator:?}: {coarse:?}");
        let least = 0.85 * f64::from(1 << order);
        assert!(coarse[1] > least * fine[1], "{integrator:?}: {coarse:?} {fine:?}");
    }
}

/// Its forces turn nothing in the middle of a step, where it takes them.
#[test]
fn the_implicit_midpoint_rule_keeps_both_momenta_to_the_tolerance() {
    let losses = Flight::new(Integrator::ImplicitMidpoint).losses(200);
    let allowed = 200.0_f64.powi(2) * vacuum().tolerance * 0.1 / (0.5 * FLIGHT.norm());
    assert!(losses[0].max(losses[1]) < allowed, "{losses:?}");
}

/// A tilted sheet of cotton, thrown on the floor.
struct Throw {
    simulation: Simulation,
    masses: Vec<f64>,
}

const THROW: Vec3 = Vec3::new(1.0, 0.5, -2.0);

impl Throw {
    fn new(integrator: Integrator, friction: f64) -> Self {
        let strip = Strip::new(Pattern::Alternating, 0.5, [14, 14]);
        let tilt = Rotation3::new(Vec3::new(0.3, -0.2, 0.0));
        let tilted = strip.map(|x| tilt * x + Vec3::z() * 0.25);
        let material = Material { friction, ..Material::default() };
        let masses = strip.masses(material.density);
        let cloth = strip.cloth(material, tilted, 0.0);
        let gravity = Vec3::new(0.0, 0.0, -GRAVITY);
        let mut settings = Settings { integrator, gravity, tolerance: 1.0e-5, ..vacuum() };
        if integrator == Integrator::ImplicitMidpoint {
            // It damps nothing: with longer steps what meets the floor has twice the energy for a moment.
            settings.time_step = 1.0 / 48.0;
        }
        let ground = ground(square(10.0), friction);
        let mut simulation = Simulation::new(&[cloth], &[ground], settings).unwrap();
        throw(&mut simulation, |_| THROW);
        Self { simulation, masses }
    }

    /// Mean velocity, in m/s.
    fn velocity(&self) -> Vec3 {
        let velocities = self.simulation.velocities(0).unwrap().iter();
        let momentum: Vec3 = velocities.zip(&self.masses).map(|(v, mass)| v * *mass).sum();
        momentum / self.masses.iter().sum::<f64>()
    }
}

#[test]
fn a_sheet_thrown_on_the_floor_never_has_more_energy_than_at_the_start() {
    for (integrator, friction) in [
        (Integrator::Bdf2, 0.4),
        (Integrator::Bdf2, 0.0),
        (Integrator::ImplicitEuler, 0.4),
        (Integrator::ImplicitMidpoint, 0.4),
        (Integrator::ImexEuler, 0.4),
        (Integrator::Sbdf2, 0.4),
        (Integrator::ImexMidpoint, 0.4),
    ] {
        let mut thrown = Throw::new(integrator, friction);
        let start = thrown.simulation.energy().total();
        for frame in 1..=48 {
            thrown.simulation.advance(1.0 / 24.0).unwrap();
            let energy = thrown.simulation.energy().total();
            let name = format!("{integrator:?}, friction {friction}, frame {frame}");
            // As much as the tolerance, 1e-5, lets through in free flight. Implicit midpoint damps nothing: what meets the
            // floor within a step may have more for a moment, after about one throw in four.
            let more = if integrator == Integrator::ImplicitMidpoint { 0.5 } else { 1.0e-5 };
            assert!(energy <= start * (1.0 + more), "{name}: {energy} J after {start} J");
        }
    }
}

#[test]
fn a_floor_without_friction_takes_no_momentum_along_itself() {
    for integrator in [Integrator::Bdf2, Integrator::ImplicitEuler] {
        let mut thrown = Throw::new(integrator, 0.0);
        for _ in 0..8 {
            thrown.simulation.advance(1.0 / 24.0).unwrap();
        }
        let change = (thrown.velocity() - THROW).xy().norm();
        // n²·tolerance·edge over the displacement in 1/3 s.
        let allowed = 32.0_f64.powi(2) * 1.0e-5 * 0.04 / (THROW.xy().norm() / 3.0);
        assert!(change < allowed * THROW.xy().norm(), "{integrator:?}: {change} m/s");
    }
}

#[test]
fn nothing_but_inertia_resists_a_translation() {
    let cloth = sheet(20, 1.0, 0.0, Material::default());
    let mass = Material::default().density;
    let mut simulation = Simulation::new(&[cloth], &[], vacuum()).unwrap();
    throw(&mut simulation, |place| Vec3::new(place.y, 0.0, 3.0 * place.x * place.x));
    simulation.step(0.01).unwrap();
    let matrix = simulation.assemble(0.005);
    let displacement = vec![[1.0, -2.0, 0.5, 0.0]; 400];
    let mut image = displacement.clone();
    matrix.times(&displacement, &mut image);
    for k in 0..3 {
        let sum: f64 = image.iter().map(|row| f64::from(row[k])).sum();
        let wanted = f64::from(displacement[0][k]) * mass / (0.005 * 0.005);
        assert!((sum - wanted).abs() < 1e-4 * wanted.abs(), "{sum} {wanted}");
    }
}

/// Source of energy of a free sheet.
type Drive = fn(&mut Simulation);

/// A long step that brings energy from nothing is rejected and retried shorter; the work of wind, forces or prescribed velocities has a source.
#[test]
fn what_is_driven_takes_one_step_a_frame() {
    let drives: [Drive; 3] = [
        |simulation| simulation.set_wind(Vec3::z() * 5.0).unwrap(),
        |simulation| simulation.set_vertex_forces(0, &[Vec3::z() * 0.01; 36]).unwrap(),
        |simulation| {
            let velocity = Vec3::z() * 2.0;
            simulation.set_guided_velocity(0, &[0], &[Vec3::z()], velocity).unwrap();
        },
    ];
    for (number, drive) in drives.into_iter().enumerate() {
        let cloth = sheet(6, 0.5, 0.0, Material::default());
        let settings =
            Settings { gravity: Vec3::zeros(), time_step: 1.0 / 24.0, ..Settings::default() };
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        drive(&mut simulation);
        let before = simulation.energy().kinetic;
        for _ in 0..3 {
            let report = simulation.advance(1.0 / 24.0).unwrap();
            assert_eq!((report.steps, report.rejected_steps), (1, 0), "drive {number}");
        }
        assert!(simulation.energy().kinetic > before, "drive {number}");
    }
}
