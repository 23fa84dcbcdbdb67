// SPDX-License-Identifier: MIT OR Apache-2.0
//! The angle of a plane vector, by arithmetic alone: the same bits on every machine, which the system's
//! `atan2` does not promise, and half its time, which is a third of that of all bending forces.

use crate::simd::F64x4;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, FRAC_PI_8, PI};

const TAN_PI_8: f64 = 0.414_213_562_373_095_03;
const TAN_PI_16: f64 = 0.198_912_367_379_658;
const TAN_3_PI_16: f64 = 0.668_178_637_919_298_9;

/// Minimax coefficients of (atan(z)/z − 1)/z² in powers of z², for |z| up to tan(π/16): atan(z) to a
/// relative 1e-17.
const COEFFICIENTS: [f64; 7] = [
    -0.333_333_333_333_312_5,
    0.199_999_999_986_525_65,
    -0.142_857_139_907_949_27,
    0.111_110_804_661_123_05,
    -0.090_892_016_210_024_21,
    0.076_397_381_475_494_99,
    -0.058_161_691_086_447_57,
];

/// Angle in rad of the vector (x, y) from the x axis, between −π and π, to a few units in the last place; 0
/// for the vector 0. Neither may be infinite.
#[inline]
pub(super) fn atan2(y: f64, x: f64) -> f64 {
    // Case of nearly all edges of a fine mesh.
    if y.abs() < TAN_PI_16 * x { atan_near_zero(y / x) } else { atan2_general(y, x) }
}

#[inline(never)]
fn atan2_general(y: f64, x: f64) -> f64 {
    let (high, wide) = (y.abs(), x.abs());
    let (short, long) = if high > wide { (wide, high) } else { (high, wide) };
    // Turned back by 0, π/8 or π/4, the vector is at most π/16 off the axis.
    let (slope, turned) = if short <= TAN_PI_16 * long {
        (0.0, 0.0)
    } else if short <= TAN_3_PI_16 * long {
        (TAN_PI_8, FRAC_PI_8)
    } else {
        (1.0, FRAC_PI_4)
    };
    let z = (short - slope * long) / (long + slope * short).max(f64::MIN_POSITIVE);
    let angle = turned + atan_near_zero(z);
    let angle = if high > wide { FRAC_PI_2 - angle } else { angle };
    let angle = if x < 0.0 { PI - angle } else { angle };
    angle.copysign(y)
}

/// atan(z); the powers are paired so that the sums do not wait for each other.
#[inline]
fn atan_near_zero(z: f64) -> f64 {
    let [c0, c1, c2, c3, c4, c5, c6] = COEFFICIENTS;
    let square = z * z;
    let fourth = square * square;
    let low = (c0 + c1 * square) + (c2 + c3 * square) * fourth;
    let high = (c4 + c5 * square) + c6 * fourth;
    z + z * square * (low + high * (fourth * fourth))
}

/// [`atan2`] of four vectors, bit by bit equal.
#[inline(always)]
pub(super) fn atan2_lanes<F: F64x4>(lanes: F, y: F::Four, x: F::Four) -> F::Four {
    let (high, wide) = (lanes.magnitude(y), lanes.magnitude(x));
    let short = lanes.select_less(wide, high, wide, high);
    let long = lanes.select_less(wide, high, high, wide);
    let narrow = lanes.product(lanes.splat_four(TAN_PI_16), long);
    let middle = lanes.product(lanes.splat_four(TAN_3_PI_16), long);
    let turns = |half: f64, whole: f64| {
        let more =
            lanes.select_less(middle, short, lanes.splat_four(whole), lanes.splat_four(half));
        lanes.select_less(narrow, short, more, lanes.splat_four(0.0))
    };
    let (slope, turned) = (turns(TAN_PI_8, 1.0), turns(FRAC_PI_8, FRAC_PI_4));
    let above = lanes.minus(short, lanes.product(slope, long));
    let below = lanes.plus(long, lanes.product(slope, short));
    let z = lanes.quotient(above, lanes.maximum_of(below, lanes.splat_four(f64::MIN_POSITIVE)));
    let angle = lanes.plus(turned, atan_near_zero_lanes(lanes, z));
    let angle =
        lanes.select_less(wide, high, lanes.minus(lanes.splat_four(FRAC_PI_2), angle), angle);
    let behind = lanes.minus(lanes.splat_four(PI), angle);
    lanes.with_signs(lanes.select_less(x, lanes.splat_four(0.0), behind, angle), y)
}

