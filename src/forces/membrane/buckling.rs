// SPDX-License-Identifier: MIT OR Apache-2.0
//! Yarns that buckle between the vertices of the mesh.
//!
//! A cloth that is pushed along its yarns wrinkles. Of wrinkles that are shorter than the mesh can carry only the energy
//! is kept: the compressive stress of warp and weft saturates at the load at which a strip as long as an edge h
//! buckles, σ_c = π²B/h², B being the bending rigidity of that strip (Euler). With w ≥ 0 the strains of warp and
//! weft that are taken up by wrinkles the energy per area is the relaxed one (Pipkin, "The relaxed energy density for
//! isotropic elastic membranes", 1986; here of an orthotropic sheet whose yarns alone buckle),
//!
//!   W_r(ε) = min_{w ≥ 0} [½ (ε + w)ᵀC(ε + w) + σ_c·w],
//!
//! convex and continuously differentiable with the stress C(ε + w*). A share δ of the energy is that without
//! wrinkles. Wrinkles close when the strip is half as long as it was: the flanks of the elastica touch soon after, and
//! beyond that strain −ε_c yarns resist with their modulus, ½ C_kk min(0, ε_k + ε_c)² more. It is the continuum form of the springs of Choi and Ko 2002, whose beams buckle as well. Shear turns the
//! yarns and does not shorten them: its stress is linear. As σ_c grows with 1/h², the law is linear on a fine mesh.

use super::Strain;
use crate::forces::inelastic::apply;
use std::f64::consts::PI;

/// Heuristic parameters of buckling.
struct BucklingParameters {
    /// Share δ of the modulus that remains beyond buckling (1). Effect: larger keeps folds of few edges open, and sheets
    /// on coarse meshes too wide; smaller lets coarse sheets collapse, and the tangent changes more from iteration
    /// to iteration. Evidence: sheets of cotton on a ball, edges of 4 cm: mean height 1 mm below that of 5 mm edges
    /// at 0.003, 1 mm above it at 0.005, 2 mm above it at 0.01; Newton iterations of a sheet of 2 m 24 a frame at 0.003, 10 at
    /// 0.005 and at 0.01.
    remaining_modulus: f64,
    /// Compression ε_c at which wrinkles are closed (Green strain, 1): of half the length at rest. Effect: larger lets
    /// triangles collapse; smaller resists compression that the same sheet on a fine mesh has. Evidence: of a sheet
    /// with edges of 5 mm on a ball one in a hundred pieces of 4 cm is shorter than 0.6 of its length.
    closing_strain: f64,
}

impl BucklingParameters {
    const DEFAULT: Self = Self { remaining_modulus: 0.005, closing_strain: 0.375 };
}

/// A quantity along warp and weft.
type YarnPair = [f64; 2];

/// Buckling loads of strips of the bending `rigidity` along warp and weft in a triangle of an area, in N/m: σ_c with
/// h² twice the area.
#[inline(always)]
pub(super) fn buckling_stress(rigidity: [f64; 2], area: f64) -> YarnPair {
    let factor = PI.powi(2) / (2.0 * area);
    [factor * rigidity[0], factor * rigidity[1]]
}

/// Membrane moduli C₁₁, C₂₂, C₁₂, C₃₃ and buckling loads of a triangle, in N/m.
#[derive(Clone, Copy, Debug)]
pub(super) struct BucklingLaw {
    pub(super) moduli: [f64; 4],
    pub(super) critical: YarnPair,
}

impl BucklingLaw {
    /// Stress in N/m, and energy per area in J/m².
    #[inline(always)]
    pub(super) fn respond(&self, strain: &Strain) -> (Strain, f64) {
        let Self { moduli, critical } = self;
        let yarns = self.yarn_strain(strain);
        let [wrinkled, kept] = shares();
        let of_yarns = [yarns[0], yarns[1], strain[2]];
        let (buckled, linear) = (apply(moduli, &of_yarns), apply(moduli, strain));
        let mut stress = [0, 1, 2].map(|k| wrinkled * buckled[k] + kept * linear[k]);
        let product = |a: &Strain, b: &Strain| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let wrinkles = critical[0] * (yarns[0] - strain[0]) + critical[1] * (yarns[1] - strain[1]);
        let mut energy = wrinkled * (0.5 * product(&buckled, &of_yarns) + wrinkles)
            + kept * 0.5 * product(&linear, strain);
        for k in 0..2 {
            let closed = beyond_closing(strain[k]);
            stress[k] += moduli[k] * closed;
            energy += 0.5 * moduli[k] * closed * closed;
        }
        (stress, energy)
    }

