// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every model in a simulation with every integrator and solver, and the differences between models.

use crate::fixtures::{
    equilibrium::{calm, settle},
    quads::{Division, Sheet},
    scenes::{grid, ground, square, vacuum},
};
use weft::{
    Cloth, Integrator, Material, Model, Settings, Simulation, Solver, Vec3, mesh::Polygons,
};

pub(crate) const MODELS: [Model; 12] = [
    Model::Fem,
    Model::FemCorotational,
    Model::FemLinear,
    Model::FemVolino,
    Model::FemBridson,
    Model::Particles,
    Model::ParticlesMembrane,
    Model::ParticlesProjected,
    Model::BaraffWitkin,
    Model::ChoiKo,
    Model::MassSpring,
    Model::MassSpring16,
];

/// A tilted sheet of cotton of n × n vertices over a floor.
fn falling(model: Model, integrator: Integrator, threads: usize) -> Simulation {
    let (mut positions, polygons) = grid(12, 12, [0.4, 0.4]);
    for position in &mut positions {
        position.z = 0.15 + 0.4 * position.x + 0.2 * position.y;
    }
    let cloth = Cloth::new(positions, &polygons, Material::default(), None, None).unwrap();
    let settings = Settings { model, integrator, threads, ..Settings::default() };
    Simulation::new(&[cloth], &[ground(square(4.0), 0.4)], settings).unwrap()
}

/// A tilted sheet of cotton with few vertices right over a floor, for schemes that take short steps.
fn dropping(settings: &Settings, material: &Material) -> Simulation {
    let (mut positions, polygons) = grid(7, 7, [0.3, 0.3]);
    for position in &mut positions {
        position.z = 0.04 + 0.1 * position.x + 0.05 * position.y;
    }
    let cloth = Cloth::new(positions, &polygons, material.clone(), None, None).unwrap();
    let settings = Settings { threads: 1, ..settings.clone() };
    Simulation::new(&[cloth], &[ground(square(4.0), 0.4)], settings).unwrap()
}

fn check_combination(model: Model, integrator: Integrator, solver: Solver) {
    let settings = Settings { model, integrator, solver, ..Settings::default() };
    check_in_scenes(&settings, &Material::default());
}

/// One pinned and one colliding scene of a few frames.
pub(crate) fn check_in_scenes(settings: &Settings, material: &Material) {
    let Settings { model, integrator, solver, .. } = settings;
    let name = format!("{model:?}, {integrator:?}, {solver:?}");
    let mut simulation = dropping(settings, material);
    let start = simulation.energy().total();
    for _ in 0..6 {
        let report = simulation.advance(1.0 / 24.0).unwrap();
        assert!(report.converged && report.unresolved_contacts == 0, "{name}: {report:?}");
        let lowest = lowest(&simulation);
        assert!(lowest > 0.0, "{name}: {lowest} m over the floor");
    }
    assert!(simulation.energy().total() < start, "{name}");
    assert!(lowest(&simulation) < 0.02, "{name}");

    let mut simulation = dropping(settings, material);
    simulation.set_pins(0, &[0, 6], None).unwrap();
    let pinned = simulation.positions(0).unwrap()[6];
    // Until its free corner is on the floor: what it does when it folds over there is another matter.
    for _ in 0..4 {
        let report = simulation.advance(1.0 / 24.0).unwrap();
        assert!(report.converged && report.max_stretch < 0.5, "{name}: {report:?}");
    }
    assert_eq!(simulation.positions(0).unwrap()[6], pinned, "{name}");
}

#[test]
fn every_model_works_with_every_integrator() {
    for model in MODELS {
        for integrator in Integrator::ALL {
            check_combination(model, integrator, Solver::Newton);
        }
    }
}

#[test]
fn every_model_works_with_every_solver() {
    for model in MODELS {
        for integrator in Integrator::ALL.into_iter().filter(|integrator| integrator.is_implicit())
        {
            for solver in [Solver::FixedPoint, Solver::Linearised] {
                check_combination(model, integrator, solver);
            }
        }
    }
}

