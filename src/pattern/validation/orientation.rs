// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two sides for the sewn surface: a direction that would make a Möbius band.
//!
//! A panel keeps its right side or is turned over. A stitch says of its two panels whether one of them is turned
//! against the other; the surface has two sides exactly if all stitches agree. Panels are joined one stitch after another in
//! a forest whose paths add up what is turned, and the first stitch that disagrees is named.

use super::{FindingKind, Findings, Place, Severity};
use crate::pattern::{Pattern, Run, Stitch};

/// Panels with the one that each was joined to, and whether it is turned against that.
struct Turns {
    parents: Vec<usize>,
    is_turned: Vec<bool>,
}

impl Turns {
    fn root(&self, mut panel: usize) -> (usize, bool) {
        let mut is_turned = false;
        while self.parents[panel] != panel {
            is_turned ^= self.is_turned[panel];
            panel = self.parents[panel];
        }
        (panel, is_turned)
    }

    /// Joins two panels; false if they are joined already, otherwise than `is_turned` says.
    fn join(&mut self, [first, second]: [usize; 2], is_turned: bool) -> bool {
        let ((one, one_turned), (other, other_turned)) = (self.root(first), self.root(second));
        let between = one_turned ^ other_turned;
        if one == other {
            return between == is_turned;
        }
        self.parents[other] = one;
        self.is_turned[other] = between ^ is_turned;
        true
    }
}

/// Finds the stitches that would make a one-sided surface.
pub(super) fn check_orientation(findings: &mut Findings<'_>) {
    let pattern = findings.pattern;
    let count = pattern.panels.len();
    let mut turns = Turns { parents: (0..count).collect(), is_turned: vec![false; count] };
    for (index, stitch) in pattern.stitches.iter().enumerate() {
        let Some(is_turned) = turns_over(pattern, stitch) else { continue };
        let panels = [stitch.runs[0].panel, stitch.runs[1].panel];
        if turns.join(panels, is_turned) {
            continue;
        }
        let run = &stitch.runs[1];
        let place = Place {
            panel: Some(run.panel),
            cutout: run.cutout,
            edge: run.edges.first().copied(),
            stitch: Some(index),
        };
        let other = &pattern.panels[panels[0]].name;
        let message = format!(
            "sewn to panel \"{other}\" in a direction that makes a Möbius band; wanted the other"
        );
        findings.add(FindingKind::MobiusBand, Severity::Error, place, message);
    }
}

/// Whether a stitch turns its second panel over against the first.
pub(in crate::pattern) fn turns_over(pattern: &Pattern, stitch: &Stitch) -> Option<bool> {
    let [first, second] = stitch.runs.each_ref().map(|run| runs_along_the_cloth(pattern, run));
    Some(!stitch.is_reversed ^ first? ^ second?)
}

/// Whether a contour runs as the boundary of the cloth does: the outline always, a cut-out against the outline.
fn runs_along_the_cloth(pattern: &Pattern, run: &Run) -> Option<bool> {
    let panel = pattern.panels.get(run.panel)?;
    let contour = panel.contour(run.cutout)?;
    let is_same = (contour.signed_area() > 0.0) == (panel.outline.signed_area() > 0.0);
    Some(run.cutout.is_none() || !is_same)
}
