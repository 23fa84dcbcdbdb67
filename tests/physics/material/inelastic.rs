// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measured curves with hysteresis and constant quality: cycles as the Kawabata system makes them, forces against
//! differences, and that nothing gives energy.

use crate::fixtures::{
    equilibrium::calm,
    noise::Noise,
    oscillator::Oscillator,
    quads::{Division, Sheet},
    strips::{Pattern, Strip},
};
use weft::{
    ConstantQ, Curves, Hysteresis, Integrator, Material, Model, Settings, Simulation, Vec3,
    forces::{Bending, BendingLaw, Membrane, StrainHistory},
    mesh::Mesh,
};

/// Tension of a woven fabric: soft while the yarns straighten, and softer on the way back.
pub(crate) fn tension() -> Hysteresis {
    Hysteresis {
        load: vec![[0.0, 0.0], [0.02, 5.0], [0.04, 20.0], [0.06, 60.0]],
        unload: vec![[0.01, 0.0], [0.03, 4.0], [0.05, 25.0], [0.06, 60.0]],
        ..Hysteresis::default()
    }
}

/// Shear: friction between the yarns, and an upturn.
pub(crate) fn shear() -> Hysteresis {
    Hysteresis {
        load: vec![[-0.14, -6.0], [-0.1, -3.0], [0.0, 0.8], [0.1, 3.6], [0.14, 6.0]],
        unload: vec![[-0.14, -6.0], [-0.1, -3.6], [0.0, -0.8], [0.1, 3.0], [0.14, 6.0]],
        ..Hysteresis::default()
    }
}

/// Bending: friction, then linear. In N over 1/m.
pub(crate) fn bending() -> Hysteresis {
    Hysteresis {
        load: vec![[-250.0, -2.0e-3], [-200.0, -1.2e-3], [0.0, 3.0e-4], [250.0, 2.0e-3]],
        unload: vec![[-250.0, -2.0e-3], [0.0, -3.0e-4], [200.0, 1.2e-3], [250.0, 2.0e-3]],
        ..Hysteresis::default()
    }
}

pub(crate) const QUALITY: ConstantQ = ConstantQ { q: 5.0, low: 0.1, high: 10.0 };

pub(crate) fn fabric() -> Material {
    Material {
        stretch_warp: 4000.0,
        stretch_weft: 3600.0,
        shear: 300.0,
        poisson: 0.2,
        bend_warp: 2.0e-4,
        bend_weft: 2.0e-4,
        stretch_damping: 0.0,
        shear_damping: 0.0,
        bend_damping: 0.0,
        curves: Curves {
            stretch_warp: Some(tension()),
            stretch_weft: Some(tension()),
            shear: Some(shear()),
            bend_warp: Some(bending()),
            bend_weft: Some(bending()),
        },
        ..Material::default()
    }
    .checked()
    .unwrap()
}

/// Stress of a branch at a strain.
pub(crate) fn on(points: &[[f64; 2]], strain: f64) -> f64 {
    let after = points.partition_point(|point| point[0] < strain).clamp(1, points.len() - 1);
    let ([a, low], [b, high]) = (points[after - 1], points[after]);
    low + (high - low) / (b - a) * (strain - a)
}

/// Area between the branches of a curve that close at both ends.
pub(crate) fn enclosed([start, end]: [f64; 2], curve: &Hysteresis) -> f64 {
    let count = 100_000;
    let width = (end - start) / f64::from(count);
    let strain = |index: i32| start + (f64::from(index) + 0.5) * width;
    (0..count).map(|i| on(&curve.load, strain(i)) - on(&curve.unload, strain(i))).sum::<f64>()
        * width
}

/// A quasi-static test of one strain: `stress(strain)` makes a step to a strain and gives the stress there.
pub(crate) struct Cycle<'a> {
    pub(crate) curve: Hysteresis,
    pub(crate) stress: &'a mut dyn FnMut(f64) -> f64,
    pub(crate) steps: i32,
}

