// SPDX-License-Identifier: MIT OR Apache-2.0
//! Neighbours in a mesh, and an order of its vertices in which they are close to each other.

use super::pattern::{GROUP, columns};
use sprs::{CsMatI, PermViewI, TriMatI};
use std::collections::VecDeque;

/// Adjacency matrix of a mesh: the number of times that an edge between two vertices is listed.
pub(crate) struct Adjacency(CsMatI<u32, u32>);

impl Adjacency {
    pub(crate) fn new(count: usize, edges: &[[u32; 2]]) -> Self {
        let mut entries = TriMatI::with_capacity((count, count), 2 * edges.len());
        for [a, b] in edges.iter().map(|edge| edge.map(|vertex| vertex as usize)) {
            entries.add_triplet(a, b, 1);
            entries.add_triplet(b, a, 1);
        }
        Self(entries.to_csr())
    }

    pub(crate) fn vertex_count(&self) -> usize {
        self.0.rows()
    }

    /// Neighbours of a vertex, in ascending order.
    pub(crate) fn neighbours(&self, vertex: usize) -> &[u32] {
        columns(&self.0, vertex)
    }

    /// The graph with its vertices in another order.
    pub(crate) fn permuted(&self, order: PermViewI<'_, u32>) -> Self {
        Self(sprs::transform_mat_papt(self.0.view(), order))
    }

    /// Vertices in an order that cuts the graph into compact patches of [`GROUP`], each next to those before.
    ///
    /// A patch grows from its first vertex in all directions alike.
    pub(crate) fn patch_order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = Vec::with_capacity(self.vertex_count());
        let mut taken = vec![false; self.vertex_count()];
        // Candidate first vertices of patches, along the boundaries of earlier ones, the oldest first.
        let mut shores: VecDeque<u32> = VecDeque::new();
        let mut untouched = 0..self.vertex_count() as u32;
        let mut front: VecDeque<u32> = VecDeque::new();
        while order.len() < self.vertex_count() {
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
            front.extend(self.neighbours(vertex as usize).iter().filter(|v| !taken[**v as usize]));
        }
        order
    }
}
