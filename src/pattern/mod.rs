// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sewing patterns: flat panels, the stitches between them, and their meshes.
//!
//! A [`Pattern`] is read from files of others in `formats`, checked in `validation` and meshed in `meshing`. Lengths
//! are in m; z points up in space. The parts are those of Etzmuss 2002, sections 2.7 and 6.3 (panels with a grid along the
//! yarns, seams that draw them together) and of GarmentCode (Korosteleva and Sorkine-Hornung 2023), whose files it reads.

mod contour;
mod darts;
mod formats;
mod meshing;
mod panel;
mod stitch;
mod validation;

pub use contour::{Arclength, Contour, Curve, Edge, NearestOnContour};
pub use darts::Dart;
pub use formats::Format;
pub use meshing::{
    EdgeLengthMap, MeshOptions, PanelCorners, PanelQuality, PatternMesh, SeamPair, TrimmedMesh,
    VisibleMesh,
};
pub use panel::{Notch, NotchKind, Panel, Placement};
pub use stitch::{Run, Stitch};
pub use validation::{Finding, FindingKind, Place, Severity, far_panels, findings};

use crate::{
    error::{Error, Result},
    vec3::Vec3,
};

/// Flat panels and the stitches between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pattern {
    /// The panels.
    pub panels: Vec<Panel>,
    /// The seams between them.
    pub stitches: Vec<Stitch>,
}

impl Pattern {
    /// Index of the panel with a name.
    ///
    /// # Errors
    /// Names `argument`, the name that came, and the names there are.
    pub fn checked_panel_index(&self, argument: &str, name: &str) -> Result<usize> {
        panel_by_name(&self.panels, argument, name)
    }

    /// Points along an edge, both ends included, where its panel is placed in space, in m.
    ///
    /// # Errors
    /// There is no such panel, cut-out or edge.
    pub fn edge_points(
        &self,
        panel: &str,
        cutout: Option<usize>,
        edge: usize,
    ) -> Result<Vec<Vec3>> {
        let panel = &self.panels[panel_by_name(&self.panels, "panel", panel)?];
        let Some(contour) = panel.contour(cutout) else {
            let found = format!("cut-out {}", cutout.unwrap_or_default());
            let wanted = format!("one of {} cut-outs", panel.cutouts.len());
            return Err(panel_error(&panel.name, None, found, &wanted));
        };
        if edge >= contour.edges.len() {
            let wanted = format!("one below {}", contour.edges.len());
            return Err(panel_error(&panel.name, Some(edge), "no such edge".to_owned(), &wanted));
        }
        let points = contour.flattened(edge).into_iter().chain([contour.ends(edge)[1]]);
        Ok(points.map(|point| panel.placement.placed(point)).collect())
    }

    /// The contour of a run.
    pub(crate) fn contour(&self, run: &Run) -> Option<&Contour> {
        self.panels.get(run.panel)?.contour(run.cutout)
    }

    /// Lengths of both runs of a stitch, in m; edges that do not exist count as nothing.
    ///
    /// # Panics
    /// If there is no such stitch.
    #[must_use]
    pub fn seam_lengths(&self, stitch: usize) -> [f64; 2] {
        self.stitches[stitch]
            .runs
            .each_ref()
            .map(|run| self.contour(run).map_or(0.0, |contour| run.length(contour)))
    }
}

/// An error in a panel, named by it and, if given, by the edge.
fn panel_error(panel: &str, edge: Option<usize>, found: String, wanted: &str) -> Error {
    let argument = format!("panel \"{panel}\"");
    match edge {
        Some(edge) => Error::element(argument, "edge", edge, found, wanted),
        None => Error::value(argument, found, wanted),
    }
}

/// A panel by its name, or an error with the names there are.
fn panel_by_name(panels: &[Panel], argument: &str, name: &str) -> Result<usize> {
    panels.iter().position(|panel| panel.name == name).ok_or_else(|| {
        let names: Vec<&str> = panels.iter().map(|panel| panel.name.as_str()).collect();
        Error::unknown(argument, name, &names)
    })
}
