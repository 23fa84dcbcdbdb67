// SPDX-License-Identifier: MIT OR Apache-2.0
//! Factors on stretch, shear and bending by vertex, and lengths at rest that change during the motion, in every model.

use crate::{
    fixtures::{
        equilibrium::calm,
        quads::{Division, Sheet},
    },
    material::inelastic::{QUALITY, fabric},
    models::combinations::MODELS,
};
use weft::{Curves, Hysteresis, Integrator, Material, Model, Settings, Simulation, Vec3};

/// Factors on stretch, shear and bending.
const FACTORS: [f64; 3] = [2.0, 3.0, 5.0];

fn has_curvature(model: Model) -> bool {
    matches!(
        model,
        Model::Fem | Model::FemVolino | Model::FemBridson | Model::Particles | Model::BaraffWitkin
    )
}

/// A branch with every stress multiplied.
fn times(curve: Option<&Hysteresis>, factor: f64) -> Option<Hysteresis> {
    let branch = |points: &[[f64; 2]]| {
        points.iter().map(|[strain, stress]| [*strain, factor * stress]).collect()
    };
    curve.map(|curve| Hysteresis {
        load: branch(&curve.load),
        unload: branch(&curve.unload),
        ..Hysteresis::default()
    })
}

/// The fabric with multiplied stiffnesses.
fn stiffer(material: &Material) -> Material {
    let [stretch, shear, bend] = FACTORS;
    let curves = &material.curves;
    Material {
        stretch_warp: stretch * material.stretch_warp,
        stretch_weft: stretch * material.stretch_weft,
        shear: shear * material.shear,
        bend_warp: bend * material.bend_warp,
        bend_weft: bend * material.bend_weft,
        bend_twist: material.bend_twist.map(|twist| bend * twist),
        curves: Curves {
            stretch_warp: times(curves.stretch_warp.as_ref(), stretch),
            stretch_weft: times(curves.stretch_weft.as_ref(), stretch),
            shear: times(curves.shear.as_ref(), shear),
            bend_warp: times(curves.bend_warp.as_ref(), bend),
            bend_weft: times(curves.bend_weft.as_ref(), bend),
        },
        ..material.clone()
    }
}

fn elastic() -> Material {
    Material {
        curves: Curves::default(),
        bend_twist: Some(3.0e-4),
        stretch_damping: 0.002,
        shear_damping: 0.003,
        bend_damping: 0.004,
        ..fabric()
    }
}

/// The fabrics of a test: elastic, and with as many curves as the model takes and quality.
pub(super) fn fabrics(model: Model) -> [Material; 2] {
    let mut curved = Material { quality: Some(QUALITY), ..fabric() };
    if !has_curvature(model) {
        curved.curves = Curves { bend_warp: None, bend_weft: None, ..curved.curves };
    }
    [elastic(), curved]
}

/// A wavy sheet, pulled and released.
fn shaken(model: Model, material: &Material, factors: Option<[f64; 3]>) -> Simulation {
    let sheet = Sheet::new(Division::Nonuniform, [0.3, 0.2], [6, 5]);
    let start = sheet.map(|p| {
        let bent = 0.03 * (12.0 * p.x).sin() + 0.02 * (20.0 * p.y).cos();
        Vec3::new(1.03 * p.x + 0.05 * p.y, 1.02 * p.y, bent)
    });
    let mut cloth = sheet.cloth(material.clone(), start, 0.3);
    if let Some(factors) = factors {
        cloth = cloth.with_property_scale(vec![factors; sheet.points.len()]).unwrap();
    }
    let settings = Settings { model, tolerance: 1.0e-9, time_step: 2.0e-3, ..calm() };
    let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
    simulation.set_pins(0, &[0, 1], None).unwrap();
    simulation
}

