// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measured curves with hysteresis and constant quality in every model: forces against differences, the loss of an
//! oscillator, that nothing gives energy, and all integrators. See `model_cycles` for the curves themselves.

use crate::{
    fixtures::{
        noise::Noise,
        quads::{Division, Sheet},
        scenes::{self, distance, hanging},
    },
    material::inelastic::{QUALITY, fabric},
    models::{
        combinations::MODELS,
        forces::{Example, dot, moved, norm},
    },
};
use weft::{
    Cloth, ConstantQ, Curves, Hysteresis, Integrator, Material, Model, Settings, Simulation,
    Solver, Vec3, mesh::Polygons,
};

const FRAME: f64 = 1.0 / 24.0;

/// A fabric whose curves are soft enough for shaken sheets, with memory and viscosity.
fn shaken(quality: Option<ConstantQ>) -> Material {
    let bend = Hysteresis {
        load: vec![[-10.0, -0.5], [0.0, 0.02], [10.0, 0.5]],
        unload: vec![[-10.0, -0.5], [0.0, -0.02], [10.0, 0.5]],
        ..Hysteresis::default()
    };
    let stretch = Hysteresis {
        load: vec![[-0.2, -40.0], [0.0, 0.0], [0.1, 10.0], [0.3, 110.0]],
        unload: vec![[-0.2, -40.0], [0.02, 0.0], [0.15, 10.0], [0.3, 110.0]],
        ..Hysteresis::default()
    };
    let slip = Hysteresis {
        load: vec![[-0.4, -16.0], [0.0, 0.5], [0.4, 16.0]],
        unload: vec![[-0.4, -16.0], [0.0, -0.5], [0.4, 16.0]],
        ..Hysteresis::default()
    };
    Material {
        stretch_warp: 900.0,
        stretch_weft: 800.0,
        shear: 70.0,
        poisson: 0.3,
        bend_warp: 0.1,
        bend_weft: 0.08,
        stretch_damping: 0.02,
        shear_damping: 0.05,
        bend_damping: 0.03,
        curves: Curves {
            stretch_warp: Some(stretch.clone()),
            stretch_weft: Some(stretch),
            shear: Some(slip),
            bend_warp: Some(bend.clone()),
            bend_weft: Some(bend),
        },
        quality,
        ..Material::default()
    }
    .checked()
    .unwrap()
}

/// Examples that have been through some random steps.
fn experienced(noise: &mut Noise) -> Vec<Example> {
    let mut examples = Vec::new();
    for quality in [None, Some(QUALITY)] {
        for model in [Model::Particles, Model::MassSpring] {
            let is_of = |example: &Example| {
                example.name.contains("spring") || example.name.contains("choi_ko")
            };
            let all = Example::all_of(&taken(model, shaken(quality))).into_iter();
            examples.extend(all.filter(|one| is_of(one) == (model == Model::MassSpring)));
        }
    }
    for example in &mut examples {
        for _ in 0..5 {
            let shape = moved(&example.rest, &noise.vectors(example.rest.len(), 1.0), 0.02);
            for elements in &mut example.elements {
                elements.end_step(&shape, 0.01);
            }
        }
        for elements in &mut example.elements {
            elements.begin_stage(0.02);
        }
    }
    examples
}

#[test]
fn forces_with_a_past_are_the_gradient_of_their_potential_and_turn_nothing() {
    let mut noise = Noise::new(21);
    for mut example in experienced(&mut noise) {
        let count = example.rest.len();
        let shape = moved(&example.rest, &noise.vectors(count, 1.0), 0.02);
        let past = moved(&example.rest, &noise.vectors(count, 1.0), 0.02);
        let (_, forces) = example.evaluate(&shape, &past, 50.0);
        let name = example.name.clone();
        for _ in 0..4 {
            let direction = noise.vectors(count, 1.0);
            let step = 1.0e-6;
            let [ahead, behind] = [step, -step]
                .map(|step| example.evaluate(&moved(&shape, &direction, step), &past, 50.0).0);
            let error = (dot(&forces, &direction) - (behind - ahead) / (2.0 * step)).abs();
            let scale = norm(&forces) * norm(&direction);
            assert!(error < 2.0e-5 * scale, "{name}: {error:e} of {scale:e}");
        }
        let scale = forces.iter().map(Vec3::norm).sum::<f64>();
        let torque: Vec3 = shape.iter().zip(&forces).map(|(x, f)| x.cross(f)).sum();
        assert!(forces.iter().sum::<Vec3>().norm() < 1.0e-12 * scale, "{name}");
        assert!(torque.norm() < 1.0e-12 * scale, "{name}: {torque:?}");
    }
}

