// SPDX-License-Identifier: MIT OR Apache-2.0
//! Meshes of small patterns: areas, seams, edge lengths, and the same bits again.

use super::division::whole;
use super::*;
use crate::pattern::{Contour, Curve, Edge, Run, Stitch};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::f64::consts::PI;

fn rectangle(name: &str, width: f64, height: f64) -> Panel {
    let corners = [(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)];
    Panel::new(name, Contour::polygon(corners.map(Point::from).to_vec(), true))
}

/// Circle of a radius in m.
pub(super) fn circle(radius: f64) -> Contour {
    let arc = || Edge::new(Curve::Arc { radius, is_large: false, is_positive: true });
    Contour {
        points: vec![Point::new(-radius, 0.0), Point::new(radius, 0.0)],
        edges: vec![arc(), arc()],
    }
}

fn meshed(panels: Vec<Panel>, stitches: Vec<Stitch>, edge_length: f64) -> PatternMesh {
    PatternMesh::new(&Pattern { panels, stitches }, &MeshOptions::new(edge_length)).unwrap()
}

fn area(mesh: &PatternMesh) -> f64 {
    let corner =
        |vertex: u32| Point::new(mesh.flat[vertex as usize][0], mesh.flat[vertex as usize][1]);
    let doubled = mesh.triangles.iter().map(|triangle| {
        let [a, b, c] = triangle.map(corner);
        (b - a).cross(c - a)
    });
    doubled.sum::<f64>() / 2.0
}

/// Vertices minus edges plus triangles: 1 for a disc, 0 for a ring.
fn euler_characteristic(mesh: &PatternMesh) -> i64 {
    let mut edges: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    for triangle in &mesh.triangles {
        for side in 0..3 {
            let [from, to] = [triangle[side], triangle[(side + 1) % 3]];
            *edges.entry([from.min(to), from.max(to)]).or_default() += 1;
        }
    }
    assert!(edges.values().all(|count| *count <= 2), "an edge of three triangles");
    let count = |number: usize| i64::try_from(number).unwrap();
    count(mesh.flat.len()) - count(edges.len()) + count(mesh.triangles.len())
}

#[test]
fn a_rectangle_is_filled_once() {
    let mesh = meshed(vec![rectangle("a", 0.5, 0.3)], vec![], 0.02);
    assert!((area(&mesh) - 0.15).abs() < 1e-12);
    assert_eq!(euler_characteristic(&mesh), 1);
    let figures = mesh.quality[0];
    assert!(figures.min_angle > 28.0 && figures.regular_share > 0.7, "{figures:?}");
    assert!((figures.mean_edge_ratio - 1.0).abs() < 0.06 && figures.max_edge_ratio < 1.8);
}

#[test]
fn a_circle_keeps_its_area() {
    for edge_length in [0.2, 0.1, 0.02] {
        let mesh = meshed(vec![Panel::new("a", circle(0.2))], vec![], edge_length);
        // A chord is a tenth of an edge length off the circle at most.
        let lost = 1.0 - area(&mesh) / (PI * 0.04);
        assert!(lost > 0.0 && lost < 0.2 * edge_length / 0.2, "{edge_length} {lost}");
    }
}

/// Two rectangles sewn together on three sides: no edge has more than two triangles once they are one.
#[test]
fn a_bag_can_be_welded_at_its_corners() {
    for edge_length in [0.02, 0.03, 0.04, 0.05, 0.08] {
        let panels = vec![rectangle("front", 0.4, 0.5), rectangle("back", 0.4, 0.5)];
        let stitches = [(0, 0), (1, 3), (3, 1)]
            .map(|(one, other)| Stitch::between(Run::edge(0, one), Run::edge(1, other)));
        let mesh = meshed(panels, stitches.to_vec(), edge_length);
        let welded = mesh.welded();
        let mut uses: BTreeMap<[u32; 2], usize> = BTreeMap::new();
        for triangle in &mesh.triangles {
            let corners = triangle.map(|vertex| welded[vertex as usize]);
            for side in 0..3 {
                let [from, to] = [corners[side], corners[(side + 1) % 3]];
                assert!(from != to);
                *uses.entry([from.min(to), from.max(to)]).or_default() += 1;
            }
        }
        assert!(uses.values().all(|count| *count <= 2), "at {edge_length} m");
        let count = *welded.iter().max().unwrap() as usize + 1;
        assert_eq!(mesh.flat.len() - count, mesh.seams.len(), "at {edge_length} m");
    }
}

