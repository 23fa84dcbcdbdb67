// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pieces as a drawing has them: on a page, in m, y up.

use crate::{
    error::Result,
    pattern::{Contour, Notch, NotchKind, Panel, Placement, panel_error},
    vec3::Vec3,
};
use kurbo::{Point, Rect, Shape as _, Vec2};
use nalgebra::UnitQuaternion;
use std::f64::consts::FRAC_PI_2;

/// Distance in m below which drawn points are the same.
pub(super) const SAME: f64 = 1e-5;

/// A mark that is to lie on the outline.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawnNotch {
    pub(super) point: Point,
    pub(super) depth: f64,
    pub(super) kind: NotchKind,
}

/// A piece with everything that belongs to it.
#[derive(Clone, Debug, Default)]
pub(super) struct DrawnPiece {
    pub(super) name: String,
    pub(super) outline: Contour,
    pub(super) cutouts: Vec<Contour>,
    pub(super) internal_lines: Vec<Contour>,
    pub(super) notches: Vec<DrawnNotch>,
    /// Ends of the grain line.
    pub(super) grain: Option<[Point; 2]>,
}

impl DrawnPiece {
    /// The panel: its origin in the middle of the piece, the page upright in space.
    pub(super) fn panel(self) -> Result<Panel> {
        let mut notches = Vec::new();
        for notch in &self.notches {
            notches.push(self.notch(notch)?);
        }
        let bounds = self.outline.all_segments().map(|segment| segment.bounding_box());
        let centre = bounds
            .reduce(|one, other| one.union(other))
            .map_or(Point::ZERO, |bounds: Rect| bounds.center());
        let moved = |contour: &Contour| contour.mapped(1.0, |point| point - centre.to_vec2());
        let mut panel = Panel::new(self.name, moved(&self.outline));
        panel.cutouts = self.cutouts.iter().map(moved).collect();
        panel.internal_lines = self.internal_lines.iter().map(moved).collect();
        panel.notches = notches;
        if let Some([from, to]) = self.grain {
            let along: Vec2 = to - from;
            panel.grain = along.y.atan2(along.x);
        }
        panel.placement = Placement {
            rotation: UnitQuaternion::from_euler_angles(FRAC_PI_2, 0.0, 0.0),
            translation: Vec3::new(centre.x, 0.0, centre.y),
        };
        Ok(panel)
    }

    fn notch(&self, drawn: &DrawnNotch) -> Result<Notch> {
        let Some(nearest) = self.outline.nearest(drawn.point) else {
            return Err(panel_error(&self.name, None, "no outline".to_owned(), "a closed one"));
        };
        let length = self.outline.length(nearest.edge);
        Ok(Notch {
            edge: nearest.edge,
            position: (nearest.along / length).clamp(0.0, 1.0),
            depth: drawn.depth,
            kind: drawn.kind,
        })
    }
}
