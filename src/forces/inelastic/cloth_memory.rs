// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the elements of a cloth have internal variables.

use crate::material::Material;

/// Whether stress in a cloth depends on its past.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClothMemory {
    /// Whether its material is inelastic.
    is_inelastic: bool,
    /// Whether its elements have the internal variables of an earlier inelastic material.
    has_past: bool,
}

impl ClothMemory {
    /// Memory of a cloth without a past.
    pub(super) fn new(material: &Material) -> Self {
        Self { is_inelastic: material.is_inelastic(), has_past: false }
    }

    /// Another material. What an inelastic one has left stays.
    pub(super) fn set_material(&mut self, material: &Material) {
        self.has_past |= self.is_inelastic;
        self.is_inelastic = material.is_inelastic();
    }

    /// Sets whether internal variables of another time have been taken.
    pub(super) fn set_past(&mut self, has_past: bool) {
        self.has_past = has_past;
    }

    /// Whether the elements have internal variables.
    pub(super) fn exists(self) -> bool {
        self.is_inelastic || self.has_past
    }
}

/// Whether any cloth is inelastic or has internal variables, of which there is a list for each.
pub(crate) fn any_has_memory(materials: &[Material], of_cloths: &[&[f64]]) -> bool {
    of_cloths.iter().any(|values| !values.is_empty())
        || materials.iter().any(Material::is_inelastic)
}
