// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a membrane remembers, where the past matters.

use super::{Membrane, Strain, derivatives, green_strain};
use crate::{Vec3, mesh::ShapeGradients, parallel::reductions};
use rayon::prelude::*;

impl Membrane {
    /// Takes a shape for one that has long been what it is.
    pub fn start_history(&mut self, positions: &[Vec3]) {
        let Self { history: past, triangles, gradients, .. } = self;
        past.start(|| all_strains(triangles, gradients, positions));
    }

    /// Prepares for evaluations at the end of `duration` seconds after the last step remembered.
    pub fn begin_stage(&mut self, duration: f64) {
        self.history.begin_step(duration);
    }

    /// Remembers a step of `duration` seconds that has ended with a shape.
    pub fn end_step(&mut self, positions: &[Vec3], duration: f64) {
        let Self { history: past, triangles, gradients, .. } = self;
        past.end_step(|_| all_strains(triangles, gradients, positions), duration);
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
