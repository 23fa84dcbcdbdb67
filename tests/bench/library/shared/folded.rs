// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cloth that meets itself.

use weft::{
    Vec3,
    geometry::{SweptAabb, SweptBvh, Trajectory, edge_edge_ccd},
};

/// In m.
pub(crate) const THICKNESS: f64 = 0.001;

/// A sheet of a square of vertices, 1 cm from each other at rest, that hangs over a ball in folds and
/// flies half a metre in a step.
pub(crate) struct Folded {
    start: Vec<Vec3>,
    end: Vec<Vec3>,
    edges: Vec<[usize; 2]>,
}

pub(crate) type Pair = (u32, u32);

impl Folded {
    pub(crate) fn new(side: usize) -> Self {
        let start = draped(side);
        let moved = |place: &Vec3| place + Vec3::new(0.5, 0.1 * place.z, -0.2);
        Self { end: start.iter().map(moved).collect(), start, edges: edges_of(side) }
    }

    pub(crate) fn bounds(&self, edge: u32) -> SweptAabb {
        let ends = self.edges[edge as usize].map(|vertex| (&self.start[vertex], &self.end[vertex]));
        SweptAabb::from_trajectories(ends).inflated(2.0 * THICKNESS)
    }

    /// Pairs of edges that may meet and share no vertex.
    pub(crate) fn find(&self, tree: &SweptBvh, found: &mut Vec<Pair>) {
        found.clear();
        let visit = |one: u32, other: u32, found: &mut Vec<Pair>| {
            let [a, b] = self.edges[one as usize];
            if self.edges[other as usize].iter().all(|end| *end != a && *end != b) {
                found.push((one, other));
            }
        };
        tree.overlapping_self_pairs(visit, found);
    }

    /// The ends of both edges at the start and at the end.
    pub(crate) fn ends(&self, (one, other): Pair) -> [[&Vec3; 4]; 2] {
        let ([a, b], [c, d]) = (self.edges[one as usize], self.edges[other as usize]);
        [&self.start, &self.end].map(|positions| [a, b, c, d].map(|vertex| &positions[vertex]))
    }

    /// Whether both come closer than the thickness along their trajectories.
    pub(crate) fn meets(&self, pair: Pair) -> bool {
        let [start, end] = self.ends(pair);
        let path = |i: usize| Trajectory { start: *start[i], end: *end[i] };
        edge_edge_ccd(&[path(0), path(1)], &[path(2), path(3)], THICKNESS).is_some()
    }

    pub(crate) fn count(&self) -> usize {
        self.edges.len()
    }

    pub(crate) fn vertex_count(&self) -> usize {
        self.start.len()
    }
}

fn draped(side: usize) -> Vec<Vec3> {
    let vertex = |index: usize| {
        let place = |i: usize| 0.01 * (i as f64 - 0.5 * (side - 1) as f64);
        let (x, y) = (place(index % side), place(index / side));
        let (radius, angle) = (x.hypot(y), y.atan2(x));
        let ball = 0.2 * 0.01 * side as f64;
        let hanging = (radius - 1.3 * ball).max(0.0);
        let around = (radius / ball).min(1.3);
        let across = ball * around.sin() + hanging * (0.3 + 0.15 * (8.0 * angle).sin());
        let down = ball * around.cos() - 0.9 * hanging;
        Vec3::new(across * angle.cos(), across * angle.sin(), down)
    };
    (0..side * side).map(vertex).collect()
}

fn edges_of(side: usize) -> Vec<[usize; 2]> {
    let from = |index: usize| {
        let (i, j) = (index % side, index / side);
        let [right, up] = [i + 1 < side, j + 1 < side];
        let partners = [(right, 1), (up, side), (right && up, side + 1)];
        let edge = move |(exists, step): (bool, usize)| exists.then_some([index, index + step]);
        partners.into_iter().filter_map(edge)
    };
    (0..side * side).flat_map(from).collect()
}
