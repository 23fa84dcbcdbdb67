// SPDX-License-Identifier: MIT OR Apache-2.0
//! Aggregates of vertices and the smoothed prolongation from them.

use super::MultigridParameters;
use crate::{
    linear_solver::{adjacency::Adjacency, pattern::GROUP},
    parallel::reductions,
    simd::Row3,
};
use rayon::prelude::*;
use sprs::{CsMatI, PermOwnedI};

/// Prolongation P: the weights of coarse values in each fine value.
pub(crate) struct Prolongation {
    /// P in compressed rows, one per fine row.
    rows: CsMatI<f32, u32>,
    /// P in compressed columns, one per coarse row: the rows of Pᵀ.
    columns: CsMatI<f32, u32>,
}

/// Entries of a row of P or Pᵀ: indices in ascending order, and weights.
pub(crate) type Weights<'a> = (&'a [u32], &'a [f32]);

/// Vertex without an aggregate.
const UNAGGREGATED: u32 = u32::MAX;

impl Prolongation {
    /// Prolongation to the vertices of a graph, and the graph of its aggregates: aggregates are adjacent if their
    /// vertices are.
    pub(crate) fn new(graph: &Adjacency) -> (Self, Adjacency) {
        let (mut aggregates, coarse_count) = aggregate(graph);
        let coarse = coarse_graph(graph, &aggregates, coarse_count);
        let order = PermOwnedI::new(coarse.patch_order());
        for aggregate in &mut aggregates {
            *aggregate = order.at_inv(*aggregate as usize) as u32;
        }
        let (mut starts, mut places, mut weights) = (vec![0], Vec::new(), Vec::new());
        let mut row = Vec::new();
        for vertex in 0..graph.vertex_count() {
            smoothed_row(graph, &aggregates, vertex, &mut row);
            places.extend(row.iter().map(|(aggregate, _)| *aggregate));
            weights.extend(row.drain(..).map(|(_, weight)| weight));
            starts.push(places.len() as u32);
        }
        places.shrink_to_fit();
        weights.shrink_to_fit();
        let rows = CsMatI::new((graph.vertex_count(), coarse_count), starts, places, weights);
        (Self { columns: rows.to_csc(), rows }, coarse.permuted(order.view()))
    }

    pub(crate) fn coarse_count(&self) -> usize {
        self.rows.cols()
    }

    /// The matrix P.
    pub(crate) fn matrix(&self) -> &CsMatI<f32, u32> {
        &self.rows
    }

    /// `fine` = P · `coarse`.
    pub(crate) fn prolong(&self, coarse: &[Row3], fine: &mut [Row3]) {
        let each =
            fine.par_iter_mut().enumerate().with_min_len(reductions::MIN_LIGHT_VERTICES_PER_TASK);
        each.for_each(|(row, fine)| *fine = combine(self.row(row), coarse));
    }

    /// `coarse` = Pᵀ · `fine`.
    pub(crate) fn restrict(&self, fine: &[Row3], coarse: &mut [Row3]) {
        let each = coarse.par_iter_mut().enumerate().with_min_len(GROUP);
        each.for_each(|(row, coarse)| *coarse = combine(self.column(row), fine));
    }

    /// Coarse rows of a fine row, in ascending order, with their weights.
    #[inline]
    pub(crate) fn row(&self, fine: usize) -> Weights<'_> {
        weights(&self.rows, fine)
    }

    /// Weights of a fine row, in ascending order of their coarse rows. For inner loops: one slice with one bounds check,
    /// as the row pointers of P start at 0.
    #[inline]
    pub(crate) fn row_weights(&self, fine: usize) -> &[f32] {
        let pointers = self.rows.indptr();
        let starts = pointers.raw_storage();
        &self.rows.data()[starts[fine] as usize..starts[fine + 1] as usize]
    }

    /// Fine rows of a coarse row, in ascending order, with their weights.
    #[inline]
    pub(crate) fn column(&self, coarse: usize) -> Weights<'_> {
        weights(&self.columns, coarse)
    }
}