impl Cycle<'_> {
    /// Goes from one strain to another and gives the largest distance from a branch and the work.
    pub(crate) fn go(&mut self, [start, end]: [f64; 2], reversal: f64) -> [f64; 2] {
        let branch = if end > start { &self.curve.load } else { &self.curve.unload };
        let (mut error, mut work, mut last) = (0.0_f64, 0.0, None);
        for step in 0..=self.steps {
            let strain = start + (end - start) * f64::from(step) / f64::from(self.steps);
            let stress = (self.stress)(strain);
            if (strain - start).abs() > reversal {
                error = error.max((stress - on(branch, strain)).abs());
            }
            if let Some((before, stress_before)) = last {
                work += 0.5 * (stress + stress_before) * (strain - before);
            }
            last = Some((strain, stress));
        }
        [error, work]
    }
}

/// Forces on a membrane at the end of a slow step to a shape, which it remembers.
pub(crate) fn forces_of_step(membrane: &mut Membrane, shape: &[Vec3]) -> Vec<Vec3> {
    let mut forces = vec![Vec3::zeros(); shape.len()];
    membrane.begin_stage(0.01);
    let reference = vec![[0.0; 3]; membrane.triangle_count()];
    let history = StrainHistory { reference: &reference, inverse_beta: 0.0 };
    membrane.evaluate(shape, history, &mut forces);
    membrane.end_step(shape, 0.01);
    forces
}

/// Force along the end of a strip of 1 m stretched alike everywhere, over its width and the stretch.
#[test]
fn a_tension_cycle_follows_the_curve_and_encloses_its_area() {
    let strip = Strip::new(Pattern::Random, 1.0, [8, 3]);
    let mesh = Mesh::new(&strip.polygons(), &strip.points, None).unwrap();
    let material = Material { poisson: 0.0, ..fabric() };
    let mut membrane = Membrane::new(&mesh, &[material]);
    let mut stress = |strain: f64| {
        let stretch = (1.0 + 2.0 * strain).sqrt();
        let shape = strip.map(|point| Vec3::new(point.x * stretch, point.y, 0.0));
        let forces = forces_of_step(&mut membrane, &shape);
        -strip.end().map(|vertex| forces[vertex].x).sum::<f64>() / (strip.width * stretch)
    };
    let mut cycle = Cycle { curve: tension(), stress: &mut stress, steps: 600 };
    let [up_error, up] = cycle.go([0.0, 0.06], 0.0);
    let [down_error, down] = cycle.go([0.06, 0.01], 0.0);
    assert!(up_error < 1.0e-6 && down_error < 1.0e-6, "{up_error} {down_error}");
    let upper =
        enclosed([0.0, 0.06], &Hysteresis { unload: vec![[0.0, 0.0], [1.0, 0.0]], ..tension() });
    let lower = enclosed(
        [0.01, 0.06],
        &Hysteresis {
            load: tension().unload,
            unload: vec![[0.0, 0.0], [1.0, 0.0]],
            ..Hysteresis::default()
        },
    );
    assert!((up + down - (upper - lower)).abs() < 1.0e-3 * (upper - lower), "{up} {down}");
}

