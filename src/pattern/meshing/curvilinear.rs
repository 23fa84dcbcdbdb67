// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quads between the four sides of a panel, along curvilinear coordinates (Etzmuss 2002, section 2.7, figure 2.9).
//!
//! Opposite sides get the same number of vertices at equal parts of their length, and the inside follows from both pairs by
//! transfinite interpolation (Gordon and Hall 1973; Coons 1967). Sides that are sewn together get one number, too, as do
//! those opposite to them, and so on. Where the yarns run across the quads, the particle system measures along the yarns.

use super::{
    PanelMesh, PatternMesh, check_cell_count, check_for_mesh, distinct_pairs, division::whole,
    edge_length::PanelSize, point_error,
};
use crate::{
    error::{Error, Result},
    mesh::UnionFind,
    pattern::{Arclength, Panel, Pattern, Run, panel_error},
};
use kurbo::Point;
use std::collections::BTreeMap;

/// Points of the outline of each panel, by its index, at which its four sides meet, in their order.
pub type PanelCorners = BTreeMap<usize, [usize; 4]>;

/// A panel between four sides.
struct FourSided<'pattern> {
    panel: &'pattern Panel,
    /// First edge of each side.
    corners: [usize; 4],
}

/// One of the four sides as a curve by its length.
struct Side {
    edges: Vec<Arclength>,
    length: f64,
}

impl Side {
    /// The point at a part of the length.
    fn at(&self, part: f64) -> Point {
        let mut rest = part * self.length;
        let last = self.edges.len() - 1;
        for edge in &self.edges[..last] {
            if rest < edge.length() {
                return edge.at(rest);
            }
            rest -= edge.length();
        }
        self.edges[last].at(rest)
    }
}

impl<'pattern> FourSided<'pattern> {
    fn new(panel: &'pattern Panel, corners: Option<&[usize; 4]>) -> Result<Self> {
        let count = panel.outline.edges.len();
        let refused =
            |found: String, wanted: &str| Err(panel_error(&panel.name, None, found, wanted));
        if !panel.cutouts.is_empty() {
            let found = format!("{} cut-outs", panel.cutouts.len());
            return refused(found, "none between four sides");
        }
        let Some(corners) = corners else {
            if count == 4 {
                return Ok(Self { panel, corners: [0, 1, 2, 3] });
            }
            let wanted = "four, or the points at which four sides meet";
            return refused(format!("{count} edges"), wanted);
        };
        // Once around the outline, from any of its points on.
        let steps = [0, 1, 2, 3].map(|side| {
            let [from, to] = [corners[side], corners[(side + 1) % 4]];
            if from < count && to < count { (to + count - from) % count } else { 0 }
        });
        if steps.contains(&0) || steps.iter().sum::<usize>() != count {
            let wanted = format!("four different points below {count} in the order of the outline");
            return refused(format!("corners {corners:?}"), &wanted);
        }
        Ok(Self { panel, corners: *corners })
    }

    /// Edges of a side in their order.
    fn edges(&self, side: usize) -> Vec<usize> {
        let count = self.panel.outline.edges.len();
        let [from, to] = [self.corners[side], self.corners[(side + 1) % 4]];
        (0..(to + count - from) % count).map(|step| (from + step) % count).collect()
    }

    fn side(&self, side: usize) -> Side {
        let outline = &self.panel.outline;
        let edges: Vec<Arclength> = (self.edges(side).into_iter())
            .map(|edge| Arclength::new(outline.segments(edge)))
            .collect();
        Side { length: edges.iter().map(Arclength::length).sum(), edges }
    }

    /// Points of a grid of `counts` quads along the first side and the second, row by row along the first.
    fn points(&self, [columns, rows]: [usize; 2]) -> Vec<Point> {
        let [lower, right, upper, left] = [0, 1, 2, 3].map(|side| self.side(side));
        let parts = |count: usize| move |place: usize| place as f64 / count as f64;
        let [a, b, c, d] = self.corners.map(|corner| self.panel.outline.points[corner].to_vec2());
        let mut points = Vec::new();
        for row in 0..=rows {
            let t = parts(rows)(row);
            let ends = [left.at(1.0 - t), right.at(t)].map(Point::to_vec2);
            for column in 0..=columns {
                let s = parts(columns)(column);
                let across = [lower.at(s), upper.at(1.0 - s)].map(Point::to_vec2);
                let between = across[0] * (1.0 - t) + across[1] * t;
                let along = ends[0] * (1.0 - s) + ends[1] * s;
                let corners = (a * (1.0 - s) + b * s) * (1.0 - t) + (d * (1.0 - s) + c * s) * t;
                points.push((between + along - corners).to_point());
            }
        }
        points
    }

    /// The mesh of the panel, counter-clockwise in its plane.
    fn meshed(&self, [columns, rows]: [usize; 2]) -> Result<PanelMesh> {
        let points = self.points([columns, rows]);
        let vertex = |column: usize, row: usize| (row * (columns + 1) + column) as u32;
        let (mut cells, mut triangles) = (Vec::new(), Vec::new());
        for row in 0..rows {
            for column in 0..columns {
                let [low, high] = [row, row + 1];
                let around = [
                    vertex(column, low),
                    vertex(column + 1, low),
                    vertex(column + 1, high),
                    vertex(column, high),
                ];
                let [a, b, c, d] = if self.panel.is_clockwise() {
                    [around[0], around[3], around[2], around[1]]
                } else {
                    around
                };
                self.check_quad([a, b, c, d].map(|vertex| points[vertex as usize]))?;
                let rises = (column + row) % 2 == 0;
                triangles.extend(if rises {
                    [[a, b, c], [a, c, d]]
                } else {
                    [[b, c, d], [b, d, a]]
                });
                cells.push([a, b, c, d]);
            }
        }
        Ok(PanelMesh { points, triangles, cells, lines: Vec::new() })
    }