#[test]
fn a_cut_out_is_left_out() {
    let mut panel = rectangle("a", 0.5, 0.4);
    panel.cutouts.push(circle(0.1).mapped(1.0, |point| point + kurbo::Vec2::new(0.25, 0.2)));
    let mesh = meshed(vec![panel], vec![], 0.02);
    assert!((area(&mesh) - (0.2 - PI * 0.01)).abs() < 3e-4);
    assert_eq!(euler_characteristic(&mesh), 0);
}

#[test]
fn an_internal_line_becomes_edges() {
    let mut panel = rectangle("a", 0.5, 0.4);
    let line = |ends: [(f64, f64); 2]| Contour::polygon(ends.map(Point::from).to_vec(), false);
    panel.internal_lines =
        vec![line([(0.0, 0.13), (0.5, 0.13)]), line([(0.21, 0.0), (0.21, 0.35)])];
    let mesh = meshed(vec![panel], vec![], 0.02);
    assert!((area(&mesh) - 0.2).abs() < 1e-12);
    let sides: std::collections::BTreeSet<[u32; 2]> = (mesh.triangles.iter())
        .flat_map(|t| (0..3).map(|side| [t[side], t[(side + 1) % 3]]))
        .flat_map(|[from, to]| [[from, to], [to, from]])
        .collect();
    for line in &mesh.internal_lines {
        assert!(line.vertices.windows(2).all(|pair| sides.contains(&[pair[0], pair[1]])));
    }
    let across: Vec<[f64; 2]> =
        mesh.internal_lines[0].vertices.iter().map(|vertex| mesh.flat[*vertex as usize]).collect();
    assert!(across.iter().all(|point| (point[1] - 0.13).abs() < 1e-9));
    assert!(across[0][0].abs() < 1e-9 && (across[across.len() - 1][0] - 0.5).abs() < 1e-9);
    assert!(mesh.quality[0].min_angle > 20.0, "{:?}", mesh.quality[0]);
}

#[test]
fn cells_follow_the_grain() {
    let mut panel = rectangle("a", 0.5, 0.4);
    panel.grain = 0.4;
    let mesh = meshed(vec![panel], vec![], 0.02);
    for cell in &mesh.cells {
        let [a, b, .., d] = cell.map(|vertex| mesh.uv[vertex as usize]);
        assert!((b[0] - a[0] - 0.02).abs() < 1e-9 && (b[1] - a[1]).abs() < 1e-9);
        assert!((d[1] - a[1] - 0.02).abs() < 1e-9 && (d[0] - a[0]).abs() < 1e-9);
    }
    assert!(mesh.cells.len() > 300);
}

#[test]
fn a_clockwise_panel_shows_its_right_side_to_the_other_side() {
    let mut panel = rectangle("a", 0.3, 0.2);
    panel.outline.points.reverse();
    let mesh = meshed(vec![panel], vec![], 0.02);
    assert!((area(&mesh) + 0.06).abs() < 1e-12, "triangles run against x to y");
    let [a, b, c, _] = mesh.cells[0].map(|vertex| mesh.placed[vertex as usize]);
    assert!((b - a).cross(&(c - a)).z < 0.0);
}

#[test]
fn a_gathered_seam_has_pairs_at_equal_parts_of_both_sides() {
    let first = rectangle("wide", 0.6, 0.2);
    let second = rectangle("narrow", 0.4, 0.2);
    let stitch = Stitch::between(Run::edge(0, 2), Run::edge(1, 0));
    let mesh = meshed(vec![first, second], vec![stitch], 0.02);
    assert_eq!(mesh.seams.len(), 31);
    for pair in &mesh.seams {
        let [wide, narrow] = pair.vertices.map(|vertex| mesh.flat[vertex as usize]);
        assert!((wide[0] / 0.6 - narrow[0] / 0.4).abs() < 1e-9, "reversed against an upper edge");
        assert!((wide[1] - 0.2).abs() < 1e-12 && narrow[1].abs() < 1e-12);
    }
}

