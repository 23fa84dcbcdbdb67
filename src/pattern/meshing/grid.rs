// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cells along the grain of a panel, away from its outline.
//!
//! The cells are leaves of a quadtree whose neighbours differ by one halving at most. It is centred on the panel, so that
//! mirrored panels get mirrored cells. Cells with four corners that are kept and no vertex on a side are regular.

use super::{MeshParameters, boundary::PanelBoundary, edge_length::PanelSize};
use crate::pattern::Panel;
use kurbo::Point;
use std::collections::{BTreeMap, BTreeSet};

/// A cell: halvings of the largest cell, and its place counted in cells of its own size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cell {
    halvings: u32,
    column: i64,
    row: i64,
}

impl Cell {
    fn parent(self) -> Self {
        Self { halvings: self.halvings - 1, column: self.column >> 1, row: self.row >> 1 }
    }

    fn children(self) -> [Self; 4] {
        [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(right, up)| Self {
            halvings: self.halvings + 1,
            column: 2 * self.column + right,
            row: 2 * self.row + up,
        })
    }

    fn neighbours(self) -> [Self; 4] {
        [(-1, 0), (1, 0), (0, -1), (0, 1)].map(|(right, up)| Self {
            column: self.column + right,
            row: self.row + up,
            ..self
        })
    }
}

/// Grid points that are kept, and the regular cells between them.
pub(super) struct Grid {
    /// Points in the plane of the panel, in m.
    pub(super) points: Vec<Point>,
    /// Corners of the regular cells, counter-clockwise.
    pub(super) cells: Vec<GridCell>,
}

/// A regular cell.
#[derive(Clone, Copy)]
pub(super) struct GridCell {
    /// Indices of its corners in the points of the grid, counter-clockwise from that of least u and v.
    pub(super) corners: [u32; 4],
    /// Whether its diagonal rises, from the first corner on.
    pub(super) rises: bool,
}

/// Frame of the quadtree: centre and largest cell.
pub(super) struct Frame<'panel> {
    panel: &'panel Panel,
    centre: [f64; 2],
    largest: f64,
    /// Largest cells from the centre to the farthest point along u and v.
    pub(super) reach: [f64; 2],
}

impl<'panel> Frame<'panel> {
    /// Centred between some points of a panel, with cells of a length in m.
    pub(super) fn new(panel: &'panel Panel, points: &[Point], largest: f64) -> Self {
        let uv = || points.iter().map(|point| panel.yarn_axes(*point));
        let low = [0, 1].map(|axis| uv().map(|uv| uv[axis]).fold(f64::INFINITY, f64::min));
        let high = [0, 1].map(|axis| uv().map(|uv| uv[axis]).fold(f64::NEG_INFINITY, f64::max));
        let centre = [0, 1].map(|axis| f64::midpoint(low[axis], high[axis]));
        let reach = [0, 1].map(|axis| (high[axis] - centre[axis]) / largest);
        Self { panel, centre, largest, reach }
    }

    /// Place of a point counted in the largest cells, u first.
    pub(super) fn place(&self, point: Point) -> Point {
        let [u, v] = self.panel.yarn_axes(point);
        Point::new((u - self.centre[0]) / self.largest, (v - self.centre[1]) / self.largest)
    }

    fn cell_size(&self, halvings: u32) -> f64 {
        self.largest / f64::from(1_u32 << halvings)
    }

    /// The point at a place counted in cells of a size.
    pub(super) fn point(&self, halvings: u32, column: f64, row: f64) -> Point {
        let size = self.cell_size(halvings);
        self.panel.point_at([self.centre[0] + column * size, self.centre[1] + row * size])
    }

    /// Whether the edge length asks for a cell to be split, at any of nine places of it.
    fn is_coarse(&self, cell: Cell, size: &PanelSize<'_>) -> bool {
        let length = self.cell_size(cell.halvings);
        let places = (0..9).map(|place| (f64::from(place % 3) / 2.0, f64::from(place / 3) / 2.0));
        let limit = MeshParameters::DEFAULT.split_above;
        places.into_iter().any(|(right, up)| {
            let point = self.point(cell.halvings, cell.column as f64 + right, cell.row as f64 + up);
            length > limit * size.at(point)
        })
    }
}

