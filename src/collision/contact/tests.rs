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

/// The reaction so many thicknesses beyond touching, and the stiffness along the normal.
fn opened(contact: &Contact, parts: f64) -> (ContactForce, f64) {
    let reaction = contact.contact_force(&(Vec3::z() * THICKNESS * (1.0 + parts)));
    let along = reaction.stiffness[(2, 2)];
    (reaction, along)
}

#[test]
fn what_is_barely_open_is_stiff_but_does_not_press() {
    let contact = contact();
    let (pressed, stiffness) = opened(&contact, -1.0e-3);
    assert!(pressed.force.z > 0.0 && stiffness > 0.0);
    for (parts, is_stiff) in [(0.1, true), (0.9, true), (1.1, false), (100.0, false)] {
        let (open, along) = opened(&contact, parts * PARAMETERS.open_stiffness_gap);
        assert_eq!((open.force, open.potential), (Vec3::zeros(), 0.0), "{parts}");
        let expected = if is_stiff { stiffness } else { 0.0 };
        assert!((along - expected).abs() <= 1.0e-12 * stiffness, "{parts}: {along}");
    }
}

#[test]
fn a_constraint_has_no_stiffness_of_its_own() {
    let mut contact = contact();
    contact.set_active_constraint(true, 0.0);
    for parts in [-1.0e-3, 0.5 * PARAMETERS.open_stiffness_gap] {
        assert!(opened(&contact, parts).1 == 0.0, "{parts}");
    }
}
