// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::{
    forces::Springs,
    system::TangentMatrix,
    time_integration::{KinematicState, State},
};
use nalgebra::Rotation3;

const STEP: f64 = 0.01;

/// Positions of [`triangles`] at rest, in m.
fn flat() -> Vec<Vec3> {
    Cloth::of_three_triangles(Material::default()).positions
}

fn triangles(settings: &Settings, material: Material) -> EquationsOfMotion {
    EquationsOfMotion::new(&[Cloth::of_three_triangles(material)], settings)
}

/// Elastic fabric alone, without air.
fn bare() -> EquationsOfMotion {
    let material = Material {
        stretch_damping: 0.0,
        shear_damping: 0.0,
        bend_damping: 0.0,
        ..Material::default()
    };
    triangles(&Settings { air_density: 0.0, ..Settings::default() }, material)
}

/// With air, wind, drag, Rayleigh damping, a spring target and an external force.
fn loaded() -> EquationsOfMotion {
    let settings = Settings {
        stokes_drag: 0.02,
        mass_damping: 3.0,
        stiffness_damping: 0.01,
        wind: Vec3::new(1.0, -2.0, 0.5),
        ..Settings::default()
    };
    let mut dynamics = triangles(&settings, Material::preset("cotton").unwrap());
    dynamics.spring_targets = vec![None; 5];
    dynamics.spring_targets[3] =
        Some(SpringTarget { position: Vec3::new(0.1, 0.12, 0.03), stiffness: 40.0 });
    dynamics.external_forces.vertex_forces = vec![Vec3::new(0.01, 0.02, -0.03); 5];
    dynamics
}

/// Vectors without any symmetry.
fn noise(seed: f64, size: f64) -> Vec<Vec3> {
    let number = |index: usize| size * (seed + 12.9898 * index as f64).sin();
    (0..5).map(|v| Vec3::new(number(3 * v), number(3 * v + 1), number(3 * v + 2))).collect()
}

fn moved(positions: &[Vec3], direction: &[Vec3], size: f64) -> Vec<Vec3> {
    positions.iter().zip(direction).map(|(x, d)| x + d * size).collect()
}

fn dot(first: &[Vec3], second: &[Vec3]) -> f64 {
    first.iter().zip(second).map(|(a, b)| a.dot(b)).sum()
}

/// Potential in J and residuals in N.
fn evaluate(
    dynamics: &mut EquationsOfMotion,
    stage: &Stage,
    positions: &[Vec3],
) -> (f64, Vec<Vec3>) {
    let mut residuals = vec![Vec3::z(); positions.len()];
    let potential = dynamics.evaluate(stage, positions, &mut residuals, &mut Report::default());
    (potential, residuals)
}

/// Stage from a state, of implicit Euler, or of the midpoint rule, with what air forces expect.
fn stage(dynamics: &mut EquationsOfMotion, state: &State, is_midpoint: bool) -> Stage {
    let measures = dynamics.elements.measure(&state.positions);
    let buffers = [Vec::new(), Vec::new()];
    let stage = if is_midpoint {
        Stage::to_middle(state, measures, STEP, buffers)
    } else {
        Stage::implicit_euler(state, measures, STEP, buffers)
    };
    dynamics.external_forces.predict_stage(&stage, &state.positions, &state.velocities);
    stage
}

#[test]
fn residuals_are_the_gradient_of_the_potential_with_damping_air_and_spring_targets() {
    let mut dynamics = loaded();
    for is_midpoint in [false, true] {
        let state = State {
            velocities: noise(1.0, 0.5),
            ..State::at_rest(moved(&flat(), &noise(2.0, 1.0), 0.004))
        };
        let stage = stage(&mut dynamics, &state, is_midpoint);
        let end = moved(&state.positions, &noise(3.0, 1.0), 0.003);
        let (_, residuals) = evaluate(&mut dynamics, &stage, &end);
        for seed in 4..9 {
            let (direction, step) = (noise(f64::from(seed), 1.0), 1.0e-6);
            let [ahead, behind] = [step, -step]
                .map(|size| evaluate(&mut dynamics, &stage, &moved(&end, &direction, size)).0);
            let expected = (behind - ahead) / (2.0 * step);
            let found = dot(&residuals, &direction);
            let scale = dot(&residuals, &residuals).sqrt();
            assert!((found - expected).abs() < 1e-5 * scale, "{found}, not {expected}");
        }
    }
}

