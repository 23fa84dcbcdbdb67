// SPDX-License-Identifier: MIT OR Apache-2.0
//! The matrix of the next level, PᵀAP, and the ways to it and back.

use super::{aggregation::Interpolation, coupling::project_coupling};
use crate::{
    parallel,
    solver::{Block, BlockMatrix, Pattern, Row3},
};
use rayon::prelude::*;
use std::sync::Arc;

/// Interpolation P with everything that can be known of PᵀAP before A.
pub(super) struct Galerkin {
    interpolation: Interpolation,
    /// Where the blocks of each row of AP start, and the coarse rows they belong to.
    half_starts: Vec<u32>,
    half_columns: Vec<u32>,
    /// For every block of A and every weight of its column: the place in the row of AP.
    half_places: Vec<u16>,
    half_place_starts: Vec<u32>,
    /// AP.
    half: Vec<Block>,
    coarse_pattern: Arc<Pattern>,
}

impl Galerkin {
    pub(super) fn new(pattern: &Pattern, interpolation: Interpolation) -> Self {
        let mut half_starts = vec![0_u32];
        let (mut half_columns, mut half_places) = (Vec::new(), Vec::new());
        let mut half_place_starts = vec![0_u32];
        for row in 0..pattern.row_count() {
            let mut coarse: Vec<u32> = pattern
                .columns(row)
                .iter()
                .flat_map(|column| interpolation.row(*column as usize))
                .map(|(coarse, _)| coarse)
                .collect();
            coarse.sort_unstable();
            coarse.dedup();
            for column in pattern.columns(row) {
                let row = interpolation.row(*column as usize);
                half_places.extend(row.map(|(c, _)| coarse.partition_point(|k| *k < c) as u16));
            }
            half_place_starts.push(half_places.len() as u32);
            half_columns.extend_from_slice(&coarse);
            half_starts.push(half_columns.len() as u32);
        }
        let of_row = |row: u32| {
            &half_columns
                [half_starts[row as usize] as usize..half_starts[row as usize + 1] as usize]
        };
        let mut pairs = Vec::new();
        for coarse in 0..interpolation.coarse_count() {
            let members = interpolation.column(coarse);
            let mut row: Vec<u32> = members.flat_map(|(fine, _)| of_row(fine)).copied().collect();
            row.sort_unstable();
            row.dedup();
            pairs.extend(row.into_iter().map(|other| (coarse as u32, other)));
        }
        Self {
            coarse_pattern: Arc::new(Pattern::of_sorted_pairs(
                interpolation.coarse_count(),
                &pairs,
            )),
            half: vec![Block::default(); half_columns.len()],
            interpolation,
            half_starts,
            half_columns,
            half_places,
            half_place_starts,
        }
    }

    pub(super) fn coarse_pattern(&self) -> &Arc<Pattern> {
        &self.coarse_pattern
    }

    /// `coarse` = PᵀAP.
    pub(super) fn project(&mut self, matrix: &BlockMatrix, coarse: &mut BlockMatrix) {
        self.multiply_right(matrix);
        let (half, starts, columns) = (&self.half, &self.half_starts, &self.half_columns);
        let pattern = Arc::clone(&self.coarse_pattern);
        let interpolation = &self.interpolation;
        coarse.fill_rows(|row, blocks| {
            let own = pattern.columns(row);
            for (fine, weight) in interpolation.column(row) {
                let range = starts[fine as usize] as usize..starts[fine as usize + 1] as usize;
                let mut place = 0;
                for (block, column) in half[range.clone()].iter().zip(&columns[range]) {
                    while own[place] < *column {
                        place += 1;
                    }
                    blocks[place].add_scaled(weight, block);
                }
            }
        });
        coarse.clear_coupling();
        coarse.add_rows(&project_coupling(matrix.coupling(), interpolation));
    }

    /// `half` = AP.
    fn multiply_right(&mut self, matrix: &BlockMatrix) {
        let pattern = matrix.pattern();
        let (interpolation, places, place_starts, starts) =
            (&self.interpolation, &self.half_places, &self.half_place_starts, &self.half_starts);
        let rows = parallel::split_rows(&mut self.half, starts, parallel::VERTICES);
        rows.into_par_iter().for_each(|(rows, mut half)| {
            for row in rows {
                let length = (starts[row + 1] - starts[row]) as usize;
                let (own, rest) = half.split_at_mut(length);
                own.fill(Block::default());
                let mut places = places[place_starts[row] as usize..].iter();
                for (slot, column) in pattern.row(row).zip(pattern.columns(row)) {
                    let block = &matrix.blocks()[slot];
                    for ((_, weight), place) in interpolation.row(*column as usize).zip(&mut places)
                    {
                        own[*place as usize].add_scaled(weight, block);
                    }
                }
                half = rest;
            }
        });
    }

    /// `coarse` = Pᵀ · `fine`.
    pub(super) fn restrict(&self, fine: &[Row3], coarse: &mut [Row3]) {
        let each = coarse.par_iter_mut().enumerate().with_min_len(parallel::VERTICES);
        each.for_each(|(row, coarse)| {
            *coarse = [0.0; 4];
            for (fine_row, weight) in self.interpolation.column(row) {
                for (entry, value) in coarse.iter_mut().zip(&fine[fine_row as usize]) {
                    *entry += weight * value;
                }
            }
        });
    }

    /// `fine` += P · `coarse`.
    pub(super) fn prolong(&self, coarse: &[Row3], fine: &mut [Row3]) {
        let each = fine.par_iter_mut().enumerate().with_min_len(4 * parallel::VERTICES);
        each.for_each(|(row, fine)| {
            for (column, weight) in self.interpolation.row(row) {
                for (entry, value) in fine.iter_mut().zip(&coarse[column as usize]) {
                    *entry += weight * value;
                }
            }
        });
    }
}
