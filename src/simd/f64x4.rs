// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arithmetic on four numbers at once, with the widest registers that the machine has.
//!
//! As with the lanes of the solver, every implementation does the same operations in the same order, so that results
//! do not depend on the machine.

use crate::vec3::Vec3;

/// Operations on four numbers.
pub(crate) trait F64x4: Copy {
    /// Four numbers.
    type Four: Copy;

    fn load_four(self, values: &[f64; 4]) -> Self::Four;
    fn to_numbers(self, four: Self::Four) -> [f64; 4];
    fn plus(self, a: Self::Four, b: Self::Four) -> Self::Four;
    fn minus(self, a: Self::Four, b: Self::Four) -> Self::Four;
    fn product(self, a: Self::Four, b: Self::Four) -> Self::Four;
    fn quotient(self, a: Self::Four, b: Self::Four) -> Self::Four;
    fn root(self, a: Self::Four) -> Self::Four;
    fn magnitude(self, a: Self::Four) -> Self::Four;
    /// Numbers with the magnitudes of `a` and the signs of `b`.
    fn with_signs(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// `x` where a < b, and `y` elsewhere.
    fn select_less(self, a: Self::Four, b: Self::Four, x: Self::Four, y: Self::Four) -> Self::Four;
    /// Whether a < b in any lane.
    fn is_any_less(self, a: Self::Four, b: Self::Four) -> bool;
    /// The first and the second numbers of four pairs.
    fn pairs<'a>(self, pair: impl Fn(usize) -> &'a [f64; 2]) -> [Self::Four; 2];
    /// The pairs one by one.
    fn split_pairs(self, pairs: &[Self::Four; 2]) -> [[f64; 2]; 4];
    /// Four rows of three numbers, column by column.
    fn columns<'a>(self, row: impl Fn(usize) -> &'a [f64; 3]) -> [Self::Four; 3];

    /// A vector of four equal numbers.
    #[inline(always)]
    fn splat_four(self, value: f64) -> Self::Four {
        self.load_four(&[value; 4])
    }

    /// The larger ones.
    #[inline(always)]
    fn maximum_of(self, a: Self::Four, b: Self::Four) -> Self::Four {
        self.select_less(a, b, b, a)
    }

    /// Four vectors, component by component.
    #[inline(always)]
    fn vectors<'a>(self, vector: impl Fn(usize) -> &'a Vec3) -> [Self::Four; 3] {
        self.columns(|k| vector(k).as_ref())
    }

    /// The vectors one by one.
    #[inline(always)]
    fn split_vectors(self, vectors: &[Self::Four; 3]) -> [Vec3; 4] {
        self.rows(vectors).map(Vec3::from)
    }

    /// The components of four vectors, one vector after the other.
    #[inline(always)]
    fn rows(self, [x, y, z]: &[Self::Four; 3]) -> [[f64; 3]; 4] {
        let (x, y, z) = (self.to_numbers(*x), self.to_numbers(*y), self.to_numbers(*z));
        let one = |k: usize| [x[k], y[k], z[k]];
        [one(0), one(1), one(2), one(3)]
    }

    /// Four members of a list.
    #[inline(always)]
    fn gather_four(self, places: &[usize; 4], list: &[f64]) -> Self::Four {
        let [a, b, c, d] = places;
        self.load_four(&[list[*a], list[*b], list[*c], list[*d]])
    }

    /// Opposite numbers, as 0 less each.
    #[inline(always)]
    fn negative(self, a: Self::Four) -> Self::Four {
        self.minus(self.splat_four(0.0), a)
    }

    /// a·x + b·y.
    #[inline(always)]
    fn two_products(self, [a, x]: [Self::Four; 2], [b, y]: [Self::Four; 2]) -> Self::Four {
        self.plus(self.product(a, x), self.product(b, y))
    }

    /// Vectors times numbers.
    #[inline(always)]
    fn scaled(self, factor: Self::Four, a: &[Self::Four; 3]) -> [Self::Four; 3] {
        [self.product(factor, a[0]), self.product(factor, a[1]), self.product(factor, a[2])]
    }

    /// Sums of vectors.
    #[inline(always)]
    fn vector_sums(self, a: &[Self::Four; 3], b: &[Self::Four; 3]) -> [Self::Four; 3] {
        [self.plus(a[0], b[0]), self.plus(a[1], b[1]), self.plus(a[2], b[2])]
    }

    /// Differences of vectors.
    #[inline(always)]
    fn vectors_between(self, a: &[Self::Four; 3], b: &[Self::Four; 3]) -> [Self::Four; 3] {
        [self.minus(a[0], b[0]), self.minus(a[1], b[1]), self.minus(a[2], b[2])]
    }

    /// Vector products.
    #[inline(always)]
    fn cross(self, a: &[Self::Four; 3], b: &[Self::Four; 3]) -> [Self::Four; 3] {
        let component =
            |i: usize, j: usize| self.minus(self.product(a[i], b[j]), self.product(a[j], b[i]));
        [component(1, 2), component(2, 0), component(0, 1)]
    }

    /// Scalar products.
    #[inline(always)]
    fn dot(self, a: &[Self::Four; 3], b: &[Self::Four; 3]) -> Self::Four {
        let first = self.plus(self.product(a[0], b[0]), self.product(a[1], b[1]));
        self.plus(first, self.product(a[2], b[2]))
    }
}

