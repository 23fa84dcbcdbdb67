// SPDX-License-Identifier: MIT OR Apache-2.0
//! The matrix of the next level, PᵀAP, and the way to it.
//!
//! Every group of rows of A is multiplied from both sides at once into blocks of its own, few enough to stay in the
//! cache; the blocks of PᵀAP are sums of them. Where each product goes is found once.

use super::{aggregation::Interpolation, coupling::add_coupling};
use crate::{
    parallel,
    solver::{
        Block, BlockMatrix, GROUP, GroupBlocks, Pattern, Row3,
        lanes::{Kernel, Lanes, dispatch},
        near::Near,
    },
};
use rayon::prelude::*;
use std::{ops::Range, sync::Arc};

/// Interpolation P with everything that can be known of PᵀAP before A.
pub(super) struct Galerkin {
    pub(super) interpolation: Interpolation,
    /// What each group of rows of A does.
    plans: Vec<Plan>,
    /// What the groups have summed up, and where the blocks of each start.
    partial: Vec<Block>,
    partial_starts: Vec<u32>,
    /// For every block of PᵀAP its parts, see [`Source`], and where those of each block start. Blocks come group by group:
    /// diagonals, then those inside the group, then those outside.
    sources: Vec<Source>,
    source_starts: Vec<u32>,
    /// Where the blocks of each group start in `source_starts`.
    block_starts: Vec<u32>,
    coarse_pattern: Arc<Pattern>,
}

/// Twice the place in `partial`, plus 1 if the transposed block is meant.
type Source = u32;

/// Where the products of a group of rows go: for diagonal blocks, blocks inside the group and blocks outside, each with
/// every weight of its row and of its column.
struct Plan {
    /// Four times the place among the blocks of the group, plus a [`Variant`].
    targets: Vec<u32>,
    /// Coarse row and column of each of these blocks, none above the diagonal, in ascending order.
    keys: Vec<(u32, u32)>,
}

/// What of a block is added.
struct Variant;

impl Variant {
    const ITSELF: u32 = 0;
    const TRANSPOSED: u32 = 1;
    /// The block and its transpose.
    const BOTH: u32 = 2;
    const NOTHING: u32 = 3;
}

impl Galerkin {
    pub(super) fn new(pattern: &Pattern, interpolation: Interpolation) -> Self {
        let groups = (0..pattern.row_count()).into_par_iter().step_by(GROUP);
        let plans: Vec<Plan> = groups
            .map(|first| {
                let rows = first..(first + GROUP).min(pattern.row_count());
                Plan::new(pattern, &interpolation, &rows)
            })
            .collect();
        let coarse_pattern = coarse_pattern(&plans, interpolation.coarse_count());
        let mut partial_starts = vec![0];
        for plan in &plans {
            partial_starts.push(partial_starts[partial_starts.len() - 1] + plan.keys.len() as u32);
        }
        let places = Places::new(&coarse_pattern);
        let (source_starts, sources) = find_sources(&plans, &coarse_pattern, &places);
        Self {
            partial: vec![Block::default(); partial_starts[plans.len()] as usize],
            plans,
            partial_starts,
            sources,
            source_starts,
            block_starts: places.groups,
            coarse_pattern: Arc::new(coarse_pattern),
            interpolation,
        }
    }

    pub(super) fn coarse_pattern(&self) -> &Arc<Pattern> {
        &self.coarse_pattern
    }

    /// `coarse` = PᵀAP.
    pub(super) fn project(&mut self, matrix: &BlockMatrix, coarse: &mut BlockMatrix) {
        self.multiply(matrix);
        let (coupling, pattern) = (matrix.coupling(), &self.coarse_pattern);
        let rest = coarse.fill(|mut group| {
            self.collect(&mut group);
            add_coupling(coupling, &self.interpolation, pattern, &mut group)
        });
        coarse.take_coupling(rest);
    }

    pub(super) fn multiply(&mut self, matrix: &BlockMatrix) {
        let Self { interpolation, plans, partial, partial_starts, .. } = self;
        let groups = parallel::split_rows(partial, partial_starts, 1);
        groups.into_par_iter().for_each(|(group, sums)| {
            let first = group.start * GROUP;
            let rows = first..(first + GROUP).min(matrix.diagonals().len());
            let plan = &plans[group.start];
            dispatch(Multiply {
                matrix,
                near: matrix.near(&rows),
                rows,
                interpolation,
                plan,
                sums,
            });
        });
    }

