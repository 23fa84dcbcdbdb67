// SPDX-License-Identifier: MIT OR Apache-2.0
//! Curves and quality with every integrator and every solver.

use crate::{
    fixtures::{
        oscillator::Oscillator,
        scenes::{distance, hanging},
    },
    material::inelastic::{QUALITY, fabric},
};
use weft::{ConstantQ, Curves, Hysteresis, Integrator, Material, Settings, Solver};

const FRAME: f64 = 1.0 / 24.0;

/// All integrators with all their solvers.
fn combinations() -> Vec<(Integrator, Solver)> {
    let solvers = |integrator: Integrator| {
        if integrator.is_implicit() {
            vec![Solver::Newton, Solver::FixedPoint, Solver::Linearised]
        } else {
            vec![Solver::Newton]
        }
    };
    let all = Integrator::ALL.into_iter();
    all.flat_map(|one| solvers(one).into_iter().map(move |solver| (one, solver))).collect()
}

/// A soft fabric whose threads slip past each other, and that relaxes.
fn soft(quality: Option<ConstantQ>) -> Material {
    let slipping = Hysteresis {
        load: vec![[-0.1, -1.0], [0.0, 0.02], [0.1, 1.0], [0.2, 3.0]],
        unload: vec![[-0.1, -1.0], [0.0, -0.02], [0.1, 0.9], [0.2, 3.0]],
        ..Hysteresis::default()
    };
    Material {
        density: 0.2,
        stretch_warp: 30.0,
        stretch_weft: 30.0,
        shear: 25.0,
        poisson: 0.2,
        bend_warp: 1.0e-4,
        bend_weft: 2.0e-4,
        stretch_damping: 2.0e-3,
        shear_damping: 2.0e-3,
        bend_damping: 2.0e-3,
        curves: Curves { shear: Some(slipping), ..Curves::NONE },
        quality,
        ..Material::default()
    }
}

#[test]
fn all_integrators_and_solvers_find_the_same_motion_of_a_fabric_that_remembers() {
    let after = |integrator, solver, time_step| {
        let settings = Settings { integrator, solver, time_step, ..Settings::default() };
        let settings = Settings { tolerance: 1.0e-5, max_iterations: 300, ..settings };
        let mut simulation = hanging(settings, soft(Some(QUALITY)));
        for _ in 0..4 {
            let report = simulation.advance(FRAME).unwrap();
            assert!(report.converged, "{integrator:?}, {solver:?}: {report:?}");
        }
        simulation
    };
    let exact = after(Integrator::Bdf2, Solver::Newton, 1.0e-4);
    // What it remembers matters here.
    let fine = Settings { time_step: 1.0e-3, ..Settings::default() };
    let mut forgetful = hanging(fine, soft(None));
    for _ in 0..4 {
        forgetful.advance(FRAME).unwrap();
    }
    assert!(distance(&forgetful, &exact) > 0.01, "{}", distance(&forgetful, &exact));
    for (integrator, solver) in combinations() {
        let (time_step, allowed) = match integrator {
            Integrator::ImplicitEuler => (5.0e-4, 5.0e-3),
            Integrator::ImexEuler | Integrator::Euler => (5.0e-5, 6.0e-3),
            Integrator::Sbdf2 | Integrator::ImexMidpoint => (5.0e-4, 3.0e-3),
            _ => (5.0e-4, 1.0e-3),
        };
        let error = distance(&after(integrator, solver, time_step), &exact);
        assert!(error < allowed, "{integrator:?}, {solver:?}: {error} m");
    }
}

/// Memory is integrated exactly for strains that change evenly in a step.
#[test]
fn quality_costs_no_scheme_its_order() {
    let material = Material {
        stretch_warp: 2.0,
        stretch_weft: 1.5,
        shear: 0.5,
        quality: Some(QUALITY),
        curves: Curves::NONE,
        ..soft(None)
    };
    let duration = 0.2;
    for (integrator, order, steps) in [
        (Integrator::Bdf2, 2.0, 160),
        (Integrator::ImplicitMidpoint, 2.0, 160),
        (Integrator::ImplicitEuler, 1.0, 160),
        (Integrator::Sbdf2, 2.0, 1280),
        (Integrator::ImexMidpoint, 2.0, 1280),
        (Integrator::ImexEuler, 1.0, 1280),
        (Integrator::Euler, 1.0, 320),
        (Integrator::SymplecticEuler, 1.0, 320),
        (Integrator::Midpoint, 2.0, 160),
        (Integrator::Verlet, 2.0, 160),
        (Integrator::Rk4, 2.0, 80),
        (Integrator::Heun, 2.0, 160),
        (Integrator::MidpointCromer, 1.0, 320),
        (Integrator::HeunCromer, 1.0, 320),
        (Integrator::Rk4Cromer, 1.0, 320),
    ] {
        let shapes = [1, 2, 4].map(|refinement| {
            let settings = Settings { integrator, tolerance: 1.0e-9, ..Settings::default() };
            let mut simulation = hanging(settings, material.clone());
            for _ in 0..steps * refinement {
                let step = duration / f64::from(steps * refinement);
                assert!(simulation.step(step).unwrap().converged);
            }
            simulation
        });
        let [coarse, middle, fine] = &shapes;
        let found = (distance(coarse, middle) / distance(middle, fine)).log2();
        assert!((found - order).abs() < 0.2, "{integrator:?}: {found}");
    }
}

