// SPDX-License-Identifier: MIT OR Apache-2.0
//! Aggregates of the nodes of a level.

use crate::linear_solver::adjacency::Adjacency;
use sprs::PermOwnedI;

/// Node without an aggregate.
const UNAGGREGATED: u32 = u32::MAX;

/// Aggregate of each node of a graph, and the graph of the aggregates: these are adjacent if nodes of them are.
pub(super) fn aggregates(graph: &Adjacency) -> (Vec<u32>, Adjacency) {
    let (mut aggregates, count) = aggregate(graph);
    let coarse = coarse_graph(graph, &aggregates, count);
    let order = PermOwnedI::new(coarse.patch_order());
    for aggregate in &mut aggregates {
        *aggregate = order.at_inv(*aggregate as usize) as u32;
    }
    (aggregates, coarse.permuted(order.view()))
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

/// The aggregate of every node, and the number of aggregates. First every node whose neighbours have no aggregate forms
/// one with them; each of the others joins the adjacent aggregate with most of its neighbours.
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
    // Every remaining node has a neighbour in an aggregate, or it would have formed one.
    groups.fold((0, 0), |best, g| if g.len() > best.1 { (g[0], g.len()) } else { best }).0
}
