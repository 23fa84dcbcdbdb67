// SPDX-License-Identifier: MIT OR Apache-2.0
//! Trimmed surfaces: an outline inscribed in a regular grid of quads, which carries a visible mesh (Etzmuss 2002, section
//! 2.7, figure 2.8).
//!
//! 1. A grid along the grain covers each panel; cells without any of it are left out ([`grid_triangle`]).
//! 2. The outline is divided where it crosses the sides and diagonals of the cells ([`outline`]). The part of the panel in
//!    each half of a cell is triangulated ([`cut`]): every visible triangle lies in one simulated triangle, so that what
//!    is drawn is a part of the surface that contact acts on, in every shape.
//! 3. Each visible vertex has barycentric coordinates in its half of a cell, as the document has it.
//! 4. The corners of a cell share its cloth by the integrals of their bilinear shape functions. So mass, centre of mass
//!    and every integral of a bilinear function are those of the visible mesh: the finite cell method (Düster, Parvizian,
//!    Yang and Rank 2008) with the corners as its points of quadrature.
//!
//! Both sides of a gap that share a cell would be joined: such a panel is refused ([`gaps`]).

mod cut;
mod gaps;
mod grid_triangle;
mod outline;

use super::{check_cell_count, check_for_mesh, edge_length::PanelSize, grid::Frame, point_error};
use crate::{
    error::{Error, Result},
    pattern::{Panel, Pattern},
    vec3::Vec3,
};
use cut::VisibleVertex;
use gaps::Cells;
use grid_triangle::{Corner, GridTriangle, at, cell_corners};
use kurbo::Point;
use outline::DividedOutline;
use std::collections::{BTreeMap, BTreeSet};

/// Proportions of trimmed surfaces.
struct TrimmedParameters {
    /// Largest distance of the outline from its straight pieces (edge lengths). Effect: larger loses cloth at curved
    /// outlines; smaller adds visible vertices, which cost no simulation. Evidence: `a_trimmed_circle_has_its_area`.
    outline_tolerance: f64,
    /// Distance within which both sides of a gap have to be connected where they share a cell (cells). Effect: larger
    /// joins both sides along more of a narrow gap; smaller refuses corners that are wide open. Evidence:
    /// `narrow_gaps_are_refused_and_open_corners_are_not`, with 3 alone.
    gap_end: i64,
}

impl TrimmedParameters {
    const DEFAULT: Self = Self { outline_tolerance: 1e-3, gap_end: 3 };
}

/// Grids of panels, and the visible meshes that they carry.
#[derive(Clone, Debug, Default)]
pub struct TrimmedMesh {
    /// Corners of the cells in the plane of their panel, in m.
    pub flat: Vec<[f64; 2]>,
    /// Corners of the cells in yarn axes, in m: u along the warp, v along the weft.
    pub uv: Vec<[f64; 2]>,
    /// Corners of the cells in space, in m, where the placement of their panel puts them.
    pub placed: Vec<Vec3>,
    /// Cells, counter-clockwise seen from the right side.
    pub cells: Vec<[u32; 4]>,
    /// Both halves of each cell, in the order of the cells.
    pub triangles: Vec<[u32; 3]>,
    /// Part of each corner of each cell that is cloth: its share of the panel over a quarter of the cell, at most 1.
    pub corner_coverage: Vec<[f64; 4]>,
    /// First corner of cells of each panel, and the number of all of them last.
    pub panel_starts: Vec<u32>,
    /// Panel of each cell.
    pub panel_of_cell: Vec<u32>,
    /// The visible mesh.
    pub visible: VisibleMesh,
}

/// A mesh of the panels themselves, whose vertices follow the grid.
#[derive(Clone, Debug, Default)]
pub struct VisibleMesh {
    /// Vertices in the plane of their panel, in m.
    pub flat: Vec<[f64; 2]>,
    /// Vertices in yarn axes, in m.
    pub uv: Vec<[f64; 2]>,
    /// Triangles, counter-clockwise seen from the right side. Each lies in one half of a cell.
    pub triangles: Vec<[u32; 3]>,
    /// First vertex of each panel, and the number of all vertices last.
    pub panel_starts: Vec<u32>,
    /// Corners of the half of a cell that each vertex is in.
    pub corners: Vec<[u32; 3]>,
    /// Barycentric coordinates of each vertex there: none below 0, and their sum is 1.
    pub weights: Vec<[f64; 3]>,
}

