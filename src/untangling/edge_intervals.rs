// SPDX-License-Identifier: MIT OR Apache-2.0
//! Intervals of an intersected edge between its intersections: the ends adjacent to each triangle.
//!
//! An edge that enters and leaves a cloth below a ridge has both ends on the same side of it. By
//! the plane of a triangle that is bent away from an end, that end seems to be on the other side.
//! So each end is compared only with the triangle to which it is adjacent along the edge.

use crate::{collision::Intersection, surface::Configuration};

/// Intervals around each intersection.
#[derive(Clone, Debug, Default)]
pub(super) struct EdgeIntervals {
    /// Ends of the edge without another intersection of the same body in between.
    adjacent_ends: Vec<[Option<u32>; 2]>,
    /// Distance in m of the next intersection of the same body from the plane of the triangle,
    /// towards the end that is not adjacent; 0 if both are or none is.
    depths: Vec<f64>,
}

impl EdgeIntervals {
    /// Intervals of sorted `intersections`.
    pub(super) fn new(configuration: Configuration<'_>, intersections: &[Intersection]) -> Self {
        let mesh = configuration.mesh;
        let mut adjacent_ends = vec![[None; 2]; intersections.len()];
        let mut depths = vec![0.0; intersections.len()];
        let parameters: Vec<f64> = intersections
            .iter()
            .map(|intersection| edge_parameter(configuration, *intersection))
            .collect();
        let mut first = 0;
        for on_edge in intersections.chunk_by(|one, next| one.edge == next.edge) {
            let range = first..first + on_edge.len();
            first = range.end;
            let ends = mesh.edges[on_edge[0].edge as usize];
            for index in range.clone() {
                // Alternatives are a surface of their own.
                let surface = |other: usize| {
                    let triangle = intersections[other].triangle;
                    (mesh.body_of_triangle(triangle), mesh.is_alternative_triangle(triangle))
                };
                let others: Vec<f64> = range
                    .clone()
                    .filter(|other| *other != index && surface(*other) == surface(index))
                    .map(|other| parameters[other] - parameters[index])
                    .collect();
                let [is_first, is_last] = [
                    others.iter().all(|offset| *offset >= 0.0),
                    others.iter().all(|offset| *offset <= 0.0),
                ];
                adjacent_ends[index] = [is_first.then_some(ends[0]), is_last.then_some(ends[1])];
                if is_first != is_last {
                    let next = others.into_iter().min_by(|a, b| a.abs().total_cmp(&b.abs()));
                    let [from, to] = ends
                        .map(|end| configuration.signed_height(intersections[index].triangle, end));
                    depths[index] = ((to - from) * next.unwrap_or_default()).abs();
                }
            }
        }
        Self { adjacent_ends, depths }
    }

    /// Depth in m of the edge below the triangle of an intersection; positive where it intersects
    /// the same body again.
    pub(super) fn depth(&self, intersection: usize) -> f64 {
        self.depths[intersection]
    }

    /// Intersections, in the order of these intervals, with their adjacent ends.
    pub(super) fn with_adjacent_ends(
        &self,
        intersections: &[Intersection],
    ) -> impl Iterator<Item = (Intersection, impl Iterator<Item = u32>)> {
        let each = intersections.iter().zip(&self.adjacent_ends);
        each.map(|(intersection, ends)| (*intersection, ends.iter().copied().flatten()))
    }

    /// Ends of the edge that are adjacent to the triangle of an intersection.
    pub(super) fn adjacent_ends(&self, intersection: usize) -> impl Iterator<Item = u32> + use<> {
        self.adjacent_ends[intersection].into_iter().flatten()
    }
}

