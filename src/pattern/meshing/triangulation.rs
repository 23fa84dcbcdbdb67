// SPDX-License-Identifier: MIT OR Apache-2.0
//! Triangles of a panel: two for each regular cell, and a refined constrained Delaunay strip around them.
//!
//! Refinement after Shewchuk 2005 (`spade`) may not split what is shared: the outline, whose vertices the other panel of a
//! seam has as well, and the sides of cells.

use super::{
    MeshParameters, PanelMesh, boundary::PanelBoundary, edge_length::PanelSize, grid::Grid,
};
use crate::{
    error::{Error, Result},
    pattern::Panel,
};
use kurbo::{Line, ParamCurveNearest as _, Point};
use spade::{
    AngleLimit, ConstrainedDelaunayTriangulation, Point2, RefinementParameters, Triangulation as _,
    handles::FixedVertexHandle,
};
use std::collections::{BTreeMap, BTreeSet};

/// Bound on the vertices that refinement may add, far beyond what any panel needs: without it the default is ten times the
/// given ones, which stops half done where an outline is coarse.
const MAX_ADDED_VERTICES: usize = 10_000_000;

/// Index of each internal line, and the vertices along one piece of it.
type Lines = Vec<(u32, Vec<u32>)>;
type Cdt = ConstrainedDelaunayTriangulation<Point2<f64>>;

/// The strip while it is built: vertices of the triangulation and those of the panel.
struct Strip<'panel> {
    panel: &'panel Panel,
    cdt: Cdt,
    /// Vertex of the triangulation for each vertex of the panel that it has.
    handles: BTreeMap<u32, FixedVertexHandle>,
    /// Vertex of the panel for each vertex of the triangulation.
    vertices: Vec<u32>,
    points: Vec<Point>,
    /// Edges between inside and outside of the strip.
    border: BTreeSet<[u32; 2]>,
    /// Number of vertices on contours, the first ones.
    contour_count: u32,
}

/// Meshes a panel.
pub(super) fn triangulated(
    panel: &Panel,
    boundary: &PanelBoundary,
    grid: &Grid,
    size: &PanelSize<'_>,
) -> Result<PanelMesh> {
    let first = boundary.points.len() as u32;
    let cells: Vec<[u32; 4]> =
        grid.cells.iter().map(|cell| cell.corners.map(|corner| corner + first)).collect();
    let mut strip = Strip {
        panel,
        cdt: Cdt::new(),
        handles: BTreeMap::new(),
        vertices: Vec::new(),
        points: boundary.points.iter().chain(&grid.points).copied().collect(),
        border: BTreeSet::new(),
        contour_count: first,
    };
    strip.insert(boundary, &cells, first)?;
    let lines = strip.insert_lines(boundary)?;
    strip.refine(size)?;
    strip.split_corners()?;
    let mut triangles = Vec::new();
    for (cell, [a, b, c, d]) in
        grid.cells.iter().zip(&cells).map(|(cell, corners)| (cell, *corners))
    {
        triangles.extend(if cell.rises { [[a, b, c], [a, c, d]] } else { [[b, c, d], [b, d, a]] });
    }
    triangles.extend(strip.triangles());
    Ok(PanelMesh { points: strip.points, triangles, cells, lines })
}

