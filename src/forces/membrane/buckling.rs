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

use crate::simd::F64x4;
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

/// π²/2: buckling loads of strips over their bending rigidity and the area of the triangle, σ_c with h² twice the area.
pub(super) const BUCKLING_FACTOR: f64 = 0.5 * PI * PI;

/// The elastic law of four triangles.
#[derive(Clone, Copy, Debug)]
pub(super) struct BucklingLaw<Four> {
    /// C₁₁, C₂₂, C₁₂, C₃₃, in N/m.
    pub(super) moduli: [Four; 4],
    /// Buckling loads of strips along warp and weft, in N/m.
    pub(super) critical: [Four; 2],
}

impl<Four: Copy> BucklingLaw<Four> {
    /// Stress in N/m, and energy per area in J/m².
    #[inline(always)]
    pub(super) fn respond<L: F64x4<Four = Four>>(
        &self,
        lanes: L,
        strain: &[Four; 3],
    ) -> ([Four; 3], Four) {
        let Self { moduli, critical } = self;
        let yarns = self.yarn_strain(lanes, strain);
        let [wrinkled, kept] = shares();
        let (wrinkled, kept) = (lanes.splat_four(wrinkled), lanes.splat_four(kept));
        let half = lanes.splat_four(0.5);
        let of_yarns = [yarns[0], yarns[1], strain[2]];
        let (buckled, linear) = (stress(lanes, moduli, &of_yarns), stress(lanes, moduli, strain));
        let mixed = |k: usize| lanes.two_products([wrinkled, buckled[k]], [kept, linear[k]]);
        let (warp, weft) = (lanes.minus(yarns[0], strain[0]), lanes.minus(yarns[1], strain[1]));
        let wrinkles = lanes.two_products([critical[0], warp], [critical[1], weft]);
        let of_buckled = lanes.product(half, lanes.dot(&buckled, &of_yarns));
        let of_linear = lanes.product(half, lanes.dot(&linear, strain));
        let energy =
            lanes.two_products([wrinkled, lanes.plus(of_buckled, wrinkles)], [kept, of_linear]);
        let closed = [beyond_closing(lanes, strain[0]), beyond_closing(lanes, strain[1])];
        let closing = [lanes.product(moduli[0], closed[0]), lanes.product(moduli[1], closed[1])];
        let of_closing = lanes.two_products([closing[0], closed[0]], [closing[1], closed[1]]);
        let stress = [lanes.plus(mixed(0), closing[0]), lanes.plus(mixed(1), closing[1]), mixed(2)];
        (stress, lanes.plus(energy, lanes.product(half, of_closing)))
    }

    /// Derivatives of the stress by the strain.
    #[inline(always)]
    pub(super) fn tangent<L: F64x4<Four = Four>>(&self, lanes: L, strain: &[Four; 3]) -> [Four; 4] {
        let [c11, c22, c12, c33] = self.moduli;
        let yarns = self.yarn_strain(lanes, strain);
        let zero = lanes.splat_four(0.0);
        // `x` where the yarn is buckled, and `y` elsewhere.
        let warp = |x: Four, y: Four| lanes.select_less(strain[0], yarns[0], x, y);
        let weft = |x: Four, y: Four| lanes.select_less(strain[1], yarns[1], x, y);
        let square = lanes.product(c12, c12);
        let alone = |own: Four, other: Four| lanes.minus(own, lanes.quotient(square, other));
        let left = [
            warp(zero, weft(alone(c11, c22), c11)),
            weft(zero, warp(alone(c22, c11), c22)),
            warp(zero, weft(zero, c12)),
        ];
        let [wrinkled, kept] = shares();
        let (wrinkled, kept) = (lanes.splat_four(wrinkled), lanes.splat_four(kept));
        let mixed = |left: Four, linear: Four| lanes.two_products([wrinkled, left], [kept, linear]);
        let closed = |strain: Four, modulus: Four| {
            lanes.select_less(beyond_closing(lanes, strain), zero, modulus, zero)
        };
        [
            lanes.plus(mixed(left[0], c11), closed(strain[0], c11)),
            lanes.plus(mixed(left[1], c22), closed(strain[1], c22)),
            mixed(left[2], c12),
            c33,
        ]
    }