impl VisibleMesh {
    /// Where the vertices are when the corners of the cells are at `positions`, in m.
    ///
    /// # Panics
    /// If there are fewer positions than corners.
    #[must_use]
    pub fn carried_by(&self, positions: &[Vec3]) -> Vec<Vec3> {
        let each = self.corners.iter().zip(&self.weights);
        let place = |(corners, weights): (&[u32; 3], &[f64; 3])| {
            corners
                .iter()
                .zip(weights)
                .map(|(corner, part)| positions[*corner as usize] * *part)
                .sum()
        };
        each.map(place).collect()
    }
}

/// One panel in the coordinates of its grid.
struct TrimmedPanel {
    outline: DividedOutline,
    /// Visible triangles by the halves of cells that they lie in.
    visible: BTreeMap<GridTriangle, Vec<[VisibleVertex; 3]>>,
}

impl TrimmedPanel {
    fn new(panel: &Panel, contours: &[Vec<Point>], frame: &Frame<'_>) -> Result<Self> {
        let outline = DividedOutline::new(contours, frame);
        let mut visible = BTreeMap::new();
        for (triangle, touching) in &outline.touched {
            let part = cut::cut(&outline, *triangle, touching).map_err(|crossing| {
                let point = frame.point(0, crossing.0.x, crossing.0.y);
                let found = "the outline meets itself";
                point_error(panel, found, point, "wanted contours apart from each other")
            })?;
            if !part.is_empty() {
                visible.insert(*triangle, part);
            }
        }
        let [columns, rows] = frame.reach.map(|reach| reach.ceil() as i64);
        for column in -columns..columns {
            for row in -rows..rows {
                for half in GridTriangle::halves([column, row]) {
                    let corners = half.corners();
                    let [a, b, c] = corners.map(|corner| at(corner).to_vec2());
                    let middle = ((a + b + c) / 3.0).to_point();
                    if !outline.touched.contains_key(&half) && outline.encloses(middle) {
                        let own = corners.map(|corner| VisibleVertex::at_corner(&outline, corner));
                        visible.insert(half, vec![own]);
                    }
                }
            }
        }
        let trimmed = Self { outline, visible };
        match trimmed.cells().first_narrow_gap() {
            None => Ok(trimmed),
            Some((column, row)) => {
                let point = frame.point(0, column as f64, row as f64);
                let found = "a gap narrower than a cell, which would join both its sides,";
                let wanted = "wanted a shorter edge length, or a mesh that is not trimmed";
                Err(point_error(panel, found, point, wanted))
            }
        }
    }

    fn cells(&self) -> Cells {
        let mut triangles: BTreeMap<[i64; 2], Vec<[VisibleVertex; 3]>> = BTreeMap::new();
        for (half, own) in &self.visible {
            triangles.entry([half.column, half.row]).or_default().extend(own);
        }
        let touched = self.outline.touched.keys().map(|half| [half.column, half.row]).collect();
        Cells { triangles, touched }
    }

    /// The integral of the shape function of each corner of a cell over the panel, over a quarter of the cell.
    fn coverage(&self, cell: [i64; 2]) -> [f64; 4] {
        let mut integrals = [0.0; 4];
        let is_touched = |half: &GridTriangle| self.outline.touched.contains_key(half);
        if !GridTriangle::halves(cell).iter().any(is_touched) {
            return [1.0; 4];
        }
        let own = GridTriangle::halves(cell).into_iter().filter_map(|half| self.visible.get(&half));
        for corners in own.flatten() {
            let [a, b, c] = corners.map(|vertex| {
                let place = vertex.place(&self.outline);
                Point::new(place.x - cell[0] as f64, place.y - cell[1] as f64)
            });
            let area = 0.5 * (b - a).cross(c - a);
            // Exact for the shape functions, which are of second degree.
            for middle in [a.midpoint(b), b.midpoint(c), c.midpoint(a)] {
                for (integral, value) in integrals.iter_mut().zip(shape_functions(middle)) {
                    *integral += area / 3.0 * value;
                }
            }
        }
        integrals.map(|integral| (4.0 * integral).min(1.0))
    }
}

