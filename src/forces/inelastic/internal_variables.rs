// SPDX-License-Identifier: MIT OR Apache-2.0
//! Internal variables of all elements of one kind; none if no material of the scene is inelastic.

use super::{
    Inelastic, any_has_memory,
    law::{DeformationMode, InternalVariables},
};
use crate::{forces::Strain, material::Material};
use std::sync::Arc;

/// Laws and internal variables of all elements of one kind; [`Elements`](crate::forces::elements::Elements) call the
/// methods at the start and end of steps.
#[derive(Clone, Debug, Default)]
pub struct MaterialHistory {
    modes: Vec<DeformationMode>,
    materials: Vec<Material>,
    /// Cloth of each element times the number of modes, plus the index of its mode.
    law_of_element: Arc<Vec<u32>>,
    inelastic: Option<Inelastic>,
}

impl MaterialHistory {
    /// Elements with an empty history. With a single mode, `law_of_element` is the cloth of each element.
    pub(crate) fn new(
        modes: Vec<DeformationMode>,
        materials: &[Material],
        law_of_element: impl Into<Arc<Vec<u32>>>,
    ) -> Self {
        let mut history = Self {
            modes,
            materials: materials.to_vec(),
            law_of_element: law_of_element.into(),
            inelastic: None,
        };
        history.inelastic =
            materials.iter().any(Material::is_inelastic).then(|| history.after_begin_step());
        history
    }

    fn after_begin_step(&self) -> Inelastic {
        Inelastic::new(&self.modes, &self.materials, &self.law_of_element)
    }

    /// Laws and internal variables; `None` if no material is inelastic.
    pub(crate) fn inelastic(&self) -> Option<&Inelastic> {
        self.inelastic.as_ref()
    }

    /// Another material for a cloth. Internal variables are strains and stay as they are.
    pub(crate) fn set_material(&mut self, cloth: usize, material: &Material) {
        self.materials[cloth] = material.clone();
        if let Some(inelastic) = &mut self.inelastic {
            inelastic.set_material(cloth, material);
        } else if material.is_inelastic() {
            self.inelastic = Some(self.after_begin_step());
        }
    }

    /// Starts the history at these strains: everything is relaxed there.
    pub(crate) fn start(&mut self, strains: impl FnOnce() -> Vec<Strain>) {
        if let Some(inelastic) = &mut self.inelastic {
            inelastic.set_strains(&strains());
        }
    }

    /// Prepares for a step of `duration` seconds.
    pub(crate) fn begin_step(&mut self, duration: f64) {
        if let Some(inelastic) = &mut self.inelastic {
            inelastic.begin_step(duration);
        }
    }

    /// Updates the internal variables after an accepted step of `duration` in s that ended at these strains.
    pub(crate) fn end_step(
        &mut self,
        strains: impl FnOnce(&Inelastic) -> Vec<Strain>,
        duration: f64,
    ) {
        if let Some(inelastic) = &mut self.inelastic {
            inelastic.begin_step(duration);
            let strains = strains(inelastic);
            inelastic.end_step(&strains, duration);
        }
    }

    /// See [`crate::forces::inelastic::law::InelasticLaw::set_stiffest_tangent`].
    pub(crate) fn set_stiffest_tangent(&mut self, is_stiffest: bool) {
        if let Some(inelastic) = &mut self.inelastic {
            inelastic.set_stiffest_tangent(is_stiffest);
        }
    }

    /// Resets all internal variables to 0.
    pub(crate) fn clear(&mut self) {
        if let Some(inelastic) = &mut self.inelastic {
            inelastic.clear();
        }
    }

    /// Internal variables of each cloth, see [`Inelastic::values`]; no lists if no cloth has any.
    pub(crate) fn values(&self) -> Vec<Vec<f64>> {
        self.inelastic.as_ref().map_or_else(Vec::new, Inelastic::values)
    }

    /// Length of each list of [`Self::values`] if it is not empty.
    pub(crate) fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.materials.len()];
        for law in self.law_of_element.iter() {
            counts[*law as usize / self.modes.len()] += InternalVariables::COUNT;
        }
        counts
    }

    /// Restores the internal variables from the lists of [`Self::values`], see [`Inelastic::set_values`].
    pub(crate) fn set_values(&mut self, of_cloths: &[&[f64]]) {
        let former = self.inelastic.take();
        if any_has_memory(&self.materials, of_cloths) {
            let mut inelastic = former.unwrap_or_else(|| self.after_begin_step());
            inelastic.set_values(of_cloths);
            self.inelastic = Some(inelastic);
        }
    }
}
