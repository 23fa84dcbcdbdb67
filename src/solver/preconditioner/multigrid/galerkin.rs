// SPDX-License-Identifier: MIT OR Apache-2.0
//! The matrix of the next level, PᵀAP, and the way to it.
//!
//! With H what lies below the diagonal of A and half of the diagonal, PᵀAP is PᵀHP and its transpose. Every group of rows
//! of H is multiplied from both sides into blocks of its own, few enough to stay in the cache; the blocks of PᵀAP are
//! sums of them. Where each product goes is found once.

use super::{aggregation::Interpolation, coupling::add_coupling};
use crate::{
    parallel,
    solver::{
        Block, BlockMatrix, GROUP, GroupBlocks, Pattern,
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

/// Coarse row and column of the blocks that a group of rows sums up, in ascending order.
type Keys = Vec<(u32, u32)>;

/// How the products of a group of rows are formed.
#[derive(Default)]
struct Plan {
    rows: Vec<PlanRow>,
    /// HP, row by row and block by block.
    terms: Vec<Term>,
    /// Places in the blocks of the group, row by row: of each weight of the row with each sum of HP.
    targets: Vec<u32>,
    /// Most blocks of a row of H, and most sums.
    most: [usize; 2],
}

/// A row of H: its diagonal block, its pairs inside the group, and blocks outside of it.
#[derive(Clone, Copy)]
struct PlanRow {
    /// Where the blocks outside start, and how many they are.
    far: [u32; 2],
    term_count: u32,
    /// Coarse columns of HP in this row.
    sum_count: u32,
}

/// A block of a row of H times a weight, and the sum that it belongs to.
#[derive(Clone, Copy)]
struct Term {
    block: u16,
    sum: u16,
    weight: f32,
}

/// How much a level has to do on the way to the next.
#[derive(Clone, Copy, Debug)]
pub struct LevelSizes<'a> {
    /// PᵀAP.
    pub coarse: &'a BlockMatrix,
    /// Entries of P.
    pub weights: usize,
    /// Products of a block and a weight for HP, and of a sum of these and a weight for PᵀHP.
    pub products: [usize; 2],
    /// Blocks that groups of rows sum up for themselves, and how often blocks of PᵀAP are made of one.
    pub partial: usize,
    /// See [`Self::partial`].
    pub sources: usize,
}

impl Galerkin {
    pub(super) fn sizes<'a>(&self, coarse: &'a BlockMatrix) -> LevelSizes<'a> {
        let plans = self.plans.iter();
        let products = plans.map(|plan| [plan.terms.len(), plan.targets.len()]);
        LevelSizes {
            coarse,
            weights: (0..coarse.diagonals().len())
                .map(|row| self.interpolation.column(row).len())
                .sum(),
            products: products.fold([0; 2], |[a, b], [c, d]| [a + c, b + d]),
            partial: self.partial.len(),
            sources: self.sources.len(),
        }
    }

    pub(super) fn new(pattern: &Pattern, interpolation: Interpolation) -> Self {
        let groups = (0..pattern.row_count()).into_par_iter().step_by(GROUP);
        let (plans, keys): (Vec<Plan>, Vec<Keys>) = groups
            .map(|first| {
                let rows = first..(first + GROUP).min(pattern.row_count());
                Plan::new(pattern, &interpolation, &rows)
            })
            .unzip();
        let coarse_pattern = coarse_pattern(&keys, interpolation.coarse_count());
        let mut partial_starts = vec![0];
        for keys in &keys {
            partial_starts.push(partial_starts[partial_starts.len() - 1] + keys.len() as u32);
        }
        let places = Places::new(&coarse_pattern);
        let (source_starts, sources) = find_sources(&keys, &coarse_pattern, &places);
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
}

