// SPDX-License-Identifier: MIT OR Apache-2.0
//! Straight pieces of contours and lines in a plane: distances to them, and what they enclose.

use crate::{
    geometry::{Aabb, AabbTree},
    vec3::Vec3,
};
use kurbo::Point;

/// Pieces of closed contours first, then those of lines.
#[derive(Default)]
pub(super) struct Segments {
    /// Both ends of each piece, in the plane z = 0.
    ends: Vec<[Vec3; 2]>,
    closed_count: usize,
    tree: AabbTree,
}

fn flat(point: Point) -> Vec3 {
    Vec3::new(point.x, point.y, 0.0)
}

impl Segments {
    pub(super) fn new(closed: Vec<[Point; 2]>, open: Vec<[Point; 2]>) -> Self {
        let closed_count = closed.len();
        let ends: Vec<[Vec3; 2]> =
            closed.into_iter().chain(open).map(|ends| ends.map(flat)).collect();
        let boxes: Vec<Aabb> = ends.iter().map(Aabb::from_points).collect();
        Self { tree: AabbTree::new(&boxes), ends, closed_count }
    }

    /// Distance of a point to all pieces; infinite beyond `limit`.
    pub(super) fn distance(&self, point: Point, limit: f64) -> f64 {
        let place = flat(point);
        let measure = |index: usize| {
            let [from, to] = self.ends[index];
            let along = to - from;
            let part = ((place - from).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
            ((place - from - part * along).norm_squared(), ())
        };
        let nearest = self.tree.nearest(&place, limit, measure);
        nearest.map_or(f64::INFINITY, |nearest| nearest.distance_squared.sqrt())
    }

    /// Whether a point lies inside the outline and in no cut-out, by the parity of crossings of a ray along x.
    pub(super) fn encloses(&self, point: Point) -> bool {
        let ray = Aabb { lower: flat(point), upper: Vec3::new(f64::MAX, point.y, 0.0) };
        let mut is_inside = false;
        self.tree.for_each_overlapping(&ray, |index| {
            let [from, to] = self.ends[index];
            let is_between = (from.y <= point.y) != (to.y <= point.y);
            let crossing = || from.x + (point.y - from.y) / (to.y - from.y) * (to.x - from.x);
            is_inside ^= index < self.closed_count && is_between && point.x < crossing();
        });
        is_inside
    }
}

/// Pieces of a closed chain of points.
pub(super) fn closed_pieces(points: &[Point]) -> impl Iterator<Item = [Point; 2]> + '_ {
    points.iter().zip(points.iter().cycle().skip(1)).map(|(from, to)| [*from, *to])
}
