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
        let mut coupled = coupled_rows(matrix).peekable();
        for row in 0..pattern.row_count() {
            let slots = pattern.row(row).start..pattern.diagonal(row);
            let mut value = side[row];
            for (column, block) in pattern.columns(row).iter().zip(&matrix.blocks()[slots]) {
                subtract(block, &solution[*column as usize], &mut value);
            }
            if let Some((position, _)) = coupled.next_if(|(_, other)| *other == row) {
                let above = matrix.coupling().row(position);
                for (column, block) in above.take_while(|(column, _)| (*column as usize) < row) {
                    subtract(block, &solution[column as usize], &mut value);
                }
            }
            solution[row] = self.inverses[row].times(&value);
        }
        upper_residual(matrix, solution, residual);
    }

    /// A backward sweep.
    pub(super) fn backward(&self, matrix: &BlockMatrix, side: &[Row3], solution: &mut [Row3]) {
        let pattern = matrix.pattern();
        let mut coupled = coupled_rows(matrix).rev().peekable();
        for row in (0..pattern.row_count()).rev() {
            let mut value = side[row];
            let diagonal = pattern.diagonal(row);
            for (slot, column) in pattern.row(row).zip(pattern.columns(row)) {
                if slot != diagonal {
                    subtract(&matrix.blocks()[slot], &solution[*column as usize], &mut value);
                }
            }
            if let Some((position, _)) = coupled.next_if(|(_, other)| *other == row) {
                for (column, block) in matrix.coupling().row(position) {
                    subtract(block, &solution[column as usize], &mut value);
                }
            }
            solution[row] = self.inverses[row].times(&value);
        }
    }
}

/// Residual after a forward sweep: (D + L) x = b, so that b − A x = −U x.
fn upper_residual(matrix: &BlockMatrix, solution: &[Row3], residual: &mut [Row3]) {
    let pattern = matrix.pattern();
    let groups = residual.par_chunks_mut(parallel::VERTICES).enumerate();
    groups.for_each(|(group, residual)| {
        let first = group * parallel::VERTICES;
        for (offset, residual) in residual.iter_mut().enumerate() {
            let row = first + offset;
            *residual = [0.0; 4];
            let slots = pattern.diagonal(row) + 1..pattern.row(row).end;
            let columns = &pattern.columns(row)[slots.start - pattern.row(row).start..];
            for (column, block) in columns.iter().zip(&matrix.blocks()[slots]) {
                subtract(block, &solution[*column as usize], residual);
            }
        }
        let coupling = matrix.coupling();
        for position in coupling.positions(first..first + residual.len()) {
            let row = coupling.rows()[position];
            let below = coupling.row(position).filter(|(column, _)| *column > row);
            for (column, block) in below {
                subtract(block, &solution[column as usize], &mut residual[row as usize - first]);
            }
        }
    });
}

/// Positions and numbers of the rows that have coupling.
fn coupled_rows(
    matrix: &BlockMatrix,
) -> impl DoubleEndedIterator<Item = (usize, usize)> + ExactSizeIterator {
    matrix.coupling().rows().iter().map(|row| *row as usize).enumerate()
}

fn subtract(block: &Block, vector: &Row3, value: &mut Row3) {
    for (column, scale) in block.0.iter().zip(vector) {
        for (entry, part) in value.iter_mut().zip(column) {
            *entry -= part * scale;
        }
    }
}