#[test]
fn a_shear_cycle_follows_the_curve_and_encloses_its_area() {
    let strip = Strip::new(Pattern::Random, 1.0, [6, 4]);
    let mesh = Mesh::new(&strip.polygons(), &strip.points, None).unwrap();
    let mut membrane = Membrane::new(&mesh, &[fabric()]);
    let mut stress = |strain: f64| {
        // Lengths along both yarns stay.
        let (sine, cosine) = strain.asin().sin_cos();
        let shape = strip.map(|p| Vec3::new(p.x + sine * p.y, cosine * p.y, 0.0));
        let forces = forces_of_step(&mut membrane, &shape);
        // The power of a small change of the strain.
        let rate = strip.map(|p| Vec3::new(p.y, -strain / cosine * p.y, 0.0));
        let power: f64 = forces.iter().zip(&rate).map(|(force, rate)| force.dot(rate)).sum();
        -power / (strip.length * strip.width)
    };
    let mut cycle = Cycle { curve: shear(), stress: &mut stress, steps: 800 };
    cycle.go([0.0, 0.14], 0.0);
    let reversal = 0.01;
    let [down_error, down] = cycle.go([0.14, -0.14], reversal);
    let [up_error, up] = cycle.go([-0.14, 0.14], reversal);
    assert!(up_error < 1.0e-6 && down_error < 1.0e-6, "{up_error} {down_error}");
    let area = enclosed([-0.14, 0.14], &shear());
    assert!((up + down - area).abs() < 1.0e-3 * area, "{} for {area}", up + down);
}

/// Rolled to a cylinder: half a cell at each end, where an edge is free, bends less than the rest.
#[test]
fn a_bending_cycle_follows_the_curve_and_encloses_its_area() {
    let cells = 120;
    let strip = Strip::new(Pattern::Alternating, 0.06, [cells, 3]);
    let mesh = Mesh::new(&strip.polygons(), &strip.points, None).unwrap();
    let material = Material { poisson: 0.0, ..fabric() };
    let law = BendingLaw::from(&material);
    let mut bending_force = Bending::new(&mesh, &[law], &vec![false; strip.points.len()]);
    bending_force.set_materials(&mesh, &[material]);
    let angles = vec![0.0; bending_force.hinge_count()];
    let rolled = |curvature: f64| {
        strip.map(|p| {
            let angle = curvature * p.x;
            let half = 0.5 * angle;
            let sinc = if angle == 0.0 { 1.0 } else { half.sin() / half };
            Vec3::new(p.x * sinc * half.cos(), p.y, p.x * sinc * half.sin())
        })
    };
    let mut moment = |curvature: f64| {
        let shape = rolled(curvature);
        let mut forces = vec![Vec3::zeros(); shape.len()];
        bending_force.begin_stage(0.01);
        let history = StrainHistory { reference: &angles, inverse_beta: 0.0 };
        bending_force.evaluate(&shape, history, &mut forces);
        bending_force.end_step(&shape, 0.01);
        let step = 1.0e-3;
        let (ahead, behind) = (rolled(curvature + step), rolled(curvature - step));
        let rate = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * step));
        let power: f64 = forces.iter().zip(rate).map(|(force, rate)| force.dot(&rate)).sum();
        -power / (strip.length * strip.width)
    };
    let mut cycle = Cycle { curve: bending(), stress: &mut moment, steps: 400 };
    cycle.go([0.0, 250.0], 0.0);
    let [down_error, down] = cycle.go([250.0, -250.0], 20.0);
    let [up_error, up] = cycle.go([-250.0, 250.0], 20.0);
    assert!(up_error < 2.0e-5 && down_error < 2.0e-5, "{up_error} {down_error}");
    let area = enclosed([-250.0, 250.0], &bending());
    assert!((up + down - area).abs() < 0.01 * area, "{} for {area}", up + down);
}

