// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traversal of one tree or of two: all pairs of primitives whose swept AABBs may overlap.

use super::{
    SweptBvh,
    exclusions::PairExclusions,
    node8::{ALL_LANES, NODE_WIDTH, QueryBox, SweptAabbF32, set_bits},
};
use crate::parallel::reductions;
use rayon::prelude::*;

/// Visitor of overlapping pairs with a state for each task.
pub(crate) struct PairVisitor<'a, Visit, Finish> {
    /// Pairs that are left out.
    pub(crate) excluded: &'a PairExclusions,
    /// Adds a pair of primitives to the state of its task.
    pub(crate) visit: Visit,
    /// Converts the state of a finished task into its results.
    pub(crate) finish: Finish,
}

/// Two nodes of one level, of one tree or of two.
#[derive(Clone, Copy, Debug)]
struct NodePair {
    level: usize,
    first: usize,
    second: usize,
}

impl SweptBvh {
    /// Calls `visit` with every unordered pair of primitives that may overlap, the smaller index
    /// first, and appends its results to `out` in a fixed order. Several threads call it; pairs
    /// that are cheap to reject, as those that share a vertex, are best rejected there.
    pub fn overlapping_self_pairs<T: Send>(
        &self,
        visit: impl Fn(u32, u32, &mut Vec<T>) + Sync,
        out: &mut Vec<T>,
    ) {
        let excluded = &PairExclusions::default();
        let visitor = PairVisitor { excluded, visit, finish: |found| found };
        self.collect_overlapping_self_pairs(&visitor, out);
    }

    /// Calls the visitor with every unordered pair of primitives that may overlap, the smaller
    /// index first, and appends the results of its tasks to `out` in a fixed order.
    pub(crate) fn collect_overlapping_self_pairs<S: Default, T: Send>(
        &self,
        visitor: &PairVisitor<'_, impl Fn(u32, u32, &mut S) + Sync, impl Fn(S) -> Vec<T> + Sync>,
        out: &mut Vec<T>,
    ) {
        let Some(top) = self.levels.len().checked_sub(1) else { return };
        let whole = vec![NodePair { level: top, first: 0, second: 0 }];
        let tasks = subdivided(whole, |pair, found| {
            self.overlapping_self_children(visitor.excluded, pair, found);
        });
        run_tasks(&tasks, out, |pair| {
            let mut state = S::default();
            self.traverse_self(visitor.excluded, pair, &mut |one, other| {
                (visitor.visit)(one.min(other), one.max(other), &mut state);
            });
            (visitor.finish)(state)
        });
    }

    /// Calls `visit` with every primitive of this tree and every one of `other` that may overlap,
    /// and appends its results to `out` in a fixed order. Several threads call it.
    pub fn overlapping_pairs<T: Send>(
        &self,
        other: &Self,
        visit: impl Fn(u32, u32, &mut Vec<T>) + Sync,
        out: &mut Vec<T>,
    ) {
        let excluded = &PairExclusions::default();
        let visitor = PairVisitor { excluded, visit, finish: |found| found };
        self.collect_overlapping_pairs(other, &visitor, out);
    }

    /// Calls the visitor with every primitive of this tree and every one of `other` that may
    /// overlap, and appends the results of its tasks to `out` in a fixed order.
    pub(crate) fn collect_overlapping_pairs<S: Default, T: Send>(
        &self,
        other: &Self,
        visitor: &PairVisitor<'_, impl Fn(u32, u32, &mut S) + Sync, impl Fn(S) -> Vec<T> + Sync>,
        out: &mut Vec<T>,
    ) {
        let tasks = subdivided(self.root_pairs(other), |pair, found| {
            self.overlapping_children(other, visitor.excluded, pair, found);
        });
        run_tasks(&tasks, out, |pair| {
            let mut state = S::default();
            self.traverse(other, visitor.excluded, pair, &mut |one, other| {
                (visitor.visit)(one, other, &mut state);
            });
            (visitor.finish)(state)
        });
    }

    /// Calls `visit` with every primitive that may overlap a box, in a fixed order.
    pub fn for_each_overlapping(&self, bounds: &SweptAabbF32, mut visit: impl FnMut(u32)) {
        self.for_each_overlapping_on_level(&QueryBox::new(bounds), 0, &mut |index| {
            visit(self.primitive_of_leaf[index]);
        });
    }

    fn traverse_self(
        &self,
        excluded: &PairExclusions,
        pair: NodePair,
        visit: &mut impl FnMut(u32, u32),
    ) {
        self.overlapping_self_children(excluded, pair, &mut |first, second| match pair
            .level
            .checked_sub(1)
        {
            Some(level) => {
                self.traverse_self(excluded, NodePair { level, first, second }, visit);
            }
            None => visit(self.primitive_of_leaf[first], self.primitive_of_leaf[second]),
        });
    }

    fn traverse(
        &self,
        other: &Self,
        excluded: &PairExclusions,
        pair: NodePair,
        visit: &mut impl FnMut(u32, u32),
    ) {
        self.overlapping_children(other, excluded, pair, &mut |first, second| match pair
            .level
            .checked_sub(1)
        {
            Some(level) => {
                self.traverse(other, excluded, NodePair { level, first, second }, visit);
            }
            None => visit(self.primitive_of_leaf[first], other.primitive_of_leaf[second]),
        });
    }

