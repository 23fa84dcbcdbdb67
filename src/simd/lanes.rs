// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arithmetic on two 3-vectors at once, with the widest registers that the machine has.
//!
//! Every implementation does the same operations in the same order, without fusing products and sums, so that
//! results do not depend on the machine.

use super::{
    block3::{Block, Row3},
    f32x8::F32x8,
    f64x4::F64x4,
};
use wide::f32x8;

/// Operations on eight lanes: two 3-vectors side by side, each with a fourth lane of padding.
pub(crate) trait Lanes: F64x4 + F32x8 {
    fn join(self, low: &Row3, high: &Row3) -> Self::Eight;
    fn split(self, pair: Self::Eight) -> [Row3; 2];
    /// Each half filled with its first, second and third lane.
    fn broadcast_components(self, pair: Self::Eight) -> [Self::Eight; 3];
    /// Rows instead of columns, in each half for itself.
    fn transpose(self, columns: [Self::Eight; 3]) -> [Self::Eight; 3];

    /// Four numbers in double precision.
    fn widened(self, row: &Row3) -> Self::Four;

    /// Two blocks, transposed.
    #[inline(always)]
    fn transposed(self, left: &Block, right: &Block) -> [Block; 2] {
        let column = |k: usize| self.join(&left.0[k], &right.0[k]);
        let [a, b, c] = self.transpose([column(0), column(1), column(2)]);
        let ([a, d], [b, e], [c, f]) = (self.split(a), self.split(b), self.split(c));
        [Block([a, b, c]), Block([d, e, f])]
    }

    /// A block times a vector.
    fn times(self, block: &Block, vector: &Row3) -> Row3;

    /// `sum` + factor · `vector`.
    fn plus_multiple(self, sum: &Row3, factor: f32, vector: &Row3) -> Row3;

    /// a·x + b·y + c·z.
    #[inline(always)]
    fn linear_combination(
        self,
        [a, b, c]: [Self::Eight; 3],
        [x, y, z]: [Self::Eight; 3],
    ) -> Self::Eight {
        let first = self.sum(self.multiply(a, x), self.multiply(b, y));
        self.sum(first, self.multiply(c, z))
    }
}

/// A computation that is generic over the SIMD lanes.
pub(crate) trait Kernel {
    /// Result of the computation.
    type Output;

    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// Runs a kernel with the widest lanes that the machine has.
#[inline]
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = pulp::x86::V3::try_new() {
        return wide.vectorize(avx::Avx2 { lanes: wide, kernel });
    }
    kernel.run(Portable)
}

/// Portable eight lanes; the compiler chooses the instructions.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Lanes for Portable {
    #[inline(always)]
    fn join(self, low: &Row3, high: &Row3) -> f32x8 {
        f32x8::new(std::array::from_fn(|k| if k < 4 { low[k] } else { high[k - 4] }))
    }

    #[inline(always)]
    fn split(self, pair: f32x8) -> [Row3; 2] {
        let [a, b, c, d, e, f, g, h] = pair.to_array();
        [[a, b, c, d], [e, f, g, h]]
    }

    #[inline(always)]
    fn broadcast_components(self, pair: f32x8) -> [f32x8; 3] {
        let pair = pair.to_array();
        [0, 1, 2].map(|lane| f32x8::new(std::array::from_fn(|k| pair[k / 4 * 4 + lane])))
    }

    #[inline(always)]
    fn transpose(self, columns: [f32x8; 3]) -> [f32x8; 3] {
        let columns = columns.map(f32x8::to_array);
        let entry = |row: usize, k: usize| {
            if k % 4 == 3 { columns[2][k] } else { columns[k % 4][k / 4 * 4 + row] }
        };
        [0, 1, 2].map(|row| f32x8::new(std::array::from_fn(|k| entry(row, k))))
    }

    #[inline(always)]
    fn widened(self, row: &Row3) -> [f64; 4] {
        row.map(f64::from)
    }

    #[inline(always)]
    fn times(self, block: &Block, vector: &Row3) -> Row3 {
        let [a, b, c] = block.0;
        std::array::from_fn(|k| a[k] * vector[0] + b[k] * vector[1] + c[k] * vector[2])
    }

    #[inline(always)]
    fn plus_multiple(self, sum: &Row3, factor: f32, vector: &Row3) -> Row3 {
        std::array::from_fn(|k| sum[k] + factor * vector[k])
    }
}

#[cfg(target_arch = "x86_64")]
mod avx {
    use super::{Kernel, Lanes};
    use crate::simd::block3::{Block, Row3};
    use core::arch::x86_64::{__m128, __m256, __m256d};
    use pulp::{NullaryFnOnce, cast, x86::V3};

    /// A kernel with the registers of AVX2.
    pub(crate) struct Avx2<K> {
        pub(crate) lanes: V3,
        pub(crate) kernel: K,
    }

    impl<K: Kernel> NullaryFnOnce for Avx2<K> {
        type Output = K::Output;

        #[inline(always)]
        fn call(self) -> K::Output {
            self.kernel.run(self.lanes)
        }
    }

    impl Lanes for V3 {
        #[inline(always)]
        fn join(self, low: &Row3, high: &Row3) -> __m256 {
            self.avx._mm256_set_m128(cast::<_, __m128>(*high), cast::<_, __m128>(*low))
        }

        #[inline(always)]
        fn split(self, pair: __m256) -> [Row3; 2] {
            let high = self.avx._mm256_extractf128_ps::<1>(pair);
            [cast(self.avx._mm256_castps256_ps128(pair)), cast(high)]
        }

        #[inline(always)]
        fn broadcast_components(self, pair: __m256) -> [__m256; 3] {
            [
                self.avx._mm256_permute_ps::<0b00_00_00_00>(pair),
                self.avx._mm256_permute_ps::<0b01_01_01_01>(pair),
                self.avx._mm256_permute_ps::<0b10_10_10_10>(pair),
            ]
        }

        #[inline(always)]
        fn transpose(self, [a, b, c]: [__m256; 3]) -> [__m256; 3] {
            let low = self.avx._mm256_unpacklo_ps(a, b);
            let high = self.avx._mm256_unpackhi_ps(a, b);
            [
                self.avx._mm256_shuffle_ps::<0b11_00_01_00>(low, c),
                self.avx._mm256_shuffle_ps::<0b11_01_11_10>(low, c),
                self.avx._mm256_shuffle_ps::<0b11_10_01_00>(high, c),
            ]
        }

        #[inline(always)]
        fn widened(self, row: &Row3) -> __m256d {
            self.avx._mm256_cvtps_pd(cast(*row))
        }

        #[inline(always)]
        fn times(self, block: &Block, vector: &Row3) -> Row3 {
            let product = |k: usize| -> __m128 {
                self.sse._mm_mul_ps(cast(block.0[k]), self.sse._mm_set1_ps(vector[k]))
            };
            cast(self.sse._mm_add_ps(self.sse._mm_add_ps(product(0), product(1)), product(2)))
        }

        #[inline(always)]
        fn plus_multiple(self, sum: &Row3, factor: f32, vector: &Row3) -> Row3 {
            let product = self.sse._mm_mul_ps(self.sse._mm_set1_ps(factor), cast(*vector));
            cast(self.sse._mm_add_ps(cast(*sum), product))
        }
    }
}
