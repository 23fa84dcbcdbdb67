// SPDX-License-Identifier: MIT OR Apache-2.0
//! Trimmed panels: what of the grid is cloth, what is drawn, and what is refused.

use super::{super::tests::circle, grid_triangle::ON_LINE, *};
use crate::pattern::{Contour, Curve, Run, Stitch};
use proptest::prelude::*;
use std::f64::consts::PI;

fn polygon(corners: &[(f64, f64)]) -> Panel {
    let points = corners.iter().copied().map(Point::from).collect();
    Panel::new("a", Contour::polygon(points, true))
}

fn rectangle(width: f64, height: f64) -> Panel {
    polygon(&[(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)])
}

fn trimmed(panel: Panel, edge_length: f64) -> Result<TrimmedMesh> {
    TrimmedMesh::new(&Pattern { panels: vec![panel], stitches: vec![] }, edge_length)
}

fn doubled_area(points: &[[f64; 2]], [a, b, c]: [u32; 3]) -> f64 {
    let [a, b, c] =
        [a, b, c].map(|vertex| Point::from(<(f64, f64)>::from(points[vertex as usize])));
    (b - a).cross(c - a)
}

fn visible_area(mesh: &TrimmedMesh) -> f64 {
    mesh.visible.triangles.iter().map(|one| 0.5 * doubled_area(&mesh.visible.flat, *one)).sum()
}

/// Area of the cloth by the corners of cells of a length, and its moments.
fn covered(mesh: &TrimmedMesh, edge_length: f64) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for (cell, parts) in mesh.cells.iter().zip(&mesh.corner_coverage) {
        for (vertex, part) in cell.iter().zip(parts) {
            let area = 0.25 * edge_length * edge_length * part;
            let [x, y] = mesh.flat[*vertex as usize];
            sums = [sums[0] + area, sums[1] + area * x, sums[2] + area * y];
        }
    }
    sums
}

/// Checks everything that holds of any trimmed panel.
fn assert_sound(mesh: &TrimmedMesh, edge_length: f64) {
    let area = visible_area(mesh);
    let mut moments = [0.0; 2];
    for triangle in &mesh.visible.triangles {
        let part = doubled_area(&mesh.visible.flat, *triangle) / 6.0;
        assert!(part > 0.0);
        for vertex in triangle {
            let [x, y] = mesh.visible.flat[*vertex as usize];
            moments = [moments[0] + part * x, moments[1] + part * y];
        }
    }
    let sums = covered(mesh, edge_length);
    assert!((sums[0] / area - 1.0).abs() < 1e-9, "{} of {area} m²", sums[0]);
    for axis in 0..2 {
        let apart = (sums[axis + 1] - moments[axis]) / area;
        assert!(apart.abs() < 1e-9, "centre off by {apart} m");
    }
    assert!(mesh.corner_coverage.as_flattened().iter().all(|part| *part > 0.0 && *part <= 1.0));
    for weights in &mesh.visible.weights {
        assert!(weights.iter().all(|weight| *weight >= 0.0));
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    }
    // Any linear map of the grid carries the visible mesh along.
    let map = |[x, y]: [f64; 2]| Vec3::new(2.0 * x - y + 0.3, 0.4 * y, x + 3.0 * y);
    let moved: Vec<Vec3> = mesh.flat.iter().map(|point| map(*point)).collect();
    for (place, flat) in mesh.visible.carried_by(&moved).iter().zip(&mesh.visible.flat) {
        assert!((place - map(*flat)).norm() < 1e-5 * edge_length);
    }
    assert_inside_simulated_triangles(mesh);
}

/// Each visible triangle is a part of one triangle that is simulated.
fn assert_inside_simulated_triangles(mesh: &TrimmedMesh) {
    let corner = |vertex: u32| Point::from(<(f64, f64)>::from(mesh.flat[vertex as usize]));
    for triangle in &mesh.visible.triangles {
        let points =
            triangle.map(|v| Point::from(<(f64, f64)>::from(mesh.visible.flat[v as usize])));
        let is_part = |half: &[u32; 3]| {
            let [a, b, c] = half.map(corner);
            let doubled = (b - a).cross(c - a);
            points.iter().all(|point| {
                let [p, q, r] = [a, b, c].map(|corner| corner - *point);
                [q.cross(r), r.cross(p), p.cross(q)].iter().all(|part| part / doubled > -ON_LINE)
            })
        };
        assert!(mesh.triangles.iter().any(is_part), "{points:?}");
    }
}

/// Vertices minus edges plus triangles of the visible mesh: 1 for a disc, 0 for a ring.
fn euler_characteristic(mesh: &TrimmedMesh) -> i64 {
    let mut edges: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    for triangle in &mesh.visible.triangles {
        for side in 0..3 {
            let [from, to] = [triangle[side], triangle[(side + 1) % 3]];
            *edges.entry([from.min(to), from.max(to)]).or_default() += 1;
        }
    }
    assert!(edges.values().all(|count| *count <= 2), "an edge of three triangles");
    let count = |number: usize| i64::try_from(number).unwrap();
    count(mesh.visible.flat.len()) - count(edges.len()) + count(mesh.visible.triangles.len())
}

#[test]
fn a_trimmed_circle_has_its_area() {
    for edge_length in [0.1, 0.02] {
        let mesh = trimmed(Panel::new("a", circle(0.2)), edge_length).unwrap();
        assert_sound(&mesh, edge_length);
        assert_eq!(euler_characteristic(&mesh), 1);
        let lost = 1.0 - covered(&mesh, edge_length)[0] / (PI * 0.04);
        assert!(lost > 0.0 && lost < 2e-3 * edge_length / 0.2, "{lost} at {edge_length} m");
    }
}