/// A fabric that gives way along soft branches reverses with its whole modulus, and suddenly with all that quality adds.
#[test]
fn the_bound_of_explicit_steps_is_that_of_the_steepest_branch() {
    let settings = || Settings { integrator: Integrator::Verlet, ..Settings::default() };
    let steps = |material: Material| {
        let mut simulation = hanging(settings(), material);
        (0..4).map(|_| simulation.advance(FRAME).unwrap().steps).collect::<Vec<_>>()
    };
    let curve = |modulus: f64| {
        Some(Hysteresis {
            load: vec![[-1.0, -0.9 * modulus], [0.0, 0.01], [1.0, 0.1 * modulus]],
            unload: vec![[-1.0, -0.9 * modulus], [0.0, -0.01], [1.0, 0.05 * modulus]],
            ..Hysteresis::default()
        })
    };
    let elastic = Material { curves: Curves::NONE, ..soft(None) };
    let curves = Curves {
        stretch_warp: curve(elastic.stretch_warp),
        stretch_weft: curve(elastic.stretch_weft),
        shear: curve(elastic.shear),
        ..Curves::NONE
    };
    let giving_way = Material { curves, ..elastic.clone() }.checked().unwrap();
    let relaxing = Material { quality: Some(ConstantQ { q: 2.0, ..QUALITY }), ..elastic.clone() };
    let [elastic, giving_way, relaxing] = [elastic, giving_way, relaxing].map(steps);
    for frame in 0..4 {
        assert!(20 * giving_way[frame] >= 19 * elastic[frame], "{giving_way:?} {elastic:?}");
        assert!(4 * relaxing[frame] >= 5 * elastic[frame], "{relaxing:?} {elastic:?}");
    }
}

/// Every cycle dissipates the fraction 2π/Q of the energy with every time scheme.
#[test]
fn quality_is_the_same_with_every_integrator_and_solver() {
    let quality = ConstantQ { q: 15.0, ..QUALITY };
    for (integrator, solver) in combinations() {
        let settings = Settings { integrator, solver, max_iterations: 300, ..Settings::default() };
        let mut oscillator = Oscillator::with_quality(settings, quality, 1.0);
        // First-order schemes damp by themselves.
        let step = match integrator {
            Integrator::ImplicitEuler
            | Integrator::ImexEuler
            | Integrator::Euler
            | Integrator::MidpointCromer
            | Integrator::HeunCromer
            | Integrator::Rk4Cromer => 1.0e-4,
            _ => 2.0e-3,
        };
        let (mut turns, mut last) = (Vec::new(), [0.0; 2]);
        while turns.len() < 9 {
            oscillator.simulation.step(step).unwrap();
            let place = oscillator.displacement();
            if (last[1] - last[0]) * (place - last[1]) < 0.0 {
                turns.push(last[1]);
            }
            last = [last[1], place];
        }
        let swing = |turn: usize| (turns[turn] - turns[turn + 1]).abs();
        let found = std::f64::consts::PI / ((swing(1) / swing(7)).ln() / 3.0);
        assert!((found / quality.q - 1.0).abs() < 0.1, "{integrator:?}, {solver:?}: Q {found}");
    }
}

/// The scheme takes forces from the state before the last, with what the fabric remembered there.
#[test]
fn a_checkpoint_holds_what_extrapolation_needs() {
    let settings = || Settings { integrator: Integrator::Sbdf2, ..Settings::default() };
    let mut simulation = hanging(settings(), soft(Some(QUALITY)));
    for _ in 0..3 {
        simulation.advance(FRAME).unwrap();
    }
    let mut other = hanging(settings(), soft(None));
    other.restore(&simulation.state().unwrap()).unwrap();
    for _ in 0..3 {
        simulation.advance(FRAME).unwrap();
        other.advance(FRAME).unwrap();
        assert_eq!(simulation.positions(0).unwrap(), other.positions(0).unwrap());
    }
}

/// A stiff woven fabric in steps of 1/96 s: no scheme blows up, and what it gives is energy that it had. Not so the
/// IMEX midpoint rule, which damps nothing and takes stresses from the start of a step: it gains energy.
#[test]
fn stiff_fabrics_with_curves_stay_in_one_piece_with_every_integrator_and_solver() {
    let damped = |(integrator, _): &(Integrator, Solver)| *integrator != Integrator::ImexMidpoint;
    for (integrator, solver) in combinations().into_iter().filter(damped) {
        let time_step = 1.0 / 96.0;
        let settings = Settings { integrator, solver, time_step, ..Settings::default() };
        // Without viscosity the step of schemes that feed oscillations would be far too short.
        let is_fed =
            matches!(integrator, Integrator::Euler | Integrator::Midpoint | Integrator::Heun);
        let time = if is_fed { 2.0e-5 } else { 0.0 };
        let material = Material {
            quality: Some(QUALITY),
            stretch_damping: time,
            shear_damping: time,
            bend_damping: time,
            ..fabric()
        };
        let mut simulation = hanging(settings, material);
        let start = simulation.energy().total();
        for _ in 0..6 {
            let report = simulation.advance(FRAME).unwrap();
            assert!(report.max_stretch < 0.3, "{integrator:?}, {solver:?}: {report:?}");
            assert!(report.converged, "{integrator:?}, {solver:?}: {report:?}");
        }
        let energy = simulation.energy().total();
        assert!(energy < start + 1.0e-3, "{integrator:?}, {solver:?}: {energy} of {start}");
    }
}