#[test]
fn every_model_falls_on_a_floor_and_hangs_from_pins() {
    for model in MODELS {
        for integrator in [Integrator::Bdf2, Integrator::ImplicitEuler] {
            let name = format!("{model:?}, {integrator:?}");
            let mut simulation = falling(model, integrator, 1);
            let start = simulation.energy().total();
            for _ in 0..12 {
                let report = simulation.advance(1.0 / 24.0).unwrap();
                assert!(report.converged && report.unresolved_contacts == 0, "{name}: {report:?}");
            }
            assert!(simulation.energy().total() < start, "{name}");
            let lowest = lowest(&simulation);
            assert!(lowest > 0.0 && lowest < 0.02, "{name}: {lowest} m over the floor");

            let mut simulation = falling(model, integrator, 1);
            simulation.set_pins(0, &[0, 11], None).unwrap();
            let pinned = simulation.positions(0).unwrap()[11];
            for _ in 0..12 {
                let report = simulation.advance(1.0 / 24.0).unwrap();
                assert!(report.converged, "{name}: {report:?}");
            }
            assert_eq!(simulation.positions(0).unwrap()[11], pinned, "{name}");
            let report = simulation.advance(1.0 / 24.0).unwrap();
            // A linear strain takes the turning of a leg that swings down for stretch.
            let is_held = report.max_stretch < 0.5 || model == Model::FemLinear;
            assert!(is_held, "{name}: stretched by {}", report.max_stretch);
        }
    }
}

fn lowest(simulation: &Simulation) -> f64 {
    let heights = simulation.positions(0).unwrap().iter().map(|position| position.z);
    heights.fold(f64::INFINITY, f64::min)
}

#[test]
fn no_model_depends_on_threads_and_every_one_goes_on_from_a_checkpoint() {
    for model in MODELS {
        let mut one = falling(model, Integrator::Bdf2, 1);
        let mut eight = falling(model, Integrator::Bdf2, 8);
        for _ in 0..4 {
            one.advance(1.0 / 24.0).unwrap();
            eight.advance(1.0 / 24.0).unwrap();
        }
        assert_eq!(one.positions(0).unwrap(), eight.positions(0).unwrap(), "{model:?}");
        let state = one.state().unwrap();
        one.advance(1.0 / 24.0).unwrap();
        let mut other = falling(model, Integrator::Bdf2, 1);
        other.restore(&state).unwrap();
        other.advance(1.0 / 24.0).unwrap();
        assert_eq!(one.positions(0).unwrap(), other.positions(0).unwrap(), "{model:?}");
        let mut foreign = falling(MODELS[usize::from(model == Model::Fem)], Integrator::Bdf2, 1);
        assert!(foreign.restore(&state).is_err(), "{model:?}");
    }
}

/// A sheet with other lengths at rest along warp and weft takes them on, in every model that does not pull at it.
#[test]
fn a_sheet_shrinks_to_its_scale() {
    let sheet = Sheet::new(Division::Nonuniform, [0.4, 0.3], [6, 5]);
    let [shrunk, grown] = [0.9, 1.05];
    for model in MODELS.into_iter().filter(|model| *model != Model::ParticlesMembrane) {
        let cloth = sheet.cloth(Material::default(), sheet.points.clone(), 0.0);
        let cloth = cloth.with_rest_scale(vec![[shrunk, grown]; sheet.points.len()]).unwrap();
        let settings = Settings { model, ..calm() };
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        for _ in 0..20 {
            assert!(simulation.advance(0.1).unwrap().converged, "{model:?}");
        }
        let positions = simulation.positions(0).unwrap();
        let corner = |corner: usize| positions[corner];
        let size = [(corner(36) - corner(0)).norm(), (corner(5) - corner(0)).norm()];
        let wanted = [0.4 * shrunk, 0.3 * grown];
        // Springs that only pull do not lengthen anything, and bent beams hardly do.
        let count = if model == Model::ChoiKo { 1 } else { 2 };
        for (found, wanted) in size.iter().zip(&wanted).take(count) {
            assert!((found / wanted - 1.0).abs() < 1.0e-4, "{model:?}: {size:?}, not {wanted:?}");
        }
    }
}

