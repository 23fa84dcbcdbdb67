// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the coupling C of contacts becomes on the next level: PᵀCP.

use super::aggregation::Interpolation;
use crate::solver::{Block, Coupling, Outer};
use rayon::prelude::*;

/// Coarse rows that are worth a task of their own.
const ROWS: usize = 128;

/// All rows of PᵀCP that have blocks, in ascending order, each with ascending columns; the blocks may fall
/// anywhere, also on diagonals.
pub(super) fn project_coupling(
    coupling: &Coupling,
    interpolation: &Interpolation,
) -> Vec<(u32, Vec<(u32, Block)>)> {
    let mut coarse_rows: Vec<u32> = Vec::new();
    for fine in coupling.list().rows() {
        coarse_rows.extend(interpolation.row(*fine as usize).iter().map(|(coarse, _)| *coarse));
    }
    coarse_rows.sort_unstable();
    coarse_rows.dedup();
    let each = coarse_rows.into_par_iter().with_min_len(ROWS);
    let coupling = coupling.outer();
    each.map(|row| (row, coarse_row(&coupling, interpolation, row as usize))).collect()
}

fn coarse_row(
    coupling: &Outer<'_>,
    interpolation: &Interpolation,
    coarse: usize,
) -> Vec<(u32, Block)> {
    let mut row: Vec<(u32, Block)> = Vec::new();
    for (fine, weight) in interpolation.column(coarse) {
        let fine = *fine as usize;
        coupling.visit(&(fine..fine + 1), |_, column, block| {
            for (other, other_weight) in interpolation.row(column) {
                let place = row.binary_search_by_key(other, |(known, _)| *known);
                let place = place.unwrap_or_else(|place| {
                    row.insert(place, (*other, Block::default()));
                    place
                });
                row[place].1.add_scaled(weight * other_weight, block);
            }
        });
    }
    row
}