impl Plan {
    fn new(pattern: &Pattern, interpolation: &Interpolation, rows: &Range<usize>) -> (Self, Keys) {
        let mut plan = Self { rows: Vec::with_capacity(rows.len()), ..Self::default() };
        let mut products: Vec<(u32, u32)> = Vec::new();
        let far = pattern.far();
        let mut positions = far.positions(rows).peekable();
        for row in rows.clone() {
            let position = positions.next_if(|at| far.rows()[*at] as usize == row);
            let slots = position.map_or(0..0, |position| far.slots(position));
            let lower =
                far.columns()[slots.clone()].partition_point(|other| (*other as usize) < row);
            let mut blocks = near_blocks(pattern, row);
            let first_far = 1 + 2 * pattern.pairs(row).len();
            let columns = &far.columns()[slots.start..slots.start + lower];
            blocks.extend((first_far..).zip(columns.iter().map(|column| *column as usize)));
            let sums = plan.push_terms(interpolation, &blocks);
            plan.rows.push(PlanRow {
                far: [slots.start as u32, lower as u32],
                term_count: blocks
                    .iter()
                    .map(|(_, column)| interpolation.row(*column).len())
                    .sum::<usize>() as u32,
                sum_count: sums.len() as u32,
            });
            plan.most = [plan.most[0].max(first_far + lower), plan.most[1].max(sums.len())];
            let own = interpolation.row(row).iter();
            products.extend(own.flat_map(|(i, _)| sums.iter().map(|j| (*i, *j))));
        }
        let mut keys = products.clone();
        keys.sort_unstable();
        keys.dedup();
        keys.shrink_to_fit();
        let target = |key: &(u32, u32)| keys.partition_point(|other| other < key) as u32;
        plan.targets = products.iter().map(target).collect();
        plan.terms.shrink_to_fit();
        (plan, keys)
    }

    /// Adds what a row of H has, given the places and columns of its blocks, and gives the coarse columns.
    fn push_terms(&mut self, interpolation: &Interpolation, blocks: &[(usize, usize)]) -> Vec<u32> {
        let weights = |column: &usize| interpolation.row(*column).iter();
        let mut sums: Vec<u32> =
            blocks.iter().flat_map(|(_, column)| weights(column).map(|(j, _)| *j)).collect();
        sums.sort_unstable();
        sums.dedup();
        for (block, column) in blocks {
            let half = if *block == 0 { 0.5 } else { 1.0 };
            self.terms.extend(weights(column).map(|(j, weight)| Term {
                block: *block as u16,
                sum: sums.partition_point(|sum| sum < j) as u16,
                weight: half * weight,
            }));
        }
        sums
    }
}

/// Places among the blocks of a row, and columns, of its diagonal block and of those inside the group.
fn near_blocks(pattern: &Pattern, row: usize) -> Vec<(usize, usize)> {
    let first = row / GROUP * GROUP;
    let mut blocks = vec![(0, row)];
    for (pair, [a, b]) in pattern.near_columns()[pattern.pairs(row)].iter().enumerate() {
        blocks.push((1 + 2 * pair, first + usize::from(*a)));
        if a != b {
            blocks.push((2 + 2 * pair, first + usize::from(*b)));
        }
    }
    blocks
}

/// The pattern of all blocks that groups sum up.
fn coarse_pattern(keys: &[Keys], coarse_count: usize) -> Pattern {
    let mut pairs = keys.concat();
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
fn find_sources(keys: &[Keys], pattern: &Pattern, places: &Places) -> (Vec<u32>, Vec<Source>) {
    let keys = keys.iter().flatten().enumerate();
    let found: Vec<(u32, Source)> = keys
        .flat_map(|(partial, (i, j))| {
            let (i, j) = (*i as usize, *j as usize);
            let itself = places.find(pattern, i, j).map(|place| (place, 2 * partial));
            let other = places.find(pattern, j, i);
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
    fn run<L: Lanes>(self, lanes: L) {
        let Self { matrix, near, rows, interpolation, plan, sums } = self;
        sums.fill(Block::default());
        let mut blocks = vec![Block::default(); plan.most[0]];
        let mut parts = vec![Block::default(); plan.most[1]];
        let (mut terms, mut targets) = (plan.terms.iter(), plan.targets.iter());
        let [far, _] = matrix.outer();
        for ((offset, row), counts) in rows.enumerate().zip(&plan.rows) {
            blocks[0] = matrix.diagonals()[row];
            let mut end = 1;
            for pair in near.pairs(offset) {
                blocks[end..end + 2].copy_from_slice(&[pair.get(0), pair.get(1)]);
                end += 2;
            }
            let [start, count] = counts.far.map(|number| number as usize);
            blocks[end..end + count].copy_from_slice(&far.blocks[start..start + count]);
            let parts = &mut parts[..counts.sum_count as usize];
            parts.fill(Block::default());
            for term in terms.by_ref().take(counts.term_count as usize) {
                let block = &blocks[usize::from(term.block)];
                lanes.add_scaled(&mut parts[usize::from(term.sum)], term.weight, block);
            }
            for (_, weight) in interpolation.row(row) {
                for (part, target) in parts.iter().zip(&mut targets) {
                    lanes.add_scaled(&mut sums[*target as usize], *weight, part);
                }
            }
        }
    }
}
