// SPDX-License-Identifier: MIT OR Apache-2.0
//! Aggregates of vertices and the interpolation from them.

use super::weights::{Weight, Weights};
use crate::{
    parallel,
    solver::{GROUP, Row3, graph::Graph},
};
use rayon::prelude::*;

/// A matrix of weights: which coarse values a fine value is made of.
pub(super) struct Interpolation {
    /// Rows are fine.
    weights: Weights,
    /// Rows are coarse.
    transposed: Weights,
}

/// Not yet in any aggregate.
const NONE: u32 = u32::MAX;
/// Part of a value that is replaced by the mean of its neighbours; with it interpolation is linear between the
/// middles of aggregates in a row.
const SMOOTHING: f32 = 2.0 / 3.0;
/// Smaller weights are left out.
const SMALLEST_WEIGHT: f32 = 0.13;

impl Interpolation {
    /// The interpolation to a graph, and the one from which. Aggregates are neighbours where their vertices are.
    pub(super) fn new(graph: &Graph) -> (Self, Graph) {
        let (mut aggregates, coarse_count) = aggregate(graph);
        let mut numbers = vec![0; coarse_count];
        for (new, old) in
            coarse_graph(graph, &aggregates, coarse_count).patches().iter().enumerate()
        {
            numbers[*old as usize] = new as u32;
        }
        for aggregate in &mut aggregates {
            *aggregate = numbers[*aggregate as usize];
        }
        let mut starts = Vec::with_capacity(graph.count() + 1);
        starts.push(0);
        let mut entries = Vec::new();
        let mut row: Vec<Weight> = Vec::new();
        for vertex in 0..graph.count() {
            row.clear();
            smooth(graph, &aggregates, vertex, &mut row);
            entries.extend_from_slice(&row);
            starts.push(entries.len() as u32);
        }
        entries.shrink_to_fit();
        let weights = Weights::new(starts, entries);
        let transposed = weights.transposed(coarse_count);
        (Self { weights, transposed }, coarse_graph(graph, &aggregates, coarse_count))
    }

    pub(super) fn coarse_count(&self) -> usize {
        self.transposed.row_count()
    }

    /// `fine` = P · `coarse`.
    pub(super) fn interpolate(&self, coarse: &[Row3], fine: &mut [Row3]) {
        let each = fine.par_iter_mut().enumerate().with_min_len(parallel::LIGHT_VERTICES);
        each.for_each(|(row, fine)| *fine = combine(self.row(row), coarse));
    }

    /// `coarse` = Pᵀ · `fine`.
    pub(super) fn restrict(&self, fine: &[Row3], coarse: &mut [Row3]) {
        let each = coarse.par_iter_mut().enumerate().with_min_len(GROUP);
        each.for_each(|(row, coarse)| *coarse = combine(self.column(row), fine));
    }

    /// Coarse rows that a fine row is made of, in ascending order, with their weights.
    pub(super) fn row(&self, fine: usize) -> &[Weight] {
        self.weights.row(fine)
    }

    /// Fine rows that a coarse row contributes to, in ascending order, with their weights.
    pub(super) fn column(&self, coarse: usize) -> &[Weight] {
        self.transposed.row(coarse)
    }
}

fn coarse_graph(graph: &Graph, aggregates: &[u32], count: usize) -> Graph {
    let mut edges = Vec::new();
    for vertex in 0..graph.count() {
        for neighbour in graph.around(vertex) {
            let (a, b) = (aggregates[vertex], aggregates[*neighbour as usize]);
            if a < b {
                edges.push([a, b]);
            }
        }
    }
    Graph::new(count, &edges)
}

/// Weights of a vertex: of its own aggregate and of those of its neighbours.
fn smooth(graph: &Graph, aggregates: &[u32], vertex: usize, row: &mut Vec<Weight>) {
    let around = graph.around(vertex);
    let own = if around.is_empty() { 1.0 } else { 1.0 - SMOOTHING };
    row.push((aggregates[vertex], own));
    for neighbour in around {
        let share = SMOOTHING / around.len() as f32;
        let aggregate = aggregates[*neighbour as usize];
        match row.iter_mut().find(|(known, _)| *known == aggregate) {
            Some((_, weight)) => *weight += share,
            None => row.push((aggregate, share)),
        }
    }
    row.retain(|(_, weight)| *weight >= SMALLEST_WEIGHT);
    row.sort_unstable_by_key(|(aggregate, _)| *aggregate);
    let sum: f32 = row.iter().map(|(_, weight)| weight).sum();
    for (_, weight) in row.iter_mut() {
        *weight /= sum;
    }
}

/// The aggregate of every vertex, and their number. First every vertex whose neighbours are all free founds
/// one with them; the rest join the neighbouring aggregate that they touch most.
fn aggregate(graph: &Graph) -> (Vec<u32>, usize) {
    let mut aggregates = vec![NONE; graph.count()];
    let mut count = 0;
    for vertex in 0..graph.count() {
        let around = graph.around(vertex);
        let is_free = |v: &u32| aggregates[*v as usize] == NONE;
        if aggregates[vertex] == NONE && around.iter().all(is_free) {
            aggregates[vertex] = count;
            for neighbour in around {
                aggregates[*neighbour as usize] = count;
            }
            count += 1;
        }
    }
    let founded = aggregates.clone();
    for (vertex, aggregate) in aggregates.iter_mut().enumerate() {
        if *aggregate == NONE {
            *aggregate = most_touched(graph, &founded, vertex);
        }
    }
    (aggregates, count as usize)
}

fn most_touched(graph: &Graph, founded: &[u32], vertex: usize) -> u32 {
    let mut touched: Vec<u32> = graph
        .around(vertex)
        .iter()
        .map(|neighbour| founded[*neighbour as usize])
        .filter(|aggregate| *aggregate != NONE)
        .collect();
    touched.sort_unstable();
    let groups = touched.chunk_by(|a, b| a == b);
    // Every vertex left over has a neighbour that was not free, or it would have founded an aggregate.
    groups.fold((0, 0), |best, g| if g.len() > best.1 { (g[0], g.len()) } else { best }).0
}

/// Σ weight · vector.
#[inline]
fn combine(weights: &[Weight], vectors: &[Row3]) -> Row3 {
    let mut sum = [0.0; 4];
    for (row, weight) in weights {
        for (entry, value) in sum.iter_mut().zip(&vectors[*row as usize]) {
            *entry += weight * value;
        }
    }
    sum
}