/// Forces after some random steps are the gradient of the potential, with curves and with memory.
#[test]
fn inelastic_forces_are_the_gradient_of_their_potential() {
    let strip = Strip::new(Pattern::Random, 0.3, [6, 4]);
    let mesh = Mesh::new(&strip.polygons(), &strip.points, None).unwrap();
    for quality in [None, Some(QUALITY)] {
        let material = Material { quality, bend_damping: 0.01, stretch_damping: 0.01, ..fabric() };
        let mut membrane = Membrane::new(&mesh, std::slice::from_ref(&material));
        let law = BendingLaw::from(&material);
        let mut bending = Bending::new(&mesh, &[law], &vec![false; strip.points.len()]);
        bending.set_materials(&mesh, &[material]);
        let mut noise = Noise::new(5);
        let count = strip.points.len();
        let mut shaken = |size: f64| -> Vec<Vec3> {
            strip.points.iter().zip(noise.vectors(count, size)).map(|(x, d)| x + d).collect()
        };
        for _ in 0..5 {
            let shape = shaken(1.0e-3);
            membrane.end_step(&shape, 0.01);
            bending.end_step(&shape, 0.01);
        }
        let (shape, past, direction) = (shaken(1.0e-3), shaken(1.0e-3), shaken(1.0));
        let mut strains = vec![[0.0; 3]; membrane.triangle_count()];
        membrane.strains(&past, &mut strains);
        let mut angles = vec![0.0; bending.hinge_count()];
        bending.angles(&past, &mut angles);
        membrane.begin_stage(0.02);
        bending.begin_stage(0.02);
        let mut evaluate = |with_membrane: bool, step: f64| {
            let moved: Vec<Vec3> =
                shape.iter().zip(&direction).map(|(x, d)| x + d * step).collect();
            let mut forces = vec![Vec3::zeros(); moved.len()];
            let potential = if with_membrane {
                let history = StrainHistory { reference: strains.as_slice(), inverse_beta: 50.0 };
                membrane.evaluate(&moved, history, &mut forces)
            } else {
                let history = StrainHistory { reference: angles.as_slice(), inverse_beta: 50.0 };
                bending.evaluate(&moved, history, &mut forces)
            };
            let slope: f64 = forces.iter().zip(&direction).map(|(f, d)| f.dot(d)).sum();
            (potential, slope, forces)
        };
        for with_membrane in [true, false] {
            let step = 1.0e-8;
            let [ahead, behind] = [step, -step].map(|step| evaluate(with_membrane, step).0);
            let (_, slope, forces) = evaluate(with_membrane, 0.0);
            let difference = (behind - ahead) / (2.0 * step);
            let error = (slope - difference).abs() / slope.abs();
            assert!(error < 1.0e-4, "{with_membrane}: {slope} {difference}");
            let (net, size) =
                (forces.iter().sum::<Vec3>().norm(), forces.iter().map(Vec3::norm).sum::<f64>());
            assert!(net < 1.0e-12 * size);
            let torque: Vec3 = shape.iter().zip(&forces).map(|(x, f)| x.cross(f)).sum();
            assert!(torque.norm() < 1.0e-12 * size, "{with_membrane}: {torque:?} of {size}");
        }
    }
}

/// A sheet stretched, sheared and bent at the start, in free flight.
fn shaken_sheet(material: Material, settings: Settings) -> Simulation {
    let strip = Strip::new(Pattern::Random, 0.3, [12, 8]);
    let start = strip.map(|p| {
        let bent = 0.05 * (12.0 * p.x).sin() + 0.02 * (20.0 * p.y).cos();
        Vec3::new(1.04 * p.x + 0.05 * p.y, 1.02 * p.y, bent)
    });
    let settings =
        Settings { gravity: Vec3::zeros(), air_density: 0.0, self_collision: false, ..settings };
    Simulation::new(&[strip.cloth(material, start, 0.0)], &[], settings).unwrap()
}

#[test]
fn a_sheet_in_free_flight_never_gains_energy() {
    let cases =
        [(Curves::NONE, Some(QUALITY)), (fabric().curves, None), (fabric().curves, Some(QUALITY))];
    for (curves, quality) in cases {
        // What BDF(2) dissipates is that of a norm over two steps, under which the energy ripples where steps are long:
        // where yarns buckle from one step to the next by 0.24 % at 5·10⁻⁵ s, and by a tenth of that at half the step.
        let runs = [
            (Integrator::ImplicitEuler, 1.0e-3, 1.0e-6),
            (Integrator::Bdf2, 1.0e-3, 1.0),
            (Integrator::Bdf2, 2.5e-5, 1.0e-3),
        ];
        for (integrator, step, ripple) in runs {
            let material = Material { curves: curves.clone(), quality, ..fabric() };
            let tolerance = 1.0e-6;
            let settings = Settings {
                integrator,
                time_step: step,
                tolerance,
                threads: 1,
                ..Settings::default()
            };
            let mut simulation = shaken_sheet(material, settings);
            let first = simulation.energy().total();
            let mut energy = first;
            for _ in 0..200 {
                simulation.step(step).unwrap();
                let now = simulation.energy().total();
                let most = first.min(energy + ripple * first);
                assert!(now <= most, "{integrator:?}, {step} s: {energy} {now} of {first}");
                energy = now;
            }
            assert!(energy < 0.9 * first, "{integrator:?}: {energy} of {first}");
        }
    }
}

