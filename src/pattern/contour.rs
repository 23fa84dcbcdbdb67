// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contours of a panel: chains of straight and curved edges in the plane, in m.

use kurbo::{
    Arc, CubicBez, Line, ParamCurve, ParamCurveArclen, ParamCurveArea, ParamCurveNearest, PathSeg,
    Point, QuadBez, Shape, SvgArc, Vec2,
};

/// Error of lengths and of arcs drawn as cubics, over the length of the edge.
const RELATIVE_ACCURACY: f64 = 1e-9;
/// Straight pieces that a flattened curve has for each of its segments.
const FLAT_PIECES: usize = 32;

/// Shape of an edge between its two ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// A straight line.
    Line,
    /// A quadratic Bézier curve with its control point, in m.
    Quadratic(Point),
    /// A cubic Bézier curve with its control points, in m.
    Cubic(Point, Point),
    /// A circular arc, as the `A` command of SVG describes it.
    Arc {
        /// Radius, in m.
        radius: f64,
        /// Whether it is the longer of the two arcs.
        is_large: bool,
        /// Whether it turns from x to y.
        is_positive: bool,
    },
    /// Straight pieces through points in m, without both ends: a digitised curve.
    Polyline(Vec<Point>),
}

impl Curve {
    /// The curve with all its points moved by `map`; `scale` is that of lengths, negative for a reflection.
    #[must_use]
    pub fn mapped(&self, scale: f64, map: impl Fn(Point) -> Point) -> Self {
        match self {
            Self::Line => Self::Line,
            Self::Quadratic(control) => Self::Quadratic(map(*control)),
            Self::Cubic(first, second) => Self::Cubic(map(*first), map(*second)),
            Self::Arc { radius, is_large, is_positive } => Self::Arc {
                radius: radius * scale.abs(),
                is_large: *is_large,
                is_positive: *is_positive == (scale > 0.0),
            },
            Self::Polyline(points) => {
                Self::Polyline(points.iter().map(|point| map(*point)).collect())
            }
        }
    }
}

/// One edge of a contour.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Its shape.
    pub curve: Curve,
    /// A name of its own, kept for whoever wrote it.
    pub label: Option<String>,
}

impl Edge {
    /// An edge without a name.
    #[must_use]
    pub fn new(curve: Curve) -> Self {
        Self { curve, label: None }
    }
}

/// A chain of edges: edge i runs from point i to point i + 1, the last edge of a closed contour to point 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contour {
    /// Ends of the edges, in m: as many as edges if closed, otherwise one more.
    pub points: Vec<Point>,
    /// The edges in their order.
    pub edges: Vec<Edge>,
}

impl Contour {
    /// A chain of straight edges.
    #[must_use]
    pub fn polygon(points: Vec<Point>, is_closed: bool) -> Self {
        let count = points.len().saturating_sub(usize::from(!is_closed));
        Self { points, edges: vec![Edge::new(Curve::Line); count] }
    }

    /// A chain of segments, each of which starts where the last one ends.
    #[must_use]
    pub fn from_segments(segments: &[PathSeg], is_closed: bool) -> Self {
        let edge = |segment: &PathSeg| {
            Edge::new(match segment {
                PathSeg::Line(_) => Curve::Line,
                PathSeg::Quad(quad) => Curve::Quadratic(quad.p1),
                PathSeg::Cubic(cubic) => Curve::Cubic(cubic.p1, cubic.p2),
            })
        };
        let mut points: Vec<Point> = segments.iter().map(ParamCurve::start).collect();
        if !is_closed {
            points.extend(segments.last().map(ParamCurve::end));
        }
        Self { points, edges: segments.iter().map(edge).collect() }
    }