#[test]
fn a_run_of_edges_is_sewn_to_one_edge() {
    let corners = [(0.0, 0.0), (0.3, 0.0), (0.3, 0.2), (0.16, 0.2), (0.0, 0.2)];
    let first = Panel::new("cut", Contour::polygon(corners.map(Point::from).to_vec(), true));
    let second = rectangle("whole", 0.3, 0.2);
    let run = Run { panel: 0, cutout: None, edges: vec![2, 3] };
    let mesh = meshed(vec![first, second], vec![Stitch::between(run, Run::edge(1, 0))], 0.02);
    let corner =
        mesh.flat.iter().position(|p| (p[0] - 0.16).abs() < 1e-12 && (p[1] - 0.2).abs() < 1e-12);
    let pair = mesh.seams.iter().find(|pair| pair.vertices[0] as usize == corner.unwrap()).unwrap();
    assert!((mesh.flat[pair.vertices[1] as usize][0] - 0.16).abs() < 1e-9);
    assert_eq!(mesh.seams.len(), 7 + 8 + 1);
}

#[test]
fn short_edges_are_merged_on_both_sides_of_a_seam() {
    let panel = |name: &str| {
        let corners = [(0.0, 0.0), (0.3, 0.0), (0.3, 0.2), (0.001, 0.2), (0.0, 0.1995)];
        Panel::new(name, Contour::polygon(corners.map(Point::from).to_vec(), true))
    };
    let stitch = |edge| Stitch::between(Run::edge(0, edge), Run::edge(1, edge));
    let stitches = vec![stitch(2), stitch(3), stitch(4)];
    let mesh = meshed(vec![panel("a"), panel("b")], stitches, 0.02);
    assert!(mesh.quality.iter().all(|panel| panel.min_edge_ratio > 0.4));
    let merged: Vec<&SeamPair> = mesh.seams.iter().filter(|pair| pair.stitch == 1).collect();
    assert_eq!(merged.len(), 1, "one pair for the merged edge");
    let pairs: std::collections::BTreeSet<[u32; 2]> =
        mesh.seams.iter().map(|pair| pair.vertices).collect();
    assert_eq!(pairs.len(), mesh.seams.len(), "each pair once");
}

#[test]
fn finer_panels_and_painted_factors_have_shorter_edges() {
    let mut fine = rectangle("fine", 0.4, 0.3);
    fine.edge_length = Some(0.01);
    let pattern = Pattern { panels: vec![fine, rectangle("coarse", 0.4, 0.3)], stitches: vec![] };
    let mut options = MeshOptions::new(0.03);
    let uniform = PatternMesh::new(&pattern, &options).unwrap();
    assert!(uniform.vertices_of(0).len() > 7 * uniform.vertices_of(1).len());
    let corners = [[0.0, 0.0], [0.4, 0.0], [0.4, 0.3], [0.0, 0.3]];
    let map = EdgeLengthMap::new(&corners, &[0.25, 1.0, 1.0, 0.25]).unwrap();
    options.maps.insert(1, map);
    let painted = PatternMesh::new(&pattern, &options).unwrap();
    let figures = painted.quality[1];
    assert!(
        (figures.mean_edge_ratio - 1.0).abs() < 0.2 && figures.max_edge_ratio < 2.2,
        "{figures:?}"
    );
    assert!(figures.min_angle > 20.0, "{figures:?}");
    let left = |mesh: &PatternMesh| {
        mesh.vertices_of(1).filter(|vertex| mesh.flat[*vertex][0] < 0.1).count()
    };
    assert!(left(&painted) > 5 * left(&uniform));
}

