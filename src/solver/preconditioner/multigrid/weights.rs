// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sparse matrices of numbers, in compressed rows.

/// Column and value of an entry.
pub(super) type Weight = (u32, f32);

/// Weights of fine rows in coarse ones, or the other way round.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    starts: Vec<u32>,
    entries: Vec<Weight>,
}

impl Weights {
    /// Rows of entries with ascending columns.
    pub(super) fn new(starts: Vec<u32>, entries: Vec<Weight>) -> Self {
        Self { starts, entries }
    }

    /// The transposed matrix, which has `row_count` rows.
    pub(super) fn transposed(&self, row_count: usize) -> Self {
        let mut starts = vec![0_u32; row_count + 1];
        for (column, _) in &self.entries {
            starts[*column as usize + 1] += 1;
        }
        for row in 0..row_count {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); self.entries.len()];
        for row in 0..self.row_count() {
            for (column, weight) in self.row(row) {
                let slot = &mut next[*column as usize];
                entries[*slot as usize] = (row as u32, *weight);
                *slot += 1;
            }
        }
        Self { starts, entries }
    }

    pub(super) fn row_count(&self) -> usize {
        self.starts.len() - 1
    }

    #[inline]
    pub(super) fn row(&self, row: usize) -> &[Weight] {
        &self.entries[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}
