// SPDX-License-Identifier: MIT OR Apache-2.0
//! The elastic and viscous law of frames.

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

    /// Elastic, viscous and constant stress in N/m, and the potential of all per area in J/m². `elastic` is the elastic
    /// stress with its potential; viscosity acts on the change of the strain from a reference.
    #[inline(always)]
    pub(super) fn total_stress(
        &self,
        elastic: (Strain, f64),
        [strain, reference]: [&Strain; 2],
        inverse_beta: f64,
    ) -> (Strain, f64) {
        let (elastic_stress, elastic_potential) = elastic;
        let change = [0, 1, 2].map(|k| strain[k] - reference[k]);
        let viscous = apply(&self.scaled(0.0, inverse_beta), &change);
        let [tension_u, tension_v] = self.tension;
        let mut potential = elastic_potential + tension_u * strain[0] + tension_v * strain[1];
        for k in 0..3 {
            potential += 0.5 * change[k] * viscous[k];
        }
        let [s1, s2, s3] = [0, 1, 2].map(|k| elastic_stress[k] + viscous[k]);
        ([s1 + tension_u, s2 + tension_v, s3], potential)
    }
}