    /// ε + w*: the strain of the yarns themselves. Their stress is −σ_c where w* > 0 and above that elsewhere.
    #[inline(always)]
    fn yarn_strain<L: F64x4<Four = Four>>(&self, lanes: L, [e1, e2, _]: &[Four; 3]) -> [Four; 2] {
        let ([c11, c22, c12, _], [e1, e2]) = (self.moduli, [*e1, *e2]);
        let least = [lanes.negative(self.critical[0]), lanes.negative(self.critical[1])];
        let stress_of = |warp: Four, weft: Four| {
            let of_warp = lanes.two_products([c11, warp], [c12, weft]);
            [of_warp, lanes.two_products([c12, warp], [c22, weft])]
        };
        let linear = stress_of(e1, e2);
        if !lanes.is_any_less(linear[0], least[0]) && !lanes.is_any_less(linear[1], least[1]) {
            return [e1, e2];
        }
        // `x` where the yarn is pushed, and `y` elsewhere.
        let warp = |x: Four, y: Four| lanes.select_less(linear[0], least[0], x, y);
        let weft = |x: Four, y: Four| lanes.select_less(linear[1], least[1], x, y);
        let of_warp = lanes.quotient(lanes.minus(least[0], lanes.product(c12, e2)), c11);
        let of_weft = lanes.quotient(lanes.minus(least[1], lanes.product(c12, e1)), c22);
        // Where one yarn buckles alone, the other one is not pushed beyond its load.
        let left = [stress_of(e1, of_weft)[0], stress_of(of_warp, e2)[1]];
        let is_weft_alone = |x: Four, y: Four| weft(lanes.select_less(left[0], least[0], y, x), y);
        let is_warp_alone = |x: Four, y: Four| warp(lanes.select_less(left[1], least[1], y, x), y);
        let determinant = lanes.minus(lanes.product(c11, c22), lanes.product(c12, c12));
        let both = |own: Four, k: usize| {
            let across = lanes.product(c12, least[1 - k]);
            lanes.quotient(lanes.minus(lanes.product(own, least[k]), across), determinant)
        };
        let first = is_warp_alone(of_warp, is_weft_alone(e1, both(c22, 0)));
        let second = is_warp_alone(e2, is_weft_alone(of_weft, both(c11, 1)));
        [warp(first, weft(first, e1)), warp(second, weft(second, e2))]
    }
}

/// The stresses C₁₁e₁ + C₁₂e₂, C₁₂e₁ + C₂₂e₂ and C₃₃e₃.
#[inline(always)]
pub(super) fn stress<F: F64x4>(
    lanes: F,
    [c11, c22, c12, c33]: &[F::Four; 4],
    [e1, e2, e3]: &[F::Four; 3],
) -> [F::Four; 3] {
    [
        lanes.two_products([*c11, *e1], [*c12, *e2]),
        lanes.two_products([*c12, *e1], [*c22, *e2]),
        lanes.product(*c33, *e3),
    ]
}

