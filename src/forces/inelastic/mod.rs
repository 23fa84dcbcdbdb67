// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inelastic materials: stress depends on the history of the strain, by internal variables of every element.

mod branch_envelope;
mod cloth_memory;
mod internal_variables;
mod law;
#[cfg(test)]
mod tests;
mod uniaxial;

pub(crate) use cloth_memory::any_has_memory;
pub use internal_variables::MaterialHistory;
pub(crate) use law::{DeformationMode, InelasticLaw, InternalVariables, StressResponse, apply};
pub(crate) use uniaxial::{UniaxialElement, UniaxialResponse};

use super::Strain;
use crate::{material::Material, parallel::reductions};
use cloth_memory::ClothMemory;
use rayon::prelude::*;

/// Laws of all cloths, and a memory for each element.
#[derive(Clone, Debug)]
pub(crate) struct Inelastic {
    modes: Vec<DeformationMode>,
    /// One for each deformation mode of each cloth.
    laws: Vec<InelasticLaw>,
    memories: Vec<ClothMemory>,
    law_of_element: Vec<u32>,
    variables: Vec<InternalVariables>,
}

impl Inelastic {
    /// Elements with an empty history. The law of an element is its cloth times the number of modes, plus the index of
    /// its mode.
    pub(crate) fn new(
        modes: &[DeformationMode],
        materials: &[Material],
        law_of_element: &[u32],
    ) -> Self {
        let of_cloth = |material| modes.iter().map(move |mode| InelasticLaw::new(material, *mode));
        Self {
            modes: modes.to_vec(),
            laws: materials.iter().flat_map(of_cloth).collect(),
            memories: materials.iter().map(ClothMemory::new).collect(),
            law_of_element: law_of_element.to_vec(),
            variables: vec![InternalVariables::default(); law_of_element.len()],
        }
    }

    /// Another material for a cloth. Internal variables are strains and stay as they are.
    pub(crate) fn set_material(&mut self, cloth: usize, material: &Material) {
        let first = cloth * self.modes.len();
        for (law, mode) in self.laws[first..].iter_mut().zip(&self.modes) {
            *law = InelasticLaw::new(material, *mode);
        }
        self.memories[cloth].set_material(material);
    }

    pub(crate) fn law(&self, element: usize) -> &InelasticLaw {
        &self.laws[self.law_of_element[element] as usize]
    }

    pub(crate) fn internal_variables(&self, element: usize) -> &InternalVariables {
        &self.variables[element]
    }

    pub(crate) fn respond(&self, element: usize, strain: &Strain) -> StressResponse {
        self.law(element).respond(strain, &self.variables[element])
    }

    /// Prepares for a step of `duration` seconds.
    pub(crate) fn begin_step(&mut self, duration: f64) {
        for law in &mut self.laws {
            law.begin_step(duration);
        }
    }

    /// See [`InelasticLaw::set_stiffest_tangent`].
    pub(crate) fn set_stiffest_tangent(&mut self, is_stiffest: bool) {
        for law in &mut self.laws {
            law.set_stiffest_tangent(is_stiffest);
        }
    }

    /// Resets all internal variables to 0.
    pub(crate) fn clear(&mut self) {
        self.variables.fill(InternalVariables::default());
    }

    /// Updates the internal variables after an accepted step of `duration` in s that ended at these strains.
    pub(crate) fn end_step(&mut self, strains: &[Strain], duration: f64) {
        self.begin_step(duration);
        let Self { laws, law_of_element, variables, .. } = self;
        let each = (variables, law_of_element, strains).into_par_iter();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).for_each(
            |(variables, law, strain)| {
                laws[*law as usize].update_variables(strain, variables);
            },
        );
    }

    /// Takes these strains for those at the end of the last step, without any change of stress.
    pub(crate) fn set_strains(&mut self, strains: &[Strain]) {
        for (variables, strain) in self.variables.iter_mut().zip(strains) {
            variables.strain = [0, 1, 2].map(|k| strain[k] - variables.plastic[k]);
        }
    }

    /// Internal variables of each cloth as a list of numbers; empty if its material is elastic and always was.
    pub(crate) fn values(&self) -> Vec<Vec<f64>> {
        let mut of_cloths = vec![Vec::new(); self.memories.len()];
        for (variables, law) in self.variables.iter().zip(&self.law_of_element) {
            let cloth = *law as usize / self.modes.len();
            if self.memories[cloth].exists() {
                variables.write(&mut of_cloths[cloth]);
            }
        }
        of_cloths
    }

    /// Restores the internal variables from the lists of [`Self::values`]. Without numbers an elastic cloth has no past
    /// any more, and any other keeps its own.
    pub(crate) fn set_values(&mut self, of_cloths: &[&[f64]]) {
        let Self { modes, memories, law_of_element, variables, .. } = self;
        for (memory, values) in memories.iter_mut().zip(of_cloths) {
            memory.set_past(!values.is_empty());
        }
        let mut of_cloths: Vec<_> =
            of_cloths.iter().map(|values| values.chunks(InternalVariables::COUNT)).collect();
        for (variables, law) in variables.iter_mut().zip(law_of_element) {
            let cloth = *law as usize / modes.len();
            if let Some(values) = of_cloths[cloth].next() {
                *variables = InternalVariables::read(values);
            } else if !memories[cloth].exists() {
                *variables = InternalVariables::default();
            }
        }
    }
}