/// Every cycle dissipates the fraction 2π/Q of the energy, at every frequency in the band.
#[test]
fn an_oscillator_loses_the_same_part_of_its_energy_in_every_cycle() {
    let quality = ConstantQ { q: 15.0, ..QUALITY };
    for static_frequency in [0.15, 0.5, 2.0, 7.0] {
        let mut oscillator =
            Oscillator::with_quality(Settings::default(), quality, static_frequency);
        let step = 1.0 / (400.0 * static_frequency);
        let (mut turns, mut last) = (Vec::new(), [0.0; 2]);
        for index in 0..4000 {
            oscillator.simulation.step(step).unwrap();
            let place = oscillator.displacement();
            if (last[1] - last[0]) * (place - last[1]) < 0.0 {
                turns.push((f64::from(index) * step, last[1]));
            }
            last = [last[1], place];
        }
        // From turn to turn, because slow internal variables shift the middle.
        let swing = |turn: usize| (turns[turn].1 - turns[turn + 1].1).abs();
        let found = std::f64::consts::PI / ((swing(4) / swing(14)).ln() / 5.0);
        let frequency = 5.0 / (turns[14].0 - turns[4].0);
        assert!((found / quality.q - 1.0).abs() < 0.1, "Q {found} at {frequency} Hz");
    }
}

#[test]
fn a_curve_without_hysteresis_dissipates_nothing() {
    let elastic = Hysteresis::elastic(vec![[-0.05, -40.0], [0.0, 0.0], [0.03, 6.0], [0.06, 60.0]]);
    let material = Material {
        poisson: 0.0,
        curves: Curves { stretch_warp: Some(elastic), ..Curves::NONE },
        ..fabric()
    };
    let strip = Strip::new(Pattern::Random, 1.0, [4, 2]);
    let mesh = Mesh::new(&strip.polygons(), &strip.points, None).unwrap();
    let mut membrane = Membrane::new(&mesh, &[material]);
    let mut noise = Noise::new(11);
    for _ in 0..20 {
        let strain = 0.05 * noise.next();
        let stretch = (1.0 + 2.0 * strain).sqrt();
        let shape = strip.map(|p| Vec3::new(p.x * stretch, p.y, 0.0));
        membrane.end_step(&shape, 0.01);
        let wanted: f64 = {
            let count = 20_000;
            let width = strain / f64::from(count);
            let points = [[-0.05, -40.0], [0.0, 0.0], [0.03, 6.0], [0.06, 60.0]];
            (0..count).map(|i| on(&points, (f64::from(i) + 0.5) * width)).sum::<f64>() * width
        };
        let stored = membrane.energy(&shape).stretch / (strip.length * strip.width);
        assert!((stored - wanted).abs() < 1.0e-6 * wanted.abs().max(0.01), "{stored} {wanted}");
    }
}

