// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deflated conjugate gradients: the error in a few vectors W is removed exactly, and stays removed.
//!
//! Saad, Yeung, Erhel and Guyomarc'h, "A deflated version of the conjugate gradient algorithm" (2000). The initial
//! solution is W (WᵀAW)⁻¹Wᵀb, and every search direction is made conjugate to W. The vectors are the rigid motions of
//! bodies: what slides, rolls or falls as a whole moves along them, and a preconditioner whose coarse vectors are
//! translations of aggregates sees them late. Bodies do not interact, so that six products with the matrix
//! serve all of them.

use crate::{
    parallel::reductions,
    simd::{Row3, serial_dot},
};
use nalgebra::{SMatrix, SVector};
use rayon::prelude::*;

/// Rigid motions of a body: three translations and three rotations.
pub const MOTIONS: usize = 6;

/// Values of the motions of a body.
type MotionVector = SVector<f64, MOTIONS>;

/// Matrix between the motions of a body.
type MotionMatrix = SMatrix<f64, MOTIONS, MOTIONS>;

/// Heuristic parameters of the deflation.
struct DeflationParameters {
    /// Smallest eigenvalue of WᵀAW of a body, its diagonal scaled to 1, that counts as independent (1). Effect: larger
    /// leaves motions to the preconditioner; smaller amplifies the rounding of single precision. Evidence: none:
    /// rounding.
    min_eigenvalue: f64,
}

impl DeflationParameters {
    const DEFAULT: Self = Self { min_eigenvalue: 1.0e-4 };
}

/// Row that belongs to no body.
pub const NO_BODY: u32 = u32::MAX;

/// Rigid motions of bodies, which no entry of the matrix connects.
#[derive(Clone, Debug, Default)]
pub struct RigidMotions {
    /// Body of each row, or [`NO_BODY`].
    pub body_of_row: Vec<u32>,
    /// Number of bodies.
    pub body_count: usize,
    /// Displacement of each row by each motion of its body.
    pub displacements: [Vec<Row3>; MOTIONS],
}

/// Vectors W with WᵀAW = I, and their images AW.
#[derive(Clone, Debug, Default)]
pub(super) struct Deflation {
    body_of_row: Vec<u32>,
    body_count: usize,
    /// Rows of W and of AW.
    rows: Vec<[[Row3; MOTIONS]; 2]>,
}

impl Deflation {
    /// Deflation by motions with their products with the matrix, both filtered.
    pub(super) fn new(motions: &RigidMotions, images: &[Vec<Row3>; MOTIONS]) -> Self {
        let row = |row: usize| {
            [&motions.displacements, images].map(|list| std::array::from_fn(|k| list[k][row]))
        };
        let mut deflation = Self {
            body_of_row: motions.body_of_row.clone(),
            body_count: motions.body_count,
            rows: (0..motions.body_of_row.len()).into_par_iter().map(row).collect(),
        };
        let mut products = vec![MotionMatrix::zeros(); motions.body_count];
        for column in 0..MOTIONS {
            let sums = deflation.body_sums(|[_, images], _| images[column]);
            for (product, sum) in products.iter_mut().zip(sums) {
                product.set_column(column, &sum);
            }
        }
        let transforms: Vec<MotionMatrix> = products.iter().map(conjugating_transform).collect();
        deflation.transform(&transforms);
        deflation
    }

    /// Replaces W and AW of each body by their products with a matrix.
    fn transform(&mut self, transforms: &[MotionMatrix]) {
        let rows = self.rows.par_iter_mut().zip(&self.body_of_row);
        rows.with_min_len(reductions::MIN_VERTICES_PER_TASK).for_each(|(row, body)| {
            let Some(transform) = transforms.get(*body as usize) else { return };
            *row = row.map(|vectors| {
                std::array::from_fn(|column| {
                    combination(&vectors, |k| transform[(k, column)] as f32)
                })
            });
        });
    }

    /// Wᵀ of `value(row of [W, AW], row)`, body by body. Rows are summed in an order that does not depend on threads.
    fn body_sums(
        &self,
        value: impl Fn(&[[Row3; MOTIONS]; 2], usize) -> Row3 + Sync,
    ) -> Vec<MotionVector> {
        self.sums_along(0, value)
    }

