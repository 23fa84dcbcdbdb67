// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dissipation and order of the time schemes.

use crate::{fixtures::oscillator::Oscillator, fixtures::scenes};
use std::f64::consts::TAU;
use weft::{Integrator, Material, Settings, Simulation, Solver, Vec3};

/// Fraction of the energy of one mode that is left after ten periods. The first period, which holds the start of the
/// scheme, is not counted, and the last step is taken partially.
fn energy_kept(integrator: Integrator, solver: Solver, step_angle: f64) -> f64 {
    let settings = Settings { integrator, solver, max_iterations: 200, ..Settings::default() };
    let mut oscillator = Oscillator::new(settings, 0.0);
    let length = step_angle / oscillator.frequency;
    let period = (TAU / step_angle).round() as usize;
    let before = oscillator.energy_after(period, length);
    let after = oscillator.energy_after(10 * period, length);
    (after / before).powf(10.0 * TAU / step_angle / (10 * period) as f64)
}

/// |R|^(2·10·2π/ωh) with the amplification R of the scheme (integrators.csv).
#[test]
fn ten_periods_keep_the_energy_that_the_scheme_keeps() {
    let table = [
        (Integrator::Bdf2, [0.996_105, 0.969_814_39, 0.795_674_62]),
        (Integrator::ImplicitEuler, [0.043_383_669, 0.001_926_640_9, 4.454_701_8e-6]),
        (Integrator::ImplicitMidpoint, [1.0; 3]),
    ];
    for solver in [Solver::Newton, Solver::FixedPoint] {
        for (integrator, kept) in table {
            for (step_angle, wanted) in [0.05, 0.1, 0.2].into_iter().zip(kept) {
                let found = energy_kept(integrator, solver, step_angle);
                let name = format!("{integrator:?} {solver:?} {step_angle}: {found}");
                assert!((found / wanted - 1.0).abs() < 1e-3, "{name}");
            }
        }
    }
}

/// |R|² in closed form, R being the series of the exponential function that a scheme keeps.
#[test]
fn explicit_schemes_change_the_energy_as_their_series_say() {
    let square = |z: f64| z * z;
    for step_angle in [0.05_f64, 0.1] {
        let steps = 10.0 * TAU / step_angle;
        let sixth = step_angle.powi(6);
        for (integrator, per_step) in [
            (Integrator::Euler, 1.0 + square(step_angle)),
            (Integrator::Midpoint, 1.0 + 0.25 * square(square(step_angle))),
            (Integrator::Heun, 1.0 + 0.25 * square(square(step_angle))),
            (Integrator::Rk4, 1.0 - sixth / 72.0 + sixth * square(step_angle) / 576.0),
        ] {
            let found = energy_kept(integrator, Solver::Newton, step_angle);
            let wanted = per_step.powf(steps);
            assert!((found / wanted - 1.0).abs() < 2e-3, "{integrator:?} {step_angle}: {found}");
        }
        // The determinant of a step.
        let damped = 1.0 - 0.5 * square(step_angle);
        for (integrator, per_step) in [
            (Integrator::SymplecticEuler, 1.0),
            (Integrator::Verlet, 1.0),
            (Integrator::MidpointCromer, damped),
            (Integrator::HeunCromer, damped),
            (Integrator::Rk4Cromer, damped),
        ] {
            // It sways within a period, by a fraction of about ωh.
            let found = energy_kept(integrator, Solver::Newton, step_angle);
            let wanted = per_step.powf(steps);
            let error = (found / wanted - 1.0).abs();
            assert!(error < 1.2 * step_angle, "{integrator:?} {step_angle}: {found} {wanted}");
        }
    }
}

/// The determinant of its step is 1, whatever its constant matrix: energy sways within a period and does not drift.
#[test]
fn the_imex_midpoint_rule_keeps_the_energy_of_oscillations() {
    for step_angle in [0.05, 0.1, 0.2] {
        let kept = energy_kept(Integrator::ImexMidpoint, Solver::Newton, step_angle);
        assert!((kept - 1.0).abs() < 0.25 * step_angle, "{step_angle}: {kept}");
    }
}

/// A Kelvin-Voigt spring of time τ swings with the damping ratio τω/2: its energy falls by exp(−τω²t).
#[test]
fn viscosity_takes_the_energy_of_a_kelvin_voigt_spring() {
    let ratio: f64 = 0.03;
    let frequency = Oscillator::new(Settings::default(), 0.0).frequency;
    let mut oscillator = Oscillator::new(Settings::default(), 2.0 * ratio / frequency);
    let period = TAU / (frequency * (1.0 - ratio * ratio).sqrt());
    let before = oscillator.energy_after(0, period);
    let kept = oscillator.energy_after(5 * 400, period / 400.0) / before;
    let wanted = (-2.0 * ratio * frequency * 5.0 * period).exp();
    // BDF(2) itself takes less than a thousandth.
    assert!((kept / wanted - 1.0).abs() < 2e-3, "{kept}, not {wanted}");
}

