// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each mistake, alone, with its panel and edge.

use super::*;
use crate::{
    pattern::{Contour, Curve, Edge, Notch, NotchKind, Panel, Run, Stitch},
    scene::Collider,
    vec3::Vec3,
};
use kurbo::Point;

fn panel(name: &str, corners: &[(f64, f64)]) -> Panel {
    Panel::new(name, Contour::polygon(corners.iter().copied().map(Point::from).collect(), true))
}

fn square(name: &str) -> Panel {
    panel(name, &[(0.0, 0.0), (0.3, 0.0), (0.3, 0.3), (0.0, 0.3)])
}

/// Two squares sewn along two edges each: a tube.
fn tube() -> Pattern {
    let sewn = |one, other| Stitch::between(Run::edge(0, one), Run::edge(1, other));
    Pattern {
        panels: vec![square("front"), square("back")],
        stitches: vec![sewn(1, 3), sewn(3, 1)],
    }
}

/// The only finding, with its place.
fn only(pattern: &Pattern) -> (FindingKind, Severity, Place, String) {
    let found = findings(pattern, 0.01);
    assert_eq!(found.len(), 1, "{found:?}");
    (found[0].kind, found[0].severity, found[0].place, found[0].to_string())
}

#[track_caller]
fn assert_only(pattern: &Pattern, kind: FindingKind, severity: Severity, start: &str) {
    let found = only(pattern);
    assert_eq!((found.0, found.1), (kind, severity));
    assert!(found.3.starts_with(start), "{}", found.3);
    assert_eq!(check(pattern, 0.01).is_err(), severity == Severity::Error);
}

#[test]
fn a_tube_has_no_mistakes() {
    assert_eq!(findings(&tube(), 0.01), []);
}

#[test]
fn no_panel_is_a_mistake() {
    assert_only(&Pattern::default(), FindingKind::Empty, Severity::Error, "pattern: no panel");
}

#[test]
fn a_name_of_two_panels_is_named() {
    let mut pattern = tube();
    pattern.panels[1].name = "front".to_owned();
    assert_only(
        &pattern,
        FindingKind::DuplicateName,
        Severity::Error,
        "panel \"front\": the name of",
    );
}

#[test]
fn values_that_cannot_be_used_are_named() {
    let mut broken = Vec::from([(); 5].map(|()| tube()));
    broken[0].panels[0].outline.points[2].x = f64::NAN;
    broken[1].panels[0].grain = f64::INFINITY;
    broken[2].panels[0].edge_length = Some(0.0);
    broken[3].panels[0].placement.translation.y = f64::NAN;
    broken[4].panels[0].notches =
        vec![Notch { edge: 1, position: 1.5, depth: 0.0, kind: NotchKind::Slit }];
    let starts = [
        "panel \"front\": edge 1",
        "panel \"front\": a grain",
        "panel \"front\": an edge length",
        "panel \"front\": a placement",
        "panel \"front\": edge 1: a notch",
    ];
    for (pattern, start) in broken.iter().zip(starts) {
        assert_only(pattern, FindingKind::Value, Severity::Error, start);
    }
}

#[test]
fn an_outline_that_crosses_itself_is_named_by_both_edges() {
    let bow = panel("bow", &[(0.0, 0.0), (0.3, 0.0), (0.0, 0.3), (0.25, 0.3)]);
    let pattern = Pattern { panels: vec![bow], stitches: vec![] };
    assert_only(
        &pattern,
        FindingKind::Crossing,
        Severity::Error,
        "panel \"bow\": edge 1: crosses or touches edge 3",
    );
}

