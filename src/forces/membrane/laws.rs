// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stress of triangles with and without internal variables, four at a time.

use super::{
    MembraneModuli, Strain,
    buckling::{BUCKLING_FACTOR, BucklingLaw, stress},
};
use crate::{
    forces::inelastic::{Inelastic, StressResponse},
    simd::{Kernel, Lanes},
};

/// A law for triangles.
pub(super) trait TriangleLaw {
    /// Stress of four triangles in N/m, and its potential per area in J/m².
    fn respond<L: Lanes>(
        &self,
        lanes: L,
        own: &[usize; 4],
        strain: &[L::Four; 3],
    ) -> ([L::Four; 3], L::Four);

    /// Derivatives of the stress by the strain, in N/m.
    fn moduli<L: Lanes>(&self, lanes: L, own: &[usize; 4], strain: &[L::Four; 3]) -> [L::Four; 4];
}

/// Triangles whose stress depends on their strain and its rate alone.
pub(super) struct ViscoelasticTriangles<'a> {
    pub(super) moduli: &'a [MembraneModuli],
    pub(super) law_of_triangle: &'a [u32],
    pub(super) areas: &'a [f64],
    /// Not needed without viscosity.
    pub(super) reference: &'a [Strain],
    pub(super) inverse_beta: f64,
}

impl ViscoelasticTriangles<'_> {
    /// A number of the moduli of each of four triangles.
    #[inline(always)]
    fn gather<L: Lanes>(
        &self,
        lanes: L,
        own: &[usize; 4],
        number: impl Fn(&MembraneModuli) -> f64,
    ) -> L::Four {
        if let [only] = self.moduli {
            return lanes.splat_four(number(only));
        }
        let one = |k: usize| number(&self.moduli[self.law_of_triangle[own[k]] as usize]);
        lanes.load_four(&[one(0), one(1), one(2), one(3)])
    }

    /// The elastic law.
    #[inline(always)]
    fn elastic<L: Lanes>(&self, lanes: L, own: &[usize; 4]) -> BucklingLaw<L::Four> {
        let areas = lanes.gather_four(own, self.areas);
        let factor = lanes.quotient(lanes.splat_four(BUCKLING_FACTOR), areas);
        let modulus = |k: usize| self.gather(lanes, own, |moduli| moduli.elastic[k]);
        let rigidity = |k: usize| self.gather(lanes, own, |moduli| moduli.bending[k]);
        BucklingLaw {
            moduli: [modulus(0), modulus(1), modulus(2), modulus(3)],
            critical: [lanes.product(factor, rigidity(0)), lanes.product(factor, rigidity(1))],
        }
    }

    /// Viscous moduli alone: C·τ/β.
    #[inline(always)]
    fn viscous<L: Lanes>(&self, lanes: L, own: &[usize; 4]) -> [L::Four; 4] {
        let modulus =
            |k: usize| self.gather(lanes, own, |moduli| moduli.viscous(self.inverse_beta)[k]);
        [modulus(0), modulus(1), modulus(2), modulus(3)]
    }

    /// A response with viscous stress added.
    #[inline(always)]
    fn with_viscosity<L: Lanes>(
        &self,
        lanes: L,
        own: &[usize; 4],
        strain: &[L::Four; 3],
        (inner, energy): ([L::Four; 3], L::Four),
    ) -> ([L::Four; 3], L::Four) {
        if self.inverse_beta == 0.0 {
            return (inner, energy);
        }
        let past = lanes.columns(|k| &self.reference[own[k]]);
        let change = lanes.vectors_between(strain, &past);
        let added = stress(lanes, &self.viscous(lanes, own), &change);
        let work = lanes.product(lanes.splat_four(0.5), lanes.dot(&change, &added));
        let total = [
            lanes.plus(inner[0], added[0]),
            lanes.plus(inner[1], added[1]),
            lanes.plus(inner[2], added[2]),
        ];
        (total, lanes.plus(energy, work))
    }

    /// Moduli with viscous ones added.
    #[inline(always)]
    fn with_viscous_moduli<L: Lanes>(
        &self,
        lanes: L,
        own: &[usize; 4],
        inner: &[L::Four; 4],
    ) -> [L::Four; 4] {
        let viscous = self.viscous(lanes, own);
        let sum = |k: usize| lanes.plus(inner[k], viscous[k]);
        [sum(0), sum(1), sum(2), sum(3)]
    }
}

impl TriangleLaw for ViscoelasticTriangles<'_> {
    #[inline(always)]
    fn respond<L: Lanes>(
        &self,
        lanes: L,
        own: &[usize; 4],
        strain: &[L::Four; 3],
    ) -> ([L::Four; 3], L::Four) {
        let elastic = self.elastic(lanes, own).respond(lanes, strain);
        self.with_viscosity(lanes, own, strain, elastic)
    }

    #[inline(always)]
    fn moduli<L: Lanes>(&self, lanes: L, own: &[usize; 4], strain: &[L::Four; 3]) -> [L::Four; 4] {
        let elastic = self.elastic(lanes, own).tangent(lanes, strain);
        self.with_viscous_moduli(lanes, own, &elastic)
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

impl InelasticTriangles<'_> {
    /// Responses of four triangles without viscosity.
    fn inner(&self, own: &[usize; 4], strains: &[Strain; 4]) -> [StressResponse; 4] {
        std::array::from_fn(|k| {
            let response = self.inelastic.respond(own[k], &strains[k]);
            response.scaled(factors(self.scales, own[k]))
        })
    }
}

impl TriangleLaw for InelasticTriangles<'_> {
    #[inline(always)]
    fn respond<L: Lanes>(
        &self,
        lanes: L,
        own: &[usize; 4],
        strain: &[L::Four; 3],
    ) -> ([L::Four; 3], L::Four) {
        let inner = self.inner(own, &lanes.rows(strain));
        let stress = lanes.columns(|k| &inner[k].stress);
        let energy = lanes.load_four(&inner.each_ref().map(StressResponse::potential));
        self.viscous.with_viscosity(lanes, own, strain, (stress, energy))
    }

    #[inline(always)]
    fn moduli<L: Lanes>(&self, lanes: L, own: &[usize; 4], strain: &[L::Four; 3]) -> [L::Four; 4] {
        let inner = self.inner(own, &lanes.rows(strain));
        let modulus = |k: usize| lanes.load_four(&inner.each_ref().map(|one| one.moduli[k]));
        let inner = [modulus(0), modulus(1), modulus(2), modulus(3)];
        self.viscous.with_viscous_moduli(lanes, own, &inner)
    }
}

/// Elastic energy of a triangle per area, and the part of shear, in J/m².
pub(super) struct EnergyDensity<'a> {
    pub(super) law: &'a ViscoelasticTriangles<'a>,
    pub(super) triangle: usize,
    pub(super) strain: Strain,
}

impl Kernel for EnergyDensity<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> (f64, f64) {
        let strain = self.strain.map(|component| lanes.splat_four(component));
        let law = self.law.elastic(lanes, &[self.triangle; 4]);
        let (stress, energy) = law.respond(lanes, &strain);
        let shear = 0.5 * self.strain[2] * lanes.to_numbers(stress[2])[0];
        (lanes.to_numbers(energy)[0], shear)
    }
}
