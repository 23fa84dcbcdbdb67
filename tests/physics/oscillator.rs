// SPDX-License-Identifier: MIT OR Apache-2.0
//! One triangle of cloth with one degree of freedom: an oscillator of known frequency.

use weft::{Cloth, ConstantQ, Material, Settings, Simulation, Vec3, mesh::Polygons};

/// A triangle whose base is held and whose tip moves along x alone.
///
/// Its only strain is that along the warp, ε = u + ½u² for a tip moved by the part u of the height H, and a
/// third of its mass is at the tip: ω² = 3Y/(ρH²), up to terms of relative size u².
pub(crate) struct Oscillator {
    pub(crate) simulation: Simulation,
    /// ω, in rad/s.
    pub(crate) frequency: f64,
}

const HEIGHT: f64 = 1.0;
/// Displacement of the tip at the start, in m: small enough that the spring is linear.
const AMPLITUDE: f64 = 1.0e-4;

impl Oscillator {
    /// The oscillator at rest, stretched, with a Kelvin-Voigt time in s.
    pub(crate) fn new(settings: Settings, damping: f64) -> Self {
        let material = Material {
            density: 0.3,
            stretch_warp: 40.0,
            stretch_weft: 40.0,
            shear: 15.0,
            poisson: 0.0,
            stretch_damping: damping,
            shear_damping: 0.0,
            ..Material::default()
        };
        Self::of(settings, material)
    }

    /// The oscillator of a material with quality, so heavy that its frequency in Hz would be this without.
    pub(crate) fn with_quality(settings: Settings, quality: ConstantQ, frequency: f64) -> Self {
        let material = Material {
            stretch_warp: 40.0,
            stretch_weft: 40.0,
            shear: 15.0,
            poisson: 0.0,
            stretch_damping: 0.0,
            shear_damping: 0.0,
            density: 3.0 * 40.0 / (std::f64::consts::TAU * frequency * HEIGHT).powi(2),
            quality: Some(quality),
            ..Material::default()
        };
        Self::of(settings, material)
    }

    fn of(settings: Settings, material: Material) -> Self {
        let frequency = (3.0 * material.stretch_warp / (material.density * HEIGHT * HEIGHT)).sqrt();
        let rest = [Vec3::zeros(), Vec3::new(HEIGHT, 0.4, 0.0), Vec3::new(0.0, 0.9, 0.0)];
        let mut start = rest.to_vec();
        start[1].x += AMPLITUDE;
        let face = Polygons::new(&[3], &[0, 1, 2], 3).unwrap();
        let cloth = Cloth::new(start, &face, material, Some(&rest), None).unwrap();
        let settings = Settings {
            gravity: Vec3::zeros(),
            air_density: 0.0,
            tolerance: 1.0e-12,
            threads: 1,
            ..settings
        };
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        simulation.set_pins(0, &[0, 2], None).unwrap();
        simulation.set_guided_velocity(0, &[1], &[Vec3::y(), Vec3::z()], Vec3::zeros()).unwrap();
        Self { simulation, frequency }
    }

    /// How far the tip is from where it rests, in m.
    pub(crate) fn displacement(&self) -> f64 {
        self.simulation.positions(0).unwrap()[1].x - HEIGHT
    }

    /// Energy after so many steps, in J.
    pub(crate) fn energy_after(&mut self, steps: usize, length: f64) -> f64 {
        for _ in 0..steps {
            let report = self.simulation.step(length).unwrap();
            assert!(report.converged);
        }
        self.simulation.energy().total()
    }
}