#[test]
fn a_curve_that_crosses_another_edge_or_itself_is_named() {
    let mut deep = square("deep");
    deep.outline.edges[2].curve = Curve::Quadratic(Point::new(0.15, -0.4));
    let pattern = Pattern { panels: vec![deep], stitches: vec![] };
    assert_only(
        &pattern,
        FindingKind::Crossing,
        Severity::Error,
        "panel \"deep\": edge 0: crosses or touches edge 2",
    );
    let mut looped = square("looped");
    looped.outline.edges[2].curve = Curve::Cubic(Point::new(-0.4, 0.5), Point::new(0.7, 0.5));
    let pattern = Pattern { panels: vec![looped], stitches: vec![] };
    assert_only(
        &pattern,
        FindingKind::Crossing,
        Severity::Error,
        "panel \"looped\": edge 2: crosses or touches itself",
    );
}

#[test]
fn an_edge_that_touches_or_folds_back_is_named() {
    let touching = panel("t", &[(0.0, 0.0), (0.3, 0.0), (0.3, 0.3), (0.15, 0.0), (0.0, 0.3)]);
    let found = findings(&Pattern { panels: vec![touching], stitches: vec![] }, 0.01);
    assert!(found.iter().all(|found| found.kind == FindingKind::Crossing) && !found.is_empty());
    let folded = panel("f", &[(0.0, 0.0), (0.3, 0.0), (0.3, 0.4), (0.3, 0.3), (0.0, 0.3)]);
    let found = findings(&Pattern { panels: vec![folded], stitches: vec![] }, 0.01);
    assert!(found.iter().any(|found| found.kind == FindingKind::Degenerate), "{found:?}");
}

#[test]
fn an_edge_without_length_and_a_contour_without_area_are_named() {
    let doubled = panel("d", &[(0.0, 0.0), (0.3, 0.0), (0.3, 0.0), (0.3, 0.3)]);
    let pattern = Pattern { panels: vec![doubled], stitches: vec![] };
    assert_only(
        &pattern,
        FindingKind::Degenerate,
        Severity::Error,
        "panel \"d\": edge 1: no length",
    );
    let flat = panel("flat", &[(0.0, 0.0), (0.3, 0.0), (0.6, 0.0)]);
    let pattern = Pattern { panels: vec![flat], stitches: vec![] };
    assert_only(
        &pattern,
        FindingKind::Degenerate,
        Severity::Error,
        "panel \"flat\": encloses no area",
    );
}

#[test]
fn what_is_not_inside_the_outline_is_named() {
    let ring = |x: f64| {
        let arc = || Edge::new(Curve::Arc { radius: 0.05, is_large: false, is_positive: true });
        let points = vec![Point::new(x - 0.05, 0.15), Point::new(x + 0.05, 0.15)];
        Contour { points, edges: vec![arc(), arc()] }
    };
    let mut pattern = tube();
    pattern.panels[0].cutouts.push(ring(0.15));
    assert_eq!(findings(&pattern, 0.01), []);
    pattern.panels[0].cutouts[0] = ring(0.6);
    assert_only(
        &pattern,
        FindingKind::Outside,
        Severity::Error,
        "panel \"front\": cut-out 0: outside",
    );
    pattern.panels[0].cutouts[0] = ring(0.31);
    let crossing = findings(&pattern, 0.01);
    assert!(crossing.iter().any(|found| found.kind == FindingKind::Crossing));
    let mut pattern = tube();
    let ends = [(0.1, 0.1), (0.2, 0.1), (0.6, 0.1)].map(Point::from).to_vec();
    pattern.panels[0].internal_lines.push(Contour::polygon(ends, false));
    assert_only(
        &pattern,
        FindingKind::Outside,
        Severity::Warning,
        "panel \"front\": internal line 0",
    );
}

#[test]
fn a_tiny_edge_is_named_with_its_length() {
    let corners = [(0.0, 0.0), (0.3, 0.0), (0.3, 0.3), (0.001, 0.3), (0.0, 0.3)];
    let pattern = Pattern { panels: vec![panel("p", &corners)], stitches: vec![] };
    assert_only(
        &pattern,
        FindingKind::TinyEdge,
        Severity::Warning,
        "panel \"p\": edge 3: 1.00 mm long",
    );
    assert_eq!(findings(&pattern, 0.003), [], "not tiny for a finer mesh");
}

