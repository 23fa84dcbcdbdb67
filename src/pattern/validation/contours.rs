// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names, numbers and contours of the panels.

use super::{Finding, FindingKind, Findings, PatternLimits, Place, Severity};
use crate::pattern::{Contour, Curve, Panel};
use kurbo::{Point, Rect};
use robust::{Coord, orient2d};

/// A straight piece of a contour.
#[derive(Clone, Copy)]
struct Piece {
    cutout: Option<usize>,
    edge: usize,
    from: Point,
    to: Point,
}

impl Piece {
    fn bounds(&self) -> Rect {
        Rect::from_points(self.from, self.to)
    }
}

impl Findings<'_> {
    pub(super) fn check_contours(&mut self, edge_length: f64) {
        if self.pattern.panels.is_empty() {
            let message = "no panel; wanted one or more".to_owned();
            self.add(FindingKind::Empty, Severity::Error, Place::default(), message);
        }
        for (index, panel) in self.pattern.panels.iter().enumerate() {
            let place = Place { panel: Some(index), ..Place::default() };
            if self.pattern.panels[..index].iter().any(|other| other.name == panel.name) {
                let message = "the name of another panel; wanted one of its own".to_owned();
                self.add(FindingKind::DuplicateName, Severity::Error, place, message);
            }
            let edge_length = panel.edge_length.unwrap_or(edge_length);
            let tiny = PatternLimits::DEFAULT.tiny_edge * edge_length;
            if self.check_numbers(place, panel) && self.check_edges(place, panel, edge_length) {
                self.check_crossings(place, panel);
                self.check_inside(place, panel, tiny);
            }
        }
    }

    /// Whether all numbers of a panel can be used.
    fn check_numbers(&mut self, place: Place, panel: &Panel) -> bool {
        let before = self.found.len();
        let mut refuse = |place: Place, message: &str| {
            self.add(FindingKind::Value, Severity::Error, place, message.to_owned());
        };
        for (place, contour) in contours(place, panel) {
            if let Some(edge) = (0..contour.edges.len()).find(|edge| !is_finite(contour, *edge)) {
                refuse(
                    Place { edge: Some(edge), ..place },
                    "a coordinate that is not finite, or a radius that is not more than 0",
                );
            }
        }
        let placement = panel.placement;
        if !(placement.translation.iter().chain(placement.rotation.coords.iter()))
            .all(|x| x.is_finite())
        {
            refuse(place, "a placement that is not finite");
        }
        if !panel.grain.is_finite() {
            refuse(place, "a grain that is not finite");
        }
        if panel.edge_length.is_some_and(|length| !(length.is_finite() && length > 0.0)) {
            refuse(place, "an edge length that is no number more than 0");
        }
        for notch in &panel.notches {
            if notch.edge >= panel.outline.edges.len() || !(0.0..=1.0).contains(&notch.position) {
                refuse(
                    Place { edge: Some(notch.edge), ..place },
                    "a notch off the edge; wanted a position of 0 to 1",
                );
            }
        }
        self.found.len() == before
    }

    /// Whether all edges have a length and enclose an area.
    fn check_edges(&mut self, place: Place, panel: &Panel, edge_length: f64) -> bool {
        let before = self.errors();
        let tiny = PatternLimits::DEFAULT.tiny_edge * edge_length;
        for (place, contour) in contours(place, panel) {
            for edge in 0..contour.edges.len() {
                let (length, place) = (contour.length(edge), Place { edge: Some(edge), ..place });
                if length <= 0.0 {
                    let message = "no length; wanted two ends apart".to_owned();
                    self.add(FindingKind::Degenerate, Severity::Error, place, message);
                } else if length < tiny {
                    let message = format!(
                        "{:.2} mm long, which a mesh of {:.0} mm merges with the next",
                        length * 1e3,
                        edge_length * 1e3
                    );
                    self.add(FindingKind::TinyEdge, Severity::Warning, place, message);
                }
            }
            let is_flat = contour.signed_area().abs() <= tiny * tiny;
            if contour.edges.len() < 2 || is_flat {
                let message = "encloses no area; wanted a closed contour around some".to_owned();
                self.add(FindingKind::Degenerate, Severity::Error, place, message);
            }
        }
        self.errors() == before
    }

    fn errors(&self) -> usize {
        self.found.iter().filter(|found: &&Finding| found.severity == Severity::Error).count()
    }

    /// Edges of the outline and of cut-outs that cross or touch others, each pair once.
    fn check_crossings(&mut self, place: Place, panel: &Panel) {
        let pieces = pieces(panel);
        let mut reported = Vec::new();
        for (index, first) in pieces.iter().enumerate() {
            for (offset, second) in pieces[index + 1..].iter().enumerate() {
                let is_next = are_consecutive(&pieces, index, index + 1 + offset);
                let Some(kind) = conflict(first, second, is_next) else { continue };
                let pair = (first.cutout, first.edge, second.cutout, second.edge);
                if reported.contains(&pair) {
                    continue;
                }
                reported.push(pair);
                let place = Place { cutout: first.cutout, edge: Some(first.edge), ..place };
                let message = conflict_message(kind, first, second);
                self.add(kind, Severity::Error, place, message);
            }
        }
    }

    fn check_inside(&mut self, place: Place, panel: &Panel, tiny: f64) {
        let outline = polygon(&panel.outline);
        for (index, cutout) in panel.cutouts.iter().enumerate() {
            if !encloses(&outline, cutout.points[0]) {
                let place = Place { cutout: Some(index), ..place };
                let message = "outside the outline; wanted inside".to_owned();
                self.add(FindingKind::Outside, Severity::Error, place, message);
            }
        }
        for (index, line) in panel.internal_lines.iter().enumerate() {
            let end = line.points[line.points.len() - 1];
            let points: Vec<Point> =
                (0..line.edges.len()).flat_map(|edge| line.flattened(edge)).chain([end]).collect();
            let middles = points.windows(2).map(|pair| pair[0].midpoint(pair[1]));
            let is_off = |point: &Point| {
                let nearest = panel.outline.nearest(*point);
                !encloses(&outline, *point) && nearest.is_none_or(|near| near.distance > tiny)
            };
            let is_outside = middles.chain(points.iter().copied()).any(|point| is_off(&point));
            if is_outside {
                let message = format!(
                    "internal line {index} leaves the outline: only what is inside is meshed"
                );
                self.add(FindingKind::Outside, Severity::Warning, place, message);
            }
        }
    }
}

