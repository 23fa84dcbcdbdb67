// SPDX-License-Identifier: MIT OR Apache-2.0
//! A panel: one piece of cloth as it is cut.

use super::contour::Contour;
use crate::vec3::Vec3;
use kurbo::Point;
use nalgebra::UnitQuaternion;
use std::f64::consts::FRAC_PI_2;

/// One piece of cloth. Its right side is that from which the outline runs counter-clockwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Name, unique in its pattern.
    pub name: String,
    /// The sewing line all around: closed.
    pub outline: Contour,
    /// Holes: closed contours inside the outline.
    pub cutouts: Vec<Contour>,
    /// Lines for folds, pockets and marks: open or closed contours inside the outline.
    pub internal_lines: Vec<Contour>,
    /// Marks along the outline.
    pub notches: Vec<Notch>,
    /// Direction of the warp, as an angle from x to y, in radians.
    pub grain: f64,
    /// Place in space before sewing.
    pub placement: Placement,
    /// Length of mesh edges, in m; none follows the pattern.
    pub edge_length: Option<f64>,
    /// Name of the fabric; none follows the pattern.
    pub fabric: Option<String>,
    /// Part of the garment or body that it belongs to, kept for whoever wrote it.
    pub label: Option<String>,
}

impl Panel {
    /// A panel with nothing but an outline; the warp runs along y.
    #[must_use]
    pub fn new(name: impl Into<String>, outline: Contour) -> Self {
        Self {
            name: name.into(),
            outline,
            cutouts: Vec::new(),
            internal_lines: Vec::new(),
            notches: Vec::new(),
            grain: FRAC_PI_2,
            placement: Placement::default(),
            edge_length: None,
            fabric: None,
            label: None,
        }
    }

    /// The outline, or a cut-out.
    #[must_use]
    pub fn contour(&self, cutout: Option<usize>) -> Option<&Contour> {
        cutout.map_or(Some(&self.outline), |index| self.cutouts.get(index))
    }

    /// The outline and the cut-outs, in this order.
    pub fn contours(&self) -> impl Iterator<Item = &Contour> {
        std::iter::once(&self.outline).chain(&self.cutouts)
    }

    /// Area of the cloth, without cut-outs, in m².
    #[must_use]
    pub fn area(&self) -> f64 {
        let holes: f64 = self.cutouts.iter().map(|hole| hole.signed_area().abs()).sum();
        self.outline.signed_area().abs() - holes
    }

    /// Whether the outline runs against x to y: the right side is then that of −z before placement.
    #[must_use]
    pub fn is_clockwise(&self) -> bool {
        self.outline.signed_area() < 0.0
    }

    /// Yarn axes of a point of the panel: along the warp and along the weft, in m.
    #[must_use]
    pub fn yarn_axes(&self, point: Point) -> [f64; 2] {
        let (sin, cos) = self.grain.sin_cos();
        [cos * point.x + sin * point.y, cos * point.y - sin * point.x]
    }

    /// The point of the panel with these yarn axes.
    #[must_use]
    pub fn point_at(&self, uv: [f64; 2]) -> Point {
        let (sin, cos) = self.grain.sin_cos();
        Point::new(cos * uv[0] - sin * uv[1], sin * uv[0] + cos * uv[1])
    }
}

/// Form of a notch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NotchKind {
    /// A cut across the seam allowance.
    #[default]
    Slit,
    /// A triangle.
    V,
    /// A T.
    T,
    /// A rectangle.
    Castle,
    /// A tick.
    Check,
    /// A semicircle.
    U,
}

impl NotchKind {
    /// All kinds with their names.
    pub const NAMES: [(Self, &'static str); 6] = [
        (Self::Slit, "slit"),
        (Self::V, "V"),
        (Self::T, "T"),
        (Self::Castle, "castle"),
        (Self::Check, "check"),
        (Self::U, "U"),
    ];

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(kind, _)| *kind == self).map_or("slit", |(_, name)| name)
    }
}

/// A mark on the outline, to match it with another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Notch {
    /// Edge of the outline.
    pub edge: usize,
    /// Place along the edge: 0 at its start, 1 at its end, by arc length.
    pub position: f64,
    /// Depth, in m.
    pub depth: f64,
    /// Form.
    pub kind: NotchKind,
}

/// Place of a panel in space: rotated, then moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Rotation of the plane of the panel, whose x and y are those of space and whose normal is z.
    pub rotation: UnitQuaternion<f64>,
    /// Where the origin of the panel lies, in m.
    pub translation: Vec3,
}

impl Default for Placement {
    fn default() -> Self {
        Self { rotation: UnitQuaternion::identity(), translation: Vec3::zeros() }
    }
}

impl Placement {
    /// A point of the panel in space.
    #[must_use]
    pub fn placed(&self, point: Point) -> Vec3 {
        self.rotation * Vec3::new(point.x, point.y, 0.0) + self.translation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn yarn_axes_are_a_rotation(grain in -4.0..4.0_f64, x in -1.0..1.0_f64, y in -1.0..1.0_f64) {
            let mut panel = Panel::new("a", Contour::default());
            panel.grain = grain;
            let back = panel.point_at(panel.yarn_axes(Point::new(x, y)));
            prop_assert!((back - Point::new(x, y)).hypot() < 1e-12);
            let warp = panel.point_at([1.0, 0.0]);
            prop_assert!((warp.y.atan2(warp.x) - grain.sin().atan2(grain.cos())).abs() < 1e-9);
        }
    }
}
