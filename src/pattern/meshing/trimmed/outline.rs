// SPDX-License-Identifier: MIT OR Apache-2.0
//! Outline and cut-outs of a panel in coordinates of its grid, divided where they cross the lines of the grid.

use super::{
    super::{
        grid::Frame,
        segments::{Segments, closed_pieces},
    },
    TrimmedParameters,
    grid_triangle::{Corner, GridTriangle, corner_at, crossings, snapped},
};
use crate::pattern::{Contour, Panel};
use kurbo::{PathEl, Point};
use std::collections::BTreeMap;

/// Divided contours of a panel.
pub(super) struct DividedOutline {
    /// Points of all contours, counted in cells.
    pub(super) points: Vec<Point>,
    /// Points that are corners of cells.
    pub(super) at_corners: BTreeMap<Corner, u32>,
    /// Points and pieces in each triangle that the outline touches, its sides included.
    pub(super) touched: BTreeMap<GridTriangle, Touching>,
    segments: Segments,
}

/// What of the outline is in one triangle.
#[derive(Default)]
pub(super) struct Touching {
    pub(super) points: Vec<u32>,
    pub(super) pieces: Vec<[u32; 2]>,
}

impl DividedOutline {
    pub(super) fn new(contours: &[Vec<Point>], frame: &Frame<'_>) -> Self {
        let mut outline = Self {
            points: Vec::new(),
            at_corners: BTreeMap::new(),
            touched: BTreeMap::new(),
            segments: Segments::default(),
        };
        let mut pieces = Vec::new();
        for contour in contours {
            let places: Vec<Point> =
                contour.iter().map(|point| snapped(frame.place(*point))).collect();
            let divided = divided(&places);
            // A hole that the lines of the grid have drawn together is none.
            if divided.len() > 2 {
                outline.add(&divided);
                pieces.extend(closed_pieces(&divided));
            }
        }
        outline.segments = Segments::new(pieces, Vec::new());
        outline
    }

    /// Whether a point is inside the outline and in no cut-out.
    pub(super) fn encloses(&self, point: Point) -> bool {
        self.segments.encloses(point)
    }

    /// Adds a divided contour.
    fn add(&mut self, contour: &[Point]) {
        let first = self.points.len() as u32;
        let count = contour.len() as u32;
        let around: Vec<Vec<GridTriangle>> =
            contour.iter().map(|point| GridTriangle::around(*point)).collect();
        for (place, point) in contour.iter().enumerate() {
            let (own, next) = (first + place as u32, first + (place as u32 + 1) % count);
            if let Some(corner) = corner_at(*point, 0.0) {
                self.at_corners.insert(corner, own);
            }
            for triangle in &around[place] {
                let touching = self.touched.entry(*triangle).or_default();
                touching.points.push(own);
                // A piece lies in each triangle that both its ends lie in.
                if around[(place + 1) % contour.len()].contains(triangle) {
                    touching.pieces.push([own, next]);
                }
            }
        }
        self.points.extend_from_slice(contour);
    }
}

/// A contour with a point wherever it crosses a line of the grid.
fn divided(places: &[Point]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for [from, to] in closed_pieces(places) {
        points.push(from);
        points.extend(crossings(from, to));
    }
    points.dedup();
    while points.len() > 1 && points.first() == points.last() {
        points.pop();
    }
    points
}

/// Points along all contours of a panel whose chords keep to them, for an edge length in m.
pub(super) fn flattened(panel: &Panel, edge_length: f64) -> Vec<Vec<Point>> {
    let tolerance = TrimmedParameters::DEFAULT.outline_tolerance * edge_length;
    let flatten = |contour: &Contour| {
        let mut points = Vec::new();
        for segment in contour.all_segments() {
            let start = PathEl::MoveTo(kurbo::ParamCurve::start(&segment));
            kurbo::flatten([start, segment.as_path_el()], tolerance, |element| {
                // The end of a segment is the start of the next one.
                if let PathEl::MoveTo(point) | PathEl::LineTo(point) = element {
                    points.push(point);
                }
            });
            points.pop();
        }
        points
    };
    panel.contours().map(flatten).collect()
}