    /// Sums up a group of PᵀAP.
    fn collect(&self, group: &mut GroupBlocks<'_>) {
        let first = self.block_starts[group.rows.start / GROUP] as usize;
        let mut starts = self.source_starts[first..].windows(2);
        let mut next = || {
            let mut sum = Block::default();
            let range = starts.next().map_or(0..0, |ends| ends[0] as usize..ends[1] as usize);
            for source in &self.sources[range] {
                let block = &self.partial[(source / 2) as usize];
                sum.add(&if source % 2 == 0 { *block } else { block.transposed() });
            }
            sum
        };
        for diagonal in group.diagonals.iter_mut() {
            *diagonal = next();
        }
        let pairs = self.coarse_pattern.pairs(group.rows.start).start;
        let columns = &self.coarse_pattern.near_columns()[pairs..];
        for (pair, columns) in group.pairs.iter_mut().zip(columns) {
            for half in 0..=usize::from(columns[0] != columns[1]) {
                pair.set(half, &next());
            }
        }
        for block in group.far.iter_mut() {
            *block = next();
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

impl Plan {
    fn new(pattern: &Pattern, interpolation: &Interpolation, rows: &Range<usize>) -> Self {
        let mut products: Vec<(u32, u32, u32)> = Vec::new();
        let mut add = |row: usize, column: usize, choose: &dyn Fn(u32, u32) -> u32| {
            for (i, _) in interpolation.row(row) {
                let others = interpolation.row(column).iter();
                products.extend(others.map(|(j, _)| (*i.max(j), *i.min(j), choose(*i, *j))));
            }
        };
        for row in rows.clone() {
            let lower = |i, j| if i < j { Variant::NOTHING } else { Variant::ITSELF };
            add(row, row, &lower);
            for column in pattern.near(row) {
                add(row, rows.start + usize::from(column), &|i: u32, j| match i.cmp(&j) {
                    std::cmp::Ordering::Less => Variant::TRANSPOSED,
                    std::cmp::Ordering::Equal => Variant::BOTH,
                    std::cmp::Ordering::Greater => Variant::ITSELF,
                });
            }
        }
        let far = pattern.far();
        for position in far.positions(rows) {
            // The other half comes from the group of the column.
            let lower = |i, j| if i < j { Variant::NOTHING } else { Variant::ITSELF };
            for column in &far.columns()[far.slots(position)] {
                add(far.rows()[position] as usize, *column as usize, &lower);
            }
        }
        let mut keys: Vec<(u32, u32)> = products.iter().map(|(i, j, _)| (*i, *j)).collect();
        keys.sort_unstable();
        keys.dedup();
        let target = |(i, j, variant): &(u32, u32, u32)| {
            4 * keys.partition_point(|key| *key < (*i, *j)) as u32 + variant
        };
        Self { targets: products.iter().map(target).collect(), keys }
    }
}

/// The pattern of all blocks that the plans make.
fn coarse_pattern(plans: &[Plan], coarse_count: usize) -> Pattern {
    let mut pairs: Vec<(u32, u32)> =
        plans.iter().flat_map(|plan| plan.keys.iter().copied()).collect();
    pairs.extend_from_within(..);
    let half = pairs.len() / 2;
    for (i, j) in &mut pairs[half..] {
        std::mem::swap(i, j);
    }
    pairs.par_sort_unstable();
    pairs.dedup();
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); coarse_count];
    for (row, column) in pairs {
        rows[row as usize].push(column);
    }
    Pattern::of_rows(rows.iter().map(Vec::as_slice))
}

/// Numbers of the blocks of a matrix, group by group: diagonals, then those inside the group, then those outside.
struct Places {
    /// Where the blocks of each group start.
    groups: Vec<u32>,
    /// Where the blocks inside a group of each row start, and those outside of each row that has any.
    near: Vec<u32>,
    far: Vec<u32>,
}

impl Places {
    fn new(pattern: &Pattern) -> Self {
        let count = pattern.row_count();
        let (mut groups, mut near, mut far) = (vec![0], Vec::new(), Vec::new());
        let mut end = 0;
        for first in (0..count).step_by(GROUP) {
            let rows = first..(first + GROUP).min(count);
            end += rows.len() as u32;
            for row in rows.clone() {
                near.push(end);
                end += pattern.near(row).count() as u32;
            }
            for position in pattern.far().positions(&rows) {
                far.push(end);
                end += pattern.far().slots(position).len() as u32;
            }
            groups.push(end);
        }
        Self { groups, near, far }
    }

