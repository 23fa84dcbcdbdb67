// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small oscillations: plates in bending, a hanging sheet (frequencies.csv).

use crate::{
    fixtures::{
        scenes::vacuum,
        strips::{PATTERNS, Pattern, Strip},
    },
    forces::bending::{DENSITY, stiff},
};
use std::f64::consts::{PI, TAU};
use weft::{Material, Settings, Simulation, Vec3};

/// Steps in a period: BDF(2) is slow by (ωh)²/3, a ten-thousandth.
const STEPS: f64 = 360.0;
/// Factor on a mode at the start: its curvature is small.
const AMPLITUDE: f64 = 1.0e-4;

/// A strip that swings across its plane in one mode.
struct Swing {
    strip: Strip,
    mode: Vec<f64>,
    masses: Vec<f64>,
    simulation: Simulation,
}

impl Swing {
    /// The strip out of its plane by `AMPLITUDE` times a mode, which is a function of x; columns pinned.
    fn new(
        strip: Strip,
        material: Material,
        settings: Settings,
        mode: impl Fn(f64) -> f64,
        pinned: &[usize],
    ) -> Self {
        let masses = strip.masses(material.density);
        let mode: Vec<f64> = strip.points.iter().map(|point| mode(point.x)).collect();
        // A strip that hangs starts stretched by its weight.
        let sag = material.density * settings.gravity.x / material.stretch_warp;
        let mut start = strip.map(|p| p + Vec3::x() * (sag * p.x * (strip.length - 0.5 * p.x)));
        for (position, mode) in start.iter_mut().zip(&mode) {
            position.z += AMPLITUDE * mode;
        }
        let cloth = strip.cloth(material, start, 0.0);
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        let pinned: Vec<usize> =
            pinned.iter().flat_map(|column| strip.columns[*column].clone()).collect();
        simulation.set_pins(0, &pinned, None).unwrap();
        Self { strip, mode, masses, simulation }
    }

    /// How much of the mode there is.
    fn amount(&self) -> f64 {
        let positions = self.simulation.positions(0).unwrap();
        (0..positions.len()).map(|v| positions[v].z * self.mode[v] * self.masses[v]).sum()
    }

    /// Period in s, from the passages through zero in three periods and a half of about `expected` s.
    fn period(mut self, expected: f64) -> f64 {
        let step = expected / STEPS;
        let mut passages = Vec::new();
        let mut before = self.amount();
        for _ in 0..(3.5 * STEPS) as usize {
            assert!(self.simulation.step(step).unwrap().converged, "{}", self.strip.length);
            let now = self.amount();
            if before.signum() != now.signum() {
                passages.push(self.simulation.time() - step * now / (now - before));
            }
            before = now;
        }
        let last = passages.len() - 1;
        2.0 * (passages[last] - passages[0]) / last as f64
    }
}

/// The mode of a clamped beam with β = `number`, 1 m long; `sign` is 1 if its other end is free, −1 if it is
/// clamped too.
fn beam_mode(number: f64, sign: f64) -> impl Fn(f64) -> f64 {
    let ratio = (number.cosh() + sign * number.cos()) / (number.sinh() + sign * number.sin());
    move |x| {
        let x = number * x.max(0.0);
        x.cosh() - x.cos() - ratio * (x.sinh() - x.sin())
    }
}

/// ωL²√(ρ/B) of a strip of 1 m.
fn beam_frequency(strip: Strip, number: f64, pinned: &[usize]) -> f64 {
    let bending = 0.01;
    let sign = if pinned.len() > 2 { -1.0 } else { 1.0 };
    let scale = (bending / DENSITY).sqrt();
    let mode = beam_mode(number, sign);
    let swing = Swing::new(strip, stiff(bending, 0.0), vacuum(), mode, pinned);
    TAU / swing.period(TAU / (number * number * scale)) / scale
}

