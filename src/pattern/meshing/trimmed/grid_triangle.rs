// SPDX-License-Identifier: MIT OR Apache-2.0
//! Halves of the cells of a regular grid, in coordinates counted in cells.
//!
//! Diagonals alternate as in [`Grid`](super::super::grid::Grid), so that all of them lie on whole lines x ± y = 2k: the
//! triangles are what the lines x = k, y = k and these cut the plane into.

use kurbo::Point;

/// Distance from a line of the grid below which a point counts as on it (cells). Effect: larger moves the outline by more;
/// smaller leaves cells of which so little is cloth that single precision has no number for its stiffness. Evidence:
/// a corner of 10⁻⁶ of a cell has a part of 10⁻²⁵, within the range of single precision.
pub(super) const ON_LINE: f64 = 1e-6;

/// A corner of cells: column and row.
pub(super) type Corner = (i64, i64);

/// One half of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GridTriangle {
    pub(super) column: i64,
    pub(super) row: i64,
    /// Whether it is the half that does not have the side of least y.
    pub(super) is_upper: bool,
}

impl GridTriangle {
    /// Its corners, counter-clockwise.
    pub(super) fn corners(self) -> [Corner; 3] {
        let [lower_left, lower_right, upper_right, upper_left] =
            cell_corners([self.column, self.row]);
        match ((self.column + self.row) % 2 == 0, self.is_upper) {
            (true, false) => [lower_left, lower_right, upper_right],
            (true, true) => [lower_left, upper_right, upper_left],
            (false, false) => [lower_left, lower_right, upper_left],
            (false, true) => [lower_right, upper_right, upper_left],
        }
    }

    /// Both halves of a cell.
    pub(super) fn halves([column, row]: [i64; 2]) -> [Self; 2] {
        [false, true].map(|is_upper| Self { column, row, is_upper })
    }

    /// All triangles that a point is in, or on a side of.
    pub(super) fn around(point: Point) -> Vec<Self> {
        let cells = |x: f64| (x.ceil() as i64 - 1..=x.floor() as i64).collect::<Vec<i64>>();
        let mut found = Vec::new();
        for column in cells(point.x) {
            for row in cells(point.y) {
                let halves = Self::halves([column, row]).into_iter();
                found.extend(halves.filter(|half| {
                    half.signed_weights(point).iter().all(|weight| *weight > -0.5 * ON_LINE)
                }));
            }
        }
        found
    }

    /// Barycentric coordinates of a point anywhere.
    pub(super) fn signed_weights(self, point: Point) -> [f64; 3] {
        let [a, b, c] = self.corners().map(|corner| at(corner) - point);
        [b.cross(c), c.cross(a), a.cross(b)]
    }

    /// Barycentric coordinates of a point inside: none below 0, and their sum is 1.
    pub(super) fn weights(self, point: Point) -> [f64; 3] {
        let mut weights = self.signed_weights(point).map(|weight| weight.max(0.0));
        let largest = (0..3).fold(0, |most, k| if weights[k] > weights[most] { k } else { most });
        weights[largest] = 1.0 - weights[(largest + 1) % 3] - weights[(largest + 2) % 3];
        weights
    }
}

/// The corners of a cell, counter-clockwise from that of least x and y.
pub(super) fn cell_corners([column, row]: [i64; 2]) -> [Corner; 4] {
    [(column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1)]
}

/// Where a corner lies.
pub(super) fn at((column, row): Corner) -> Point {
    Point::new(column as f64, row as f64)
}

/// The corner at a point, if there is one within a distance along both axes.
pub(super) fn corner_at(point: Point, distance: f64) -> Option<Corner> {
    let nearest = Point::new(point.x.round(), point.y.round());
    let offset = point - nearest;
    (offset.x.abs().max(offset.y.abs()) <= distance).then_some((nearest.x as i64, nearest.y as i64))
}

/// A point on the lines of the grid that it is near to.
pub(super) fn snapped(mut point: Point) -> Point {
    for value in [&mut point.x, &mut point.y] {
        if (*value - value.round()).abs() < ON_LINE {
            *value = value.round();
        }
    }
    for sign in [1.0, -1.0] {
        // x − y or x + y.
        let sum = point.x - sign * point.y;
        let line = 2.0 * (0.5 * sum).round();
        if (sum - line).abs() < ON_LINE {
            if point.y.fract() == 0.0 {
                point.x = line + sign * point.y;
            } else {
                point.y = sign * (point.x - line);
            }
        }
    }
    point
}

/// Points at which the way between two points crosses lines of the grid, in their order.
pub(super) fn crossings(from: Point, to: Point) -> Vec<Point> {
    let mut found: Vec<(f64, Point)> = Vec::new();
    // x, y, x − y and x + y, with the distance of lines.
    for (by_x, by_y, spacing) in
        [(1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (1.0, -1.0, 2.0), (1.0, 1.0, 2.0)]
    {
        let value = |point: Point| by_x * point.x + by_y * point.y;
        let (first, last) = (value(from), value(to));
        let low = ((first.min(last) + 0.5 * ON_LINE) / spacing).ceil() as i64;
        let high = ((first.max(last) - 0.5 * ON_LINE) / spacing).floor() as i64;
        for line in low..=high {
            let line = spacing * line as f64;
            let part = (line - first) / (last - first);
            let mut point = from.lerp(to, part);
            if by_y == 0.0 {
                point.x = line;
            } else {
                point.y = (line - by_x * point.x) / by_y;
            }
            // Lines meet at corners alone: what crosses two of them close to each other is close to one.
            point = corner_at(point, 4.0 * ON_LINE).map_or(point, at);
            found.push((part, point));
        }
    }
    found.sort_by(|one, other| one.0.total_cmp(&other.0));
    found.into_iter().map(|(_, point)| point).collect()
}
