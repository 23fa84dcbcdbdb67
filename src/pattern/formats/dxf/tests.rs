// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files by hand, in inches and millimetres.

use super::parse;
use crate::pattern::{Curve, NotchKind, findings};
use std::{f64::consts::PI, fmt::Write as _};

/// A polyline of a layer.
fn polyline(layer: u32, is_closed: bool, points: &[(f64, f64)]) -> String {
    let mut text = format!("0\nPOLYLINE\n8\n{layer}\n66\n1\n70\n{}\n", u8::from(is_closed));
    for (x, y) in points {
        let _ = write!(text, "0\nVERTEX\n8\n{layer}\n10\n{x}\n20\n{y}\n");
    }
    text + "0\nSEQEND\n"
}

fn point(layer: u32, x: f64, y: f64) -> String {
    format!("0\nPOINT\n8\n{layer}\n10\n{x}\n20\n{y}\n30\n2.0\n")
}

fn block(name: &str, entities: &str) -> String {
    format!("0\nBLOCK\n8\n0\n2\n{name}\n70\n0\n10\n0\n20\n0\n{entities}0\nENDBLK\n")
}

fn file(blocks: &str, units: &str) -> String {
    format!(
        "999\nby hand\n0\nSECTION\n2\nBLOCKS\n{blocks}0\nENDSEC\n0\nSECTION\n2\nENTITIES\n\
         0\nTEXT\n8\n1\n10\n0\n20\n0\n40\n1\n1\nUnits: {units}\n0\nENDSEC\n0\nEOF\n"
    )
}

const CORNERS: [(f64, f64); 4] = [(0.0, 0.0), (200.0, 0.0), (200.0, 300.0), (0.0, 300.0)];

#[test]
fn a_piece_has_its_layers() {
    let text = "0\nTEXT\n8\n1\n1\nPiece Name: FRONT\n";
    let entities = [
        polyline(1, true, &CORNERS),
        polyline(11, true, &[(50.0, 50.0), (80.0, 50.0), (80.0, 90.0)]),
        polyline(8, false, &[(20.0, 200.0), (180.0, 200.0)]),
        polyline(7, false, &[(100.0, 100.0), (150.0, 100.0)]),
        point(4, 200.0, 75.0),
        point(80, 50.0, 300.0),
    ];
    let pattern =
        parse(&file(&block("P1", &(text.to_owned() + &entities.concat())), "METRIC")).unwrap();
    let panel = &pattern.panels[0];
    assert_eq!((panel.name.as_str(), panel.outline.edges.len()), ("FRONT", 4));
    assert!((panel.outline.signed_area() - 0.06).abs() < 1e-12);
    assert_eq!((panel.cutouts.len(), panel.internal_lines.len()), (1, 1));
    assert!(panel.grain.abs() < 1e-12);
    let notches: Vec<_> = panel.notches.iter().map(|n| (n.edge, n.kind)).collect();
    assert_eq!(notches, [(1, NotchKind::V), (2, NotchKind::T)]);
    assert!(
        (panel.notches[0].position - 0.25).abs() < 1e-9
            && (panel.notches[0].depth - 0.002).abs() < 1e-12
    );
    assert_eq!(findings(&pattern, 0.01), []);
}

#[test]
fn inches_are_read_as_such() {
    let entities = polyline(1, true, &[(0.0, 0.0), (10.0, 0.0), (10.0, 5.0), (0.0, 5.0)]);
    let pattern = parse(&file(&block("P1", &entities), "ENGLISH")).unwrap();
    assert!((pattern.panels[0].outline.length(0) - 0.254).abs() < 1e-12);
}

#[test]
fn turn_points_end_edges_and_other_points_are_a_curve() {
    let arc: Vec<(f64, f64)> = (0..=20)
        .map(|k| f64::from(k) / 20.0 * PI)
        .map(|angle| (100.0 + 100.0 * angle.cos(), 300.0 + 100.0 * angle.sin()))
        .collect();
    let points = [&CORNERS[..2], &arc[..]].concat();
    let turns: String = CORNERS.iter().map(|(x, y)| point(2, *x, *y)).collect();
    for entities in [polyline(1, true, &points) + &turns, polyline(1, true, &points)] {
        let pattern = parse(&file(&block("P1", &entities), "METRIC")).unwrap();
        let outline = &pattern.panels[0].outline;
        assert_eq!(
            outline.edges.len(),
            4 - usize::from(!entities.contains("POINT")) * 2,
            "{:?}",
            outline.points
        );
        assert!(outline.edges.iter().any(|edge| matches!(edge.curve, Curve::Polyline(_))));
        assert!((outline.signed_area() - (0.06 + PI * 0.005)).abs() < 1e-4);
    }
}