#[test]
fn a_clamped_strip_swings_at_its_first_frequency() {
    for pattern in PATTERNS {
        let found = beam_frequency(Strip::clamped(pattern, 1.0, [20, 4]), 1.875_104_07, &[0, 1]);
        assert!((found / 3.516_015_27 - 1.0).abs() < 0.01, "{pattern:?}: {found}");
    }
}

#[test]
fn a_clamped_strip_swings_at_its_second_frequency() {
    let strip = Strip::clamped(Pattern::Alternating, 1.0, [30, 3]);
    let found = beam_frequency(strip, 4.694_091_13, &[0, 1]);
    assert!((found / 22.034_491_6 - 1.0).abs() < 0.01, "{found}");
}

#[test]
fn a_strip_clamped_at_both_ends_swings_at_its_first_frequency() {
    // Its last cell lies in the second clamp.
    let strip = Strip::clamped(Pattern::Alternating, 31.0 / 30.0, [31, 3]);
    let found = beam_frequency(strip, 4.730_040_74, &[0, 1, 31, 32]);
    assert!((found / 22.373_285_4 - 1.0).abs() < 0.01, "{found}");
}

/// A mode of a plate with the Kelvin-Voigt time τ loses energy as exp(−τω²t).
#[test]
fn viscosity_takes_the_energy_of_a_swinging_plate() {
    let (bending, number, ratio) = (0.01, 1.875_104_07, 0.03_f64);
    let frequency = number * number * (bending / DENSITY).sqrt();
    let material = Material { bend_damping: 2.0 * ratio / frequency, ..stiff(bending, 0.0) };
    let strip = Strip::clamped(Pattern::Alternating, 1.0, [20, 4]);
    let mode = beam_mode(number, 1.0);
    let mut swing = Swing::new(strip, material, vacuum(), mode, &[0, 1]);
    let period = TAU / (frequency * (1.0 - ratio * ratio).sqrt());
    let before = swing.simulation.energy().total();
    for _ in 0..3 * 200 {
        assert!(swing.simulation.step(period / 200.0).unwrap().converged);
    }
    let exponent = -2.0 * ratio * frequency * 3.0 * period;
    let found = (swing.simulation.energy().total() / before).ln();
    // The exponent goes with the square of the frequency, which the mesh meets within half a hundredth.
    assert!((found / exponent - 1.0).abs() < 0.02, "{found}, not {exponent}");
}

/// The Bessel function of order 0 (its integral, which the trapezoidal rule gives to all digits).
fn bessel(x: f64) -> f64 {
    let count = 40;
    let parts =
        (0..count).map(|k| (x * (PI * (f64::from(k) + 0.5) / f64::from(count)).sin()).cos());
    parts.sum::<f64>() / f64::from(count)
}

/// A sheet without bending rigidity, pinned along its upper edge, swings as a chain does: its modes are
/// J₀(j√(s/L)) at the distance s from its lower edge.
#[test]
fn a_hanging_sheet_swings_like_a_chain() {
    let table =
        [(2.404_825_56, 5.225_481_15), (5.520_078_11, 2.276_484_2), (8.653_727_91, 1.452_133_78)];
    let gravity = 9.81_f64;
    for (zero, period) in table {
        let modulus = 1.0e4 * DENSITY * gravity;
        let material = Material {
            stretch_warp: modulus,
            stretch_weft: modulus,
            shear: 0.5 * modulus,
            bend_warp: 0.0,
            bend_weft: 0.0,
            ..stiff(0.0, 0.0)
        };
        let settings = Settings { gravity: Vec3::x() * gravity, ..vacuum() };
        let strip = Strip::new(Pattern::Alternating, 1.0, [80, 3]);
        let mode = |x: f64| bessel(zero * (1.0 - x).max(0.0).sqrt());
        let swing = Swing::new(strip, material, settings, mode, &[0]);
        let found = swing.period(period / gravity.sqrt()) * gravity.sqrt();
        assert!((found / period - 1.0).abs() < 0.01, "{found}, not {period}");
    }
}
