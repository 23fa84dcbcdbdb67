// SPDX-License-Identifier: MIT OR Apache-2.0
use super::Simulation;
use crate::{
    Vec3,
    material::Material,
    mesh::Polygons,
    newton::{ForceBalance, Objective, force_balances},
    response::StepStart,
    scene::{Cloth, Collider, Integrator, Report, Settings},
    time_integration::Stage,
};

const FRAME: f64 = 1.0 / 24.0;

fn square(size: f64, height: f64) -> Vec<Vec3> {
    let corner = |x: f64, y: f64| Vec3::new(size * x, size * y, height);
    vec![corner(-0.5, -0.5), corner(0.5, -0.5), corner(0.5, 0.5), corner(-0.5, 0.5)]
}

/// A cloth that has lain on a floor for so many frames, and has then been put higher, in m.
fn balance_at_rest(frames: usize, lift: f64) -> ForceBalance {
    let polygons = Polygons::new(&[4], &[0, 1, 2, 3], 4).unwrap();
    let cotton = Material::preset("cotton").unwrap();
    let cloth = Cloth::new(square(0.2, 0.002), &polygons, cotton, None, None).unwrap();
    let sides = [[0, 1, 2], [0, 2, 3]];
    let floor = Collider::new(square(1.0, 0.0), &sides, 0.4, 0.001).unwrap();
    let integrator = Integrator::ImplicitEuler;
    let settings = Settings { integrator, tolerance: 1.0e-4, threads: 1, ..Settings::default() };
    let mut simulation = Simulation::new(&[cloth], &[floor], settings).unwrap();
    for _ in 0..frames {
        simulation.advance(FRAME).unwrap();
    }
    let Simulation { dynamics, response, state, .. } = &mut simulation;
    state.bring_to_rest();
    for position in &mut state.positions {
        position.z += lift;
    }
    let positions = state.positions.clone();
    let measures = dynamics.measure(&positions);
    let room = [Vec::new(), Vec::new()];
    let stage = Stage::implicit_euler(state, measures, FRAME, room);
    // What rests is found by where its weight leads it.
    let led: Vec<Vec3> = positions.iter().map(|x| x - Vec3::z() * 1.0e-5).collect();
    response.begin_step(&StepStart {
        start_positions: &positions,
        predicted_positions: &led,
        is_pinned: &[false; 4],
        frame_fractions: [1.0, 1.0],
        duration: FRAME,
    });
    response.detect_initial_contacts(&led);
    let mut residuals = vec![Vec3::zeros(); 4];
    dynamics.evaluate(&stage, &positions, &mut residuals, &mut Report::default());
    let stage = &stage;
    let problem = Objective {
        dynamics,
        response,
        stage,
        state,
        prescribed_displacements: &[],
        quadratic_model: None,
    };
    force_balances(&problem, &positions, &mut residuals)[0]
}

#[test]
fn a_floor_loses_nothing_of_what_it_bears() {
    let ForceBalance { net_residual: lost, weight, inertia, contact_load: squeeze } =
        balance_at_rest(24, 0.0);
    assert!((weight - 9.81 * FRAME * FRAME).abs() < 1e-12);
    assert!(lost < 0.01 * weight, "{lost} of {weight}");
    // One side presses, with all of the weight.
    assert!((squeeze / weight - 0.5).abs() < 0.01, "{squeeze} of {weight}");
    assert!(inertia < 1e-12);
}

#[test]
fn what_a_constraint_will_bear_is_not_lost_before_it_is_found() {
    let ForceBalance { net_residual: lost, weight, contact_load: squeeze, .. } =
        balance_at_rest(0, -1.0e-8);
    assert!(squeeze < 0.1 * weight, "{squeeze} of {weight}");
    assert!(lost < 0.01 * weight, "{lost} of {weight}");
}

#[test]
fn all_of_the_weight_is_lost_where_nothing_answers_it() {
    let ForceBalance { net_residual: lost, weight, contact_load: squeeze, .. } =
        balance_at_rest(24, 0.1);
    assert!((lost / weight - 1.0).abs() < 1e-9 && squeeze == 0.0);
}
