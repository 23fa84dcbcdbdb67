// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elements that measure one number, as springs and hinges do: it is a multiple of several strains, each of which has
//! a share in the force.

use super::Inelastic;
use crate::forces::Strain;

/// Law of an element with one measure: factors from its measure to the three strains of the material.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct UniaxialElement {
    /// Each strain over the measure.
    pub(crate) rates: Strain,
    /// Area in m² in which each strain is resisted.
    pub(crate) areas: Strain,
    /// Whether it only resists a growing measure.
    pub(crate) is_tension_only: bool,
}

/// Force, potential and stiffness of an element for its measure.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UniaxialResponse {
    /// Force, in J over the unit of the measure.
    pub(crate) force: f64,
    /// Potential, in J.
    pub(crate) potential: f64,
    /// Derivative of the force by the measure.
    pub(crate) stiffness: f64,
}

impl UniaxialResponse {
    /// A linear one.
    #[inline(always)]
    pub(crate) fn linear(stiffness: f64, measure: f64) -> Self {
        let force = stiffness * measure;
        Self { force, potential: 0.5 * force * measure, stiffness }
    }
}

impl UniaxialElement {
    /// Response of an elastic material with these moduli.
    pub(crate) fn linear(&self, moduli: &[f64; 4], measure: f64) -> UniaxialResponse {
        let [c11, c22, _, c33] = *moduli;
        let each = [c11, c22, c33].into_iter().zip(self.rates.iter().zip(&self.areas));
        let stiffness: f64 = each.map(|(modulus, (rate, area))| area * rate * rate * modulus).sum();
        UniaxialResponse::linear(stiffness, measure)
    }

    /// Response of an element with internal variables.
    pub(crate) fn respond(
        &self,
        inelastic: &Inelastic,
        element: usize,
        measure: f64,
    ) -> UniaxialResponse {
        let strain = self.rates.map(|rate| rate * measure);
        let response = inelastic.respond(element, &strain);
        let moduli = [response.moduli[0], response.moduli[1], response.moduli[3]];
        let mut sum = UniaxialResponse::default();
        for (k, modulus) in moduli.into_iter().enumerate() {
            let (rate, area) = (self.rates[k], self.areas[k]);
            let force = area * rate * response.stress[k];
            if self.is_tension_only && force < 0.0 {
                let [_, potential] = inelastic
                    .law(element)
                    .stress_free_strain(k, inelastic.internal_variables(element));
                sum.potential += area * potential;
                continue;
            }
            sum.force += force;
            sum.potential += area * response.potentials[k];
            sum.stiffness += area * rate * rate * modulus;
        }
        sum
    }

    /// Strains of a measure to update the internal variables with; elements that only pull take the stress-free strain
    /// instead of a compressive one.
    pub(crate) fn strain(&self, inelastic: &Inelastic, element: usize, measure: f64) -> Strain {
        let mut strain = self.rates.map(|rate| rate * measure);
        if self.is_tension_only {
            let stress = inelastic.respond(element, &strain).stress;
            for k in (0..3).filter(|k| self.rates[*k] * stress[*k] < 0.0) {
                strain[k] = inelastic
                    .law(element)
                    .stress_free_strain(k, inelastic.internal_variables(element))[0];
            }
        }
        strain
    }

    /// Recoverable energy, in J.
    pub(crate) fn stored_energy(&self, inelastic: &Inelastic, element: usize, measure: f64) -> f64 {
        let strain = self.strain(inelastic, element, measure);
        let stored =
            inelastic.law(element).stored_energy(&strain, inelastic.internal_variables(element));
        self.areas.iter().zip(&stored).map(|(area, stored)| area * stored).sum()
    }
}