#[test]
fn an_edge_length_that_is_none_or_too_long_is_refused() {
    let pattern = Pattern { panels: vec![rectangle("a", 0.3, 0.2)], stitches: vec![] };
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(PatternMesh::new(&pattern, &MeshOptions::new(wrong)).is_err());
    }
    let mut holed = pattern;
    holed.panels[0].cutouts.push(circle(0.05).mapped(1.0, |p| p + kurbo::Vec2::new(0.15, 0.1)));
    let coarse = PatternMesh::new(&holed, &MeshOptions::new(10.0)).unwrap_err().to_string();
    assert!(coarse.starts_with("panel \"a\": "), "{coarse}");
}

#[test]
fn a_panel_of_other_units_is_refused() {
    let huge = Pattern { panels: vec![rectangle("a", 500.0, 300.0)], stitches: vec![] };
    let error = PatternMesh::new(&huge, &MeshOptions::new(0.01)).unwrap_err().to_string();
    assert!(error.starts_with("panel \"a\": 500.00 m by 300.00 m, too many cells"), "{error}");
}

/// The front of a dress: four sides, all of them curved.
fn dress_front(name: &str) -> Panel {
    let corners = [(-0.3, 0.0), (0.3, 0.0), (0.17, 0.6), (-0.17, 0.6)];
    let mut outline = Contour::polygon(corners.map(Point::from).to_vec(), true);
    for (edge, bend) in [-0.04, 0.06, 0.2, 0.06].into_iter().enumerate() {
        let [from, to] = outline.ends(edge);
        let control = from.midpoint(to) + bend * (to - from).turn_90();
        outline.edges[edge].curve = Curve::Quadratic(control);
    }
    Panel::new(name, outline)
}

fn curvilinear(panel: Panel, edge_length: f64, corners: Option<[usize; 4]>) -> Result<PatternMesh> {
    let corners = corners.into_iter().map(|corners| (0, corners)).collect();
    PatternMesh::curvilinear(
        &Pattern { panels: vec![panel], stitches: vec![] },
        edge_length,
        &corners,
    )
}

#[test]
fn four_curved_sides_are_filled_with_quads() {
    for is_clockwise in [false, true] {
        let mut panel = dress_front("a");
        if is_clockwise {
            panel.outline = panel.outline.mapped(-1.0, |point| Point::new(-point.x, point.y));
        }
        let sign = if is_clockwise { -1.0 } else { 1.0 };
        let exact = panel.area();
        let mesh = curvilinear(panel, 0.02, None).unwrap();
        assert_eq!(mesh.triangles.len(), 2 * mesh.cells.len());
        assert_eq!(euler_characteristic(&mesh), 1);
        assert!((sign * area(&mesh) / exact - 1.0).abs() < 2e-3, "{} of {exact}", area(&mesh));
        let quality = mesh.quality[0];
        assert!(quality.min_angle > 25.0 && (quality.regular_share - 1.0).abs() < 1e-12);
        assert!((quality.mean_edge_ratio - 0.9).abs() < 0.15, "{quality:?}");
    }
}

#[test]
fn a_rectangle_between_four_sides_is_a_regular_grid() {
    // One side of two edges: its corners have to be told.
    let corners = [(0.0, 0.0), (0.13, 0.0), (0.4, 0.0), (0.4, 0.2), (0.0, 0.2)];
    let panel = Panel::new("a", Contour::polygon(corners.map(Point::from).to_vec(), true));
    let error = curvilinear(panel.clone(), 0.02, None).unwrap_err().to_string();
    assert!(error.contains("panel \"a\"") && error.contains("5 edges"), "{error}");
    for corners in [[0, 2, 3, 4], [3, 4, 0, 2]] {
        let mesh = curvilinear(panel.clone(), 0.02, Some(corners)).unwrap();
        assert_eq!(mesh.cells.len(), 200);
        for cell in &mesh.cells {
            let [a, b, c, d] = cell.map(|vertex| mesh.flat[vertex as usize]);
            let sides = [(a, b), (b, c), (c, d), (d, a)];
            assert!(
                sides.iter().all(|(p, q)| {
                    ((q[0] - p[0]).abs() + (q[1] - p[1]).abs() - 0.02).abs() < 1e-9
                })
            );
        }
    }
    for wrong in [[0, 2, 3, 3], [0, 3, 2, 4], [0, 2, 3, 9]] {
        let error = curvilinear(panel.clone(), 0.02, Some(wrong)).unwrap_err().to_string();
        assert!(error.contains("four different points"), "{error}");
    }
}

