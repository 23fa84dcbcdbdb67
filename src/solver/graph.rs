// SPDX-License-Identifier: MIT OR Apache-2.0
//! Neighbours in a mesh, and an order of its vertices in which they are close to each other.

use super::GROUP;
use rayon::prelude::*;
use std::collections::VecDeque;

/// Neighbours of every vertex, in ascending order.
pub(super) struct Graph {
    starts: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Graph {
    pub(super) fn new(count: usize, edges: &[[u32; 2]]) -> Self {
        let mut pairs: Vec<(u32, u32)> =
            edges.iter().flat_map(|[a, b]| [(*a, *b), (*b, *a)]).collect();
        pairs.par_sort_unstable();
        pairs.dedup();
        let mut starts = vec![0_u32; count + 1];
        for (vertex, _) in &pairs {
            starts[*vertex as usize + 1] += 1;
        }
        for vertex in 0..count {
            starts[vertex + 1] += starts[vertex];
        }
        Self { starts, neighbours: pairs.into_iter().map(|(_, neighbour)| neighbour).collect() }
    }

    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn around(&self, vertex: usize) -> &[u32] {
        &self.neighbours[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }

    /// Vertices in an order that cuts the graph into compact patches of [`GROUP`], each next to those before.
    ///
    /// A patch grows from its first vertex in all directions alike.
    pub(super) fn patches(&self) -> Vec<u32> {
        let mut order: Vec<u32> = Vec::with_capacity(self.count());
        let mut taken = vec![false; self.count()];
        // Where patches can start: along those before, the oldest first.
        let mut shores: VecDeque<u32> = VecDeque::new();
        let mut untouched = 0..self.count() as u32;
        let mut front: VecDeque<u32> = VecDeque::new();
        while order.len() < self.count() {
            if order.len().is_multiple_of(GROUP) {
                shores.extend(front.drain(..));
            }
            let next = front.pop_front().or_else(|| shores.pop_front());
            let next = next.or_else(|| untouched.next());
            let Some(vertex) = next else { break };
            if std::mem::replace(&mut taken[vertex as usize], true) {
                continue;
            }
            order.push(vertex);
            front.extend(self.around(vertex as usize).iter().filter(|v| !taken[**v as usize]));
        }
        order
    }
}
