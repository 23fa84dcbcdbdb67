// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gauss-Seidel by blocks.

use crate::{
    parallel,
    solver::{Block, BlockMatrix, Row3},
};
use rayon::prelude::*;

/// Inverted diagonal blocks for the sweeps.
#[derive(Default)]
pub(super) struct Smoother {
    inverses: Vec<Block>,
}

impl Smoother {
    pub(super) fn update(&mut self, matrix: &BlockMatrix) {
        let pattern = matrix.pattern();
        self.inverses.resize(pattern.row_count(), Block::default());
        let each = self.inverses.par_iter_mut().enumerate().with_min_len(parallel::VERTICES);
        each.for_each(|(row, inverse)| {
            *inverse = matrix.blocks()[pattern.diagonal(row)].inverse();
        });
    }

    /// A forward sweep from `solution` = 0, and what it leaves over.
    pub(super) fn forward(
        &self,
        matrix: &BlockMatrix,
        side: &[Row3],
        solution: &mut [Row3],
        residual: &mut [Row3],
    ) {
        let pattern = matrix.pattern();
        for row in 0..pattern.row_count() {
            let slots = pattern.row(row).start..pattern.diagonal(row);
            let mut value = side[row];
            for (column, block) in pattern.columns(row).iter().zip(&matrix.blocks()[slots]) {
                subtract(block, &solution[*column as usize], &mut value);
            }
            solution[row] = self.inverses[row].times(&value);
        }
        // (D + L) x = b, so that b − A x = −U x.
        let solution = &*solution;
        let each = residual.par_iter_mut().enumerate().with_min_len(parallel::VERTICES);
        each.for_each(|(row, residual)| {
            *residual = [0.0; 4];
            let slots = pattern.diagonal(row) + 1..pattern.row(row).end;
            let columns = &pattern.columns(row)[slots.start - pattern.row(row).start..];
            for (column, block) in columns.iter().zip(&matrix.blocks()[slots]) {
                subtract(block, &solution[*column as usize], residual);
            }
        });
    }

    /// A backward sweep.
    pub(super) fn backward(&self, matrix: &BlockMatrix, side: &[Row3], solution: &mut [Row3]) {
        let pattern = matrix.pattern();
        for row in (0..pattern.row_count()).rev() {
            let mut value = side[row];
            let diagonal = pattern.diagonal(row);
            for (slot, column) in pattern.row(row).zip(pattern.columns(row)) {
                if slot != diagonal {
                    subtract(&matrix.blocks()[slot], &solution[*column as usize], &mut value);
                }
            }
            solution[row] = self.inverses[row].times(&value);
        }
    }
}

fn subtract(block: &Block, vector: &Row3, value: &mut Row3) {
    for (column, scale) in block.0.iter().zip(vector) {
        for (entry, part) in value.iter_mut().zip(column) {
            *entry -= part * scale;
        }
    }
}