    /// Derivatives of the stress by the strain.
    #[inline(always)]
    pub(super) fn tangent(&self, strain: &Strain) -> [f64; 4] {
        let [c11, c22, c12, c33] = self.moduli;
        let yarns = self.yarn_strain(strain);
        let is_buckled = [yarns[0] > strain[0], yarns[1] > strain[1]];
        let left = match is_buckled {
            [false, false] => [c11, c22, c12],
            [true, false] => [0.0, c22 - c12 * c12 / c11, 0.0],
            [false, true] => [c11 - c12 * c12 / c22, 0.0, 0.0],
            [true, true] => [0.0; 3],
        };
        let [wrinkled, kept] = shares();
        let mixed = |of_buckled: f64, linear: f64| wrinkled * of_buckled + kept * linear;
        let closed = |k: usize, modulus: f64| {
            if beyond_closing(strain[k]) < 0.0 { modulus } else { 0.0 }
        };
        let (warp, weft) = (mixed(left[0], c11), mixed(left[1], c22));
        [warp + closed(0, c11), weft + closed(1, c22), mixed(left[2], c12), c33]
    }

    /// ε + w*: the strain of the yarns themselves. Their stress is −σ_c where w* > 0 and above that elsewhere.
    #[inline(always)]
    fn yarn_strain(&self, strain: &Strain) -> YarnPair {
        let [c11, c22, c12, _] = self.moduli;
        let ([p1, p2], [e1, e2, _]) = (self.critical, *strain);
        let is_warp_pushed = c11 * e1 + c12 * e2 < -p1;
        let is_weft_pushed = c12 * e1 + c22 * e2 < -p2;
        if !is_warp_pushed && !is_weft_pushed {
            return [e1, e2];
        }
        let warp = -(p1 + c12 * e2) / c11;
        if is_warp_pushed && c12 * warp + c22 * e2 >= -p2 {
            return [warp, e2];
        }
        let weft = -(p2 + c12 * e1) / c22;
        if is_weft_pushed && c11 * e1 + c12 * weft >= -p1 {
            return [e1, weft];
        }
        let determinant = c11 * c22 - c12 * c12;
        [(c12 * p2 - c22 * p1) / determinant, (c12 * p1 - c11 * p2) / determinant]
    }
}

/// The compression beyond that which closes wrinkles; 0 or less.
#[inline(always)]
fn beyond_closing(strain: f64) -> f64 {
    (strain + BucklingParameters::DEFAULT.closing_strain).min(0.0)
}

/// Shares of the energy with wrinkles and of that without.
#[inline(always)]
fn shares() -> [f64; 2] {
    let kept = BucklingParameters::DEFAULT.remaining_modulus;
    [1.0 - kept, kept]
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: BucklingLaw =
        BucklingLaw { moduli: [1600.0, 950.0, 230.0, 60.0], critical: [0.3, 0.2] };

    /// Strains in all states: of a grid, far beyond buckling along both yarns and far beyond in tension.
    fn strains() -> impl Iterator<Item = Strain> {
        let values = [-0.45, -0.3, -0.021, -3.0e-4, -1.0e-4, 5.0e-5, 0.004, 0.1];
        values.into_iter().flat_map(move |a| values.map(|b| [a, b, 0.7 * a - 0.2 * b]))
    }

    #[test]
    fn stress_is_the_gradient_of_the_energy_and_the_tangent_that_of_the_stress() {
        for strain in strains() {
            let (stress, _) = LAW.respond(&strain);
            let [t11, t22, t12, t33] = LAW.tangent(&strain);
            let tangent = [[t11, t12, 0.0], [t12, t22, 0.0], [0.0, 0.0, t33]];
            let step = 1e-8;
            for k in 0..3 {
                let at = |shift: f64| {
                    let mut moved = strain;
                    moved[k] += shift;
                    LAW.respond(&moved)
                };
                let (ahead, behind) = (at(step), at(-step));
                let slope = (ahead.1 - behind.1) / (2.0 * step);
                assert!((slope - stress[k]).abs() < 1e-5 * (1.0 + stress[k].abs()), "{strain:?}");
                for (row, entries) in tangent.iter().enumerate() {
                    let found = (ahead.0[row] - behind.0[row]) / (2.0 * step);
                    assert!((found - entries[k]).abs() < 1e-3, "{strain:?} {row} {k} {found}");
                }
            }
        }
    }

    #[test]
    fn the_energy_is_convex_and_never_negative() {
        let all: Vec<Strain> = strains().collect();
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let middle: Strain = std::array::from_fn(|k| 0.5 * (a[k] + b[k]));
            let [first, second, between] = [a, b, &middle].map(|strain| LAW.respond(strain).1);
            assert!(between <= 0.5 * (first + second) + 1e-12, "{a:?} {b:?}");
            assert!(first >= 0.0, "{a:?}");
        }
    }

    #[test]
    fn stress_saturates_at_the_buckling_load_and_tension_and_shear_do_not() {
        let (stress, _) = LAW.respond(&[-0.1, 0.02, 0.3]);
        let kept = BucklingParameters::DEFAULT.remaining_modulus;
        let linear = apply(&LAW.moduli, &[-0.1, 0.02, 0.3]);
        assert!((stress[0] - ((1.0 - kept) * -0.3 + kept * linear[0])).abs() < 1e-12);
        assert!((stress[2] - linear[2]).abs() < 1e-12);
        let pulled = [0.03, -0.001, 0.2];
        let pairs = LAW.respond(&pulled).0.into_iter().zip(apply(&LAW.moduli, &pulled));
        assert!(pairs.into_iter().all(|(found, linear)| (found - linear).abs() < 1e-15));
    }
}
