// SPDX-License-Identifier: MIT OR Apache-2.0
//! Part of the tangent matrix that does not depend on the shape: one number for each pair of vertices.

use crate::{
    forces::ScalarStiffness,
    linear_solver::{Coupling, Pattern, PatternScalars, ScalarCouplings, ScalarPattern},
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
    /// Largest sum of the magnitudes of those entries of a row that smoothers move to the diagonal, the smallest ones
    /// without a block (fraction of its diagonal entry). Effect: larger costs iterations of the linear solver; smaller
    /// costs time in each sweep. Evidence: a sheet on a ball, and one that hangs by two corners (at 0.1 and 0.2 as many
    /// iterations as at 0; at 0.7 twenty times as many).
    max_unsmoothed: f64,
    /// Ratio of two magnitudes of a row from which on they count as equal, so that smoothers see both or neither (1).
    /// Effect: larger lets smoothers see some of the entries of a regular mesh that balance each other, which turns a
    /// sheet; smaller costs time in each sweep. Evidence: a sheet that hangs by two corners (a fifth more Newton
    /// iterations at 1; at 0.9 as many as without entries that are not seen).
    equal_magnitudes: f64,
}

impl ScalarStiffnessParameters {
    const DEFAULT: Self = Self { min_entry: 1.0e-4, max_unsmoothed: 0.1, equal_magnitudes: 0.9 };
}

/// The scalar part at the present viscosity, by rows.
#[derive(Clone, Debug, Default)]
pub(super) struct ScalarPart {
    /// What it was computed from.
    key: Option<[u64; 3]>,
    /// Revision of the stiffness that the patterns are for.
    revision: u64,
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
        let matrix = in_rows(&(elastic + &viscous.map(|value| value * inverse_beta)));
        if self.revision != *revision {
            let parts = [elastic, viscous].map(in_rows);
            self.patterns = ScalarPatterns::new(&matrix, &parts, pattern);
            self.revision = *revision;
        }
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
    /// Entries of a scalar stiffness; `pattern` is that of the blocks. What is small in both of the elastic and viscous
    /// `parts` is small at any viscosity.
    fn new(matrix: &CsMatI<f64, u32>, parts: &[CsMatI<f64, u32>; 2], pattern: &Pattern) -> Self {
        let is_kept = significance(matrix);
        let is_outside = |row: usize, column: usize| {
            row != column && is_kept(row, column) && !pattern.has(row, column)
        };
        let smallest = |part: &CsMatI<f64, u32>| -> Vec<f64> {
            (0..part.rows()).map(|row| smallest_smoothed(part, row, &is_outside)).collect()
        };
        let least = parts.each_ref().map(smallest);
        let is_weak = |row: usize, column: usize| {
            parts.iter().zip(&least).all(|(part, least)| {
                let value = part.get(row, column).map_or(0.0, |value| value.abs());
                value < least[row].min(least[column])
            })
        };
        let all = ScalarPattern::of(matrix, |row, column| {
            if is_kept(row, column) { Coupling::Strong } else { Coupling::Omitted }
        });
        let outside = ScalarPattern::of(matrix, |row, column| {
            if !is_outside(row, column) {
                Coupling::Omitted
            } else if is_weak(row, column) {
                Coupling::Weak
            } else {
                Coupling::Strong
            }
        });
        Self { all: Arc::new(all), outside: Arc::new(outside) }
    }
}

/// Least magnitude of those entries of a row that smoothers have to see.
fn smallest_smoothed(
    matrix: &CsMatI<f64, u32>,
    row: usize,
    is_outside: impl Fn(usize, usize) -> bool,
) -> f64 {
    let slots = matrix.indptr().outer_inds_sz(row);
    let entries = matrix.indices()[slots.clone()].iter().zip(&matrix.data()[slots]);
    let outside = entries.filter(|(column, _)| is_outside(row, **column as usize));
    let mut magnitudes: Vec<f64> = outside.map(|(_, value)| value.abs()).collect();
    magnitudes.sort_unstable_by(f64::total_cmp);
    let diagonal = matrix.get(row, row).copied().unwrap_or(0.0);
    let parameters = ScalarStiffnessParameters::DEFAULT;
    let mut left = parameters.max_unsmoothed * diagonal;
    let first = magnitudes.iter().find(|value| {
        left -= **value;
        left < 0.0
    });
    first.map_or(f64::INFINITY, |first| parameters.equal_magnitudes * first)
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
