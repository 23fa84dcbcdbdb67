// SPDX-License-Identifier: MIT OR Apache-2.0
//! Winding number of a closed triangle surface around a point.

use super::{
    aabb_tree::{BoundingBox, BoundingTree},
    closest_point::closest_on_triangle,
    roundoff::rounding,
    segment_triangle::segment_crosses_triangle,
};
use crate::Vec3;

/// A surface with an inside.
pub(crate) struct Solid {
    triangles: Vec<[Vec3; 3]>,
    bounds: BoundingBox,
    tree: BoundingTree,
}

impl Solid {
    pub(crate) fn of(triangles: Vec<[Vec3; 3]>) -> Self {
        let boxes: Vec<BoundingBox> = triangles.iter().map(BoundingBox::around).collect();
        Self {
            bounds: BoundingBox::around(triangles.iter().flatten()),
            tree: BoundingTree::new(&boxes),
            triangles,
        }
    }

    /// Whether all of these points are inside that are not on the surface but for rounding, and there are such.
    pub(crate) fn encloses(&self, points: &[Vec3]) -> bool {
        let rounding = rounding(points);
        let is_on = |point: &Vec3| {
            let nearest = self.tree.nearest(point, rounding, |triangle| {
                (closest_on_triangle(point, &self.triangles[triangle]).distance_squared, ())
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

    /// Whether the surface, where it faces outward, goes round a point.
    pub(crate) fn contains(&self, point: &Vec3) -> bool {
        self.turns(point) > 0
    }

    /// How many times it goes round a point, facing outward.
    pub(crate) fn turns(&self, point: &Vec3) -> i32 {
        let height = self.bounds.high.z - self.bounds.low.z;
        let above = Vec3::new(point.x, point.y, self.bounds.high.z + height);
        let mut turns = 0;
        self.tree.for_each_overlap(&BoundingBox { low: *point, high: above }, |triangle| {
            let corners = &self.triangles[triangle];
            if segment_crosses_triangle(point, &above, corners) {
                let [a, b, c] = corners;
                turns += if (b - a).cross(&(c - a)).z > 0.0 { 1 } else { -1 };
            }
        });
        turns
    }
}

/// Whether every edge is run along once in each direction.
pub(crate) fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let sides = triangles.iter().flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]);
    let mut there: Vec<[u32; 2]> = sides.collect();
    let mut back: Vec<[u32; 2]> = there.iter().map(|[a, b]| [*b, *a]).collect();
    there.sort_unstable();
    back.sort_unstable();
    there == back && there.iter().zip(&there[1..]).all(|(side, next)| side != next)
}
