// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vertices of one panel that are given: those of its outline and cut-outs, and of its internal lines.

use super::{
    MeshParameters,
    division::{Division, EdgeId, SampleId, whole},
    edge_length::PanelSize,
    segments::{Segments, closed_pieces},
};
use crate::{
    error::{Error, Result},
    pattern::{Arclength, Panel},
};
use kurbo::{Point, Vec2};

/// What a point of an internal line becomes.
enum LinePlace {
    /// This vertex.
    Vertex(u32),
    /// Nothing: it is inside, but close to a loop or another line. The line goes on behind it.
    Close,
    /// The end of a piece.
    Outside,
}

/// Given vertices of a panel: loops first, then internal lines.
pub(super) struct PanelBoundary {
    pub(super) points: Vec<Point>,
    /// Vertices of the outline and of each cut-out in their order.
    pub(super) loops: Vec<Vec<u32>>,
    /// Internal line and the vertices of one piece of it.
    pub(super) lines: Vec<(u32, Vec<u32>)>,
    /// First vertex of each edge, by contour; counted within the contour.
    edge_starts: Vec<Vec<usize>>,
    /// All straight pieces of loops and lines.
    segments: Segments,
}

fn mean(points: &[Point]) -> Point {
    let sum = points.iter().fold(Vec2::ZERO, |sum, point| sum + point.to_vec2());
    (sum / points.len() as f64).to_point()
}

impl PanelBoundary {
    pub(super) fn new(
        panel: &Panel,
        index: usize,
        division: &Division,
        size: &PanelSize<'_>,
    ) -> Result<Self> {
        let mut boundary = Self {
            points: Vec::new(),
            loops: Vec::new(),
            lines: Vec::new(),
            edge_starts: Vec::new(),
            segments: Segments::default(),
        };
        for contour in 0..=panel.cutouts.len() {
            boundary.add_loop(panel, index, contour, division)?;
        }
        boundary.index_segments();
        for line in 0..panel.internal_lines.len() {
            boundary.add_line(panel, line, size);
        }
        Ok(boundary)
    }

    /// The vertex of a place of an edge.
    pub(super) fn vertex(&self, sample: &SampleId) -> u32 {
        let vertices = &self.loops[sample.contour];
        let place = self.edge_starts[sample.contour][sample.edge] + sample.sample;
        vertices[place % vertices.len()]
    }

    fn add_loop(
        &mut self,
        panel: &Panel,
        index: usize,
        contour: usize,
        division: &Division,
    ) -> Result<()> {
        let first = self.points.len();
        let Some(shape) = panel.contours().nth(contour) else { return Ok(()) };
        let mut starts = Vec::new();
        // Corners that are one vertex: the start of merged edges, and of the edge behind them.
        let mut corners: Vec<Point> = Vec::new();
        for edge in 0..shape.edges.len() {
            starts.push(self.points.len() - first);
            corners.push(shape.points[edge]);
            let samples = &division.samples[&EdgeId { panel: index, contour, edge }];
            if samples.len() > 1 {
                self.points.push(mean(&std::mem::take(&mut corners)));
                let curve = Arclength::new(shape.segments(edge));
                let inner = &samples[1..samples.len() - 1];
                self.points.extend(inner.iter().map(|along| curve.at(*along)));
            }
        }
        if let Some(start) = self.points.get_mut(first).filter(|_| !corners.is_empty()) {
            corners.push(*start);
            *start = mean(&corners);
        }
        let count = self.points.len() - first;
        if count < 3 {
            let kind = contour
                .checked_sub(1)
                .map_or("the outline".to_owned(), |cutout| format!("cut-out {cutout}"));
            return Err(Error::Pattern {
                subject: format!("panel \"{}\"", panel.name),
                reason: format!(
                    "{kind} has {count} vertices at this edge length; wanted a shorter one"
                ),
            });
        }
        self.loops.push((first as u32..self.points.len() as u32).collect());
        self.edge_starts.push(starts);
        Ok(())
    }

    /// Adds the pieces of an internal line that are inside the outline and not along it; ends on the outline become
    /// vertices of it.
    fn add_line(&mut self, panel: &Panel, line: usize, size: &PanelSize<'_>) {
        let shape = &panel.internal_lines[line];
        let mut samples: Vec<Point> = Vec::new();
        for edge in 0..shape.edges.len() {
            let curve = Arclength::new(shape.segments(edge));
            let count = (curve.length() / size.at(curve.at(curve.length() / 2.0))).round().max(1.0);
            let place = |sample: usize| curve.at(curve.length() * sample as f64 / count);
            samples.extend((0..whole(count)).map(place));
        }
        let end = if shape.is_closed() { shape.points.first() } else { shape.points.last() };
        samples.extend(end);
        let mut piece: Vec<u32> = Vec::new();
        for point in samples {
            match self.line_place(point, size) {
                LinePlace::Vertex(vertex) if piece.last() != Some(&vertex) => piece.push(vertex),
                LinePlace::Vertex(_) | LinePlace::Close => {}
                LinePlace::Outside => self.finish_piece(line, &mut piece),
            }
        }
        self.finish_piece(line, &mut piece);
        self.index_segments();
    }

    fn finish_piece(&mut self, line: usize, piece: &mut Vec<u32>) {
        let vertices = std::mem::take(piece);
        if vertices.len() > 1 {
            self.lines.push((line as u32, vertices));
        }
    }

    /// What a point of an internal line becomes: a vertex that is near already, or else a new one.
    fn line_place(&mut self, point: Point, size: &PanelSize<'_>) -> LinePlace {
        let near = 0.5 * size.at(point);
        let distance = |vertex: &u32| (self.points[*vertex as usize] - point).hypot();
        let vertices = 0..self.points.len() as u32;
        let nearest = vertices.min_by(|one, other| distance(one).total_cmp(&distance(other)));
        if let Some(vertex) = nearest.filter(|vertex| distance(vertex) < near) {
            return LinePlace::Vertex(vertex);
        }
        if !self.segments.encloses(point) {
            return LinePlace::Outside;
        }
        if self.distance(point, near) < near {
            return LinePlace::Close;
        }
        self.points.push(point);
        LinePlace::Vertex(self.points.len() as u32 - 1)
    }

    fn index_segments(&mut self) {
        let point = |vertex: &u32| self.points[*vertex as usize];
        let closed = self.loops.iter().flat_map(|vertices| {
            let points: Vec<Point> = vertices.iter().map(point).collect();
            closed_pieces(&points).collect::<Vec<_>>()
        });
        let open = self.lines.iter().flat_map(|(_, vertices)| {
            vertices.windows(2).map(|pair| [point(&pair[0]), point(&pair[1])])
        });
        self.segments = Segments::new(closed.collect(), open.collect());
    }

    /// Distance of a point to all loops and lines, in m; infinite beyond `limit`.
    pub(super) fn distance(&self, point: Point, limit: f64) -> f64 {
        self.segments.distance(point, limit)
    }

    /// Whether a grid point of a cell of this size is away from everything that is given.
    pub(super) fn is_clear(&self, point: Point, cell: f64) -> bool {
        let clearance = MeshParameters::DEFAULT.clearance * cell;
        self.distance(point, clearance) >= clearance && self.segments.encloses(point)
    }
}
