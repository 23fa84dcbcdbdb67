// SPDX-License-Identifier: MIT OR Apache-2.0
//! Part of the tangent matrix that does not depend on the shape: one number for each pair of vertices.

use super::pattern_scalars::PatternScalars;
use crate::{
    forces::ScalarStiffness,
    linear_solver::{Ordering, Pattern, ScalarCouplings, ScalarPattern},
};
use nalgebra::Vector2;
use sprs::CsMatI;
use std::sync::Arc;

/// Heuristic parameters of the scalar part of the tangent.
struct ScalarStiffnessParameters {
    /// Smallest entry that is kept (fraction of the geometric mean of both diagonal entries) if there is no block for it;
    /// others go to the diagonal.
    /// Effect: larger bends the soft modes of Newton's method; smaller costs time in each product. Evidence: a sheet on
    /// a ball (10⁻⁴ and 10⁻⁶: as many Newton iterations at the same error; 3·10⁻² changes the solution of the linear
    /// systems by more than half).
    min_entry: f64,
}

impl ScalarStiffnessParameters {
    const DEFAULT: Self = Self { min_entry: 1.0e-4 };
}

/// The scalar part at the present viscosity, by rows. The stiffness itself is with the elements, by vertices.
#[derive(Clone, Debug, Default)]
pub(super) struct ScalarPart {
    /// What it was computed from.
    key: Option<[u64; 3]>,
    /// Revision of the stiffness that the pattern is for.
    revision: u64,
    /// Entries that count and have no block.
    outside_pattern: Arc<ScalarPattern>,
    /// In N/m, with the entries that are left out; empty where no element has a scalar part.
    diagonal: Vec<f64>,
    /// All other entries in two parts: those that have a block, and the others.
    pub(super) in_blocks: PatternScalars,
    pub(super) outside: Arc<ScalarCouplings>,
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

    /// Updates to a stiffness times a factor; `pattern` is that of the blocks.
    pub(super) fn update(
        &mut self,
        stiffness: &ScalarStiffness,
        factor: f64,
        ordering: &Ordering,
        pattern: &Pattern,
    ) {
        let by_rows = ordering.permuted(&stiffness.entries);
        let at =
            |entry: &Vector2<f32>| f64::from(entry.x) + f64::from(entry.y) * stiffness.inverse_beta;
        if self.revision != stiffness.revision {
            self.outside_pattern = Arc::new(outside_pattern(&by_rows, pattern));
            self.revision = stiffness.revision;
        }
        let (outside, mut diagonal) =
            ScalarCouplings::of(&by_rows, at, Arc::clone(&self.outside_pattern));
        self.in_blocks = PatternScalars::new(pattern, &by_rows, at, factor, &mut diagonal);
        // Only couplings are multiplied by the factor here; diagonals are along with the blocks.
        self.outside = Arc::new(outside.scaled(factor as f32));
        self.diagonal = diagonal;
        self.key = Some(key(stiffness, factor));
    }
}

fn key(stiffness: &ScalarStiffness, factor: f64) -> [u64; 3] {
    [stiffness.revision, stiffness.inverse_beta.to_bits(), factor.to_bits()]
}

/// Entries of a scalar stiffness that have no block: what is significant in one of its elastic and viscous `parts`, so
/// that the step at which it is asked for first does not matter. `pattern` is that of the blocks.
fn outside_pattern(parts: &CsMatI<Vector2<f32>, u32>, pattern: &Pattern) -> ScalarPattern {
    let threshold = ScalarStiffnessParameters::DEFAULT.min_entry as f32;
    let entry = |row: usize, column: usize| parts.get(row, column).copied().unwrap_or_default();
    let diagonal: Vec<Vector2<f32>> = (0..parts.rows()).map(|row| entry(row, row)).collect();
    ScalarPattern::of(parts, |row, column| {
        let value = entry(row, column);
        let is_significant = |k: usize| {
            value[k] * value[k] > threshold * threshold * diagonal[row][k] * diagonal[column][k]
        };
        (is_significant(0) || is_significant(1)) && !pattern.has(row, column)
    })
}
