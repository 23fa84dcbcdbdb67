// SPDX-License-Identifier: MIT OR Apache-2.0
//! The matrix of the next level, PᵀAP, and the way to it.

use super::{aggregation::Interpolation, coupling::project_coupling};
use crate::{
    parallel,
    solver::{Block, BlockMatrix, GROUP, GroupBlocks, Pattern, Row3},
};
use rayon::prelude::*;
use std::{ops::Range, sync::Arc};

/// Interpolation P with everything that can be known of PᵀAP before A.
pub(super) struct Galerkin {
    pub(super) interpolation: Interpolation,
    /// Where the blocks of each row of AP start, and the coarse rows they belong to.
    half_starts: Vec<u32>,
    half_columns: Vec<u32>,
    /// For every block of A and every weight of its column: the place in the row of AP. Blocks inside a group come
    /// with the places of their transposes. In the order in which [`multiply_group`] goes through A.
    places: Vec<u16>,
    place_starts: Vec<u32>,
    /// AP.
    half: Vec<Block>,
    /// For every coarse row, fine row in it and block of that row of AP: where it goes, see [`Targets`].
    targets: Vec<u16>,
    target_starts: Vec<u32>,
    coarse_pattern: Arc<Pattern>,
}

/// Places in a row of the coarse matrix, as they are numbered in a list of targets: 0 is nowhere, 1 the diagonal, then come
/// the two halves of each pair, then the blocks outside the group.
struct Targets;

impl Targets {
    const NOWHERE: u16 = 0;
    const DIAGONAL: u16 = 1;
    const FIRST: usize = 2;
}

impl Galerkin {
    pub(super) fn new(pattern: &Pattern, interpolation: Interpolation) -> Self {
        let (half_starts, half_columns) = half_pattern(pattern, &interpolation);
        let of_row =
            |row: usize| &half_columns[half_starts[row] as usize..half_starts[row + 1] as usize];
        let (places, place_starts) = find_places(pattern, &interpolation, of_row);
        let coarse_rows: Vec<Vec<u32>> = (0..interpolation.coarse_count())
            .into_par_iter()
            .map(|coarse| {
                let members = interpolation.column(coarse).iter();
                let mut row: Vec<u32> =
                    members.flat_map(|(fine, _)| of_row(*fine as usize)).copied().collect();
                row.sort_unstable();
                row.dedup();
                row
            })
            .collect();
        let coarse_pattern = Pattern::of_rows(coarse_rows.iter().map(Vec::as_slice));
        let (targets, target_starts) = find_targets(&coarse_pattern, &interpolation, of_row);
        Self {
            half: vec![Block::default(); half_columns.len()],
            coarse_pattern: Arc::new(coarse_pattern),
            interpolation,
            half_starts,
            half_columns,
            places,
            place_starts,
            targets,
            target_starts,
        }
    }

    pub(super) fn coarse_pattern(&self) -> &Arc<Pattern> {
        &self.coarse_pattern
    }

    /// `coarse` = PᵀAP.
    pub(super) fn project(&mut self, matrix: &BlockMatrix, coarse: &mut BlockMatrix) {
        self.multiply_right(matrix);
        coarse.fill(|group| self.multiply_left(group));
        coarse.clear_coupling();
        coarse.add_rows(&project_coupling(matrix.coupling(), &self.interpolation));
    }

    /// `half` = AP.
    fn multiply_right(&mut self, matrix: &BlockMatrix) {
        let Self { interpolation, places, place_starts, half_starts, half, .. } = self;
        let groups = parallel::split_rows(half, half_starts, GROUP);
        groups.into_par_iter().for_each(|(rows, half)| {
            let group = rows.start / GROUP;
            let places = &places[place_starts[group] as usize..place_starts[group + 1] as usize];
            let starts = &half_starts[rows.start..=rows.end];
            multiply_group(matrix, interpolation, &rows, places, &mut HalfRows { starts, half });
        });
    }

