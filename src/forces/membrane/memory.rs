// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a membrane remembers, where the past matters.

use super::{Membrane, Strain, derivatives, green_strain};
use crate::{Vec3, parallel};
use rayon::prelude::*;

impl Membrane {
    /// Takes a shape for one that has long been what it is.
    pub fn start_memory(&mut self, positions: &[Vec3]) {
        let Self { past, triangles, gradients, .. } = self;
        past.start(|| all_strains(triangles, gradients, positions));
    }

    /// Prepares for evaluations at the end of `duration` seconds after the last step remembered.
    pub fn begin_stage(&mut self, duration: f64) {
        self.past.begin(duration);
    }

    /// Remembers a step of `duration` seconds that has ended with a shape.
    pub fn end_step(&mut self, positions: &[Vec3], duration: f64) {
        let Self { past, triangles, gradients, .. } = self;
        past.end_step(|_| all_strains(triangles, gradients, positions), duration);
    }

    /// Whether tangents are those of sudden reversals.
    pub(crate) fn set_steepest(&mut self, is_steepest: bool) {
        self.past.set_steepest(is_steepest);
    }

    /// Remembers nothing any more.
    pub(crate) fn forget(&mut self) {
        self.past.forget();
    }

    /// What is remembered, as numbers; nothing where the past does not matter.
    pub(crate) fn memory(&self) -> Vec<f64> {
        self.past.values()
    }

    /// Numbers in [`Self::memory`] where the past matters.
    pub(crate) fn memory_count(&self) -> usize {
        self.past.count()
    }

    /// Remembers what [`Self::memory`] gave.
    pub(crate) fn set_memory(&mut self, values: &[f64]) {
        self.past.set_values(values);
    }
}

fn all_strains(
    triangles: &[[u32; 3]],
    gradients: &[[[f64; 2]; 3]],
    positions: &[Vec3],
) -> Vec<Strain> {
    let each = (triangles, gradients).into_par_iter().with_min_len(parallel::ELEMENTS);
    each.map(|(corners, gradients)| green_strain(&derivatives(corners, gradients, positions)))
        .collect()
}
