// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a membrane remembers, where the past matters.

use super::{Membrane, Strain};
use crate::{
    Vec3,
    forces::inelastic::{Inelastic, Memory, Part},
};

impl Membrane {
    pub(super) fn new_inelastic(&self) -> Inelastic {
        Inelastic::new(Part::Membrane, &self.materials, &self.cloth_of_triangle)
    }

    /// Takes a shape for one that has long been what it is.
    pub fn start_memory(&mut self, positions: &[Vec3]) {
        let strains = self.all_strains(positions);
        if let Some(inelastic) = &mut self.inelastic {
            inelastic.set_strains(&strains);
        }
    }

    /// Prepares for evaluations at the end of `duration` seconds after the last step remembered.
    pub fn begin_stage(&mut self, duration: f64) {
        if let Some(inelastic) = &mut self.inelastic {
            inelastic.begin(duration);
        }
    }

    /// Remembers a step of `duration` seconds that has ended with a shape.
    pub fn end_step(&mut self, positions: &[Vec3], duration: f64) {
        if self.inelastic.is_none() {
            return;
        }
        let strains = self.all_strains(positions);
        if let Some(inelastic) = &mut self.inelastic {
            inelastic.end_step(&strains, duration);
        }
    }

    fn all_strains(&self, positions: &[Vec3]) -> Vec<Strain> {
        let mut strains = vec![[0.0; 3]; self.triangle_count()];
        self.strains(positions, &mut strains);
        strains
    }

    /// What is remembered, as numbers; nothing where the past does not matter.
    pub(crate) fn memory(&self) -> Vec<f64> {
        self.inelastic.as_ref().map_or_else(Vec::new, Inelastic::values)
    }

    /// Numbers in [`Self::memory`] where the past matters.
    pub(crate) fn memory_count(&self) -> usize {
        self.triangle_count() * Memory::COUNT
    }

    /// Remembers what [`Self::memory`] gave.
    pub(crate) fn set_memory(&mut self, values: &[f64]) {
        self.inelastic = (!values.is_empty()).then(|| {
            let mut inelastic = self.new_inelastic();
            inelastic.set_values(values);
            inelastic
        });
    }
}
