// SPDX-License-Identifier: MIT OR Apache-2.0
//! Galerkin product PᵀCP of the contact blocks C.

use super::aggregation::Prolongation;
use crate::{
    linear_solver::{
        block_matrix::GroupBlocks,
        contact_blocks::ContactBlocks,
        pattern::{GROUP, Pattern, SparseRows},
    },
    simd::Block,
};
use std::ops::Range;

/// Not there.
const NO_SLOT: u32 = u32::MAX;

/// Adds the blocks of PᵀCP that are on the pattern to a group of rows of the coarse matrix, and returns the others.
pub(crate) fn add_contact_blocks(
    coupling: &ContactBlocks,
    prolongation: &Prolongation,
    pattern: &Pattern,
    group: &mut GroupBlocks<'_>,
) -> ContactBlocks {
    let mut outside = ContactBlocks::default();
    if coupling.rows().is_empty() {
        return outside;
    }
    let mut sums = RowSums::new(prolongation.coarse_count());
    let mut places = GroupPlaces::new(pattern, group.rows.clone());
    let mut rest = Vec::new();
    for row in group.rows.clone() {
        sums.collect(coupling, prolongation, row);
        let far = places.next_row(row);
        rest.clear();
        for (column, block) in sums.drain() {
            if column == row {
                group.diagonals[row - places.rows.start].add(&block);
            } else if let Some((pair, half)) = near_slot(pattern, row, column) {
                if column < row {
                    let pair = &mut group.pairs[pair - places.first_pair];
                    let mut sum = pair.get(half);
                    sum.add(&block);
                    pair.set(half, &sum);
                }
            } else if let Some(slot) = far_slot(pattern.far(), &far, column) {
                group.far[slot - places.first_far].add(&block);
            } else {
                rest.push((column as u32, block));
            }
        }
        outside.push_row(row as u32, &rest);
    }
    outside
}

/// A row of PᵀCP while it is summed up.
struct RowSums {
    /// Place of each coarse column in the lists below, or [`NO_SLOT`].
    places: Vec<u32>,
    columns: Vec<u32>,
    blocks: Vec<Block>,
}

impl RowSums {
    fn new(coarse_count: usize) -> Self {
        Self { places: vec![NO_SLOT; coarse_count], columns: Vec::new(), blocks: Vec::new() }
    }

    fn collect(&mut self, coupling: &ContactBlocks, prolongation: &Prolongation, coarse: usize) {
        let (list, blocks) = (coupling.rows(), coupling.off_group_blocks().blocks);
        let (fine_rows, weights) = prolongation.column(coarse);
        for (fine, weight) in fine_rows.iter().zip(weights) {
            let Ok(position) = list.rows().binary_search(fine) else { continue };
            let slots = list.slots(position);
            for (column, block) in list.columns()[slots.clone()].iter().zip(&blocks[slots]) {
                let (others, other_weights) = prolongation.row(*column as usize);
                for (other, other_weight) in others.iter().zip(other_weights) {
                    let place = &mut self.places[*other as usize];
                    if *place == NO_SLOT {
                        *place = self.columns.len() as u32;
                        self.columns.push(*other);
                        self.blocks.push(Block::default());
                    }
                    self.blocks[*place as usize].add_scaled(weight * other_weight, block);
                }
            }
        }
    }

    /// Columns in ascending order, with their blocks; leaves nothing.
    fn drain(&mut self) -> impl Iterator<Item = (usize, Block)> {
        let mut order: Vec<(u32, u32)> = self.columns.drain(..).zip(0..).collect();
        order.sort_unstable();
        for (column, _) in &order {
            self.places[*column as usize] = NO_SLOT;
        }
        let blocks = std::mem::take(&mut self.blocks);
        order.into_iter().map(move |(column, place)| (column as usize, blocks[place as usize]))
    }
}

/// First slots of a group's blocks in the pattern, and an iterator over its rows with blocks outside the group.
struct GroupPlaces<'a> {
    rows: Range<usize>,
    first_pair: usize,
    first_far: usize,
    far: &'a SparseRows,
    positions: std::iter::Peekable<Range<usize>>,
}

impl<'a> GroupPlaces<'a> {
    fn new(pattern: &'a Pattern, rows: Range<usize>) -> Self {
        let far = pattern.far();
        let positions = far.positions(&rows);
        let first_far = positions.clone().next().map_or(0, |position| far.slots(position).start);
        Self {
            first_pair: pattern.pairs(rows.start).start,
            first_far,
            far,
            positions: positions.peekable(),
            rows,
        }
    }

    /// Slots outside the group of the next row.
    fn next_row(&mut self, row: usize) -> Range<usize> {
        let far = self.far;
        let position = self.positions.next_if(|at| far.rows()[*at] as usize == row);
        position.map_or(0..0, |position| far.slots(position))
    }
}

fn near_slot(pattern: &Pattern, i: usize, j: usize) -> Option<(usize, usize)> {
    (i / GROUP == j / GROUP).then(|| pattern.near_slot(i.max(j), i.min(j)))?
}

fn far_slot(far: &SparseRows, slots: &Range<usize>, column: usize) -> Option<usize> {
    let place = far.columns()[slots.clone()].binary_search(&(column as u32)).ok()?;
    Some(slots.start + place)
}
