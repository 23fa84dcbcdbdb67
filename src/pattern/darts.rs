// SPDX-License-Identifier: MIT OR Apache-2.0
//! Darts: wedges that are cut out of an outline and sewn up, so that a flat panel bulges.

use super::{Arclength, Contour, Curve, Edge, Pattern, Run, Stitch, panel_by_name, panel_error};
use crate::error::Result;
use kurbo::{ParamCurve, ParamCurveArclen, PathSeg, Point};
use std::f64::consts::PI;

/// A wedge at an edge of an outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dart {
    /// Edge of the outline.
    pub edge: usize,
    /// Place of its middle along the edge: 0 at its start, 1 at its end, by arc length.
    pub position: f64,
    /// Width at the edge, in m.
    pub width: f64,
    /// Its tip, in m of the panel.
    pub tip: Point,
}

/// Edges that a dart adds to an outline: both legs, and the edge behind them.
const ADDED_EDGES: usize = 3;

impl Pattern {
    /// Cuts a dart into the outline of a panel and sews its legs together. The edge becomes two, with the legs between
    /// them; edges behind it are three numbers further on, in stitches as well.
    ///
    /// # Errors
    /// There is no such panel or edge, the dart does not fit into the edge, or a stitch sews that edge already.
    pub fn add_dart(&mut self, panel: &str, dart: &Dart) -> Result<()> {
        let index = panel_by_name(&self.panels, "panel", panel)?;
        let outline = &self.panels[index].outline;
        let refused =
            |found: String, wanted: &str| panel_error(panel, Some(dart.edge), found, wanted);
        if dart.edge >= outline.edges.len() {
            return Err(refused(
                "no such edge".to_owned(),
                &format!("one below {}", outline.edges.len()),
            ));
        }
        let length = outline.length(dart.edge);
        let [from, to] = [-0.5, 0.5].map(|side| dart.position * length + side * dart.width);
        let is_inside = dart.width > 0.0 && from > 0.0 && to < length;
        if !(is_inside && dart.tip.is_finite()) {
            let found = format!("a dart from {from} m to {to} m");
            return Err(refused(found, &format!("a dart between 0 and {length} m")));
        }
        let is_own = |run: &&Run| run.panel == index && run.cutout.is_none();
        let runs = self.stitches.iter().flat_map(|stitch| &stitch.runs);
        if runs.filter(is_own).any(|run| run.edges.contains(&dart.edge)) {
            return Err(refused(
                "sewn already".to_owned(),
                "an edge in no stitch, to be sewn in two",
            ));
        }
        self.panels[index].outline = with_legs(outline, dart, [from, to]);
        self.renumber(index, dart, [from / length, to / length]);
        let legs = [dart.edge + 1, dart.edge + 2].map(|edge| Run::edge(index, edge));
        let [first, second] = legs;
        self.stitches.push(Stitch::between(first, second));
        Ok(())
    }

    /// Numbers of edges behind a dart, and notches on its edge, which lies at `ends` (parts of the edge).
    fn renumber(&mut self, panel: usize, dart: &Dart, ends: [f64; 2]) {
        for run in self.stitches.iter_mut().flat_map(|stitch| &mut stitch.runs) {
            if run.panel == panel && run.cutout.is_none() {
                for edge in run.edges.iter_mut().filter(|edge| **edge > dart.edge) {
                    *edge += ADDED_EDGES;
                }
            }
        }
        let notches = &mut self.panels[panel].notches;
        notches.retain(|notch| {
            notch.edge != dart.edge || !(ends[0]..=ends[1]).contains(&notch.position)
        });
        for notch in notches {
            if notch.edge > dart.edge {
                notch.edge += ADDED_EDGES;
            } else if notch.edge == dart.edge && notch.position < ends[0] {
                notch.position /= ends[0];
            } else if notch.edge == dart.edge {
                notch.edge += ADDED_EDGES;
                notch.position = (notch.position - ends[1]) / (1.0 - ends[1]);
            }
        }
    }
}

fn with_legs(outline: &Contour, dart: &Dart, [from, to]: [f64; 2]) -> Contour {
    let edge = &outline.edges[dart.edge];
    let along = Arclength::new(outline.segments(dart.edge));
    let length = along.length();
    let part = |from: f64, to: f64| Edge {
        curve: part_of(outline, dart.edge, from, to),
        label: edge.label.clone(),
    };
    let mut cut = outline.clone();
    let leg = || Edge::new(Curve::Line);
    let pieces = [part(0.0, from), leg(), leg(), part(to, length)];
    cut.edges.splice(dart.edge..=dart.edge, pieces);
    let points = [along.at(from), dart.tip, along.at(to)];
    cut.points.splice(dart.edge + 1..=dart.edge, points);
    cut
}

