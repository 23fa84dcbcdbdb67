// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages as Inkscape and others write them, and those of ours.

use super::{parse, text};
use crate::pattern::{Contour, Notch, NotchKind, Panel, Pattern, Run, Stitch, findings};
use kurbo::Point;
use std::f64::consts::FRAC_PI_4;

const INKSCAPE: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<svg width="210mm" height="297mm" viewBox="0 0 210 297" version="1.1" id="svg1"
   xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape"
   xmlns:sodipodi="http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd" xmlns="http://www.w3.org/2000/svg">
  <sodipodi:namedview id="namedview1" inkscape:document-units="mm"/>
  <defs id="defs1"><path id="unused" d="M 0,0 H 9 V 9 Z"/></defs>
  <g inkscape:label="Layer 1" inkscape:groupmode="layer" id="layer1" transform="translate(10,20)">
    <path style="fill:none;stroke:#000000" id="path1" inkscape:label="front"
       d="m 0,0 h 100 v 150 c -30,10 -70,10 -100,0 z"/>
    <rect id="rect1" inkscape:label="back" x="110" y="0" width="80" height="150"/>
    <path id="hidden" style="display:none" d="M 0,0 H 5 V 5 Z"/>
  </g>
  <g inkscape:label="grain" id="layer2"><path id="path2" d="M 60,60 V 130"/></g>
  <g inkscape:label="notches" id="layer3"><path id="path3" d="M 110,100 h -5"/></g>
  <g inkscape:label="cutouts" id="layer4"><circle id="c" cx="50" cy="60" r="8"/></g>
  <g inkscape:label="internal" id="layer5"><path id="path5" d="M 20,40 L 100,40"/></g>
  <g inkscape:label="seams" id="layer6">
    <path id="path6" style="stroke:#ff0000" d="M 110,20 V 170"/>
    <path id="path7" style="fill:none;stroke:#ff0000;stroke-width:1" d="M 120,20 V 170"/>
  </g>
</svg>"#;

#[test]
fn a_page_of_inkscape_is_read_with_its_layers() {
    let pattern = parse(INKSCAPE).unwrap();
    let names: Vec<&str> = pattern.panels.iter().map(|panel| panel.name.as_str()).collect();
    assert_eq!(names, ["front", "back"]);
    let front = &pattern.panels[0];
    assert_eq!(front.outline.edges.len(), 4);
    assert!(
        (front.outline.length(0) - 0.1).abs() < 1e-9
            && (front.outline.length(1) - 0.15).abs() < 1e-9
    );
    assert!((front.grain + std::f64::consts::FRAC_PI_2).abs() < 1e-9, "drawn downward");
    assert_eq!((front.cutouts.len(), front.internal_lines.len()), (1, 1));
    assert!((front.cutouts[0].signed_area().abs() - std::f64::consts::PI * 64e-6).abs() < 1e-9);
    let notch = front.notches[0];
    assert_eq!(notch.edge, 1);
    assert!((notch.position - 80.0 / 150.0).abs() < 1e-6 && (notch.depth - 0.005).abs() < 1e-9);
    let stitch = &pattern.stitches[0];
    assert_eq!(stitch.runs, [Run::edge(0, 1), Run::edge(1, 3)]);
    assert!(stitch.is_reversed, "both are drawn downward, one along and one against its outline");
    assert_eq!(findings(&pattern, 0.01), []);
}

#[test]
fn units_are_those_of_the_page() {
    let square = |page: &str| {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" {page}><path id=\"a\" d=\"M0 0H96V96H0Z\"/></svg>"
        );
        parse(&text).unwrap().panels[0].outline.length(0)
    };
    for (page, length) in [
        ("", 0.0254),
        ("width=\"96mm\" viewBox=\"0 0 96 96\"", 0.096),
        ("width=\"10in\" viewBox=\"0 0 960 960\"", 0.0254),
        ("height=\"9.6cm\" viewBox=\"0 0 96 96\"", 0.096),
        ("width=\"100%\" viewBox=\"0 0 96 96\"", 0.0254),
    ] {
        assert!((square(page) - length).abs() < 1e-12, "{page}");
    }
}

