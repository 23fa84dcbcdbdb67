// SPDX-License-Identifier: MIT OR Apache-2.0
//! Products with the blocks inside one group of rows.

use super::{block_matrix::BlockPair, pattern::GROUP, scalar_couplings::LowerScalars};
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
    /// Entries of the scalar part.
    pub(crate) scalars: LowerScalars<'a>,
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

    /// Σ B_ij from_j over the columns j < i of a row i.
    #[inline(always)]
    pub(crate) fn gather<L: Lanes>(&self, lanes: L, row: usize, from: &GroupVector) -> Row3 {
        let mut sum = lanes.join(&[0.0; 4], &[0.0; 4]);
        for (columns, pair) in self.row(row) {
            let [a, b] = columns.map(|column| &from[usize::from(column) % GROUP]);
            let entries = lanes.broadcast_components(lanes.join(a, b));
            sum = lanes.sum(
                sum,
                lanes.linear_combination(pair.0.map(|column| lanes.load(&column)), entries),
            );
        }
        let [a, b] = lanes.split(sum);
        let mut sum: Row3 = std::array::from_fn(|k| a[k] + b[k]);
        for (column, value) in self.scalars.row(row) {
            let entry = &from[column % GROUP];
            for k in 0..4 {
                sum[k] += value * entry[k];
            }
        }
        sum
    }

    /// into_j −= B_ijᵀ value over the columns j < i of a row i.
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
            let rows = lanes.transpose(pair.0.map(|column| lanes.load(&column)));
            let products = lanes.split(lanes.linear_combination(rows, entries));
            for (column, product) in columns.iter().zip(&products) {
                let entry = &mut into[usize::from(*column) % GROUP];
                *entry = std::array::from_fn(|k| entry[k] - product[k]);
            }
        }
        for (column, scalar) in self.scalars.row(row) {
            let entry = &mut into[column % GROUP];
            for k in 0..4 {
                entry[k] -= scalar * value[k];
            }
        }
    }
}
