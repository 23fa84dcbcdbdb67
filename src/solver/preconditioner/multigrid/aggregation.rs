// SPDX-License-Identifier: MIT OR Apache-2.0
//! Aggregates of vertices and the interpolation from them.

/// Neighbours of every vertex, in ascending order.
pub(super) struct Graph {
    starts: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Graph {
    pub(super) fn new(count: usize, edges: &[[u32; 2]]) -> Self {
        let mut pairs: Vec<(u32, u32)> =
            edges.iter().flat_map(|[a, b]| [(*a, *b), (*b, *a)]).collect();
        pairs.sort_unstable();
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

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn around(&self, vertex: usize) -> &[u32] {
        &self.neighbours[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }
}

/// Rows of weights: which coarse values a fine value is made of.
pub(super) struct Interpolation {
    aggregates: Vec<u32>,
    coarse_count: usize,
    starts: Vec<u32>,
    entries: Vec<(u32, f32)>,
}

/// Not yet in any aggregate.
const NONE: u32 = u32::MAX;
/// Part of a value that is replaced by the mean of its neighbours; with it interpolation is linear between the
/// middles of aggregates in a row.
const SMOOTHING: f32 = 2.0 / 3.0;
/// Smaller weights are left out.
const SMALLEST_WEIGHT: f32 = 0.04;

impl Interpolation {
    pub(super) fn new(graph: &Graph) -> Self {
        let (aggregates, coarse_count) = aggregate(graph);
        let mut interpolation =
            Self { aggregates, coarse_count, starts: vec![0], entries: Vec::new() };
        let mut row: Vec<(u32, f32)> = Vec::new();
        for vertex in 0..graph.count() {
            row.clear();
            interpolation.smooth(graph, vertex, &mut row);
            interpolation.entries.extend_from_slice(&row);
            interpolation.starts.push(interpolation.entries.len() as u32);
        }
        interpolation
    }

    fn smooth(&self, graph: &Graph, vertex: usize, row: &mut Vec<(u32, f32)>) {
        let around = graph.around(vertex);
        let own = if around.is_empty() { 1.0 } else { 1.0 - SMOOTHING };
        row.push((self.aggregates[vertex], own));
        for neighbour in around {
            let share = SMOOTHING / around.len() as f32;
            let aggregate = self.aggregates[*neighbour as usize];
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

    pub(super) fn fine_count(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn coarse_count(&self) -> usize {
        self.coarse_count
    }

    /// Coarse rows that a fine row is made of, in ascending order, with their weights.
    pub(super) fn row(&self, fine: usize) -> &[(u32, f32)] {
        &self.entries[self.starts[fine] as usize..self.starts[fine + 1] as usize]
    }

    /// The transposed rows: fine rows that a coarse row contributes to, with weights.
    pub(super) fn columns(&self) -> Vec<Vec<(u32, f32)>> {
        let mut columns = vec![Vec::new(); self.coarse_count];
        for fine in 0..self.fine_count() {
            for (coarse, weight) in self.row(fine) {
                columns[*coarse as usize].push((fine as u32, *weight));
            }
        }
        columns
    }

    /// Aggregates are neighbours where their vertices are.
    pub(super) fn coarse_graph(&self, graph: &Graph) -> Graph {
        let mut edges = Vec::new();
        for vertex in 0..graph.count() {
            for neighbour in graph.around(vertex) {
                let (a, b) = (self.aggregates[vertex], self.aggregates[*neighbour as usize]);
                if a < b {
                    edges.push([a, b]);
                }
            }
        }
        Graph::new(self.coarse_count, &edges)
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
