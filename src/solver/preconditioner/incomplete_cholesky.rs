// SPDX-License-Identifier: MIT OR Apache-2.0
//! Incomplete Cholesky factorisation without fill (Etzmuss 2002, section 3.4.2), in blocks: A ≈ L D Lᵀ with
//! L unit lower triangular on the pattern of A. The coupling of contacts is left out: what is left of A is positive
//! definite and, for contacts between two sides, at least half of A.

use super::Preconditioner;
use crate::solver::{Block, BlockMatrix, Pattern, Row3};
use std::sync::Arc;

/// The factors of A ≈ L D Lᵀ.
#[derive(Clone, Debug)]
pub struct IncompleteCholesky {
    pattern: Arc<Pattern>,
    /// L D in the lower slots of the pattern; D⁻¹ apart.
    lower: Vec<Block>,
    inverses: Vec<Block>,
}

impl IncompleteCholesky {
    /// Room for the factors of matrices on a pattern.
    #[must_use]
    pub fn new(pattern: Arc<Pattern>) -> Self {
        let lower = vec![Block::default(); pattern.block_count()];
        let inverses = vec![Block::default(); pattern.row_count()];
        Self { pattern, lower, inverses }
    }

    /// Row `row` of L D from the rows above: (LD)_ij = A_ij − Σ_k (LD)_ik D_k⁻¹ (LD)_jkᵀ.
    fn factor_row(&mut self, row: usize, matrix: &BlockMatrix) {
        let pattern = self.pattern.clone();
        let first = pattern.row(row).start;
        let diagonal = pattern.diagonal(row);
        for slot in first..diagonal {
            let column = pattern.columns(row)[slot - first] as usize;
            let mut value = matrix.blocks()[slot];
            self.subtract_shared((row, slot), column, &mut value);
            self.lower[slot] = value;
        }
        let original = matrix.blocks()[diagonal];
        let mut value = original;
        for slot in first..diagonal {
            let column = pattern.columns(row)[slot - first] as usize;
            let scaled = self.lower[slot].product(&self.inverses[column]);
            value.add_scaled(-1.0, &scaled.product(&self.lower[slot].transposed()));
        }
        // A factorisation without fill can lose definiteness; the row then keeps its own diagonal.
        let definite = value.to_matrix().cholesky().is_some();
        self.inverses[row] = if definite { value.inverse() } else { original.inverse() };
    }

    /// Subtracts Σ_k (LD)_ik D_k⁻¹ (LD)_jkᵀ over the columns k that rows i and j share below `end`.
    fn subtract_shared(&self, (row, end): (usize, usize), other: usize, value: &mut Block) {
        let pattern = &self.pattern;
        let (mut mine, mut theirs) = (pattern.row(row).start, pattern.row(other).start);
        let (my_columns, their_columns) = (pattern.columns(row), pattern.columns(other));
        let (my_first, their_first) = (mine, theirs);
        let their_end = pattern.diagonal(other);
        while mine < end && theirs < their_end {
            let (a, b) = (my_columns[mine - my_first], their_columns[theirs - their_first]);
            if a == b {
                let scaled = self.lower[mine].product(&self.inverses[a as usize]);
                value.add_scaled(-1.0, &scaled.product(&self.lower[theirs].transposed()));
            }
            mine += usize::from(a <= b);
            theirs += usize::from(b <= a);
        }
    }
}

impl Preconditioner for IncompleteCholesky {
    fn update(&mut self, matrix: &BlockMatrix) {
        for row in 0..self.pattern.row_count() {
            self.factor_row(row, matrix);
        }
    }

    fn apply(&mut self, _matrix: &BlockMatrix, vector: &[Row3], result: &mut [Row3]) {
        let pattern = &self.pattern;
        // Forwards with L D, so that `result` holds D⁻¹ times the usual intermediate.
        for row in 0..pattern.row_count() {
            let mut value = vector[row];
            let slots = pattern.row(row).start..pattern.diagonal(row);
            for (column, slot) in pattern.columns(row).iter().zip(slots) {
                let image = self.lower[slot].times(&result[*column as usize]);
                for k in 0..3 {
                    value[k] -= image[k];
                }
            }
            result[row] = self.inverses[row].times(&value);
        }
        // Backwards with Lᵀ = D⁻¹ (L D)ᵀ.
        for row in (0..pattern.row_count()).rev() {
            let value = result[row];
            let slots = pattern.row(row).start..pattern.diagonal(row);
            for (column, slot) in pattern.columns(row).iter().zip(slots) {
                let mut image = [0.0; 4];
                self.lower[slot].subtract_transposed(&value, &mut image);
                let column = *column as usize;
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

    /// A chain of blocks, for which a factorisation without fill is complete.
    fn chain(count: u32) -> BlockMatrix {
        let elements: Vec<[u32; 2]> = (1..count).map(|i| [i - 1, i]).collect();
        let elements: Vec<&[u32]> = elements.iter().map(<[u32; 2]>::as_slice).collect();
        let mut matrix =
            BlockMatrix::new(Arc::new(Pattern::of_elements(count as usize, &elements)));
        let pattern = matrix.pattern().clone();
        let coupling = Block([[-1.0, 0.5, 0.0, 0.0], [0.2, -2.0, 0.3, 0.0], [0.0, 0.1, -1.5, 0.0]]);
        matrix.fill_rows(|row, blocks| {
            for (block, column) in blocks.iter_mut().zip(pattern.columns(row)) {
                *block = match (*column as usize).cmp(&row) {
                    std::cmp::Ordering::Less => coupling,
                    std::cmp::Ordering::Equal => Block::scaled_identity(5.0 + row as f32),
                    std::cmp::Ordering::Greater => coupling.transposed(),
                };
            }
        });
        matrix
    }

    #[test]
    fn a_chain_is_solved_exactly() {
        let matrix = chain(20);
        let exact: Vec<Row3> = (0..20).map(|i| [i as f32, 1.0, -0.5 * i as f32, 0.0]).collect();
        let (mut image, mut solution) = (exact.clone(), exact.clone());
        matrix.times(&exact, &mut image);
        let mut factors = IncompleteCholesky::new(matrix.pattern().clone());
        factors.update(&matrix);
        factors.apply(&matrix, &image, &mut solution);
        for (found, wanted) in solution.iter().zip(&exact) {
            for k in 0..3 {
                assert!((found[k] - wanted[k]).abs() < 1e-4, "{found:?} {wanted:?}");
            }
        }
    }
}