/// A small soft sheet, pinned at two corners, and what moves it.
#[derive(Clone, Copy, Debug)]
struct Motion {
    integrator: Integrator,
    solver: Solver,
    /// Kelvin-Voigt time of all strains, in s.
    damping: f64,
    /// Density of the air, in kg/m³.
    air_density: f64,
    /// Lengths of the steps, relative to each other, over and over.
    rhythm: &'static [f64],
}

const DURATION: f64 = 0.3;
const EVEN: &[f64] = &[1.0];
/// Neighbouring steps differ by up to a factor 2.
const UNEVEN: &[f64] = &[1.0, 1.6, 0.8, 0.6, 1.2, 0.8];

impl Motion {
    fn simulation(self) -> Simulation {
        let material = Material {
            density: 0.2,
            stretch_warp: 2.0,
            stretch_weft: 1.5,
            shear: 0.5,
            poisson: 0.2,
            bend_warp: 1.0e-4,
            bend_weft: 2.0e-4,
            stretch_damping: self.damping,
            shear_damping: self.damping,
            bend_damping: self.damping,
            air_drag: 1.5,
            air_lift: 0.3,
            ..Material::default()
        };
        let settings = Settings {
            integrator: self.integrator,
            solver: self.solver,
            gravity: Vec3::new(0.5, 0.3, -2.0),
            wind: Vec3::new(0.4, -0.6, 0.2),
            air_density: self.air_density,
            tolerance: 1.0e-10,
            threads: 1,
            ..Settings::default()
        };
        let mut simulation =
            Simulation::new(&[scenes::sheet(6, 0.3, 0.0, material)], &[], settings).unwrap();
        simulation.set_pins(0, &[0, 5], None).unwrap();
        simulation
    }

    /// The shape after `DURATION`, with a number of rounds of the rhythm.
    fn shape(self, rounds: usize) -> Vec<Vec3> {
        let mut simulation = self.simulation();
        let unit = DURATION / (rounds as f64 * self.rhythm.iter().sum::<f64>());
        for length in self.rhythm.repeat(rounds) {
            let report = simulation.step(length * unit).unwrap();
            assert!(report.converged, "{self:?}");
        }
        simulation.positions(0).unwrap().to_vec()
    }

    /// The power of the step length that the error grows with, from three lengths.
    fn order(self, rounds: usize) -> f64 {
        let shapes = [1, 2, 4].map(|refinement| self.shape(refinement * rounds));
        let error = |a: &[Vec3], b: &[Vec3]| -> f64 {
            a.iter().zip(b).map(|(a, b)| (a - b).norm_squared()).sum::<f64>().sqrt()
        };
        (error(&shapes[0], &shapes[1]) / error(&shapes[1], &shapes[2])).log2()
    }
}

/// Order of an integrator, and the number of even steps from which on errors show it.
fn check_order(integrator: Integrator, solver: Solver, order: f64, steps: usize) {
    for (rhythm, rounds) in [(EVEN, steps), (UNEVEN, steps / 6)] {
        for (damping, air_density) in [(0.0, 0.0), (0.02, 0.0), (0.0, 1.2)] {
            let motion = Motion { integrator, solver, damping, air_density, rhythm };
            let found = motion.order(rounds);
            assert!((found - order).abs() < 0.1, "{motion:?}: {found}");
        }
    }
}

#[test]
fn the_error_falls_with_the_order_of_the_scheme() {
    let schemes = [
        (Integrator::Bdf2, 2.0),
        (Integrator::ImplicitEuler, 1.0),
        (Integrator::ImplicitMidpoint, 2.0),
    ];
    for (integrator, order) in schemes {
        check_order(integrator, Solver::Newton, order, 120);
    }
}

#[test]
fn the_error_of_one_solve_falls_with_the_order_of_the_scheme() {
    let schemes =
        [(Integrator::ImexEuler, 1.0), (Integrator::Sbdf2, 2.0), (Integrator::ImexMidpoint, 2.0)];
    for (integrator, order) in schemes {
        check_order(integrator, Solver::Newton, order, 1920);
    }
}

#[test]
fn the_error_of_explicit_schemes_falls_with_their_order() {
    let schemes = [
        (Integrator::Euler, 1.0),
        (Integrator::SymplecticEuler, 1.0),
        (Integrator::Midpoint, 2.0),
        (Integrator::Verlet, 2.0),
        (Integrator::Rk4, 4.0),
        (Integrator::Heun, 2.0),
        (Integrator::MidpointCromer, 1.0),
        (Integrator::HeunCromer, 1.0),
        (Integrator::Rk4Cromer, 1.0),
    ];
    for (integrator, order) in schemes {
        check_order(integrator, Solver::Newton, order, 240);
    }
}
