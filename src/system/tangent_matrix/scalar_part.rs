// SPDX-License-Identifier: MIT OR Apache-2.0
//! Part of the tangent matrix that does not depend on the shape: one number for each pair of vertices.

use super::pattern_scalars::PatternScalars;
use crate::{
    forces::ScalarStiffness,
    linear_solver::{Pattern, ScalarCouplings, ScalarPattern},
};
use sprs::CsMatI;
use std::sync::Arc;

/// Heuristic parameters of the scalar part of the tangent.
struct ScalarStiffnessParameters {
    /// Smallest entry that is kept (fraction of the geometric mean of both diagonal entries); others go to the diagonal.
    /// Effect: larger bends the soft modes of Newton's method; smaller costs time in each product. Evidence: a sheet on
    /// a ball (10⁻⁴ and 10⁻⁶: as many Newton iterations at the same error; 3·10⁻² changes the solution of the linear
    /// systems by more than half).
    min_entry: f64,
}

impl ScalarStiffnessParameters {
    const DEFAULT: Self = Self { min_entry: 1.0e-4 };
}

/// The scalar part at the present viscosity, by rows.
#[derive(Clone, Debug, Default)]
pub(super) struct ScalarPart {
    /// What it was computed from.
    key: Option<[u64; 3]>,
    /// Revision of the stiffness that `by_rows` and the patterns are for.
    revision: u64,
    /// Elastic and viscous stiffness, by rows.
    by_rows: Option<[CsMatI<f64, u32>; 2]>,
    patterns: ScalarPatterns,
    /// In N/m, with the entries that are left out; empty where no element has a scalar part.
    diagonal: Vec<f64>,
    /// All entries.
    pub(super) all: Arc<ScalarCouplings>,
    /// The same entries in two parts: those that have a block, and the others.
    pub(super) in_blocks: PatternScalars,
    pub(super) outside: Arc<ScalarCouplings>,
}

/// Entries of the scalar part that count: all of them, and those that have no block.
#[derive(Clone, Debug, Default)]
struct ScalarPatterns {
    all: Arc<ScalarPattern>,
    outside: Arc<ScalarPattern>,
}

impl ScalarPart {
    /// Whether this is the part of a stiffness times a factor.
    pub(super) fn is_up_to_date(&self, stiffness: &ScalarStiffness, factor: f64) -> bool {
        self.key == Some(key(stiffness, factor))
    }

    /// Diagonal entry of a row, in N/m, without the factor.
    pub(super) fn diagonal(&self, row: usize) -> f64 {
        self.diagonal.get(row).copied().unwrap_or(0.0)
    }

    /// Updates to a stiffness times a factor; `in_rows` orders a matrix of the vertices by rows, and `pattern` is that of
    /// the blocks.
    pub(super) fn update(
        &mut self,
        stiffness: &ScalarStiffness,
        factor: f64,
        in_rows: impl Fn(&CsMatI<f64, u32>) -> CsMatI<f64, u32>,
        pattern: &Pattern,
    ) {
        let ScalarStiffness { elastic, viscous, inverse_beta, revision } = stiffness;
        let is_new = self.revision != *revision;
        let by_rows = self.by_rows.take().filter(|_| !is_new);
        let by_rows = by_rows.unwrap_or_else(|| [elastic, viscous].map(in_rows));
        let matrix = &by_rows[0] + &by_rows[1].map(|value| value * inverse_beta);
        if is_new {
            self.patterns = ScalarPatterns::new(&matrix, &by_rows, pattern);
            self.revision = *revision;
        }
        self.by_rows = Some(by_rows);
        let ScalarPatterns { all, outside } = &self.patterns;
        let (all, diagonal) = ScalarCouplings::of(&matrix, Arc::clone(all));
        let (outside, _) = ScalarCouplings::of(&matrix, Arc::clone(outside));
        // Only couplings are multiplied by the factor here; diagonals are along with the blocks.
        self.all = Arc::new(all.scaled(factor as f32));
        self.outside = Arc::new(outside.scaled(factor as f32));
        self.in_blocks = PatternScalars::new(pattern, &self.all);
        self.diagonal = diagonal;
        self.key = Some(key(stiffness, factor));
    }
}

fn key(stiffness: &ScalarStiffness, factor: f64) -> [u64; 3] {
    [stiffness.revision, stiffness.inverse_beta.to_bits(), factor.to_bits()]
}

impl ScalarPatterns {
    /// Entries of a scalar stiffness: what is significant in one of its elastic and viscous `parts`, so that the step at
    /// which it is asked for first does not matter. `pattern` is that of the blocks.
    fn new(matrix: &CsMatI<f64, u32>, parts: &[CsMatI<f64, u32>; 2], pattern: &Pattern) -> Self {
        let significant = parts.each_ref().map(significance);
        let is_kept = |row: usize, column: usize| significant.iter().any(|of| of(row, column));
        let all = ScalarPattern::of(matrix, is_kept);
        let outside = ScalarPattern::of(matrix, |row, column| {
            is_kept(row, column) && !pattern.has(row, column)
        });
        Self { all: Arc::new(all), outside: Arc::new(outside) }
    }
}

/// Whether an entry of a scalar stiffness is large enough to count.
fn significance(matrix: &CsMatI<f64, u32>) -> impl Fn(usize, usize) -> bool {
    let threshold = ScalarStiffnessParameters::DEFAULT.min_entry;
    let diagonal = matrix.diag().to_dense();
    move |row, column| {
        let value = matrix.get(row, column).copied().unwrap_or(0.0);
        value * value > threshold * threshold * diagonal[row] * diagonal[column]
    }
}
