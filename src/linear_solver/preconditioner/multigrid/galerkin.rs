// SPDX-License-Identifier: MIT OR Apache-2.0
//! The matrix of the next level, the Galerkin product PᵀAP with the rigid motions P of aggregates.
//!
//! With H the strict lower triangle of A plus half of its diagonal, PᵀAP = PᵀHP + (PᵀHP)ᵀ. Every group of rows of H is
//! summed on its own, into blocks between pairs of aggregates; the blocks of PᵀAP are sums of those. Which entry
//! belongs to which sum is found once.

use super::{
    group_sums::{GroupPlan, PairBlocks, SumGroup, group_plan},
    rigid_motions::RigidMotions,
};
use crate::{
    linear_solver::{
        block_matrix::{BlockMatrix, BlockPair, GroupBlocks},
        pattern::{GROUP, Pattern},
        scalar_couplings::ScalarPattern,
    },
    simd::{Block, dispatch},
};
use rayon::prelude::*;
use std::{collections::BTreeMap, sync::Arc};

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

/// Structure of the product PᵀAP, which does not depend on the values of A.
pub(super) struct Galerkin {
    /// Sums of each group of rows of H.
    plans: Vec<GroupPlan>,
    /// For each pair of aggregates, twice the index of a sum, plus 1 if its transpose is meant.
    sources: Vec<Vec<u32>>,
    pairs: AggregatePairs,
    sums: Vec<PairBlocks>,
    blocks: Vec<PairBlocks>,
    /// First block outside of the group of each aggregate, and end of the last.
    far_starts: Vec<u32>,
    /// Twice the index of a pair of aggregates, plus 1 if its transpose is meant.
    far_sources: Vec<u32>,
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
        let (far_starts, far_sources) = far_sources(&pairs, &coarse_pattern);
        Self {
            sums: vec![PairBlocks::default(); keys.len()],
            blocks: vec![PairBlocks::default(); by_pair.len()],
            sources: by_pair.into_values().collect(),
            plans,
            pairs,
            far_starts,
            far_sources,
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
        let Self { plans, sources, sums, blocks, .. } = self;
        split_by_groups(plans, sums).into_par_iter().for_each(|(plan, sums)| {
            dispatch(SumGroup { plan, matrix, motions, sums });
        });
        let sums = &*sums;
        blocks.par_iter_mut().zip(sources).with_min_len(GROUP / 4).for_each(|(blocks, sources)| {
            *blocks = PairBlocks::default();
            for source in sources.iter() {
                add_pair(blocks, &sums[*source as usize / 2], source % 2 == 1);
            }
        });
        coarse.fill(|group| self.fill_group(motions, group));
        coarse.clear_contact_blocks();
        add_contact_blocks(matrix, motions, coarse);
    }

    /// Fills the rows of a group of the coarse matrix, two for each aggregate. Columns come in pairs too, so that the
    /// pairs of blocks are those between two aggregates.
    fn fill_group(&self, motions: &RigidMotions, group: GroupBlocks<'_>) {
        let GroupBlocks { rows, diagonals, pairs, far } = group;
        let (mut pairs, mut far) = (pairs.iter_mut(), far.iter_mut());
        for (own, diagonals) in (rows.start / 2..).zip(diagonals.as_chunks_mut::<2>().0) {
            let others = self.pairs.others_of(own);
            let inside = others.partition_point(|other| 2 * (*other as usize) < rows.start);
            let end = self.pairs.starts[own + 1] as usize;
            let Some((diagonal, near)) = self.blocks[end - others.len() + inside..end].split_last()
            else {
                continue;
            };
            let [translations, rotations] = diagonal;
            for s in 0..2 {
                for (block, pair) in near.iter().zip(&mut pairs) {
                    *pair = block[s];
                }
            }
            if let Some(pair) = pairs.next() {
                *pair = BlockPair::default();
                pair.set(0, &rotations.get(0));
            }
            *diagonals = [translations.get(0), rotations.get(1)];
            stabilise(diagonals, motions.blocked(own));
            let sources = self.far_starts[own] as usize..self.far_starts[own + 1] as usize;
            for s in 0..2 {
                for source in &self.far_sources[sources.clone()] {
                    let pair = &self.blocks[*source as usize / 2];
                    for (t, block) in (&mut far).take(2).enumerate() {
                        let is_transposed = source % 2 == 1;
                        *block = if is_transposed {
                            pair[t].get(s).transposed()
                        } else {
                            pair[s].get(t)
                        };
                    }
                }
            }
        }
    }
}

/// Makes the diagonal blocks of translation and rotation of an aggregate definite, some translations of which are
/// blocked.
fn stabilise(diagonals: &mut [Block; 2], blocked: Option<&Block>) {
    let least = GalerkinParameters::DEFAULT.min_rotation_stiffness;
    for (block, least) in diagonals.iter_mut().zip([0.0, least]) {
        let trace = block.trace();
        // What cannot move has no forces either: any positive value makes it definite.
        block.add_scaled_identity(if trace <= 0.0 { 1.0 } else { least * trace / 3.0 });
    }
    if let Some(blocked) = blocked {
        let translations = &mut diagonals[0];
        let stiffness = translations.trace();
        let mut own = *blocked;
        own.scale(stiffness / 3.0);
        translations.add(&own);
    }
}

/// Where the blocks outside of the groups of a coarse matrix come from: starts and sources for each aggregate.
fn far_sources(pairs: &AggregatePairs, pattern: &Pattern) -> (Vec<u32>, Vec<u32>) {
    let (mut starts, mut sources) = (vec![0], Vec::new());
    for own in 0..pairs.starts.len() - 1 {
        for column in pattern.far().columns_of(2 * own as u32).iter().step_by(2) {
            let other = *column as usize / 2;
            let place = pairs.place(own.max(other), own.min(other)).unwrap_or_default() as u32;
            sources.push(2 * place + u32::from(own < other));
        }
        starts.push(sources.len() as u32);
    }
    (starts, sources)
}

fn add_pair(sum: &mut PairBlocks, other: &PairBlocks, is_transposed: bool) {
    if !is_transposed {
        for (sum, other) in sum.iter_mut().zip(other) {
            for (sum, other) in sum.0.as_flattened_mut().iter_mut().zip(other.0.as_flattened()) {
                *sum += other;
            }
        }
        return;
    }
    for (s, sum) in sum.iter_mut().enumerate() {
        for (t, other) in other.iter().enumerate() {
            let mut block = sum.get(t);
            block.add(&other.get(s).transposed());
            sum.set(t, &block);
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
    Pattern::of_row_pairs(around.iter().map(Vec::as_slice))
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
        for (s, left) in motions.of_row(row).iter().enumerate() {
            for (t, right) in motions.of_row(column).iter().enumerate() {
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