#[test]
fn an_edge_in_two_stitches_is_named() {
    let mut pattern = tube();
    pattern.stitches.push(Stitch::between(Run::edge(0, 0), Run::edge(1, 1)));
    let start = "stitch 2: panel \"back\": edge 1: in stitch 1, too";
    assert_only(&pattern, FindingKind::StitchedTwice, Severity::Error, start);
    let mut pattern = tube();
    pattern.stitches.push(Stitch::between(Run::edge(0, 0), Run::edge(0, 0)));
    let start = "stitch 2: panel \"front\": edge 0: on both sides";
    assert_only(&pattern, FindingKind::StitchedTwice, Severity::Error, start);
}

#[test]
fn a_run_without_edges_or_with_gaps_is_named() {
    let with = |run: Run| {
        let mut pattern = tube();
        pattern.stitches.push(Stitch::between(Run::edge(0, 0), run));
        pattern
    };
    let run = |panel, cutout, edges: &[usize]| Run { panel, cutout, edges: edges.to_vec() };
    let missing = FindingKind::MissingEdge;
    assert_only(
        &with(run(1, None, &[])),
        missing,
        Severity::Error,
        "stitch 2: panel \"back\": no edge",
    );
    assert_only(
        &with(run(1, None, &[4])),
        missing,
        Severity::Error,
        "stitch 2: panel \"back\": edge 4: no such",
    );
    assert_only(
        &with(run(1, Some(0), &[0])),
        missing,
        Severity::Error,
        "stitch 2: panel \"back\": cut-out 0: no such",
    );
    assert_only(&with(run(7, None, &[0])), missing, Severity::Error, "stitch 2: no such panel");
    let broken = with(run(1, None, &[0, 2]));
    assert_only(
        &broken,
        FindingKind::BrokenRun,
        Severity::Error,
        "stitch 2: panel \"back\": edge 0: not followed",
    );
}

#[test]
fn a_ratio_beyond_a_gather_is_an_error() {
    let sewn = |width: f64, ratio: Option<f64>| {
        let wide = panel("wide", &[(0.0, 0.0), (width, 0.0), (width, 0.3), (0.0, 0.3)]);
        let stitch = Stitch { ratio, ..Stitch::between(Run::edge(0, 0), Run::edge(1, 0)) };
        Pattern { panels: vec![wide, square("narrow")], stitches: vec![stitch] }
    };
    assert_eq!(findings(&sewn(0.4, None), 0.01), []);
    assert_eq!(findings(&sewn(0.75, Some(2.5)), 0.01), []);
    let start =
        "stitch 0: panel \"wide\": edge 0: 750.0 mm sewn to 300.0 mm, a ratio of 2.50 that is not";
    assert_only(&sewn(0.75, None), FindingKind::Ratio, Severity::Warning, start);
    let start =
        "stitch 0: panel \"wide\": edge 0: 1500.0 mm sewn to 300.0 mm, a ratio of 5.00; wanted";
    assert_only(&sewn(1.5, Some(5.0)), FindingKind::Ratio, Severity::Error, start);
}

#[test]
fn a_stated_ratio_is_compared() {
    let mut pattern = tube();
    pattern.stitches[0].ratio = Some(1.01);
    assert_eq!(findings(&pattern, 0.01), []);
    pattern.stitches[0].ratio = Some(1.3);
    let start =
        "stitch 0: panel \"front\": edge 1: 300.0 mm sewn to 300.0 mm, a ratio of 1.000, not 1.300";
    assert_only(&pattern, FindingKind::Ratio, Severity::Warning, start);
}

