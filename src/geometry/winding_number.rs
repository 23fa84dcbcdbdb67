// SPDX-License-Identifier: MIT OR Apache-2.0
//! Winding number of a closed triangle surface about a point.

use super::{
    aabb_tree::{Aabb, AabbTree},
    closest_point::closest_point_on_triangle,
    roundoff::coordinate_error,
    segment_triangle::segment_intersects_triangle,
};
use crate::vec3::Vec3;

/// Closed triangle surface, with a tree for queries.
pub(crate) struct ClosedSurface {
    triangles: Vec<[Vec3; 3]>,
    bounds: Aabb,
    tree: AabbTree,
}

impl ClosedSurface {
    pub(crate) fn from_triangles(triangles: Vec<[Vec3; 3]>) -> Self {
        let boxes: Vec<Aabb> = triangles.iter().map(Aabb::from_points).collect();
        Self {
            bounds: Aabb::from_points(triangles.iter().flatten()),
            tree: AabbTree::new(&boxes),
            triangles,
        }
    }

    /// Whether all points that are off the surface by more than rounding are inside, and there are
    /// such.
    pub(crate) fn encloses(&self, points: &[Vec3]) -> bool {
        let rounding = coordinate_error(points);
        let is_on = |point: &Vec3| {
            let nearest = self.tree.nearest(point, rounding, |triangle| {
                (closest_point_on_triangle(point, &self.triangles[triangle]).distance_squared, ())
            });
            nearest.is_some()
        };
        let mut has_inside = false;
        let are_inside = points.iter().all(|point| {
            let is_on = is_on(point);
            has_inside |= !is_on;
            is_on || self.contains(point)
        });
        are_inside && has_inside
    }

    /// Whether a point is inside of a surface that faces outward.
    pub(crate) fn contains(&self, point: &Vec3) -> bool {
        self.winding_number(point) > 0
    }

    /// Winding number about a point of a surface that faces outward, from the signed intersections
    /// with a vertical segment.
    pub(crate) fn winding_number(&self, point: &Vec3) -> i32 {
        let height = self.bounds.upper.z - self.bounds.lower.z;
        let above = Vec3::new(point.x, point.y, self.bounds.upper.z + height);
        let mut turns = 0;
        self.tree.for_each_overlapping(&Aabb { lower: *point, upper: above }, |triangle| {
            let corners = &self.triangles[triangle];
            if segment_intersects_triangle(point, &above, corners) {
                let [a, b, c] = corners;
                turns += if (b - a).cross(&(c - a)).z > 0.0 { 1 } else { -1 };
            }
        });
        turns
    }
}

/// Whether every edge occurs once in each direction.
pub(crate) fn is_closed_surface(triangles: &[[u32; 3]]) -> bool {
    let sides = triangles.iter().flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]);
    let mut there: Vec<[u32; 2]> = sides.collect();
    let mut back: Vec<[u32; 2]> = there.iter().map(|[a, b]| [*b, *a]).collect();
    there.sort_unstable();
    back.sort_unstable();
    there == back && there.iter().zip(&there[1..]).all(|(side, next)| side != next)
}
