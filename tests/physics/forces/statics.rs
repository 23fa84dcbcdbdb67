// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shapes at rest: the catenary, and the length at which a strip can no longer stand.

use crate::{
    fixtures::{
        equilibrium::{calm, settle},
        strips::{PATTERNS, Pattern, Strip},
    },
    forces::bending::{DENSITY, stiff},
};
use weft::{Material, Settings, Simulation, Vec3};

const GRAVITY: f64 = 9.81;

/// An arc of a circle of length 1 m over a span, through the origin, hanging down.
pub(crate) fn arc(span: f64) -> impl Fn(&Vec3) -> Vec3 {
    // sin(a)/a = span by bisection.
    let (mut low, mut high) = (1.0e-3_f64, 3.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        (low, high) = if middle.sin() > span * middle { (middle, high) } else { (low, middle) };
    }
    let half = low;
    move |point| {
        let angle = 2.0 * half * (point.x - 0.5);
        let radius = 0.5 / half;
        let height = radius * (half.cos() - angle.cos());
        Vec3::new(0.5 * span + radius * angle.sin(), point.y, height)
    }
}

/// catenary.csv: a strip of length L without bending rigidity, hung by two edges .8 L apart. Its tension at the distance
/// s from the middle is ρg√(a² + s²).
#[test]
fn a_strip_without_bending_hangs_as_a_catenary() {
    let (span, sag, parameter, end_tension) = (0.8, 0.265_437_509, 0.338_201_879, 0.603_639_388);
    let weight = DENSITY * GRAVITY;
    for pattern in PATTERNS {
        let strip = Strip::new(pattern, 1.0, [40, 4]);
        let modulus = 1.0e4 * weight;
        let material = Material {
            stretch_warp: modulus,
            stretch_weft: modulus,
            shear: 0.5 * modulus,
            bend_warp: 0.0,
            bend_weft: 0.0,
            ..stiff(0.0, 0.0)
        };
        let cloth = strip.cloth(material, strip.map(arc(span)), 0.0);
        let settings = Settings { gravity: Vec3::z() * -GRAVITY, ..calm() };
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        let ends = [strip.vertices(0..1), strip.end().collect()].concat();
        simulation.set_pins(0, &ends, None).unwrap();
        settle(&mut simulation, 1.0e-7);
        let middle = strip.mean_position(&simulation, 20).z;
        // The first cell: its tension is that at its middle.
        let first = strip.mean_position(&simulation, 1) - strip.mean_position(&simulation, 0);
        let stretch = first.norm() * 40.0;
        let tension = 0.5 * modulus * stretch * (stretch * stretch - 1.0) / weight;
        let there = (parameter * parameter + (0.5_f64 - 0.0125).powi(2)).sqrt();
        assert!((-middle / sag - 1.0).abs() < 0.01, "{pattern:?}: sag {middle}");
        assert!((tension / there - 1.0).abs() < 0.02, "{pattern:?}: tension {tension}");
        assert!(((parameter * parameter + 0.25).sqrt() - end_tension).abs() < 1.0e-8);
    }
}

/// How far the tip of a standing strip of 1 m leans, at most, when it has been bent by a thousandth at the start.
fn lean(pattern: Pattern, gamma: f64) -> f64 {
    let strip = Strip::clamped(pattern, 1.0, [24, 4]);
    let weight = DENSITY * GRAVITY;
    let bent = strip.map(|point| point + Vec3::z() * (1.0e-3 * point.x.max(0.0).powi(2)));
    let cloth = strip.cloth(stiff(weight / gamma, weight), bent, 0.0);
    let settings = Settings { gravity: Vec3::x() * -GRAVITY, ..calm() };
    let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
    simulation.set_pins(0, &strip.vertices(0..2), None).unwrap();
    let mut lean: f64 = 0.0;
    for _ in 0..400 {
        assert!(simulation.step(0.025).unwrap().converged);
        lean = lean.max(strip.end_position(&simulation).z.abs());
    }
    lean
}

/// A strip clamped at its lower end stands up to ρgL³/B = 7.8373 (Greenhill 1881).
#[test]
fn a_strip_stands_up_to_the_length_at_which_it_buckles() {
    for pattern in PATTERNS {
        let [below, above] = [0.97, 1.03].map(|part| lean(pattern, part * 7.8373));
        assert!(below < 2.0e-3, "{pattern:?}: leans by {below} m");
        assert!(above > 0.1, "{pattern:?}: stands, leaning by {above} m");
    }
}
