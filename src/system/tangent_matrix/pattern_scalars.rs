// SPDX-License-Identifier: MIT OR Apache-2.0
//! Those entries of K ⊗ I₃ that a matrix of blocks has a block for: added to the blocks they cost no product of their
//! own.

use crate::linear_solver::{BlockMatrix, GROUP, Pattern};
use sprs::CsMatI;
use std::sync::Arc;

/// One number for each block of a pattern outside of the diagonal.
#[derive(Clone, Debug, Default)]
pub(super) struct PatternScalars {
    pairs: Vec<[f32; 2]>,
    far: Vec<f32>,
}

impl PatternScalars {
    /// The numbers of those entries of a symmetric matrix that the pattern has a block for, times a factor; they are
    /// subtracted from `remainders`, one for each row. `number` turns what the matrix is stored as into entries.
    pub(super) fn new<N>(
        pattern: &Pattern,
        matrix: &CsMatI<N, u32>,
        number: impl Fn(&N) -> f64,
        factor: f64,
        remainders: &mut [f64],
    ) -> Self {
        let far = pattern.far();
        let mut own = Self {
            pairs: vec![[0.0; 2]; pattern.pair_count()],
            far: vec![0.0; far.columns().len()],
        };
        for (value, (row, column)) in matrix {
            let (i, j) = (row as usize, column as usize);
            let place = if i / GROUP == j / GROUP {
                let slot = if i == j { None } else { pattern.near_slot(i.max(j), i.min(j)) };
                slot.map(|(pair, half)| &mut own.pairs[pair][half])
            } else {
                far.slot(row, column).map(|slot| &mut own.far[slot])
            };
            if let Some(place) = place {
                let value = number(value);
                *place = (value * factor) as f32;
                remainders[i] -= value;
            }
        }
        own
    }

    /// Adds each number times the identity to its block.
    pub(super) fn add_to(&self, matrix: &mut BlockMatrix) {
        if self.pairs.is_empty() && self.far.is_empty() {
            return;
        }
        let pattern = Arc::clone(matrix.pattern());
        matrix.fill(|group| {
            let first = pattern.pairs(group.rows.start).start;
            for (pair, factors) in group.pairs.iter_mut().zip(&self.pairs[first..]) {
                pair.add_scaled_identities(*factors);
            }
            let first = pattern.far_start(&group.rows);
            for (block, factor) in group.far.iter_mut().zip(&self.far[first..]) {
                block.add_scaled_identity(*factor);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Block;
    use sprs::TriMatI;

    #[test]
    fn entries_with_a_block_are_added_to_it() {
        let count = GROUP + 20;
        let triples: Vec<[u32; 3]> = (2..count as u32).map(|i| [i - 2, i - 1, i]).collect();
        let elements: Vec<&[u32]> = triples.iter().map(<[u32; 3]>::as_slice).collect();
        let mut matrix = BlockMatrix::new(Arc::new(Pattern::of_elements(count, &elements)));
        let number = |i: usize, j: usize| (1 + (i + j + i * j % 7) % 50) as f32;
        let mut entries = TriMatI::new((count, count));
        for row in 0..count {
            for column in row.saturating_sub(5)..(row + 6).min(count) {
                entries.add_triplet(row, column, f64::from(number(row, column)));
            }
        }
        let entries: CsMatI<f64, u32> = entries.to_csr();
        let mut remainders: Vec<f64> =
            entries.outer_iterator().map(|row| row.data().iter().sum()).collect();
        PatternScalars::new(matrix.pattern(), &entries, f64::clone, 2.0, &mut remainders)
            .add_to(&mut matrix);
        for (row, remainder) in remainders.iter().enumerate() {
            let mut rest: f64 = entries.outer_view(row).unwrap().data().iter().sum();
            for column in 0..count {
                let is_there = row != column && row.abs_diff(column) <= 2;
                let wanted = if is_there { number(row, column) } else { 0.0 };
                assert_eq!(matrix.block(row, column), Block::scaled_identity(2.0 * wanted));
                rest -= f64::from(wanted);
            }
            assert!((remainder - rest).abs() < 1e-9);
        }
    }
}