#[test]
fn sharp_turns_end_edges_where_no_turn_points_do() {
    let entities =
        polyline(1, true, &[(0.0, 0.0), (100.0, 4.0), (200.0, 0.0), (200.0, 300.0), (0.0, 300.0)]);
    let pattern = parse(&file(&block("P1", &entities), "METRIC")).unwrap();
    assert_eq!(pattern.panels[0].outline.edges.len(), 4, "4.6 degrees are no corner");
}

#[test]
fn the_sewing_line_is_the_outline_where_there_is_one() {
    let inner = [(10.0, 10.0), (190.0, 10.0), (190.0, 290.0), (10.0, 290.0)];
    let entities = polyline(1, true, &CORNERS) + &polyline(14, true, &inner);
    let pattern = parse(&file(&block("P1", &entities), "METRIC")).unwrap();
    assert!((pattern.panels[0].outline.signed_area() - 0.18 * 0.28).abs() < 1e-12);
}

#[test]
fn sewing_lines_are_joined() {
    let sides = [[0, 1], [3, 2], [1, 2], [3, 0]]
        .map(|ends| polyline(14, false, &ends.map(|end| CORNERS[end])));
    let pattern = parse(&file(&block("P1", &sides.concat()), "METRIC")).unwrap();
    assert!((pattern.panels[0].outline.signed_area() - 0.06).abs() < 1e-12);
    assert_eq!(pattern.panels[0].outline.edges.len(), 4);
}

#[test]
fn a_half_piece_is_unfolded_along_its_mirror_line() {
    let half = [(0.0, 0.0), (100.0, 0.0), (80.0, 300.0), (0.0, 260.0)];
    let entities = [
        polyline(1, true, &half),
        polyline(6, false, &[(0.0, 0.0), (0.0, 260.0)]),
        polyline(11, true, &[(20.0, 50.0), (40.0, 50.0), (40.0, 90.0)]),
        point(4, 90.0, 150.0),
    ];
    let pattern = parse(&file(&block("P1", &entities.concat()), "METRIC")).unwrap();
    let panel = &pattern.panels[0];
    let twice_the_half = 0.1 * 0.3 + 0.08 * 0.26;
    assert!((panel.outline.signed_area().abs() - twice_the_half).abs() < 1e-12);
    let right: f64 = panel.outline.points.iter().map(|point| point.x).fold(f64::MIN, f64::max);
    let left: f64 = panel.outline.points.iter().map(|point| point.x).fold(f64::MAX, f64::min);
    assert!((right - 0.1).abs() < 1e-12 && (left + 0.1).abs() < 1e-12);
    assert_eq!((panel.cutouts.len(), panel.notches.len()), (2, 2));
    assert_eq!(findings(&pattern, 0.01), []);
}

#[test]
fn a_bulge_is_an_arc() {
    let text = polyline(1, true, &CORNERS).replacen(
        "10\n200\n20\n300\n",
        "10\n200\n20\n300\n42\n1.0\n",
        1,
    );
    let pattern = parse(&file(&block("P1", &text), "METRIC")).unwrap();
    let area = pattern.panels[0].outline.signed_area();
    assert!((area - (0.06 + PI * 0.005)).abs() < 2e-4, "{area}");
}

#[track_caller]
fn assert_refused(text: &str, wanted: &str) {
    let error = parse(text).unwrap_err().to_string();
    assert!(error.contains(wanted), "{error}");
}

#[test]
fn what_is_malformed_is_named() {
    let square = polyline(1, true, &CORNERS);
    assert_refused("", "dxf: no records");
    assert_refused("AutoCAD Binary DXF", "dxf: line 1: \"AutoCAD Binary DXF\"");
    assert_refused("0", "dxf: line 1: \"end of the file\"");
    assert_refused(&file("", "METRIC"), "dxf: no block with an outline");
    assert_refused(&file(&block("P1", &square), "FURLONG"), "dxf units: \"FURLONG\"");
    assert_refused(
        &file(&block("P1", &square), "").replace("Units", "Remark"),
        "dxf units: none stated",
    );
    assert_refused(
        &file(&block("P1", &square.replace("300", "x")), "METRIC"),
        "\"x\"; wanted a finite number",
    );
    let open = polyline(1, false, &CORNERS);
    assert_refused(
        &file(&block("P1", &open), "METRIC"),
        "panel \"P1\": a contour of layer 1 that is open between",
    );
    let away = square + &polyline(6, false, &[(500.0, 0.0), (500.0, 300.0)]);
    assert_refused(
        &file(&block("P1", &away), "METRIC"),
        "panel \"P1\": a mirror line off the outline",
    );
}
