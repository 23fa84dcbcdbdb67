// SPDX-License-Identifier: MIT OR Apache-2.0
//! The matrix of the next level, the Galerkin product PᵀAP with the rigid motions P of aggregates.
//!
//! With H the strict lower triangle of A plus half of its diagonal, PᵀAP = PᵀHP + (PᵀHP)ᵀ. Every group of rows of H is
//! summed on its own, into blocks between pairs of aggregates; the blocks of PᵀAP are sums of those. Which entry
//! belongs to which sum is found once.

use super::rigid_motions::{RigidMotions, RowMotions};
use crate::{
    linear_solver::{
        block_matrix::BlockMatrix,
        pattern::{GROUP, Pattern},
        scalar_couplings::ScalarPattern,
    },
    simd::{Block, Kernel, Lanes, dispatch},
};
use rayon::prelude::*;
use std::{collections::BTreeMap, ops::Range, sync::Arc};

/// Heuristic parameters of the coarse matrices.
struct GalerkinParameters {
    /// Stiffness added to the rotations of a node (fraction of a third of the trace of its own block). Effect: larger
    /// stiffens rotations; smaller lets rounding make the block of an aggregate in a line, which may turn about it,
    /// indefinite. Evidence: none: rounding.
    min_rotation_stiffness: f32,
}

impl GalerkinParameters {
    const DEFAULT: Self = Self { min_rotation_stiffness: 1.0e-4 };
}

/// Blocks between two aggregates: translation and rotation of the one by translation and rotation of the other.
type PairBlocks = [[Block; 2]; 2];

/// Structure of the product PᵀAP, which does not depend on the values of A.
pub(super) struct Galerkin {
    /// Sums of each group of rows of H.
    plans: Vec<GroupPlan>,
    /// For each pair of aggregates, twice the index of a sum, plus 1 if its transpose is meant.
    sources: Vec<Vec<u32>>,
    pairs: AggregatePairs,
    sums: Vec<PairBlocks>,
    blocks: Vec<PairBlocks>,
    pub(super) coarse_pattern: Arc<Pattern>,
    /// Pattern of the scalar part that the plans are made for.
    scalar_pattern: Arc<ScalarPattern>,
}

/// Pairs of adjacent aggregates a ≥ b, sorted.
struct AggregatePairs {
    starts: Vec<u32>,
    others: Vec<u32>,
}

impl AggregatePairs {
    fn new(count: usize, pairs: impl Iterator<Item = (u32, u32)>) -> Self {
        let (mut starts, mut others) = (vec![0; count + 1], Vec::new());
        for (own, other) in pairs {
            others.push(other);
            starts[own as usize + 1] = others.len() as u32;
        }
        for own in 0..count {
            starts[own + 1] = starts[own + 1].max(starts[own]);
        }
        Self { starts, others }
    }

    fn others_of(&self, own: usize) -> &[u32] {
        &self.others[self.starts[own] as usize..self.starts[own + 1] as usize]
    }

    /// Place of a pair with own ≥ other.
    fn place(&self, own: usize, other: usize) -> Option<usize> {
        let place = self.others_of(own).binary_search(&(other as u32)).ok()?;
        Some(self.starts[own] as usize + place)
    }
}

/// Entries of H in a group of rows.
struct GroupPlan {
    rows: Range<usize>,
    /// For each entry of H, row by row: the number of its column's aggregate among those of the row. Blocks inside the
    /// group, blocks outside of it, the diagonal, scalars inside, scalars outside.
    entries: Vec<u8>,
    /// Sum of the group for each aggregate of the columns of a row, row by row.
    targets: Vec<u16>,
    /// End of the targets of each row.
    ends: Vec<u32>,
    sum_count: usize,
}

