// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sums PᵀHP of a group of rows, for the matrix of the next level.
//!
//! Σ_j B_ij [I, R_j] is summed for each aggregate of columns j first, then multiplied by [I, R_i]ᵀ. Scalar entries k need
//! no more than Σ k and Σ k r_j. Blocks of constrained rows and columns are projected already.

use super::{motion_product::MotionProduct, rigid_motions::RigidMotions};
use crate::{
    linear_solver::{
        block_matrix::{BlockMatrix, BlockPair},
        contact_blocks::OffGroupBlocks,
        group_product::LowerGroupBlocks,
        pattern::{GROUP, Pattern},
        scalar_couplings::ScalarPattern,
    },
    simd::{Block, Kernel, Lanes},
};
use std::{collections::BTreeMap, ops::Range};

/// Blocks between two aggregates: translation and rotation of the one, each by translation and rotation of the other.
pub(super) type PairBlocks = [BlockPair; 2];

/// Entries of H in a group of rows.
pub(super) struct GroupPlan {
    rows: Range<usize>,
    /// For each entry of H, row by row: the number of its column's aggregate among those of the row. Blocks inside the
    /// group, blocks outside of it, the diagonal, scalars inside, scalars outside.
    entries: Vec<u8>,
    /// Sum of the group for each aggregate of the columns of a row, row by row.
    targets: Vec<u16>,
    /// End of the targets of each row.
    ends: Vec<u32>,
    pub(super) sum_count: usize,
}

/// Plan of a group of rows, and the aggregates of the rows and columns of its sums.
pub(super) fn group_plan(
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
    entries.shrink_to_fit();
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
    near.chain(far).chain(std::iter::once(row)).chain(scalars.lower(row)).chain(outer)
}

/// Sums PᵀHP of a group of rows.
pub(super) struct SumGroup<'a> {
    pub(super) plan: &'a GroupPlan,
    pub(super) matrix: &'a BlockMatrix,
    pub(super) motions: &'a RigidMotions,
    pub(super) sums: &'a mut [PairBlocks],
}

impl Kernel for SumGroup<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { plan, matrix, motions, sums } = self;
        sums.fill(PairBlocks::default());
        let far = matrix.off_group_blocks()[0];
        let mut group = GroupEntries {
            lanes,
            matrix,
            motions,
            first: plan.rows.start,
            near: matrix.lower_group_blocks(&plan.rows),
            far,
            next_far: far.list.positions(&plan.rows).start,
            entries: plan.entries.iter(),
            products: Vec::new(),
        };
        let mut start = 0;
        for (row, end) in plan.rows.clone().zip(&plan.ends) {
            let targets = &plan.targets[start..*end as usize];
            start = *end as usize;
            group.products.clear();
            group.products.resize(targets.len(), MotionProduct::default());
            group.add_blocks(row);
            group.add_scalars(row);
            group.add_to_sums(row, targets, sums);
        }
    }
}

/// Entries of H in a group of rows, read row by row.
struct GroupEntries<'a, L> {
    lanes: L,
    matrix: &'a BlockMatrix,
    motions: &'a RigidMotions,
    /// First row of the group.
    first: usize,
    near: LowerGroupBlocks<'a>,
    far: OffGroupBlocks<'a>,
    /// Position of the next row with blocks outside of the group.
    next_far: usize,
    entries: std::slice::Iter<'a, u8>,
    products: Vec<MotionProduct>,
}

