// SPDX-License-Identifier: MIT OR Apache-2.0
//! Constraints as filters: Baraff and Witkin 1998, section 5.1 and 5.3.
//!
//! A vertex whose displacement is prescribed along some directions has the projector S = I − Σ ccᵀ onto the
//! others. Solving S A S d = S b with d free of the constrained directions is solving for the free ones.

use super::{Block, BlockMatrix, Row3};
use nalgebra::Matrix3;

/// The projectors of the rows of all constrained vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Constrained rows in ascending order, each with its projector.
    projectors: Vec<(u32, Block)>,
    /// Position in `projectors` plus 1, or 0, for every row.
    index: Vec<u32>,
}

impl Filter {
    /// No constraints on `row_count` rows.
    #[must_use]
    pub fn new(row_count: usize) -> Self {
        Self { projectors: Vec::new(), index: vec![0; row_count] }
    }

    /// Takes away all constraints.
    pub fn clear(&mut self) {
        for (row, _) in self.projectors.drain(..) {
            self.index[row as usize] = 0;
        }
    }

    /// Constrains a row to the directions that `projector` leaves. Rows come in ascending order.
    pub fn constrain(&mut self, row: usize, projector: &Matrix3<f64>) {
        debug_assert!(self.projectors.last().is_none_or(|(last, _)| (*last as usize) < row));
        self.projectors.push((row as u32, Block::from_matrix(projector)));
        self.index[row] = self.projectors.len() as u32;
    }

    /// Whether nothing is constrained.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.projectors.is_empty()
    }

    /// Takes the constrained directions out of `vector`.
    pub fn apply(&self, vector: &mut [Row3]) {
        for (row, projector) in &self.projectors {
            let entry = &mut vector[*row as usize];
            *entry = projector.times(entry);
        }
    }

    /// Turns A into S A S + (I − S)·δ with δ the mean diagonal of the row, so that what does not know of
    /// constraints, a preconditioner, sees them in the matrix.
    pub fn apply_to(&self, matrix: &mut BlockMatrix) {
        if self.is_empty() {
            return;
        }
        matrix.map(
            |row| self.index[row] > 0,
            |row, column, block| {
                let (left, right) = (self.projector_block(row), self.projector_block(column));
                let mut result = left.map_or(*block, |left| left.product(block));
                result = right.map_or(result, |right| result.product(right));
                if let (Some(projector), true) = (left, row == column) {
                    keep_definite(&mut result, projector);
                }
                result
            },
        );
    }

    fn projector_block(&self, row: usize) -> Option<&Block> {
        let position = self.index[row].checked_sub(1)?;
        Some(&self.projectors[position as usize].1)
    }
}

fn keep_definite(diagonal: &mut Block, projector: &Block) {
    let free = projector.0[0][0] + projector.0[1][1] + projector.0[2][2];
    let trace = diagonal.0[0][0] + diagonal.0[1][1] + diagonal.0[2][2];
    // All directions held: nothing is left of the row, and any positive value serves.
    let scale = if free > 0.5 { trace / free } else { 1.0 };
    diagonal.add(&Block::scaled_identity(scale));
    diagonal.add_scaled(-scale, projector);
}
