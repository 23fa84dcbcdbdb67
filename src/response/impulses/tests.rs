// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::{
    response::{
        CollisionResponse,
        tests::{LOWER, UPPER, at_heights, step_between},
    },
    time_integration::KinematicState,
};
use std::collections::BTreeMap;

/// Mass of every vertex, in kg.
const MASS: f64 = 0.001;

/// Step that ends with contacts detected at its end heights, in m.
fn impact(heights: [[f64; 2]; 2], friction: f64) -> (CollisionResponse, Vec<Vec3>) {
    let mut response = step_between(heights, friction);
    let positions = at_heights(heights[1]);
    for _ in 0..2 {
        let contacts = response.detect_contacts(&positions);
        response.accept_contacts(contacts);
    }
    (response, positions)
}

/// Contacts of a response with vertices of equal masses.
fn velocities_of(response: &CollisionResponse) -> ContactVelocities<'_, impl Fn(usize) -> f64> {
    let CollisionResponse { contact_set: contacts, step, .. } = response;
    ContactVelocities { contacts, step, inverse_masses: |_| 1.0 / MASS }
}

#[test]
fn cloths_that_collide_keep_their_momentum_and_do_not_approach() {
    let (response, positions) = impact([[0.05, 0.055], [0.05, 0.0515]], 0.0);
    assert_eq!(response.contact_set.detected.len(), 3);
    let mut velocities = vec![Vec3::zeros(); 6];
    velocities[UPPER].fill(Vec3::new(0.1, 0.0, -0.35));
    let before: Vec3 = velocities.iter().sum();
    let jumps = velocities_of(&response).apply_impacts(&positions, &mut velocities);
    assert_eq!(jumps.len(), 3);
    let after: Vec3 = velocities.iter().sum();
    assert!((after - before).norm() < 1e-12, "{before:?} became {after:?}");
    for contact in &response.contact_set.detected {
        let weights = response.step.cloth_weights(contact);
        let relative: Vec3 = weights.map(|(vertex, weight)| velocities[vertex] * weight).sum();
        // The sweeps have not quite converged, as contacts share vertices.
        assert!(relative.z.abs() < 0.035, "{relative:?}");
    }
    assert!(velocities[LOWER].iter().map(|velocity| velocity.z).sum::<f64>() < -0.1);
    assert!(velocities[UPPER].iter().all(|velocity| (velocity.x - 0.1).abs() < 1e-12));
}

#[test]
fn friction_of_an_impact_is_within_its_coulomb_bound() {
    for friction in [0.0, 0.2] {
        let (mut response, mut positions) = impact([[5.0e-3, 0.1], [1.9e-3, 0.1]], friction);
        // The contacts slip along x in the step.
        for position in &mut positions[LOWER] {
            position.x += 1.0e-2;
        }
        for contact in &mut response.contact_set.detected {
            contact.set_active_constraint(true, 1.0);
        }
        let mut velocities = vec![Vec3::zeros(); 6];
        velocities[LOWER].fill(Vec3::new(1.0, 0.0, -0.35));
        let jumps = velocities_of(&response).apply_impacts(&positions, &mut velocities);
        assert_eq!(jumps.len(), 3);
        for velocity in &velocities[LOWER] {
            assert!(velocity.z.abs() < 1e-12, "{velocity:?}");
            assert!((velocity.x - (1.0 - friction * 0.35)).abs() < 1e-9, "{velocity:?}");
        }
    }
}

#[test]
fn the_past_of_a_contact_becomes_uniform_and_momentum_is_kept() {
    let (response, positions) = impact([[0.05, 0.055], [0.05, 0.0515]], 0.0);
    let mut velocities = vec![Vec3::zeros(); 6];
    velocities[UPPER].fill(-0.35 * Vec3::z());
    let contact_velocities = velocities_of(&response);
    let mut jumps = contact_velocities.apply_impacts(&positions, &mut velocities);
    let deviation = |vertex: usize| MotionDeviation {
        position: positions[vertex] - velocities[vertex],
        velocity: velocities[vertex],
    };
    let vertices = contact_velocities.vertices_of_jumps(&jumps);
    let mut deviations: BTreeMap<usize, MotionDeviation> =
        vertices.map(|vertex| (vertex, deviation(vertex))).collect();
    assert_eq!(deviations.len(), 6);
    let sum = |deviations: &BTreeMap<usize, MotionDeviation>| -> [Vec3; 2] {
        let each = deviations.values();
        [each.clone().map(|one| one.position).sum(), each.map(|one| one.velocity).sum()]
    };
    let before = sum(&deviations);
    contact_velocities.make_past_uniform(&mut jumps, &mut deviations);
    for (after, before) in sum(&deviations).iter().zip(before) {
        assert!((after - before).norm() < 1e-12, "{before:?} became {after:?}");
    }
    let last = jumps.last().unwrap();
    let weights = response.step.cloth_weights(last.contact);
    let relative: Vec3 =
        weights.map(|(vertex, weight)| deviations[&vertex].velocity * weight).sum();
    assert!(relative.z.abs() < 1e-12, "{relative:?}");
}

/// Accelerations of the lower cloth by its weight and a drag along x, in m/s², with the reactions
/// of the collider 0.1 mm before they reach their distance.
fn with_reactions(drag: f64, velocity: f64) -> Vec<Vec3> {
    let heights = [1.9e-3, 0.1];
    let mut response = step_between([heights; 2], 0.5);
    let positions = at_heights(heights);
    response.detect_initial_contacts(&positions);
    let CollisionResponse { contact_set, step, .. } = &response;
    let mobility = |_| Matrix3::from_diagonal_element(1.0 / MASS);
    let mut reactions = ReactionConstraints::new(contact_set, step, 1.0e-4, mobility);
    let state = KinematicState { positions, velocities: vec![Vec3::z() * velocity; 6] };
    let mut accelerations = vec![Vec3::new(drag, 0.0, -9.81); 6];
    reactions.add_accelerations(&state, 0.0, &mut accelerations);
    assert_eq!(accelerations[UPPER], [Vec3::new(drag, 0.0, -9.81); 3]);
    accelerations[LOWER].to_vec()
}

#[test]
fn reactions_replace_the_acceleration_by_a_damped_return() {
    let tau = reaction::ReactionParameters::DEFAULT.stabilisation_time;
    for velocity in [0.0, -0.01] {
        let expected = 1.0e-4 / (tau * tau) - 2.0 * velocity / tau;
        for acceleration in with_reactions(0.0, velocity) {
            assert!((acceleration.z - expected).abs() < 1e-9, "{acceleration:?}");
        }
        // Friction holds the cloth up to the Coulomb bound, and brakes it beyond.
        let bound = 0.5 * (9.81 + expected);
        for (drag, left) in [(0.9 * bound, 0.0), (3.0 * bound, 2.0 * bound)] {
            for acceleration in with_reactions(drag, velocity) {
                assert!((acceleration.x - left).abs() < 1e-6 * bound, "{acceleration:?}");
            }
        }
    }
    // Cloth that separates is not pulled back.
    assert!(with_reactions(0.0, 0.5).iter().all(|one| (one.z + 9.81).abs() < 1e-9));
}