impl<L: Lanes> GroupEntries<'_, L> {
    #[inline(always)]
    fn add_blocks(&mut self, row: usize) {
        for (columns, pair) in self.near.row(row - self.first) {
            let count = 1 + usize::from(columns[0] != columns[1]);
            for (half, column) in columns.iter().enumerate().take(count) {
                self.add_block(self.first + usize::from(*column), &pair.get(half));
            }
        }
        let far = self.far;
        if far.list.rows().get(self.next_far).is_some_and(|next| *next as usize == row) {
            let slots = far.list.slots(self.next_far);
            self.next_far += 1;
            let columns = far.list.columns()[slots.clone()].iter().zip(&far.blocks[slots]);
            for (column, block) in columns.take_while(|(column, _)| (**column as usize) < row) {
                self.add_block(*column as usize, block);
            }
        }
        let mut half = self.matrix.diagonals()[row];
        // Where the sums cancel, in motions that only inertia resists, rounding must not make the matrix indefinite.
        half.scale(0.5 * (1.0 + f32::EPSILON));
        // The diagonal block of a constrained row also acts on what is not free.
        if let Some(projector) = self.projector(row) {
            half = half.product(projector);
        }
        self.add_block(row, &half);
    }

    /// Adds B [I, R] for the block B of the next entry, which is in `column`.
    #[inline(always)]
    fn add_block(&mut self, column: usize, block: &Block) {
        if let Some(product) =
            self.entries.next().and_then(|entry| self.products.get_mut(usize::from(*entry)))
        {
            if self.motions.is_rotation(column) {
                product.add_rotation(block);
            } else {
                product.add_block(self.lanes, &self.motions.arms[column], block);
            }
        }
    }

    #[inline(always)]
    fn add_scalars(&mut self, row: usize) {
        let first = self.first;
        for (column, value) in self.near.scalars.left(row - first) {
            self.add_scalar(first + column, value);
        }
        let scalars = self.matrix.scalars();
        let (columns, values) = scalars.far(row);
        let entries = columns.iter().zip(values);
        for (column, value) in entries.take_while(|(column, _)| (**column as usize) < row) {
            self.add_scalar(*column as usize, *value);
        }
    }

    #[inline(always)]
    fn add_scalar(&mut self, column: usize, value: f32) {
        let entry = self.entries.next();
        let Some(product) = entry.and_then(|entry| self.products.get_mut(usize::from(*entry)))
        else {
            return;
        };
        let arm = &self.motions.arms[column];
        if arm[3] == 0.0 {
            let projector = self.motions.projector(column);
            product.add_constrained_scalar(self.lanes, arm, projector, value);
        } else {
            product.add_scalar(self.lanes, arm, value);
        }
    }

    /// Multiplies the products by the motions of their row, and adds them to the sums.
    #[inline(always)]
    fn add_to_sums(&self, row: usize, targets: &[u16], sums: &mut [PairBlocks]) {
        let lanes = self.lanes;
        let arm = &self.motions.arms[row];
        let projector = self.projector(row);
        let projector =
            projector.map(|projector| projector.0.map(|column| lanes.join(&column, &column)));
        let is_rotation = self.motions.is_rotation(row);
        let [x, y, z, _] = *arm;
        let columns = [[0.0, z, -y, 0.0], [-z, 0.0, x, 0.0], [y, -x, 0.0, 0.0]];
        let cross = columns.map(|column| lanes.join(&column, &column));
        for (target, product) in targets.iter().zip(&self.products) {
            let [translations, rotations] = &mut sums[usize::from(*target)];
            let columns = product.with_scalars(lanes).0;
            for (k, column) in columns.iter().enumerate() {
                let mut own = lanes.load(column);
                if let Some(projector) = projector {
                    own = lanes.linear_combination(projector, lanes.broadcast_components(own));
                }
                let mut turned = own;
                if !is_rotation {
                    let sum = lanes.sum(lanes.load(&translations.0[k]), own);
                    translations.0[k] = lanes.to_array(sum);
                    turned = lanes.linear_combination(cross, lanes.broadcast_components(own));
                }
                let sum = lanes.sum(lanes.load(&rotations.0[k]), turned);
                rotations.0[k] = lanes.to_array(sum);
            }
        }
    }

    /// Projector of a constrained row.
    #[inline(always)]
    fn projector(&self, row: usize) -> Option<&Block> {
        if self.motions.arms[row][3] == 0.0 { self.motions.projector(row) } else { None }
    }
}
