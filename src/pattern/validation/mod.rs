// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is wrong with a pattern, each with its panel and edge, so that it can be shown where it is.

mod contours;
mod orientation;
mod placement;
mod seams;

pub(super) use contours::encloses;
pub use placement::far_panels;

use super::Pattern;
use crate::error::{Error, Result};
use orientation::check_orientation;
use std::fmt;

/// Bounds between a pattern that was meant and a mistake.
#[derive(Clone, Copy, Debug)]
pub(super) struct PatternLimits {
    /// Largest ratio of the lengths of both runs of a stitch. Effect: larger lets wrong edges be sewn; smaller refuses
    /// gathers that are meant. Evidence: patterns of ruffles ask for up to 3; `a_ratio_beyond_a_gather_is_an_error`.
    pub(super) max_gather: f64,
    /// Ratio from which a gather that no ratio states is doubted. Effect: larger passes over wrong edges; smaller
    /// warns of sleeves and waists that are eased. Evidence: eased and gathered seams of four patterns of GarmentCode
    /// reach 1.30 (`test_others_patterns_have_no_mistakes`).
    pub(super) unstated_gather: f64,
    /// Part by which a stated ratio may differ from that of the lengths. Effect: larger passes over edges that were
    /// changed after sewing; smaller warns of rounded ratios. Evidence: `a_stated_ratio_is_compared`.
    pub(super) stated_tolerance: f64,
    /// Shortest edge, over the edge length of the mesh: shorter ones are merged. Effect: larger cuts off corners,
    /// by half the edge; smaller leaves sharp triangles beside short edges. Evidence: edges of 0.9 mm to 1.8 mm in a
    /// jumpsuit (`test_meshes_of_others_patterns`): at 0.1 and edges of 1 cm the smallest angle is 6.5°.
    pub(super) tiny_edge: f64,
    /// Distance from all colliders, in m, from which a panel is far. Effect: larger passes over wrong units;
    /// smaller warns of sleeves that lie away from their arms. Evidence: panels of four patterns are up to 0.2 m away
    /// (`test_placement_against_a_body`).
    pub(super) far_panel: f64,
}

impl PatternLimits {
    pub(super) const DEFAULT: Self = Self {
        max_gather: 4.0,
        unstated_gather: 1.5,
        stated_tolerance: 0.02,
        tiny_edge: 0.25,
        far_panel: 0.5,
    };
}

/// Whether a pattern can be meshed in spite of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It cannot.
    Error,
    /// It can, but this is hardly meant.
    Warning,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// No panel at all.
    Empty,
    /// Two panels of one name.
    DuplicateName,
    /// A coordinate, angle or length that is not finite or not allowed.
    Value,
    /// Two edges that cross or touch.
    Crossing,
    /// An edge that folds back onto the one before, or has no length.
    Degenerate,
    /// A cut-out or internal line that is not inside the outline.
    Outside,
    /// An edge far shorter than those of the mesh.
    TinyEdge,
    /// A stitch that names no edge, or one that does not exist.
    MissingEdge,
    /// Edges of a run that are not consecutive.
    BrokenRun,
    /// An edge in two stitches.
    StitchedTwice,
    /// Lengths that no gather explains.
    Ratio,
    /// A direction that would make a one-sided surface.
    MobiusBand,
    /// A panel that no stitch holds.
    Unstitched,
    /// A panel far from every collider.
    Far,
}

impl FindingKind {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::DuplicateName => "duplicate_name",
            Self::Value => "value",
            Self::Crossing => "crossing",
            Self::Degenerate => "degenerate",
            Self::Outside => "outside",
            Self::TinyEdge => "tiny_edge",
            Self::MissingEdge => "missing_edge",
            Self::BrokenRun => "broken_run",
            Self::StitchedTwice => "stitched_twice",
            Self::Ratio => "ratio",
            Self::MobiusBand => "mobius_band",
            Self::Unstitched => "unstitched",
            Self::Far => "far",
        }
    }
}

/// Where a finding is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Index of the panel.
    pub panel: Option<usize>,
    /// Index of the cut-out; none is the outline.
    pub cutout: Option<usize>,
    /// Index of the edge.
    pub edge: Option<usize>,
    /// Index of the stitch.
    pub stitch: Option<usize>,
}

/// Something that is wrong with a pattern, or hardly meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// Whether the pattern can be meshed in spite of it.
    pub severity: Severity,
    /// Where it is.
    pub place: Place,
    /// The place in words.
    pub subject: String,
    /// What is found there, and what is wanted.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.subject, self.message)
    }
}

/// Findings of one pattern, as they are collected.
struct Findings<'pattern> {
    pattern: &'pattern Pattern,
    found: Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, kind: FindingKind, severity: Severity, place: Place, message: String) {
        let subject = self.subject(place);
        self.found.push(Finding { kind, severity, place, subject, message });
    }

    fn subject(&self, place: Place) -> String {
        let mut words = Vec::new();
        if let Some(stitch) = place.stitch {
            words.push(format!("stitch {stitch}"));
        }
        if let Some(panel) = place.panel.and_then(|panel| self.pattern.panels.get(panel)) {
            words.push(format!("panel \"{}\"", panel.name));
        }
        if let Some(cutout) = place.cutout {
            words.push(format!("cut-out {cutout}"));
        }
        if let Some(edge) = place.edge {
            words.push(format!("edge {edge}"));
        }
        if words.is_empty() { "pattern".to_owned() } else { words.join(": ") }
    }
}

/// Everything that is wrong with a pattern, or hardly meant; edges count as tiny against `edge_length` in m, which a
/// panel may override.
#[must_use]
pub fn findings(pattern: &Pattern, edge_length: f64) -> Vec<Finding> {
    let mut findings = Findings { pattern, found: Vec::new() };
    findings.check_contours(edge_length);
    if findings.found.iter().all(|found| found.severity == Severity::Warning) {
        findings.check_seams();
        check_orientation(&mut findings);
    }
    findings.found
}

/// Refuses a pattern that cannot be meshed.
///
/// # Errors
/// The first finding that is no warning.
pub(super) fn check(pattern: &Pattern, edge_length: f64) -> Result<()> {
    let findings = findings(pattern, edge_length);
    match findings.into_iter().find(|found| found.severity == Severity::Error) {
        Some(found) => Err(Error::Pattern { subject: found.subject, reason: found.message }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
