// SPDX-License-Identifier: MIT OR Apache-2.0
//! Properties of all integrators and solvers: the same motion, steps that are stable, contacts that hold.

use crate::fixtures::scenes::{Ball, grid, ground, largest_distance, sheet, square, throw, vacuum};
use weft::{
    Cloth, Collider, Integrator, Material, Settings, Simulation, Solver, Vec3, forces::Sewing,
    mesh::Polygons,
};

const FRAME: f64 = 1.0 / 24.0;
const EXPLICIT: [Integrator; 9] = [
    Integrator::Euler,
    Integrator::SymplecticEuler,
    Integrator::Midpoint,
    Integrator::Verlet,
    Integrator::Rk4,
    Integrator::Heun,
    Integrator::MidpointCromer,
    Integrator::HeunCromer,
    Integrator::Rk4Cromer,
];

/// A soft sheet hung from two corners, which leaves no mode without damping.
fn hanging(settings: Settings) -> Simulation {
    let material = Material {
        stretch_warp: 20.0,
        stretch_weft: 20.0,
        shear: 8.0,
        stretch_damping: 5.0e-3,
        shear_damping: 5.0e-3,
        bend_damping: 5.0e-3,
        ..Material::default()
    };
    let mut simulation = Simulation::new(&[sheet(9, 0.4, 0.0, material)], &[], settings).unwrap();
    simulation.set_pins(0, &[0, 8], None).unwrap();
    simulation
}

fn shape_after(mut simulation: Simulation, frames: usize) -> Vec<Vec3> {
    for _ in 0..frames {
        let report = simulation.advance(FRAME).unwrap();
        assert!(report.converged, "{report:?}");
    }
    simulation.positions(0).unwrap().to_vec()
}

/// All of them come to the shape that Runge-Kutta finds with steps far shorter than it needs.
#[test]
fn all_integrators_and_solvers_find_the_same_motion() {
    let gravity = Vec3::new(0.0, 1.0, -9.81);
    let with = |integrator, solver, time_step| {
        let settings = Settings { integrator, solver, gravity, time_step, ..Settings::default() };
        hanging(Settings { tolerance: 1.0e-6, max_iterations: 300, threads: 1, ..settings })
    };
    let exact = shape_after(with(Integrator::Rk4, Solver::Newton, 5.0e-5), 4);
    for integrator in Integrator::ALL {
        let (time_step, allowed) = match integrator {
            Integrator::Bdf2 | Integrator::ImplicitMidpoint => (5.0e-4, 2.0e-4),
            Integrator::ImplicitEuler => (5.0e-4, 5.0e-3),
            Integrator::Sbdf2 | Integrator::ImexMidpoint => (5.0e-4, 2.0e-3),
            Integrator::ImexEuler => (5.0e-5, 5.0e-3),
            _ => (1.0e-3, 2.0e-3),
        };
        let solvers: &[Solver] = if integrator.is_implicit() {
            &[Solver::Newton, Solver::FixedPoint, Solver::Linearised]
        } else {
            &[Solver::Newton]
        };
        for solver in solvers {
            let found = shape_after(with(integrator, *solver, time_step), 4);
            let error = largest_distance(&found, &exact);
            assert!(error < allowed, "{integrator:?}, {solver:?}: {error} m");
        }
    }
}

#[test]
fn explicit_schemes_take_steps_that_are_stable_and_not_much_shorter() {
    for integrator in EXPLICIT {
        // Contacts would stop what blows up.
        let settings =
            Settings { integrator, threads: 1, self_collision: false, ..Settings::default() };
        let mut stable = hanging(settings.clone());
        let mut steps = 0;
        for _ in 0..24 {
            let report = stable.advance(FRAME).unwrap();
            assert!(report.max_stretch < 0.3, "{integrator:?}: {report:?}");
            steps += report.steps;
        }
        // Steps that are a few times as long blow up.
        let mut unstable = hanging(settings);
        let long = 5.0 / steps as f64;
        let blows_up =
            (0..400).any(|_| unstable.step(long).map_or(true, |report| report.max_stretch > 2.0));
        assert!(blows_up, "{integrator:?} is stable with steps of {long} s, too");
    }
}

#[test]
fn explicit_schemes_refuse_what_takes_too_many_steps_by_name() {
    let material = Material { stretch_damping: 0.0, shear_damping: 0.0, ..Material::default() };
    for (integrator, stiffness) in [(Integrator::Euler, 1.0e3), (Integrator::Verlet, 1.0e9)] {
        let material = Material { stretch_warp: stiffness, ..material.clone() };
        let settings = Settings { integrator, ..Settings::default() };
        let mut simulation =
            Simulation::new(&[sheet(9, 0.4, 0.0, material)], &[], settings).unwrap();
        let text = simulation.advance(FRAME).unwrap_err().to_string();
        for word in ["integrator", integrator.name(), "a film frame", "an implicit integrator"] {
            assert!(text.contains(word), "{text}");
        }
        // One step of any length is still for the asking.
        simulation.step(1.0e-8).unwrap();
    }
}

