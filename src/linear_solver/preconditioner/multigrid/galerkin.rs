// SPDX-License-Identifier: MIT OR Apache-2.0
//! The matrix of the next level, the Galerkin product PᵀAP.
//!
//! With H the strict lower triangle of A plus half of its diagonal, PᵀAP = PᵀHP + (PᵀHP)ᵀ. The product of every group
//! of rows of H is summed in blocks of its own, few enough to stay in the cache; the blocks of PᵀAP are sums of them.
//! Groups are processed in batches, which bounds the memory of their blocks. The place of each product is found once,
//! at set-up.

use super::{aggregation::Prolongation, contact_blocks::add_contact_blocks};
use crate::{
    linear_solver::{
        block_matrix::{BlockMatrix, GroupBlocks},
        contact_blocks::ContactBlocks,
        group_product::LowerGroupBlocks,
        pattern::{GROUP, Pattern},
    },
    parallel::reductions,
    simd::{Block, Kernel, Lanes, dispatch},
};
use rayon::prelude::*;
use std::{ops::Range, sync::Arc};

/// Prolongation P and the structure of the product PᵀAP, which does not depend on the values of A.
pub(crate) struct Galerkin {
    pub(crate) prolongation: Prolongation,
    /// Products of each group of rows of A.
    plans: Vec<GroupPlan>,
    /// Partial sums of the groups of a batch.
    partial_sums: Vec<Block>,
    /// First block of each group, counted over all batches.
    partial_starts: Vec<u32>,
    sources: BlockSources,
    coarse_pattern: Arc<Pattern>,
}

/// Groups of a batch.
const BATCH: usize = 32;

/// Four times the place in `partial`, plus 1 if the transposed block is meant, plus 2 if it is the last of a block of PᵀAP.
type Source = u32;

/// Partial sums of each batch that the blocks of PᵀAP consist of.
struct BlockSources {
    /// For each batch and each group of PᵀAP, where the following start.
    starts: Vec<[u32; 2]>,
    /// Blocks that get anything, in ascending order: see [`BlockNumbering`].
    places: Vec<u32>,
    /// Block by block.
    list: Vec<Source>,
}

/// Coarse row and column of the blocks that a group of rows sums up, in ascending order.
type Keys = Vec<(u32, u32)>;

/// Terms and targets of the products of a group of rows.
#[derive(Default)]
struct GroupPlan {
    rows: Vec<PlanRow>,
    /// HP, row by row, block by block and weight by weight: the sum that each product belongs to.
    terms: Vec<u16>,
    /// Places in the blocks of the group, row by row: of each weight of the row with each sum of HP.
    targets: Vec<u32>,
    /// Most sums of a row.
    max_sum_count: usize,
}

/// A row of H: its diagonal block, its pairs inside the group, and blocks outside of it.
#[derive(Clone, Copy)]
struct PlanRow {
    /// First block outside the group, and number of these blocks.
    far: [u32; 2],
    /// Coarse columns of HP in this row.
    sum_count: u32,
}

/// Sizes that determine the work of a level's Galerkin product.
#[derive(Clone, Copy, Debug)]
pub struct LevelSizes<'a> {
    /// PᵀAP.
    pub coarse: &'a BlockMatrix,
    /// Entries of P.
    pub weights: usize,
    /// Products of a block and a weight for HP, and of a sum of these and a weight for PᵀHP.
    pub products: [usize; 2],
    /// Partial sums that are added to blocks of PᵀAP.
    pub sources: usize,
}

