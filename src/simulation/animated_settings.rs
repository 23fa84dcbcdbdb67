// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings that may change while a simulation goes on, as animations ask for.

use super::Simulation;
use crate::{
    error::{Error, Result},
    forces::{edge_scale, scaled_gradients},
    scene::Settings,
    surface::SurfaceProperties,
    system::EquationsOfMotion,
};
use serde::{Deserialize, Serialize};

/// What can be changed of settings, surfaces and rest shapes, as it is now; part of checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnimatedSettings {
    time_step: f64,
    tolerance: f64,
    max_iterations: usize,
    air_density: f64,
    /// Friction and thickness of each collider.
    collider_surfaces: Vec<[f64; 2]>,
    /// Factors on lengths at rest of each vertex; empty where there are none.
    rest_scale: Vec<[f64; 2]>,
}

impl AnimatedSettings {
    /// Whether these can be those of a simulation of so many colliders and vertices.
    pub(crate) fn fits(&self, collider_count: usize, vertex_count: usize) -> bool {
        self.collider_surfaces.len() == collider_count
            && (self.rest_scale.is_empty() || self.rest_scale.len() == vertex_count)
    }
}

impl Simulation {
    /// The settings as they are now.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes the longest step, the tolerance, the number of corrections and the density of the air from other settings,
    /// from now on. What else they say has no effect.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        let Settings { time_step, tolerance, max_iterations, air_density, .. } =
            settings.checked()?;
        let was_longest = self.preferred_step_size >= self.settings.time_step;
        self.preferred_step_size =
            if was_longest { time_step } else { self.preferred_step_size.min(time_step) };
        self.settings =
            Settings { time_step, air_density, tolerance, max_iterations, ..self.settings.clone() };
        self.dynamics.air.set_density(air_density);
        Ok(())
    }

    /// Gives a collider another friction and thickness in m, from now on.
    ///
    /// # Errors
    /// An index that is no collider, or a value that is not a finite number of 0 or more.
    pub fn set_collider_surface(
        &mut self,
        collider: usize,
        friction: f64,
        thickness: f64,
    ) -> Result<()> {
        let count = self.collider_count();
        if collider >= count {
            let wanted = format!("an index below the {count} colliders");
            return Err(Error::value("collider", collider, wanted));
        }
        for (name, value) in [("friction", friction), ("thickness", thickness)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Error::value(name, value, "a finite number, 0 or more"));
            }
        }
        self.response
            .set_collider_surface_properties(collider, SurfaceProperties { friction, thickness });
        Ok(())
    }

    /// Multiplies the lengths at rest of a cloth along warp and weft by other factors for each vertex, from now on.
    ///
    /// # Errors
    /// An index that is no cloth, or factors that are not finite numbers above 0 or not one pair for each vertex.
    pub fn set_rest_scale(&mut self, cloth: usize, scale: &[[f64; 2]]) -> Result<()> {
        self.positions(cloth)?;
        let vertices = self.dynamics.mesh.vertices_of(cloth);
        crate::scene::check_factors("rest_scale", scale, vertices.len(), |pair| *pair)?;
        let mut all = self.dynamics.rest_scale.clone();
        all.resize(self.dynamics.vertex_count(), [1.0; 2]);
        all[vertices].copy_from_slice(scale);
        self.dynamics.set_rest_scale(all);
        self.update_rest_length_scales();
        Ok(())
    }

    /// Tells contacts how long edges are at rest.
    pub(crate) fn update_rest_length_scales(&mut self) {
        let EquationsOfMotion { mesh, rest_scale, .. } = &self.dynamics;
        let edges = self.response.cloth_edges().filter(|_| !rest_scale.is_empty());
        let scale = |(ends, triangle)| edge_scale(mesh, rest_scale, ends, triangle);
        let scales = edges.map(scale).collect();
        self.response.set_rest_length_scales(scales);
    }

    pub(crate) fn animated_settings(&self) -> AnimatedSettings {
        let Settings { time_step, tolerance, max_iterations, air_density, .. } = self.settings;
        let surfaces =
            (0..self.collider_count()).map(|one| self.response.collider_surface_properties(one));
        AnimatedSettings {
            time_step,
            tolerance,
            max_iterations,
            air_density,
            collider_surfaces: surfaces
                .map(|surface| [surface.friction, surface.thickness])
                .collect(),
            rest_scale: self.dynamics.rest_scale.clone(),
        }
    }

    pub(crate) fn apply_animated_settings(&mut self, changes: AnimatedSettings) {
        self.settings.time_step = changes.time_step;
        self.settings.tolerance = changes.tolerance;
        self.settings.max_iterations = changes.max_iterations;
        self.settings.air_density = changes.air_density;
        self.dynamics.air.set_density(changes.air_density);
        for (collider, [friction, thickness]) in changes.collider_surfaces.into_iter().enumerate() {
            self.response.set_collider_surface_properties(
                collider,
                SurfaceProperties { friction, thickness },
            );
        }
        if changes.rest_scale != self.dynamics.rest_scale {
            self.dynamics.set_rest_scale(changes.rest_scale);
            self.update_rest_length_scales();
        }
    }
}

impl EquationsOfMotion {
    fn set_rest_scale(&mut self, scale: Vec<[f64; 2]>) {
        self.invalidate_measures();
        for elements in &mut self.elements {
            elements.set_rest_scale(&self.mesh, &scale);
        }
        self.gradients = scaled_gradients(&self.mesh, &scale);
        self.rest_scale = scale;
        self.stiffness_revision += 1;
    }
}