#[test]
fn what_is_written_is_read_again() {
    let corners = [(0.0, 0.0), (0.3, 0.0), (0.3, 0.4), (0.1, 0.5), (0.0, 0.4)];
    let panel = |name: &str| {
        let mut panel = Panel::new(name, Contour::polygon(corners.map(Point::from).to_vec(), true));
        panel.notches =
            vec![Notch { edge: 1, position: 0.25, depth: 0.006, kind: NotchKind::Slit }];
        panel.cutouts = vec![Contour::polygon(
            [(0.1, 0.1), (0.2, 0.1), (0.15, 0.2)].map(Point::from).to_vec(),
            true,
        )];
        panel.grain = FRAC_PI_4;
        panel
    };
    let stitches = vec![
        Stitch {
            runs: [
                Run { panel: 0, cutout: None, edges: vec![2, 3] },
                Run { panel: 1, cutout: None, edges: vec![4] },
            ],
            is_reversed: false,
            ratio: None,
            label: Some("shoulder & neck".to_owned()),
        },
        Stitch::between(Run::edge(0, 0), Run { panel: 1, cutout: Some(0), edges: vec![2, 0] }),
    ];
    let pattern = Pattern { panels: vec![panel("left <1>"), panel("right")], stitches };
    let again = parse(&text(&pattern)).unwrap();
    for (one, other) in pattern.panels.iter().zip(&again.panels) {
        assert_eq!(one.name, other.name);
        for edge in 0..5 {
            assert!((one.outline.length(edge) - other.outline.length(edge)).abs() < 1e-9);
        }
        assert!((one.outline.signed_area() - other.outline.signed_area()).abs() < 1e-9);
        assert!((one.grain - other.grain).abs() < 1e-9);
        assert!((one.notches[0].position - other.notches[0].position).abs() < 1e-6);
        assert!((one.notches[0].depth - other.notches[0].depth).abs() < 1e-9);
        assert_eq!(other.cutouts.len(), 1);
    }
    for (one, other) in pattern.stitches.iter().zip(&again.stitches) {
        assert_eq!((&one.runs, one.is_reversed), (&other.runs, other.is_reversed));
    }
    assert_eq!(again.stitches[0].label.as_deref(), Some("shoulder & neck"));
}

#[test]
fn a_stitch_of_no_edge_is_left_out() {
    let panel = Panel::new(
        "a",
        Contour::polygon([(0.0, 0.0), (0.1, 0.0), (0.1, 0.1)].map(Point::from).to_vec(), true),
    );
    let stitches = vec![Stitch::between(Run::edge(0, 9), Run::edge(0, 1))];
    let pattern = Pattern { panels: vec![panel], stitches };
    assert!(text(&pattern).contains("id=\"a\""));
    assert!(pattern.seam_lengths(0)[0].abs() < 1e-12);
}

#[track_caller]
fn assert_refused(body: &str, wanted: &str) {
    let error = parse(&format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{body}</svg>"))
        .unwrap_err()
        .to_string();
    assert!(error.contains(wanted), "{error}");
}

#[test]
fn what_is_malformed_is_named() {
    let square = r#"<path id="a" d="M0 0H96V96H0Z"/>"#;
    assert_refused("", "svg: no closed path");
    assert_refused(r#"<path id="a" d="M0 0 H9"/>"#, "svg: no closed path");
    assert_refused(r#"<path id="a" d="M0 0 Q"/>"#, "<path> \"a\": d: \"M0 0 Q\"");
    assert_refused(r#"<g transform="turn(3)"/>"#, "<g> \"\": transform");
    assert_refused(
        &format!(r#"{square}<path id="grain" d="M200 200H300"/>"#),
        "<path> \"grain\": in no closed path",
    );
    assert_refused(
        &format!(r#"{square}<path class="cut" id="c" d="M20 20H30V30"/>"#),
        "<path> \"c\": an open cut-out",
    );
    assert_refused(&format!(r#"{square}<path data-seam="A" d="M0 0H96"/>"#), "seam \"A\": 1 paths");
    let twice = r#"<path data-seam="A" d="M0 0H96"/><path data-seam="A" d="M0 0H50"/>"#;
    assert_refused(&format!("{square}{twice}"), "seam \"A\": a path from");
    assert!(parse("<html/>").is_err() && parse("no page").is_err());
}
