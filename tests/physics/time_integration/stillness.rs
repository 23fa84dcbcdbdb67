// SPDX-License-Identifier: MIT OR Apache-2.0
//! Residual motion at the default tolerance decays.

use crate::fixtures::scenes::sheet;
use weft::{Material, Settings, Simulation, Vec3};

const SIDE: usize = 15;
const FRAME: f64 = 1.0 / 24.0;

fn settings(tolerance: f64, air_density: f64) -> Settings {
    let gravity = Vec3::new(0.0, 0.0, -9.81);
    Settings { gravity, tolerance, air_density, threads: 1, ..Settings::default() }
}

fn cotton(settings: Settings) -> Simulation {
    Simulation::new(&[sheet(SIDE, 1.0, 0.0, Material::default())], &[], settings).unwrap()
}

/// Root mean square of the speeds of all vertices over some frames, in m/s.
fn speed(simulation: &mut Simulation, frames: usize) -> f64 {
    let mut sum = 0.0;
    for _ in 0..frames {
        let before = simulation.positions(0).unwrap().to_vec();
        simulation.advance(FRAME).unwrap();
        let after = simulation.positions(0).unwrap();
        let squares = before.iter().zip(after).map(|(a, b)| (b - a).norm_squared());
        sum += squares.sum::<f64>() / before.len() as f64;
    }
    (sum / frames as f64).sqrt() / FRAME
}

/// A sheet that is released with two corners pinned swings until air and fabric have stopped it. After 12 seconds it moves
/// a few millimetres a second; errors that fed each other from step to step once kept it at five times as much.
#[test]
fn what_hangs_comes_to_rest_as_fast_as_its_converged_motion() {
    let [default, converged] = [Settings::default().tolerance, 1.0e-3].map(|tolerance| {
        let mut simulation = cotton(settings(tolerance, 1.2));
        simulation.set_pins(0, &[0, SIDE - 1], None).unwrap();
        let falling = speed(&mut simulation, 24);
        speed(&mut simulation, 264);
        let slow = speed(&mut simulation, 72);
        assert!(slow < 0.02 * falling, "{slow} m/s of {falling}");
        slow
    });
    assert!(default < 2.0 * converged, "{default} m/s, converged {converged}");
}

/// Where nothing acts but gravity every vertex falls as a stone does, after two seconds to what the tolerance leaves of a
/// single step: the next steps must not enlarge it.
#[test]
fn what_falls_freely_stays_flat() {
    let tolerance = Settings::default().tolerance;
    let mut simulation = cotton(settings(tolerance, 0.0));
    let start = simulation.positions(0).unwrap().to_vec();
    let frames = 48;
    for _ in 0..frames {
        simulation.advance(FRAME).unwrap();
    }
    let now = simulation.positions(0).unwrap();
    let edge = 1.0 / (SIDE - 1) as f64;
    let fallen = 0.5 * 9.81 * (f64::from(frames) * FRAME).powi(2);
    for (now, start) in now.iter().zip(&start) {
        let error = (now - start + Vec3::z() * fallen).norm();
        assert!(error < tolerance * edge, "{error} m");
    }
}
