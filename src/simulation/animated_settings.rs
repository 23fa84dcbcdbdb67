// SPDX-License-Identifier: MIT OR Apache-2.0
//! Animated settings: settings, surface properties and rest scales that may change during a simulation.

use super::Simulation;
use crate::{
    error::{Error, Result},
    forces::{edge_scale, scaled_gradients},
    scene::Settings,
    surface::SurfaceProperties,
    system::EquationsOfMotion,
};
use serde::{Deserialize, Serialize};

/// Present values of everything that may be animated; stored in checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnimatedSettings {
    time_step: f64,
    tolerance: f64,
    max_iterations: usize,
    air_density: f64,
    /// Friction coefficient and thickness in m of each collider.
    collider_surfaces: Vec<[f64; 2]>,
    /// Factors on the lengths at rest along warp and weft, for each vertex; empty if all are 1.
    rest_scale: Vec<[f64; 2]>,
}

impl AnimatedSettings {
    /// Whether the lists have the lengths of a simulation with these numbers of colliders and vertices.
    pub(crate) fn fits(&self, collider_count: usize, vertex_count: usize) -> bool {
        self.collider_surfaces.len() == collider_count
            && (self.rest_scale.is_empty() || self.rest_scale.len() == vertex_count)
    }
}

impl Simulation {
    /// Present settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Sets the time step, the tolerance, the iteration limit and the air density from now on. Other fields of
    /// `settings` have no effect.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        let Settings { time_step, tolerance, max_iterations, air_density, .. } =
            settings.checked()?;
        let was_at_maximum = self.preferred_step_size >= self.settings.time_step;
        self.preferred_step_size =
            if was_at_maximum { time_step } else { self.preferred_step_size.min(time_step) };
        self.settings =
            Settings { time_step, air_density, tolerance, max_iterations, ..self.settings.clone() };
        self.dynamics.air.set_density(air_density);
        Ok(())
    }

    /// Sets the friction coefficient and the thickness in m of a collider from now on.
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
            .scene
            .set_collider_surface_properties(collider, SurfaceProperties { friction, thickness });
        Ok(())
    }

    /// Sets the factors on the lengths at rest of a cloth along warp and weft, for each vertex, from now on.
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

    /// Updates the lengths at rest of edges in the collision response.
    pub(crate) fn update_rest_length_scales(&mut self) {
        let EquationsOfMotion { mesh, rest_scale, .. } = &self.dynamics;
        let edges = self.response.scene.cloth_edges().filter(|_| !rest_scale.is_empty());
        let scale = |(ends, triangle)| edge_scale(mesh, rest_scale, ends, triangle);
        let scales = edges.map(scale).collect();
        self.response.scene.mesh.rest_length_scales = scales;
    }

    pub(crate) fn animated_settings(&self) -> AnimatedSettings {
        let Settings { time_step, tolerance, max_iterations, air_density, .. } = self.settings;
        let surfaces = (0..self.collider_count())
            .map(|index| self.response.scene.collider_surface_properties(index));
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
            self.response.scene.set_collider_surface_properties(
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
