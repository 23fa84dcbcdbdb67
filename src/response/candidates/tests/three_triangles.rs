// SPDX-License-Identifier: MIT OR Apache-2.0
use super::super::step_validation::STEP_VALIDATION;
use crate::{
    collision::{Contact, PairKind, PrimitivePair},
    response::{
        CollisionResponse,
        tests::{LOWER, THICKNESS, UPPER, at_heights, begin, response, step_between},
    },
};

/// Kinds and features of pairs.
fn keys(pairs: &[PrimitivePair]) -> Vec<(PairKind, [u32; 2])> {
    pairs.iter().map(PrimitivePair::key).collect()
}

/// Vertex–face pairs of the corners of the lower cloth with the collider, triangle 2.
fn of_lower_corners() -> Vec<(PairKind, [u32; 2])> {
    LOWER.map(|vertex| (PairKind::VertexFace, [vertex as u32, 2])).collect()
}

/// Those of the corners of the upper cloth with the lower one, triangle 0.
fn of_upper_corners() -> Vec<(PairKind, [u32; 2])> {
    UPPER.map(|vertex| (PairKind::VertexFace, [vertex as u32, 0])).collect()
}

/// Stiffening counts of the corners of the lower cloth on the collider.
fn stiffening_counts(response: &CollisionResponse) -> Vec<u8> {
    let pairs = response.candidates.pairs.iter();
    let corners = of_lower_corners();
    pairs.filter(|pair| corners.contains(&pair.key())).map(|pair| pair.stiffening_count).collect()
}

#[test]
fn pairs_that_come_near_are_candidates() {
    let listed = |ends: [f64; 2]| {
        let response = step_between([[0.05, 0.1], ends], 0.0);
        let found = keys(&response.candidates.pairs);
        assert_eq!(response.candidates.near_pair_count(), found.len() as u64);
        found
    };
    // Each cloth has a skin of half a thickness, the collider has none.
    let [on_collider, on_cloth] = [0.5, 1.0].map(|skins| 1.0 + skins * STEP_VALIDATION.skin);
    assert_eq!(listed([0.99 * on_collider * THICKNESS, 0.1]), of_lower_corners());
    assert_eq!(listed([0.03, 0.03 + 0.99 * on_cloth * THICKNESS]), of_upper_corners());
    assert!(listed([1.01 * on_collider * THICKNESS, 0.1]).is_empty());
    assert!(listed([0.03, 0.03 + 1.01 * on_cloth * THICKNESS]).is_empty());
}

#[test]
fn pinned_cloth_that_crosses_a_collider_is_no_candidate_but_a_kinematic_intersection() {
    for (height, crosses) in [(0.02, false), (-0.02, true)] {
        let [starts, ends] = [at_heights([0.05, 0.2]), at_heights([height, 0.2])];
        let mut response = response(&starts, 0.0);
        begin(&mut response, [&starts, &ends], [true, true, true, false, false, false]);
        assert!(response.candidates.pairs.is_empty());
        assert_eq!(response.candidates.has_kinematic_intersection, crosses);
        let history = response.new_contact_history(0);
        assert_eq!(history.had_kinematic_intersection, crosses);
        assert_eq!(history.intersection_time, crosses.then_some(0.0));
    }
}

#[test]
fn a_crossing_trajectory_is_refused_until_it_ends_above() {
    let mut response = step_between([[5.0e-3, 0.1], [2.5e-3, 0.1]], 0.0);
    let [crossing, above] = [[-5.0e-3, 0.1], [1.0e-3, 0.1]].map(at_heights);
    let violations = keys(&response.violations(&crossing));
    assert!(of_lower_corners().iter().all(|corner| violations.contains(corner)), "{violations:?}");
    assert!(response.violations(&above).is_empty());
    assert!(response.validate_step(&above));
    assert_eq!(stiffening_counts(&response), [0; 3]);
    assert!(!response.validate_step(&crossing));
    assert_eq!(stiffening_counts(&response), [1; 3]);
    assert!(!response.validate_step(&crossing));
    assert_eq!(stiffening_counts(&response), [2; 3]);
    assert!(response.validate_step(&above));
    assert!(!response.is_step_invalid(&above) && response.is_step_invalid(&crossing));
}

/// A trajectory that ends above but nearer than the minimum gap is refused, too.
#[test]
fn a_minimum_gap_is_left() {
    let mut response = step_between([[5.0e-3, 0.1], [2.5e-3, 0.1]], 0.0);
    let gap = STEP_VALIDATION.min_gap * THICKNESS;
    for (factor, is_valid) in [(0.9, false), (1.1, true)] {
        let ends = at_heights([factor * gap, 0.1]);
        assert_eq!(response.violations(&ends).is_empty(), is_valid, "{factor}");
    }
}

/// The first hit makes a pair a contact that is no constraint, each further one stiffens it.
#[test]
fn stiffened_pairs_have_stiffer_contacts() {
    let mut response = step_between([[5.0e-3, 0.1], [2.5e-3, 0.1]], 0.0);
    let [crossing, near] = [[-5.0e-3, 0.1], [1.0e-3, 0.1]].map(at_heights);
    let mut stiffnesses = Vec::new();
    for count in 0..3 {
        let contacts = response.detect_contacts(&near);
        let are_constraints = contacts.iter().all(Contact::is_active_constraint);
        assert_eq!(are_constraints, count == 0);
        stiffnesses.push(contacts[0].stiffness);
        response.accept_contacts(contacts);
        assert!(!response.validate_step(&crossing));
    }
    assert!((stiffnesses[1] / stiffnesses[0] - 1.0).abs() < 1e-12, "{stiffnesses:?}");
    assert!(stiffnesses[2] > 2.0 * stiffnesses[1], "{stiffnesses:?}");
}

#[test]
fn contacts_are_found_by_the_index_of_their_pair() {
    let mut response = step_between([[5.0e-3, 8.0e-3], [1.5e-3, 3.0e-3]], 0.0);
    let mut positions = at_heights([1.5e-3, 3.0e-3]);
    // One corner is too far for a contact.
    positions[1].z += 1.0e-3;
    let contacts = response.detect_contacts(&positions);
    response.accept_contacts(contacts);
    let (candidates, contacts) = (&response.candidates, &response.contact_set.detected);
    assert!(!contacts.is_empty() && contacts.len() < candidates.pairs.len());
    for (pair, index) in candidates.pairs.iter().zip(&candidates.contact_of_pair) {
        let found = contacts.get(*index as usize).map(|contact| contact.pair.key());
        let is_contact = contacts.iter().any(|contact| contact.pair.key() == pair.key());
        assert_eq!(found, is_contact.then_some(pair.key()));
    }
}