/// A row of a matrix in compressed rows, or a column of one in compressed columns.
#[inline]
fn weights(matrix: &CsMatI<f32, u32>, outer: usize) -> Weights<'_> {
    let slots = matrix.indptr().outer_inds_sz(outer);
    (&matrix.indices()[slots.clone()], &matrix.data()[slots])
}

fn coarse_graph(graph: &Adjacency, aggregates: &[u32], count: usize) -> Adjacency {
    let mut edges = Vec::new();
    for vertex in 0..graph.vertex_count() {
        for neighbour in graph.neighbours(vertex) {
            let (a, b) = (aggregates[vertex], aggregates[*neighbour as usize]);
            if a < b {
                edges.push([a, b]);
            }
        }
    }
    Adjacency::new(count, &edges)
}

/// Weights of a vertex: of its own aggregate and of those of its neighbours.
fn smoothed_row(graph: &Adjacency, aggregates: &[u32], vertex: usize, row: &mut Vec<(u32, f32)>) {
    let MultigridParameters { prolongation_smoothing: smoothing, min_weight, .. } =
        MultigridParameters::DEFAULT;
    let around = graph.neighbours(vertex);
    let own = if around.is_empty() { 1.0 } else { 1.0 - smoothing };
    row.push((aggregates[vertex], own));
    for neighbour in around {
        let share = smoothing / around.len() as f32;
        let aggregate = aggregates[*neighbour as usize];
        match row.iter_mut().find(|(known, _)| *known == aggregate) {
            Some((_, weight)) => *weight += share,
            None => row.push((aggregate, share)),
        }
    }
    row.retain(|(_, weight)| *weight >= min_weight);
    row.sort_unstable_by_key(|(aggregate, _)| *aggregate);
    let sum: f32 = row.iter().map(|(_, weight)| weight).sum();
    for (_, weight) in row.iter_mut() {
        *weight /= sum;
    }
}

/// The aggregate of every vertex, and the number of aggregates. First every vertex whose neighbours have no aggregate
/// forms one with them; each of the others joins the adjacent aggregate with most of its neighbours.
fn aggregate(graph: &Adjacency) -> (Vec<u32>, usize) {
    let mut aggregates = vec![UNAGGREGATED; graph.vertex_count()];
    let mut count = 0;
    for vertex in 0..graph.vertex_count() {
        let around = graph.neighbours(vertex);
        let is_free = |v: &u32| aggregates[*v as usize] == UNAGGREGATED;
        if aggregates[vertex] == UNAGGREGATED && around.iter().all(is_free) {
            aggregates[vertex] = count;
            for neighbour in around {
                aggregates[*neighbour as usize] = count;
            }
            count += 1;
        }
    }
    let founded = aggregates.clone();
    for (vertex, aggregate) in aggregates.iter_mut().enumerate() {
        if *aggregate == UNAGGREGATED {
            *aggregate = strongest_aggregate(graph, &founded, vertex);
        }
    }
    (aggregates, count as usize)
}

fn strongest_aggregate(graph: &Adjacency, founded: &[u32], vertex: usize) -> u32 {
    let mut touched: Vec<u32> = graph
        .neighbours(vertex)
        .iter()
        .map(|neighbour| founded[*neighbour as usize])
        .filter(|aggregate| *aggregate != UNAGGREGATED)
        .collect();
    touched.sort_unstable();
    let groups = touched.chunk_by(|a, b| a == b);
    // Every remaining vertex has a neighbour in an aggregate, or it would have formed one.
    groups.fold((0, 0), |best, g| if g.len() > best.1 { (g[0], g.len()) } else { best }).0
}

/// Σ weight · vector.
#[inline]
fn combine((rows, weights): Weights<'_>, vectors: &[Row3]) -> Row3 {
    let mut sum = [0.0; 4];
    for (row, weight) in rows.iter().zip(weights) {
        for (entry, value) in sum.iter_mut().zip(&vectors[*row as usize]) {
            *entry += weight * value;
        }
    }
    sum
}
