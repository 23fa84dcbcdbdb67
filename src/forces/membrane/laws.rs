// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stress of triangles with and without internal variables.

use super::{MembraneModuli, Strain, batch::StressLaw};
use crate::forces::inelastic::{Inelastic, apply};

/// Triangles whose stress depends on their strain and its rate alone.
pub(super) struct ViscoelasticTriangles<'a> {
    pub(super) moduli: &'a [MembraneModuli],
    pub(super) law_of_triangle: &'a [u32],
    pub(super) areas: &'a [f64],
    pub(super) reference: &'a [Strain],
    pub(super) inverse_beta: f64,
}

impl ViscoelasticTriangles<'_> {
    /// Viscous stress in N/m, and twice its potential per area in J/m².
    #[inline(always)]
    fn viscous_stress(&self, triangle: usize, strain: &Strain) -> (Strain, f64) {
        let reference = &self.reference[triangle];
        let change = [strain[0] - reference[0], strain[1] - reference[1], strain[2] - reference[2]];
        let moduli = &self.moduli[self.law_of_triangle[triangle] as usize];
        let stress = apply(&moduli.viscous(self.inverse_beta), &change);
        (stress, dot(&change, &stress))
    }
}

impl StressLaw for ViscoelasticTriangles<'_> {
    #[inline(always)]
    fn respond(&self, triangle: usize, strain: &Strain) -> (Strain, f64) {
        let moduli = &self.moduli[self.law_of_triangle[triangle] as usize];
        let ([a, b, c], elastic) = moduli.buckling_law(self.areas[triangle]).respond(strain);
        let ([d, e, f], work) = self.viscous_stress(triangle, strain);
        ([a + d, b + e, c + f], elastic + 0.5 * work)
    }
}

/// Factors on the moduli of stretch and shear of a triangle.
pub(super) fn factors(scales: &[[f64; 3]], triangle: usize) -> [f64; 2] {
    scales.get(triangle).map_or([1.0; 2], |[stretch, shear, _]| [*stretch, *shear])
}

/// Triangles with internal variables.
pub(super) struct InelasticTriangles<'a> {
    pub(super) inelastic: &'a Inelastic,
    pub(super) scales: &'a [[f64; 3]],
    pub(super) viscous: ViscoelasticTriangles<'a>,
}

impl StressLaw for InelasticTriangles<'_> {
    fn respond(&self, triangle: usize, strain: &Strain) -> (Strain, f64) {
        let inner = self.inelastic.respond(triangle, strain);
        let inner = inner.scaled(factors(self.scales, triangle));
        let ([d, e, f], work) = self.viscous.viscous_stress(triangle, strain);
        let [a, b, c] = inner.stress;
        ([a + d, b + e, c + f], inner.potential() + 0.5 * work)
    }
}

#[inline(always)]
fn dot(a: &Strain, b: &Strain) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
