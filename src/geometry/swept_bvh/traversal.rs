// SPDX-License-Identifier: MIT OR Apache-2.0
//! Walks through one tree or two: all pairs of primitives that may meet.

use super::{
    MovingTree,
    node8::{ALL, Probe, RoundedBox, WIDTH, bits},
};
use crate::parallel::reductions;
use rayon::prelude::*;

/// Two blocks of one level, of one tree or of two.
#[derive(Clone, Copy, Debug)]
struct Pair {
    level: usize,
    first: usize,
    second: usize,
}

impl MovingTree {
    /// Calls `visit` with every unordered pair of primitives that may meet, the smaller index first, and
    /// puts what it gives at the end of `out`, always in the same order. It is called by several threads;
    /// what can be told quickly of a pair, as that both share a vertex, is best told there.
    pub fn self_pairs<T: Send>(
        &self,
        visit: impl Fn(u32, u32, &mut Vec<T>) + Sync,
        out: &mut Vec<T>,
    ) {
        self.self_pairs_by((visit, |found| found), out);
    }

    /// The same, where visits leave something else from which `finish` makes what there is to give.
    pub(crate) fn self_pairs_by<S: Default, T: Send>(
        &self,
        (visit, finish): (impl Fn(u32, u32, &mut S) + Sync, impl Fn(S) -> Vec<T> + Sync),
        out: &mut Vec<T>,
    ) {
        let Some(top) = self.levels.len().checked_sub(1) else { return };
        let whole = vec![Pair { level: top, first: 0, second: 0 }];
        let tasks = divided(whole, |pair, found| self.children_of_self(pair, found));
        gather(&tasks, out, |pair| {
            let mut left = S::default();
            self.walk_self(pair, &mut |one, other| {
                visit(one.min(other), one.max(other), &mut left);
            });
            finish(left)
        });
    }

    /// Calls `visit` with every primitive of this tree and every one of `other` that may meet, and puts
    /// what it gives at the end of `out`, always in the same order. It is called by several threads.
    pub fn pairs<T: Send>(
        &self,
        other: &Self,
        visit: impl Fn(u32, u32, &mut Vec<T>) + Sync,
        out: &mut Vec<T>,
    ) {
        self.pairs_by(other, (visit, |found| found), out);
    }

    /// The same, where visits leave something else from which `finish` makes what there is to give.
    pub(crate) fn pairs_by<S: Default, T: Send>(
        &self,
        other: &Self,
        (visit, finish): (impl Fn(u32, u32, &mut S) + Sync, impl Fn(S) -> Vec<T> + Sync),
        out: &mut Vec<T>,
    ) {
        let tasks = divided(self.coarsest(other), |pair, found| self.children(other, pair, found));
        gather(&tasks, out, |pair| {
            let mut left = S::default();
            self.walk(other, pair, &mut |one, other| visit(one, other, &mut left));
            finish(left)
        });
    }

    /// Calls `visit` with every primitive that may meet this box, always in the same order.
    pub fn near(&self, bounds: &RoundedBox, mut visit: impl FnMut(u32)) {
        self.descend(&Probe::new(bounds), 0, &mut |place| visit(self.order[place]));
    }

    fn walk_self(&self, pair: Pair, visit: &mut impl FnMut(u32, u32)) {
        self.children_of_self(pair, &mut |first, second| match pair.level.checked_sub(1) {
            Some(level) => self.walk_self(Pair { level, first, second }, visit),
            None => visit(self.order[first], self.order[second]),
        });
    }

    fn walk(&self, other: &Self, pair: Pair, visit: &mut impl FnMut(u32, u32)) {
        self.children(other, pair, &mut |first, second| match pair.level.checked_sub(1) {
            Some(level) => self.walk(other, Pair { level, first, second }, visit),
            None => visit(self.order[first], other.order[second]),
        });
    }

