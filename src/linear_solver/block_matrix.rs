// SPDX-License-Identifier: MIT OR Apache-2.0
//! A symmetric sparse matrix of 3×3 blocks; its structure is built once, but for the coupling that contacts add.

use super::{
    contact_blocks::{ContactBlocks, OffGroupBlocks},
    group_product::{GroupVector, LowerGroupBlocks},
    pattern::{GROUP, Pattern, SparseRows, group_rows, task_length},
    scalar_couplings::ScalarCouplings,
};
use crate::simd::{Block, Kernel, Lanes, Row3, dispatch};
use rayon::prelude::*;
use std::{ops::Range, sync::Arc};

/// Two blocks side by side, by columns; the fourth lane of each half is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct BlockPair(pub(crate) [[f32; 8]; 3]);

impl BlockPair {
    /// Multiplies both blocks.
    pub fn scale(&mut self, factor: f32) {
        for entry in self.0.as_flattened_mut() {
            *entry *= factor;
        }
    }

    /// Adds the identity times a factor to each of the blocks.
    #[inline(always)]
    pub(crate) fn add_scaled_identities(&mut self, factors: [f32; 2]) {
        for (k, column) in self.0.iter_mut().enumerate() {
            column[k] += factors[0];
            column[4 + k] += factors[1];
        }
    }

    /// One of the two blocks.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, half: usize) -> Block {
        Block(self.0.map(|column| std::array::from_fn(|k| column[4 * half + k])))
    }

    /// Replaces one of the two blocks.
    #[inline(always)]
    pub fn set(&mut self, half: usize, block: &Block) {
        for (column, values) in self.0.iter_mut().zip(&block.0) {
            column[4 * half..4 * half + 4].copy_from_slice(values);
        }
    }
}

/// The blocks of a symmetric matrix on a [`Pattern`], and a changing [`ContactBlocks`] outside of it.
#[derive(Clone, Debug)]
pub struct BlockMatrix {
    pattern: Arc<Pattern>,
    diagonals: Vec<Block>,
    pairs: Vec<BlockPair>,
    far: Vec<Block>,
    contact_blocks: ContactBlocks,
    scalars: Arc<ScalarCouplings>,
}

/// The blocks of one group of rows, to be filled.
pub struct GroupBlocks<'a> {
    /// The rows.
    pub rows: Range<usize>,
    /// Their diagonal blocks.
    pub diagonals: &'a mut [Block],
    /// Their pairs of blocks inside the group, row by row.
    pub pairs: &'a mut [BlockPair],
    /// Their blocks outside the group, row by row.
    pub far: &'a mut [Block],
}

impl GroupBlocks<'_> {
    /// Sets all blocks to 0.
    pub fn clear(&mut self) {
        self.diagonals.fill(Block::default());
        self.pairs.fill(BlockPair::default());
        self.far.fill(Block::default());
    }

    /// Multiplies all blocks.
    pub fn scale(&mut self, factor: f32) {
        for block in self.diagonals.iter_mut().chain(&mut *self.far) {
            block.scale(factor);
        }
        for pair in &mut *self.pairs {
            pair.scale(factor);
        }
    }
}

impl BlockMatrix {
    /// A matrix of zeros.
    #[must_use]
    pub fn new(pattern: Arc<Pattern>) -> Self {
        Self {
            diagonals: vec![Block::default(); pattern.row_count()],
            pairs: vec![BlockPair::default(); pattern.pair_count()],
            far: vec![Block::default(); pattern.far().columns().len()],
            contact_blocks: ContactBlocks::default(),
            scalars: Arc::default(),
            pattern,
        }
    }

    /// Its sparsity pattern.
    #[must_use]
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// The diagonal blocks.
    #[must_use]
    pub fn diagonals(&self) -> &[Block] {
        &self.diagonals
    }

    /// Adds to a row's diagonal block.
    pub fn add_diagonal(&mut self, row: usize, block: &Block) {
        self.diagonals[row].add(block);
    }

    /// Adds B_ij and its transpose B_ji for i ≠ j, and says whether the pattern has them; where it does not,
    /// nothing is changed, and they belong into [`Self::set_contact_blocks`].
    pub fn add_pair(&mut self, i: usize, j: usize, block: &Block) -> bool {
        let (i, j, block) = if i > j { (i, j, *block) } else { (j, i, block.transposed()) };
        if i / GROUP == j / GROUP {
            let Some((pair, half)) = self.pattern.near_slot(i, j) else { return false };
            let mut sum = self.pairs[pair].get(half);
            sum.add(&block);
            self.pairs[pair].set(half, &sum);
            return true;
        }
        let far = self.pattern.far();
        let slots = (far.slot(i as u32, j as u32), far.slot(j as u32, i as u32));
        let (Some(lower), Some(upper)) = slots else { return false };
        self.far[lower].add(&block);
        self.far[upper].add(&block.transposed());
        true
    }

