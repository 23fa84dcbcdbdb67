// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::{
    collision::{LinearisedContact, PairKind, PrimitivePair},
    linear_solver::{Filter, Ordering},
    response::tests::{THICKNESS, at_heights, step_between},
};
use nalgebra::Matrix3;

/// Cloth vertices of these contact sets; those behind are of colliders.
const CLOTH: u32 = 6;

/// Contact of a vertex with a triangle of other vertices, at a gap in m along a normal.
fn contact(features: [u32; 2], corners: [u32; 3], normal: Vec3, gap: f64) -> Contact {
    let [a, b, c] = corners;
    let pair = PrimitivePair::new(PairKind::VertexFace, features, [features[0], a, b, c]);
    let weights = [1.0, -0.5, -0.25, -0.25];
    let linearised = LinearisedContact { weights, normal, gap, has_penetrated: false };
    Contact::new(pair, linearised, THICKNESS, 0.01)
}

/// Contact of vertex 0 with a triangle of a collider.
fn on_collider(triangle: u32, normal: Vec3, gap: f64) -> Contact {
    contact([0, triangle], [6, 7, 8], normal, gap)
}

/// Which of some contacts become active constraints.
fn chosen(mut contacts: Vec<Contact>) -> Vec<bool> {
    choose_active_set(&mut contacts, |vertex| vertex < CLOTH);
    contacts.iter().map(Contact::is_active_constraint).collect()
}

#[test]
fn the_contact_that_presses_most_is_the_constraint_of_its_vertex() {
    let contacts = [1.5e-3, 0.5e-3, 1.0e-3].map(|gap| on_collider(0, Vec3::z(), gap));
    assert_eq!(chosen(contacts.to_vec()), [false, true, false]);
    // One that is active already stays so.
    let [mut active, deeper, _] = contacts;
    active.set_active_constraint(true, 0.0);
    assert_eq!(chosen(vec![active, deeper]), [true, false]);
}

#[test]
fn contacts_of_cloth_stiffened_and_opposing_contacts_are_no_constraints() {
    let on_cloth = contact([0, 1], [3, 4, 5], Vec3::z(), 0.5e-3);
    let of_collider_vertex = contact([6, 0], [0, 1, 2], Vec3::z(), 0.5e-3);
    let mut stiffened = on_collider(2, Vec3::z(), 0.5e-3);
    stiffened.pair.stiffening_count = 1;
    assert_eq!(chosen(vec![on_cloth, stiffened, of_collider_vertex]), [false; 3]);
    let [below, above] = [Vec3::z(), -Vec3::z()].map(|normal| on_collider(2, normal, 0.5e-3));
    assert_eq!(chosen(vec![below, above]), [false; 2]);
    assert_eq!(chosen(vec![below]), [true]);
}

/// A contact set of one constraint, on a floor that rises to 1 mm under vertex 0 at 2.5 mm.
fn constrained(force: f64) -> (ContactSet, Vec<Vec3>) {
    let mut positions = at_heights([2.5e-3, 1.0]);
    positions.extend(vec![Vec3::z() * 1.0e-3; 3]);
    let mut contacts = ContactSet::empty();
    let mut contact = on_collider(0, Vec3::z(), 1.5e-3);
    contact.set_active_constraint(true, force);
    contacts.accept(vec![contact]);
    (contacts, positions)
}

#[test]
fn a_constraint_leads_to_the_target_distance_unless_it_pulls() {
    let violations = |force: f64| -> Vec<f64> {
        let (contacts, ends) = constrained(force);
        let at = ContactPositions { cloths: &ends[..6], colliders: &ends };
        contacts.active_constraints(at).map(|constraint| constraint.violation).collect()
    };
    let pressing = violations(1.0);
    assert_eq!(pressing.len(), 1);
    assert!((pressing[0] - 0.5e-3).abs() < 1e-15, "{pressing:?}");
    assert!(violations(-1.0).is_empty());
}

/// Vectors of ones, filtered by the constraint of vertex 0 along z and by vertices with projectors.
fn filtered(prescribed: &[(usize, Matrix3<f64>)]) -> (Vec<[f32; 4]>, bool) {
    let (contacts, ends) = constrained(1.0);
    let at = ContactPositions { cloths: &ends[..6], colliders: &ends };
    let ordering = Ordering::new(6, &[[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]]);
    let (mut active_set, mut filter) = (ActiveSet::default(), Filter::new(6));
    let prescribed = prescribed
        .iter()
        .map(|(vertex, projector)| PrescribedVertex { vertex: *vertex, projector: *projector });
    active_set.set(prescribed, contacts.active_constraints(at), &ordering, &mut filter);
    let mut vector = vec![[1.0, 1.0, 1.0, 0.0]; 6];
    filter.apply(&mut vector);
    let by_vertex = (0..6).map(|vertex| vector[ordering.row(vertex)]).collect();
    (by_vertex, active_set.prescribed.is_any())
}

