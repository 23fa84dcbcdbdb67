// SPDX-License-Identifier: MIT OR Apache-2.0
//! Products with the blocks inside one group of rows.

use super::{block_matrix::BlockPair, pattern::GROUP, scalar_couplings::GroupScalars};
use crate::simd::{Lanes, Row3};

/// A vector on the rows of a group; of fixed length, so that no index can leave it.
pub(crate) type GroupVector = [Row3; GROUP];

/// The blocks below the diagonal of a group of rows.
#[derive(Clone, Copy)]
pub(crate) struct LowerGroupBlocks<'a> {
    /// First pair of every row, and end of the last.
    pub(crate) starts: &'a [u32],
    /// Columns of the pairs of the group.
    pub(crate) columns: &'a [[u16; 2]],
    pub(crate) pairs: &'a [BlockPair],
    /// Whether rows come in pairs (see [`Pattern::has_row_pairs`](super::pattern::Pattern::has_row_pairs)).
    pub(crate) has_row_pairs: bool,
    /// Entries of the scalar part, on either side of the diagonal.
    pub(crate) scalars: GroupScalars<'a>,
}

impl<'a> LowerGroupBlocks<'a> {
    /// Number of rows.
    pub(crate) fn row_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Columns and blocks of the pairs left of the diagonal in a row.
    #[inline(always)]
    pub(crate) fn row(
        &self,
        row: usize,
    ) -> impl Iterator<Item = (&'a [u16; 2], &'a BlockPair)> + use<'a> {
        let first = self.starts[0];
        let slots = (self.starts[row] - first) as usize..(self.starts[row + 1] - first) as usize;
        self.columns[slots.clone()].iter().zip(&self.pairs[slots])
    }

    /// Σ B_ij from_j over the blocks in columns j < i of a row i.
    #[inline(always)]
    pub(crate) fn gather<L: Lanes>(&self, lanes: L, row: usize, from: &GroupVector) -> Row3 {
        let mut sum = lanes.join(&[0.0; 4], &[0.0; 4]);
        for (columns, pair) in self.row(row) {
            let [a, b] = columns.map(|column| &from[usize::from(column) % GROUP]);
            let entries = lanes.broadcast_components(lanes.join(a, b));
            sum = lanes.sum(sum, product(lanes, pair, entries));
        }
        sum_of_halves(lanes, sum)
    }

    /// into_j −= B_ijᵀ value over the blocks in columns j < i of a row i.
    #[inline(always)]
    pub(crate) fn scatter<L: Lanes>(
        &self,
        lanes: L,
        row: usize,
        value: &Row3,
        into: &mut GroupVector,
    ) {
        let entries = lanes.broadcast_components(lanes.join(value, value));
        for (columns, pair) in self.row(row) {
            subtract(lanes, columns, transposed_product(lanes, pair, entries), into);
        }
    }

    /// [`Self::gather`] of the row `first` of a pair and of the second, but for the block that couples them.
    #[inline(always)]
    pub(crate) fn gather_both<L: Lanes>(
        &self,
        lanes: L,
        first: usize,
        from: &GroupVector,
    ) -> [Row3; 2] {
        let mut sums = [lanes.join(&[0.0; 4], &[0.0; 4]); 2];
        for ((columns, upper), (_, lower)) in self.row(first).zip(self.row(first + 1)) {
            let [a, b] = columns.map(|column| &from[usize::from(column) % GROUP]);
            let entries = lanes.broadcast_components(lanes.join(a, b));
            sums = [
                lanes.sum(sums[0], product(lanes, upper, entries)),
                lanes.sum(sums[1], product(lanes, lower, entries)),
            ];
        }
        [sum_of_halves(lanes, sums[0]), sum_of_halves(lanes, sums[1])]
    }

    /// [`Self::scatter`] of the row `first` of a pair and of the second, but for the block that couples them.
    #[inline(always)]
    pub(crate) fn scatter_both<L: Lanes>(
        &self,
        lanes: L,
        first: usize,
        values: [&Row3; 2],
        into: &mut GroupVector,
    ) {
        let [first_row, second_row] = values;
        let entries = [
            lanes.broadcast_components(lanes.join(first_row, first_row)),
            lanes.broadcast_components(lanes.join(second_row, second_row)),
        ];
        for ((columns, upper), (_, lower)) in self.row(first).zip(self.row(first + 1)) {
            let products = [
                transposed_product(lanes, upper, entries[0]),
                transposed_product(lanes, lower, entries[1]),
            ];
            subtract(lanes, columns, lanes.sum(products[0], products[1]), into);
        }
    }

    /// B v for the block B of the second row of a pair in the column of the `first`, and a vector v.
    #[inline(always)]
    pub(crate) fn times_within<L: Lanes>(&self, lanes: L, first: usize, vector: &Row3) -> Row3 {
        let entries = lanes.broadcast_components(lanes.join(vector, vector));
        lanes.split(product(lanes, self.within(first), entries))[0]
    }

    /// Bᵀ v for the same block.
    #[inline(always)]
    pub(crate) fn transposed_times_within<L: Lanes>(
        &self,
        lanes: L,
        first: usize,
        vector: &Row3,
    ) -> Row3 {
        let entries = lanes.broadcast_components(lanes.join(vector, vector));
        lanes.split(transposed_product(lanes, self.within(first), entries))[0]
    }

    #[inline(always)]
    fn within(&self, first: usize) -> &BlockPair {
        let end = (self.starts[first + 2] - self.starts[0]) as usize;
        &self.pairs[end - 1]
    }
}

/// Products of both blocks of a pair with vectors, whose components are given.
#[inline(always)]
fn product<L: Lanes>(lanes: L, pair: &BlockPair, components: [L::Eight; 3]) -> L::Eight {
    lanes.linear_combination(pair.0.map(|column| lanes.load(&column)), components)
}

/// Products of both blocks of a pair, transposed, with vectors, whose components are given.
#[inline(always)]
fn transposed_product<L: Lanes>(lanes: L, pair: &BlockPair, components: [L::Eight; 3]) -> L::Eight {
    let rows = lanes.transpose(pair.0.map(|column| lanes.load(&column)));
    lanes.linear_combination(rows, components)
}

/// Sum of both halves.
#[inline(always)]
fn sum_of_halves<L: Lanes>(lanes: L, sum: L::Eight) -> Row3 {
    let [a, b] = lanes.split(sum);
    std::array::from_fn(|k| a[k] + b[k])
}

/// Subtracts each half of a pair of vectors from the entry in its column.
#[inline(always)]
fn subtract<L: Lanes>(lanes: L, columns: &[u16; 2], pair: L::Eight, into: &mut GroupVector) {
    for (column, product) in columns.iter().zip(&lanes.split(pair)) {
        let entry = &mut into[usize::from(*column) % GROUP];
        *entry = std::array::from_fn(|k| entry[k] - product[k]);
    }
}