    /// The block at a place, 0 where there is none.
    #[must_use]
    pub fn block(&self, i: usize, j: usize) -> Block {
        if i == j {
            return self.diagonals[i];
        }
        if i / GROUP == j / GROUP {
            let slot = self.pattern.near_slot(i.max(j), i.min(j));
            let block = slot.map(|(pair, half)| self.pairs[pair].get(half)).unwrap_or_default();
            let mut sum = if i > j { block } else { block.transposed() };
            if let Some(slot) = self.contact_blocks.rows().slot(i as u32, j as u32) {
                sum.add(&self.contact_blocks.off_group_blocks().blocks[slot]);
            }
            return sum;
        }
        let mut sum = Block::default();
        for outer in self.off_group_blocks() {
            if let Some(slot) = outer.list.slot(i as u32, j as u32) {
                sum.add(&outer.blocks[slot]);
            }
        }
        sum
    }

    /// The part outside of the diagonal that is a number for each pair of rows.
    #[must_use]
    pub fn scalars(&self) -> &ScalarCouplings {
        &self.scalars
    }

    /// Sets that part.
    pub fn set_scalars(&mut self, scalars: Arc<ScalarCouplings>) {
        self.scalars = scalars;
    }

    /// The blocks outside the pattern.
    #[must_use]
    pub fn contact_blocks(&self) -> &ContactBlocks {
        &self.contact_blocks
    }

    /// Sets the blocks B_ij with i < j outside the pattern, in any order; blocks of equal indices are summed in the
    /// given order, and the transposed half is implied. Blocks on the pattern are added with [`Self::add_diagonal`] and
    /// [`Self::add_pair`].
    pub fn set_contact_blocks(&mut self, entries: &[(u32, u32, Block)]) {
        self.contact_blocks.set(self.pattern.row_count(), entries);
    }

    /// Removes all blocks outside the pattern.
    pub fn clear_contact_blocks(&mut self) {
        self.contact_blocks.clear();
    }

    /// Fills the blocks on the pattern with `value(row, column)`.
    pub fn fill_by(&mut self, value: impl Fn(usize, usize) -> Block + Sync) {
        let pattern = Arc::clone(&self.pattern);
        self.fill(|group| {
            let first = group.rows.start;
            let mut pairs = group.pairs.iter_mut();
            for (row, diagonal) in group.rows.clone().zip(group.diagonals) {
                *diagonal = value(row, row);
                let columns = &pattern.near_columns()[pattern.pairs(row)];
                for (columns, pair) in columns.iter().zip(&mut pairs) {
                    let count = 1 + usize::from(columns[0] != columns[1]);
                    for (half, column) in columns.iter().enumerate().take(count) {
                        pair.set(half, &value(row, first + usize::from(*column)));
                    }
                }
            }
            let far = pattern.far();
            let positions = far.positions(&group.rows);
            let columns = positions.flat_map(|position| {
                let row = far.rows()[position] as usize;
                far.columns()[far.slots(position)].iter().map(move |column| (row, *column as usize))
            });
            for (block, (row, column)) in group.far.iter_mut().zip(columns) {
                *block = value(row, column);
            }
        });
    }

