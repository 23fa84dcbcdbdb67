// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures of a mesh: angles, share of regular cells, edge lengths against those that were asked for.

use super::{PanelMesh, edge_length::PanelSize};
use kurbo::Point;
use std::collections::BTreeSet;

/// Figures of the mesh of one panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelQuality {
    /// Smallest angle of a triangle, in degrees.
    pub min_angle: f64,
    /// Part of the area that is covered by regular cells.
    pub regular_share: f64,
    /// Geometric mean of edge lengths over those that were asked for; diagonals of regular cells are left out.
    pub mean_edge_ratio: f64,
    /// Shortest edge over the length that was asked for there.
    pub min_edge_ratio: f64,
    /// Longest edge over the length that was asked for there, diagonals of regular cells left out.
    pub max_edge_ratio: f64,
}

impl PanelQuality {
    pub(super) fn new(mesh: &PanelMesh, size: &PanelSize<'_>) -> Self {
        let point = |vertex: u32| mesh.points[vertex as usize];
        let corners = |triangle: &[u32; 3]| triangle.map(point);
        let area = |triangles: &[[u32; 3]]| {
            triangles.iter().map(|t| triangle_area(corners(t))).sum::<f64>()
        };
        let regular = 2 * mesh.cells.len();
        let angles = mesh.triangles.iter().map(|triangle| min_angle(corners(triangle)));
        let ratios: Vec<f64> = edges(mesh)
            .into_iter()
            .map(|[from, to]| {
                let (from, to) = (point(from), point(to));
                (to - from).hypot() / size.at(from.midpoint(to))
            })
            .collect();
        let logarithms = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>();
        Self {
            min_angle: angles.fold(f64::INFINITY, f64::min),
            regular_share: area(&mesh.triangles[..regular]) / area(&mesh.triangles),
            mean_edge_ratio: (logarithms / ratios.len() as f64).exp(),
            min_edge_ratio: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            max_edge_ratio: ratios.iter().copied().fold(0.0, f64::max),
        }
    }
}

/// All edges but the diagonals of cells, each once.
fn edges(mesh: &PanelMesh) -> BTreeSet<[u32; 2]> {
    let cells =
        mesh.cells.iter().flat_map(|cell| (0..4).map(|side| [cell[side], cell[(side + 1) % 4]]));
    let strip = &mesh.triangles[2 * mesh.cells.len()..];
    let strip = strip.iter().flat_map(|t| (0..3).map(|side| [t[side], t[(side + 1) % 3]]));
    cells.chain(strip).map(|[from, to]| [from.min(to), from.max(to)]).collect()
}

fn triangle_area([a, b, c]: [Point; 3]) -> f64 {
    0.5 * (b - a).cross(c - a)
}

fn min_angle(corners: [Point; 3]) -> f64 {
    let angle = |corner: usize| {
        let [here, next, last] = [0, 1, 2].map(|step| corners[(corner + step) % 3]);
        (next - here).cross(last - here).atan2((next - here).dot(last - here)).to_degrees()
    };
    (0..3).map(angle).fold(f64::INFINITY, f64::min)
}