#[test]
fn a_direction_that_makes_a_mobius_band_is_named() {
    let mut pattern = tube();
    pattern.stitches[1].is_reversed = false;
    let start = "stitch 1: panel \"back\": edge 1: sewn to panel \"front\" in a direction";
    assert_only(&pattern, FindingKind::MobiusBand, Severity::Error, start);
    // With both seams turned the back shows its wrong side outward, all around.
    pattern.stitches[0].is_reversed = false;
    assert_eq!(findings(&pattern, 0.01), []);
    let ribbon = panel("ribbon", &[(0.0, 0.0), (0.5, 0.0), (0.5, 0.05), (0.0, 0.05)]);
    let stitch = Stitch { is_reversed: false, ..Stitch::between(Run::edge(0, 1), Run::edge(0, 3)) };
    let pattern = Pattern { panels: vec![ribbon], stitches: vec![stitch] };
    let start = "stitch 0: panel \"ribbon\": edge 3: sewn to panel \"ribbon\"";
    assert_only(&pattern, FindingKind::MobiusBand, Severity::Error, start);
}

#[test]
fn the_direction_of_a_hole_counts() {
    let hole = |is_clockwise: bool| {
        let mut corners = [(0.1, 0.1), (0.2, 0.1), (0.2, 0.2), (0.1, 0.2)];
        if is_clockwise {
            corners.reverse();
        }
        let mut panel = square("holed");
        panel.cutouts.push(Contour::polygon(corners.map(Point::from).to_vec(), true));
        panel
    };
    // A diamond dart: two sides of a hole of the same panel sewn together.
    for is_clockwise in [false, true] {
        let run = |edge| Run { panel: 0, cutout: Some(0), edges: vec![edge] };
        let stitch = Stitch::between(run(0), run(1));
        let pattern = Pattern { panels: vec![hole(is_clockwise)], stitches: vec![stitch] };
        assert_eq!(findings(&pattern, 0.01), []);
    }
    // A patch sewn into the hole: its outline runs as the hole does where both are counter-clockwise.
    let patched = |is_reversed: bool, is_clockwise: bool| {
        let run = |edges: &[usize]| Run { panel: 0, cutout: Some(0), edges: edges.to_vec() };
        let mut patch = square("patch");
        patch.outline = Contour::polygon(
            [(0.0, 0.0), (0.1, 0.0), (0.1, 0.1), (0.0, 0.1)].map(Point::from).to_vec(),
            true,
        );
        let sewn = |edge, is_reversed| Stitch {
            is_reversed,
            ..Stitch::between(run(&[edge]), Run::edge(1, edge))
        };
        let stitches = vec![sewn(0, is_reversed), sewn(2, is_reversed)];
        turns_over_all(&Pattern { panels: vec![hole(is_clockwise), patch], stitches })
    };
    assert!(!patched(false, false) && patched(true, false));
    assert!(patched(false, true) && !patched(true, true));
}

fn turns_over_all(pattern: &Pattern) -> bool {
    pattern.stitches.iter().all(|stitch| orientation::turns_over(pattern, stitch) == Some(true))
}

#[test]
fn a_panel_in_no_stitch_is_named() {
    let mut pattern = tube();
    pattern.panels.push(square("pocket"));
    assert_only(
        &pattern,
        FindingKind::Unstitched,
        Severity::Warning,
        "panel \"pocket\": in no stitch",
    );
}

#[test]
fn a_panel_far_from_every_collider_is_named() {
    let corners = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)].map(|(x, y)| Vec3::new(x, y, 0.0));
    let body = Collider::new(corners.to_vec(), &[[0, 1, 2]], 0.3, 0.001).unwrap();
    let mut pattern = tube();
    pattern.panels[1].placement.translation = Vec3::new(0.0, 0.0, 0.6);
    let found = far_panels(&pattern, &[&body]);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].kind, found[0].place.panel), (FindingKind::Far, Some(1)));
    pattern.panels[1].placement.translation.z = 0.4;
    assert_eq!(far_panels(&pattern, &[&body]), []);
    assert_eq!(far_panels(&pattern, &[]).len(), 2);
}