    /// Fills the blocks on the pattern group by group, in parallel; `fill` gets their present values. Returns the
    /// results of `fill`.
    pub fn fill<Value: Send>(
        &mut self,
        fill: impl Fn(GroupBlocks<'_>) -> Value + Sync,
    ) -> Vec<Value> {
        let Self { pattern, diagonals, pairs, far, .. } = self;
        split_groups(pattern, diagonals, pairs, far).into_par_iter().map(&fill).collect()
    }

    /// Changes by `change(row, column, block)` those blocks that have a row or a column which is `touched`.
    pub(crate) fn map(
        &mut self,
        touched: impl Fn(usize) -> bool + Sync,
        change: impl Fn(usize, usize, &Block) -> Block + Sync,
    ) {
        let Self { pattern, diagonals, pairs, far, contact_blocks: coupling, .. } = self;
        let groups = split_groups(pattern, diagonals, pairs, far).into_par_iter();
        groups.for_each(|group| {
            map_off_group(pattern.far(), &group.rows, group.far, (&touched, &change));
            let first = group.rows.start;
            let mut pairs = group.pairs.iter_mut();
            for (row, diagonal) in group.rows.clone().zip(group.diagonals) {
                let is_touched = touched(row);
                if is_touched {
                    *diagonal = change(row, row, diagonal);
                }
                let columns = &pattern.near_columns()[pattern.pairs(row)];
                for (columns, pair) in columns.iter().zip(&mut pairs) {
                    for (half, column) in columns.iter().enumerate() {
                        let column = first + usize::from(*column);
                        if is_touched || touched(column) {
                            pair.set(half, &change(row, column, &pair.get(half)));
                        }
                    }
                }
            }
        });
        let (list, blocks) = coupling.parts_mut();
        map_off_group(list, &(0..pattern.row_count()), blocks, (&touched, &change));
    }

    /// Blocks outside of groups: of the pattern, and of the coupling.
    #[must_use]
    pub fn off_group_blocks(&self) -> [OffGroupBlocks<'_>; 2] {
        [
            OffGroupBlocks { list: self.pattern.far(), blocks: &self.far },
            self.contact_blocks.off_group_blocks(),
        ]
    }

    /// Calls `visit(row, column, block)` for those blocks below the diagonal inside the group whose rows these are that have a
    /// row or a column which is `is_selected`.
    pub(crate) fn visit_group_blocks(
        &self,
        rows: &Range<usize>,
        is_selected: impl Fn(usize) -> bool,
        mut visit: impl FnMut(usize, usize, &Block),
    ) {
        for row in rows.clone() {
            let slots = self.pattern.pairs(row);
            let row_is_selected = is_selected(row);
            for (columns, pair) in
                self.pattern.near_columns()[slots.clone()].iter().zip(&self.pairs[slots])
            {
                let count = 1 + usize::from(columns[0] != columns[1]);
                for (half, column) in columns.iter().enumerate().take(count) {
                    let column = rows.start + usize::from(*column);
                    if row_is_selected || is_selected(column) {
                        visit(row, column, &pair.get(half));
                    }
                }
            }
        }
    }

    /// Blocks inside the group whose rows these are.
    pub(crate) fn lower_group_blocks(&self, rows: &Range<usize>) -> LowerGroupBlocks<'_> {
        let starts = &self.pattern.near_starts()[rows.start..=rows.end];
        let slots = starts[0] as usize..starts[rows.len()] as usize;
        LowerGroupBlocks {
            starts,
            columns: &self.pattern.near_columns()[slots.clone()],
            pairs: &self.pairs[slots],
            has_row_pairs: self.pattern.has_row_pairs(),
            scalars: self.scalars.group(rows),
        }
    }

    /// `result` = matrix · `vector`.
    pub fn times(&self, vector: &[Row3], result: &mut [Row3]) {
        self.times_and_dot(vector, result);
    }

    /// `result` = matrix · `vector`; returns ⟨`vector`, `result`⟩.
    pub fn times_and_dot(&self, vector: &[Row3], result: &mut [Row3]) -> f64 {
        let length = task_length(result.len());
        let tasks = result.par_chunks_mut(length).enumerate();
        let sums: Vec<Vec<f64>> = tasks
            .map(|(task, result)| {
                let groups = result.chunks_mut(GROUP).enumerate();
                let product = |(group, result): (usize, &mut [Row3])| {
                    let first = task * length + group * GROUP;
                    let group = self.group(first..first + result.len());
                    dispatch(Product { group, vector, result })
                };
                groups.map(product).collect()
            })
            .collect();
        sums.iter().flatten().sum()
    }

    /// ⟨`vector`, matrix · `vector`⟩, with blocks inside groups read once.
    pub(crate) fn quadratic_form(&self, vector: &[Row3]) -> f64 {
        let groups = (0..vector.len()).into_par_iter().step_by(GROUP);
        let sums = groups.map(|first| {
            let group = self.group(first..group_rows(first).end.min(vector.len()));
            dispatch(QuadraticForm { group, vector })
        });
        sums.collect::<Vec<f64>>().iter().sum()
    }

    fn group(&self, rows: Range<usize>) -> GroupOfRows<'_> {
        GroupOfRows {
            near: self.lower_group_blocks(&rows),
            diagonals: &self.diagonals[rows.clone()],
            outer: self.off_group_blocks(),
            scalars: &self.scalars,
            rows,
        }
    }
}

/// All entries in a group of rows.
struct GroupOfRows<'a> {
    near: LowerGroupBlocks<'a>,
    diagonals: &'a [Block],
    outer: [OffGroupBlocks<'a>; 2],
    scalars: &'a ScalarCouplings,
    rows: Range<usize>,
}