impl Galerkin {
    pub(super) fn new(
        pattern: &Pattern,
        scalar_pattern: &Arc<ScalarPattern>,
        motions: &RigidMotions,
    ) -> Self {
        let mut plans = Vec::new();
        let mut keys: Vec<(u32, u32)> = Vec::new();
        for first in (0..pattern.row_count()).step_by(GROUP) {
            let rows = first..(first + GROUP).min(pattern.row_count());
            let (plan, own_keys) = group_plan(pattern, scalar_pattern, motions, rows);
            plans.push(plan);
            keys.extend(own_keys);
        }
        let mut by_pair: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for (sum, (own, other)) in keys.iter().enumerate() {
            let source = 2 * sum as u32;
            if own >= other {
                by_pair.entry((*own, *other)).or_default().push(source);
            }
            if own <= other {
                by_pair.entry((*other, *own)).or_default().push(source + 1);
            }
        }
        let count = motions.centers.len();
        let pairs = AggregatePairs::new(count, by_pair.keys().copied());
        let coarse_pattern = Arc::new(coarse_pattern(&pairs, count));
        Self {
            sums: vec![PairBlocks::default(); keys.len()],
            blocks: vec![PairBlocks::default(); by_pair.len()],
            sources: by_pair.into_values().collect(),
            plans,
            pairs,
            coarse_pattern,
            scalar_pattern: Arc::clone(scalar_pattern),
        }
    }

    /// Whether the scalar part of a matrix has the pattern that this is made for.
    pub(super) fn is_for(&self, pattern: &Arc<ScalarPattern>) -> bool {
        Arc::ptr_eq(&self.scalar_pattern, pattern) || *self.scalar_pattern == **pattern
    }

    /// Writes PᵀAP to `coarse`.
    pub(super) fn project(
        &mut self,
        matrix: &BlockMatrix,
        motions: &RigidMotions,
        coarse: &mut BlockMatrix,
    ) {
        let Self { plans, sources, pairs, sums, blocks, .. } = self;
        split_by_groups(plans, sums).into_par_iter().for_each(|(plan, sums)| {
            dispatch(SumGroup { plan, matrix, motions: &motions.rows, sums });
        });
        let sums = &*sums;
        blocks.par_iter_mut().zip(sources).with_min_len(GROUP / 4).for_each(|(blocks, sources)| {
            *blocks = PairBlocks::default();
            for source in sources.iter() {
                add_pair(blocks, &sums[*source as usize / 2], source % 2 == 1);
            }
        });
        coarse.fill_by(|row, column| block_of(pairs, blocks, row, column));
        coarse.clear_contact_blocks();
        add_contact_blocks(matrix, motions, coarse);
    }
}

/// Block of the coarse matrix at a row and a column.
fn block_of(pairs: &AggregatePairs, blocks: &[PairBlocks], row: usize, column: usize) -> Block {
    let ([a, s], [b, t]) = ([row / 2, row % 2], [column / 2, column % 2]);
    let block = if a >= b {
        pairs.place(a, b).map(|place| blocks[place][s][t])
    } else {
        pairs.place(b, a).map(|place| blocks[place][t][s].transposed())
    };
    let mut block = block.unwrap_or_default();
    if row == column {
        let trace = block.0[0][0] + block.0[1][1] + block.0[2][2];
        let least = GalerkinParameters::DEFAULT.min_rotation_stiffness * trace / 3.0;
        // What cannot move has no forces either: any positive value makes it definite.
        let added = if trace <= 0.0 { 1.0 } else { least * s as f32 };
        block.add(&Block::scaled_identity(added));
    }
    block
}

fn add_pair(sum: &mut PairBlocks, other: &PairBlocks, is_transposed: bool) {
    for s in 0..2 {
        for t in 0..2 {
            let added = if is_transposed { other[t][s].transposed() } else { other[s][t] };
            sum[s][t].add(&added);
        }
    }
}

/// Sums of each plan.
fn split_by_groups<'a>(
    plans: &'a [GroupPlan],
    mut sums: &'a mut [PairBlocks],
) -> Vec<(&'a GroupPlan, &'a mut [PairBlocks])> {
    let mut groups = Vec::with_capacity(plans.len());
    for plan in plans {
        let (own, rest) = sums.split_at_mut(plan.sum_count);
        groups.push((plan, own));
        sums = rest;
    }
    groups
}

