// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which end of an edge is next to which of the triangles that the edge goes through.
//!
//! An edge that goes in and out of a cloth again, below a ridge, has both ends on one side of it. By the plane of a
//! triangle that is bent away from an end, that end seems to be on the other side. So each end is asked about
//! only the triangle that it is next to, along the edge.

use crate::{Vec3, collision::Intersection, surface::CollisionMesh};

/// What is next to every crossing along its edge.
#[derive(Clone, Debug, Default)]
pub(crate) struct EdgeIntervals {
    /// The ends of the edge with no other crossing of the same body in between.
    adjacent_ends: Vec<[Option<u32>; 2]>,
    /// How far from the plane of the triangle the next crossing of the same body is on the way to the end that is not
    /// beside this one, in m; 0 where both are, or none.
    depths: Vec<f64>,
}

impl EdgeIntervals {
    /// `crossings` in order, with all vertices at `positions` in m.
    pub(crate) fn new(
        surfaces: &CollisionMesh,
        positions: &[Vec3],
        crossings: &[Intersection],
    ) -> Self {
        let mut adjacent_ends = vec![[None; 2]; crossings.len()];
        let mut depths = vec![0.0; crossings.len()];
        let places: Vec<f64> = crossings
            .iter()
            .map(|crossing| edge_parameter(surfaces, positions, *crossing))
            .collect();
        let mut first = 0;
        for of_edge in crossings.chunk_by(|one, next| one.edge == next.edge) {
            let range = first..first + of_edge.len();
            first = range.end;
            let ends = surfaces.edges[of_edge[0].edge as usize];
            for index in range.clone() {
                let body = |other: usize| surfaces.body_of_triangle(crossings[other].triangle);
                let others: Vec<f64> = range
                    .clone()
                    .filter(|other| *other != index && body(*other) == body(index))
                    .map(|other| places[other] - places[index])
                    .collect();
                let [is_first, is_last] =
                    [others.iter().all(|way| *way >= 0.0), others.iter().all(|way| *way <= 0.0)];
                adjacent_ends[index] = [is_first.then_some(ends[0]), is_last.then_some(ends[1])];
                if is_first != is_last {
                    let next = others.into_iter().min_by(|a, b| a.abs().total_cmp(&b.abs()));
                    let [from, to] = ends.map(|end| {
                        surfaces.signed_height(crossings[index].triangle, positions, end)
                    });
                    depths[index] = ((to - from) * next.unwrap_or_default()).abs();
                }
            }
        }
        Self { adjacent_ends, depths }
    }

    /// How far below the triangle of a crossing the edge goes on, in m, where it goes through the same body again.
    pub(crate) fn depth(&self, crossing: usize) -> f64 {
        self.depths[crossing]
    }

    /// The ends of the edge of a crossing that are next to its triangle.
    pub(crate) fn adjacent_ends(&self, crossing: usize) -> impl Iterator<Item = u32> + use<> {
        self.adjacent_ends[crossing].into_iter().flatten()
    }
}

/// Where along its edge a crossing is, from 0 to 1.
fn edge_parameter(surfaces: &CollisionMesh, positions: &[Vec3], crossing: Intersection) -> f64 {
    let [start, end] = surfaces.edges[crossing.edge as usize]
        .map(|end| surfaces.signed_height(crossing.triangle, positions, end).abs());
    if start + end > 0.0 { start / (start + end) } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{collision::is_intersecting, surface::Configuration};

    /// What an edge crosses that goes from `from` to `to` through a roof with its ridge along y at the height 0,
    /// whose sides fall as far as they reach.
    fn roof(from: Vec3, to: Vec3) -> (CollisionMesh, Vec<Vec3>, Vec<Intersection>) {
        let roof = [-Vec3::y(), Vec3::y(), Vec3::new(1.0, 0.0, -1.0), Vec3::new(-1.0, 0.0, -1.0)];
        let corners = [from, to, to + Vec3::new(0.0, 0.0, 9.0)];
        let positions: Vec<Vec3> = corners.into_iter().chain(roof).collect();
        let surfaces = CollisionMesh::of_thin_cloths(
            &[[0, 1, 2], [3, 5, 4], [4, 6, 3]],
            &[0, 3, 7],
            positions.clone(),
            &[],
        );
        let edge = surfaces.edges.iter().position(|ends| *ends == [0, 1]).unwrap() as u32;
        let crossings = [1, 2].map(|triangle| Intersection { edge, triangle });
        let configuration = Configuration { mesh: &surfaces, positions: &positions };
        let crosses = |crossing: &Intersection| is_intersecting(configuration, *crossing);
        let crossings = crossings.into_iter().filter(crosses).collect();
        (surfaces, positions, crossings)
    }

    /// How high the ends of such an edge are over what they are next to, in m.
    fn heights(from: Vec3, to: Vec3) -> Vec<Vec<f64>> {
        let (surfaces, positions, crossings) = roof(from, to);
        let passages = EdgeIntervals::new(&surfaces, &positions, &crossings);
        let of = |index: usize| {
            let height = |end| surfaces.signed_height(crossings[index].triangle, &positions, end);
            passages.adjacent_ends(index).map(height).collect()
        };
        (0..crossings.len()).map(of).collect()
    }

    #[test]
    fn both_ends_are_above_a_ridge_that_the_edge_passes_below() {
        let found = heights(Vec3::new(-0.8, 0.1, -0.2), Vec3::new(0.7, 0.0, -0.2));
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|ends| ends.len() == 1 && ends[0] > 0.0), "{found:?}");
    }

    #[test]
    fn the_depth_of_an_edge_is_that_of_its_next_intersection() {
        let (from, to) = (Vec3::new(-0.8, 0.0, -0.2), Vec3::new(0.8, 0.0, -0.2));
        // It goes in and out at x = ±0.2, in sides that fall by one half right angle.
        let (surfaces, positions, crossings) = roof(from, to);
        let passages = EdgeIntervals::new(&surfaces, &positions, &crossings);
        for index in 0..2 {
            assert!((passages.depth(index) - 0.4 * 0.5_f64.sqrt()).abs() < 1e-12);
        }
        let (surfaces, positions, crossings) =
            roof(Vec3::new(0.5, 0.1, 0.3), Vec3::new(0.3, 0.0, -0.8));
        assert_eq!(crossings.len(), 1);
        assert!(EdgeIntervals::new(&surfaces, &positions, &crossings).depth(0) < 1e-12);
    }

    #[test]
    fn both_ends_are_adjacent_to_a_single_intersection() {
        let found = heights(Vec3::new(0.5, 0.1, 0.3), Vec3::new(0.3, 0.0, -0.8));
        assert_eq!(found.len(), 1);
        let [ends] = &found[..] else { panic!("one crossing") };
        assert!(ends.len() == 2 && ends[0] > 0.0 && ends[1] < 0.0, "{found:?}");
    }
}