    /// The same with W (0) or AW (1) in place of W.
    fn sums_along(
        &self,
        which: usize,
        value: impl Fn(&[[Row3; MOTIONS]; 2], usize) -> Row3 + Sync,
    ) -> Vec<MotionVector> {
        let length = 4 * reductions::MIN_VERTICES_PER_TASK;
        let chunk_sums = |(chunk, rows): (usize, &[[[Row3; MOTIONS]; 2]])| {
            let mut sums: Vec<(u32, MotionVector)> = Vec::new();
            for (offset, row) in rows.iter().enumerate() {
                let index = chunk * length + offset;
                let (body, value) = (self.body_of_row[index], value(row, index));
                let products = MotionVector::from_fn(|k, _| serial_dot(&[row[which][k]], &[value]));
                match sums.last_mut() {
                    Some((last, sum)) if *last == body => *sum += products,
                    _ => sums.push((body, products)),
                }
            }
            sums
        };
        let chunks: Vec<_> = self.rows.par_chunks(length).enumerate().map(chunk_sums).collect();
        let mut sums = vec![MotionVector::zeros(); self.body_count];
        for (body, products) in chunks.into_iter().flatten().filter(|(body, _)| *body != NO_BODY) {
            sums[body as usize] += products;
        }
        sums
    }

    /// Starts a solve: adds W Wᵀb to `solution` and subtracts its product with the matrix from the residual b.
    pub(super) fn remove_from_residual(&self, residual: &mut [Row3], solution: &mut [Row3]) {
        let sums = self.body_sums(|_, row| residual[row]);
        let rows = residual.par_iter_mut().zip(solution).zip(&self.rows).zip(&self.body_of_row);
        rows.with_min_len(reductions::MIN_VERTICES_PER_TASK).for_each(
            |(((residual, solution), [vectors, images]), body)| {
                let Some(sum) = sums.get(*body as usize) else { return };
                let factor = |k: usize| sum[k] as f32;
                *solution = plus(solution, &combination(vectors, factor));
                *residual = plus(residual, &combination(images, |k| -factor(k)));
            },
        );
    }

    /// Makes a search direction conjugate to W: subtracts W (AW)ᵀz, z being the new component of the direction.
    pub(super) fn conjugate(&self, component: &[Row3], direction: &mut [Row3]) {
        let sums = self.sums_along(1, |_, row| component[row]);
        let rows = direction.par_iter_mut().zip(&self.rows).zip(&self.body_of_row);
        rows.with_min_len(reductions::MIN_VERTICES_PER_TASK).for_each(
            |((direction, [vectors, _]), body)| {
                let Some(sum) = sums.get(*body as usize) else { return };
                *direction = plus(direction, &combination(vectors, |k| -sum[k] as f32));
            },
        );
    }
}

/// T with TᵀGT = I for the independent motions of G = WᵀAW, and 0 for the others.
fn conjugating_transform(product: &MotionMatrix) -> MotionMatrix {
    let scale =
        product.diagonal().map(|square| if square > 0.0 { square.sqrt().recip() } else { 0.0 });
    let scaled = product.component_mul(&(scale * scale.transpose()));
    let eigen = (0.5 * (scaled + scaled.transpose())).symmetric_eigen();
    let least = DeflationParameters::DEFAULT.min_eigenvalue;
    let inverse_root = |value: f64| if value > least { value.sqrt().recip() } else { 0.0 };
    let columns =
        eigen.eigenvectors * MotionMatrix::from_diagonal(&eigen.eigenvalues.map(inverse_root));
    MotionMatrix::from_diagonal(&scale) * columns
}

#[inline(always)]
fn combination(vectors: &[Row3; MOTIONS], factor: impl Fn(usize) -> f32) -> Row3 {
    let mut sum = [0.0; 4];
    for (k, vector) in vectors.iter().enumerate() {
        let factor = factor(k);
        sum = std::array::from_fn(|axis| sum[axis] + factor * vector[axis]);
    }
    sum
}

#[inline(always)]
fn plus(a: &Row3, b: &Row3) -> Row3 {
    std::array::from_fn(|axis| a[axis] + b[axis])
}
