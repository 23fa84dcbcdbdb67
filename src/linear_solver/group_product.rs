// SPDX-License-Identifier: MIT OR Apache-2.0
//! Products with the blocks inside one group of rows.

use super::{block_matrix::BlockPair, pattern::GROUP, scalar_couplings::GroupScalars};
use crate::simd::{Block, Lanes, Row3};

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

    /// `into` = product of all entries in the group with a vector.
    #[inline(always)]
    pub(crate) fn multiply_rows<L: Lanes>(
        &self,
        lanes: L,
        diagonals: &[Block],
        from: &GroupVector,
        into: &mut GroupVector,
    ) {
        for (row, diagonal) in diagonals.iter().enumerate() {
            let coupled = self.scalars.row_product(lanes, row, from);
            let own = lanes.times(diagonal, &from[row]);
            let others = self.gather(lanes, row, from);
            into[row] = std::array::from_fn(|k| coupled[k] + own[k] + others[k]);
            self.scatter(lanes, row, &from[row].map(|value| -value), into);
        }
    }

    /// `into` = product of all blocks in the group with a vector, where rows come in pairs.
    #[inline(always)]
    pub(crate) fn multiply_pairs<L: Lanes>(
        &self,
        lanes: L,
        diagonals: &[Block],
        from: &GroupVector,
        into: &mut GroupVector,
    ) {
        for (pair, diagonals) in diagonals.as_chunks::<2>().0.iter().enumerate() {
            let (first, second) = (2 * pair, 2 * pair + 1);
            let [upper, lower] = [&from[first], &from[second]];
            let own = [lanes.times(&diagonals[0], upper), lanes.times(&diagonals[1], lower)];
            let coupled = [
                self.transposed_times_within(lanes, first, lower),
                self.times_within(lanes, first, upper),
            ];
            let others = self.gather_both(lanes, first, from);
            for k in 0..2 {
                into[first + k] = std::array::from_fn(|i| own[k][i] + coupled[k][i] + others[k][i]);
            }
            let negative = [upper.map(|value| -value), lower.map(|value| -value)];
            self.scatter_both(lanes, first, [&negative[0], &negative[1]], into);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear_solver::{BlockMatrix, Pattern};
    use std::sync::Arc;

    fn number(seed: usize) -> f32 {
        (seed * 37 % 101) as f32 / 50.0 - 1.0
    }

    fn block(row: usize, column: usize) -> Block {
        let entry = |k: usize, i: usize| number(row * 7 + column * 11 + row * column + 3 * k + i);
        Block([0, 1, 2].map(|k| [entry(k, 0), entry(k, 1), entry(k, 2), 0.0]))
    }

    /// Pairs of rows in two groups, coupled with the next ones and some far away.
    #[test]
    fn products_of_pairs_of_rows_are_those_of_their_blocks() {
        let pairs = GROUP / 2 + 20;
        let is_coupled = |a: u32, b: u32| a.abs_diff(b) <= 2 || a.abs_diff(b) == 101;
        let others = |a: u32| (0..pairs as u32).filter(|b| is_coupled(a, *b)).collect();
        let columns: Vec<Vec<u32>> = (0..pairs as u32).map(others).collect();
        let pattern = Pattern::of_row_pairs(columns.iter().map(Vec::as_slice));
        let mut matrix = BlockMatrix::new(Arc::new(pattern));
        matrix.fill_by(|row, column| match row.cmp(&column) {
            std::cmp::Ordering::Less => block(column, row).transposed(),
            std::cmp::Ordering::Equal => Block::scaled_identity(5.0 + number(row)),
            std::cmp::Ordering::Greater => block(row, column),
        });
        let entry = |i: usize| [number(i), number(i * i + 1), number(3 * i + 2), 0.0];
        let vector: Vec<Row3> = (0..2 * pairs).map(entry).collect();
        let mut found = vec![[0.0; 4]; vector.len()];
        let product = matrix.times_and_dot(&vector, &mut found);
        for (row, found) in found.iter().enumerate() {
            let mut expected = [0.0; 4];
            for (column, entry) in vector.iter().enumerate() {
                matrix.block(row, column).accumulate(entry, &mut expected);
            }
            assert!(expected.iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-4));
        }
        assert!((matrix.quadratic_form(&vector) - product).abs() < 1e-5 * product.abs());
    }
}
