// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pairs of primitives that a walk leaves out, as those with a common vertex: a mask for every two
//! leaf nodes that have any, since the order of the leaves never changes.

use super::{SweptBvh, node8::NODE_WIDTH};

/// Pairs of primitives of two trees, or of one, that are left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairExclusions {
    /// Place of the first mask of each leaf node of the first tree, and the number of masks last.
    starts: Vec<u32>,
    /// Leaf node of the second tree, and the excluded pairs: a row of eight bits per lane of the
    /// first one.
    masks: Vec<(u32, u64)>,
}

impl PairExclusions {
    /// Excludes pairs of primitives of two trees.
    pub(crate) fn between(
        one: &SweptBvh,
        other: &SweptBvh,
        pairs: impl Iterator<Item = [u32; 2]>,
    ) -> Self {
        let leaves = pairs.map(|[a, b]| [one.leaf_of(a), other.leaf_of(b)]);
        Self::of_leaves(leaves, one.len().div_ceil(NODE_WIDTH))
    }

    /// Excludes pairs of primitives of one tree.
    pub(crate) fn within(tree: &SweptBvh, pairs: impl Iterator<Item = [u32; 2]>) -> Self {
        let leaves = pairs.map(|pair| {
            let [one, other] = pair.map(|primitive| tree.leaf_of(primitive));
            // A walk through one tree meets the leaves in this order.
            [one.min(other), one.max(other)]
        });
        Self::of_leaves(leaves, tree.len().div_ceil(NODE_WIDTH))
    }

    fn of_leaves(leaves: impl Iterator<Item = [usize; 2]>, node_count: usize) -> Self {
        let mut entries: Vec<([u32; 2], u64)> = leaves
            .map(|pair| {
                let [row, column] = pair.map(|leaf| leaf % NODE_WIDTH);
                (pair.map(|leaf| (leaf / NODE_WIDTH) as u32), 1 << (row * NODE_WIDTH + column))
            })
            .collect();
        entries.sort_unstable();
        entries.dedup_by(|later, earlier| {
            let are_equal = later.0 == earlier.0;
            if are_equal {
                earlier.1 |= later.1;
            }
            are_equal
        });
        let start = |node: usize| entries.partition_point(|(nodes, _)| (nodes[0] as usize) < node);
        let starts = (0..=node_count).map(|node| start(node) as u32).collect();
        let masks = entries.iter().map(|([_, second], mask)| (*second, *mask)).collect();
        Self { starts, masks }
    }

    /// Mask of the excluded pairs of two leaf nodes.
    #[inline]
    pub(super) fn mask(&self, first: usize, second: usize) -> u64 {
        let Some([start, end]) = self.starts.get(first..first + 2).and_then(|s| s.first_chunk())
        else {
            return 0;
        };
        let mut masks = self.masks[*start as usize..*end as usize].iter();
        masks.find(|(node, _)| *node as usize == second).map_or(0, |(_, mask)| *mask)
    }
}