    /// Whether the last edge ends where the first one starts.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.points.len() == self.edges.len()
    }

    /// Both ends of an edge.
    ///
    /// # Panics
    /// If there is no such edge.
    #[must_use]
    pub fn ends(&self, edge: usize) -> [Point; 2] {
        [self.points[edge], self.points[(edge + 1) % self.points.len()]]
    }

    /// The segments that an edge consists of: one, or several for an arc.
    ///
    /// # Panics
    /// If there is no such edge.
    #[must_use]
    pub fn segments(&self, edge: usize) -> Vec<PathSeg> {
        let [from, to] = self.ends(edge);
        match &self.edges[edge].curve {
            Curve::Line => vec![Line::new(from, to).into()],
            Curve::Quadratic(control) => vec![QuadBez::new(from, *control, to).into()],
            Curve::Cubic(first, second) => vec![CubicBez::new(from, *first, *second, to).into()],
            Curve::Arc { radius, is_large, is_positive } => {
                arc_segments([from, to], *radius, *is_large, *is_positive)
            }
            Curve::Polyline(points) => {
                let points: Vec<Point> =
                    [from].into_iter().chain(points.iter().copied()).chain([to]).collect();
                points.windows(2).map(|pair| Line::new(pair[0], pair[1]).into()).collect()
            }
        }
    }

    /// Length of an edge, in m.
    ///
    /// # Panics
    /// If there is no such edge.
    #[must_use]
    pub fn length(&self, edge: usize) -> f64 {
        Arclength::new(self.segments(edge)).length()
    }

    /// All segments in their order.
    pub fn all_segments(&self) -> impl Iterator<Item = PathSeg> + '_ {
        (0..self.edges.len()).flat_map(|edge| self.segments(edge))
    }

    /// Enclosed area, in m²: positive if the contour runs from x to y.
    #[must_use]
    pub fn signed_area(&self) -> f64 {
        self.all_segments().map(|segment| segment.signed_area()).sum()
    }

    /// Points along an edge, its start included and its end left out, close enough to show and to intersect it.
    ///
    /// # Panics
    /// If there is no such edge.
    #[must_use]
    pub fn flattened(&self, edge: usize) -> Vec<Point> {
        let piece = |segment: PathSeg| {
            let pieces = if matches!(segment, PathSeg::Line(_)) { 1 } else { FLAT_PIECES };
            (0..pieces).map(move |place| segment.eval(place as f64 / pieces as f64))
        };
        self.segments(edge).into_iter().flat_map(piece).collect()
    }

    /// The contour with all its points moved by `map`; `scale` is that of lengths, negative for a reflection.
    #[must_use]
    pub fn mapped(&self, scale: f64, map: impl Fn(Point) -> Point) -> Self {
        let edge =
            |edge: &Edge| Edge { curve: edge.curve.mapped(scale, &map), label: edge.label.clone() };
        Self {
            points: self.points.iter().map(|point| map(*point)).collect(),
            edges: self.edges.iter().map(edge).collect(),
        }
    }

    /// Edge and arc length from its start, in m, of the point nearest to `point`; with the distance to it.
    #[must_use]
    pub fn nearest(&self, point: Point) -> Option<NearestOnContour> {
        let candidates = (0..self.edges.len()).map(|edge| {
            let (along, distance) = Arclength::new(self.segments(edge)).nearest(point);
            NearestOnContour { edge, along, distance }
        });
        candidates.min_by(|first, second| first.distance.total_cmp(&second.distance))
    }
}

/// The place of a contour that is nearest to a point.
#[derive(Clone, Copy, Debug)]
pub struct NearestOnContour {
    /// The edge.
    pub edge: usize,
    /// Length along the edge from its start, in m.
    pub along: f64,
    /// Distance to the point, in m.
    pub distance: f64,
}

/// An edge by its arc length.
#[derive(Clone, Debug)]
pub struct Arclength {
    segments: Vec<PathSeg>,
    /// Length up to the start of each segment, and of all of them, in m.
    starts: Vec<f64>,
}

impl Arclength {
    /// Measures the segments of an edge.
    #[must_use]
    pub fn new(segments: Vec<PathSeg>) -> Self {
        let mut starts = vec![0.0];
        for segment in &segments {
            let accuracy = RELATIVE_ACCURACY * segment.to_cubic().bounding_box().size().max_side();
            let length = segment.arclen(accuracy.max(f64::MIN_POSITIVE));
            starts.push(starts[starts.len() - 1] + length);
        }
        Self { segments, starts }
    }

