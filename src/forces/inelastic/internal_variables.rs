// SPDX-License-Identifier: MIT OR Apache-2.0
//! What elements of one kind remember, where any material says that the past matters, and nothing elsewhere.

use super::{
    Inelastic,
    law::{DeformationMode, InternalVariables},
};
use crate::{forces::Strain, material::Material};
use std::sync::Arc;

/// The past of elements of one kind, of which [`Elements`](crate::forces::elements::Elements) say when what happens.
#[derive(Clone, Debug, Default)]
pub struct MaterialHistory {
    modes: Vec<DeformationMode>,
    materials: Vec<Material>,
    /// Cloth of each element times the number of parts, plus the place of its part.
    law_of_element: Arc<Vec<u32>>,
    inelastic: Option<Inelastic>,
}

impl MaterialHistory {
    /// Elements without a past. Where there is one part, `law_of_element` is the cloth of each element.
    pub(crate) fn new(
        parts: Vec<DeformationMode>,
        materials: &[Material],
        law_of_element: impl Into<Arc<Vec<u32>>>,
    ) -> Self {
        let mut past = Self {
            modes: parts,
            materials: materials.to_vec(),
            law_of_element: law_of_element.into(),
            inelastic: None,
        };
        past.inelastic =
            materials.iter().any(Material::is_inelastic).then(|| past.after_begin_step());
        past
    }

    fn after_begin_step(&self) -> Inelastic {
        Inelastic::new(&self.modes, &self.materials, &self.law_of_element)
    }

    /// Laws and memories; `None` where the past does not matter.
    pub(crate) fn inelastic(&self) -> Option<&Inelastic> {
        self.inelastic.as_ref()
    }

    /// Another material for a cloth. What was remembered stays, as strains.
    pub(crate) fn set_material(&mut self, cloth: usize, material: &Material) {
        self.materials[cloth] = material.clone();
        if let Some(inelastic) = &mut self.inelastic {
            inelastic.set_material(cloth, material);
        } else if material.is_inelastic() {
            self.inelastic = Some(self.after_begin_step());
        }
    }

    /// Takes these strains for what has long been.
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

    /// Remembers a step of `duration` seconds that ended at these strains.
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

    /// See [`crate::forces::inelastic::law::Law::set_steepest`].
    pub(crate) fn set_stiffest_tangent(&mut self, is_steepest: bool) {
        if let Some(inelastic) = &mut self.inelastic {
            inelastic.set_stiffest_tangent(is_steepest);
        }
    }

    /// Remembers nothing any more.
    pub(crate) fn clear(&mut self) {
        if let Some(inelastic) = &mut self.inelastic {
            inelastic.clear();
        }
    }

    /// Everything remembered, as numbers; none where the past does not matter.
    pub(crate) fn values(&self) -> Vec<f64> {
        self.inelastic.as_ref().map_or_else(Vec::new, Inelastic::values)
    }

    /// Numbers in [`Self::values`] where the past matters.
    pub(crate) fn count(&self) -> usize {
        self.law_of_element.len() * InternalVariables::COUNT
    }

    /// Remembers what [`Self::values`] gave.
    pub(crate) fn set_values(&mut self, values: &[f64]) {
        if values.is_empty() {
            self.inelastic = None;
            return;
        }
        let mut inelastic = self.inelastic.take().unwrap_or_else(|| self.after_begin_step());
        inelastic.set_values(values);
        self.inelastic = Some(inelastic);
    }
}