    fn count(&self) -> usize {
        self.groups[self.groups.len() - 1] as usize
    }

    /// The number of a block that is there, or `None` where its transpose stands for it.
    fn find(&self, pattern: &Pattern, row: usize, column: usize) -> Option<usize> {
        if row == column {
            return Some(self.groups[row / GROUP] as usize + row % GROUP);
        }
        if row / GROUP == column / GROUP {
            let mut near = pattern.near(row);
            let place = near.position(|other| usize::from(other) == column % GROUP)?;
            return Some(self.near[row] as usize + place);
        }
        let far = pattern.far();
        let position = far.rows().binary_search(&(row as u32)).ok()?;
        let place = far.columns()[far.slots(position)].binary_search(&(column as u32)).ok()?;
        Some(self.far[position] as usize + place)
    }
}

/// Where the sources of each block start, and they.
fn find_sources(plans: &[Plan], pattern: &Pattern, places: &Places) -> (Vec<u32>, Vec<Source>) {
    let keys = plans.iter().flat_map(|plan| &plan.keys).enumerate();
    let found: Vec<(u32, Source)> = keys
        .flat_map(|(partial, (i, j))| {
            let (i, j) = (*i as usize, *j as usize);
            let itself = places.find(pattern, i, j).map(|place| (place, 2 * partial));
            let other = if i == j { None } else { places.find(pattern, j, i) };
            let transposed = other.map(|place| (place, 2 * partial + 1));
            itself.into_iter().chain(transposed)
        })
        .map(|(place, source)| (place as u32, source as u32))
        .collect();
    let mut starts = vec![0_u32; places.count() + 1];
    for (place, _) in &found {
        starts[*place as usize + 1] += 1;
    }
    for place in 0..places.count() {
        starts[place + 1] += starts[place];
    }
    let mut next = starts.clone();
    let mut sources = vec![0; found.len()];
    for (place, source) in found {
        sources[next[place as usize] as usize] = source;
        next[place as usize] += 1;
    }
    (starts, sources)
}

/// The products of a group of rows.
struct Multiply<'a> {
    matrix: &'a BlockMatrix,
    near: Near<'a>,
    rows: Range<usize>,
    interpolation: &'a Interpolation,
    plan: &'a Plan,
    sums: &'a mut [Block],
}

impl Kernel for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Self { matrix, near, rows, interpolation, plan, sums } = self;
        sums.fill(Block::default());
        let mut products = Products { interpolation, targets: plan.targets.iter(), sums };
        let unused = Block::default();
        for (offset, row) in rows.clone().enumerate() {
            products.add(row, row, &[matrix.diagonals()[row], unused, unused]);
            for (column, block) in near.blocks(offset) {
                let transposed = block.transposed();
                let mut both = block;
                both.add(&transposed);
                products.add(row, rows.start + column, &[block, transposed, both]);
            }
        }
        let [far, _] = matrix.outer();
        far.visit(&rows, |row, column, block| {
            products.add(row, column, &[*block, unused, unused]);
        });
    }
}

/// Products as they come, and where they go.
struct Products<'a> {
    interpolation: &'a Interpolation,
    targets: std::slice::Iter<'a, u32>,
    sums: &'a mut [Block],
}

impl Products<'_> {
    #[inline(always)]
    fn add(&mut self, row: usize, column: usize, variants: &[Block; 3]) {
        let columns = self.interpolation.row(column);
        for (_, left) in self.interpolation.row(row) {
            for ((_, right), target) in columns.iter().zip(&mut self.targets) {
                let variant = target % 4;
                if variant != Variant::NOTHING {
                    let block = &variants[variant as usize];
                    self.sums[(target / 4) as usize].add_scaled(left * right, block);
                }
            }
        }
    }
}