    /// Length of the edge, in m.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.starts[self.segments.len()]
    }

    /// The point at a length along the edge.
    #[must_use]
    pub fn at(&self, along: f64) -> Point {
        let found = self.starts.partition_point(|start| *start <= along);
        let index = found.clamp(1, self.segments.len()) - 1;
        let segment = self.segments[index];
        let length = self.starts[index + 1] - self.starts[index];
        let rest = (along - self.starts[index]).clamp(0.0, length);
        if matches!(segment, PathSeg::Line(_)) {
            return segment.eval(if length > 0.0 { rest / length } else { 0.0 });
        }
        segment.eval(segment.inv_arclen(rest, RELATIVE_ACCURACY * length))
    }

    /// Unit vector along the edge at a length from its start; zero where the edge has none.
    #[must_use]
    pub fn tangent(&self, along: f64) -> Vec2 {
        let step = 1e-4 * self.length();
        let between = self.at(along + step) - self.at(along - step);
        if between.hypot() > 0.0 { between / between.hypot() } else { Vec2::ZERO }
    }

    fn nearest(&self, point: Point) -> (f64, f64) {
        let candidates = self.segments.iter().zip(&self.starts).map(|(segment, start)| {
            let nearest = segment.nearest(point, RELATIVE_ACCURACY);
            let along = segment.subsegment(0.0..nearest.t).arclen(RELATIVE_ACCURACY);
            (start + along, nearest.distance_sq.sqrt())
        });
        candidates
            .min_by(|first, second| first.1.total_cmp(&second.1))
            .unwrap_or((0.0, f64::INFINITY))
    }
}

fn arc_segments(
    [from, to]: [Point; 2],
    radius: f64,
    is_large: bool,
    is_positive: bool,
) -> Vec<PathSeg> {
    let arc = SvgArc {
        from,
        to,
        radii: Vec2::new(radius, radius),
        x_rotation: 0.0,
        large_arc: is_large,
        sweep: is_positive,
    };
    let Some(arc) = Arc::from_svg_arc(&arc) else { return vec![Line::new(from, to).into()] };
    let mut start = from;
    let mut segments: Vec<PathSeg> = Vec::new();
    arc.to_cubic_beziers(RELATIVE_ACCURACY * radius, |first, second, end| {
        segments.push(CubicBez::new(start, first, second, end).into());
        start = end;
    });
    // Trigonometry leaves a rounding error at the end.
    if let Some(PathSeg::Cubic(last)) = segments.last_mut() {
        last.p3 = to;
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::PI;

    fn half_circle(is_positive: bool) -> Contour {
        let arc = Curve::Arc { radius: 1.0, is_large: false, is_positive };
        let points = vec![Point::new(-1.0, 0.0), Point::new(1.0, 0.0)];
        Contour { points, edges: vec![Edge::new(arc), Edge::new(Curve::Line)] }
    }

    #[test]
    fn an_arc_has_the_length_and_area_of_its_circle() {
        let arc = half_circle(true);
        assert!((arc.length(0) - PI).abs() < 1e-7);
        assert!((arc.signed_area() - PI / 2.0).abs() < 1e-7);
        assert!((half_circle(false).signed_area() + PI / 2.0).abs() < 1e-7);
        let lowest = Arclength::new(arc.segments(0)).at(PI / 2.0);
        assert!((lowest - Point::new(0.0, -1.0)).hypot() < 1e-7);
    }

    proptest! {
        #[test]
        fn equal_lengths_along_a_curve_are_equal_distances(
            x in -1.0..1.0_f64, y in -1.0..1.0_f64, u in 0.0..2.0_f64, v in -1.0..1.0_f64,
        ) {
            let curve = Curve::Cubic(Point::new(x, y), Point::new(u, v));
            let points = vec![Point::ZERO, Point::new(1.0, 0.5)];
            let contour = Contour { points, edges: vec![Edge::new(curve)] };
            let along = Arclength::new(contour.segments(0));
            let step = along.length() / 400.0;
            let chords: f64 = (0..400_u16)
                .map(|k| (along.at(f64::from(k + 1) * step) - along.at(f64::from(k) * step)).hypot())
                .sum();
            // A chord may cut off a cusp, of which a cubic curve has two at most.
            prop_assert!((chords / along.length() - 1.0).abs() < 2.5 / 400.0);
            let found = contour.nearest(along.at(0.3 * along.length())).unwrap();
            prop_assert!(found.distance < 1e-4);
        }

        #[test]
        fn a_reflected_contour_has_the_opposite_area(radius in 1.0..3.0_f64, large: bool) {
            let arc = Curve::Arc { radius, is_large: large, is_positive: true };
            let points = vec![Point::new(-1.0, 0.0), Point::new(1.0, 0.0)];
            let contour = Contour { points, edges: vec![Edge::new(arc), Edge::new(Curve::Line)] };
            let mirrored = contour.mapped(-2.0, |point| Point::new(-2.0 * point.x, 2.0 * point.y));
            let sum = mirrored.signed_area() + 4.0 * contour.signed_area();
            prop_assert!(sum.abs() < 1e-6 * contour.signed_area().abs());
        }
    }
}