    /// The members of two blocks that may meet.
    #[inline]
    fn children(&self, other: &Self, pair: Pair, found: &mut (impl FnMut(usize, usize) + ?Sized)) {
        let Pair { level, first, second } = pair;
        let (block, partners) = (&self.levels[level][first], &other.levels[level][second]);
        let around = other.levels.get(level + 1).map_or_else(
            || Probe::around(partners),
            |above| above[second / WIDTH].probe(second % WIDTH),
        );
        for place in bits(block.meetings(block.meeting(&around), partners)) {
            found(first * WIDTH + place / WIDTH, second * WIDTH + place % WIDTH);
        }
    }

    /// The members of two blocks of this tree that may meet; of one block with itself each pair once, and
    /// blocks with themselves.
    #[inline]
    fn children_of_self(&self, pair: Pair, found: &mut (impl FnMut(usize, usize) + ?Sized)) {
        /// In each row of eight the lane of that number and those after it, and only these.
        const ITSELF_AND_LATER: u64 = 0x80c0_e0f0_f8fc_feff;
        const LATER: u64 = 0x0080_c0e0_f0f8_fcfe;
        let Pair { level, first, second } = pair;
        if first != second {
            return self.children(self, pair, found);
        }
        let block = &self.levels[level][first];
        let once = if level == 0 { LATER } else { ITSELF_AND_LATER };
        for place in bits(block.meetings(ALL, block) & once) {
            found(first * WIDTH + place / WIDTH, first * WIDTH + place % WIDTH);
        }
    }

    /// The pairs of blocks that cover everything, of the highest level that both trees have.
    fn coarsest(&self, other: &Self) -> Vec<Pair> {
        let Some(level) = self.levels.len().min(other.levels.len()).checked_sub(1) else {
            return Vec::new();
        };
        let mut pairs = Vec::new();
        let root = |tree: &Self| Probe::around(&tree.levels[level][0]);
        if other.levels.len() > level + 1 {
            other.descend(&root(self), level + 1, &mut |second| {
                pairs.push(Pair { level, first: 0, second });
            });
        } else if self.levels.len() > level + 1 {
            self.descend(&root(other), level + 1, &mut |first| {
                pairs.push(Pair { level, first, second: 0 });
            });
        } else {
            pairs.push(Pair { level, first: 0, second: 0 });
        }
        pairs
    }

    /// Calls `visit` with the places on a level of all boxes that may meet the probe.
    fn descend(&self, probe: &Probe, level: usize, visit: &mut impl FnMut(usize)) {
        if let Some(top) = self.levels.len().checked_sub(1) {
            self.descend_from(top, 0, probe, level, visit);
        }
    }

    fn descend_from(
        &self,
        level: usize,
        block: usize,
        probe: &Probe,
        bottom: usize,
        visit: &mut impl FnMut(usize),
    ) {
        for lane in bits(self.levels[level][block].meeting(probe)) {
            let place = block * WIDTH + lane;
            if level == bottom {
                visit(place);
            } else {
                self.descend_from(level - 1, place, probe, bottom, visit);
            }
        }
    }
}

/// Replaces pairs by pairs of their children until there is enough for all threads there may be.
fn divided(
    mut tasks: Vec<Pair>,
    children: impl Fn(Pair, &mut dyn FnMut(usize, usize)),
) -> Vec<Pair> {
    /// More tasks than this cost more than they help.
    const ENOUGH: usize = 128;
    while let Some(Pair { level, .. }) = tasks.first()
        && *level > 0
        && tasks.len() < ENOUGH
    {
        let level = level - 1;
        let mut finer = Vec::new();
        for pair in &tasks {
            children(*pair, &mut |first, second| finer.push(Pair { level, first, second }));
        }
        tasks = finer;
    }
    tasks
}

/// Does all tasks and puts what they find at the end of `out`, in their order.
fn gather<T: Send>(tasks: &[Pair], out: &mut Vec<T>, task: impl Fn(Pair) -> Vec<T> + Sync) {
    /// Tasks whose finds are held apart from the rest at a time: all together may be many.
    const BATCH: usize = 64;
    for tasks in tasks.chunks(BATCH) {
        let parts: Vec<Vec<T>> = tasks.par_iter().map(|pair| task(*pair)).collect();
        reductions::append(parts, out);
    }
}
