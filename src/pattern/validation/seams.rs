// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stitches: that their edges exist, are sewn once, and have lengths that go together.

use super::{FindingKind, Findings, PatternLimits, Place, Severity};
use crate::pattern::{Contour, Run};
use std::collections::BTreeMap;

impl Findings<'_> {
    pub(super) fn check_seams(&mut self) {
        let mut sewn: BTreeMap<(usize, Option<usize>, usize), usize> = BTreeMap::new();
        for (index, stitch) in self.pattern.stitches.iter().enumerate() {
            let are_usable = stitch.runs.each_ref().map(|run| self.check_run(index, run));
            if are_usable.contains(&false) {
                continue;
            }
            for (run, edge) in
                stitch.runs.iter().flat_map(|run| run.edges.iter().map(move |edge| (run, *edge)))
            {
                let before = sewn.insert((run.panel, run.cutout, edge), index);
                if let Some(other) = before {
                    let message = if other == index {
                        "on both sides of the stitch; wanted once".to_owned()
                    } else {
                        format!("in stitch {other}, too; wanted one stitch")
                    };
                    let place = Place { edge: Some(edge), ..place_of(index, run) };
                    self.add(FindingKind::StitchedTwice, Severity::Error, place, message);
                }
            }
            self.check_ratio(index, stitch.ratio);
        }
        self.check_all_stitched();
    }

    /// Whether the edges of a run exist and are consecutive.
    fn check_run(&mut self, stitch: usize, run: &Run) -> bool {
        let place = place_of(stitch, run);
        let Some(contour) = self.pattern.contour(run) else {
            let message = "no such panel or cut-out".to_owned();
            self.add(FindingKind::MissingEdge, Severity::Error, place, message);
            return false;
        };
        let count = contour.edges.len();
        if run.edges.is_empty() {
            let message = "no edge; wanted one or more".to_owned();
            self.add(FindingKind::MissingEdge, Severity::Error, place, message);
            return false;
        }
        if let Some(edge) = run.edges.iter().find(|edge| **edge >= count) {
            let message = format!("no such edge; wanted one below {count}");
            let place = Place { edge: Some(*edge), ..place };
            self.add(FindingKind::MissingEdge, Severity::Error, place, message);
            return false;
        }
        if let Some(edge) = first_break(contour, run) {
            let message =
                "not followed by the next edge of the run; wanted consecutive edges".to_owned();
            let place = Place { edge: Some(edge), ..place };
            self.add(FindingKind::BrokenRun, Severity::Error, place, message);
            return false;
        }
        true
    }

    fn check_ratio(&mut self, index: usize, stated: Option<f64>) {
        let limits = PatternLimits::DEFAULT;
        let [first, second] = self.pattern.seam_lengths(index);
        let ratio = first / second;
        let gather = ratio.max(1.0 / ratio);
        let lengths = format!("{:.1} mm sewn to {:.1} mm", first * 1e3, second * 1e3);
        let (severity, message) = if gather > limits.max_gather {
            let wanted = format!("wanted a ratio of at most {}", limits.max_gather);
            (Severity::Error, format!("{lengths}, a ratio of {gather:.2}; {wanted}"))
        } else if let Some(stated) = stated
            && (ratio / stated - 1.0).abs() > limits.stated_tolerance
        {
            (
                Severity::Warning,
                format!("{lengths}, a ratio of {ratio:.3}, not {stated:.3} as stated"),
            )
        } else if stated.is_none() && gather > limits.unstated_gather {
            (Severity::Warning, format!("{lengths}, a ratio of {gather:.2} that is not stated"))
        } else {
            return;
        };
        let run = &self.pattern.stitches[index].runs[0];
        let place = Place { edge: run.edges.first().copied(), ..place_of(index, run) };
        self.add(FindingKind::Ratio, severity, place, message);
    }

    fn check_all_stitched(&mut self) {
        if self.pattern.stitches.is_empty() {
            return;
        }
        let is_stitched = |panel: usize| {
            self.pattern
                .stitches
                .iter()
                .flat_map(|stitch| &stitch.runs)
                .any(|run| run.panel == panel)
        };
        let loose: Vec<usize> =
            (0..self.pattern.panels.len()).filter(|panel| !is_stitched(*panel)).collect();
        for panel in loose {
            let place = Place { panel: Some(panel), ..Place::default() };
            let message = "in no stitch, while others are sewn".to_owned();
            self.add(FindingKind::Unstitched, Severity::Warning, place, message);
        }
    }
}

fn place_of(stitch: usize, run: &Run) -> Place {
    Place { panel: Some(run.panel), cutout: run.cutout, edge: None, stitch: Some(stitch) }
}

/// The first edge of a run that the next one of the run does not follow, or that occurs again.
fn first_break(contour: &Contour, run: &Run) -> Option<usize> {
    let count = contour.edges.len();
    let broken = run.edges.windows(2).find(|pair| (pair[0] + 1) % count != pair[1]);
    broken.map(|pair| pair[0]).or_else(|| (run.edges.len() > count).then(|| run.edges[0]))
}