/// Rows of all aggregates that are adjacent to one, two for each.
fn coarse_pattern(pairs: &AggregatePairs, count: usize) -> Pattern {
    let mut around: Vec<Vec<u32>> = (0..count).map(|own| pairs.others_of(own).to_vec()).collect();
    for own in 0..count {
        for other in pairs.others_of(own) {
            if *other as usize != own {
                around[*other as usize].push(own as u32);
            }
        }
    }
    let columns: Vec<Vec<u32>> = around
        .iter()
        .flat_map(|others| {
            let columns: Vec<u32> = others.iter().flat_map(|o| [2 * o, 2 * o + 1]).collect();
            [columns.clone(), columns]
        })
        .collect();
    Pattern::of_rows(columns.iter().map(Vec::as_slice))
}

/// Plan of a group of rows, and the aggregates of the rows and columns of its sums.
fn group_plan(
    pattern: &Pattern,
    scalars: &ScalarPattern,
    motions: &RigidMotions,
    rows: Range<usize>,
) -> (GroupPlan, Vec<(u32, u32)>) {
    let mut places: BTreeMap<(u32, u32), u16> = BTreeMap::new();
    let (mut entries, mut row_keys, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows.clone() {
        let own = motions.aggregates[row];
        let first_key = row_keys.len();
        for column in columns_of_row(pattern, scalars, row) {
            let key = (own, motions.aggregates[column]);
            let place = row_keys[first_key..].iter().position(|other| *other == key);
            let place = place.unwrap_or_else(|| {
                row_keys.push(key);
                row_keys.len() - 1 - first_key
            });
            entries.push(place as u8);
        }
        ends.push(row_keys.len() as u32);
    }
    for key in &row_keys {
        places.insert(*key, 0);
    }
    for (place, value) in places.values_mut().enumerate() {
        *value = place as u16;
    }
    let targets = row_keys.iter().map(|key| places[key]).collect();
    let keys: Vec<(u32, u32)> = places.into_keys().collect();
    (GroupPlan { rows, entries, targets, ends, sum_count: keys.len() }, keys)
}

/// Columns of a row of H in the order of a plan.
fn columns_of_row<'a>(
    pattern: &'a Pattern,
    scalars: &'a ScalarPattern,
    row: usize,
) -> impl Iterator<Item = usize> + 'a {
    let first = row / GROUP * GROUP;
    let near = pattern.near(row).map(move |column| first + usize::from(column));
    let far = pattern.far().columns_of(row as u32).iter().map(|column| *column as usize);
    let far = far.take_while(move |column| *column < row);
    let outer = scalars.far(row).iter().map(|column| *column as usize);
    let outer = outer.filter(move |column| *column < row);
    let weak = scalars.weak(row).iter().map(|column| *column as usize);
    let weak = weak.filter(move |column| *column < row);
    near.chain(far).chain(std::iter::once(row)).chain(scalars.near(row)).chain(outer).chain(weak)
}

/// Sums PᵀHP of a group of rows.
struct SumGroup<'a> {
    plan: &'a GroupPlan,
    matrix: &'a BlockMatrix,
    motions: &'a [RowMotions],
    sums: &'a mut [PairBlocks],
}

