// SPDX-License-Identifier: MIT OR Apache-2.0
//! Internal variables of a membrane with inelastic materials.

use super::{Membrane, Strain, derivatives, green_strain};
use crate::{mesh::ShapeGradients, parallel::reductions, vec3::Vec3};
use rayon::prelude::*;

impl Membrane {
    /// Starts the material history at a shape: everything is relaxed there.
    pub fn start_history(&mut self, positions: &[Vec3]) {
        let Self { history, triangles, gradients, .. } = self;
        history.start(|| all_strains(triangles, gradients, positions));
    }

    /// Prepares for evaluations at the end of a stage, `duration` in s after the last accepted step.
    pub fn begin_stage(&mut self, duration: f64) {
        self.history.begin_step(duration);
    }

    /// Updates the internal variables after an accepted step of `duration` in s that ended at `positions`.
    pub fn end_step(&mut self, positions: &[Vec3], duration: f64) {
        let Self { history, triangles, gradients, .. } = self;
        history.end_step(|_| all_strains(triangles, gradients, positions), duration);
    }
}

fn all_strains(
    triangles: &[[u32; 3]],
    gradients: &[ShapeGradients],
    positions: &[Vec3],
) -> Vec<Strain> {
    let each =
        (triangles, gradients).into_par_iter().with_min_len(reductions::MIN_ELEMENTS_PER_TASK);
    each.map(|(corners, gradients)| green_strain(&derivatives(corners, gradients, positions)))
        .collect()
}
