// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stitches: which run of edges is sewn to which, and in which direction.

use super::contour::Contour;

/// Consecutive edges of one contour, in the order of the contour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Index of the panel.
    pub panel: usize,
    /// Index of the cut-out that they belong to; none is the outline.
    pub cutout: Option<usize>,
    /// The edges, each of which starts where the last one ends.
    pub edges: Vec<usize>,
}

impl Run {
    /// One edge of the outline of a panel.
    #[must_use]
    pub fn edge(panel: usize, edge: usize) -> Self {
        Self { panel, cutout: None, edges: vec![edge] }
    }

    /// Those of its edges that the contour has.
    pub(super) fn edges_of(&self, contour: &Contour) -> impl Iterator<Item = usize> {
        let count = contour.edges.len();
        self.edges.iter().copied().filter(move |edge| *edge < count)
    }

    /// Length of the run on its contour, in m; edges that it does not have count as nothing.
    #[must_use]
    pub fn length(&self, contour: &Contour) -> f64 {
        self.edges_of(contour).map(|edge| contour.length(edge)).sum()
    }
}

/// A seam between two runs of edges of the same or of two panels.
#[derive(Clone, Debug, PartialEq)]
pub struct Stitch {
    /// Both runs.
    pub runs: [Run; 2],
    /// Whether the start of the first run meets the end of the second. It does where the right sides of both panels
    /// become one side of the garment, as both outlines run counter-clockwise there.
    pub is_reversed: bool,
    /// Length of the first run over that of the second, if stated: the gather that is meant.
    pub ratio: Option<f64>,
    /// Name of the seam.
    pub label: Option<String>,
}

impl Stitch {
    /// A seam of two edges whose panels turn their right sides to the same side.
    #[must_use]
    pub fn between(first: Run, second: Run) -> Self {
        Self { runs: [first, second], is_reversed: true, ratio: None, label: None }
    }
}