/// Parameter of an intersection along its edge, from 0 to 1.
fn edge_parameter(configuration: Configuration<'_>, intersection: Intersection) -> f64 {
    let mesh = configuration.mesh;
    let [start, end] = mesh.edges[intersection.edge as usize]
        .map(|end| configuration.signed_height(intersection.triangle, end).abs());
    if start + end > 0.0 { start / (start + end) } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{collision::is_intersecting, surface::CollisionMesh, vec3::Vec3};

    /// Intersections of an edge from `from` to `to` with a roof whose ridge is along y at height 0.
    fn roof(from: Vec3, to: Vec3) -> (CollisionMesh, Vec<Vec3>, Vec<Intersection>) {
        let roof = [-Vec3::y(), Vec3::y(), Vec3::new(1.0, 0.0, -1.0), Vec3::new(-1.0, 0.0, -1.0)];
        let corners = [from, to, to + Vec3::new(0.0, 0.0, 9.0)];
        let positions: Vec<Vec3> = corners.into_iter().chain(roof).collect();
        let mesh = CollisionMesh::of_thin_cloths(
            &[[0, 1, 2], [3, 5, 4], [4, 6, 3]],
            &[0, 3, 7],
            positions.clone(),
            &[],
        );
        let edge = mesh.edges.iter().position(|ends| *ends == [0, 1]).unwrap() as u32;
        let intersections = [1, 2].map(|triangle| Intersection { edge, triangle });
        let crosses = |intersection: &Intersection| {
            is_intersecting(Configuration { mesh: &mesh, positions: &positions }, *intersection)
        };
        let intersections = intersections.into_iter().filter(crosses).collect();
        (mesh, positions, intersections)
    }

    /// Heights of the ends of such an edge above their adjacent triangles, in m.
    fn heights(from: Vec3, to: Vec3) -> Vec<Vec<f64>> {
        let (mesh, positions, intersections) = roof(from, to);
        let configuration = Configuration { mesh: &mesh, positions: &positions };
        let intervals = EdgeIntervals::new(configuration, &intersections);
        let of = |index: usize| {
            let height = |end| configuration.signed_height(intersections[index].triangle, end);
            intervals.adjacent_ends(index).map(height).collect()
        };
        (0..intersections.len()).map(of).collect()
    }

    #[test]
    fn both_ends_are_above_a_ridge_that_the_edge_passes_below() {
        let heights = heights(Vec3::new(-0.8, 0.1, -0.2), Vec3::new(0.7, 0.0, -0.2));
        assert_eq!(heights.len(), 2);
        assert!(heights.iter().all(|ends| ends.len() == 1 && ends[0] > 0.0), "{heights:?}");
    }

    #[test]
    fn the_depth_of_an_edge_is_that_of_its_next_intersection() {
        let (from, to) = (Vec3::new(-0.8, 0.0, -0.2), Vec3::new(0.8, 0.0, -0.2));
        // It enters and leaves at x = ±0.2, through sides that slope by 45°.
        let (mesh, positions, intersections) = roof(from, to);
        let intervals = EdgeIntervals::new(
            Configuration { mesh: &mesh, positions: &positions },
            &intersections,
        );
        for index in 0..2 {
            assert!((intervals.depth(index) - 0.4 * 0.5_f64.sqrt()).abs() < 1e-12);
        }
        let (mesh, positions, intersections) =
            roof(Vec3::new(0.5, 0.1, 0.3), Vec3::new(0.3, 0.0, -0.8));
        assert_eq!(intersections.len(), 1);
        assert!(
            EdgeIntervals::new(
                Configuration { mesh: &mesh, positions: &positions },
                &intersections
            )
            .depth(0)
                < 1e-12
        );
    }

    #[test]
    fn both_ends_are_adjacent_to_a_single_intersection() {
        let heights = heights(Vec3::new(0.5, 0.1, 0.3), Vec3::new(0.3, 0.0, -0.8));
        assert_eq!(heights.len(), 1);
        let [ends] = &heights[..] else { panic!("one intersection") };
        assert!(ends.len() == 2 && ends[0] > 0.0 && ends[1] < 0.0, "{heights:?}");
    }
}
