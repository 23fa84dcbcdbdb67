// SPDX-License-Identifier: MIT OR Apache-2.0
//! 3×3 blocks and 3-vectors in `f32`, padded to four lanes so that they fill vector registers.

use crate::parallel::reductions;
use nalgebra::Matrix3;
use rayon::prelude::*;

/// A 3-vector; the fourth lane is 0.
pub type Row3 = [f32; 4];

/// Determinant over the product of the diagonal below which a matrix counts as singular.
const SINGULAR_DETERMINANT: f64 = 1e-12;

/// A 3×3 matrix by columns; the fourth lane of each is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Block(pub [Row3; 3]);

impl Block {
    /// The identity times `scale`.
    #[must_use]
    pub fn scaled_identity(scale: f32) -> Self {
        Self([[scale, 0.0, 0.0, 0.0], [0.0, scale, 0.0, 0.0], [0.0, 0.0, scale, 0.0]])
    }

    /// Rounds a matrix. What is left of cancellation becomes 0: products of it would be subnormal, which processors
    /// compute ten times slower (2.8 times the time of a conjugate gradient iteration of cloth on a table).
    #[must_use]
    pub fn from_matrix(matrix: &Matrix3<f64>) -> Self {
        let least = matrix.amax() * f64::from(f32::EPSILON).powi(2);
        let entry = |row: usize, k: usize| {
            let value = matrix[(row, k)];
            if value.abs() < least { 0.0 } else { value as f32 }
        };
        Self([0, 1, 2].map(|k| [entry(0, k), entry(1, k), entry(2, k), 0.0]))
    }

    /// The same matrix in `f64`.
    #[must_use]
    pub fn to_matrix(&self) -> Matrix3<f64> {
        Matrix3::from_fn(|row, column| f64::from(self.0[column][row]))
    }

    /// Adds another matrix.
    #[inline(always)]
    pub fn add(&mut self, other: &Self) {
        for (column, other) in self.0.iter_mut().zip(&other.0) {
            for (entry, other) in column.iter_mut().zip(other) {
                *entry += other;
            }
        }
    }

    /// Adds the identity times `scale`.
    #[inline(always)]
    pub fn add_scaled_identity(&mut self, scale: f32) {
        for (k, column) in self.0.iter_mut().enumerate() {
            column[k] += scale;
        }
    }

    /// Sum of the diagonal entries.
    #[must_use]
    pub fn trace(&self) -> f32 {
        self.0[0][0] + self.0[1][1] + self.0[2][2]
    }

    /// Multiplies the matrix.
    pub fn scale(&mut self, factor: f32) {
        for entry in self.0.as_flattened_mut() {
            *entry *= factor;
        }
    }

    /// Adds another matrix times `scale`.
    #[inline(always)]
    pub fn add_scaled(&mut self, scale: f32, other: &Self) {
        for (column, other) in self.0.iter_mut().zip(&other.0) {
            for (entry, other) in column.iter_mut().zip(other) {
                *entry += scale * other;
            }
        }
    }

    /// The matrix times `vector`.
    #[must_use]
    #[inline(always)]
    pub fn times(&self, vector: &Row3) -> Row3 {
        let mut result = [0.0; 4];
        self.accumulate(vector, &mut result);
        result
    }

    /// Adds the matrix times `vector` to `result`.
    #[inline(always)]
    pub fn accumulate(&self, vector: &Row3, result: &mut Row3) {
        for (column, scale) in self.0.iter().zip(vector) {
            for (entry, value) in result.iter_mut().zip(column) {
                *entry += value * scale;
            }
        }
    }

    /// The transposed matrix times `vector`, subtracted from `result`.
    pub fn subtract_transposed(&self, vector: &Row3, result: &mut Row3) {
        for (entry, column) in result.iter_mut().zip(&self.0) {
            *entry -= column.iter().zip(vector).map(|(a, b)| a * b).sum::<f32>();
        }
    }

    /// The product with another matrix.
    #[must_use]
    #[inline(always)]
    pub fn product(&self, other: &Self) -> Self {
        Self(other.0.map(|column| self.times(&column)))
    }

    /// The transposed matrix.
    #[must_use]
    #[inline(always)]
    pub fn transposed(&self) -> Self {
        let entry = |row: usize, column: usize| self.0[column][row];
        Self([0, 1, 2].map(|k| [entry(k, 0), entry(k, 1), entry(k, 2), 0.0]))
    }

    /// The inverse of a symmetric positive definite matrix, computed in `f64`; where rounding has spoilt
    /// it, the inverse of its diagonal.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mean = |i: usize, j: usize| 0.5 * (f64::from(self.0[i][j]) + f64::from(self.0[j][i]));
        let (a, d, f) = (mean(0, 0), mean(1, 1), mean(2, 2));
        let (b, c, e) = (mean(0, 1), mean(0, 2), mean(1, 2));
        let minors = [d * f - e * e, c * e - b * f, b * e - c * d];
        let others = [a * f - c * c, b * c - a * e, a * d - b * b];
        let determinant = a * minors[0] + b * minors[1] + c * minors[2];
        let is_definite =
            a > 0.0 && others[2] > 0.0 && determinant > SINGULAR_DETERMINANT * (a * d * f);
        if !is_definite {
            return self.robust_inverse();
        }
        let scale = 1.0 / determinant;
        let columns = [
            [minors[0], minors[1], minors[2]],
            [minors[1], others[0], others[1]],
            [minors[2], others[1], others[2]],
        ];
        Self(
            columns
                .map(|[x, y, z]| [(scale * x) as f32, (scale * y) as f32, (scale * z) as f32, 0.0]),
        )
    }

    #[cold]
    fn robust_inverse(&self) -> Self {
        let matrix = self.to_matrix();
        let inverse = matrix.cholesky().map_or_else(
            || Matrix3::from_diagonal(&matrix.diagonal().map(|d| 1.0 / d.abs().max(1e-30))),
            |factor| factor.inverse(),
        );
        Self::from_matrix(&inverse)
    }
}

/// Vector product.
#[must_use]
#[inline(always)]
pub(crate) fn cross(a: &Row3, b: &Row3) -> Row3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0], 0.0]
}

/// Scalar product of two lists of vectors, summed in `f64`.
#[must_use]
pub fn dot(a: &[Row3], b: &[Row3]) -> f64 {
    let length = 4 * reductions::MIN_VERTICES_PER_TASK;
    if a.len() <= length {
        return serial_dot(a, b);
    }
    let chunks = a.par_chunks(length).zip(b.par_chunks(length));
    let sums: Vec<f64> = chunks.map(|(a, b)| serial_dot(a, b)).collect();
    sums.iter().sum()
}

/// Scalar product of two short lists of vectors, summed in `f64`.
#[inline(always)]
pub(crate) fn serial_dot(a: &[Row3], b: &[Row3]) -> f64 {
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for k in 0..4 {
            sums[k] += f64::from(a[k]) * f64::from(b[k]);
        }
    }
    // The last lane is 0; a sum of all four keeps them in one register.
    sums[0] + sums[1] + sums[2] + sums[3]
}
