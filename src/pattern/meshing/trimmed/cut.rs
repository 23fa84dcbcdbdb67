// SPDX-License-Identifier: MIT OR Apache-2.0
//! The part of a panel in one triangle of its grid, as triangles.

use super::{
    grid_triangle::{Corner, GridTriangle, ON_LINE, at, corner_at},
    outline::{DividedOutline, Touching},
};
use kurbo::Point;
use spade::{
    ConstrainedDelaunayTriangulation, Point2, Triangulation as _, handles::FixedVertexHandle,
};

/// A vertex of the visible mesh: a corner of cells inside, or a point of the outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum VisibleVertex {
    Corner(Corner),
    Outline(u32),
}

/// Where two parts of an outline are too close to be told apart.
pub(super) struct Crossing(pub(super) Point);

/// A triangle of the grid while it is cut.
struct Cut<'outline> {
    outline: &'outline DividedOutline,
    triangle: GridTriangle,
    cdt: ConstrainedDelaunayTriangulation<Point2<f64>>,
    /// Vertices in the order of the triangulation.
    vertices: Vec<VisibleVertex>,
    /// Vertices along each side, both corners included.
    sides: [Vec<VisibleVertex>; 3],
}

/// Triangles of the panel in a triangle that its outline touches, counter-clockwise.
pub(super) fn cut(
    outline: &DividedOutline,
    triangle: GridTriangle,
    touching: &Touching,
) -> Result<Vec<[VisibleVertex; 3]>, Crossing> {
    let mut cut = Cut {
        outline,
        triangle,
        cdt: ConstrainedDelaunayTriangulation::new(),
        vertices: Vec::new(),
        sides: [0, 1, 2].map(|side| side_vertices(outline, triangle, touching, side)),
    };
    let sides = cut.sides.clone();
    for side in &sides {
        for vertex in &side[..side.len() - 1] {
            cut.insert(*vertex)?;
        }
    }
    for point in &touching.points {
        let vertex = VisibleVertex::Outline(*point);
        if !cut.vertices.contains(&vertex) {
            cut.insert(vertex)?;
        }
    }
    for side in &sides {
        for pair in side.windows(2) {
            cut.constrain([pair[0], pair[1]])?;
        }
    }
    for piece in &touching.pieces {
        let ends = piece.map(VisibleVertex::Outline);
        if !cut.is_on_one_side(&ends) {
            cut.constrain(ends)?;
        }
    }
    Ok(cut.inside())
}

impl VisibleVertex {
    /// Where it lies, counted in cells.
    pub(super) fn place(self, outline: &DividedOutline) -> Point {
        match self {
            Self::Corner(corner) => at(corner),
            Self::Outline(point) => outline.points[point as usize],
        }
    }

    /// The vertex at a corner of cells.
    pub(super) fn at_corner(outline: &DividedOutline, corner: Corner) -> Self {
        outline.at_corners.get(&corner).map_or(Self::Corner(corner), |point| Self::Outline(*point))
    }
}

impl Cut<'_> {
    fn insert(&mut self, vertex: VisibleVertex) -> Result<(), Crossing> {
        let place = vertex.place(self.outline);
        // Digits are kept by counting from the cell.
        let (x, y) = (place.x - self.triangle.column as f64, place.y - self.triangle.row as f64);
        match self.cdt.insert(Point2::new(x, y)) {
            Ok(handle) if handle.index() == self.vertices.len() => {
                self.vertices.push(vertex);
                Ok(())
            }
            _ => Err(Crossing(place)),
        }
    }

    fn constrain(&mut self, ends: [VisibleVertex; 2]) -> Result<(), Crossing> {
        let handle = |vertex: VisibleVertex| {
            let place = self.vertices.iter().position(|known| *known == vertex);
            place.map(FixedVertexHandle::from_index)
        };
        match ends.map(handle) {
            [Some(from), Some(to)] if self.cdt.can_add_constraint(from, to) => {
                self.cdt.add_constraint(from, to);
                Ok(())
            }
            _ => Err(Crossing(ends[0].place(self.outline))),
        }
    }

    fn is_on_one_side(&self, vertices: &[VisibleVertex]) -> bool {
        self.sides.iter().any(|side| vertices.iter().all(|vertex| side.contains(vertex)))
    }

    /// Triangles inside the outline, without those that rounding leaves along a side.
    fn inside(&self) -> Vec<[VisibleVertex; 3]> {
        let mut triangles = Vec::new();
        for face in self.cdt.inner_faces() {
            let corners = face.vertices().map(|vertex| self.vertices[vertex.fix().index()]);
            let [a, b, c] = corners.map(|vertex| vertex.place(self.outline).to_vec2());
            let middle = ((a + b + c) / 3.0).to_point();
            let has_area = (b - a).cross(c - a) > ON_LINE * ON_LINE;
            if has_area && !self.is_on_one_side(&corners) && self.outline.encloses(middle) {
                triangles.push(corners);
            }
        }
        triangles
    }
}

/// Vertices along a side, from one corner to the next.
fn side_vertices(
    outline: &DividedOutline,
    triangle: GridTriangle,
    touching: &Touching,
    side: usize,
) -> Vec<VisibleVertex> {
    let corners = triangle.corners();
    let ends = [corners[side], corners[(side + 1) % 3]];
    let mut between: Vec<(f64, u32)> = Vec::new();
    for point in &touching.points {
        let weights = triangle.signed_weights(outline.points[*point as usize]);
        let is_on_side = weights[(side + 2) % 3] < 0.5 * ON_LINE;
        let is_corner = corner_at(outline.points[*point as usize], 0.0).is_some();
        if is_on_side && !is_corner {
            between.push((weights[(side + 1) % 3], *point));
        }
    }
    between.sort_by(|one, other| one.0.total_cmp(&other.0));
    let first = VisibleVertex::at_corner(outline, ends[0]);
    let last = VisibleVertex::at_corner(outline, ends[1]);
    let between = between.into_iter().map(|(_, point)| VisibleVertex::Outline(point));
    std::iter::once(first).chain(between).chain([last]).collect()
}
