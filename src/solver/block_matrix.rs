// SPDX-License-Identifier: MIT OR Apache-2.0
//! A symmetric sparse matrix of 3×3 blocks, in compressed rows; its structure is built once, but for the
//! coupling that contacts add.

use super::{Block, Coupling, Row3};
use crate::parallel;
use rayon::prelude::*;
use std::sync::Arc;

/// Which blocks are not zero: columns of every row in ascending order, the diagonal among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    starts: Vec<u32>,
    columns: Vec<u32>,
    diagonals: Vec<u32>,
}

impl Pattern {
    /// The pattern in which the vertices of every element are coupled.
    #[must_use]
    pub fn of_elements(row_count: usize, elements: &[&[u32]]) -> Self {
        let mut pairs: Vec<(u32, u32)> = (0..row_count as u32).map(|row| (row, row)).collect();
        for element in elements {
            for row in *element {
                pairs.extend(element.iter().map(|column| (*row, *column)));
            }
        }
        pairs.par_sort_unstable();
        pairs.dedup();
        Self::of_sorted_pairs(row_count, &pairs)
    }

    /// The pattern with a block at each (row, column) of a sorted list without repetition, which holds
    /// the whole diagonal.
    ///
    /// # Panics
    /// If a diagonal entry is missing.
    #[must_use]
    pub fn of_sorted_pairs(row_count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0_u32; row_count + 1];
        for (row, _) in pairs {
            starts[*row as usize + 1] += 1;
        }
        for row in 0..row_count {
            starts[row + 1] += starts[row];
        }
        let columns: Vec<u32> = pairs.iter().map(|(_, column)| *column).collect();
        let mut pattern = Self { starts, columns, diagonals: Vec::new() };
        pattern.diagonals = (0..row_count)
            .map(|row| {
                let slot = pattern.slot(row, row as u32);
                assert!(slot.is_some(), "row {row} lacks its diagonal");
                slot.unwrap_or_default() as u32
            })
            .collect();
        pattern
    }

    /// Number of rows.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.diagonals.len()
    }

    /// Number of blocks.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.columns.len()
    }

    /// The slots of a row in the list of blocks.
    #[must_use]
    pub fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// The columns of a row.
    #[must_use]
    pub fn columns(&self, row: usize) -> &[u32] {
        &self.columns[self.row(row)]
    }

    /// The slot of a row's diagonal block.
    #[must_use]
    pub fn diagonal(&self, row: usize) -> usize {
        self.diagonals[row] as usize
    }

    /// The slot of a block, where there is one.
    #[must_use]
    pub fn slot(&self, row: usize, column: u32) -> Option<usize> {
        let offset = self.columns(row).binary_search(&column).ok()?;
        Some(self.starts[row] as usize + offset)
    }
}

/// The blocks of a symmetric matrix on a [`Pattern`], and a changing [`Coupling`] outside of it.
#[derive(Clone, Debug)]
pub struct BlockMatrix {
    pattern: Arc<Pattern>,
    blocks: Vec<Block>,
    coupling: Coupling,
}

impl BlockMatrix {
    /// A matrix of zeros.
    #[must_use]
    pub fn new(pattern: Arc<Pattern>) -> Self {
        let blocks = vec![Block::default(); pattern.block_count()];
        Self { pattern, blocks, coupling: Coupling::default() }
    }

    /// Where its blocks are.
    #[must_use]
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// All blocks, by slot.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// All blocks, by slot.
    pub fn blocks_mut(&mut self) -> &mut [Block] {
        &mut self.blocks
    }

    /// Adds to a row's diagonal block.
    pub fn add_diagonal(&mut self, row: usize, block: &Block) {
        self.blocks[self.pattern.diagonal(row)].add(block);
    }

    /// Adds B_ij and its transpose B_ji for i ≠ j, and says whether the pattern has them; where it does not,
    /// nothing is changed, and they belong into [`Self::set_coupling`].
    pub fn add_pair(&mut self, i: usize, j: usize, block: &Block) -> bool {
        let slots = (self.pattern.slot(i, j as u32), self.pattern.slot(j, i as u32));
        let (Some(upper), Some(lower)) = slots else { return false };
        self.blocks[upper].add(block);
        self.blocks[lower].add(&block.transposed());
        true
    }

    /// The blocks outside the pattern.
    #[must_use]
    pub fn coupling(&self) -> &Coupling {
        &self.coupling
    }

    /// Sets the blocks B_ij with i < j outside the pattern, in any order; those of the same pair are summed in the
    /// order given, and the transposed half is implied. What rows give to themselves and to their
    /// neighbours belongs to the ordinary blocks.
    pub fn set_coupling(&mut self, entries: &[(u32, u32, Block)]) {
        self.coupling.set(self.pattern.row_count(), entries);
    }

    /// Takes away all blocks outside the pattern.
    pub fn clear_coupling(&mut self) {
        self.coupling.clear();
    }

    /// Replaces every block outside the pattern by `change(row, column, block)`.
    pub(super) fn map_coupling(&mut self, change: impl Fn(u32, u32, &Block) -> Block) {
        self.coupling.map(change);
    }

    /// Adds whole rows, each with ascending columns: within the pattern to the blocks, the rest to the coupling,
    /// which comes empty. Rows are ascending.
    pub(super) fn add_rows(&mut self, rows: &[(u32, Vec<(u32, Block)>)]) {
        for (row, entries) in rows {
            let mut outside = Vec::new();
            for (column, block) in entries {
                match self.pattern.slot(*row as usize, *column) {
                    Some(slot) => self.blocks[slot].add(block),
                    None => outside.push((*column, *block)),
                }
            }
            self.coupling.push_row(*row, outside.into_iter());
        }
    }

    /// Fills every row of the pattern anew with `fill(row, blocks of the row)`; rows come zeroed, and in parallel.
    pub fn fill_rows(&mut self, fill: impl Fn(usize, &mut [Block]) + Sync) {
        let pattern = &self.pattern;
        let groups = parallel::split_rows(&mut self.blocks, &pattern.starts, parallel::VERTICES);
        groups.into_par_iter().for_each(|(rows, mut blocks)| {
            for row in rows {
                let (own, tail) = blocks.split_at_mut(pattern.columns(row).len());
                own.fill(Block::default());
                fill(row, own);
                blocks = tail;
            }
        });
    }

    /// `result` = matrix · `vector`.
    pub fn times(&self, vector: &[Row3], result: &mut [Row3]) {
        let groups = result.par_chunks_mut(parallel::VERTICES).enumerate();
        groups.for_each(|(group, result)| {
            let first = group * parallel::VERTICES;
            for (offset, entry) in result.iter_mut().enumerate() {
                *entry = self.row_times(first + offset, vector);
            }
            self.coupling.add_times(vector, first, result);
        });
    }

    /// One row of matrix · `vector` without the coupling.
    fn row_times(&self, row: usize, vector: &[Row3]) -> Row3 {
        let mut sum = [0.0; 4];
        let slots = self.pattern.row(row);
        for (column, block) in self.pattern.columns[slots.clone()].iter().zip(&self.blocks[slots]) {
            block.accumulate(&vector[*column as usize], &mut sum);
        }
        sum
    }
}
