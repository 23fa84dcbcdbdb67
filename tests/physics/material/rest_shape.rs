// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rest shapes that change during the motion, in every model.

use crate::{
    fixtures::{
        equilibrium::calm,
        quads::{Division, Sheet},
    },
    material::factors::fabrics,
    models::combinations::MODELS,
};
use weft::{Cloth, Integrator, Material, Model, Settings, Simulation, Vec3};

const SIZE: [f64; 2] = [0.3, 0.2];

fn sheet() -> Sheet {
    Sheet::new(Division::Nonuniform, SIZE, [6, 5])
}

/// A flat sheet with a rest shape that is longer along x.
fn stretched(material: &Material, factor: f64) -> Cloth {
    let sheet = sheet();
    let rest = sheet.map(|p| Vec3::new(factor * p.x, p.y, p.z));
    Cloth::new(
        sheet.points.clone(),
        &sheet.polygons(),
        material.clone(),
        Some(rest.as_slice()),
        None,
    )
    .unwrap()
}

fn simulation(model: Model, cloth: Cloth) -> Simulation {
    let settings = Settings { model, tolerance: 1.0e-9, time_step: 2.0e-3, ..calm() };
    Simulation::new(&[cloth], &[], settings).unwrap()
}

/// Cloth that takes on another rest shape before it has moved does what it would have done with that shape from the start.
#[test]
fn a_sheet_takes_on_a_rest_shape_on_the_way() {
    for model in MODELS {
        for material in fabrics(model) {
            let material = Material { quality: None, ..material };
            let mut at_once = simulation(model, stretched(&material, 1.02));
            let mut before = simulation(model, stretched(&material, 1.0));
            let mut later = simulation(model, stretched(&material, 1.02));
            assert!(later.restore(&before.state().unwrap()).is_err(), "{model:?}");
            later.restore_with_other_rest_shape(&before.state().unwrap()).unwrap();
            for _ in 0..5 {
                for one in [&mut at_once, &mut before, &mut later] {
                    one.step(1.0e-3).unwrap();
                }
            }
            let [at_once, before, later] =
                [&at_once, &before, &later].map(|one| one.positions(0).unwrap().to_vec());
            assert_eq!(at_once, later, "{model:?}");
            assert_ne!(before, later, "{model:?}: the rest shape does nothing");
        }
    }
}

/// Velocities and history go on: a sheet in free fall keeps its path while its rest shape shrinks.
#[test]
fn a_falling_sheet_keeps_its_momentum_while_its_rest_shape_shrinks() {
    let material = Material { thickness: 1.0e-3, ..Material::default() };
    let gravity = Vec3::new(0.0, 0.0, -9.81);
    let falling = |factor: f64| {
        let integrator = Integrator::Bdf2;
        let settings = Settings { integrator, gravity, time_step: 1.0 / 240.0, ..calm() };
        Simulation::new(&[stretched(&material, factor)], &[], settings).unwrap()
    };
    let mut present = falling(1.0);
    let (frames, frame) = (12, 1.0 / 24.0);
    for count in 1..=frames {
        let mut next = falling(1.0 - 0.01 * f64::from(count));
        next.restore_with_other_rest_shape(&present.state().unwrap()).unwrap();
        next.advance(frame).unwrap();
        present = next;
    }
    let time = f64::from(frames) * frame;
    let positions = present.positions(0).unwrap();
    let height = positions.iter().map(|p| p.z).sum::<f64>() / positions.len() as f64;
    let fallen = -0.5 * 9.81 * time * time;
    assert!((height / fallen - 1.0).abs() < 1.0e-3, "{height} m instead of {fallen} m");
    let (low, high) = positions
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p.x), high.max(p.x)));
    assert!(high - low < 0.92 * SIZE[0], "{} m wide", high - low);
}

/// A simulation of other faces or settings does not take the state.
#[test]
fn only_the_rest_shape_may_differ() {
    let material = Material::default();
    let state = simulation(Model::Fem, stretched(&material, 1.0)).state().unwrap();
    let mut other = simulation(Model::Particles, stretched(&material, 1.0));
    assert!(other.restore_with_other_rest_shape(&state).is_err());
    let coarser = Sheet::new(Division::Nonuniform, SIZE, [5, 5]);
    let cloth = coarser.cloth(material, coarser.points.clone(), 0.0);
    assert!(simulation(Model::Fem, cloth).restore_with_other_rest_shape(&state).is_err());
}
