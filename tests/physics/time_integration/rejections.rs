// SPDX-License-Identifier: MIT OR Apache-2.0
//! Criteria by which steps are rejected: each can be provoked, and the counts add up.

use crate::fixtures::scenes::{Ball, sheet};
use std::collections::BTreeMap;
use weft::{Material, Settings, Simulation, Solver, Vec3};

const FRAME: f64 = 1.0 / 24.0;

/// Rejected steps by reason.
type Reasons = BTreeMap<&'static str, usize>;

/// Rejected steps of some frames, each of which `drive` prepares.
fn reasons(
    simulation: &mut Simulation,
    frames: usize,
    mut drive: impl FnMut(&mut Simulation, usize),
) -> Reasons {
    let mut reasons = Reasons::new();
    for frame in 1..=frames {
        drive(simulation, frame);
        let report = simulation.advance(FRAME).unwrap();
        let total: usize = report.rejections().map(|(_, count)| count).sum();
        assert_eq!(total, report.rejected_steps);
        for (reason, count) in report.rejections() {
            *reasons.entry(reason).or_default() += count;
        }
    }
    reasons
}

fn cotton() -> Material {
    Material::preset("cotton").unwrap()
}

/// A sheet of n × n vertices that falls on a ball from a height in m above its centre.
fn falls_on_a_ball(n: usize, height: f64) -> Reasons {
    let ball = Ball::new(0.3, 16, 8).collider(Vec3::zeros());
    let settings = Settings { threads: 1, ..Settings::default() };
    let sheet = sheet(n, 0.6, height, cotton());
    let mut simulation = Simulation::new(&[sheet], &[ball], settings).unwrap();
    reasons(&mut simulation, 12, |_, _| ())
}

/// A free sheet with forces in N on one corner, pinned at the opposite one, for one frame.
fn pulled_at_a_corner(force: f64, settings: Settings) -> Reasons {
    let settings = Settings { threads: 1, ..settings };
    let mut simulation = Simulation::new(&[sheet(6, 1.0, 0.0, cotton())], &[], settings).unwrap();
    simulation.set_pins(0, &[35], None).unwrap();
    let mut forces = vec![Vec3::zeros(); 36];
    forces[0] = Vec3::z() * force;
    simulation.set_vertex_forces(0, &forces).unwrap();
    reasons(&mut simulation, 1, |_, _| ())
}

#[test]
fn few_iterations_leave_newton_steps_too_long() {
    let few = Settings { max_iterations: 1, tolerance: 1.0e-9, ..Settings::default() };
    let found = pulled_at_a_corner(1.0, few);
    assert!(found.keys().eq(&["newton_step"]), "{found:?}");
}

#[test]
fn newton_steps_in_contact_stagnate() {
    assert!(falls_on_a_ball(3, 0.305).contains_key("stagnation"));
}

#[test]
fn a_net_force_may_be_left_where_newton_steps_are_short() {
    let found = [0.313, 0.317, 0.321, 0.325, 0.329].map(|height| falls_on_a_ball(6, height));
    assert!(found.iter().any(|reasons| reasons.contains_key("force_balance")), "{found:?}");
}

#[test]
fn forces_beyond_single_precision_fail_in_the_linear_equations() {
    let found = pulled_at_a_corner(1.0e40, Settings::default());
    assert!(found.keys().eq(&["linear_solve"]), "{found:?}");
}

#[test]
fn short_updates_of_the_fixed_point_solver_may_leave_large_residual_forces() {
    let settings = Settings {
        solver: Solver::FixedPoint,
        max_iterations: 3,
        tolerance: 1.0e-3,
        threads: 1,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(&[sheet(6, 1.0, 0.0, cotton())], &[], settings).unwrap();
    simulation.set_pins(0, &[0, 5], None).unwrap();
    let found = reasons(&mut simulation, 4, |_, _| ());
    assert!(found.contains_key("force_residual"), "{found:?}");
}

/// What a ball does that rises by a speed in m/s through a sheet held at its corners.
fn rises_through_a_held_sheet(speed: f64) -> Reasons {
    let ball = Ball::new(0.3, 12, 6);
    let settings = Settings { threads: 1, ..Settings::default() };
    let cloth = sheet(3, 0.6, 0.4, cotton());
    let collider = ball.collider(Vec3::zeros());
    let mut simulation = Simulation::new(&[cloth], &[collider], settings).unwrap();
    simulation.set_pins(0, &[0, 2, 6, 8], None).unwrap();
    let rise = |simulation: &mut Simulation, frame: usize| {
        let centre = Vec3::z() * (speed * FRAME * frame as f64);
        simulation.set_collider(0, ball.around(centre)).unwrap();
    };
    reasons(&mut simulation, 4, rise)
}

/// Which steps get so far as to be judged by truncation changes with every detail of the solver, so that several speeds
/// are tried.
#[test]
fn a_ball_through_a_held_sheet_truncates_displacements() {
    let found = [5.0, 7.0, 10.0, 20.0, 30.0].map(rises_through_a_held_sheet);
    let is_truncated = |reasons: &Reasons| reasons.contains_key("truncated_displacement");
    assert!(found.iter().any(is_truncated), "{found:?}");
}
