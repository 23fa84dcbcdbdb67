// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arithmetic on eight numbers in single precision at once, with the widest registers that the machine has.
//!
//! Every implementation does the same operations in the same order. Names differ from those of `f64x4`, because lanes
//! have both.

use wide::f32x8;

/// Operations on eight numbers.
pub(crate) trait F32x8: Copy {
    /// Eight numbers.
    type Eight: Copy;
    /// Mask of eight lanes.
    type Mask: Copy;

    fn load(self, values: &[f32; 8]) -> Self::Eight;
    /// Array of the lanes.
    fn to_array(self, eight: Self::Eight) -> [f32; 8];
    fn sum(self, a: Self::Eight, b: Self::Eight) -> Self::Eight;
    fn difference(self, a: Self::Eight, b: Self::Eight) -> Self::Eight;
    fn multiply(self, a: Self::Eight, b: Self::Eight) -> Self::Eight;
    fn divide(self, a: Self::Eight, b: Self::Eight) -> Self::Eight;
    fn square_root(self, a: Self::Eight) -> Self::Eight;
    /// Mask of the lanes with a < b.
    fn less_than(self, a: Self::Eight, b: Self::Eight) -> Self::Mask;
    fn and(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn or(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// `x` in the lanes of the mask, and `y` elsewhere.
    fn select(self, places: Self::Mask, x: Self::Eight, y: Self::Eight) -> Self::Eight;
    /// One bit for each lane of the mask.
    fn mask_bits(self, places: Self::Mask) -> u32;
    /// Transposed rows: the first numbers of eight rows, the second ones, and so on.
    fn transpose_rows(self, row: impl Fn(usize) -> [f32; 4]) -> [Self::Eight; 4];

    /// `a` where it is less, and `b` elsewhere.
    #[inline(always)]
    fn minimum(self, a: Self::Eight, b: Self::Eight) -> Self::Eight {
        self.select(self.less_than(a, b), a, b)
    }

    /// `a` where it is more, and `b` elsewhere.
    #[inline(always)]
    fn maximum(self, a: Self::Eight, b: Self::Eight) -> Self::Eight {
        self.select(self.less_than(b, a), a, b)
    }

    /// A vector of eight equal numbers.
    #[inline(always)]
    fn splat(self, value: f32) -> Self::Eight {
        self.load(&[value; 8])
    }

    /// Differences of vectors.
    #[inline(always)]
    fn vector_difference(self, a: &[Self::Eight; 3], b: &[Self::Eight; 3]) -> [Self::Eight; 3] {
        [self.difference(a[0], b[0]), self.difference(a[1], b[1]), self.difference(a[2], b[2])]
    }

    /// Scalar products.
    #[inline(always)]
    fn vector_dot(self, a: &[Self::Eight; 3], b: &[Self::Eight; 3]) -> Self::Eight {
        let first = self.sum(self.multiply(a[0], b[0]), self.multiply(a[1], b[1]));
        self.sum(first, self.multiply(a[2], b[2]))
    }
}

impl F32x8 for crate::simd::lanes::Portable {
    type Eight = f32x8;
    type Mask = f32x8;

    #[inline(always)]
    fn load(self, values: &[f32; 8]) -> f32x8 {
        f32x8::new(*values)
    }

    #[inline(always)]
    fn to_array(self, eight: f32x8) -> [f32; 8] {
        eight.to_array()
    }

    #[inline(always)]
    fn sum(self, a: f32x8, b: f32x8) -> f32x8 {
        a + b
    }

    #[inline(always)]
    fn difference(self, a: f32x8, b: f32x8) -> f32x8 {
        a - b
    }

    #[inline(always)]
    fn multiply(self, a: f32x8, b: f32x8) -> f32x8 {
        a * b
    }

    #[inline(always)]
    fn divide(self, a: f32x8, b: f32x8) -> f32x8 {
        a / b
    }

    #[inline(always)]
    fn square_root(self, a: f32x8) -> f32x8 {
        a.sqrt()
    }

    #[inline(always)]
    fn less_than(self, a: f32x8, b: f32x8) -> f32x8 {
        a.simd_lt(b)
    }

    #[inline(always)]
    fn and(self, a: f32x8, b: f32x8) -> f32x8 {
        a & b
    }

    #[inline(always)]
    fn or(self, a: f32x8, b: f32x8) -> f32x8 {
        a | b
    }

    #[inline(always)]
    fn select(self, places: f32x8, x: f32x8, y: f32x8) -> f32x8 {
        places.select(x, y)
    }

    #[inline(always)]
    fn mask_bits(self, places: f32x8) -> u32 {
        places.to_bitmask()
    }

    #[inline(always)]
    fn transpose_rows(self, row: impl Fn(usize) -> [f32; 4]) -> [f32x8; 4] {
        let rows: [[f32; 4]; 8] = std::array::from_fn(row);
        std::array::from_fn(|column| f32x8::new(rows.map(|row| row[column])))
    }
}

#[cfg(target_arch = "x86_64")]
mod avx {
    use super::F32x8;
    use core::arch::x86_64::{__m128, __m256, _CMP_LT_OQ};
    use pulp::{cast, x86::V3};

    impl F32x8 for V3 {
        type Eight = __m256;
        type Mask = __m256;

        #[inline(always)]
        fn load(self, values: &[f32; 8]) -> __m256 {
            cast(*values)
        }

        #[inline(always)]
        fn to_array(self, eight: __m256) -> [f32; 8] {
            cast(eight)
        }

        #[inline(always)]
        fn sum(self, a: __m256, b: __m256) -> __m256 {
            self.avx._mm256_add_ps(a, b)
        }

        #[inline(always)]
        fn difference(self, a: __m256, b: __m256) -> __m256 {
            self.avx._mm256_sub_ps(a, b)
        }

        #[inline(always)]
        fn multiply(self, a: __m256, b: __m256) -> __m256 {
            self.avx._mm256_mul_ps(a, b)
        }

        #[inline(always)]
        fn divide(self, a: __m256, b: __m256) -> __m256 {
            self.avx._mm256_div_ps(a, b)
        }

        #[inline(always)]
        fn square_root(self, a: __m256) -> __m256 {
            self.avx._mm256_sqrt_ps(a)
        }

        #[inline(always)]
        fn less_than(self, a: __m256, b: __m256) -> __m256 {
            self.avx._mm256_cmp_ps::<_CMP_LT_OQ>(a, b)
        }

        #[inline(always)]
        fn and(self, a: __m256, b: __m256) -> __m256 {
            self.avx._mm256_and_ps(a, b)
        }

        #[inline(always)]
        fn or(self, a: __m256, b: __m256) -> __m256 {
            self.avx._mm256_or_ps(a, b)
        }

        #[inline(always)]
        fn select(self, places: __m256, x: __m256, y: __m256) -> __m256 {
            self.avx._mm256_blendv_ps(y, x, places)
        }

        #[inline(always)]
        fn mask_bits(self, places: __m256) -> u32 {
            self.avx._mm256_movemask_ps(places).cast_unsigned()
        }

        #[inline(always)]
        fn minimum(self, a: __m256, b: __m256) -> __m256 {
            self.avx._mm256_min_ps(a, b)
        }

        #[inline(always)]
        fn maximum(self, a: __m256, b: __m256) -> __m256 {
            self.avx._mm256_max_ps(a, b)
        }

        #[inline(always)]
        fn transpose_rows(self, row: impl Fn(usize) -> [f32; 4]) -> [__m256; 4] {
            let rows = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
            let row = |k: usize| -> __m128 { cast(rows[k]) };
            let a = self.avx._mm256_set_m128(row(4), row(0));
            let b = self.avx._mm256_set_m128(row(5), row(1));
            let c = self.avx._mm256_set_m128(row(6), row(2));
            let d = self.avx._mm256_set_m128(row(7), row(3));
            let firsts = [self.avx._mm256_unpacklo_ps(a, b), self.avx._mm256_unpacklo_ps(c, d)];
            let lasts = [self.avx._mm256_unpackhi_ps(a, b), self.avx._mm256_unpackhi_ps(c, d)];
            [
                self.avx._mm256_shuffle_ps::<0b01_00_01_00>(firsts[0], firsts[1]),
                self.avx._mm256_shuffle_ps::<0b11_10_11_10>(firsts[0], firsts[1]),
                self.avx._mm256_shuffle_ps::<0b01_00_01_00>(lasts[0], lasts[1]),
                self.avx._mm256_shuffle_ps::<0b11_10_11_10>(lasts[0], lasts[1]),
            ]
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use crate::simd::lanes::{Kernel, Lanes, Portable, dispatch};

    /// Everything there is to do with two times eight numbers.
    struct Everything<'a>(&'a [f32; 8], &'a [f32; 8]);

    impl Kernel for Everything<'_> {
        type Output = (Vec<f32>, [u32; 3]);

        fn run<L: Lanes>(self, lanes: L) -> Self::Output {
            let (a, b) = (lanes.load(self.0), lanes.load(self.1));
            let less = lanes.less_than(a, b);
            let more = lanes.less_than(b, a);
            let mut all = vec![
                lanes.sum(a, b),
                lanes.difference(a, b),
                lanes.multiply(a, b),
                lanes.divide(a, b),
                lanes.square_root(a),
                lanes.minimum(a, b),
                lanes.maximum(a, b),
                // NaN is not less than anything.
                lanes.minimum(lanes.divide(a, a), b),
                lanes.select(less, b, a),
            ];
            all.extend(lanes.transpose_rows(|row| std::array::from_fn(|k| self.0[k] + row as f32)));
            let bits = [less, lanes.and(less, more), lanes.or(less, more)];
            let numbers = all.into_iter().flat_map(|eight| lanes.split(eight)).flatten();
            (numbers.collect(), bits.map(|places| lanes.mask_bits(places)))
        }
    }

    #[test]
    fn wide_registers_give_the_same_bits() {
        let a = [0.0, 1.5, -2.0, 1.0e30, 3.0e-30, 7.0, -0.0, 0.1];
        let b = [0.0, 1.25, 4.0, -1.0, 1.0e-30, 7.0, 1.0, 0.3];
        let (wide, plain) = (dispatch(Everything(&a, &b)), Everything(&a, &b).run(Portable));
        let bits = |numbers: &[f32]| numbers.iter().map(|n| n.to_bits()).collect::<Vec<_>>();
        assert_eq!(plain.1, [0b1100_0100, 0, 0b1101_1110]);
        assert_eq!((bits(&wide.0), wide.1), (bits(&plain.0), plain.1));
        assert_eq!(plain.0[9 * 8..9 * 8 + 3], [0.0, 1.0, 2.0]);
    }
}