/// In a stretched flat sheet nothing is left out of the tangent but what quads warp.
#[test]
fn tangents_with_a_past_are_the_derivatives_of_forces_in_a_stretched_flat_sheet() {
    let mut noise = Noise::new(22);
    for mut example in experienced(&mut noise) {
        let flat = |p: &Vec3| Vec3::new(1.3 * p.x, 1.25 * p.y, 0.0);
        let rest = example.rest.clone();
        let shape: Vec<Vec3> = rest.iter().map(flat).collect();
        // Bending remembers a moment, which shows in second derivatives.
        for elements in &mut example.elements {
            elements.clear_internal_variables();
        }
        let past = if example.has_shear_apart { &shape } else { &rest };
        for _ in 0..4 {
            let direction = noise.vectors(rest.len(), 1.0);
            let step = 1.0e-6;
            let [ahead, behind] = [step, -step]
                .map(|step| example.evaluate(&moved(&shape, &direction, step), past, 20.0).1);
            example.evaluate(&shape, past, 20.0);
            let product = example.tangent_product(&direction);
            let error: Vec<Vec3> = (0..rest.len())
                .map(|v| (behind[v] - ahead[v]) / (2.0 * step) - product[v])
                .collect();
            let fraction = norm(&error) / norm(&product);
            assert!(fraction < 0.03, "{}: {fraction:e}", example.name);
        }
    }
}

/// The steepest tangent resists every motion at least as much as that of what goes on.
#[test]
fn the_steepest_tangent_is_no_softer() {
    let mut noise = Noise::new(23);
    for mut example in experienced(&mut noise) {
        let count = example.rest.len();
        let shape = moved(&example.rest, &noise.vectors(count, 1.0), 0.02);
        let resisted = |example: &mut Example, direction: &[Vec3], is_steepest: bool| {
            for elements in &mut example.elements {
                elements.begin_stage(0.0);
                elements.set_stiffest_tangent(is_steepest);
            }
            example.evaluate(&shape, &shape, 0.0);
            dot(&example.tangent_product(direction), direction)
        };
        for _ in 0..6 {
            let direction = noise.vectors(count, 1.0);
            let usual = resisted(&mut example, &direction, false);
            let steepest = resisted(&mut example, &direction, true);
            assert!(steepest > usual, "{}: {steepest} {usual}", example.name);
        }
    }
}

/// Curves of a fabric that a model uses.
fn taken(model: Model, material: Material) -> Material {
    let has_curvature = matches!(
        model,
        Model::Fem | Model::FemVolino | Model::FemBridson | Model::Particles | Model::BaraffWitkin
    );
    let curves = material.curves.clone();
    let curves =
        if has_curvature { curves } else { Curves { bend_warp: None, bend_weft: None, ..curves } };
    Material { curves, ..material }
}

#[test]
fn no_model_gains_energy_in_free_flight() {
    // The tension of the one has a negative energy, the force of the other has none.
    let without_energy = [Model::ParticlesMembrane, Model::ParticlesProjected];
    for model in MODELS.into_iter().filter(|model| !without_energy.contains(model)) {
        for quality in [None, Some(QUALITY)] {
            let material = Material { quality, ..taken(model, fabric()) };
            let sheet = Sheet::new(Division::Nonuniform, [0.3, 0.2], [8, 6]);
            let start = sheet.map(|p| {
                let bent = 0.05 * (12.0 * p.x).sin() + 0.02 * (20.0 * p.y).cos();
                Vec3::new(1.04 * p.x + 0.05 * p.y, 1.02 * p.y, bent)
            });
            let settings = Settings {
                model,
                integrator: Integrator::ImplicitEuler,
                tolerance: 1.0e-6,
                ..crate::fixtures::equilibrium::calm()
            };
            let cloth = sheet.cloth(material, start, 0.0);
            let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
            let first = simulation.energy().total();
            let mut energy = first;
            for _ in 0..100 {
                simulation.step(1.0e-3).unwrap();
                let now = simulation.energy().total();
                // Where yarns are pushed the potential is not convex, and implicit Euler may gain a little with any law.
                assert!(now <= energy + 1.0e-3 * first, "{model:?}: {energy} {now} of {first}");
                energy = now;
            }
            assert!(energy < 0.9 * first, "{model:?}: {energy} of {first}");
        }
    }
}