impl GroupOfRows<'_> {
    /// Adds the product of what is outside the group and the vector.
    #[inline(always)]
    fn add_outer_product<L: Lanes>(&self, lanes: L, vector: &[Row3], into: &mut GroupVector) {
        let Self { outer, scalars, rows, .. } = self;
        for outer in outer {
            outer.visit_products(lanes, rows, vector, |row, product| {
                let entry = &mut into[row - rows.start];
                *entry = std::array::from_fn(|k| entry[k] + product[k]);
            });
        }
        if scalars.has_far_entries() {
            for (row, entry) in rows.clone().zip(into) {
                let far = scalars.far_product(lanes, row, vector);
                *entry = std::array::from_fn(|k| entry[k] + far[k]);
            }
        }
    }
}

/// ⟨v, A v⟩ of the rows A of a group: both halves of A inside of it are the same.
struct QuadraticForm<'a> {
    group: GroupOfRows<'a>,
    vector: &'a [Row3],
}

impl Kernel for QuadraticForm<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> f64 {
        let Self { group, vector } = self;
        let own = &vector[group.rows.clone()];
        let (mut from, mut into) = ([[0.0; 4]; GROUP], [[0.0; 4]; GROUP]);
        from[..own.len()].copy_from_slice(own);
        for (row, diagonal) in group.diagonals.iter().enumerate() {
            let coupled = group.near.scalars.left_product(lanes, row, &from);
            let own = lanes.times(diagonal, &from[row]);
            let others = group.near.gather(lanes, row, &from);
            into[row] = std::array::from_fn(|k| own[k] + 2.0 * (others[k] + coupled[k]));
        }
        group.add_outer_product(lanes, vector, &mut into);
        crate::simd::serial_dot(own, &into[..own.len()])
    }
}

/// Product of a group of rows and the vector, and its scalar product with the group's entries of the vector.
struct Product<'a> {
    group: GroupOfRows<'a>,
    vector: &'a [Row3],
    result: &'a mut [Row3],
}

impl Kernel for Product<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> f64 {
        let Self { group, vector, result } = self;
        let own = &vector[group.rows.clone()];
        let (mut from, mut into) = ([[0.0; 4]; GROUP], [[0.0; 4]; GROUP]);
        from[..own.len()].copy_from_slice(own);
        if group.near.has_row_pairs {
            group.near.multiply_pairs(lanes, group.diagonals, &from, &mut into);
        } else {
            group.near.multiply_rows(lanes, group.diagonals, &from, &mut into);
        }
        group.add_outer_product(lanes, vector, &mut into);
        result.copy_from_slice(&into[..result.len()]);
        crate::simd::serial_dot(own, result)
    }
}

fn split_groups<'a>(
    pattern: &Pattern,
    mut diagonals: &'a mut [Block],
    mut pairs: &'a mut [BlockPair],
    mut far: &'a mut [Block],
) -> Vec<GroupBlocks<'a>> {
    let count = pattern.row_count();
    let mut groups = Vec::with_capacity(count.div_ceil(GROUP));
    for first in (0..count).step_by(GROUP) {
        let rows = first..group_rows(first).end.min(count);
        let pair_count = pattern.pairs(rows.end - 1).end - pattern.pairs(first).start;
        let far_slots = pattern.far().positions(&rows).map(|at| pattern.far().slots(at).len());
        let (own_diagonals, rest) = diagonals.split_at_mut(rows.len());
        diagonals = rest;
        let (own_pairs, rest) = pairs.split_at_mut(pair_count);
        pairs = rest;
        let (own_far, rest) = far.split_at_mut(far_slots.sum());
        far = rest;
        groups.push(GroupBlocks { rows, diagonals: own_diagonals, pairs: own_pairs, far: own_far });
    }
    groups
}

/// Changes blocks that start with the first of the rows, where a row or a column is `touched`.
fn map_off_group(
    list: &SparseRows,
    rows: &Range<usize>,
    blocks: &mut [Block],
    (touched, change): (impl Fn(usize) -> bool, impl Fn(usize, usize, &Block) -> Block),
) {
    let mut blocks = blocks.iter_mut();
    for position in list.positions(rows) {
        let row = list.rows()[position] as usize;
        let is_touched = touched(row);
        for (column, block) in list.columns()[list.slots(position)].iter().zip(&mut blocks) {
            let column = *column as usize;
            if is_touched || touched(column) {
                *block = change(row, column, block);
            }
        }
    }
}
