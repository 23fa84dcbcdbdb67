// SPDX-License-Identifier: MIT OR Apache-2.0
//! Materials whose stress depends on the past, and what all elements of a scene remember of it.

mod bounds;
mod law;
#[cfg(test)]
mod tests;

pub(crate) use law::{Law, Memory, Part, Response, apply};

use super::membrane::Strain;
use crate::{Material, parallel};
use rayon::prelude::*;

/// Laws of all cloths, and a memory for each element.
#[derive(Clone, Debug)]
pub(crate) struct Inelastic {
    part: Part,
    laws: Vec<Law>,
    cloth_of_element: Vec<u32>,
    memories: Vec<Memory>,
}

impl Inelastic {
    /// Elements without a past.
    pub(crate) fn new(part: Part, materials: &[Material], cloth_of_element: &[u32]) -> Self {
        Self {
            part,
            laws: materials.iter().map(|material| Law::new(material, part)).collect(),
            cloth_of_element: cloth_of_element.to_vec(),
            memories: vec![Memory::default(); cloth_of_element.len()],
        }
    }

    /// Another material for a cloth. What was remembered stays, as strains.
    pub(crate) fn set_material(&mut self, cloth: usize, material: &Material) {
        self.laws[cloth] = Law::new(material, self.part);
    }

    pub(crate) fn law(&self, element: usize) -> &Law {
        &self.laws[self.cloth_of_element[element] as usize]
    }

    pub(crate) fn memory(&self, element: usize) -> &Memory {
        &self.memories[element]
    }

    pub(crate) fn respond(&self, element: usize, strain: &Strain) -> Response {
        self.law(element).respond(strain, &self.memories[element])
    }

    /// Prepares for a step of `duration` seconds.
    pub(crate) fn begin(&mut self, duration: f64) {
        for law in &mut self.laws {
            law.begin(duration);
        }
    }

    /// Remembers a step of `duration` seconds that ended at these strains.
    pub(crate) fn end_step(&mut self, strains: &[Strain], duration: f64) {
        self.begin(duration);
        let Self { laws, cloth_of_element, memories, .. } = self;
        let each = (memories, cloth_of_element, strains).into_par_iter();
        each.with_min_len(parallel::ELEMENTS).for_each(|(memory, cloth, strain)| {
            laws[*cloth as usize].remember(strain, memory);
        });
    }

    /// Takes these strains for those at the end of the last step, without any change of stress.
    pub(crate) fn set_strains(&mut self, strains: &[Strain]) {
        for (memory, strain) in self.memories.iter_mut().zip(strains) {
            memory.strain = [0, 1, 2].map(|k| strain[k] - memory.plastic[k]);
        }
    }

    /// Everything remembered, as numbers.
    pub(crate) fn values(&self) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.memories.len() * Memory::COUNT);
        for memory in &self.memories {
            memory.write(&mut values);
        }
        values
    }

    /// Remembers what [`Self::values`] gave.
    pub(crate) fn set_values(&mut self, values: &[f64]) {
        for (memory, values) in self.memories.iter_mut().zip(values.chunks(Memory::COUNT)) {
            *memory = Memory::read(values);
        }
    }
}