fn largest_difference(a: &Simulation, b: &Simulation) -> f64 {
    let pairs = a.positions(0).unwrap().iter().zip(b.positions(0).unwrap());
    pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// Everywhere alike, factors are another fabric: its moduli, its viscosity, its curves and its memory.
#[test]
fn factors_that_are_everywhere_alike_are_another_fabric() {
    for model in MODELS {
        for material in fabrics(model) {
            let name = format!("{model:?}, inelastic: {}", material.quality.is_some());
            let mut plain = shaken(model, &material, None);
            let mut by_factors = shaken(model, &material, Some(FACTORS));
            let mut by_moduli = shaken(model, &stiffer(&material), None);
            let energies = [&mut by_factors, &mut by_moduli].map(Simulation::energy);
            assert!((energies[0].stretch / energies[1].stretch - 1.0).abs() < 1.0e-9, "{name}");
            assert!((energies[0].total() / energies[1].total() - 1.0).abs() < 1.0e-9, "{name}");
            for round in 0..2 {
                for simulation in [&mut plain, &mut by_factors, &mut by_moduli] {
                    for _ in 0..5 {
                        let report = simulation.step(1.0e-3).unwrap();
                        assert!(report.converged, "{name}: {report:?}");
                    }
                }
                let difference = largest_difference(&by_factors, &by_moduli);
                assert!(difference < 1.0e-7, "{name}, {round}: {difference} m");
                // They stay when the fabric changes.
                let softer = Material { density: 2.0 * material.density, ..material.clone() };
                plain.set_material(0, softer.clone()).unwrap();
                by_factors.set_material(0, softer.clone()).unwrap();
                by_moduli.set_material(0, stiffer(&softer)).unwrap();
            }
            let moved = largest_difference(&by_factors, &plain);
            assert!(moved > 1.0e-4, "{name}: the factors do nothing: {moved} m");
        }
    }
}

/// Lengths at rest that are given during the motion act as those that were given at the start. (With quality they are not: what
/// shrinks at once is stiffer than what has long been short.)
#[test]
fn a_sheet_takes_on_lengths_at_rest_on_the_way() {
    for model in MODELS {
        for material in fabrics(model) {
            let material = Material { quality: None, ..material };
            let sheet = Sheet::new(Division::Nonuniform, [0.3, 0.2], [6, 5]);
            let scale: Vec<[f64; 2]> =
                sheet.points.iter().map(|p| [0.9 - 0.2 * p.x, 0.95 + 0.1 * p.y]).collect();
            let flat = || sheet.cloth(material.clone(), sheet.points.clone(), 0.3);
            let settings = Settings { model, tolerance: 1.0e-9, ..calm() };
            let shrunk = flat().with_rest_scale(scale.clone()).unwrap();
            let mut at_once = Simulation::new(&[shrunk], &[], settings.clone()).unwrap();
            let mut later = Simulation::new(&[flat()], &[], settings.clone()).unwrap();
            let mut never = Simulation::new(&[flat()], &[], settings).unwrap();
            later.set_rest_scale(0, &scale).unwrap();
            for _ in 0..5 {
                for simulation in [&mut at_once, &mut later, &mut never] {
                    simulation.step(1.0e-3).unwrap();
                }
            }
            let name = format!("{model:?}, curves: {}", material.curves.shear.is_some());
            let difference = largest_difference(&at_once, &later);
            assert!(difference < 1.0e-9, "{name}: {difference} m");
            let moved = largest_difference(&later, &never);
            assert!(moved > 1.0e-4, "{name}: lengths do nothing: {moved} m");
        }
    }
}

/// A checkpoint knows the lengths at rest that were given during the motion, and nothing of those before: what is measured of the past
/// is measured with them.
#[test]
fn a_checkpoint_after_new_lengths_at_rest_continues_alike() {
    for model in MODELS {
        let sheet = Sheet::new(Division::Nonuniform, [0.3, 0.2], [6, 5]);
        let scale: Vec<[f64; 2]> = sheet.points.iter().map(|p| [0.95 - 0.1 * p.x, 1.0]).collect();
        let fabric = Material { stretch_damping: 0.01, ..fabrics(model)[0].clone() };
        let build = || {
            let cloth = sheet.cloth(fabric.clone(), sheet.points.clone(), 0.3);
            let settings = Settings { model, integrator: Integrator::Bdf2, ..calm() };
            Simulation::new(&[cloth], &[], settings).unwrap()
        };
        let mut simulation = build();
        let mut restored = build();
        for _ in 0..4 {
            simulation.step(1.0e-3).unwrap();
        }
        simulation.set_rest_scale(0, &scale).unwrap();
        restored.restore(&simulation.state().unwrap()).unwrap();
        for _ in 0..4 {
            simulation.step(1.0e-3).unwrap();
            restored.step(1.0e-3).unwrap();
        }
        assert_eq!(simulation.positions(0).unwrap(), restored.positions(0).unwrap(), "{model:?}");
    }
}
