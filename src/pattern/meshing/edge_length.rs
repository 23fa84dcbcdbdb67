// SPDX-License-Identifier: MIT OR Apache-2.0
//! Edge length over a panel: one number, or a number times a painted factor.

use crate::error::{Error, Result};
use kurbo::Point;
use spade::{
    DelaunayTriangulation, FloatTriangulation as _, HasPosition, Point2, Triangulation as _,
};

/// Factors of the edge length at points of a panel, interpolated linearly between them.
#[derive(Clone, Debug)]
pub struct EdgeLengthMap {
    samples: DelaunayTriangulation<Sample>,
    largest: f64,
    smallest: f64,
}

/// A factor at a point.
#[derive(Clone, Copy, Debug)]
struct Sample {
    position: Point2<f64>,
    factor: f64,
}

impl HasPosition for Sample {
    type Scalar = f64;

    fn position(&self) -> Point2<f64> {
        self.position
    }
}

impl EdgeLengthMap {
    /// Factors more than 0 at points of the panel, in m.
    ///
    /// # Errors
    /// Names the first point that is not finite or factor that is no number more than 0, or the wrong number.
    pub fn new(points: &[[f64; 2]], factors: &[f64]) -> Result<Self> {
        if points.len() != factors.len() || points.is_empty() {
            let found = format!("{} factors at {} points", factors.len(), points.len());
            return Err(Error::value(
                "edge_length_factors",
                found,
                "as many factors as points, one or more",
            ));
        }
        let mut samples = DelaunayTriangulation::new();
        for (index, (point, factor)) in points.iter().zip(factors).enumerate() {
            let refused = |found: String, wanted: &str| {
                Error::element("edge_length_factors", "point", index, found, wanted)
            };
            if !(factor.is_finite() && *factor > 0.0) {
                return Err(refused(format!("factor {factor}"), "a finite number more than 0"));
            }
            let sample = Sample { position: Point2::new(point[0], point[1]), factor: *factor };
            samples
                .insert(sample)
                .map_err(|cause| refused(cause.to_string(), "finite coordinates"))?;
        }
        let largest = factors.iter().copied().fold(f64::MIN, f64::max);
        let smallest = factors.iter().copied().fold(f64::MAX, f64::min);
        Ok(Self { samples, largest, smallest })
    }

    /// The factor at a point: outside the samples that of the nearest one on their border.
    fn factor(&self, point: Point) -> f64 {
        let place = Point2::new(point.x, point.y);
        let inside = self.samples.barycentric().interpolate(|vertex| vertex.data().factor, place);
        let nearest = || self.samples.nearest_neighbor(place).map(|vertex| vertex.data().factor);
        inside.or_else(nearest).unwrap_or(self.largest).clamp(self.smallest, self.largest)
    }
}

/// Edge length that is asked for in one panel.
#[derive(Clone, Copy, Debug)]
pub(super) struct PanelSize<'map> {
    edge_length: f64,
    map: Option<&'map EdgeLengthMap>,
}

impl<'map> PanelSize<'map> {
    pub(super) fn new(edge_length: f64, map: Option<&'map EdgeLengthMap>) -> Self {
        Self { edge_length, map }
    }

    /// Edge length at a point, in m.
    pub(super) fn at(&self, point: Point) -> f64 {
        self.map.map_or(self.edge_length, |map| self.edge_length * map.factor(point))
    }

    /// Largest edge length anywhere, in m.
    pub(super) fn largest(&self) -> f64 {
        self.map.map_or(self.edge_length, |map| self.edge_length * map.largest)
    }

    /// Smallest edge length anywhere, in m.
    pub(super) fn smallest(&self) -> f64 {
        self.map.map_or(self.edge_length, |map| self.edge_length * map.smallest)
    }

    /// Whether it is the same everywhere.
    pub(super) fn is_uniform(&self) -> bool {
        self.map.is_none_or(|map| map.largest.to_bits() == map.smallest.to_bits())
    }
}
