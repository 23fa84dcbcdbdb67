// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is written is read again, and what is malformed is named.

use super::{parse, text};
use crate::{
    pattern::{
        Contour, Curve, Edge, Format, Notch, NotchKind, Panel, Pattern, Placement, Run, Stitch,
    },
    vec3::Vec3,
};
use kurbo::Point;
use nalgebra::UnitQuaternion;
use proptest::prelude::*;

fn contour(points: &[(f64, f64)], curves: Vec<Curve>) -> Contour {
    Contour {
        points: points.iter().copied().map(Point::from).collect(),
        edges: curves.into_iter().map(Edge::new).collect(),
    }
}

/// A pattern that uses every field.
fn everything(angles: [f64; 3], grain: f64) -> Pattern {
    let arc = |is_large| Curve::Arc { radius: 0.3, is_large, is_positive: !is_large };
    let points = [(0.0, 0.0), (0.4, 0.0), (0.45, 0.5), (0.2, 0.6), (0.0, 0.5)];
    let curves = vec![
        Curve::Line,
        Curve::Quadratic(Point::new(0.5, 0.2)),
        arc(false),
        Curve::Cubic(Point::new(0.1, 0.62), Point::new(0.02, 0.55)),
        Curve::Polyline(vec![Point::new(-0.01, 0.3), Point::new(-0.015, 0.1)]),
    ];
    let mut panel = Panel::new("front", contour(&points, curves));
    panel.outline.edges[1].label = Some("side".to_owned());
    panel.cutouts = vec![contour(&[(0.1, 0.2), (0.2, 0.2), (0.2, 0.3)], vec![Curve::Line; 3])];
    panel.internal_lines = vec![contour(&[(0.1, 0.1), (0.3, 0.1)], vec![Curve::Line])];
    panel.notches = vec![Notch { edge: 1, position: 0.25, depth: 0.004, kind: NotchKind::T }];
    panel.grain = grain;
    panel.placement = Placement {
        rotation: UnitQuaternion::from_euler_angles(angles[0], angles[1], angles[2]),
        translation: Vec3::new(0.1, -0.2, 1.3),
    };
    panel.edge_length = Some(0.007);
    panel.fabric = Some("denim".to_owned());
    panel.label = Some("body".to_owned());
    let mut back = panel.clone();
    back.name = "back".to_owned();
    let stitch = Stitch {
        runs: [
            Run { panel: 0, cutout: None, edges: vec![1, 2] },
            Run { panel: 1, cutout: None, edges: vec![4] },
        ],
        is_reversed: false,
        ratio: Some(1.25),
        label: Some("shoulder".to_owned()),
    };
    let hole = Run { panel: 0, cutout: Some(0), edges: vec![0] };
    Pattern {
        panels: vec![panel, back],
        stitches: vec![stitch, Stitch::between(hole, Run::edge(1, 0))],
    }
}

fn assert_close(one: &Pattern, other: &Pattern) {
    for (first, second) in one.panels.iter().zip(&other.panels) {
        for (one, other) in first.contours().zip(second.contours()) {
            assert_eq!(one.edges.len(), other.edges.len());
            for (one, other) in one.all_segments().zip(other.all_segments()) {
                assert!(one.to_cubic().p0.distance(other.to_cubic().p0) < 1e-9);
                assert!(one.to_cubic().p2.distance(other.to_cubic().p2) < 1e-9);
            }
        }
        let (place, again) = (first.placement, second.placement);
        assert!((place.translation - again.translation).norm() < 1e-12);
        assert!(place.rotation.angle_to(&again.rotation) < 1e-7);
        assert!((first.grain - second.grain).abs() < 1e-12);
        let rest = |panel: &Panel| {
            let notch = panel.notches[0];
            let edge = panel.outline.edges[1].label.clone();
            (
                panel.name.clone(),
                panel.fabric.clone(),
                panel.label.clone(),
                notch.edge,
                notch.kind,
                edge,
            )
        };
        assert_eq!(rest(first), rest(second));
        assert!((first.notches[0].depth - second.notches[0].depth).abs() < 1e-12);
        assert_eq!(first.internal_lines.len(), second.internal_lines.len());
        assert!((first.edge_length.unwrap() - second.edge_length.unwrap()).abs() < 1e-12);
    }
    assert_eq!(one.stitches, other.stitches);
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(angles in prop::array::uniform3(-3.0..3.0_f64), grain in -3.0..3.0_f64) {
        let pattern = everything(angles, grain);
        assert_close(&pattern, &parse(&text(&pattern).unwrap()).unwrap());
    }
}

