// SPDX-License-Identifier: MIT OR Apache-2.0
//! The experiments of Etzmuss 2002, section 2.8, with the particle system they were made for: on regular quads and on
//! curvilinear ones.

use crate::{
    fixtures::{
        equilibrium::{calm, settle},
        quads::{Division, Sheet},
    },
    forces::experiments::{HangingThread, SIDES, check_order, integral, mean_distance},
};
use weft::{Material, Model, Settings, Simulation, Vec3};

const DIVISIONS: [Division; 2] = [Division::Regular, Division::Curvilinear];

fn settings() -> Settings {
    Settings { model: Model::Particles, ..calm() }
}

/// The strain ‖s_u‖ − 1 is the load over the modulus; on rectangles that makes all vertices exact.
#[test]
fn the_hanging_square_of_particles_converges_at_second_order() {
    let (modulus, force) = (1.0e4, 981.0);
    for division in [Division::Regular, Division::Nonuniform, Division::Curvilinear] {
        let error = |side: usize| {
            let sheet = Sheet::new(division, [1.0; 2], [side, side]);
            let material = Material {
                density: 1.0,
                stretch_warp: modulus,
                stretch_weft: modulus,
                shear: 0.5 * modulus,
                poisson: 0.0,
                ..Material::default()
            };
            let cloth = sheet.cloth(material, sheet.points.clone(), 0.0);
            let settings = Settings { gravity: Vec3::x() * force, ..settings() };
            let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
            let pinned = sheet.columns(0..1);
            simulation.set_pins(0, &pinned, None).unwrap();
            settle(&mut simulation, 1.0e-8);
            let place = |x: f64| x + force / modulus * (x - 0.5 * x * x);
            let wanted = sheet.map(|point| Vec3::new(place(point.x), point.y, 0.0));
            mean_distance(&simulation, &wanted, &pinned)
        };
        if division == Division::Curvilinear {
            check_order("hanging", &SIDES, error);
        } else {
            assert!(error(20) < 1.0e-10, "{division:?}: {}", error(20));
        }
    }
}

/// The same solution as for the default model: the threads along x are not stretched.
#[test]
fn the_sheared_square_of_particles_converges_at_second_order() {
    let (modulus, shear, force) = (1.0e6, 100.0, 10.0);
    let load = |x: f64| force * (1.0 - x) / shear;
    for division in DIVISIONS {
        check_order(&format!("sheared, {division:?}"), &SIDES[..4], |side| {
            let sheet = Sheet::new(division, [1.0; 2], [side, side]);
            let material = Material {
                density: 1.0,
                stretch_warp: modulus,
                stretch_weft: modulus,
                shear,
                poisson: 0.0,
                ..Material::default()
            };
            let wanted = sheet.map(|point| {
                let along = integral(|s| (1.0 - load(s).powi(2)).sqrt(), point.x);
                Vec3::new(along, point.y + integral(load, point.x), 0.0)
            });
            let is_held = |point: &Vec3| point.x < 1.0e-9 || point.y.abs() > 0.5 - 1.0e-9;
            let pinned: Vec<usize> =
                (0..sheet.points.len()).filter(|vertex| is_held(&sheet.points[*vertex])).collect();
            let cloth = sheet.cloth(material, wanted.clone(), 0.0);
            let settings = Settings { gravity: Vec3::y() * force, ..settings() };
            let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
            simulation.set_pins(0, &pinned, None).unwrap();
            settle(&mut simulation, 1.0e-8);
            mean_distance(&simulation, &wanted, &pinned)
        });
    }
}

#[test]
fn the_bent_square_of_particles_converges_at_second_order() {
    let (modulus, bending, force) = (1.0e6, 5.0, 40.0);
    for division in DIVISIONS {
        check_order(&format!("bent, {division:?}"), &SIDES[..4], |side| {
            let sheet = Sheet::new(division, [1.0; 2], [side, side]);
            let material = Material {
                density: 1.0,
                stretch_warp: modulus,
                stretch_weft: modulus,
                shear: 0.5 * modulus,
                poisson: 0.0,
                bend_warp: bending,
                bend_weft: bending,
                bend_twist: None,
                ..Material::default()
            };
            let thread = HangingThread { load: force / bending, steps: 1600 };
            let shape = thread.shape();
            let wanted = sheet.map(|point| {
                let [x, z] = between(&shape, point.x);
                Vec3::new(x, point.y, z)
            });
            let cloth = sheet.cloth(material, sheet.points.clone(), 0.0);
            let settings = Settings { gravity: Vec3::z() * -force, ..settings() };
            let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
            let (pinned, sliding) = (sheet.columns(0..1), sheet.columns(side..side + 1));
            simulation.set_pins(0, &pinned, None).unwrap();
            let across = [Vec3::y(), Vec3::z()];
            simulation.set_guided_velocity(0, &sliding, &across, Vec3::zeros()).unwrap();
            settle(&mut simulation, 1.0e-8);
            mean_distance(&simulation, &wanted, &pinned)
        });
    }
}

/// A point of a curve given at equal distances along it, at a fraction of its length.
fn between(shape: &[[f64; 2]], part: f64) -> [f64; 2] {
    let place = part * (shape.len() - 1) as f64;
    let index = (place as usize).min(shape.len() - 2);
    let rest = place - index as f64;
    [0, 1].map(|axis| shape[index][axis] * (1.0 - rest) + shape[index + 1][axis] * rest)
}