/// A soft strip that is suddenly pulled to 1.6 times its length: one linearised step would change its stretch by more
/// than a quarter, and is given up for shorter ones; the whole equations are solved in one.
#[test]
fn a_linearised_step_that_changes_the_stretch_drastically_is_given_up() {
    let pulled = |solver: Solver, force: f64| {
        let settings = Settings {
            integrator: Integrator::ImplicitEuler,
            solver,
            time_step: 0.2,
            gravity: Vec3::zeros(),
            air_density: 0.0,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(&[sheet(5, 0.4, 0.0, soft())], &[], settings).unwrap();
        let side: Vec<usize> = (0..25).step_by(5).collect();
        simulation.set_pins(0, &side, None).unwrap();
        let mut forces = vec![Vec3::zeros(); 25];
        for vertex in side {
            forces[vertex + 4] = Vec3::x() * (force / 5.0);
        }
        simulation.set_vertex_forces(0, &forces).unwrap();
        simulation.advance(0.2).unwrap()
    };
    for (solver, force, is_given_up) in [
        (Solver::Linearised, 12.0, true),
        (Solver::Newton, 12.0, false),
        (Solver::Linearised, 1.0, false),
    ] {
        let report = pulled(solver, force);
        assert!(report.converged, "{solver:?}, {force} N: {report:?}");
        assert_eq!(report.rejected_steps > 0, is_given_up, "{solver:?}, {force} N: {report:?}");
        let reasons: Vec<&str> = report.rejections().map(|(reason, _)| reason).collect();
        assert_eq!(reasons, if is_given_up { vec!["stretch_change"] } else { Vec::new() });
        assert_eq!(report.steps > 1, is_given_up, "{solver:?}, {force} N: {report:?}");
    }
}

/// A ball's worth of speed against a moving plate: nothing goes through, whatever the scheme.
#[test]
fn contacts_hold_with_every_integrator() {
    for integrator in Integrator::ALL {
        let plate = |height: f64| {
            square(0.6).into_iter().map(|corner| corner + Vec3::z() * height).collect::<Vec<Vec3>>()
        };
        let settings = Settings { integrator, threads: 1, ..Settings::default() };
        let moving = Collider::new(plate(-0.1), &[[0, 1, 2], [0, 2, 3]], 0.4, 0.001).unwrap();
        let cloth = sheet(9, 0.4, 0.0, soft());
        let mut simulation = Simulation::new(&[cloth], &[moving], settings).unwrap();
        for frame in 1..=4 {
            // Up at 5 m/s.
            let height = -0.1 + 5.0 * FRAME * f64::from(frame);
            simulation.set_collider(0, plate(height)).unwrap();
            let report = simulation.advance(FRAME).unwrap();
            assert_eq!(report.unresolved_contacts, 0, "{integrator:?}: {report:?}");
            for x in simulation.positions(0).unwrap() {
                assert!(x.z > height, "{integrator:?}, frame {frame}: {} m through", height - x.z);
            }
        }
    }
}

fn soft() -> Material {
    Material { stretch_warp: 50.0, stretch_weft: 50.0, shear: 20.0, ..Material::default() }
}

/// Two sheets on a ball: contacts join vertices that no element joins.
#[test]
fn layers_of_cloth_hold_with_every_integrator() {
    let combinations = Integrator::ALL.map(|integrator| (integrator, Solver::Newton));
    let linearised = [(Integrator::ImplicitEuler, Solver::Linearised)];
    for (integrator, solver) in combinations.into_iter().chain(linearised) {
        let settings = Settings { integrator, solver, threads: 1, ..Settings::default() };
        let cloths = [0.0, 0.01].map(|height| sheet(9, 0.4, height, soft()));
        let ball = Ball::new(0.12, 12, 8).collider(Vec3::z() * -0.13);
        let mut simulation = Simulation::new(&cloths, &[ball], settings).unwrap();
        for frame in 0..4 {
            let report = simulation.advance(FRAME).unwrap();
            let name = format!("{integrator:?}, {solver:?}, frame {frame}: {report:?}");
            assert!(report.converged && report.unresolved_contacts == 0, "{name}");
            assert!(report.max_stretch < 0.2, "{name}");
        }
    }
}

/// A sheet dropped flat and askew on a floor.
fn dropped(integrator: Integrator, solver: Solver, threads: usize) -> Simulation {
    let settings = Settings { integrator, solver, threads, ..Settings::default() };
    let cloth: Cloth = sheet(9, 0.4, 0.03, soft());
    let mut simulation = Simulation::new(&[cloth], &[ground(square(4.0), 0.4)], settings).unwrap();
    let push = vec![Vec3::new(0.0, 0.0, -1.0e-3); 3];
    let mut forces = vec![Vec3::zeros(); 81];
    forces[..3].copy_from_slice(&push);
    simulation.set_vertex_forces(0, &forces).unwrap();
    simulation
}

#[test]
fn no_sheet_that_falls_on_a_floor_ever_gains_energy() {
    for integrator in Integrator::ALL {
        let mut simulation = dropped(integrator, Solver::Newton, 1);
        simulation.set_vertex_forces(0, &[Vec3::zeros(); 81]).unwrap();
        let start = simulation.energy().total();
        for frame in 0..10 {
            simulation.advance(FRAME).unwrap();
            let energy = simulation.energy().total();
            // As much as the tolerance, 0.02, lets through in free flight.
            assert!(energy < start * 1.02, "{integrator:?}, frame {frame}: {energy} of {start} J");
        }
        let fastest = simulation.velocities(0).unwrap().iter().map(Vec3::norm).fold(0.0, f64::max);
        assert!(fastest < 0.05, "{integrator:?}: still {fastest} m/s");
    }
}

/// The midpoint rule damps nothing, and forces from the past overshoot where cloth is stretched: step by step either made
/// thousands of joules of a tenth of one.
#[test]
fn no_scheme_multiplies_the_energy_of_stiff_cloth_that_falls_on_a_ball() {
    let stiff = Material { stretch_warp: 1.0e5, stretch_weft: 1.0e5, ..Material::default() };
    for integrator in [
        Integrator::ImplicitMidpoint,
        Integrator::ImexEuler,
        Integrator::Sbdf2,
        Integrator::ImexMidpoint,
    ] {
        let mut settings = Settings { integrator, threads: 1, ..Settings::default() };
        if integrator == Integrator::Sbdf2 {
            // In steps of 1/48 s it makes a tenth of a joule, however closely they are solved.
            settings.time_step = 1.0 / 24.0;
        }
        let cloth = sheet(14, 0.5, 0.3, stiff.clone());
        let ball = Ball::new(0.15, 16, 8).collider(Vec3::new(0.05, 0.02, 0.0));
        let mut simulation = Simulation::new(&[cloth], &[ball], settings).unwrap();
        let start = simulation.energy().total();
        for frame in 0..30 {
            let report = simulation.advance(FRAME).unwrap();
            let grown = simulation.energy().total() - start;
            assert!(grown < 0.01, "{integrator:?}, frame {frame}: {grown} J from nothing");
            assert!(report.max_stretch < 0.3, "{integrator:?}, frame {frame}: {report:?}");
        }
    }
}

#[test]
fn no_bit_depends_on_threads_or_on_a_checkpoint() {
    let combinations = [
        (Integrator::ImplicitMidpoint, Solver::Newton),
        (Integrator::Bdf2, Solver::FixedPoint),
        (Integrator::ImplicitEuler, Solver::Linearised),
        (Integrator::Sbdf2, Solver::Newton),
        (Integrator::ImexEuler, Solver::Newton),
        (Integrator::ImexMidpoint, Solver::Newton),
        (Integrator::Rk4, Solver::Newton),
        (Integrator::Verlet, Solver::Newton),
    ];
    for (integrator, solver) in combinations {
        let mut one = dropped(integrator, solver, 1);
        let mut eight = dropped(integrator, solver, 8);
        for _ in 0..2 {
            one.advance(FRAME).unwrap();
            eight.advance(FRAME).unwrap();
        }
        assert_eq!(one.positions(0).unwrap(), eight.positions(0).unwrap(), "{integrator:?}");
        let state = one.state().unwrap();
        one.advance(FRAME).unwrap();
        let mut other = dropped(integrator, solver, 1);
        other.restore(&state).unwrap();
        other.advance(FRAME).unwrap();
        assert_eq!(one.positions(0).unwrap(), other.positions(0).unwrap(), "{integrator:?}");
        assert_eq!(one.velocities(0).unwrap(), other.velocities(0).unwrap(), "{integrator:?}");
    }
}

/// Two soft panels that are sewn along one side, with a gap between them.
fn sewn(integrator: Integrator, solver: Solver) -> Simulation {
    const SIDE: usize = 5;
    let settings = Settings { integrator, solver, threads: 1, ..Settings::default() };
    let (flat, _) = grid(SIDE, SIDE, [0.2; 2]);
    let panel = |x: f64| flat.iter().map(move |point| point + Vec3::x() * x);
    let positions: Vec<Vec3> = panel(0.0).chain(panel(0.25)).collect();
    let cells = |first: usize| {
        let starts = (0..SIDE * (SIDE - 1)).filter(|vertex| vertex % SIDE < SIDE - 1);
        starts.flat_map(move |v| [v, v + 1, v + SIDE + 1, v + SIDE].map(|corner| corner + first))
    };
    let corners: Vec<usize> = cells(0).chain(cells(SIDE * SIDE)).collect();
    let counts = vec![4; corners.len() / 4];
    let polygons = Polygons::new(&counts, &corners, positions.len()).unwrap();
    let row = |row: usize| (row * SIDE) as u32;
    let first = (SIDE * SIDE) as u32;
    let pairs = (0..SIDE).map(|k| [row(k) + SIDE as u32 - 1, row(k) + first]).collect();
    let sewing = Sewing { pairs, time: 0.8, force: None };
    let material = Material { stretch_damping: 1.0e-3, ..soft() };
    let cloth = Cloth::new(positions, &polygons, material, None, None).unwrap();
    let cloth = cloth.with_sewing(sewing).unwrap();
    let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
    simulation.set_pins(0, &[0, SIDE - 1], None).unwrap();
    simulation
}

/// Seams become stiffer as they close, and how long explicit steps may be depends on how far ahead that is looked at.
#[test]
fn seams_that_close_go_on_from_a_checkpoint_with_every_integrator() {
    let combinations = Integrator::ALL.map(|integrator| (integrator, Solver::Newton));
    let others =
        [(Integrator::Bdf2, Solver::FixedPoint), (Integrator::ImplicitEuler, Solver::Linearised)];
    for (integrator, solver) in combinations.into_iter().chain(others) {
        let mut one = sewn(integrator, solver);
        for _ in 0..4 {
            one.advance(FRAME).unwrap();
        }
        let mut other = sewn(integrator, solver);
        other.restore(&one.state().unwrap()).unwrap();
        let [first, second] = [&mut one, &mut other].map(|scene| scene.advance(FRAME).unwrap());
        assert_eq!(first.steps, second.steps, "{integrator:?} {solver:?}");
        assert_eq!(one.positions(0).unwrap(), other.positions(0).unwrap(), "{integrator:?}");
        assert_eq!(one.velocities(0).unwrap(), other.velocities(0).unwrap(), "{integrator:?}");
    }
}

/// Contacts of before are kept for whoever restores them next, even where nothing can meet.
#[test]
fn contacts_come_through_a_simulation_in_which_nothing_can_meet() {
    let scene = |self_collision: bool| {
        let settings = Settings { self_collision, threads: 1, ..Settings::default() };
        let cloths = [0.0, 0.005].map(|height| sheet(9, 0.4, height, soft()));
        let mut simulation = Simulation::new(&cloths, &[], settings).unwrap();
        let all: Vec<usize> = (0..81).collect();
        simulation.set_pins(0, &all, None).unwrap();
        simulation
    };
    let mut meeting = scene(true);
    let touches = |simulation: &mut Simulation| simulation.advance(FRAME).unwrap().contacts > 0;
    assert!((0..10).any(|_| touches(&mut meeting)));
    let state = meeting.state().unwrap();
    let mut alone = scene(false);
    alone.restore(&state).unwrap();
    assert_eq!(alone.state().unwrap(), state);
    alone.advance(FRAME).unwrap();
}

/// The scheme conserves quadratic invariants exactly; the energy of a stretched sheet is none.
#[test]
fn the_implicit_midpoint_rule_lets_no_energy_drift() {
    let material =
        Material { stretch_damping: 0.0, shear_damping: 0.0, bend_damping: 0.0, ..soft() };
    let settings = Settings { integrator: Integrator::ImplicitMidpoint, ..vacuum() };
    let mut simulation = Simulation::new(&[sheet(7, 0.4, 0.0, material)], &[], settings).unwrap();
    let spin = Vec3::new(0.5, -1.0, 2.0);
    throw(&mut simulation, |x| spin.cross(x) + Vec3::z() * (0.3 * x.x.abs()));
    let start = simulation.energy().total();
    for _ in 0..400 {
        assert!(simulation.step(2.0e-3).unwrap().converged);
    }
    let kept = simulation.energy().total() / start;
    assert!((kept - 1.0).abs() < 0.01, "{kept}");
}
