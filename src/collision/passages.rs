// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which end of an edge is next to which of the triangles that the edge goes through.
//!
//! An edge that goes in and out of a cloth again, below a ridge, has both ends on one side of it. By the plane of a
//! triangle that is bent away from an end, that end seems to be on the other side. So each end is asked about
//! only the triangle that it is next to, along the edge.

use super::{surfaces::Surfaces, tangle::Crossing};
use crate::Vec3;
use std::cmp::Ordering;

/// For every crossing the ends of its edge with no other crossing of the same body in between.
#[derive(Clone, Debug, Default)]
pub(super) struct Passages {
    beside: Vec<[Option<u32>; 2]>,
}

impl Passages {
    /// `crossings` in order, with all vertices at `positions` in m.
    pub(super) fn new(surfaces: &Surfaces, positions: &[Vec3], crossings: &[Crossing]) -> Self {
        let mut beside = vec![[None; 2]; crossings.len()];
        let places: Vec<f64> =
            crossings.iter().map(|crossing| place(surfaces, positions, *crossing)).collect();
        let mut first = 0;
        for of_edge in crossings.chunk_by(|one, next| one.edge == next.edge) {
            let range = first..first + of_edge.len();
            first = range.end;
            let ends = surfaces.edges[of_edge[0].edge as usize];
            for index in range.clone() {
                let body = |other: usize| surfaces.body_of_triangle(crossings[other].triangle);
                let mut others = range
                    .clone()
                    .filter(|other| *other != index && body(*other) == body(index))
                    .map(|other| places[other].total_cmp(&places[index]));
                let [is_first, is_last] =
                    [others.clone().all(Ordering::is_ge), others.all(Ordering::is_le)];
                beside[index] = [is_first.then_some(ends[0]), is_last.then_some(ends[1])];
            }
        }
        Self { beside }
    }

    /// The ends of the edge of a crossing that are next to its triangle.
    pub(super) fn ends(&self, crossing: usize) -> impl Iterator<Item = u32> + use<> {
        self.beside[crossing].into_iter().flatten()
    }
}

/// Where along its edge a crossing is, from 0 to 1.
fn place(surfaces: &Surfaces, positions: &[Vec3], crossing: Crossing) -> f64 {
    let [start, end] = surfaces.edges[crossing.edge as usize]
        .map(|end| surfaces.height(crossing.triangle, positions, end).abs());
    if start + end > 0.0 { start / (start + end) } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How high the ends of an edge are over what they are next to, in m. It goes from `from` to `to` through a roof with
    /// its ridge along y at the height 0, whose sides fall as far as they reach.
    fn heights(from: Vec3, to: Vec3) -> Vec<Vec<f64>> {
        let roof = [-Vec3::y(), Vec3::y(), Vec3::new(1.0, 0.0, -1.0), Vec3::new(-1.0, 0.0, -1.0)];
        let corners = [from, to, to + Vec3::new(0.0, 0.0, 9.0)];
        let positions: Vec<Vec3> = corners.into_iter().chain(roof).collect();
        let surfaces = Surfaces::of_thin_cloths(
            (&[[0, 1, 2], [3, 5, 4], [4, 6, 3]], &[0, 3, 7]),
            positions.clone(),
            &[],
        );
        let edge = surfaces.edges.iter().position(|ends| *ends == [0, 1]).unwrap() as u32;
        let mut crossings: Vec<Crossing> =
            [1, 2].map(|triangle| Crossing { edge, triangle }).to_vec();
        crossings
            .retain(|crossing| super::super::tangle::crosses(&surfaces, &positions, *crossing));
        let passages = Passages::new(&surfaces, &positions, &crossings);
        let of = |index: usize| {
            let height = |end| surfaces.height(crossings[index].triangle, &positions, end);
            passages.ends(index).map(height).collect()
        };
        (0..crossings.len()).map(of).collect()
    }

    #[test]
    fn both_ends_are_above_a_ridge_that_the_edge_goes_below() {
        let found = heights(Vec3::new(-0.8, 0.1, -0.2), Vec3::new(0.7, 0.0, -0.2));
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|ends| ends.len() == 1 && ends[0] > 0.0), "{found:?}");
    }

    #[test]
    fn both_ends_are_next_to_what_alone_is_crossed() {
        let found = heights(Vec3::new(0.5, 0.1, 0.3), Vec3::new(0.3, 0.0, -0.8));
        assert_eq!(found.len(), 1);
        let [ends] = &found[..] else { panic!("one crossing") };
        assert!(ends.len() == 2 && ends[0] > 0.0 && ends[1] < 0.0, "{found:?}");
    }
}