impl Strip<'_> {
    fn error(&self, reason: String) -> Error {
        Error::Pattern { subject: format!("panel \"{}\"", self.panel.name), reason }
    }

    fn insert_vertex(&mut self, vertex: u32) -> Result<()> {
        let point = self.points[vertex as usize];
        let inserted = self.cdt.insert(Point2::new(point.x, point.y));
        match inserted {
            Ok(handle) if handle.index() == self.vertices.len() => {
                self.handles.insert(vertex, handle);
                self.vertices.push(vertex);
                Ok(())
            }
            Ok(_) => Err(self.error(format!(
                "two vertices at ({}, {}) m; wanted contours apart from each other",
                point.x, point.y
            ))),
            Err(cause) => {
                Err(self.error(format!("a vertex at ({}, {}) m: {cause}", point.x, point.y)))
            }
        }
    }

    /// Inserts loops, loose grid points, and the sides of cells that belong to one cell only.
    fn insert(&mut self, boundary: &PanelBoundary, cells: &[[u32; 4]], first: u32) -> Result<()> {
        for vertex in 0..first {
            self.insert_vertex(vertex)?;
        }
        let sides = open_sides(cells);
        let inside: BTreeSet<u32> = cells.iter().flatten().copied().collect();
        let rim: BTreeSet<u32> = sides.iter().flatten().copied().collect();
        for vertex in first..self.points.len() as u32 {
            if rim.contains(&vertex) || !inside.contains(&vertex) {
                self.insert_vertex(vertex)?;
            }
        }
        let loops = boundary.loops.iter().flat_map(|vertices| {
            vertices.iter().zip(vertices.iter().cycle().skip(1)).map(|(from, to)| [*from, *to])
        });
        for [from, to] in loops.chain(sides) {
            let [one, other] = [from, to].map(|vertex| self.handles[&vertex]);
            if !self.cdt.can_add_constraint(one, other) {
                let point = self.points[from as usize];
                return Err(self.error(format!(
                    "the outline crosses itself near ({:.4}, {:.4}) m at this edge length; wanted a shorter one",
                    point.x, point.y
                )));
            }
            self.cdt.add_constraint(one, other);
            self.border.insert([from.min(to), from.max(to)]);
        }
        Ok(())
    }

    /// Inserts internal lines; where two cross they get a vertex.
    fn insert_lines(&mut self, boundary: &PanelBoundary) -> Result<Lines> {
        let mut lines = Lines::new();
        for (line, vertices) in &boundary.lines {
            lines.push((*line, vec![vertices[0]]));
            for pair in vertices.windows(2) {
                self.insert_piece([pair[0], pair[1]], &mut lines)?;
            }
        }
        Ok(lines)
    }

    /// Inserts a piece of the last line.
    fn insert_piece(&mut self, ends: [u32; 2], lines: &mut Lines) -> Result<()> {
        let [from, to] = ends.map(|vertex| self.handles[&vertex]);
        let crossed = self.cdt.get_conflicting_edges_between_vertices(from, to);
        let crossed: Vec<[u32; 2]> = crossed
            .map(|edge| [edge.from(), edge.to()].map(|end| self.vertices[end.fix().index()]))
            .collect();
        if crossed.iter().any(|edge| self.is_border(*edge)) {
            let point = self.points[ends[0] as usize];
            return Err(self.error(format!(
                "an internal line crosses the outline near ({:.4}, {:.4}) m; wanted it inside",
                point.x, point.y
            )));
        }
        let edges = self.cdt.add_constraint_and_split(from, to, |point| point);
        let added = self.points.len() as u32;
        for handle in self.vertices.len()..self.cdt.num_vertices() {
            self.add_new_vertex(handle);
        }
        for edge in crossed {
            self.split_lines(edge, added, lines);
        }
        if let Some((_, vertices)) = lines.last_mut() {
            let ends = edges.into_iter().map(|edge| self.cdt.directed_edge(edge).to().fix());
            vertices.extend(ends.map(|end| self.vertices[end.index()]));
        }
        Ok(())
    }

    /// Puts the vertex where an edge of lines was crossed, one of those from `added` on, into these lines.
    fn split_lines(&self, [from, to]: [u32; 2], added: u32, lines: &mut Lines) {
        let [start, end] = [from, to].map(|vertex| self.points[vertex as usize]);
        let distance = |vertex: &u32| {
            let nearest = Line::new(start, end).nearest(self.points[*vertex as usize], 0.0);
            nearest.distance_sq
        };
        let vertices = added..self.points.len() as u32;
        let Some(vertex) = vertices.min_by(|one, other| distance(one).total_cmp(&distance(other)))
        else {
            return;
        };
        for (_, line) in lines {
            let is_edge = |pair: &[u32]| *pair == [from, to] || *pair == [to, from];
            if let Some(place) = line.windows(2).position(is_edge) {
                line.insert(place + 1, vertex);
            }
        }
    }

    fn is_border(&self, [from, to]: [u32; 2]) -> bool {
        self.border.contains(&[from.min(to), from.max(to)])
    }

    /// Takes a vertex that the triangulation has made into the panel.
    fn add_new_vertex(&mut self, handle: usize) {
        let handle = FixedVertexHandle::from_index(handle);
        let place = self.cdt.vertex(handle).position();
        self.handles.insert(self.points.len() as u32, handle);
        self.vertices.push(self.points.len() as u32);
        self.points.push(Point::new(place.x, place.y));
    }

    fn refine(&mut self, size: &PanelSize<'_>) -> Result<()> {
        let parameters = MeshParameters::DEFAULT;
        let refined = self.cdt.refine(
            RefinementParameters::<f64>::new()
                .exclude_outer_faces(true)
                .keep_constraint_edges()
                .with_max_additional_vertices(MAX_ADDED_VERTICES)
                .with_angle_limit(AngleLimit::from_deg(parameters.min_angle))
                .with_max_allowed_area(parameters.max_area * size.largest().powi(2)),
        );
        if !refined.refinement_complete {
            return Err(
                self.error("refinement does not end; wanted a longer edge length".to_owned())
            );
        }
        for handle in self.vertices.len()..self.cdt.num_vertices() {
            self.add_new_vertex(handle);
        }
        Ok(())
    }

    /// Splits the inner side of triangles that cut off a corner. Where both sides of the corner are sewn to another
    /// one, its inner side would be that of the other corner, too: an edge of four triangles.
    fn split_corners(&mut self) -> Result<()> {
        let mut middles = Vec::new();
        for [a, b, c] in self.triangles() {
            let sides = [[a, b], [b, c], [c, a]];
            let inner: Vec<_> = sides.into_iter().filter(|side| !self.is_border(*side)).collect();
            let &[[from, to]] = inner.as_slice() else { continue };
            if [a, b, c].into_iter().all(|vertex| vertex < self.contour_count) {
                middles.push(self.points[from as usize].midpoint(self.points[to as usize]));
            }
        }
        for middle in middles {
            let inserted = self.cdt.insert(Point2::new(middle.x, middle.y));
            inserted.map_err(|cause| self.error(format!("a corner is too narrow: {cause}")))?;
        }
        for handle in self.vertices.len()..self.cdt.num_vertices() {
            self.add_new_vertex(handle);
        }
        Ok(())
    }

    /// Triangles inside the strip: those that an odd number of border edges divides from the outside.
    fn triangles(&self) -> Vec<[u32; 3]> {
        let mut is_inside: Vec<Option<bool>> = vec![None; self.cdt.num_all_faces()];
        let mut waiting = vec![(self.cdt.outer_face().fix().index(), false)];
        is_inside[waiting[0].0] = Some(false);
        let mut edges_of_face: Vec<Vec<_>> = vec![Vec::new(); self.cdt.num_all_faces()];
        for edge in self.cdt.directed_edges() {
            edges_of_face[edge.face().fix().index()].push(edge);
        }
        while let Some((face, inside)) = waiting.pop() {
            for edge in &edges_of_face[face] {
                let ends = [edge.from(), edge.to()].map(|end| self.vertices[end.fix().index()]);
                let other = edge.rev().face().fix().index();
                if is_inside[other].is_none() {
                    let next = inside != self.is_border(ends);
                    is_inside[other] = Some(next);
                    waiting.push((other, next));
                }
            }
        }
        let strip =
            self.cdt.inner_faces().filter(|face| is_inside[face.fix().index()] == Some(true));
        strip
            .map(|face| face.vertices().map(|vertex| self.vertices[vertex.fix().index()]))
            .collect()
    }
}

/// Sides of cells that belong to one cell only.
fn open_sides(cells: &[[u32; 4]]) -> Vec<[u32; 2]> {
    let mut counts: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    for cell in cells {
        for side in 0..4 {
            let [from, to] = [cell[side], cell[(side + 1) % 4]];
            *counts.entry([from.min(to), from.max(to)]).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count == 1).map(|(side, _)| side).collect()
}