/// A square of one quad with its left side pinned, whose right side moves along x.
fn oscillator(model: Model, quality: ConstantQ, frequency: f64) -> Simulation {
    let material = Material {
        stretch_warp: 40.0,
        stretch_weft: 40.0,
        shear: 0.0,
        poisson: 0.0,
        bend_warp: 0.0,
        bend_weft: 0.0,
        stretch_damping: 0.0,
        shear_damping: 0.0,
        density: 2.0 * 40.0 / (std::f64::consts::TAU * frequency).powi(2),
        quality: Some(quality),
        ..Material::default()
    };
    let rest = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let rest = rest.map(|[x, y]| Vec3::new(x, y, 0.0));
    let mut start = rest.to_vec();
    for vertex in [1, 2] {
        start[vertex].x += 1.0e-4;
    }
    let face = Polygons::new(&[4], &[0, 1, 2, 3], 4).unwrap();
    let cloth = Cloth::new(start, &face, material, Some(&rest), None).unwrap();
    let settings = Settings {
        model,
        gravity: Vec3::zeros(),
        air_density: 0.0,
        tolerance: 1.0e-12,
        threads: 1,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
    simulation.set_pins(0, &[0, 3], None).unwrap();
    simulation.set_guided_velocity(0, &[1, 2], &[Vec3::y(), Vec3::z()], Vec3::zeros()).unwrap();
    simulation
}

/// Every cycle dissipates the fraction 2π/Q of the energy, at every frequency in the band.
#[test]
fn an_oscillator_of_every_model_has_the_quality_of_its_material() {
    let quality = ConstantQ { q: 15.0, ..QUALITY };
    for model in [Model::Particles, Model::BaraffWitkin, Model::MassSpring] {
        for frequency in [0.15, 0.5, 2.0, 7.0] {
            let mut simulation = oscillator(model, quality, frequency);
            let step = 1.0 / (400.0 * frequency);
            let (mut turns, mut last) = (Vec::new(), [0.0; 2]);
            while turns.len() < 16 {
                simulation.step(step).unwrap();
                let place = simulation.positions(0).unwrap()[1].x - 1.0;
                if (last[1] - last[0]) * (place - last[1]) < 0.0 {
                    turns.push(last[1]);
                }
                last = [last[1], place];
            }
            let swing = |turn: usize| (turns[turn] - turns[turn + 1]).abs();
            let found = std::f64::consts::PI / ((swing(4) / swing(14)).ln() / 5.0);
            let name = format!("{model:?}, {frequency} Hz");
            assert!((found / quality.q - 1.0).abs() < 0.1, "{name}: Q {found}");
        }
    }
}

/// A soft fabric whose threads slip past each other, and that relaxes.
fn soft(model: Model, has_curves: bool) -> Material {
    let slipping = Hysteresis {
        load: vec![[-0.2, -1.0], [0.0, 0.02], [0.2, 1.0], [0.4, 3.0]],
        unload: vec![[-0.2, -1.0], [0.0, -0.02], [0.2, 0.9], [0.4, 3.0]],
        ..Hysteresis::default()
    };
    let stretching = Hysteresis {
        load: vec![[-0.1, -2.0], [0.0, 0.0], [0.05, 0.8], [0.2, 4.0]],
        unload: vec![[-0.1, -2.0], [0.0, 0.0], [0.1, 0.8], [0.2, 3.5]],
        ..Hysteresis::default()
    };
    let stretching = Some(stretching);
    let bending = Hysteresis {
        load: vec![[-20.0, -2.0e-3], [0.0, 1.0e-4], [20.0, 2.0e-3]],
        unload: vec![[-20.0, -2.0e-3], [0.0, -1.0e-4], [20.0, 2.0e-3]],
        ..Hysteresis::default()
    };
    let bending = Some(bending);
    let curves = Curves {
        stretch_warp: stretching.clone(),
        stretch_weft: stretching,
        shear: Some(slipping),
        bend_warp: bending.clone(),
        bend_weft: bending,
    };
    let material = Material {
        density: 0.2,
        stretch_warp: 30.0,
        stretch_weft: 30.0,
        shear: 25.0,
        poisson: 0.2,
        bend_warp: 2.0e-4,
        bend_weft: 2.0e-4,
        stretch_damping: 2.0e-3,
        shear_damping: 2.0e-3,
        bend_damping: 2.0e-3,
        curves: if has_curves { curves } else { Curves::NONE },
        quality: has_curves.then_some(QUALITY),
        ..Material::default()
    };
    taken(model, material).checked().unwrap()
}

/// Also where whole quads have been pinned since, which clamps their neighbours.
#[test]
fn a_checkpoint_remembers_what_the_material_does_in_every_model() {
    let clamp = [0, 1, 7, 8];
    for model in MODELS {
        let build = |threads: usize, has_curves: bool| {
            let settings = Settings { model, ..Settings::default() };
            let sheet = scenes::sheet(7, 0.4, 0.0, soft(model, has_curves));
            let settings = Settings { threads, ..settings };
            let mut simulation = Simulation::new(&[sheet], &[], settings).unwrap();
            simulation.set_pins(0, &[0, 6], None).unwrap();
            simulation
        };
        let mut simulation = build(1, true);
        for _ in 0..4 {
            simulation.advance(FRAME).unwrap();
        }
        let kept = simulation.state().unwrap();
        simulation.set_pins(0, &clamp, None).unwrap();
        let mut others = [build(2, true), build(1, false)];
        for other in &mut others {
            other.restore(&kept).unwrap();
            other.set_pins(0, &clamp, None).unwrap();
        }
        for _ in 0..3 {
            let report = simulation.advance(FRAME).unwrap();
            // A linear strain takes the turning of what swings down for stretch.
            assert!(report.max_stretch < 0.5 || model == Model::FemLinear, "{model:?}");
            for other in &mut others {
                other.advance(FRAME).unwrap();
                let places = [&simulation, other].map(|one| one.positions(0).unwrap().to_vec());
                assert_eq!(places[0], places[1], "{model:?}");
            }
        }
    }
}

/// Of two cloths one has no internal variables until its material changes after the checkpoint.
#[test]
fn a_checkpoint_remembers_each_cloth_by_itself() {
    let build = |model: Model, integrator: Integrator| {
        let sheets = [(0.0, true), (-1.0, false)]
            .map(|(height, has_curves)| scenes::sheet(5, 0.4, height, soft(model, has_curves)));
        let settings = Settings { model, integrator, ..Settings::default() };
        let mut simulation = Simulation::new(&sheets, &[], settings).unwrap();
        for cloth in 0..2 {
            simulation.set_pins(cloth, &[0, 4], None).unwrap();
        }
        simulation
    };
    let end = |simulation: &mut Simulation| {
        for _ in 0..2 {
            simulation.advance(FRAME).unwrap();
        }
        [0, 1].map(|cloth| simulation.positions(cloth).unwrap().to_vec())
    };
    for model in MODELS {
        for integrator in [Integrator::Bdf2, Integrator::Sbdf2] {
            let mut both = [0; 2].map(|_| build(model, integrator));
            end(&mut both[0]);
            let kept = both[0].state().unwrap();
            both[1].restore(&kept).unwrap();
            let [now, then] = both.each_mut().map(end);
            assert_eq!(now, then, "{model:?} {integrator:?}");
            let [now, then] = both.each_mut().map(|one| {
                one.set_material(1, soft(model, true)).unwrap();
                end(one)
            });
            assert_eq!(now, then, "{model:?} {integrator:?}");
        }
    }
}

/// An explicit scheme and BDF(2) with short steps, where what the fabric remembers matters.
#[test]
fn an_explicit_scheme_finds_the_motion_of_bdf2_in_every_model() {
    for model in MODELS {
        let after = |integrator: Integrator, has_curves: bool| {
            let time_step = 2.0e-4;
            let settings = Settings { model, integrator, time_step, ..Settings::default() };
            let settings = Settings { tolerance: 1.0e-5, ..settings };
            let mut simulation = hanging(settings, soft(model, has_curves));
            for _ in 0..4 {
                let report = simulation.advance(FRAME).unwrap();
                assert!(report.converged, "{model:?}, {integrator:?}: {report:?}");
            }
            simulation
        };
        let exact = after(Integrator::Bdf2, true);
        let forgetful = distance(&after(Integrator::Bdf2, false), &exact);
        let error = distance(&after(Integrator::Verlet, true), &exact);
        assert!(forgetful > 8.0 * error, "{model:?}: {error} m, {forgetful} m without a past");
        assert!(error < 1.0e-3, "{model:?}: {error} m");
    }
}

/// Every model with every integrator and solver: pinned, and falling on a floor.
#[test]
fn every_combination_works_with_curves_and_quality() {
    for model in MODELS {
        for integrator in Integrator::ALL {
            let solvers: &[Solver] = if integrator.is_implicit() {
                &[Solver::Newton, Solver::FixedPoint, Solver::Linearised]
            } else {
                &[Solver::Newton]
            };
            for solver in solvers {
                let mut settings =
                    Settings { model, integrator, solver: *solver, ..Settings::default() };
                if integrator == Integrator::ImexMidpoint {
                    // In steps of 1/48 s mass_spring has half as much energy again in the end: the rule damps nothing.
                    settings.time_step = 1.0 / 24.0;
                }
                crate::models::combinations::check_in_scenes(&settings, &soft(model, true));
            }
        }
    }
}