#[test]
fn an_outline_along_the_grid_covers_whole_cells() {
    let mesh = trimmed(rectangle(0.4, 0.2), 0.02).unwrap();
    assert_eq!(mesh.cells.len(), 200);
    assert_eq!(mesh.visible.triangles.len(), 400);
    assert!(mesh.corner_coverage.as_flattened().iter().all(|part| (part - 1.0).abs() < 1e-9));
    // Half a cell on each side.
    let half = trimmed(rectangle(0.42, 0.2), 0.02).unwrap();
    assert_eq!(half.cells.len(), 220);
    assert_sound(&half, 0.02);
    assert!((covered(&half, 0.02)[0] - 0.084).abs() < 1e-12);
}

#[test]
fn hardly_any_of_a_cell_is_still_cloth() {
    for beyond in [1e-12, 1e-9, 3e-8, 1e-6, 1e-4] {
        let mesh = trimmed(rectangle(0.4 + beyond, 0.2 + beyond), 0.02).unwrap();
        assert_sound(&mesh, 0.02);
        let smallest = mesh.corner_coverage.as_flattened().iter().fold(1.0, |a: f64, b| a.min(*b));
        assert!(smallest > 1e-28, "{smallest} at {beyond} m");
    }
}

#[test]
fn a_trimmed_panel_may_have_holes() {
    let mut panel = rectangle(0.5, 0.4);
    panel.grain = 0.7;
    let moved = |by: (f64, f64)| move |point: Point| point + kurbo::Vec2::new(by.0, by.1);
    panel.cutouts.push(circle(0.1).mapped(1.0, moved((0.2, 0.2))));
    // Smaller than a cell.
    panel.cutouts.push(circle(0.004).mapped(1.0, moved((0.4, 0.2))));
    let area = panel.area();
    let mesh = trimmed(panel, 0.02).unwrap();
    assert_sound(&mesh, 0.02);
    assert_eq!(euler_characteristic(&mesh), -1);
    assert!((covered(&mesh, 0.02)[0] / area - 1.0).abs() < 1e-3);
}

#[test]
fn a_trimmed_clockwise_panel_shows_its_right_side_to_the_other_side() {
    let mut panel = polygon(&[(0.0, 0.0), (0.1, 0.25), (0.31, 0.2), (0.33, 0.01)]);
    panel.placement.translation = Vec3::new(0.0, 0.0, 1.0);
    let mesh = trimmed(panel, 0.02).unwrap();
    assert!(visible_area(&mesh) < 0.0);
    assert!(mesh.triangles.iter().all(|one| doubled_area(&mesh.flat, *one) < 0.0));
    let [a, b, c, _] = mesh.cells[0].map(|vertex| mesh.placed[vertex as usize]);
    assert!((b - a).cross(&(c - a)).z < 0.0 && (a.z - 1.0).abs() < 1e-12);
    assert!((covered(&mesh, 0.02)[0] + visible_area(&mesh)).abs() < 1e-12);
}

#[test]
fn narrow_gaps_are_refused_and_open_corners_are_not() {
    // A square with a wedge cut into its upper side, as of a dart.
    let wedge = |width: f64, depth: f64| {
        let low = 0.3 - depth;
        polygon(&[
            (0.0, 0.0),
            (0.31, 0.0),
            (0.31, 0.3),
            (0.15 + width / 2.0, 0.3),
            (0.153, low),
            (0.15 - width / 2.0, 0.3),
            (0.0, 0.3),
        ])
    };
    let error = trimmed(wedge(0.03, 0.2), 0.02).unwrap_err().to_string();
    assert!(error.contains("panel \"a\": a gap narrower than a cell"), "{error}");
    assert!(trimmed(wedge(0.03, 0.2), 0.005).is_err(), "its tip is narrow at any edge length");
    for edge_length in [0.05, 0.02, 0.01] {
        let open = trimmed(wedge(0.2, 0.12), edge_length).unwrap();
        assert_sound(&open, edge_length);
    }
}

#[test]
fn stitches_of_trimmed_panels_are_refused() {
    let panels = vec![rectangle(0.4, 0.2), Panel { name: "b".to_owned(), ..rectangle(0.4, 0.2) }];
    let stitches = vec![Stitch::between(Run::edge(0, 1), Run::edge(1, 3))];
    let error = TrimmedMesh::new(&Pattern { panels, stitches }, 0.02).unwrap_err().to_string();
    assert!(error.contains("1 stitches"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_four_corners_are_covered_exactly(
        bends in prop::array::uniform4(-0.2..0.2_f64),
        offsets in prop::array::uniform8(-0.05..0.05_f64),
        grain in 0.0..3.0_f64,
        edge_length in 0.03..0.06_f64,
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
        let mut panel = Panel::new("a", outline);
        panel.grain = grain;
        let area = panel.area();
        let mesh = trimmed(panel.clone(), edge_length).unwrap();
        assert_sound(&mesh, edge_length);
        prop_assert_eq!(euler_characteristic(&mesh), 1);
        prop_assert!((covered(&mesh, edge_length)[0] / area - 1.0).abs() < 2e-3);
        let again = trimmed(panel, edge_length).unwrap();
        prop_assert_eq!(mesh.visible.triangles, again.visible.triangles);
        prop_assert_eq!(mesh.visible.weights, again.visible.weights);
        prop_assert_eq!(mesh.corner_coverage, again.corner_coverage);
    }
}
