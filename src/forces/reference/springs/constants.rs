// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stiffnesses of springs from the moduli of a material.
//!
//! A spring of length L that represents the area S adds its modulus K, in N/m, to the cloth along itself if its
//! stiffness is KS/L². On squares along the yarns structural springs with K_u and K_v, two shear springs with 2K_s and
//! bend springs with K_b make C₁₁ = K_u + K_s + K_b, C₂₂ = K_v + K_s + K_b, C₁₂ = C₃₃ = K_s. So K_s = G = `shear`,
//! which fixes the contraction as well (Cauchy): `poisson` does nothing. C₁₁ and C₂₂ are such that strips along both
//! yarns have the moduli Y₁ = `stretch_warp` and Y₂ = `stretch_weft`: C₁₁ = ½Y₁(1 + √(1 + 4G²/(Y₁Y₂))), C₂₂ = C₁₁Y₂/Y₁.
//! Directions between warp and weft take K cos²φ + K' sin²φ.
//!
//! Around triangles K = Y, so that the stiffness is Y(A₁ + A₂)/L² with the areas on both sides (Van Gelder,
//! "Approximate simulation of elastic membranes by triangulated spring meshes", 1998): right for equilateral
//! triangles in one direction, and with a shear modulus of 3Y/8 and a contraction of 1/3 whatever the material says.
//!
//! An arc of curvature κ over a bend spring shortens it by κ²L³/24. Its energy grows with κ⁴ and has no bending
//! rigidity at all; it is that of a plate of rigidity B at κ = 2/L, a fold by one radian from edge to edge, where its
//! stiffness is 144·BS/L⁴. (This is K_b = 144·B/L².) Softer folds cost less than they should, the less the finer the
//! mesh is. Along the diagonals of a grid B is 2D₆₆, twice the twisting rigidity, which twists then cost.
//!
//! The beams of Choi and Ko do have a rigidity: B times the width S/L of each, as every place is under two of them. A
//! hinge of triangles is one of three directions; on equilateral triangles 8/9 of its area count. Their stiffness
//! before they buckle, c_b, is Y as well. Their stretch springs only pull: of two shear springs one is slack, so that
//! K_s = 2G, and a strip contracts until the shear springs are slack, so that K = Y.

use super::{
    law::SpringLaw,
    layout::{Spring, SpringKind},
};
use crate::material::Material;

/// Which model of springs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpringModel {
    /// Linear springs; `has_diagonals`: with 16 neighbours.
    MassSpring { has_diagonals: bool },
    /// Springs that pull and beams that buckle.
    ChoiKo,
}

/// Fraction of the areas beside an edge of triangles that the beam across it represents.
const HINGE_AREA_FRACTION: f64 = 8.0 / 9.0;

impl SpringModel {
    /// The law of a spring.
    pub(super) fn law(self, spring: &Spring, material: &Material) -> SpringLaw {
        let per_modulus = spring.factor / (spring.length * spring.length);
        let [in_quads, in_triangles] = spring.areas;
        match (self, spring.kind) {
            (Self::MassSpring { .. }, SpringKind::Structural) => {
                let modulus = structural_modulus(spring, material);
                let young = between(spring, material.stretch_warp, material.stretch_weft);
                SpringLaw::Linear {
                    stiffness: per_modulus * (modulus * in_quads + young * in_triangles),
                }
            }
            (Self::MassSpring { .. }, SpringKind::Shear) => {
                let modulus = self.shear_modulus(spring, material);
                SpringLaw::Linear { stiffness: 2.0 * per_modulus * modulus * in_quads }
            }
            (Self::MassSpring { .. }, _) => {
                let rigidity = rigidity(spring, material) * effective_area(spring);
                SpringLaw::Linear {
                    stiffness: 144.0 * per_modulus * rigidity / spring.length.powi(2),
                }
            }
            (Self::ChoiKo, SpringKind::Structural) => {
                let young = between(spring, material.stretch_warp, material.stretch_weft);
                SpringLaw::Tension { stiffness: per_modulus * young * (in_quads + in_triangles) }
            }
            (Self::ChoiKo, SpringKind::Shear) => {
                SpringLaw::Tension { stiffness: 4.0 * per_modulus * material.shear * in_quads }
            }
            (Self::ChoiKo, _) => {
                let area = effective_area(spring);
                let beam = spring.factor * rigidity(spring, material) * area / spring.length;
                let young = between(spring, material.stretch_warp, material.stretch_weft);
                let rest = spring.rest();
                SpringLaw::buckling(beam, per_modulus * young * area, rest)
            }
        }
    }

    /// K_s of shear springs, less the contribution of bend springs along the diagonals.
    fn shear_modulus(self, spring: &Spring, material: &Material) -> f64 {
        let bend_springs = match self {
            Self::MassSpring { has_diagonals: true } => {
                36.0 * material.plate_rigidity().d66 / (spring.length * spring.length)
            }
            _ => 0.0,
        };
        (material.shear - bend_springs).max(0.0)
    }
}

/// K of structural springs between quads.
fn structural_modulus(spring: &Spring, material: &Material) -> f64 {
    let (warp, weft, shear) = (material.stretch_warp, material.stretch_weft, material.shear);
    let [c11, c22] = if warp > 0.0 && weft > 0.0 {
        let along = 0.5 * (1.0 + (1.0 + 4.0 * shear * shear / (warp * weft)).sqrt());
        [along * warp, along * weft]
    } else {
        [warp, weft]
    };
    // Bend springs along the same line are twice as long.
    let bending = between(spring, material.bend_warp, material.bend_weft);
    let bend_springs = 36.0 * bending / (spring.length * spring.length);
    (between(spring, c11, c22) - shear - bend_springs).max(0.0)
}

fn effective_area(spring: &Spring) -> f64 {
    spring.areas[0] + HINGE_AREA_FRACTION * spring.areas[1]
}

/// B of a bend spring, in N·m.
fn rigidity(spring: &Spring, material: &Material) -> f64 {
    if spring.kind == SpringKind::DiagonalBend {
        return 2.0 * material.plate_rigidity().d66;
    }
    between(spring, material.bend_warp, material.bend_weft)
}

/// A value between those along warp and weft.
fn between(spring: &Spring, warp: f64, weft: f64) -> f64 {
    spring.along_warp * warp + (1.0 - spring.along_warp) * weft
}
