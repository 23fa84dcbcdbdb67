// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::collision::primitive_pair::PairKind;

const THICKNESS: f64 = 2.0e-3;

/// A vertex over a triangle, with 1 cm² of cloth.
fn contact() -> Contact {
    let pair = PrimitivePair {
        kind: PairKind::VertexFace,
        features: [0, 0],
        vertices: [0, 1, 2, 3],
        thickness: THICKNESS,
        start_distance: THICKNESS,
        clearance: THICKNESS,
        stiffening_count: 0,
    };
    let weights = [1.0, -1.0, 0.0, 0.0];
    let touch =
        LinearisedContact { weights, normal: Vec3::z(), gap: THICKNESS, has_penetrated: false };
    Contact::new(pair, touch, THICKNESS, 1.0e-4)
}

/// Contact force at an open gap in thicknesses, and its stiffness along the normal.
fn opened(contact: &Contact, gap: f64) -> (ContactForce, f64) {
    let reaction = contact.contact_force(&(Vec3::z() * THICKNESS * (1.0 + gap)));
    let along = reaction.stiffness[(2, 2)];
    (reaction, along)
}

#[test]
fn a_barely_open_contact_is_stiff_but_has_no_force() {
    let contact = contact();
    let (pressed, stiffness) = opened(&contact, -1.0e-3);
    assert!(pressed.force.z > 0.0 && stiffness > 0.0);
    for (gap, is_stiff) in [(0.1, true), (0.9, true), (1.1, false), (100.0, false)] {
        let (open, along) = opened(&contact, gap * PARAMETERS.open_stiffness_gap);
        assert_eq!((open.force, open.potential), (Vec3::zeros(), 0.0), "{gap}");
        let expected = if is_stiff { stiffness } else { 0.0 };
        assert!((along - expected).abs() <= 1.0e-12 * stiffness, "{gap}: {along}");
    }
}

#[test]
fn a_constraint_has_no_stiffness_of_its_own() {
    let mut contact = contact();
    contact.set_active_constraint(true, 0.0);
    for gap in [-1.0e-3, 0.5 * PARAMETERS.open_stiffness_gap] {
        assert!(opened(&contact, gap).1 == 0.0, "{gap}");
    }
}

/// Friction force in N along a displacement of the stick anchor, in m, under a normal force in N.
fn friction(displacement: f64, normal_force: f64, force_before: f64) -> f64 {
    let mut contact = contact();
    contact.friction = 0.5;
    contact.set_start(force_before, Vec3::zeros(), Vec3::zeros(), |lever| lever);
    contact.set_normal_force(normal_force);
    let position = Vec3::x() * displacement + Vec3::z() * contact.target_distance();
    contact.update_force_and_slip(&position);
    contact.coulomb_bound = contact.friction * normal_force;
    -contact.contact_force(&position).force.x
}

#[test]
fn a_stick_anchor_is_a_spring_up_to_the_coulomb_bound() {
    let (normal_force, stiffness) = (0.01, PARAMETERS.anchor_stiffness * contact().stiffness);
    let slip_length = 0.5 * normal_force / stiffness;
    for fraction in [0.1, 0.5, 0.99] {
        let found = friction(fraction * slip_length, normal_force, 0.0);
        assert!((found / (fraction * 0.5 * normal_force) - 1.0).abs() < 1e-9, "{fraction}");
    }
    // A heavy load hardens it, as it does the normal law; but not within the step that brings it.
    let hardened = friction(0.1 * slip_length, normal_force, 1.0)
        / friction(0.1 * slip_length, normal_force, 0.0);
    assert!(hardened > 2.0, "{hardened}");
    let (soft, loaded) = (friction(1e-9, normal_force, 0.0), friction(1e-9, 5.0, 0.0));
    assert!((soft / loaded - 1.0).abs() < 1e-9);
}