impl Grid {
    pub(super) fn new(panel: &Panel, boundary: &PanelBoundary, size: &PanelSize<'_>) -> Self {
        let frame = Frame::new(panel, &boundary.points, size.largest());
        let [columns, rows] = frame.reach.map(|reach| reach.ceil() as i64);
        let mut leaves = leaves(&frame, columns, rows, size);
        balance(&mut leaves);
        kept(&frame, &leaves, boundary)
    }
}

fn leaves(frame: &Frame<'_>, columns: i64, rows: i64, size: &PanelSize<'_>) -> BTreeSet<Cell> {
    let roots = (-columns..columns)
        .flat_map(|column| (-rows..rows).map(move |row| Cell { halvings: 0, column, row }));
    let mut waiting: Vec<Cell> = roots.collect();
    let mut leaves = BTreeSet::new();
    while let Some(cell) = waiting.pop() {
        let may_split = cell.halvings < MeshParameters::DEFAULT.max_halvings && !size.is_uniform();
        if may_split && frame.is_coarse(cell, size) {
            waiting.extend(cell.children());
        } else {
            leaves.insert(cell);
        }
    }
    leaves
}

/// Splits leaves until neighbours differ by one halving at most.
fn balance(leaves: &mut BTreeSet<Cell>) {
    let mut waiting: Vec<Cell> = leaves.iter().copied().filter(|cell| cell.halvings > 1).collect();
    while let Some(cell) = waiting.pop() {
        for neighbour in cell.neighbours() {
            let mut ancestor = neighbour;
            while ancestor.halvings > 0 && !leaves.contains(&ancestor) {
                ancestor = ancestor.parent();
            }
            if ancestor.halvings + 1 < cell.halvings && leaves.remove(&ancestor) {
                leaves.extend(ancestor.children());
                // The children are checked, and this cell once more against them.
                waiting.extend(ancestor.children());
                waiting.push(cell);
            }
        }
    }
}

/// Points of leaves that are clear of the boundary, and the cells between them.
fn kept(frame: &Frame<'_>, leaves: &BTreeSet<Cell>, boundary: &PanelBoundary) -> Grid {
    let finest = leaves.iter().map(|cell| cell.halvings).max().unwrap_or(0);
    let corners = |cell: Cell| {
        let step = 1_i64 << (finest - cell.halvings);
        let [left, low] = [cell.column * step, cell.row * step];
        [(left, low), (left + step, low), (left + step, low + step), (left, low + step)]
    };
    // Each point by the largest cell that it is a corner of.
    let mut halvings: BTreeMap<(i64, i64), u32> = BTreeMap::new();
    for cell in leaves {
        for corner in corners(*cell) {
            let largest = halvings.entry(corner).or_insert(cell.halvings);
            *largest = cell.halvings.min(*largest);
        }
    }
    let mut indices: BTreeMap<(i64, i64), u32> = BTreeMap::new();
    let mut points = Vec::new();
    for ((column, row), largest) in &halvings {
        let point = frame.point(finest, *column as f64, *row as f64);
        if boundary.is_clear(point, frame.cell_size(*largest)) {
            indices.insert((*column, *row), points.len() as u32);
            points.push(point);
        }
    }
    let regular = |cell: &Cell| {
        let places = corners(*cell);
        let has_vertex_on_side = (0..4).any(|side| {
            let ((left, low), (right, high)) = (places[side], places[(side + 1) % 4]);
            let is_halved = cell.halvings < finest;
            is_halved
                && halvings.contains_key(&(i64::midpoint(left, right), i64::midpoint(low, high)))
        });
        let size = frame.cell_size(cell.halvings);
        let middle = frame.point(cell.halvings, cell.column as f64 + 0.5, cell.row as f64 + 0.5);
        if has_vertex_on_side || boundary.distance(middle, 0.5 * size) < 0.5 * size {
            return None;
        }
        let mut corners = [0; 4];
        for (corner, place) in corners.iter_mut().zip(places) {
            *corner = *indices.get(&place)?;
        }
        Some(GridCell { corners, rises: (cell.column + cell.row) % 2 == 0 })
    };
    Grid { cells: leaves.iter().filter_map(regular).collect(), points }
}