/// Springs of another stiffness stretch as much less.
#[test]
fn springs_take_the_stiffness_of_their_ends() {
    for model in [Model::MassSpring, Model::MassSpring16, Model::ChoiKo] {
        let stretch = |factor: f64| {
            let sheet = Sheet::new(Division::Regular, [0.5, 0.1], [10, 2]);
            let cloth = sheet.cloth(Material::default(), sheet.points.clone(), 0.0);
            let cloth = cloth.with_stiffness_scale(vec![factor; sheet.points.len()]).unwrap();
            let settings = Settings { model, gravity: Vec3::x() * 9.81, ..calm() };
            let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
            simulation.set_pins(0, &sheet.columns(0..1), None).unwrap();
            settle(&mut simulation, 1.0e-8);
            sheet.end_position(&simulation).x - 0.5
        };
        let ratio = stretch(1.0) / stretch(4.0);
        // Threads that only pull also come nearer to each other.
        assert!((ratio - 4.0).abs() < 0.1, "{model:?}: {ratio}");
    }
}

/// Particles and the default model on the same quads: a hanging, a sheared and a bent sheet.
#[test]
fn particles_and_triangles_are_the_same_fabric() {
    let fabric = Material {
        density: 0.2,
        stretch_warp: 300.0,
        stretch_weft: 200.0,
        shear: 40.0,
        poisson: 0.2,
        bend_warp: 0.02,
        bend_weft: 0.01,
        bend_twist: None,
        ..Material::default()
    };
    let displaced = |model: Model, gravity: Vec3, turn: f64| {
        let sheet = Sheet::clamped(Division::Nonuniform, [0.5, 0.3], [14, 8]);
        let cloth = sheet.cloth(fabric.clone(), sheet.points.clone(), turn);
        let settings = Settings { model, gravity, tolerance: 1.0e-5, ..calm() };
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        simulation.set_pins(0, &sheet.columns(0..2), None).unwrap();
        // Implicit Euler leaves hardly any motion after that.
        for _ in 0..60 {
            assert!(simulation.advance(0.1).unwrap().converged, "{model:?}");
        }
        sheet.end_position(&simulation) - Vec3::x() * 0.5
    };
    for turn in [0.0, 0.5] {
        for (name, gravity) in
            [("hanging", Vec3::x() * 9.81), ("sheared", Vec3::y() * 2.0), ("bent", Vec3::z() * 2.0)]
        {
            let [triangles, particles] =
                [Model::Fem, Model::Particles].map(|model| displaced(model, gravity, turn));
            let difference = (triangles - particles).norm() / triangles.norm();
            assert!(difference < 0.02, "{name}, {turn}: {triangles:?} {particles:?}");
        }
    }
}

#[test]
fn what_a_model_cannot_simulate_is_refused() {
    let positions: Vec<Vec3> = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 0.5]]
        .map(|[x, y]| Vec3::new(x, y, 0.0))
        .to_vec();
    let polygons = Polygons::new(&[4, 3], &[0, 1, 2, 3, 1, 4, 2], 5).unwrap();
    let cloth = Cloth::new(positions, &polygons, Material::default(), None, None).unwrap();
    for model in MODELS {
        let refusal =
            Simulation::new(std::slice::from_ref(&cloth), &[], Settings { model, ..vacuum() })
                .err();
        assert_eq!(refusal.is_some(), model.needs_quads(), "{model:?}");
        if let Some(refusal) = refusal {
            let text = refusal.to_string();
            for word in ["cloths[0].faces", "face 1", "3 corners", model.name(), "fem"] {
                assert!(text.contains(word), "{text}");
            }
        }
    }
    let cloth = cloth.with_stiffness_scale(vec![2.0; 5]).unwrap();
    let refusal = Simulation::new(&[cloth], &[], vacuum()).err().unwrap().to_string();
    assert!(refusal.contains("stiffness_scale") && refusal.contains("mass_spring"), "{refusal}");
}
