// SPDX-License-Identifier: MIT OR Apache-2.0
//! Animated settings: settings, external forces, surface properties and rest scales that may change during a
//! simulation, for checkpoints.

use super::ConstrainedSystem;
use crate::{
    forces::PressureLaw, mesh::Mesh, scene::Settings, surface::SurfaceProperties,
    system::EquationsOfMotion, vec3::Vec3,
};
use serde::{Deserialize, Serialize};

/// Present values of everything that may be animated; stored in checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnimatedSettings {
    pub(super) gravity: Vec3,
    pub(super) wind: Vec3,
    pub(super) time_step: f64,
    pub(super) tolerance: f64,
    pub(super) max_iterations: usize,
    pub(super) air_density: f64,
    /// Friction coefficient and thickness in m of each collider.
    pub(super) collider_surfaces: Vec<[f64; 2]>,
    /// Factors on the lengths at rest along warp and weft, for each vertex; empty if all are 1.
    pub(super) rest_scale: Vec<[f64; 2]>,
    /// Given forces on the vertices in N; empty if there are none.
    pub(super) vertex_forces: Vec<Vec3>,
    /// Pressure inside each cloth.
    pub(super) pressures: Vec<Option<PressureLaw>>,
}

impl AnimatedSettings {
    /// Present values.
    pub(crate) fn new(settings: &Settings, system: &ConstrainedSystem) -> Self {
        let Settings { time_step, tolerance, max_iterations, air_density, .. } = *settings;
        let ConstrainedSystem { dynamics, response, .. } = system;
        let external = &dynamics.external_forces;
        let cloths = 0..dynamics.mesh.cloth_count();
        let colliders = 0..response.scene.collider_motions.len();
        let surfaces = colliders.map(|index| response.scene.collider_surface_properties(index));
        Self {
            gravity: external.gravity,
            wind: external.air.wind(),
            time_step,
            tolerance,
            max_iterations,
            air_density,
            collider_surfaces: surfaces
                .map(|surface| [surface.friction, surface.thickness])
                .collect(),
            rest_scale: dynamics.rest_scale.clone(),
            vertex_forces: external.vertex_forces.clone(),
            pressures: cloths.map(|cloth| external.pressures.law(cloth).cloned()).collect(),
        }
    }

    /// Replaces the settings of the accuracy.
    pub(crate) fn set_accuracy(&mut self, settings: &Settings) {
        self.time_step = settings.time_step;
        self.tolerance = settings.tolerance;
        self.max_iterations = settings.max_iterations;
    }

    /// Takes over the values.
    pub(crate) fn apply(self, settings: &mut Settings, system: &mut ConstrainedSystem) {
        settings.time_step = self.time_step;
        settings.tolerance = self.tolerance;
        settings.max_iterations = self.max_iterations;
        settings.air_density = self.air_density;
        let EquationsOfMotion { external_forces: external, mesh, .. } = &mut system.dynamics;
        external.gravity = self.gravity;
        external.air.set_wind(self.wind);
        external.air.set_density(self.air_density);
        external.vertex_forces = self.vertex_forces;
        for (cloth, law) in self.pressures.into_iter().enumerate() {
            external.pressures.set(mesh, cloth, law);
        }
        for (collider, [friction, thickness]) in self.collider_surfaces.into_iter().enumerate() {
            let surface = SurfaceProperties { friction, thickness };
            system.response.scene.set_collider_surface_properties(collider, surface);
        }
        if self.rest_scale != system.dynamics.rest_scale {
            system.set_rest_scale(self.rest_scale);
        }
    }

    /// Whether the lists have the lengths of a simulation with this mesh and a number of colliders.
    pub(crate) fn fits(&self, collider_count: usize, mesh: &Mesh) -> bool {
        let is_one_for_each = |length: usize| length == 0 || length == mesh.vertex_count();
        let is_valid_pressure = |(cloth, law): (usize, &Option<PressureLaw>)| {
            let weights = law.as_ref().map_or(0, |law| law.weights.len());
            weights == 0 || weights == mesh.vertices_of(cloth).len()
        };
        self.collider_surfaces.len() == collider_count
            && is_one_for_each(self.rest_scale.len())
            && is_one_for_each(self.vertex_forces.len())
            && self.pressures.len() == mesh.cloth_count()
            && self.pressures.iter().enumerate().all(is_valid_pressure)
    }
}
