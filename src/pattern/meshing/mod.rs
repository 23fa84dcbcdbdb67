// SPDX-License-Identifier: MIT OR Apache-2.0
//! Meshes of patterns: regular cells along the yarns inside, a constrained Delaunay strip along the outline.
//!
//! 1. Both runs of a stitch get the same number of vertices, at matching places ([`division`]).
//! 2. A grid along the grain fills each panel, as in Etzmuss 2002, section 2.7; where the edge length varies it is a
//!    balanced quadtree ([`grid`]). Cells away from the outline are kept, and cut along alternating diagonals.
//! 3. The strip between them and the outline is triangulated and refined (Shewchuk 2005), without a new vertex on either
//!    ([`triangulation`]).
//!
//! Two other meshes are those of Etzmuss 2002, section 2.7: a regular grid that the outline is inscribed in ([`trimmed`]), and
//! quads between four sides ([`curvilinear`]).
//!
//! Nothing depends on threads, time or addresses: the same pattern gives the same bits.

mod boundary;
mod curvilinear;
mod division;
mod edge_length;
mod grid;
mod quality;
mod segments;
mod triangulation;
mod trimmed;

pub use curvilinear::PanelCorners;
pub use edge_length::EdgeLengthMap;
pub use quality::PanelQuality;
pub use trimmed::{TrimmedMesh, VisibleMesh};

use super::{Contour, Panel, Pattern, validation::check};
use crate::{
    error::{Error, Result},
    mesh::UnionFind,
    vec3::Vec3,
};
use boundary::PanelBoundary;
use division::{Division, SampleId};
use edge_length::PanelSize;
use kurbo::{ParamCurveArclen as _, Point, Shape as _};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// Largest number of cells that a panel is covered by: more than a machine can simulate, and few enough to be kept.
const MAX_CELLS: f64 = 2e6;

/// Proportions of a mesh, in edge lengths.
#[derive(Clone, Copy, Debug)]
struct MeshParameters {
    /// Largest distance of the outline from its straight pieces (edge lengths). Effect: larger cuts corners of tight
    /// curves; smaller gives them edges far shorter than asked. Evidence: `a_circle_keeps_its_area`.
    outline_tolerance: f64,
    /// Distance of grid points from the outline (edge lengths). Effect: larger leaves fewer regular cells; smaller
    /// leaves flat triangles along the outline. Evidence: smallest angle and share of regular cells in
    /// `test_meshes_of_others_patterns`.
    clearance: f64,
    /// Smallest angle of the strip that refinement asks for (degrees). Effect: larger adds vertices, and beyond 33°
    /// without end; smaller leaves sharper triangles. Evidence: Shewchuk 2005;
    /// `test_meshes_of_others_patterns`.
    min_angle: f64,
    /// Largest triangle of the strip (squared edge lengths). Effect: larger leaves edges longer than asked; smaller
    /// adds vertices. Evidence: 1.3 times an equilateral triangle; edge lengths in `test_meshes_of_others_patterns`.
    max_area: f64,
    /// Cells of a quadtree are split while longer than this (local edge lengths). Effect: larger gives edges longer
    /// than asked; smaller gives shorter ones. Evidence: √2 is the middle between both, on a scale of factors;
    /// `test_painted_edge_lengths`.
    split_above: f64,
    /// Largest part of the largest edge length that a map may ask for, as halvings. Effect: larger allows meshes that
    /// exhaust memory; smaller ends the map early. Evidence: none; 6 halvings of 2 cm are 0.3 mm.
    max_halvings: u32,
}

impl MeshParameters {
    const DEFAULT: Self = Self {
        outline_tolerance: 0.1,
        clearance: 0.6,
        min_angle: 30.0,
        max_area: 0.563,
        split_above: std::f64::consts::SQRT_2,
        max_halvings: 6,
    };
}

/// What to mesh a pattern with.
#[derive(Clone, Debug, Default)]
pub struct MeshOptions {
    /// Length of edges in m, of panels that state none.
    pub edge_length: f64,
    /// Factors of the edge length over panels, by the index of the panel.
    pub maps: BTreeMap<usize, EdgeLengthMap>,
}

impl MeshOptions {
    /// One edge length, in m, for all panels that state none.
    #[must_use]
    pub fn new(edge_length: f64) -> Self {
        Self { edge_length, maps: BTreeMap::new() }
    }
}

/// Two vertices that are sewn together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeamPair {
    /// Vertices of the first and of the second run.
    pub vertices: [u32; 2],
    /// Index of the stitch.
    pub stitch: u32,
}

