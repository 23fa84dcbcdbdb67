// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pressure that grows with the depth: weight, buoyancy, and the width of a tube full of water.

use crate::fixtures::{
    equilibrium::{calm, settle},
    scenes::{Ball, soft, throw, vacuum},
};
use weft::{
    Cloth, Integrator, Material, Settings, Simulation, Vec3, forces::PressureLaw, mesh::Polygons,
};

const GRAVITY: Vec3 = Vec3::new(0.0, 0.0, -9.81);
const WATER: f64 = 1000.0;
const RADIUS: f64 = 0.1;

/// Rubber that hardly bends, so that only its tension bears a load.
fn rubber() -> Material {
    Material {
        density: 0.3,
        stretch_warp: 1.0e4,
        stretch_weft: 1.0e4,
        shear: 5.0e3,
        poisson: 0.0,
        bend_warp: 1.0e-6,
        bend_weft: 1.0e-6,
        ..Material::default()
    }
}

fn fluid(fluid_density: f64) -> PressureLaw {
    PressureLaw { pressure: 0.0, stiffness: 0.0, volume: 0.0, fluid_density, weights: Vec::new() }
}

/// A closed ball of a fabric around the origin.
struct Balloon {
    simulation: Simulation,
    /// Masses of the vertices, in kg.
    masses: Vec<f64>,
}

impl Balloon {
    fn new(material: Material, settings: Settings, law: PressureLaw) -> Self {
        let ball = Ball::new(RADIUS, 16, 8);
        let positions = ball.around(Vec3::zeros());
        let mut masses = vec![0.0; positions.len()];
        for corners in &ball.triangles {
            let [a, b, c] = corners.map(|vertex| positions[vertex]);
            let area = 0.5 * (b - a).cross(&(c - a)).norm();
            for vertex in corners {
                masses[*vertex] += material.density * area / 3.0;
            }
        }
        let counts = vec![3; ball.triangles.len()];
        let polygons = Polygons::new(&counts, &ball.triangles.concat(), positions.len()).unwrap();
        let cloth = Cloth::new(positions, &polygons, material, None, None).unwrap();
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        simulation.set_pressure(0, Some(law)).unwrap();
        Self { simulation, masses }
    }

    fn mass(&self) -> f64 {
        self.masses.iter().sum()
    }

    /// In m.
    fn centre_of_mass(&self) -> Vec3 {
        let weighted = self.masses.iter().zip(self.simulation.positions(0).unwrap());
        weighted.map(|(mass, position)| position * *mass).sum::<Vec3>() / self.mass()
    }

    /// Acceleration under the weights of the balloon and of the fluid, in m/s².
    fn acceleration(&self, fluid_density: f64) -> Vec3 {
        GRAVITY * (1.0 + fluid_density * self.simulation.volume(0).unwrap() / self.mass())
    }
}

#[test]
fn a_bag_of_water_hangs_with_the_weight_of_the_water() {
    let settings = Settings { gravity: GRAVITY, ..calm() };
    let law = PressureLaw { stiffness: 1.0e5, ..fluid(WATER) };
    let Balloon { mut simulation, masses } = Balloon::new(rubber(), settings, law);
    let (held, stiffness): (Vec<usize>, f64) = ((0..17).collect(), 2.0e3);
    simulation.set_soft_pins(0, &held, None, &[stiffness; 17]).unwrap();
    let targets = simulation.positions(0).unwrap()[..17].to_vec();
    settle(&mut simulation, 1.0e-8);
    let pairs = targets.iter().zip(simulation.positions(0).unwrap());
    let force: Vec3 = pairs.map(|(target, position)| (target - position) * stiffness).sum();
    let volume = simulation.volume(0).unwrap();
    let weight = GRAVITY * (masses.iter().sum::<f64>() + WATER * volume);
    assert!((force + weight).norm() < 1.0e-5 * weight.norm(), "{force:?} {weight:?}");
    assert!((volume / 4.05e-3 - 1.0).abs() < 0.05, "{volume}");
}