    /// Calls `found` with the pairs of children of two nodes that may overlap, without excluded
    /// pairs of primitives.
    #[inline]
    fn overlapping_children(
        &self,
        other: &Self,
        excluded: &PairExclusions,
        pair: NodePair,
        found: &mut (impl FnMut(usize, usize) + ?Sized),
    ) {
        let NodePair { level, first, second } = pair;
        let (node, partners) = (&self.levels[level][first], &other.levels[level][second]);
        let enclosing = other.levels.get(level + 1).map_or_else(
            || QueryBox::enclosing(partners),
            |above| above[second / NODE_WIDTH].lane_box(second % NODE_WIDTH),
        );
        let left_out = if level == 0 { excluded.mask(first, second) } else { 0 };
        let lanes = node.overlap_mask(&enclosing);
        for bit in set_bits(node.overlap_matrix(lanes, partners) & !left_out) {
            found(first * NODE_WIDTH + bit / NODE_WIDTH, second * NODE_WIDTH + bit % NODE_WIDTH);
        }
    }

    /// Calls `found` with the pairs of children of two nodes of this tree that may overlap: for a
    /// node with itself each pair once and, above the leaves, each child with itself.
    #[inline]
    fn overlapping_self_children(
        &self,
        excluded: &PairExclusions,
        pair: NodePair,
        found: &mut (impl FnMut(usize, usize) + ?Sized),
    ) {
        /// In each row of eight bits the lane of that number and all later ones.
        const UPPER_TRIANGLE_WITH_DIAGONAL: u64 = 0x80c0_e0f0_f8fc_feff;
        /// In each row of eight bits all lanes later than that number.
        const UPPER_TRIANGLE: u64 = 0x0080_c0e0_f0f8_fcfe;
        let NodePair { level, first, second } = pair;
        if first != second {
            return self.overlapping_children(self, excluded, pair, found);
        }
        let node = &self.levels[level][first];
        let once = if level == 0 {
            UPPER_TRIANGLE & !excluded.mask(first, first)
        } else {
            UPPER_TRIANGLE_WITH_DIAGONAL
        };
        for bit in set_bits(node.overlap_matrix(ALL_LANES, node) & once) {
            found(first * NODE_WIDTH + bit / NODE_WIDTH, first * NODE_WIDTH + bit % NODE_WIDTH);
        }
    }

    /// Node pairs that cover all pairs of primitives, on the highest level of both trees.
    fn root_pairs(&self, other: &Self) -> Vec<NodePair> {
        let Some(level) = self.levels.len().min(other.levels.len()).checked_sub(1) else {
            return Vec::new();
        };
        let mut pairs = Vec::new();
        let root = |tree: &Self| QueryBox::enclosing(&tree.levels[level][0]);
        if other.levels.len() > level + 1 {
            other.for_each_overlapping_on_level(&root(self), level + 1, &mut |second| {
                pairs.push(NodePair { level, first: 0, second });
            });
        } else if self.levels.len() > level + 1 {
            self.for_each_overlapping_on_level(&root(other), level + 1, &mut |first| {
                pairs.push(NodePair { level, first, second: 0 });
            });
        } else {
            pairs.push(NodePair { level, first: 0, second: 0 });
        }
        pairs
    }

    /// Calls `visit` with the index of every box of a level that may overlap the query.
    fn for_each_overlapping_on_level(
        &self,
        query: &QueryBox,
        level: usize,
        visit: &mut impl FnMut(usize),
    ) {
        if let Some(top) = self.levels.len().checked_sub(1) {
            self.descend_from_node(top, 0, query, level, visit);
        }
    }

    fn descend_from_node(
        &self,
        level: usize,
        node: usize,
        query: &QueryBox,
        bottom: usize,
        visit: &mut impl FnMut(usize),
    ) {
        for lane in set_bits(self.levels[level][node].overlap_mask(query)) {
            let index = node * NODE_WIDTH + lane;
            if level == bottom {
                visit(index);
            } else {
                self.descend_from_node(level - 1, index, query, bottom, visit);
            }
        }
    }
}

/// Replaces node pairs by the pairs of their children until all threads have enough tasks.
fn subdivided(
    mut tasks: Vec<NodePair>,
    children: impl Fn(NodePair, &mut dyn FnMut(usize, usize)),
) -> Vec<NodePair> {
    /// Number of tasks from which on a finer subdivision costs more than it balances.
    const MIN_TASK_COUNT: usize = 128;
    while let Some(NodePair { level, .. }) = tasks.first()
        && *level > 0
        && tasks.len() < MIN_TASK_COUNT
    {
        let level = level - 1;
        let mut finer = Vec::new();
        for pair in &tasks {
            children(*pair, &mut |first, second| finer.push(NodePair { level, first, second }));
        }
        tasks = finer;
    }
    tasks
}

/// Runs all tasks and appends their results to `out` in the order of the tasks.
fn run_tasks<T: Send>(
    tasks: &[NodePair],
    out: &mut Vec<T>,
    task: impl Fn(NodePair) -> Vec<T> + Sync,
) {
    /// Tasks whose results are buffered at a time. More need more memory.
    const TASKS_PER_BATCH: usize = 64;
    for tasks in tasks.chunks(TASKS_PER_BATCH) {
        let results: Vec<Vec<T>> = tasks.par_iter().map(|pair| task(*pair)).collect();
        reductions::append(results, out);
    }
}
