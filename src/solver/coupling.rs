// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocks of a symmetric matrix outside its pattern, as contacts between layers of cloth make them.

use super::{Block, Row3};
use std::ops::Range;

/// Off-diagonal blocks in compressed rows, both halves; only rows that have any are listed.
#[derive(Clone, Debug, Default)]
pub struct Coupling {
    /// Rows with blocks, ascending.
    rows: Vec<u32>,
    /// Where the blocks of each listed row start, and where the last ends.
    starts: Vec<u32>,
    /// Columns of each listed row, ascending.
    columns: Vec<u32>,
    blocks: Vec<Block>,
}

/// One half of an entry: its column, and its place in the list it came in.
type Half = (u32, u32);

impl Coupling {
    /// Takes the blocks B_ij with i < j, in any order. Those of the same pair are summed in the order given;
    /// the transposed half is implied.
    pub(super) fn set(&mut self, row_count: usize, entries: &[(u32, u32, Block)]) {
        self.clear();
        if entries.is_empty() {
            return;
        }
        let (starts, mut halves) = halves_by_row(row_count, entries);
        for row in 0..row_count {
            let own = &mut halves[starts[row] as usize..starts[row + 1] as usize];
            own.sort_unstable();
            let blocks = own.iter().map(|(column, place)| {
                let block = &entries[*place as usize].2;
                (*column, if row < *column as usize { *block } else { block.transposed() })
            });
            self.push_row(row as u32, blocks);
        }
    }

    /// Forgets all blocks.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.starts.clear();
        self.columns.clear();
        self.blocks.clear();
    }

    /// Adds a row below all others, if it has blocks; they come with ascending columns, and those of the same
    /// column are summed.
    pub(super) fn push_row(&mut self, row: u32, blocks: impl Iterator<Item = (u32, Block)>) {
        let first = self.columns.len();
        for (column, block) in blocks {
            match self.blocks.last_mut() {
                Some(last) if self.columns[first..].last() == Some(&column) => last.add(&block),
                _ => {
                    self.columns.push(column);
                    self.blocks.push(block);
                }
            }
        }
        if self.columns.len() > first {
            if self.starts.is_empty() {
                self.starts.push(0);
            }
            self.rows.push(row);
            self.starts.push(self.columns.len() as u32);
        }
    }

    /// Whether there are no blocks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Rows that have blocks, in ascending order.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Columns in ascending order and blocks of the row at a `position` in [`Self::rows`].
    #[must_use]
    pub fn row(&self, position: usize) -> impl DoubleEndedIterator<Item = (u32, &Block)> {
        let range = self.starts[position] as usize..self.starts[position + 1] as usize;
        self.columns[range.clone()].iter().copied().zip(&self.blocks[range])
    }

    /// Positions in [`Self::rows`] of the rows within a range.
    #[must_use]
    pub fn positions(&self, rows: Range<usize>) -> Range<usize> {
        let position = |end: usize| self.rows.partition_point(|row| (*row as usize) < end);
        position(rows.start)..position(rows.end)
    }

    /// Adds the products with `vector` to the entries of `result`, which belong to the rows from `first` on.
    pub(super) fn add_times(&self, vector: &[Row3], first: usize, result: &mut [Row3]) {
        for position in self.positions(first..first + result.len()) {
            let entry = &mut result[self.rows[position] as usize - first];
            for (column, block) in self.row(position) {
                block.accumulate(&vector[column as usize], entry);
            }
        }
    }

    /// Replaces every block by `change(row, column, block)`.
    pub(super) fn map(&mut self, change: impl Fn(u32, u32, &Block) -> Block) {
        for (position, row) in self.rows.iter().enumerate() {
            for slot in self.starts[position] as usize..self.starts[position + 1] as usize {
                self.blocks[slot] = change(*row, self.columns[slot], &self.blocks[slot]);
            }
        }
    }
}

/// Both halves of all entries, sorted by row: where each row starts, and its halves.
fn halves_by_row(row_count: usize, entries: &[(u32, u32, Block)]) -> (Vec<u32>, Vec<Half>) {
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