/// The net force is exact in free flight whatever the shape; the fluid has no inertia.
#[test]
fn a_light_balloon_rises_as_its_buoyancy_and_weight_demand() {
    let (density, start) = (-10.0, Vec3::new(1.0, 0.0, 2.0));
    let schemes = [Integrator::Bdf2, Integrator::ImplicitMidpoint, Integrator::Rk4];
    for (integrator, tolerance) in schemes.into_iter().zip([1.0e-9, 1.0e-9, 1.0e-2]) {
        let settings = Settings { integrator, gravity: GRAVITY, tolerance, ..vacuum() };
        let material = Material { stretch_damping: 0.01, ..soft(0.001, 0.0) };
        let mut balloon = Balloon::new(material, settings, fluid(density));
        throw(&mut balloon.simulation, |_| start);
        let (duration, mut velocity) = (1.0 / 120.0, start);
        let (mut risen, from) = (Vec3::zeros(), balloon.centre_of_mass());
        for _ in 0..12 {
            let before = balloon.acceleration(density);
            balloon.simulation.advance(duration).unwrap();
            let mean = (before + balloon.acceleration(density)) * 0.5;
            risen += (velocity - start) * duration + mean * (0.5 * duration * duration);
            velocity += mean * duration;
        }
        let error = balloon.centre_of_mass() - from - start * (12.0 * duration) - risen;
        assert!(risen.z > 0.02, "{integrator:?}: {risen:?}");
        assert!(error.norm() < 2.0e-3 * risen.norm(), "{integrator:?}: {error:?}, {risen:?}");
    }
}

/// A tube that is held at both ends, upright and full of water under pressure: λ wide where the pressure is p, with the
/// tension Y (λ² − 1)/2 = p R along its circumference.
#[test]
fn a_tube_full_of_water_is_wider_below() {
    let (segments, rings, height, pressure) = (24, 25, 0.6, 5.0e3);
    let positions: Vec<Vec3> = (0..segments * rings)
        .map(|index| {
            let angle = std::f64::consts::TAU * (index % segments) as f64 / segments as f64;
            let up = height * (index / segments) as f64 / (rings - 1) as f64;
            Vec3::new(RADIUS * angle.cos(), RADIUS * angle.sin(), up)
        })
        .collect();
    let quad = |index: usize| {
        let next = index - index % segments + (index + 1) % segments;
        [index, next, next + segments, index + segments]
    };
    let corners: Vec<usize> = (0..segments * (rings - 1)).flat_map(quad).collect();
    let counts = vec![4; corners.len() / 4];
    let polygons = Polygons::new(&counts, &corners, positions.len()).unwrap();
    let cloth = Cloth::new(positions, &polygons, rubber(), None, None).unwrap();
    let settings = Settings { gravity: GRAVITY, ..calm() };
    let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
    let ends: Vec<usize> = (0..segments).chain(segments * (rings - 1)..segments * rings).collect();
    simulation.set_pins(0, &ends, None).unwrap();
    simulation.set_pressure(0, Some(PressureLaw { pressure, ..fluid(WATER) })).unwrap();
    settle(&mut simulation, 1.0e-7);
    for ring in [6, 9, 12, 15, 18] {
        let own = &simulation.positions(0).unwrap()[ring * segments..(ring + 1) * segments];
        let mean = |value: fn(&Vec3) -> f64| own.iter().map(value).sum::<f64>() / own.len() as f64;
        let depth = 0.5 * height - mean(|x| x.z);
        let load = (pressure + WATER * 9.81 * depth) * RADIUS / rubber().stretch_warp;
        let (stretch, wanted) = (mean(|x| x.xy().norm()) / RADIUS, (1.0 + 2.0 * load).sqrt());
        assert!(
            ((stretch - 1.0) / (wanted - 1.0) - 1.0).abs() < 0.05,
            "{ring}: {stretch} {wanted}"
        );
    }
}