impl Kernel for SumGroup<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { plan, matrix, motions, sums, .. } = self;
        sums.fill(PairBlocks::default());
        let first = plan.rows.start;
        let near = matrix.lower_group_blocks(&plan.rows);
        let far = matrix.off_group_blocks()[0];
        let mut positions = far.list.positions(&plan.rows).peekable();
        let mut entries = plan.entries.iter().map(|entry| usize::from(*entry));
        let mut start = 0;
        let mut products: Vec<RowMotions> = Vec::new();
        for (row, end) in plan.rows.clone().zip(&plan.ends) {
            let targets = &plan.targets[start..*end as usize];
            start = *end as usize;
            products.clear();
            products.resize(targets.len(), RowMotions::default());
            let mut add = |entry: Option<usize>, block: &Block, column: usize| {
                let Some(sum) = entry.and_then(|entry| products.get_mut(entry)) else { return };
                for (sum, motion) in sum.iter_mut().zip(&motions[column]) {
                    add_product(lanes, sum, block, motion);
                }
            };
            for (columns, pair) in near.row(row - first) {
                let count = 1 + usize::from(columns[0] != columns[1]);
                for (half, column) in columns.iter().enumerate().take(count) {
                    add(entries.next(), &pair.get(half), first + usize::from(*column));
                }
            }
            if let Some(position) = positions.next_if(|at| far.list.rows()[*at] as usize == row) {
                let slots = far.list.slots(position);
                for (column, block) in
                    far.list.columns()[slots.clone()].iter().zip(&far.blocks[slots])
                {
                    if (*column as usize) < row {
                        add(entries.next(), block, *column as usize);
                    }
                }
            }
            let mut half = matrix.diagonals()[row];
            half.scale(0.5);
            add(entries.next(), &half, row);
            let mut add_scalar = |entry: Option<usize>, value: f32, column: usize| {
                let Some(sum) = entry.and_then(|entry| products.get_mut(entry)) else { return };
                for (sum, motion) in sum.iter_mut().zip(&motions[column]) {
                    lanes.add_scaled(sum, value, motion);
                }
            };
            for (column, value) in near.scalars.row(row - first) {
                add_scalar(entries.next(), value, first + column);
            }
            for (columns, values) in [matrix.scalars().far(row), matrix.scalars().weak(row)] {
                for (column, value) in columns.iter().zip(values) {
                    if (*column as usize) < row {
                        add_scalar(entries.next(), *value, *column as usize);
                    }
                }
            }
            let [translation, rotation] = motions[row].map(|motion| motion.transposed());
            for (target, product) in targets.iter().zip(&products) {
                let sum = &mut sums[usize::from(*target)];
                for t in 0..2 {
                    add_product(lanes, &mut sum[0][t], &translation, &product[t]);
                    add_product(lanes, &mut sum[1][t], &rotation, &product[t]);
                }
            }
        }
    }
}

/// Adds the product of two blocks to `sum`.
#[inline(always)]
fn add_product<L: Lanes>(lanes: L, sum: &mut Block, left: &Block, right: &Block) {
    for (sum, column) in sum.0.iter_mut().zip(&right.0) {
        let product = lanes.times(left, column);
        for k in 0..4 {
            sum[k] += product[k];
        }
    }
}

/// Adds PᵀCP of the contact blocks C of a matrix to the coarse one.
fn add_contact_blocks(matrix: &BlockMatrix, motions: &RigidMotions, coarse: &mut BlockMatrix) {
    let mut outside = Vec::new();
    let rows = 0..matrix.pattern().row_count();
    matrix.contact_blocks().off_group_blocks().visit(&rows, |row, column, block| {
        if row > column {
            return;
        }
        let [own, other] = [row, column].map(|row| 2 * motions.aggregates[row] as usize);
        for (s, left) in motions.rows[row].iter().enumerate() {
            for (t, right) in motions.rows[column].iter().enumerate() {
                let product = left.transposed().product(&block.product(right));
                let (i, j) = (own + s, other + t);
                if i == j {
                    coarse.add_diagonal(i, &product);
                    coarse.add_diagonal(i, &product.transposed());
                } else if !coarse.add_pair(i, j, &product) {
                    let (low, high) = (i.min(j), i.max(j));
                    let block = if i < j { product } else { product.transposed() };
                    outside.push((low as u32, high as u32, block));
                }
            }
        }
    });
    coarse.set_contact_blocks(&outside);
}