impl Galerkin {
    pub(crate) fn sizes<'a>(&self, coarse: &'a BlockMatrix) -> LevelSizes<'a> {
        let plans = self.plans.iter();
        let products = plans.map(|plan| [plan.terms.len(), plan.targets.len()]);
        LevelSizes {
            coarse,
            weights: self.prolongation.matrix().nnz(),
            products: products.fold([0; 2], |[a, b], [c, d]| [a + c, b + d]),
            sources: self.sources.list.len(),
        }
    }

    pub(crate) fn new(pattern: &Pattern, prolongation: Prolongation) -> Self {
        let groups = (0..pattern.row_count()).into_par_iter().step_by(GROUP);
        let (plans, keys): (Vec<GroupPlan>, Vec<Keys>) = groups
            .map(|first| {
                let rows = first..(first + GROUP).min(pattern.row_count());
                GroupPlan::new(pattern, &prolongation, &rows)
            })
            .unzip();
        let coarse_pattern = coarse_pattern(pattern, &prolongation);
        let mut partial_starts = vec![0];
        for keys in &keys {
            partial_starts.push(partial_starts[partial_starts.len() - 1] + keys.len() as u32);
        }
        let sources = BlockSources::new(&keys, &coarse_pattern);
        let batches = keys.chunks(BATCH).map(|keys| keys.iter().map(Vec::len).sum());
        Self {
            partial_sums: vec![Block::default(); batches.max().unwrap_or(0)],
            plans,
            partial_starts,
            sources,
            coarse_pattern: Arc::new(coarse_pattern),
            prolongation,
        }
    }

    pub(crate) fn coarse_pattern(&self) -> &Arc<Pattern> {
        &self.coarse_pattern
    }

    /// `coarse` = PᵀAP.
    pub(crate) fn project(&mut self, matrix: &BlockMatrix, coarse: &mut BlockMatrix) {
        let count = self.plans.len().div_ceil(BATCH);
        for batch in 0..count {
            self.multiply(matrix, batch);
            let (coupling, pattern) = (matrix.contact_blocks(), &self.coarse_pattern);
            let rest = coarse.fill(|mut group| {
                if batch == 0 {
                    group.clear();
                }
                self.sources.collect(batch, &self.partial_sums, pattern, &mut group);
                if batch + 1 < count {
                    return ContactBlocks::default();
                }
                add_contact_blocks(coupling, &self.prolongation, pattern, &mut group)
            });
            coarse.replace_contact_blocks(rest);
        }
    }

    fn multiply(&mut self, matrix: &BlockMatrix, batch: usize) {
        let Self { prolongation, plans, partial_sums, partial_starts, .. } = self;
        let own = batch * BATCH..((batch + 1) * BATCH).min(plans.len());
        let starts = &partial_starts[own.start..=own.end];
        let count = (starts[own.len()] - starts[0]) as usize;
        let groups = reductions::split_rows(&mut partial_sums[..count], starts, 1);
        groups.into_par_iter().for_each(|(group, sums)| {
            let group = own.start + group.start;
            let first = group * GROUP;
            let rows = first..(first + GROUP).min(matrix.diagonals().len());
            let plan = &plans[group];
            dispatch(Multiply {
                matrix,
                near: matrix.lower_group_blocks(&rows),
                rows,
                prolongation,
                plan,
                sums,
            });
        });
    }
}

impl GroupPlan {
    fn new(pattern: &Pattern, prolongation: &Prolongation, rows: &Range<usize>) -> (Self, Keys) {
        let mut plan = Self { rows: Vec::with_capacity(rows.len()), ..Self::default() };
        let mut products: Vec<(u32, u32)> = Vec::new();
        let far = pattern.far();
        let mut positions = far.positions(rows).peekable();
        for row in rows.clone() {
            let position = positions.next_if(|at| far.rows()[*at] as usize == row);
            let slots = position.map_or(0..0, |position| far.slots(position));
            let lower =
                far.columns()[slots.clone()].partition_point(|other| (*other as usize) < row);
            let near = pattern.near(row).map(|column| row / GROUP * GROUP + usize::from(column));
            let outside = far.columns()[slots.start..slots.start + lower].iter();
            let columns: Vec<usize> = std::iter::once(row)
                .chain(near)
                .chain(outside.map(|column| *column as usize))
                .collect();
            let sums = plan.push_terms(prolongation, &columns);
            plan.rows.push(PlanRow {
                far: [slots.start as u32, lower as u32],
                sum_count: sums.len() as u32,
            });
            plan.max_sum_count = plan.max_sum_count.max(sums.len());
            let own = prolongation.row(row).0.iter();
            products.extend(own.flat_map(|i| sums.iter().map(|j| (*i, *j))));
        }
        let mut keys = products.clone();
        keys.sort_unstable();
        keys.dedup();
        keys.shrink_to_fit();
        let target = |key: &(u32, u32)| keys.partition_point(|other| other < key) as u32;
        plan.targets = products.iter().map(target).collect();
        plan.terms.shrink_to_fit();
        plan.targets.shrink_to_fit();
        (plan, keys)
    }