/// The compression beyond that which closes wrinkles; 0 or less.
#[inline(always)]
fn beyond_closing<F: F64x4>(lanes: F, strain: F::Four) -> F::Four {
    let closing = lanes.splat_four(BucklingParameters::DEFAULT.closing_strain);
    let (beyond, zero) = (lanes.plus(strain, closing), lanes.splat_four(0.0));
    lanes.select_less(beyond, zero, beyond, zero)
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
    use crate::{
        forces::{Strain, inelastic::apply},
        simd::{Kernel, Lanes, Portable, dispatch},
    };

    const MODULI: [f64; 4] = [1600.0, 950.0, 230.0, 60.0];
    const CRITICAL: [f64; 2] = [0.3, 0.2];

    /// Response to four strains: stress and energy, and tangent.
    #[derive(Clone, Copy)]
    struct Respond<'a>(&'a [Strain; 4]);

    impl Kernel for Respond<'_> {
        type Output = [(Strain, f64, [f64; 4]); 4];

        fn run<L: Lanes>(self, lanes: L) -> Self::Output {
            let law = BucklingLaw {
                moduli: MODULI.map(|modulus| lanes.splat_four(modulus)),
                critical: CRITICAL.map(|stress| lanes.splat_four(stress)),
            };
            let strain = [0, 1, 2].map(|k| lanes.load_four(&self.0.map(|strain| strain[k])));
            let (stress, energy) = law.respond(lanes, &strain);
            let (stress, energy) = (stress.map(|s| lanes.to_numbers(s)), lanes.to_numbers(energy));
            let tangent = law.tangent(lanes, &strain).map(|c| lanes.to_numbers(c));
            [0, 1, 2, 3].map(|k| (stress.map(|s| s[k]), energy[k], tangent.map(|c| c[k])))
        }
    }

    fn respond(strain: &Strain) -> (Strain, f64) {
        let [(stress, energy, _), ..] = dispatch(Respond(&[*strain; 4]));
        (stress, energy)
    }

    /// Strains in all states: of a grid, far beyond buckling along both yarns and far beyond in tension.
    fn strains() -> impl Iterator<Item = Strain> {
        let values = [-0.45, -0.3, -0.021, -3.0e-4, -1.0e-4, 5.0e-5, 0.004, 0.1];
        values.into_iter().flat_map(move |a| values.map(|b| [a, b, 0.7 * a - 0.2 * b]))
    }

    #[test]
    fn four_triangles_do_not_touch_each_other_whatever_the_machine() {
        let all: Vec<Strain> = strains().collect();
        for start in 0..all.len() {
            let four = [0, 7, 20, 45].map(|step| all[(start + step) % all.len()]);
            let found = dispatch(Respond(&four));
            for (strain, found) in four.iter().zip(&found) {
                assert_eq!(dispatch(Respond(&[*strain; 4]))[0], *found, "{strain:?}");
            }
            assert_eq!(Respond(&four).run(Portable), found);
        }
    }

    /// The relaxed energy is the least over the wrinkles.
    #[test]
    fn no_wrinkles_have_less_energy() {
        for strain in strains() {
            let (_, energy) = respond(&strain);
            let closed = [0, 1].map(|k| (strain[k] + 0.375).min(0.0).powi(2) * 0.5 * MODULI[k]);
            let kept = BucklingParameters::DEFAULT.remaining_modulus;
            let elastic = |strain: &Strain| {
                let stress = apply(&MODULI, strain);
                0.5 * (0..3).map(|k| stress[k] * strain[k]).sum::<f64>()
            };
            let relaxed = (energy - closed[0] - closed[1] - kept * elastic(&strain)) / (1.0 - kept);
            let scale = 1e-12 * (1.0 + elastic(&strain));
            for step in 0..121 {
                let wrinkles = [0.05 * f64::from(step % 11), 0.05 * f64::from(step / 11)];
                let yarns = [strain[0] + wrinkles[0], strain[1] + wrinkles[1], strain[2]];
                let load = CRITICAL[0] * wrinkles[0] + CRITICAL[1] * wrinkles[1];
                assert!(relaxed <= elastic(&yarns) + load + scale, "{strain:?} {wrinkles:?}");
            }
        }
    }

    #[test]
    fn stress_is_the_gradient_of_the_energy_and_the_tangent_that_of_the_stress() {
        for strain in strains() {
            let [(stress, _, [t11, t22, t12, t33]), ..] = dispatch(Respond(&[strain; 4]));
            let tangent = [[t11, t12, 0.0], [t12, t22, 0.0], [0.0, 0.0, t33]];
            let step = 1e-8;
            for k in 0..3 {
                let at = |shift: f64| {
                    let mut moved = strain;
                    moved[k] += shift;
                    respond(&moved)
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
            let [first, second, between] = [a, b, &middle].map(|strain| respond(strain).1);
            assert!(between <= 0.5 * (first + second) + 1e-12, "{a:?} {b:?}");
            assert!(first >= 0.0, "{a:?}");
        }
    }

    #[test]
    fn stress_saturates_at_the_buckling_load_and_tension_and_shear_do_not() {
        let (stress, _) = respond(&[-0.1, 0.02, 0.3]);
        let kept = BucklingParameters::DEFAULT.remaining_modulus;
        let linear = apply(&MODULI, &[-0.1, 0.02, 0.3]);
        assert!((stress[0] - ((1.0 - kept) * -0.3 + kept * linear[0])).abs() < 1e-12);
        assert!((stress[2] - linear[2]).abs() < 1e-12);
        let pulled = [0.03, -0.001, 0.2];
        let pairs = respond(&pulled).0.into_iter().zip(apply(&MODULI, &pulled));
        assert!(pairs.into_iter().all(|(found, linear)| (found - linear).abs() < 1e-15));
    }
}