/// Under tension nothing is left out of the tangent, whose entries are single precision.
#[test]
fn the_tangent_is_the_derivative_of_the_residuals_of_flat_cloth_under_tension() {
    let mut dynamics = loaded();
    for is_midpoint in [false, true] {
        let state = State::at_rest(flat().iter().map(|x| x * 1.02).collect());
        let stage = stage(&mut dynamics, &state, is_midpoint);
        let (direction, step) = (noise(5.0, 1.0), 1.0e-7);
        let [ahead, behind] = [step, -step].map(|size| {
            evaluate(&mut dynamics, &stage, &moved(&state.positions, &direction, size)).1
        });
        let expected = moved(&behind, &ahead, -1.0);
        evaluate(&mut dynamics, &stage, &state.positions);
        let mut tangent = TangentMatrix::new(&dynamics);
        tangent.assemble(&mut dynamics, &stage);
        let mut rows = vec![[0.0; 4]; 5];
        tangent.ordering.gather(&direction, &mut rows);
        let mut image = rows.clone();
        tangent.matrix.times_and_dot(&rows, &mut image);
        let mut found = vec![Vec3::zeros(); 5];
        tangent.ordering.scatter_with(&image, &mut found, |_, force| force);
        let error = moved(&found, &expected, -0.5 / step);
        let relative = (dot(&error, &error) / dot(&found, &found)).sqrt();
        assert!(relative < 1e-4, "midpoint {is_midpoint}: {relative:e}");
    }
}

#[test]
fn the_net_residual_is_that_of_a_rigid_body() {
    let mut dynamics = loaded();
    dynamics.spring_targets.clear();
    dynamics.external_forces.air.set_density(0.0);
    let state = State { velocities: noise(1.0, 0.5), ..State::at_rest(flat()) };
    let stage = stage(&mut dynamics, &state, false);
    let end = moved(&flat(), &noise(3.0, 1.0), 0.003);
    let (_, residuals) = evaluate(&mut dynamics, &stage, &end);
    let net: Vec3 = residuals.iter().sum();
    let mut expected = Vec3::zeros();
    for (vertex, mass) in dynamics.masses.vertices.iter().enumerate() {
        let velocity = (end[vertex] - state.positions[vertex]) / STEP;
        let acceleration = (velocity - state.velocities[vertex]) / STEP;
        let force = dynamics.external_forces.vertex_forces[vertex];
        let drag = velocity * (0.02 + 3.0 * mass);
        expected += (Vec3::z() * -9.81 - acceleration) * *mass + force - drag;
    }
    assert!((net - expected).norm() < 1e-10 * expected.norm(), "{net}, not {expected}");
}

#[test]
fn cloth_that_is_turned_and_displaced_has_no_elastic_force() {
    let mut dynamics = bare();
    dynamics.external_forces.gravity = Vec3::zeros();
    let turn = Rotation3::from_euler_angles(0.7, -1.1, 2.3);
    let placed: Vec<Vec3> = flat().iter().map(|x| turn * x + Vec3::new(3.0, 2.0, 1.0)).collect();
    let still = KinematicState { velocities: vec![Vec3::zeros(); 5], positions: placed.clone() };
    let largest = |forces: Vec<Vec3>| forces.iter().map(Vec3::norm).fold(0.0, f64::max);
    assert!(largest(dynamics.forces(&still, 0.0)) < 1e-9);
    let stretched = placed.iter().map(|x| x * 1.01).collect();
    let still = KinematicState { positions: stretched, ..still };
    assert!(largest(dynamics.forces(&still, 0.0)) > 1e-3);
    assert!(dynamics.elements.energy(&placed).stretch < 1e-15);
}

/// Forces of explicit schemes have no inertia; all else they share with the residual of a stage.
#[test]
fn explicit_forces_are_the_residual_without_inertia() {
    let mut dynamics = loaded();
    let velocities = noise(1.0, 0.5);
    let positions = moved(&flat(), &noise(2.0, 1.0), 0.004);
    // A short stage that ends in this state with this velocity.
    let duration = 1.0e-6;
    let start = moved(&positions, &velocities, -duration);
    let state = State { velocities: velocities.clone(), ..State::at_rest(start.clone()) };
    let measures = dynamics.elements.measure(&start);
    let stage = Stage::implicit_euler(&state, measures, duration, [Vec::new(), Vec::new()]);
    dynamics.external_forces.predict_stage(&stage, &positions, &velocities);
    let (_, residuals) = evaluate(&mut dynamics, &stage, &positions);
    let mut forces =
        dynamics.forces(&KinematicState { positions: positions.clone(), velocities }, 0.0);
    dynamics.add_spring_target_forces(&positions, &mut forces);
    let error = moved(&residuals, &forces, -1.0);
    let relative = (dot(&error, &error) / dot(&forces, &forces)).sqrt();
    assert!(relative < 1e-4, "{relative:e}");
}