#[test]
fn constraints_and_prescribed_motion_are_eliminated() {
    let free = [1.0, 1.0, 1.0, 0.0];
    let (vectors, is_any) = filtered(&[]);
    assert_eq!(vectors, [[1.0, 1.0, 0.0, 0.0], free, free, free, free, free]);
    assert!(is_any);
    // A guided vertex keeps the directions that both leave, a pinned one none.
    let along_x = Matrix3::identity() - Vec3::x() * Vec3::x().transpose();
    let (vectors, is_any) = filtered(&[(0, along_x), (4, Matrix3::zeros())]);
    assert_eq!(vectors, [[0.0, 1.0, 0.0, 0.0], free, free, free, [0.0; 4], free]);
    assert!(is_any);
    // The vertex of the constraint does not move along its normal anyway.
    let (vectors, is_any) = filtered(&[(0, Matrix3::zeros())]);
    assert_eq!(vectors[..1], [[0.0; 4]]);
    assert!(!is_any);
}

/// Detected contacts of three triangles that press on each other and slip, with a recovery contact.
fn pressed(friction: f64) -> (ContactSet, [Vec<Vec3>; 2]) {
    let mut response = step_between([[3.0e-3, 6.0e-3], [1.6e-3, 3.2e-3]], friction);
    let mut positions = at_heights([1.6e-3, 3.2e-3]);
    for (vertex, position) in positions.iter_mut().enumerate() {
        *position += Vec3::new(2.0, -1.0, 0.5) * (1.0e-5 * vertex as f64);
    }
    for _ in 0..2 {
        let contacts = response.detect_contacts(&positions);
        response.accept_contacts(contacts);
    }
    let mut recovery = contact([4, 0], [0, 1, 2], Vec3::new(0.6, 0.0, 0.8), 0.0);
    recovery.set_compression(0.5);
    response.contact_set.edge_recovery.push(recovery);
    (response.contact_set.clone(), [positions, response.step.end_positions])
}

#[test]
fn contact_forces_are_the_negative_gradient_of_the_potential() {
    for friction in [0.0, 0.5] {
        let (contacts, [mut positions, colliders]) = pressed(friction);
        let is_constraint = |one: &Contact| one.is_active_constraint();
        assert_eq!(contacts.detected.iter().filter(|one| is_constraint(one)).count(), 3);
        assert!(!contacts.detected.iter().all(is_constraint));
        let mut forces = [Vec3::zeros(); 6];
        let at = ContactPositions { cloths: &positions, colliders: &colliders };
        for (contact, force) in contacts.all().zip(contacts.forces(at)) {
            for (vertex, weight) in contact.pair.vertices.iter().zip(contact.linearised.weights) {
                if *vertex < CLOTH {
                    forces[*vertex as usize] += force.force * weight;
                }
            }
        }
        let scale = forces.iter().map(Vec3::norm).fold(0.0, f64::max);
        assert!(scale > 0.1, "{scale} N");
        let offset = 1.0e-8;
        for (vertex, force) in forces.iter().enumerate() {
            for axis in 0..3 {
                let mut potential = |offset: f64| {
                    positions[vertex][axis] += offset;
                    let at = ContactPositions { cloths: &positions, colliders: &colliders };
                    let potential = contacts.potential(at);
                    positions[vertex][axis] -= offset;
                    potential
                };
                let slope = (potential(offset) - potential(-offset)) / (2.0 * offset);
                let error = (slope + force[axis]).abs();
                assert!(error < 1.0e-5 * scale, "vertex {vertex}, axis {axis}: {slope}, {force}");
            }
        }
    }
}

#[test]
fn forces_between_cloths_sum_to_zero() {
    let (contacts, [positions, colliders]) = pressed(0.5);
    let at = ContactPositions { cloths: &positions, colliders: &colliders };
    let between = contacts.all().filter(|one| one.pair.vertices.iter().all(|v| *v < CLOTH));
    for contact in between {
        let sum: f64 = contact.linearised.weights.iter().sum();
        assert!(sum.abs() < 1e-12 && at.force(contact).force.norm() > 0.0, "{contact:?}");
    }
}

#[test]
fn the_potential_change_is_that_of_added_and_removed_contacts() {
    let (set, [positions, colliders]) = pressed(0.5);
    let at = ContactPositions { cloths: &positions, colliders: &colliders };
    let others = set.detected[1..].to_vec();
    let mut added = contact([5, 9], [6, 7, 8], Vec3::z(), 0.5e-3);
    added.update_force_and_slip(&(Vec3::z() * 0.5e-3));
    let mut replaced = others.clone();
    replaced.push(added);
    replaced.sort_by_key(|one| one.pair.key());
    let removed_potential = at.force(&set.detected[0]).potential;
    let expected = at.force(&added).potential - removed_potential;
    assert!(removed_potential > 0.0);
    assert!((set.active_set_potential_change(&replaced, at) - expected).abs() < 1e-15);
    let mut after = set.clone();
    after.accept(replaced);
    assert!((after.potential(at) - set.potential(at) - expected).abs() < 1e-12);
}
