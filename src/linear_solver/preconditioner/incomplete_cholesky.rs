// SPDX-License-Identifier: MIT OR Apache-2.0
//! Incomplete Cholesky factorisation without fill (Etzmuss 2002, section 3.4.2), in blocks: A ≈ L D Lᵀ with L unit
//! lower triangular on the pattern of A. Contact blocks outside the pattern are left out: the rest of A is positive
//! definite and, for contacts between two sides, at least half of A.

use super::{FilteredMatrix, Preconditioner};
use crate::{
    linear_solver::{block_matrix::BlockMatrix, pattern::Pattern},
    simd::{Block, Row3},
};
use sprs::CsMatI;
use std::ops::Range;

/// The factors of A ≈ L D Lᵀ.
#[derive(Clone, Debug)]
pub struct IncompleteCholesky {
    /// L D below its diagonal; D⁻¹ apart.
    lower: CsMatI<Block, u32>,
    inverses: Vec<Block>,
}

impl IncompleteCholesky {
    /// Allocates the factors of matrices on a pattern.
    #[must_use]
    pub fn new(pattern: &Pattern) -> Self {
        Self {
            lower: pattern.lower_triangle().map(|()| Block::default()),
            inverses: vec![Block::default(); pattern.row_count()],
        }
    }

    /// Slots of a row in the columns and blocks of L D.
    fn row(&self, row: usize) -> Range<usize> {
        self.lower.indptr().outer_inds_sz(row)
    }

    /// Row `row` of L D from the rows above: (LD)_ij = A_ij − Σ_k (LD)_ik D_k⁻¹ (LD)_jkᵀ.
    fn factor_row(&mut self, row: usize, matrix: &BlockMatrix) {
        let slots = self.row(row);
        for slot in slots.clone() {
            let column = self.lower.indices()[slot] as usize;
            let mut value = matrix.block(row, column);
            self.subtract_common_columns(slots.start..slot, column, &mut value);
            self.lower.data_mut()[slot] = value;
        }
        let original = matrix.diagonals()[row];
        let mut value = original;
        for slot in slots {
            let (column, block) = (self.lower.indices()[slot], &self.lower.data()[slot]);
            let scaled = block.product(&self.inverses[column as usize]);
            value.add_scaled(-1.0, &scaled.product(&block.transposed()));
        }
        // A factorisation without fill can lose definiteness; the row then keeps its own diagonal.
        let definite = value.to_matrix().cholesky().is_some();
        self.inverses[row] = if definite { value.inverse() } else { original.inverse() };
    }

    /// Subtracts Σ_k (LD)_ik D_k⁻¹ (LD)_jkᵀ over the columns k that row j has in common with the `slots` of row i.
    fn subtract_common_columns(&self, slots: Range<usize>, other: usize, value: &mut Block) {
        let (columns, blocks) = (self.lower.indices(), self.lower.data());
        let (mut first, mut second) = (slots, self.row(other));
        while !first.is_empty() && !second.is_empty() {
            let (i, j) = (first.start, second.start);
            let (a, b) = (columns[i], columns[j]);
            if a == b {
                let scaled = blocks[i].product(&self.inverses[a as usize]);
                value.add_scaled(-1.0, &scaled.product(&blocks[j].transposed()));
            }
            first.start += usize::from(a <= b);
            second.start += usize::from(b <= a);
        }
    }
}

impl Preconditioner for IncompleteCholesky {
    fn update(&mut self, FilteredMatrix { matrix, .. }: FilteredMatrix<'_>) {
        for row in 0..self.inverses.len() {
            self.factor_row(row, matrix);
        }
    }

    fn apply(&mut self, _matrix: &BlockMatrix, vector: &[Row3], result: &mut [Row3]) {
        // Forwards with L D, so that `result` holds D⁻¹ times the usual intermediate.
        for (row, entries) in self.lower.outer_iterator().enumerate() {
            let mut value = vector[row];
            for (column, block) in entries.iter() {
                let image = block.times(&result[column]);
                for k in 0..3 {
                    value[k] -= image[k];
                }
            }
            result[row] = self.inverses[row].times(&value);
        }
        // Backwards with Lᵀ = D⁻¹ (L D)ᵀ.
        for (row, entries) in self.lower.outer_iterator().enumerate().rev() {
            let value = result[row];
            for (column, block) in entries.iter() {
                let mut image = [0.0; 4];
                block.subtract_transposed(&value, &mut image);
                let step = self.inverses[column].times(&image);
                for k in 0..3 {
                    result[column][k] += step[k];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear_solver::filter::Filter;
    use std::sync::Arc;

    /// A chain of blocks, for which a factorisation without fill is complete.
    fn chain(count: u32) -> BlockMatrix {
        let elements: Vec<[u32; 2]> = (1..count).map(|i| [i - 1, i]).collect();
        let elements: Vec<&[u32]> = elements.iter().map(<[u32; 2]>::as_slice).collect();
        let mut matrix =
            BlockMatrix::new(Arc::new(Pattern::of_elements(count as usize, &elements)));
        let coupling = Block([[-1.0, 0.5, 0.0, 0.0], [0.2, -2.0, 0.3, 0.0], [0.0, 0.1, -1.5, 0.0]]);
        matrix.fill_by(|row, column| match column.cmp(&row) {
            std::cmp::Ordering::Less => coupling,
            std::cmp::Ordering::Equal => Block::scaled_identity(5.0 + (row % 20) as f32),
            std::cmp::Ordering::Greater => coupling.transposed(),
        });
        matrix
    }

    #[test]
    fn a_chain_is_solved_exactly() {
        let matrix = chain(1200);
        let exact: Vec<Row3> =
            (0..1200).map(|i| [(i % 20) as f32, 1.0, -0.5 * (i % 30) as f32, 0.0]).collect();
        let (mut image, mut solution) = (exact.clone(), exact.clone());
        matrix.times(&exact, &mut image);
        let mut factors = IncompleteCholesky::new(matrix.pattern());
        let filter = &Filter::new(1200);
        factors.update(FilteredMatrix { matrix: &matrix, filter, positions: &[] });
        factors.apply(&matrix, &image, &mut solution);
        for (found, wanted) in solution.iter().zip(&exact) {
            for k in 0..3 {
                assert!((found[k] - wanted[k]).abs() < 1e-4, "{found:?} {wanted:?}");
            }
        }
    }
}