/// Indices of four members from `first` on in a list of `count`; past the end the last one again.
#[inline(always)]
pub(crate) fn lane_indices(first: usize, count: usize) -> [usize; 4] {
    let last = count - 1;
    [first.min(last), (first + 1).min(last), (first + 2).min(last), (first + 3).min(last)]
}

/// Four members of a list from `first` on; past the end 0.
#[inline(always)]
pub(crate) fn four_from(list: &[f64], first: usize) -> [f64; 4] {
    if let Some(four) = list.get(first..).and_then(<[f64]>::first_chunk) {
        return *four;
    }
    std::array::from_fn(|k| list.get(first + k).copied().unwrap_or(0.0))
}

/// Writes the first of four results to places of which there may be fewer.
#[inline(always)]
pub(crate) fn write_lanes<T: Copy>(results: &mut [T], found: &[T; 4]) {
    if let Some(all) = results.first_chunk_mut() {
        *all = *found;
        return;
    }
    for (result, found) in results.iter_mut().zip(found) {
        *result = *found;
    }
}

impl F64x4 for crate::simd::lanes::Portable {
    type Four = [f64; 4];

    #[inline(always)]
    fn load_four(self, values: &[f64; 4]) -> [f64; 4] {
        *values
    }

    #[inline(always)]
    fn to_numbers(self, four: [f64; 4]) -> [f64; 4] {
        four
    }

