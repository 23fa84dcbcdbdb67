// SPDX-License-Identifier: MIT OR Apache-2.0
//! Coarse correction of a preconditioner by the rigid motions of bodies: z + W (WᵀAW)⁻¹Wᵀ(r − Az), z = P⁻¹r.
//!
//! The method A-DEF2 of Tang, Nabben, Vuik and Erlangga, "Comparison of two-level preconditioners derived from
//! deflation, domain decomposition and multigrid methods" (2009), after Mandel, "Balancing domain decomposition" (1993):
//! deflation that bears an inexact AW, which here leaves out matrix-free terms. What slides, rolls or falls as a whole
//! moves along rigid motions, and a preconditioner whose coarse vectors are translations of aggregates sees them
//! late: its norm of the residual hardly counts them. Bodies do not interact, so that six products with the matrix
//! serve all of them.

use crate::{
    parallel::reductions,
    simd::{Row3, serial_dot},
};
use nalgebra::{SMatrix, SVector};
use rayon::prelude::*;

/// Rigid motions of a body: three translations and three rotations.
const MOTIONS: usize = 6;

/// Row that belongs to no body.
pub const NO_BODY: u32 = u32::MAX;

/// Values of the motions of a body.
type MotionVector = SVector<f64, MOTIONS>;

/// Matrix between the motions of a body.
type MotionMatrix = SMatrix<f64, MOTIONS, MOTIONS>;

/// Heuristic parameters of the coarse correction.
struct CoarseCorrectionParameters {
    /// Smallest eigenvalue of WᵀAW of a body, its diagonal scaled to 1, that counts as independent (1). Effect: larger
    /// leaves motions to the preconditioner; smaller amplifies the rounding of single precision. Evidence: none:
    /// rounding.
    min_eigenvalue: f64,
}

impl CoarseCorrectionParameters {
    const DEFAULT: Self = Self { min_eigenvalue: 1.0e-4 };
}

/// Displacements of a row by all motions of its body.
pub type MotionRow = [Row3; MOTIONS];

/// Rigid motions of bodies, which no entry of the matrix connects. Turned into a correction, WᵀAW = I.
#[derive(Clone, Debug, Default)]
pub struct RigidMotions {
    /// Body of each row, or [`NO_BODY`].
    pub body_of_row: Vec<u32>,
    /// Number of bodies.
    pub body_count: usize,
    /// W.
    pub rows: Vec<MotionRow>,
    /// AW; filled by [`Self::orthonormalise`].
    pub images: Vec<MotionRow>,
}

impl RigidMotions {
    /// Combines the motions of each body such that WᵀAW = I. `product` writes the product of the matrix with a filtered
    /// vector to another one.
    pub(super) fn orthonormalise(&mut self, mut product: impl FnMut(&[Row3], &mut [Row3])) {
        let mut products = vec![MotionMatrix::zeros(); self.body_count];
        let mut image = vec![[0.0; 4]; self.rows.len()];
        self.images.clear();
        self.images.resize(self.rows.len(), MotionRow::default());
        for column in 0..MOTIONS {
            let motion: Vec<Row3> = self.rows.iter().map(|row| row[column]).collect();
            product(&motion, &mut image);
            for (product, components) in
                products.iter_mut().zip(self.components(&self.rows, &image))
            {
                product.set_column(column, &components);
            }
            for (row, value) in self.images.iter_mut().zip(&image) {
                row[column] = *value;
            }
        }
        let transforms: Vec<MotionMatrix> = products.iter().map(orthonormalising_matrix).collect();
        let Self { rows, images, body_of_row, .. } = self;
        for list in [rows, images] {
            let rows = list.par_iter_mut().zip(&*body_of_row);
            rows.with_min_len(reductions::MIN_VERTICES_PER_TASK).for_each(|(row, body)| {
                let Some(transform) = transforms.get(*body as usize) else { return };
                let vectors = *row;
                *row = std::array::from_fn(|column| {
                    combination(&vectors, |motion| transform[(motion, column)] as f32)
                });
            });
        }
    }

    /// Product of the transpose of `motions` with a vector, body by body, summed in an order that does not depend on threads.
    fn components(&self, motions: &[MotionRow], vector: &[Row3]) -> Vec<MotionVector> {
        let length = 4 * reductions::MIN_VERTICES_PER_TASK;
        let rows = motions.par_chunks(length).zip(vector.par_chunks(length));
        let chunks =
            rows.zip(self.body_of_row.par_chunks(length)).map(|((rows, vector), bodies)| {
                let mut sums: Vec<(u32, MotionVector)> = Vec::new();
                for ((row, value), body) in rows.iter().zip(vector).zip(bodies) {
                    let products = MotionVector::from_fn(|k, _| serial_dot(&[row[k]], &[*value]));
                    match sums.last_mut() {
                        Some((last, sum)) if last == body => *sum += products,
                        _ => sums.push((*body, products)),
                    }
                }
                sums
            });
        let mut sums = vec![MotionVector::zeros(); self.body_count];
        for (body, products) in chunks.collect::<Vec<_>>().into_iter().flatten() {
            if let Some(sum) = sums.get_mut(body as usize) {
                *sum += products;
            }
        }
        sums
    }

    /// Start of a solve: the solution WWᵀb, b being the right side.
    pub(super) fn initial_solution(&self, right_side: &[Row3], solution: &mut [Row3]) {
        self.add_combination(&self.components(&self.rows, right_side), solution);
    }

    /// Corrects the preconditioned residual.
    pub(super) fn correct(&self, residual: &[Row3], preconditioned: &mut [Row3]) {
        let mut components = self.components(&self.rows, residual);
        let known = self.components(&self.images, preconditioned);
        components.iter_mut().zip(known).for_each(|(component, known)| *component -= known);
        self.add_combination(&components, preconditioned);
    }

    /// Adds the combination of W with the components of each body.
    fn add_combination(&self, components: &[MotionVector], sums: &mut [Row3]) {
        let rows = sums.par_iter_mut().zip(&self.rows).zip(&self.body_of_row);
        rows.with_min_len(reductions::MIN_VERTICES_PER_TASK).for_each(|((sum, row), body)| {
            let Some(own) = components.get(*body as usize) else { return };
            let added = combination(row, |motion| own[motion] as f32);
            *sum = std::array::from_fn(|axis| sum[axis] + added[axis]);
        });
    }
}

/// T with TᵀGT = I for the independent motions of G = WᵀAW, and 0 for the others.
fn orthonormalising_matrix(product: &MotionMatrix) -> MotionMatrix {
    let inverse_root =
        |value: f64, least: f64| if value > least { value.sqrt().recip() } else { 0.0 };
    let scale = product.diagonal().map(|square| inverse_root(square, 0.0));
    let scaled = product.component_mul(&(scale * scale.transpose()));
    let eigen = (0.5 * (scaled + scaled.transpose())).symmetric_eigen();
    let least = CoarseCorrectionParameters::DEFAULT.min_eigenvalue;
    let roots = eigen.eigenvalues.map(|value| inverse_root(value, least));
    MotionMatrix::from_diagonal(&scale) * eigen.eigenvectors * MotionMatrix::from_diagonal(&roots)
}

#[inline(always)]
fn combination(vectors: &MotionRow, factor: impl Fn(usize) -> f32) -> Row3 {
    let mut sum = [0.0; 4];
    for (motion, vector) in vectors.iter().enumerate() {
        let factor = factor(motion);
        sum = std::array::from_fn(|axis| sum[axis] + factor * vector[axis]);
    }
    sum
}