    /// A group of rows of PᵀAP.
    fn multiply_left(&self, group: GroupBlocks<'_>) {
        let pattern = &self.coarse_pattern;
        let far = pattern.far();
        let mut far_positions = far.positions(&group.rows).peekable();
        let (mut pairs, mut far_blocks) = (group.pairs, group.far);
        let mut sums: Vec<Block> = Vec::new();
        for (row, diagonal) in group.rows.clone().zip(group.diagonals) {
            let position = far_positions.next_if(|at| far.rows()[*at] as usize == row);
            let far_count = position.map_or(0, |position| far.slots(position).len());
            let pair_count = pattern.pairs(row).len();
            sums.clear();
            sums.resize(Targets::FIRST + 2 * pair_count + far_count, Block::default());
            self.sum_row(row, &mut sums);
            *diagonal = sums[usize::from(Targets::DIAGONAL)];
            let (own, rest) = pairs.split_at_mut(pair_count);
            pairs = rest;
            for (slot, pair) in own.iter_mut().enumerate() {
                pair.set(0, &sums[Targets::FIRST + 2 * slot]);
                pair.set(1, &sums[Targets::FIRST + 2 * slot + 1]);
            }
            let (own, rest) = far_blocks.split_at_mut(far_count);
            far_blocks = rest;
            own.copy_from_slice(&sums[Targets::FIRST + 2 * pair_count..]);
        }
    }

    fn sum_row(&self, row: usize, sums: &mut [Block]) {
        let targets = self.target_starts[row] as usize..self.target_starts[row + 1] as usize;
        let mut targets = self.targets[targets].iter();
        for (fine, weight) in self.interpolation.column(row) {
            let fine = *fine as usize;
            let half = self.half_starts[fine] as usize..self.half_starts[fine + 1] as usize;
            for (block, target) in self.half[half].iter().zip(&mut targets) {
                if *target != Targets::NOWHERE {
                    sums[usize::from(*target)].add_scaled(*weight, block);
                }
            }
        }
    }

    /// `coarse` = Pᵀ · `fine`.
    pub(super) fn restrict(&self, fine: &[Row3], coarse: &mut [Row3]) {
        let each = coarse.par_iter_mut().enumerate().with_min_len(GROUP);
        each.for_each(|(row, coarse)| {
            let mut sum = [0.0; 4];
            for (fine_row, weight) in self.interpolation.column(row) {
                for (entry, value) in sum.iter_mut().zip(&fine[*fine_row as usize]) {
                    *entry += weight * value;
                }
            }
            *coarse = sum;
        });
    }
}

/// Coarse rows that every row of AP has blocks for: where they start, and they in ascending order.
fn half_pattern(pattern: &Pattern, interpolation: &Interpolation) -> (Vec<u32>, Vec<u32>) {
    let count = pattern.row_count();
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); count];
    for row in 0..count {
        let mut join = |row: usize, column: usize| {
            rows[row].extend(interpolation.row(column).iter().map(|(coarse, _)| *coarse));
        };
        join(row, row);
        let first = row / GROUP * GROUP;
        for column in pattern.near(row) {
            join(row, first + usize::from(column));
            join(first + usize::from(column), row);
        }
    }
    let far = pattern.far();
    for (position, row) in far.rows().iter().enumerate() {
        for column in &far.columns()[far.slots(position)] {
            let weights = interpolation.row(*column as usize);
            rows[*row as usize].extend(weights.iter().map(|(coarse, _)| *coarse));
        }
    }
    rows.par_iter_mut().with_min_len(GROUP).for_each(|row| {
        row.sort_unstable();
        row.dedup();
    });
    let mut starts = vec![0_u32];
    starts.extend(rows.iter().scan(0, |end, row| {
        *end += row.len() as u32;
        Some(*end)
    }));
    (starts, rows.concat())
}

