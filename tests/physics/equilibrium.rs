// SPDX-License-Identifier: MIT OR Apache-2.0
//! Letting a scene come to rest.

use weft::{Integrator, Settings, Simulation};

/// Settings under which a scene comes to rest quickly: implicit Euler, no air, no gravity.
pub(crate) fn calm() -> Settings {
    Settings {
        integrator: Integrator::ImplicitEuler,
        gravity: weft::Vec3::zeros(),
        air_density: 0.0,
        time_step: 10.0,
        tolerance: 1.0e-8,
        max_iterations: 200,
        threads: 1,
        ..Settings::default()
    }
}

/// Makes ever longer steps, of which implicit Euler leaves ever less motion, until the longest moves
/// no vertex by more than `distance` in m.
pub(crate) fn settle(simulation: &mut Simulation, distance: f64) {
    let mut duration: f64 = 0.02;
    for _ in 0..200 {
        let before = simulation.positions(0).unwrap().to_vec();
        let report = simulation.advance(duration).unwrap();
        let after = simulation.positions(0).unwrap();
        let moved = before.iter().zip(after).map(|(a, b)| (b - a).norm()).fold(0.0, f64::max);
        if report.converged && duration >= 10.0 && moved < distance {
            return;
        }
        duration = (1.5 * duration).min(10.0);
    }
    panic!("does not come to rest");
}