/// A file of one square panel, with changes to its text.
fn square(edges: &str, more: &str, stitches: &str, properties: &str) -> String {
    format!(
        r#"{{"pattern": {{"panels": {{"a": {{"translation": [0, 100, 20], "rotation": [0, 90, 0],
            "vertices": [[0, 0], [10, 0], [10, 10], [0, 10]], "edges": [{edges}]{more}}}}},
            "stitches": [{stitches}]}}, "properties": {{{properties}}}}}"#
    )
}

const EDGES: &str =
    r#"{"endpoints": [0, 1]}, {"endpoints": [1, 2]}, {"endpoints": [2, 3]}, {"endpoints": [3, 0]}"#;

#[test]
fn lengths_and_axes_are_those_of_the_file() {
    let pattern = parse(&square(EDGES, "", "", r#""units_in_meter": 100"#)).unwrap();
    let placed = pattern.panels[0].placement.placed(Point::new(0.1, 0.05));
    // Turned about y, x points to −z of the file, which is our +y.
    assert!((placed - Vec3::new(0.0, 0.1 - 0.2, 1.05)).norm() < 1e-12, "{placed}");
    let millimetres = parse(&square(EDGES, "", "", r#""units_in_meter": 1000"#)).unwrap();
    assert!((millimetres.panels[0].outline.length(0) - 0.01).abs() < 1e-12);
}

#[test]
fn curves_are_relative_to_their_edge_or_absolute() {
    let edges =
        EDGES.replacen('}', r#", "curvature": {"type": "quadratic", "params": [[0.5, 0.2]]}}"#, 1);
    let old = EDGES.replacen('}', r#", "curvature": [0.5, 0.2]}"#, 1);
    for text in [edges, old] {
        assert_control(&parse(&square(&text, "", "", "")).unwrap());
    }
    let absolute = EDGES.replacen('}', r#", "curvature": [5, 2]}"#, 1);
    assert_control(
        &parse(&square(&absolute, "", "", r#""curvature_coords": "absolute""#)).unwrap(),
    );
}

#[track_caller]
fn assert_control(pattern: &Pattern) {
    let curve = &pattern.panels[0].outline.edges[0].curve;
    let Curve::Quadratic(control) = curve else { panic!("{curve:?}") };
    assert!(control.distance(Point::new(0.05, 0.02)) < 1e-12);
}

#[test]
fn right_to_wrong_side_keeps_the_direction() {
    let side = r#"{"panel": "a", "edge": 0}, {"panel": "a", "edge": 2}"#;
    let plain = parse(&square(EDGES, "", &format!("[{side}]"), "")).unwrap();
    assert!(plain.stitches[0].is_reversed);
    let turned = parse(&square(EDGES, "", &format!(r#"[{side}, "right_wrong"]"#), "")).unwrap();
    assert!(!turned.stitches[0].is_reversed);
}

#[test]
fn a_centred_panel_stays_where_it_is() {
    let plain = parse(&square(EDGES, "", "", "")).unwrap();
    let text = square(EDGES, "", "", r#""normalize_panel_translation": true"#).replace("90", "0");
    let centred = parse(&text).unwrap();
    assert_eq!(centred.panels[0].outline.points[0], Point::new(-0.05, -0.05));
    let corner = centred.panels[0].placement.placed(Point::new(-0.05, -0.05));
    assert!((corner - plain.panels[0].placement.translation).norm() < 1e-12);
}

#[track_caller]
fn assert_refused(text: &str, wanted: &str) {
    let error = parse(text).unwrap_err().to_string();
    assert!(error.contains(wanted), "{error}");
}

#[test]
fn what_is_malformed_is_named_by_panel_and_edge() {
    let edges = |from: &str, to: &str| square(&EDGES.replace(from, to), "", "", "");
    assert_refused("{", "pattern: ");
    assert_refused("[1]", "pattern: ");
    assert_refused(&edges("[1, 2]", "[1, 7]"), "panel \"a\": edge 1: endpoint 7");
    assert_refused(
        &edges("[1, 2]", "[2, 3]"),
        "panel \"a\": edge 1: starts at vertex 2: the outline is open",
    );
    assert_refused(
        &edges("[3, 0]", "[3, 1]"),
        "panel \"a\": edge 3: the outline is open behind it",
    );
    assert_refused(&edges("[1, 2]", "[1]"), "panel \"a\": edge 1: ");
    assert_refused(&edges("[1, 2]", "\"x\""), "panel \"a\": edge 1: ");
    assert_refused(&square("", "", "", ""), "panel \"a\": no edge in the outline");
    let curve = r#"[0, 1], "curvature": {"type": "spiral", "params": [1]}"#;
    assert_refused(&edges("[0, 1]", curve), "panel \"a\": edge 0: ");
    let notch = r#", "notches": [{"edge": 9, "position": 0.5}]"#;
    assert_refused(&square(EDGES, notch, "", ""), "panel \"a\": a notch at edge 9");
    let kind = r#", "notches": [{"edge": 0, "position": 0.5, "kind": "Z"}]"#;
    assert_refused(&square(EDGES, kind, "", ""), "notch of panel \"a\": \"Z\"");
    let open = r#", "cutouts": [{"vertices": [[1, 1], [2, 1]], "edges": [{"endpoints": [0, 1]}]}]"#;
    assert_refused(&square(EDGES, open, "", ""), "panel \"a\": edge 0: the cut-out is open");
    let sides = r#"[{"panel": "a", "edge": 0}, {"panel": "b", "edge": 0}]"#;
    assert_refused(
        &square(EDGES, "", sides, ""),
        "stitch 0: \"b\" does not exist here; there is a",
    );
    assert_refused(&square(EDGES, "", r#"[{"panel": "a"}]"#, ""), "stitches: stitch 0: 1 parts");
    assert_refused(&square(EDGES, "", "", r#""units_in_meter": 0"#), "units_in_meter: 0");
    assert_refused(
        &square(EDGES, "", "", r#""curvature_coords": "polar""#),
        "curvature_coords: \"polar\"",
    );
    let order =
        square(EDGES, "", "", "").replace(r#""stitches""#, r#""panel_order": ["b"], "stitches""#);
    assert_refused(&order, "panel_order: \"b\"");
}

#[test]
fn a_reference_to_nothing_is_refused_by_every_writer() {
    type Change = fn(&mut Pattern);
    let written = |pattern: &Pattern| [Format::Json, Format::Svg].map(|form| pattern.text(form));
    let changes: [(Change, &str); 4] = [
        (|pattern| pattern.stitches[0].runs[1].panel = 2, "stitches"),
        (|pattern| pattern.stitches[1].runs[0].cutout = Some(7), "stitches"),
        (|pattern| pattern.stitches[0].runs[0].edges.push(99), "99"),
        (|pattern| pattern.panels[1].notches[0].edge = 98, "panel \"back\""),
    ];
    for (change, wanted) in changes {
        let mut pattern = everything([0.1, 0.2, 0.3], 1.0);
        assert!(written(&pattern).iter().all(Result::is_ok));
        change(&mut pattern);
        for text in written(&pattern) {
            let message = text.expect_err("a writer took it").to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }
}
