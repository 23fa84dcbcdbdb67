// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocks of a symmetric matrix outside its pattern, as contacts between layers of cloth make them.

use super::pattern::SparseRows;
use crate::simd::{Block, Lanes, Row3};
use std::ops::Range;

/// Blocks in both halves; only rows that have any are listed.
#[derive(Clone, Debug, Default)]
pub struct ContactBlocks {
    list: SparseRows,
    blocks: Vec<Block>,
}

/// One half of an entry: its column, and its place in the list it came in.
type HalfEntry = (u32, u32);

impl ContactBlocks {
    /// Sets the blocks from B_ij with i < j, in any order. Blocks of equal indices are summed in the given order; the
    /// transposed half is implied.
    pub(crate) fn set(&mut self, row_count: usize, entries: &[(u32, u32, Block)]) {
        self.clear();
        if entries.is_empty() {
            return;
        }
        let (starts, mut halves) = halves_by_row(row_count, entries);
        for row in 0..row_count {
            let own = &mut halves[starts[row] as usize..starts[row + 1] as usize];
            own.sort_unstable();
            self.list.push_row(row as u32, own.chunk_by(|a, b| a.0 == b.0).map(|same| same[0].0));
            for same in own.chunk_by(|a, b| a.0 == b.0) {
                let mut sum = Block::default();
                for (_, place) in same {
                    sum.add(&entries[*place as usize].2);
                }
                let is_upper = row < same[0].0 as usize;
                self.blocks.push(if is_upper { sum } else { sum.transposed() });
            }
        }
    }

    /// Removes all blocks.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.blocks.clear();
    }

    /// Rows and columns of the blocks.
    #[must_use]
    pub fn rows(&self) -> &SparseRows {
        &self.list
    }

    /// The blocks, to be read row by row.
    #[must_use]
    pub fn off_group_blocks(&self) -> OffGroupBlocks<'_> {
        OffGroupBlocks { list: &self.list, blocks: &self.blocks }
    }

    /// Rows and columns of the blocks, and the blocks to be changed.
    pub(crate) fn parts_mut(&mut self) -> (&SparseRows, &mut [Block]) {
        (&self.list, &mut self.blocks)
    }
}

/// Blocks outside of the groups of a matrix.
#[derive(Clone, Copy, Debug)]
pub struct OffGroupBlocks<'a> {
    pub(crate) list: &'a SparseRows,
    pub(crate) blocks: &'a [Block],
}

impl OffGroupBlocks<'_> {
    /// Calls `visit(row, column, block)` for the blocks of a range of rows, in ascending order.
    #[inline(always)]
    pub fn visit(&self, rows: &Range<usize>, mut visit: impl FnMut(usize, usize, &Block)) {
        if self.list.is_empty() {
            return;
        }
        for position in self.list.positions(rows) {
            let row = self.list.rows()[position] as usize;
            let slots = self.list.slots(position);
            let columns = &self.list.columns()[slots.clone()];
            for (column, block) in columns.iter().zip(&self.blocks[slots]) {
                visit(row, *column as usize, block);
            }
        }
    }
}

impl OffGroupBlocks<'_> {
    /// Calls `visit(row, product)` for the products of all blocks in a row with a vector, in ascending order.
    #[inline(always)]
    pub(crate) fn visit_products<L: Lanes>(
        &self,
        lanes: L,
        rows: &Range<usize>,
        vector: &[Row3],
        mut visit: impl FnMut(usize, &Row3),
    ) {
        if self.list.is_empty() {
            return;
        }
        for position in self.list.positions(rows) {
            let slots = self.list.slots(position);
            let columns = &self.list.columns()[slots.clone()];
            let mut sum = [0.0; 4];
            for (column, block) in columns.iter().zip(&self.blocks[slots]) {
                let product = lanes.times(block, &vector[*column as usize]);
                sum = lanes.plus_multiple(&sum, 1.0, &product);
            }
            visit(self.list.rows()[position] as usize, &sum);
        }
    }
}

/// Both halves of all entries, sorted by row: where each row starts, and its halves.
fn halves_by_row(row_count: usize, entries: &[(u32, u32, Block)]) -> (Vec<u32>, Vec<HalfEntry>) {
    let mut starts = vec![0_u32; row_count + 1];
    for (i, j, _) in entries {
        debug_assert!(i < j, "the upper half of ({i}, {j})");
        starts[*i as usize + 1] += 1;
        starts[*j as usize + 1] += 1;
    }
    for row in 0..row_count {
        starts[row + 1] += starts[row];
    }
    let mut next = starts.clone();
    let mut halves = vec![(0, 0); 2 * entries.len()];
    for (place, (i, j, _)) in entries.iter().enumerate() {
        for (row, column) in [(*i, *j), (*j, *i)] {
            let slot = &mut next[row as usize];
            halves[*slot as usize] = (column, place as u32);
            *slot += 1;
        }
    }
    (starts, halves)
}