    /// Adds the terms of a row of H with blocks in these columns. Returns the coarse columns of the row of HP.
    fn push_terms(&mut self, prolongation: &Prolongation, columns: &[usize]) -> Vec<u32> {
        let places = |column: &usize| prolongation.row(*column).0;
        let mut sums: Vec<u32> = columns.iter().flat_map(places).copied().collect();
        sums.sort_unstable();
        sums.dedup();
        let terms = columns.iter().flat_map(places);
        self.terms.extend(terms.map(|j| sums.partition_point(|sum| sum < j) as u16));
        sums
    }
}

/// The pattern of PᵀAP: the product of the patterns, as PᵀHP and its transpose.
fn coarse_pattern(pattern: &Pattern, prolongation: &Prolongation) -> Pattern {
    let weights = prolongation.matrix();
    let lower = pattern.lower_triangle().map(|()| 1.0);
    let half = &weights.transpose_view() * &(weights + &(&lower * weights));
    Pattern::of_matrix(&(&half + &half.transpose_view()))
}

/// Numbers of the blocks of a group: its diagonals, then those inside it by twos, then those outside.
struct BlockNumbering {
    rows: Range<usize>,
    first_pair: usize,
    first_far: usize,
    pair_count: usize,
}

impl BlockNumbering {
    fn new(pattern: &Pattern, group: usize) -> Self {
        let rows = group * GROUP..((group + 1) * GROUP).min(pattern.row_count());
        let first_pair = pattern.pairs(rows.start).start;
        let far = pattern.far();
        let position = far.positions(&rows).next();
        Self {
            first_pair,
            first_far: position.map_or(0, |position| far.slots(position).start),
            pair_count: pattern.pairs(rows.end - 1).end - first_pair,
            rows,
        }
    }

    /// The number of a stored block, or `None` if its transpose represents it.
    fn find(&self, pattern: &Pattern, row: usize, column: usize) -> Option<usize> {
        if row == column {
            return Some(row - self.rows.start);
        }
        if self.rows.contains(&column) {
            let (pair, half) = (column < row).then(|| pattern.near_slot(row, column))??;
            return Some(self.rows.len() + 2 * (pair - self.first_pair) + half);
        }
        let slot = pattern.far().slot(row as u32, column as u32)?;
        Some(self.rows.len() + 2 * self.pair_count + slot - self.first_far)
    }
}

impl BlockSources {
    fn new(keys: &[Keys], pattern: &Pattern) -> Self {
        let groups = pattern.row_count().div_ceil(GROUP);
        let layouts: Vec<BlockNumbering> =
            (0..groups).map(|group| BlockNumbering::new(pattern, group)).collect();
        let place = |row: usize, column: usize| {
            let group = row / GROUP;
            Some((group as u32, layouts[group].find(pattern, row, column)? as u32))
        };
        let mut sources = Self { starts: vec![[0; 2]], places: Vec::new(), list: Vec::new() };
        for keys in keys.chunks(BATCH) {
            let mut found: Vec<((u32, u32), Source)> = Vec::new();
            for (partial, (i, j)) in keys.iter().flatten().enumerate() {
                let (i, j, source) = (*i as usize, *j as usize, 4 * partial as Source);
                found.extend(place(i, j).map(|place| (place, source)));
                found.extend(place(j, i).map(|place| (place, source + 1)));
            }
            found.sort_unstable();
            let mut blocks = found.chunk_by(|a, b| a.0 == b.0).peekable();
            for group in 0..groups as u32 {
                while let Some(block) = blocks.next_if(|block| block[0].0.0 == group) {
                    sources.places.push(block[0].0.1);
                    sources.list.extend(block.iter().map(|(_, source)| *source));
                    let last = sources.list.len() - 1;
                    sources.list[last] += 2;
                }
                sources.starts.push([sources.places.len() as u32, sources.list.len() as u32]);
            }
        }
        sources.places.shrink_to_fit();
        sources.list.shrink_to_fit();
        sources
    }