/// Triangulated panels, with the vertices that stitches draw together.
#[derive(Clone, Debug, Default)]
pub struct PatternMesh {
    /// Vertices in the plane of their panel, in m.
    pub flat: Vec<[f64; 2]>,
    /// Vertices in yarn axes, in m: u along the warp, v along the weft.
    pub uv: Vec<[f64; 2]>,
    /// Vertices in space, in m, where the placement of their panel puts them.
    pub placed: Vec<Vec3>,
    /// Triangles, counter-clockwise seen from the right side. Those of the regular cells of each panel come first,
    /// two by two.
    pub triangles: Vec<[u32; 3]>,
    /// Regular cells as quads, in the order of their triangles.
    pub cells: Vec<[u32; 4]>,
    /// First triangle of each cell.
    pub cell_triangles: Vec<u32>,
    /// Panel of each triangle.
    pub panel_of_triangle: Vec<u32>,
    /// First vertex of each panel, and the number of all vertices last.
    pub panel_starts: Vec<u32>,
    /// Pairs of vertices to be sewn together, each once, in the order of the stitches.
    pub seams: Vec<SeamPair>,
    /// Vertices along the internal lines: panel, line, and one piece of it.
    pub internal_lines: Vec<LineVertices>,
    /// Figures of each panel.
    pub quality: Vec<PanelQuality>,
}

/// Vertices along a piece of an internal line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineVertices {
    /// Index of the panel.
    pub panel: u32,
    /// Index of the line in its panel.
    pub line: u32,
    /// The vertices in their order.
    pub vertices: Vec<u32>,
}

impl PatternMesh {
    /// Meshes all panels of a pattern.
    ///
    /// # Errors
    /// The pattern has a mistake, or an edge length is no number more than 0 or too coarse for a panel.
    pub fn new(pattern: &Pattern, options: &MeshOptions) -> Result<Self> {
        let length = options.edge_length;
        check_for_mesh(pattern, length)?;
        let sizes: Vec<PanelSize<'_>> = (pattern.panels.iter().enumerate())
            .map(|(index, panel)| {
                PanelSize::new(panel.edge_length.unwrap_or(length), options.maps.get(&index))
            })
            .collect();
        for (panel, size) in pattern.panels.iter().zip(&sizes) {
            check_cell_count(panel, size)?;
        }
        let division = Division::new(pattern, &sizes);
        let mut mesh = Self { panel_starts: vec![0], ..Self::default() };
        let mut boundaries = Vec::new();
        for (index, panel) in pattern.panels.iter().enumerate() {
            let boundary = PanelBoundary::new(panel, index, &division, &sizes[index])?;
            let grid = grid::Grid::new(panel, &boundary, &sizes[index]);
            let part = triangulation::triangulated(panel, &boundary, &grid, &sizes[index])?;
            mesh.append(panel, part, &sizes[index]);
            boundaries.push(boundary);
        }
        mesh.add_seams(&division, &boundaries);
        Ok(mesh)
    }

    /// Number of the vertex that each one becomes where the vertices of closed seams are one, in the order of the first
    /// of each.
    #[must_use]
    pub fn welded(&self) -> Vec<u32> {
        let mut groups = UnionFind::new(self.flat.len());
        for SeamPair { vertices: [one, other], .. } in &self.seams {
            groups.union(*one, *other);
        }
        let roots = groups.roots();
        let mut numbers = vec![0; roots.len()];
        let mut count = 0;
        for (vertex, root) in roots.iter().enumerate() {
            // The root of a group is its first vertex.
            if *root as usize == vertex {
                numbers[vertex] = count;
                count += 1;
            } else {
                numbers[vertex] = numbers[*root as usize];
            }
        }
        numbers
    }

    /// Vertices of a panel.
    ///
    /// # Panics
    /// If there is no such panel.
    #[must_use]
    pub fn vertices_of(&self, panel: usize) -> Range<usize> {
        self.panel_starts[panel] as usize..self.panel_starts[panel + 1] as usize
    }
}

/// Refuses an edge length in m that is no number more than 0, and a pattern with a mistake.
fn check_for_mesh(pattern: &Pattern, edge_length: f64) -> Result<()> {
    if !(edge_length.is_finite() && edge_length > 0.0) {
        let wanted = "a finite number of metres, more than 0";
        return Err(Error::value("edge_length", edge_length, wanted));
    }
    check(pattern, edge_length)
}