/// Outline and cut-outs with their places.
fn contours(place: Place, panel: &Panel) -> impl Iterator<Item = (Place, &Contour)> {
    panel
        .contours()
        .enumerate()
        .map(move |(index, contour)| (Place { cutout: index.checked_sub(1), ..place }, contour))
}

fn is_finite(contour: &Contour, edge: usize) -> bool {
    let ends = contour.ends(edge);
    let shape = match &contour.edges[edge].curve {
        Curve::Line => true,
        Curve::Quadratic(control) => control.is_finite(),
        Curve::Cubic(first, second) => first.is_finite() && second.is_finite(),
        Curve::Arc { radius, .. } => radius.is_finite() && *radius > 0.0,
        Curve::Polyline(points) => points.iter().all(|point| point.is_finite()),
    };
    shape && ends.iter().all(|end| end.is_finite())
}

fn pieces(panel: &Panel) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (index, contour) in panel.contours().enumerate() {
        let points: Vec<(usize, Point)> = (0..contour.edges.len())
            .flat_map(|edge| contour.flattened(edge).into_iter().map(move |point| (edge, point)))
            .collect();
        for (place, (edge, from)) in points.iter().enumerate() {
            let to = points[(place + 1) % points.len()].1;
            pieces.push(Piece { cutout: index.checked_sub(1), edge: *edge, from: *from, to });
        }
    }
    pieces
}

/// Whether one piece starts where the other ends, along one contour.
fn are_consecutive(pieces: &[Piece], first: usize, second: usize) -> Option<bool> {
    let (one, other) = (&pieces[first], &pieces[second]);
    if one.cutout != other.cutout {
        return None;
    }
    let is_first = first == 0 || pieces[first - 1].cutout != one.cutout;
    let is_last = second + 1 == pieces.len() || pieces[second + 1].cutout != one.cutout;
    match (second == first + 1, is_first && is_last) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

/// How two pieces conflict. `forward` says of consecutive pieces whether the first one leads to the second.
fn conflict(first: &Piece, second: &Piece, forward: Option<bool>) -> Option<FindingKind> {
    match forward {
        Some(is_forward) => {
            let (before, after) = if is_forward { (first, second) } else { (second, first) };
            folds_back(before, after).then_some(FindingKind::Degenerate)
        }
        None => intersect(first, second).then_some(FindingKind::Crossing),
    }
}

fn folds_back(before: &Piece, after: &Piece) -> bool {
    let turn = orientation(before.from, before.to, after.to);
    turn == 0.0 && (before.to - before.from).dot(after.to - after.from) < 0.0
}

fn orientation(a: Point, b: Point, c: Point) -> f64 {
    let coord = |point: Point| Coord { x: point.x, y: point.y };
    orient2d(coord(a), coord(b), coord(c))
}

/// Whether two closed segments have a point in common, exactly.
fn intersect(first: &Piece, second: &Piece) -> bool {
    if !first.bounds().overlaps(second.bounds()) {
        return false;
    }
    let sides = |piece: &Piece, other: &Piece| {
        [other.from, other.to].map(|point| orientation(piece.from, piece.to, point))
    };
    let separates =
        |[one, other]: [f64; 2]| (one > 0.0 && other > 0.0) || (one < 0.0 && other < 0.0);
    // Collinear segments whose boxes overlap touch as well.
    !separates(sides(first, second)) && !separates(sides(second, first))
}

fn conflict_message(kind: FindingKind, first: &Piece, second: &Piece) -> String {
    let other = match second.cutout {
        _ if (first.cutout, first.edge) == (second.cutout, second.edge) => "itself".to_owned(),
        Some(cutout) => format!("edge {} of cut-out {cutout}", second.edge),
        None => format!("edge {}", second.edge),
    };
    let near = first.from.midpoint(first.to);
    let verb = if kind == FindingKind::Crossing { "crosses or touches" } else { "folds back onto" };
    format!("{verb} {other} near ({:.4}, {:.4}) m", near.x, near.y)
}

fn polygon(contour: &Contour) -> Vec<Point> {
    (0..contour.edges.len()).flat_map(|edge| contour.flattened(edge)).collect()
}

/// Whether a polygon contains a point, by the parity of crossings.
pub(in crate::pattern) fn encloses(polygon: &[Point], point: Point) -> bool {
    let ends = polygon.iter().zip(polygon.iter().cycle().skip(1));
    let crossings = ends.filter(|(from, to)| {
        let (low, high) = if from.y < to.y { (from, to) } else { (to, from) };
        low.y <= point.y && point.y < high.y && orientation(**low, **high, point) > 0.0
    });
    crossings.count() % 2 == 1
}