#[test]
fn sides_that_are_sewn_together_have_as_many_vertices() {
    let mut wide = dress_front("back");
    wide.outline = wide.outline.mapped(1.3, |point| (1.3 * point.to_vec2()).to_point());
    let sewn = |one, other| Stitch::between(Run::edge(0, one), Run::edge(1, other));
    let pattern = Pattern {
        panels: vec![dress_front("front"), wide],
        stitches: vec![sewn(1, 3), sewn(3, 1)],
    };
    let mesh = PatternMesh::curvilinear(&pattern, 0.02, &PanelCorners::new()).unwrap();
    let rows = (pattern.panels[1].outline.length(1) / 0.02).round();
    assert_eq!(mesh.seams.len(), 2 * (whole(rows) + 1));
    for SeamPair { vertices, .. } in &mesh.seams {
        let [one, other] = vertices.map(|vertex| mesh.flat[vertex as usize]);
        assert!((one[1] - other[1] / 1.3).abs() < 1e-9 && (one[0] + other[0] / 1.3).abs() < 1e-9);
    }
    let mut half = pattern;
    half.stitches[0].runs[0].edges = vec![1, 2];
    let error =
        PatternMesh::curvilinear(&half, 0.02, &PanelCorners::new()).unwrap_err().to_string();
    assert!(error.contains("stitch 0") && error.contains("whole side"), "{error}");
}

#[test]
fn coordinates_that_fold_over_are_refused() {
    let mut panel = rectangle("a", 0.3, 0.3);
    panel.outline.edges[0].curve = Curve::Quadratic(Point::new(-0.1, 0.4));
    panel.outline.edges[3].curve = Curve::Quadratic(Point::new(-0.3, 0.3));
    let error = curvilinear(panel, 0.02, None).unwrap_err().to_string();
    assert!(error.contains("fold over") && error.contains("panel \"a\""), "{error}");
    let mut holed = rectangle("a", 0.3, 0.3);
    holed.cutouts.push(circle(0.05).mapped(1.0, |p| p + kurbo::Vec2::new(0.15, 0.1)));
    assert!(curvilinear(holed, 0.02, None).unwrap_err().to_string().contains("1 cut-outs"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_four_corners_are_filled_with_sound_triangles(
        bends in prop::array::uniform4(-0.2..0.2_f64),
        offsets in prop::array::uniform8(-0.05..0.05_f64),
        grain in 0.0..3.0_f64,
        edge_length in 0.015..0.04_f64,
    ) {
        let base = [(0.0, 0.0), (0.3, 0.0), (0.3, 0.3), (0.0, 0.3)];
        let points: Vec<Point> = (0..4)
            .map(|k| Point::new(base[k].0 + offsets[2 * k], base[k].1 + offsets[2 * k + 1]))
            .collect();
        let mut outline = Contour::polygon(points, true);
        for (edge, bend) in bends.into_iter().enumerate() {
            let [from, to] = outline.ends(edge);
            let control = from.midpoint(to) + bend * (to - from).turn_90();
            outline.edges[edge].curve = Curve::Quadratic(control);
        }
        let (exact, length) = (outline.signed_area(), (0..4).map(|e| outline.length(e)).sum::<f64>());
        let mut panel = Panel::new("a", outline);
        panel.grain = grain;
        let pattern = Pattern { panels: vec![panel], stitches: vec![] };
        let options = MeshOptions::new(edge_length);
        let mesh = PatternMesh::new(&pattern, &options).unwrap();
        prop_assert!((area(&mesh) - exact).abs() < 0.1 * edge_length * length);
        prop_assert_eq!(euler_characteristic(&mesh), 1);
        prop_assert!(mesh.quality[0].min_angle > 12.0, "{:?}", mesh.quality[0]);
        prop_assert!(mesh.quality[0].max_edge_ratio < 2.0);
        let again = PatternMesh::new(&pattern, &options).unwrap();
        prop_assert_eq!(mesh.flat, again.flat);
        prop_assert_eq!(mesh.triangles, again.triangles);
    }
}