#[test]
fn a_checkpoint_remembers_what_the_material_does() {
    let strip = Strip::new(Pattern::Random, 0.3, [8, 6]);
    let material = Material { quality: Some(QUALITY), ..fabric() };
    let build = |threads: usize, material: Material| {
        let settings = Settings { threads, ..Settings::default() };
        let cloth = strip.cloth(material, strip.points.clone(), 0.0);
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        simulation.set_pins(0, &[0, 4], None).unwrap();
        simulation
    };
    let mut simulation = build(1, material.clone());
    for _ in 0..6 {
        simulation.advance(1.0 / 24.0).unwrap();
    }
    let kept = simulation.state().unwrap();
    simulation.set_pins(0, &[0, 5, 6, 12, 13], None).unwrap();
    let mut others = [build(2, material.clone()), build(1, Material::default())];
    for other in &mut others {
        other.restore(&kept).unwrap();
        other.set_pins(0, &[0, 5, 6, 12, 13], None).unwrap();
    }
    for _ in 0..4 {
        simulation.advance(1.0 / 24.0).unwrap();
        for other in &mut others {
            other.advance(1.0 / 24.0).unwrap();
            assert_eq!(simulation.positions(0).unwrap(), other.positions(0).unwrap());
        }
    }
}

/// A cloth that gets curves during the motion continues from its state.
#[test]
fn a_material_may_become_inelastic_on_the_way_and_elastic_again() {
    let mut simulation = shaken_sheet(Material::default(), calm());
    simulation.step(1.0e-3).unwrap();
    simulation.set_material(0, Material { quality: Some(QUALITY), ..fabric() }).unwrap();
    simulation.step(1.0e-3).unwrap();
    simulation.set_material(0, Material::default()).unwrap();
    let report = simulation.step(1.0e-3).unwrap();
    assert!(report.converged);
}

#[test]
fn what_is_no_curve_is_refused_by_its_point_and_models_without_curvature_by_name() {
    let with = |curve: Hysteresis| {
        Material { curves: Curves { shear: Some(curve), ..Curves::NONE }, ..fabric() }
            .checked()
            .unwrap_err()
            .to_string()
    };
    let falling = Hysteresis::elastic(vec![[0.0, 0.0], [0.1, 4.0], [0.2, 3.0]]);
    assert!(with(falling).contains("point 2"));
    let crossed =
        Hysteresis { load: shear().unload, unload: shear().load, ..Hysteresis::default() };
    assert!(with(crossed).contains("unload nowhere above load"));
    let short = Hysteresis::elastic(vec![[0.0, 0.0]]);
    assert!(with(short).contains("1 points"));
    let prestressed = Hysteresis::elastic(vec![[0.0, 1.0], [0.1, 3.0]]);
    assert!(with(prestressed).contains("0 between"));
    let weightless = Material {
        shear: 0.0,
        curves: Curves {
            shear: Some(Hysteresis::elastic(vec![[0.0, 0.0], [1.0, 0.0]])),
            ..Curves::NONE
        },
        ..Material::default()
    };
    assert!(weightless.checked().unwrap_err().to_string().contains("shear_curve: a modulus of 0"));
    let quality =
        Material { quality: Some(ConstantQ { q: 0.1, ..QUALITY }), ..Material::default() };
    assert!(quality.checked().unwrap_err().to_string().contains("quality.q"));

    let sheet = Sheet::new(Division::Regular, [0.3, 0.3], [4, 4]);
    let without_curvature = [
        Model::MassSpring,
        Model::MassSpring16,
        Model::ParticlesMembrane,
        Model::ParticlesProjected,
    ];
    for model in without_curvature {
        let scene = |material: Material| {
            let cloth = sheet.cloth(material, sheet.points.clone(), 0.0);
            Simulation::new(&[cloth], &[], Settings { model, ..Settings::default() })
        };
        let error = scene(fabric()).err().unwrap().to_string();
        for word in ["cloths[0].material", "bend_warp_curve", model.name(), "fem, particles"] {
            assert!(error.contains(word), "{error}");
        }
        let curves = Curves { bend_warp: None, bend_weft: None, ..fabric().curves };
        let mut simulation =
            scene(Material { curves, quality: Some(QUALITY), ..fabric() }).unwrap();
        assert!(simulation.set_material(0, fabric()).is_err());
    }
}