/// A mistake at a point of a panel.
fn point_error(panel: &Panel, found: &str, point: Point, wanted: &str) -> Error {
    let reason = format!("{found} near ({:.4}, {:.4}) m; {wanted}", point.x, point.y);
    Error::Pattern { subject: format!("panel \"{}\"", panel.name), reason }
}

/// Refuses a panel that the grid would cover with too many cells, as wrong units do.
fn check_cell_count(panel: &Panel, size: &PanelSize<'_>) -> Result<()> {
    let boxes = panel.contours().flat_map(Contour::all_segments).map(|part| part.bounding_box());
    let bounds = boxes.reduce(|one, other| one.union(other)).unwrap_or_default();
    let reach = bounds.width().hypot(bounds.height());
    let lines = panel.contours().chain(&panel.internal_lines).flat_map(Contour::all_segments);
    let length: f64 = lines.map(|part| part.arclen(reach)).sum();
    let cells = (reach / size.smallest()).powi(2) + length / size.smallest();
    if cells <= MAX_CELLS {
        return Ok(());
    }
    Err(Error::Pattern {
        subject: format!("panel \"{}\"", panel.name),
        reason: format!(
            "{:.2} m by {:.2} m, too many cells of {} m; wanted at most {MAX_CELLS:e}, with other units or a longer \
             edge length",
            bounds.width(),
            bounds.height(),
            size.smallest()
        ),
    })
}

impl PatternMesh {
    /// Adds the pairs of all stitches. Two stitches that meet at both their corners have a pair in common: the first has it.
    fn add_seams(&mut self, division: &Division, boundaries: &[PanelBoundary]) {
        let vertex = |sample: &SampleId| {
            self.panel_starts[sample.panel] + boundaries[sample.panel].vertex(sample)
        };
        let of_stitch = |pairs: &Vec<[SampleId; 2]>| {
            pairs.iter().map(|pair| pair.each_ref().map(vertex)).collect()
        };
        self.seams = distinct_pairs(division.seams.iter().map(of_stitch).collect());
    }

    /// Appends the mesh of one panel.
    fn append(&mut self, panel: &Panel, part: PanelMesh, size: &PanelSize<'_>) {
        let (start, index) = (self.flat.len() as u32, self.panel_starts.len() as u32 - 1);
        let is_clockwise = panel.is_clockwise();
        let triangle = |corners: [u32; 3]| {
            let [a, b, c] = corners.map(|vertex| vertex + start);
            if is_clockwise { [a, c, b] } else { [a, b, c] }
        };
        self.quality.push(PanelQuality::new(&part, size));
        for (cell, corners) in part.cells.iter().enumerate() {
            let [a, b, c, d] = corners.map(|vertex| vertex + start);
            self.cells.push(if is_clockwise { [a, d, c, b] } else { [a, b, c, d] });
            self.cell_triangles.push((self.triangles.len() + 2 * cell) as u32);
        }
        self.triangles.extend(part.triangles.iter().copied().map(triangle));
        self.panel_of_triangle.resize(self.triangles.len(), index);
        for point in &part.points {
            self.flat.push([point.x, point.y]);
            self.uv.push(panel.yarn_axes(*point));
            self.placed.push(panel.placement.placed(*point));
        }
        for (line, vertices) in part.lines {
            let vertices = vertices.into_iter().map(|vertex| vertex + start).collect();
            self.internal_lines.push(LineVertices { panel: index, line, vertices });
        }
        self.panel_starts.push(self.flat.len() as u32);
    }
}

/// Pairs of vertices of each stitch, without those that are there already.
fn distinct_pairs(of_stitches: Vec<Vec<[u32; 2]>>) -> Vec<SeamPair> {
    let mut known: BTreeSet<[u32; 2]> = BTreeSet::new();
    let mut seams = Vec::new();
    for (stitch, pairs) in of_stitches.into_iter().enumerate() {
        for [one, other] in pairs {
            // The legs of a dart share their tip.
            if one != other && known.insert([one.min(other), one.max(other)]) {
                seams.push(SeamPair { vertices: [one, other], stitch: stitch as u32 });
            }
        }
    }
    seams
}

/// Part of a mesh: one panel, with vertices of its own.
struct PanelMesh {
    points: Vec<Point>,
    /// Counter-clockwise in the plane of the panel; those of the cells first.
    triangles: Vec<[u32; 3]>,
    cells: Vec<[u32; 4]>,
    /// Index of each internal line with the vertices of one piece of it.
    lines: Vec<(u32, Vec<u32>)>,
}

#[cfg(test)]
mod tests;
