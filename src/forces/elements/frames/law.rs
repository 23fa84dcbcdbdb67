// SPDX-License-Identifier: MIT OR Apache-2.0
//! The laws of frames where the past does not matter.

use super::Strain;
use crate::{
    forces::inelastic::{DeformationMode, apply},
    material::Material,
};

/// Deformation that a frame resists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// Stretch and shear without transverse contraction: the moduli of a strip along each yarn.
    Conditions,
    /// Tension and transverse contraction.
    Tension,
    /// Shear.
    Shear,
}

impl FrameKind {
    pub(super) fn deformation_mode(self) -> DeformationMode {
        match self {
            Self::Conditions => DeformationMode::Strips,
            Self::Tension => DeformationMode::Tension,
            Self::Shear => DeformationMode::Shear,
        }
    }
}

/// Moduli in N/m, Kelvin-Voigt times in s and constant tension in N/m of one cloth.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameLaw {
    /// C₁₁, C₂₂, C₁₂, C₃₃.
    pub(super) moduli: [f64; 4],
    dampings: [f64; 2],
    pub(super) tension: [f64; 2],
}

impl FrameLaw {
    pub(super) fn new(kind: FrameKind, material: &Material, line_tension: f64) -> Self {
        Self {
            moduli: kind.deformation_mode().moduli(material),
            dampings: [material.stretch_damping, material.shear_damping],
            tension: [material.bend_warp, material.bend_weft].map(|bend| bend * line_tension),
        }
    }

    /// Law with its stiffness against stretch, shear and bending multiplied.
    #[inline(always)]
    pub(super) fn with_stiffness_factors(&self, [stretch, shear, bend]: &[f64; 3]) -> Self {
        let [c11, c22, c12, c33] = self.moduli;
        Self {
            moduli: [stretch * c11, stretch * c22, stretch * c12, shear * c33],
            dampings: self.dampings,
            tension: self.tension.map(|tension| bend * tension),
        }
    }

    /// Elastic stress in N/m of an elastic material, and its potential per area in J/m².
    #[inline(always)]
    pub(super) fn respond(&self, strain: &Strain) -> (Strain, f64) {
        let stress = apply(&self.moduli, strain);
        (stress, 0.5 * (0..3).map(|k| strain[k] * stress[k]).sum::<f64>())
    }

    /// C·(`elastic` + τ/β).
    pub(super) fn scaled(&self, elastic: f64, inverse_beta: f64) -> [f64; 4] {
        let [stretch, shear] = self.dampings.map(|time| elastic + time * inverse_beta);
        let [c11, c22, c12, c33] = self.moduli;
        [stretch * c11, stretch * c22, stretch * c12, shear * c33]
    }
}