/// Bilinear shape functions of the corners of a cell at a point counted from its first corner.
fn shape_functions(Point { x, y }: Point) -> [f64; 4] {
    [(1.0 - x) * (1.0 - y), x * (1.0 - y), x * y, (1.0 - x) * y]
}

impl TrimmedMesh {
    /// Inscribes all panels of a pattern in regular grids of quads.
    ///
    /// # Errors
    /// The pattern has a mistake or a stitch, an edge length is no number more than 0, or a panel has a gap that is
    /// narrower than its cells.
    pub fn new(pattern: &Pattern, edge_length: f64) -> Result<Self> {
        check_for_mesh(pattern, edge_length)?;
        if !pattern.stitches.is_empty() {
            let found = format!("a pattern with {} stitches", pattern.stitches.len());
            let wanted = "panels without stitches: a trimmed outline has no vertices to be sewn";
            return Err(Error::value("trimmed_mesh", found, wanted));
        }
        let mut mesh = Self { panel_starts: vec![0], ..Self::default() };
        mesh.visible.panel_starts = vec![0];
        for panel in &pattern.panels {
            let length = panel.edge_length.unwrap_or(edge_length);
            check_cell_count(panel, &PanelSize::new(length, None))?;
            let contours = outline::flattened(panel, length);
            let frame = Frame::new(panel, &contours.concat(), length);
            let part = TrimmedPanel::new(panel, &contours, &frame)?;
            mesh.append(panel, &frame, &part);
        }
        Ok(mesh)
    }

    /// Appends one panel.
    fn append(&mut self, panel: &Panel, frame: &Frame<'_>, part: &TrimmedPanel) {
        let cells: BTreeSet<[i64; 2]> =
            part.visible.keys().map(|half| [half.column, half.row]).collect();
        let corners: BTreeSet<Corner> = cells.iter().flat_map(|cell| cell_corners(*cell)).collect();
        let start = self.flat.len() as u32;
        let indices: BTreeMap<Corner, u32> = corners.into_iter().zip(start..).collect();
        for corner in indices.keys() {
            let point = frame.point(0, corner.0 as f64, corner.1 as f64);
            self.flat.push([point.x, point.y]);
            self.uv.push(panel.yarn_axes(point));
            self.placed.push(panel.placement.placed(point));
        }
        let is_clockwise = panel.is_clockwise();
        let index = self.panel_starts.len() as u32 - 1;
        for cell in cells {
            let [a, b, c, d] = cell_corners(cell).map(|corner| indices[&corner]);
            let [p, q, r, s] = part.coverage(cell);
            self.cells.push(if is_clockwise { [a, d, c, b] } else { [a, b, c, d] });
            self.corner_coverage.push(if is_clockwise { [p, s, r, q] } else { [p, q, r, s] });
            self.panel_of_cell.push(index);
            for half in GridTriangle::halves(cell) {
                let corners = half.corners().map(|corner| indices[&corner]);
                self.triangles.push(wound(corners, is_clockwise));
            }
        }
        self.panel_starts.push(self.flat.len() as u32);
        self.visible.append(panel, frame, part, &indices);
    }
}

impl VisibleMesh {
    fn append(
        &mut self,
        panel: &Panel,
        frame: &Frame<'_>,
        part: &TrimmedPanel,
        indices: &BTreeMap<Corner, u32>,
    ) {
        let mut vertices: BTreeMap<VisibleVertex, u32> = BTreeMap::new();
        for (half, triangles) in &part.visible {
            for triangle in triangles {
                let corners = triangle.map(|vertex| {
                    *vertices.entry(vertex).or_insert_with(|| {
                        let place = vertex.place(&part.outline);
                        let point = frame.point(0, place.x, place.y);
                        self.flat.push([point.x, point.y]);
                        self.uv.push(panel.yarn_axes(point));
                        self.corners.push(half.corners().map(|corner| indices[&corner]));
                        self.weights.push(half.weights(place));
                        self.flat.len() as u32 - 1
                    })
                });
                self.triangles.push(wound(corners, panel.is_clockwise()));
            }
        }
        self.panel_starts.push(self.flat.len() as u32);
    }
}

/// A triangle as it is seen from the right side of its panel.
fn wound([a, b, c]: [u32; 3], is_clockwise: bool) -> [u32; 3] {
    if is_clockwise { [a, c, b] } else { [a, b, c] }
}

#[cfg(test)]
mod tests;
