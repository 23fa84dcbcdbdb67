// SPDX-License-Identifier: MIT OR Apache-2.0
//! Effect of the constant matrix of schemes with one linear system on rigid motion: none on free fall, and a loss of angular
//! momentum of known size on rotation.

use crate::fixtures::scenes::{grid, throw, vacuum};
use weft::{Cloth, Integrator, Material, Settings, Simulation, Vec3};

const SIDE: f64 = 0.4;
const SCHEMES: [Integrator; 3] =
    [Integrator::ImexEuler, Integrator::Sbdf2, Integrator::ImexMidpoint];

/// A square of cotton without damping, upright and askew.
fn cotton(settings: Settings) -> Simulation {
    let (mut positions, polygons) = grid(12, 12, [SIDE; 2]);
    let rest = positions.clone();
    for position in &mut positions {
        *position = Vec3::new(
            0.8 * position.x - 0.6 * position.y,
            0.0,
            0.6 * position.x + 0.8 * position.y,
        );
    }
    let cloth = Cloth::new(positions, &polygons, material(), Some(&rest), None).unwrap();
    Simulation::new(&[cloth], &[], settings).unwrap()
}

fn material() -> Material {
    Material { stretch_damping: 0.0, shear_damping: 0.0, bend_damping: 0.0, ..Material::default() }
}

/// With steps of 1/96 s, as exactly as the scheme falls without any cloth: v = −g·t.
#[test]
fn stiff_cloth_falls_freely() {
    for integrator in SCHEMES {
        let gravity = Vec3::z() * -9.81;
        let mut simulation =
            cotton(Settings { integrator, gravity, time_step: 1.0 / 96.0, ..vacuum() });
        let start = simulation.positions(0).unwrap().to_vec();
        for _ in 0..12 {
            assert!(simulation.advance(1.0 / 24.0).unwrap().converged);
        }
        for velocity in simulation.velocities(0).unwrap() {
            assert!((velocity - gravity * 0.5).norm() < 1.0e-6, "{integrator:?}: {velocity:?}");
        }
        let pairs = simulation.positions(0).unwrap().iter().zip(&start);
        let falls: Vec<Vec3> = pairs.map(|(now, start)| now - start).collect();
        // Of first order: ½gth more.
        let allowed = 0.5 * 9.81 * 0.5 / 96.0 + 1.0e-4;
        for fall in &falls {
            assert!((fall - falls[0]).norm() < 1.0e-6, "{integrator:?}: {fall:?}");
            assert!((fall - gravity * 0.125).norm() < allowed, "{integrator:?}: {fall:?}");
        }
    }
}

/// A step takes h²⟨v, Kv⟩ of energy from a sheet that turns with the velocity v, as if neighbours rubbed: K has the moduli
/// C₁₁ + C₃₃ and C₂₂ + C₃₃, which makes h²ω²A(C₁₁ + C₂₂ + 2C₃₃) for a sheet that turns in its plane.
#[test]
fn what_turns_is_held_back_by_the_trace_of_its_stiffness() {
    let [c11, c22, _, c33] = material().membrane_moduli();
    for step in [1.0e-5, 2.0e-5] {
        let mut simulation = cotton(Settings { integrator: Integrator::ImexEuler, ..vacuum() });
        throw(&mut simulation, |x| Vec3::y().cross(x));
        let before = simulation.energy().kinetic;
        simulation.step(step).unwrap();
        let lost = before - simulation.energy().kinetic;
        let wanted = step * step * SIDE * SIDE * (c11 + c22 + 2.0 * c33);
        assert!((lost / wanted - 1.0).abs() < 0.02, "{step} s: {lost:e}, not {wanted:e}");
    }
}
