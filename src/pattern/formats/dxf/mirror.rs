// SPDX-License-Identifier: MIT OR Apache-2.0
//! Half pieces, unfolded along their mirror line.

use kurbo::{Point, Vec2};

/// The line that a piece is folded along.
#[derive(Clone, Copy, Debug)]
pub(super) struct MirrorLine {
    from: Point,
    along: Vec2,
}

impl MirrorLine {
    /// The line through two points; none if they are the same.
    pub(super) fn new(from: Point, to: Point) -> Option<Self> {
        let length = (to - from).hypot();
        (length > 0.0).then(|| Self { from, along: (to - from) / length })
    }

    fn distance(&self, point: Point) -> f64 {
        self.along.cross(point - self.from).abs()
    }

    /// Whether a point lies on the line.
    pub(super) fn has(&self, point: Point, tolerance: f64) -> bool {
        self.distance(point) <= tolerance
    }

    /// The point on the other side.
    pub(super) fn reflected(&self, point: Point) -> Point {
        let across = self.along.turn_90();
        point - 2.0 * across.dot(point - self.from) * across
    }

    /// The outline of both halves, from that of one which has an edge on the line; none if it has none.
    pub(super) fn unfolded(&self, outline: &[Point], tolerance: f64) -> Option<Vec<Point>> {
        let count = outline.len();
        let is_on = |index: usize| self.has(outline[index % count], tolerance);
        // The last point on the line before the outline leaves it.
        let leaves = (0..count).find(|index| is_on(*index) && !is_on(index + 1))?;
        let returns = (1..count).find(|step| is_on(leaves + step))?;
        let half: Vec<Point> = (0..=returns).map(|step| outline[(leaves + step) % count]).collect();
        let has_fold = returns + 1 < count || is_on(leaves + returns + 1);
        if !has_fold || (returns + 1..count).any(|step| !is_on(leaves + step)) {
            return None;
        }
        let other = half[1..half.len() - 1].iter().rev().map(|point| self.reflected(*point));
        Some(half.iter().copied().chain(other).collect())
    }
}