    #[inline(always)]
    fn plus(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| a[k] + b[k])
    }

    #[inline(always)]
    fn minus(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| a[k] - b[k])
    }

    #[inline(always)]
    fn product(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| a[k] * b[k])
    }

    #[inline(always)]
    fn quotient(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| a[k] / b[k])
    }

    #[inline(always)]
    fn root(self, a: [f64; 4]) -> [f64; 4] {
        a.map(f64::sqrt)
    }

    #[inline(always)]
    fn magnitude(self, a: [f64; 4]) -> [f64; 4] {
        a.map(f64::abs)
    }

    #[inline(always)]
    fn with_signs(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| a[k].copysign(b[k]))
    }

    #[inline(always)]
    fn select_less(self, a: [f64; 4], b: [f64; 4], x: [f64; 4], y: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| if a[k] < b[k] { x[k] } else { y[k] })
    }

    #[inline(always)]
    fn is_any_less(self, a: [f64; 4], b: [f64; 4]) -> bool {
        a.iter().zip(&b).any(|(a, b)| a < b)
    }

    #[inline(always)]
    fn pairs<'a>(self, pair: impl Fn(usize) -> &'a [f64; 2]) -> [[f64; 4]; 2] {
        let pairs = [pair(0), pair(1), pair(2), pair(3)];
        [pairs.map(|[first, _]| *first), pairs.map(|[_, second]| *second)]
    }

    #[inline(always)]
    fn split_pairs(self, [first, second]: &[[f64; 4]; 2]) -> [[f64; 2]; 4] {
        std::array::from_fn(|k| [first[k], second[k]])
    }

    #[inline(always)]
    fn columns<'a>(self, row: impl Fn(usize) -> &'a [f64; 3]) -> [[f64; 4]; 3] {
        let rows = [row(0), row(1), row(2), row(3)];
        std::array::from_fn(|column| rows.map(|row| row[column]))
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::F64x4;
    use core::arch::x86_64::{__m128d, __m256d, _CMP_LT_OQ};
    use pulp::{cast, x86::V3};

    impl F64x4 for V3 {
        type Four = __m256d;

        #[inline(always)]
        fn load_four(self, values: &[f64; 4]) -> __m256d {
            cast(*values)
        }

        #[inline(always)]
        fn to_numbers(self, four: __m256d) -> [f64; 4] {
            cast(four)
        }

        #[inline(always)]
        fn plus(self, a: __m256d, b: __m256d) -> __m256d {
            self.avx._mm256_add_pd(a, b)
        }

        #[inline(always)]
        fn minus(self, a: __m256d, b: __m256d) -> __m256d {
            self.avx._mm256_sub_pd(a, b)
        }

        #[inline(always)]
        fn product(self, a: __m256d, b: __m256d) -> __m256d {
            self.avx._mm256_mul_pd(a, b)
        }

        #[inline(always)]
        fn quotient(self, a: __m256d, b: __m256d) -> __m256d {
            self.avx._mm256_div_pd(a, b)
        }

        #[inline(always)]
        fn root(self, a: __m256d) -> __m256d {
            self.avx._mm256_sqrt_pd(a)
        }

        #[inline(always)]
        fn magnitude(self, a: __m256d) -> __m256d {
            self.avx._mm256_andnot_pd(self.splat_four(-0.0), a)
        }

        #[inline(always)]
        fn select_less(self, a: __m256d, b: __m256d, x: __m256d, y: __m256d) -> __m256d {
            let is_less = self.avx._mm256_cmp_pd::<_CMP_LT_OQ>(a, b);
            self.avx._mm256_blendv_pd(y, x, is_less)
        }

        #[inline(always)]
        fn with_signs(self, a: __m256d, b: __m256d) -> __m256d {
            let sign = self.avx._mm256_and_pd(self.splat_four(-0.0), b);
            self.avx._mm256_or_pd(self.magnitude(a), sign)
        }

        #[inline(always)]
        fn is_any_less(self, a: __m256d, b: __m256d) -> bool {
            self.avx._mm256_movemask_pd(self.avx._mm256_cmp_pd::<_CMP_LT_OQ>(a, b)) != 0
        }

        #[inline(always)]
        fn pairs<'a>(self, pair: impl Fn(usize) -> &'a [f64; 2]) -> [__m256d; 2] {
            let (a, b, c, d) = (*pair(0), *pair(1), *pair(2), *pair(3));
            let even = self.avx._mm256_set_m128d(cast(c), cast(a));
            let odd = self.avx._mm256_set_m128d(cast(d), cast(b));
            [self.avx._mm256_unpacklo_pd(even, odd), self.avx._mm256_unpackhi_pd(even, odd)]
        }

        #[inline(always)]
        fn split_pairs(self, pairs: &[__m256d; 2]) -> [[f64; 2]; 4] {
            let even = self.avx._mm256_unpacklo_pd(pairs[0], pairs[1]);
            let odd = self.avx._mm256_unpackhi_pd(pairs[0], pairs[1]);
            let ([a, c], [b, d]): ([[f64; 2]; 2], [[f64; 2]; 2]) = (cast(even), cast(odd));
            [a, b, c, d]
        }

        #[inline(always)]
        fn columns<'a>(self, row: impl Fn(usize) -> &'a [f64; 3]) -> [__m256d; 3] {
            let (a, b, c, d) = (row(0), row(1), row(2), row(3));
            let pair = |row: &[f64; 3]| -> __m128d { cast([row[0], row[1]]) };
            let even = self.avx._mm256_set_m128d(pair(c), pair(a));
            let odd = self.avx._mm256_set_m128d(pair(d), pair(b));
            [
                self.avx._mm256_unpacklo_pd(even, odd),
                self.avx._mm256_unpackhi_pd(even, odd),
                self.load_four(&[a[2], b[2], c[2], d[2]]),
            ]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{four_from, lane_indices, write_lanes};
    use crate::simd::{Kernel, Lanes, Portable, dispatch};

    /// Everything there is to do with two times four numbers and with rows.
    #[derive(Clone, Copy)]
    struct Everything([f64; 4], [f64; 4], [[f64; 3]; 4]);

    impl Kernel for Everything {
        type Output = (Vec<[f64; 4]>, [[f64; 2]; 4], [[f64; 3]; 4], [bool; 2]);

        fn run<L: Lanes>(self, lanes: L) -> Self::Output {
            let (a, b) = (lanes.load_four(&self.0), lanes.load_four(&self.1));
            let rows = self.2;
            let pairs = rows.map(|[x, y, _]| [x, y]);
            let ([x, y, z], [first, second]) =
                (lanes.columns(|k| &rows[k]), lanes.pairs(|k| &pairs[k]));
            let all = [
                lanes.plus(a, b),
                lanes.minus(a, b),
                lanes.product(a, b),
                lanes.quotient(a, b),
                lanes.root(lanes.magnitude(a)),
                lanes.with_signs(a, b),
                lanes.select_less(a, b, x, y),
                lanes.maximum_of(a, b),
                lanes.negative(a),
                lanes.two_products([a, b], [x, z]),
                lanes.dot(&[x, y, z], &[a, b, a]),
                first,
                second,
            ];
            let numbers = all.iter().map(|four| lanes.to_numbers(*four)).collect();
            let scaled = lanes.scaled(a, &lanes.vector_sums(&[x, y, z], &[b, a, b]));
            let is_less = [lanes.is_any_less(a, b), lanes.is_any_less(a, a)];
            (numbers, lanes.split_pairs(&[x, z]), lanes.rows(&scaled), is_less)
        }
    }

    #[test]
    fn wide_registers_give_the_same_numbers() {
        let rows = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [-0.1, 0.2, 1.0e-9]];
        let kernel = Everything([0.3, -2.0, 1.0e30, 5.0], [-0.7, 3.0, -1.0e-30, 5.0], rows);
        let found = dispatch(kernel);
        assert_eq!(found, kernel.run(Portable));
        let (numbers, pairs, _, is_less) = found;
        let bits = |numbers: &[f64]| numbers.iter().map(|own| own.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&numbers[5]), bits(&[-0.3, 2.0, -1.0e30, 5.0]));
        assert_eq!([numbers[11], numbers[12]], [[1.0, 4.0, 7.0, -0.1], [2.0, 5.0, 8.0, 0.2]]);
        assert_eq!(pairs, rows.map(|[x, _, z]| [x, z]));
        assert_eq!(is_less, [true, false]);
    }

    #[test]
    fn past_the_end_there_is_nothing() {
        let list = [1.0, 2.0, 3.0, 4.0, 5.0];
        let whole = |numbers: [f64; 4]| numbers.map(|number| number as i32);
        assert_eq!(whole(four_from(&list, 1)), [2, 3, 4, 5]);
        assert_eq!(whole(four_from(&list, 3)), [4, 5, 0, 0]);
        assert_eq!(whole(four_from(&list, 7)), [0; 4]);
        assert_eq!(lane_indices(3, 5), [3, 4, 4, 4]);
        let mut results = [0; 6];
        write_lanes(&mut results[..4], &[1, 2, 3, 4]);
        write_lanes(&mut results[4..], &[5, 6, 7, 8]);
        assert_eq!(results, [1, 2, 3, 4, 5, 6]);
    }
}