/// Places of all products in the rows of AP, and where those of each group start.
fn find_places<'a>(
    pattern: &Pattern,
    interpolation: &Interpolation,
    of_row: impl Fn(usize) -> &'a [u32],
) -> (Vec<u16>, Vec<u32>) {
    let (mut places, mut starts) = (Vec::new(), vec![0]);
    let count = pattern.row_count();
    for first in (0..count).step_by(GROUP) {
        let rows = first..(first + GROUP).min(count);
        let mut find = |row: usize, column: usize| {
            let columns = of_row(row);
            let weights = interpolation.row(column).iter();
            places.extend(weights.map(|(c, _)| columns.partition_point(|k| k < c) as u16));
        };
        for row in rows.clone() {
            find(row, row);
            for column in pattern.near(row) {
                find(row, first + usize::from(column));
                find(first + usize::from(column), row);
            }
        }
        let far = pattern.far();
        for position in far.positions(&rows) {
            for column in &far.columns()[far.slots(position)] {
                find(far.rows()[position] as usize, *column as usize);
            }
        }
        starts.push(places.len() as u32);
    }
    (places, starts)
}

/// Targets of all blocks of AP, and where those of each coarse row start.
fn find_targets<'a>(
    pattern: &Pattern,
    interpolation: &Interpolation,
    of_row: impl Fn(usize) -> &'a [u32],
) -> (Vec<u16>, Vec<u32>) {
    let (mut targets, mut starts) = (Vec::new(), vec![0]);
    for row in 0..interpolation.coarse_count() {
        let pairs = pattern.pairs(row);
        let target = |column: &u32| {
            let column = *column as usize;
            if column == row {
                return Targets::DIAGONAL;
            }
            let place = if column / GROUP != row / GROUP {
                let far = pattern.far();
                let first = far.positions(&(row..row + 1)).map(|at| far.slots(at).start).next();
                let slot = far.slot(row as u32, column as u32);
                slot.zip(first).map(|(slot, first)| 2 * pairs.len() + slot - first)
            } else if column < row {
                let slot = pattern.near_slot(row, column);
                slot.map(|(pair, half)| 2 * (pair - pairs.start) + half)
            } else {
                None
            };
            place.map_or(Targets::NOWHERE, |place| (Targets::FIRST + place) as u16)
        };
        for (fine, _) in interpolation.column(row) {
            targets.extend(of_row(*fine as usize).iter().map(target));
        }
        starts.push(targets.len() as u32);
    }
    (targets, starts)
}

/// The rows of AP that belong to a group.
struct HalfRows<'a> {
    starts: &'a [u32],
    half: &'a mut [Block],
}

impl HalfRows<'_> {
    #[inline]
    fn row(&mut self, row: usize) -> &mut [Block] {
        let first = self.starts[0];
        &mut self.half[(self.starts[row] - first) as usize..(self.starts[row + 1] - first) as usize]
    }
}

/// A group of rows of AP.
fn multiply_group(
    matrix: &BlockMatrix,
    interpolation: &Interpolation,
    rows: &Range<usize>,
    places: &[u16],
    half: &mut HalfRows<'_>,
) {
    half.half.fill(Block::default());
    let mut places = places.iter();
    let mut add = |half: &mut [Block], column: usize, block: &Block| {
        for ((_, weight), place) in interpolation.row(column).iter().zip(&mut places) {
            half[usize::from(*place)].add_scaled(*weight, block);
        }
    };
    let near = matrix.near(rows);
    for (offset, row) in rows.clone().enumerate() {
        add(half.row(offset), row, &matrix.diagonals()[row]);
        for (column, block) in near.blocks(offset) {
            add(half.row(offset), rows.start + column, &block);
            add(half.row(column), row, &block.transposed());
        }
    }
    let [far, _] = matrix.outer();
    far.visit(rows, |row, column, block| add(half.row(row - rows.start), column, block));
}
