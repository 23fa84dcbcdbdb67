// SPDX-License-Identifier: MIT OR Apache-2.0
use super::{ConstrainedSystem, Island};
use crate::{
    material::Material,
    mesh::Polygons,
    newton::{ForceBalance, Iterate, Objective, force_balances},
    response::StepStart,
    scene::{Cloth, Collider, Integrator, Report, Settings},
    time_integration::Stage,
    vec3::Vec3,
};

/// Positions of [`three_triangles`], in m.
pub(super) fn flat() -> Vec<Vec3> {
    Cloth::of_three_triangles(Material::default()).positions
}

/// A cloth of three triangles that nothing holds.
pub(super) fn three_triangles(settings: Settings) -> Island {
    let cloth = Cloth::of_three_triangles(Material::default());
    let settings = Settings { threads: 1, air_density: 0.0, ..settings };
    Island::new(&[cloth], &[], settings)
}

const FRAME: f64 = 1.0 / 24.0;

/// Corners of a level square with sides of a size at a height, in m.
pub(super) fn square(size: f64, height: f64) -> Vec<Vec3> {
    let corner = |x: f64, y: f64| Vec3::new(size * x, size * y, height);
    vec![corner(-0.5, -0.5), corner(0.5, -0.5), corner(0.5, 0.5), corner(-0.5, 0.5)]
}

/// Balance of a cloth that has lain on a floor for a number of frames and has then been lifted, in m.
fn balance_at_rest(frames: usize, lift: f64) -> ForceBalance {
    let polygons = Polygons::new(&[4], &[0, 1, 2, 3], 4).unwrap();
    let cotton = Material::preset("cotton").unwrap();
    let cloth = Cloth::new(square(0.2, 0.002), &polygons, cotton, None, None).unwrap();
    let sides = [[0, 1, 2], [0, 2, 3]];
    let floor = Collider::new(square(1.0, 0.0), &sides, 0.4, 0.001).unwrap();
    let integrator = Integrator::ImplicitEuler;
    let settings = Settings { integrator, tolerance: 1.0e-4, threads: 1, ..Settings::default() };
    let mut island = Island::new(&[cloth], &[floor], settings);
    for _ in 0..frames {
        island.run_frame(FRAME, false).unwrap();
        island.end_frame();
    }
    let Island { system: ConstrainedSystem { dynamics, response, .. }, state, .. } = &mut island;
    state.bring_to_rest();
    for position in &mut state.positions {
        position.z += lift;
    }
    let positions = state.positions.clone();
    let measures = dynamics.elements.measure(&positions);
    let buffers = [Vec::new(), Vec::new()];
    let stage = Stage::implicit_euler(state, measures, FRAME, buffers);
    // Contacts of resting cloth are detected where its weight would move it.
    let displaced: Vec<Vec3> = positions.iter().map(|x| x - Vec3::z() * 1.0e-5).collect();
    response.begin_step(StepStart {
        start_positions: &positions,
        predicted_positions: &displaced,
        is_pinned: &[false; 4],
        frame_fractions: [1.0, 1.0],
        duration: FRAME,
        vertex_compliances: Vec::new(),
    });
    response.detect_initial_contacts(&displaced);
    let mut residuals = vec![Vec3::zeros(); 4];
    dynamics.evaluate(&stage, &positions, &mut residuals, &mut Report::default());
    let stage = &stage;
    let objective = Objective {
        dynamics,
        response,
        stage,
        state,
        prescribed_displacements: &[],
        quadratic_model: None,
    };
    force_balances(Iterate { objective: &objective, positions: &positions }, &mut residuals)[0]
}

#[test]
fn the_forces_on_a_resting_cloth_balance() {
    let ForceBalance { net_residual, weight, inertia, contact_load } = balance_at_rest(24, 0.0);
    assert!((weight - 9.81 * FRAME * FRAME).abs() < 1e-12);
    assert!(net_residual < 0.01 * weight, "{net_residual} of {weight}");
    // Only the floor presses, with the whole weight.
    assert!((contact_load / weight - 0.5).abs() < 0.01, "{contact_load} of {weight}");
    assert!(inertia < 1e-12);
}

#[test]
fn a_force_along_an_active_constraint_is_balanced_before_it_is_solved_for() {
    let ForceBalance { net_residual, weight, contact_load, .. } = balance_at_rest(0, -1.0e-8);
    assert!(contact_load < 0.1 * weight, "{contact_load} of {weight}");
    assert!(net_residual < 0.01 * weight, "{net_residual} of {weight}");
}

#[test]
fn the_weight_of_an_unsupported_cloth_is_unbalanced() {
    let ForceBalance { net_residual, weight, contact_load, .. } = balance_at_rest(24, 0.1);
    assert!((net_residual / weight - 1.0).abs() < 1e-9 && contact_load == 0.0);
}