    /// Adds the partial sums of a batch to a group of PᵀAP.
    fn collect(
        &self,
        batch: usize,
        partial_sums: &[Block],
        pattern: &Pattern,
        group: &mut GroupBlocks<'_>,
    ) {
        let first = batch * pattern.row_count().div_ceil(GROUP) + group.rows.start / GROUP;
        let [from, to] =
            [self.starts[first], self.starts[first + 1]].map(|at| at.map(|n| n as usize));
        let mut list = self.list[from[1]..to[1]].iter();
        let (rows, pairs) = (group.rows.len(), 2 * group.pairs.len());
        for place in &self.places[from[0]..to[0]] {
            let place = *place as usize;
            let mut sum = if place < rows {
                group.diagonals[place]
            } else if place < rows + pairs {
                group.pairs[(place - rows) / 2].get((place - rows) % 2)
            } else {
                group.far[place - rows - pairs]
            };
            for source in &mut list {
                let block = &partial_sums[(source / 4) as usize];
                sum.add(&if source % 2 == 0 { *block } else { block.transposed() });
                if source & 2 != 0 {
                    break;
                }
            }
            if place < rows {
                group.diagonals[place] = sum;
            } else if place < rows + pairs {
                group.pairs[(place - rows) / 2].set((place - rows) % 2, &sum);
            } else {
                group.far[place - rows - pairs] = sum;
            }
        }
    }
}

/// The products of a group of rows.
struct Multiply<'a> {
    matrix: &'a BlockMatrix,
    near: LowerGroupBlocks<'a>,
    rows: Range<usize>,
    prolongation: &'a Prolongation,
    plan: &'a GroupPlan,
    sums: &'a mut [Block],
}

impl Kernel for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { matrix, near, rows, prolongation, plan, sums } = self;
        sums.fill(Block::default());
        let mut row_sums = vec![Block::default(); plan.max_sum_count];
        let (mut terms, mut targets) = (plan.terms.iter(), plan.targets.iter());
        let [far, _] = matrix.off_group_blocks();
        let first = rows.start;
        for ((offset, row), counts) in rows.enumerate().zip(&plan.rows) {
            let row_sums = &mut row_sums[..counts.sum_count as usize];
            row_sums.fill(Block::default());
            let weights = |column: usize| prolongation.row_weights(column);
            let mut half = matrix.diagonals()[row];
            half.scale(0.5);
            add_products(lanes, weights(row), &half, &mut terms, row_sums);
            for ([a, b], pair) in near.row(offset) {
                let column = first + usize::from(*a);
                add_products(lanes, weights(column), &pair.get(0), &mut terms, row_sums);
                if a != b {
                    let column = first + usize::from(*b);
                    add_products(lanes, weights(column), &pair.get(1), &mut terms, row_sums);
                }
            }
            let [start, count] = counts.far.map(|number| number as usize);
            let slots = start..start + count;
            for (column, block) in far.list.columns()[slots.clone()].iter().zip(&far.blocks[slots])
            {
                add_products(lanes, weights(*column as usize), block, &mut terms, row_sums);
            }
            for weight in weights(row) {
                for (sum, target) in row_sums.iter().zip(&mut targets) {
                    lanes.add_scaled(&mut sums[*target as usize], *weight, sum);
                }
            }
        }
    }
}

/// Adds the products of a block and weights to the sums with the numbers of the next terms.
#[inline(always)]
fn add_products<'a, L: Lanes>(
    lanes: L,
    weights: &[f32],
    block: &Block,
    terms: &mut impl Iterator<Item = &'a u16>,
    sums: &mut [Block],
) {
    for (weight, sum) in weights.iter().zip(terms) {
        lanes.add_scaled(&mut sums[usize::from(*sum)], *weight, block);
    }
}