/// [`atan_near_zero`] of four numbers.
#[inline(always)]
fn atan_near_zero_lanes<F: F64x4>(lanes: F, z: F::Four) -> F::Four {
    let [c0, c1, c2, c3, c4, c5, c6] = COEFFICIENTS;
    let square = lanes.product(z, z);
    let fourth = lanes.product(square, square);
    let line = |a: f64, b: f64| {
        lanes.plus(lanes.splat_four(a), lanes.product(lanes.splat_four(b), square))
    };
    let low = lanes.plus(line(c0, c1), lanes.product(line(c2, c3), fourth));
    let high = lanes.plus(line(c4, c5), lanes.product(lanes.splat_four(c6), fourth));
    let sum = lanes.plus(low, lanes.product(high, lanes.product(fourth, fourth)));
    lanes.plus(z, lanes.product(lanes.product(z, square), sum))
}

#[cfg(test)]
mod tests {
    use super::{atan2, atan2_lanes};
    use crate::simd::{Kernel, Lanes, dispatch};
    use std::f64::consts::{FRAC_PI_2, PI};

    #[test]
    fn it_agrees_with_the_library_all_the_way_round() {
        for step in -40_000..=40_000 {
            let angle = PI * f64::from(step) / 40_000.0;
            for size in [1e-12, 1.0, 3e9] {
                let (y, x) = (size * angle.sin(), size * angle.cos());
                let (found, wanted) = (atan2(y, x), y.atan2(x));
                let tolerance = 3.0 * f64::EPSILON * wanted.abs();
                assert!((found - wanted).abs() <= tolerance, "{y} {x}: {found} {wanted}");
            }
        }
    }

    struct Four([f64; 4], [f64; 4]);

    impl Kernel for Four {
        type Output = [f64; 4];

        fn run<L: Lanes>(self, lanes: L) -> [f64; 4] {
            lanes.to_numbers(atan2_lanes(lanes, lanes.load_four(&self.0), lanes.load_four(&self.1)))
        }
    }

    #[test]
    fn four_at_once_have_the_bits_of_one() {
        let mut vectors = vec![(0.0, 2.0), (3.0, 0.0), (-3.0, 0.0), (0.0, -1.0), (0.0, 0.0)];
        vectors.extend((0..4000).map(|step| (1.3 * f64::from(step)).sin_cos()));
        vectors.extend((0..300).map(|exponent| (10.0_f64.powi(-exponent), -1.0)));
        for four in vectors.windows(4) {
            let (y, x) = ([0, 1, 2, 3].map(|k| four[k].0), [0, 1, 2, 3].map(|k| four[k].1));
            let wanted = [0, 1, 2, 3].map(|k| atan2(y[k], x[k]));
            let found = dispatch(Four(y, x));
            assert_eq!(found.map(f64::to_bits), wanted.map(f64::to_bits), "{four:?}");
        }
    }

    #[test]
    fn the_axes_and_nothing_at_all_have_exact_angles() {
        let cases =
            [(0.0, 2.0, 0.0), (3.0, 0.0, FRAC_PI_2), (-3.0, 0.0, -FRAC_PI_2), (0.0, -1.0, PI)];
        for (y, x, angle) in cases {
            assert_eq!(atan2(y, x).to_bits(), f64::to_bits(angle), "{y} {x}");
        }
        for (y, x) in [(0.0, 0.0), (0.0, -0.0), (-0.0, -0.0)] {
            assert!(atan2(y, x).abs() < f64::MIN_POSITIVE);
        }
    }

    #[test]
    fn small_angles_keep_their_relative_accuracy() {
        for exponent in 1..300 {
            let small = 10.0_f64.powi(-exponent);
            let error = (atan2(small, 1.0) - small.atan()).abs();
            assert!(error <= 2.0 * f64::EPSILON * small, "{small}");
        }
    }
}
