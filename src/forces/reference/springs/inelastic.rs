// SPDX-License-Identifier: MIT OR Apache-2.0
//! Springs whose past matters.
//!
//! A structural spring has the strain ε = (l − l₀)/L of a strip; where it lies between warp and weft the curves of both
//! take part, as their moduli do. A diagonal is lengthened by half of a shear: it follows the curve of shear at γ = ±2ε,
//! with the sign that shear has along it. All is scaled so that without a past the stiffness is that of `constants`,
//! which is less than the modulus where other springs carry a part of it: that part stays linear.
//!
//! What springs do that only pull they do here as well, where stress falls to 0 and not where strain does.
//!
//! Bend springs and beams have no curvature: to first order none of them changes its length when the cloth bends. They
//! take no curves. Memory acts on their length, with the stiffness by which their viscosity is measured.

use super::{
    law::{Law, Response},
    layout::{Spring, SpringKind},
};
use crate::{
    forces::inelastic::{Fibre, Inelastic, Part, Past},
    material::Material,
};

/// What springs along the yarns follow, and those that bend.
const PARTS: [Part; 2] = [Part::Strips, Part::BentStrips];

/// Springs without a past.
pub(super) fn past(springs: &[Spring], materials: &[Material]) -> Past {
    let law = |spring: &Spring| 2 * spring.cloth + u32::from(spring.bends());
    Past::new(PARTS.to_vec(), materials, springs.iter().map(law).collect::<Vec<_>>())
}

/// How a spring with a law resists.
pub(super) fn of(spring: &Spring, law: &Law, material: &Material) -> Fibre {
    let part = PARTS[usize::from(spring.bends())];
    let [first, second, _, shear] = part.moduli(material);
    let rate = 1.0 / spring.length;
    let (rates, parts) = if spring.kind == SpringKind::Shear {
        ([0.0, 0.0, 2.0 * rate * spring.slant], [0.0, 0.0, 1.0])
    } else {
        ([rate, rate, 0.0], [spring.along_warp, 1.0 - spring.along_warp, 0.0])
    };
    let unit = Fibre { rates, areas: parts, only_pulls: matches!(law, Law::Tension { .. }) };
    let own = unit.linear(&[first, second, 0.0, shear], 0.0).stiffness;
    let area = if own > 0.0 { law.viscous_stiffness(spring.rest()) / own } else { 0.0 };
    Fibre { areas: parts.map(|part| area * part), ..unit }
}

/// What a spring does at a length in m.
pub(super) fn respond(
    (spring, law): (&Spring, &Law),
    (fibre, inelastic, index): (&Fibre, &Inelastic, usize),
    length: f64,
) -> Response {
    let longer = length - spring.rest();
    let own = fibre.respond(inelastic, index, longer);
    if !spring.bends() {
        return Response { force: own.force, energy: own.potential, stiffness: own.stiffness };
    }
    let base = law.respond(length, spring.rest());
    let linear = fibre.linear(inelastic.law(index).linear(), longer);
    Response {
        force: base.force + own.force - linear.force,
        energy: base.energy + own.potential - linear.potential,
        stiffness: base.stiffness + (own.stiffness - linear.stiffness).max(0.0),
    }
}

/// What can be got back of a spring at a length in m, in J.
pub(super) fn stored(
    (spring, law): (&Spring, &Law),
    (fibre, inelastic, index): (&Fibre, &Inelastic, usize),
    length: f64,
) -> f64 {
    let longer = length - spring.rest();
    let stored = fibre.stored(inelastic, index, longer);
    if !spring.bends() {
        return stored;
    }
    let linear = fibre.linear(inelastic.law(index).linear(), longer).potential;
    law.respond(length, spring.rest()).energy + stored - linear
}
