// SPDX-License-Identifier: MIT OR Apache-2.0
//! Springs of inelastic materials.
//!
//! A structural spring has the strain ε = (l − l₀)/L of a strip; where it lies between warp and weft the curves of both
//! take part, as their moduli do. A diagonal is lengthened by half of a shear: it follows the curve of shear at γ =
//! ±2ε, with the sign that shear has along it. All is scaled so that without history the stiffness is that of
//! `constants`, which is less than the modulus if other springs contribute to it: their contribution stays linear.
//!
//! Springs that only pull become slack at stress 0, not at strain 0.
//!
//! A beam has the curvature of its arc. It follows the curves of bending with it, and does not pull: it becomes straight
//! without resistance once its moment has fallen to 0, bent for good by as much.
//!
//! Bend springs have no curvature: to first order none of them changes its length when the cloth bends. Measured
//! curves do not apply to them. Memory acts on their length, with the stiffness that their viscosity is proportional
//! to.

use super::{
    law::{SpringLaw, SpringResponse},
    layout::{Spring, SpringKind},
};
use crate::{
    forces::inelastic::{DeformationMode, Inelastic, MaterialHistory, UniaxialElement},
    material::Material,
};

/// Deformation modes of springs along the yarns and of bend springs.
const SPRING_MODES: [DeformationMode; 2] = [DeformationMode::Strips, DeformationMode::BentStrips];

/// Springs with an empty history.
pub(super) fn material_history(springs: &[Spring], materials: &[Material]) -> MaterialHistory {
    let law = |spring: &Spring| 2 * spring.cloth + u32::from(spring.resists_bending());
    MaterialHistory::new(
        SPRING_MODES.to_vec(),
        materials,
        springs.iter().map(law).collect::<Vec<_>>(),
    )
}

/// The uniaxial element of a spring with a law.
pub(super) fn uniaxial_element(
    spring: &Spring,
    law: &SpringLaw,
    material: &Material,
) -> UniaxialElement {
    let mode = SPRING_MODES[usize::from(spring.resists_bending())];
    let weights = [spring.along_warp, 1.0 - spring.along_warp, 0.0];
    if let SpringLaw::Buckling { rigidity, .. } = law {
        let unit =
            UniaxialElement { rates: [1.0, 1.0, 0.0], areas: weights, is_tension_only: true };
        let own = unit.linear(&mode.moduli(material), 0.0).stiffness;
        let area = if own > 0.0 { rigidity * spring.rest() / own } else { 0.0 };
        return UniaxialElement { areas: weights.map(|weight| area * weight), ..unit };
    }
    let [first, second, _, shear] = mode.moduli(material);
    let rate = 1.0 / spring.length;
    let (rates, weights) = if spring.kind == SpringKind::Shear {
        ([0.0, 0.0, 2.0 * rate * spring.slant], [0.0, 0.0, 1.0])
    } else {
        ([rate, rate, 0.0], weights)
    };
    let unit = UniaxialElement {
        rates,
        areas: weights,
        is_tension_only: matches!(law, SpringLaw::Tension { .. }),
    };
    let own = unit.linear(&[first, second, 0.0, shear], 0.0).stiffness;
    let area = if own > 0.0 { law.viscous_stiffness(spring.rest()) / own } else { 0.0 };
    UniaxialElement { areas: weights.map(|weight| area * weight), ..unit }
}

/// The measure of a spring at a length in m: its lengthening in m, of a beam its curvature in 1/m.
pub(super) fn measure(spring: &Spring, law: &SpringLaw, length: f64) -> f64 {
    match law {
        SpringLaw::Buckling { .. } => law.curvature(length, spring.rest())[0],
        _ => length - spring.rest(),
    }
}

/// Response of a spring at a length in m.
pub(super) fn respond(
    spring: &Spring,
    law: &SpringLaw,
    element: &UniaxialElement,
    inelastic: &Inelastic,
    index: usize,
    length: f64,
) -> SpringResponse {
    if matches!(law, SpringLaw::Buckling { .. }) {
        let [curvature, rate, second] = law.curvature(length, spring.rest());
        let own = element.respond(inelastic, index, curvature);
        return SpringResponse {
            force: own.force * rate,
            energy: own.potential,
            stiffness: (own.stiffness * rate * rate + own.force * second).max(0.0),
        };
    }
    let elongation = length - spring.rest();
    let own = element.respond(inelastic, index, elongation);
    if !spring.resists_bending() {
        return SpringResponse {
            force: own.force,
            energy: own.potential,
            stiffness: own.stiffness,
        };
    }
    let base = law.respond(length, spring.rest());
    let linear = element.linear(inelastic.law(index).linear(), elongation);
    SpringResponse {
        force: base.force + own.force - linear.force,
        energy: base.energy + own.potential - linear.potential,
        stiffness: base.stiffness + (own.stiffness - linear.stiffness).max(0.0),
    }
}

/// Recoverable energy of a spring at a length in m, in J.
pub(super) fn stored_energy(
    spring: &Spring,
    law: &SpringLaw,
    element: &UniaxialElement,
    inelastic: &Inelastic,
    index: usize,
    length: f64,
) -> f64 {
    let own = measure(spring, law, length);
    let stored = element.stored_energy(inelastic, index, own);
    if !spring.resists_bending() || matches!(law, SpringLaw::Buckling { .. }) {
        return stored;
    }
    let linear = element.linear(inelastic.law(index).linear(), own).potential;
    law.respond(length, spring.rest()).energy + stored - linear
}