    /// Refuses a quad that is not convex: the coordinates fold over.
    fn check_quad(&self, corners: [Point; 4]) -> Result<()> {
        let is_convex = (0..4).all(|corner| {
            let [before, here, after] = [3, 0, 1].map(|step| corners[(corner + step) % 4]);
            (after - here).cross(before - here) > 0.0
        });
        if is_convex {
            return Ok(());
        }
        let wanted = "wanted other corners, or another mesh";
        let found = "quads between the four sides fold over";
        Err(point_error(self.panel, found, corners[0], wanted))
    }
}

/// Vertices of a side within its panel, from its start to its end.
fn side_vertices(side: usize, [columns, rows]: [usize; 2]) -> Vec<u32> {
    let vertex = |column: usize, row: usize| (row * (columns + 1) + column) as u32;
    match side {
        0 => (0..=columns).map(|column| vertex(column, 0)).collect(),
        1 => (0..=rows).map(|row| vertex(columns, row)).collect(),
        2 => (0..=columns).rev().map(|column| vertex(column, rows)).collect(),
        _ => (0..=rows).rev().map(|row| vertex(0, row)).collect(),
    }
}

/// The panels of a pattern, and which sides are sewn together.
struct SideGroups<'pattern> {
    panels: Vec<FourSided<'pattern>>,
    /// Both sides of each stitch: panel and side.
    stitches: Vec<[(usize, usize); 2]>,
}

impl SideGroups<'_> {
    /// Number of quads along the first and the second side of each panel.
    fn counts(&self, edge_length: f64) -> Vec<[usize; 2]> {
        let mut groups = UnionFind::new(2 * self.panels.len());
        let member = |(panel, side): (usize, usize)| (2 * panel + side % 2) as u32;
        for [one, other] in &self.stitches {
            groups.union(member(*one), member(*other));
        }
        let roots = groups.roots();
        let mut counts = vec![1; roots.len()];
        for (index, panel) in self.panels.iter().enumerate() {
            let length = panel.panel.edge_length.unwrap_or(edge_length);
            for side in 0..4 {
                let count = &mut counts[roots[member((index, side)) as usize] as usize];
                *count = whole((panel.side(side).length / length).round()).max(*count);
            }
        }
        let count = |member: usize| counts[roots[member] as usize];
        (0..self.panels.len()).map(|panel| [count(2 * panel), count(2 * panel + 1)]).collect()
    }
}

impl PatternMesh {
    /// Meshes all panels of a pattern with quads between their four sides. Panels with four edges need no corners; stitches join whole
    /// sides.
    ///
    /// # Errors
    /// The pattern has a mistake, a panel has no four sides or quads that fold over, a stitch joins a part of a side, or an
    /// edge length is no number more than 0.
    pub fn curvilinear(
        pattern: &Pattern,
        edge_length: f64,
        corners: &PanelCorners,
    ) -> Result<Self> {
        check_for_mesh(pattern, edge_length)?;
        let panels: Result<Vec<FourSided<'_>>> = (pattern.panels.iter().enumerate())
            .map(|(index, panel)| FourSided::new(panel, corners.get(&index)))
            .collect();
        let panels = panels?;
        let stitches: Result<Vec<[(usize, usize); 2]>> = (0..pattern.stitches.len())
            .map(|stitch| sewn_sides(pattern, stitch, &panels))
            .collect();
        let sides = SideGroups { stitches: stitches?, panels };
        let counts = sides.counts(edge_length);
        let mut mesh = Self { panel_starts: vec![0], ..Self::default() };
        for (panel, counts) in sides.panels.iter().zip(&counts) {
            let length = panel.panel.edge_length.unwrap_or(edge_length);
            let size = PanelSize::new(length, None);
            check_cell_count(panel.panel, &size)?;
            mesh.append(panel.panel, panel.meshed(*counts)?, &size);
        }
        let pairs = sides.stitches.iter().enumerate().map(|(stitch, ends)| {
            let [one, mut other] = ends.map(|(panel, side)| {
                let own = side_vertices(side, counts[panel]).into_iter();
                own.map(|vertex| vertex + mesh.panel_starts[panel]).collect::<Vec<u32>>()
            });
            if pattern.stitches[stitch].is_reversed {
                other.reverse();
            }
            one.into_iter().zip(other).map(|(one, other)| [one, other]).collect()
        });
        mesh.seams = distinct_pairs(pairs.collect());
        Ok(mesh)
    }
}

/// The whole sides that a stitch joins.
fn sewn_sides(
    pattern: &Pattern,
    stitch: usize,
    panels: &[FourSided<'_>],
) -> Result<[(usize, usize); 2]> {
    let side_of = |run: &Run| {
        let sides = (0..4).find(|side| panels[run.panel].edges(*side) == run.edges);
        sides.filter(|_| run.cutout.is_none()).map(|side| (run.panel, side))
    };
    let [one, other] = pattern.stitches[stitch].runs.each_ref().map(side_of);
    let sides = one.zip(other).map(|(one, other)| [one, other]);
    sides.ok_or_else(|| {
        let wanted = "whole sides of both panels";
        Error::element("stitches", "stitch", stitch, "a run that is no whole side", wanted)
    })
}