/// Curve of the part of an edge between two lengths from its start, in m.
fn part_of(contour: &Contour, edge: usize, from: f64, to: f64) -> Curve {
    let segment = contour.segments(edge)[0];
    let cut = |segment: PathSeg| {
        let accuracy = 1e-9 * contour.length(edge);
        segment.subsegment(segment.inv_arclen(from, accuracy)..segment.inv_arclen(to, accuracy))
    };
    match &contour.edges[edge].curve {
        Curve::Line => Curve::Line,
        Curve::Polyline(points) => {
            Curve::Polyline(points_between(contour, edge, points, [from, to]))
        }
        Curve::Arc { radius, is_positive, .. } => {
            let is_large = to - from > PI * radius;
            Curve::Arc { radius: *radius, is_large, is_positive: *is_positive }
        }
        Curve::Quadratic(_) | Curve::Cubic(..) => match cut(segment) {
            PathSeg::Line(_) => Curve::Line,
            PathSeg::Quad(quad) => Curve::Quadratic(quad.p1),
            PathSeg::Cubic(cubic) => Curve::Cubic(cubic.p1, cubic.p2),
        },
    }
}

/// Points of a digitised edge between two lengths from its start, in m.
fn points_between(contour: &Contour, edge: usize, points: &[Point], ends: [f64; 2]) -> Vec<Point> {
    let mut before = contour.ends(edge)[0];
    let mut along = 0.0;
    let mut kept = Vec::new();
    for point in points {
        along += (*point - before).hypot();
        before = *point;
        if ends[0] < along && along < ends[1] {
            kept.push(*point);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Notch, NotchKind, Panel, validation::check};

    fn skirt() -> Pattern {
        let corners = [(0.0, 0.0), (0.4, 0.0), (0.4, 0.6), (0.0, 0.6)];
        let mut outline = Contour::polygon(corners.map(Point::from).to_vec(), true);
        outline.edges[2].curve = Curve::Quadratic(Point::new(0.2, 0.55));
        let mut panel = Panel::new("front", outline);
        panel.notches = [0.1, 0.5, 0.9]
            .map(|position| Notch { edge: 2, position, depth: 0.005, kind: NotchKind::Slit })
            .to_vec();
        Pattern {
            panels: vec![panel],
            stitches: vec![Stitch::between(Run::edge(0, 1), Run::edge(0, 3))],
        }
    }

    #[test]
    fn a_dart_takes_its_wedge_and_keeps_the_rest() {
        let mut pattern = skirt();
        let (area, length) =
            (pattern.panels[0].outline.signed_area(), pattern.panels[0].outline.length(2));
        let dart = Dart { edge: 2, position: 0.5, width: 0.03, tip: Point::new(0.2, 0.45) };
        pattern.add_dart("front", &dart).unwrap();
        let outline = &pattern.panels[0].outline;
        assert_eq!(outline.edges.len(), 7);
        assert!((outline.length(2) + outline.length(5) + 0.03 - length).abs() < 1e-6);
        let wedge = area - outline.signed_area();
        assert!((wedge - 0.5 * 0.03 * 0.125).abs() < 1e-4, "{wedge}");
        assert_eq!(pattern.stitches[0].runs[1].edges, [6]);
        assert_eq!(pattern.stitches[1].runs, [Run::edge(0, 3), Run::edge(0, 4)]);
        let [first, second] = pattern.seam_lengths(1);
        assert!((first - second).abs() < 1e-4);
        let places: Vec<usize> = pattern.panels[0].notches.iter().map(|notch| notch.edge).collect();
        assert_eq!(places, [2, 5], "the notch inside the dart is gone");
        assert!(check(&pattern, 0.02).is_ok());
    }

    #[test]
    fn a_dart_that_does_not_fit_is_refused() {
        let wide = Dart { edge: 2, position: 0.1, width: 0.2, tip: Point::new(0.2, 0.4) };
        let error = skirt().add_dart("front", &wide).unwrap_err().to_string();
        assert!(error.starts_with("panel \"front\": edge 2: a dart from"), "{error}");
        let sewn = Dart { edge: 1, position: 0.5, width: 0.02, tip: Point::new(0.2, 0.3) };
        let error = skirt().add_dart("front", &sewn).unwrap_err().to_string();
        assert!(error.contains("edge 1: sewn already"), "{error}");
    }
}