#[test]
fn masses_follow_the_material() {
    let mut dynamics = bare();
    let material = Material { density: 0.25, ..Material::default() };
    let revision = dynamics.elements.stiffness_revision;
    dynamics.set_material(0, material);
    // Two right triangles and one of 0.1 m times 0.09 m.
    let area = 0.01 + 0.5 * 0.1 * 0.09;
    let Masses { vertices, cloths, total, .. } = &dynamics.masses;
    assert!((total - 0.25 * area).abs() < 1e-12 && (cloths[0] - total).abs() < 1e-15);
    // A third of its triangle.
    assert!((vertices[0] - 0.25 * 0.005 / 3.0).abs() < 1e-12);
    assert_ne!(dynamics.elements.stiffness_revision, revision);
}

#[test]
fn the_energy_of_a_moving_cloth_is_that_of_its_mass() {
    let dynamics = loaded();
    let positions: Vec<Vec3> = flat().iter().map(|x| x + Vec3::z() * 2.0).collect();
    let energy = dynamics.energy(&positions, &[Vec3::new(0.0, 3.0, 4.0); 5]);
    let mass = dynamics.masses.total;
    assert!((energy.kinetic - 12.5 * mass).abs() < 1e-12);
    assert!((energy.gravity - 2.0 * 9.81 * mass).abs() < 1e-12);
    let stretch = (positions[3] - Vec3::new(0.1, 0.12, 0.03)).norm_squared();
    assert!((energy.pins - 20.0 * stretch).abs() < 1e-12);
}

#[test]
fn springs_couple_the_vertices_that_they_connect() {
    let mut dynamics = bare();
    let pair = [0, 4];
    assert!(!dynamics.coupled_pairs().contains(&pair));
    let [stiffness, compression, damping] = [100.0, 0.0, 0.0].map(|value| vec![value]);
    let springs = Springs { pairs: vec![pair], stiffness, compression, damping, lengths: None };
    dynamics.elements.set_springs(&dynamics.mesh, vec![Some(springs)]);
    assert!(dynamics.coupled_pairs().contains(&pair));
    let state = State::at_rest(flat());
    let measures = dynamics.elements.measure(&flat());
    let kinds = measures.len();
    let stage = Stage::implicit_euler(&state, measures, STEP, [Vec::new(), Vec::new()]);
    dynamics.external_forces.gravity = Vec3::zeros();
    let mut end = flat();
    end[4] += (flat()[4] - flat()[0]).normalize() * 1.0e-4;
    let (_, with) = evaluate(&mut dynamics, &stage, &end);
    dynamics.elements.set_springs(&dynamics.mesh, vec![None]);
    assert_eq!(dynamics.elements.measure(&end).len(), kinds - 1);
    let (_, without) = evaluate(&mut dynamics, &stage, &end);
    // 100 N/m times 0.1 mm, nearly along the unstretched spring.
    assert!(((with[0] - without[0]).norm() / 0.01 - 1.0).abs() < 1e-3, "{with:?} {without:?}");
    assert!((with[0] + with[4] - without[0] - without[4]).norm() < 1e-12);
}

#[test]
fn measures_of_the_present_state_become_those_of_the_previous_one() {
    let mut dynamics = bare();
    let elements = &mut dynamics.elements;
    let (first, second) = (flat(), moved(&flat(), &noise(1.0, 1.0), 0.01));
    let measured = elements.current_measures(&first);
    // Cached: the positions no longer matter.
    assert_eq!(elements.current_measures(&second), measured);
    elements.shift_cached_measures();
    assert_ne!(elements.current_measures(&second), measured);
    assert_eq!(elements.take_previous_measures(&second), measured);
    // Taken out: measured anew.
    assert_ne!(elements.take_previous_measures(&second), measured);
    dynamics.set_pinned(&[false; 5]);
    assert_eq!(dynamics.elements.current_measures(&first), measured);
}

#[test]
fn wind_seams_pressure_and_given_forces_are_external_loads() {
    let mut dynamics = bare();
    assert!(!dynamics.has_external_load());
    dynamics.external_forces.air.set_wind(Vec3::x());
    // Wind without air does nothing.
    assert!(!dynamics.has_external_load());
    dynamics.external_forces.air.set_density(1.2);
    assert!(dynamics.has_external_load());
    dynamics.external_forces.air.set_wind(Vec3::zeros());
    assert!(!dynamics.has_external_load());
    dynamics.external_forces.vertex_forces = vec![Vec3::zeros(); 5];
    assert!(!dynamics.has_external_load());
    dynamics.external_forces.vertex_forces[2].y = 1.0e-9;
    assert!(dynamics.has_external_load());
    assert!(!bare().is_viscous() && loaded().is_viscous());
}
