// SPDX-License-Identifier: MIT OR Apache-2.0
//! Explicit forces: all forces at known positions and velocities, for explicit and semi-implicit schemes.

use super::EquationsOfMotion;
use crate::{material::Material, time_integration::KinematicState, vec3::Vec3};

impl EquationsOfMotion {
    /// Forces at a kinematic state `seconds` after the last step, in N, without contacts and spring targets.
    pub(crate) fn forces(&mut self, state: &KinematicState, seconds: f64) -> Vec<Vec3> {
        let KinematicState { positions, velocities } = state;
        let mut forces = vec![Vec3::zeros(); positions.len()];
        self.elements.add_forces(state, seconds, self.is_viscous(), &mut forces);
        let external = &mut self.external_forces;
        external.predict(positions, velocities);
        external.pressures.evaluate(positions, &mut forces);
        let (has_air, has_drag) = (external.air.is_active(), self.point_damping.has_drag());
        for (vertex, force) in forces.iter_mut().enumerate() {
            let (mass, velocity) = (self.masses.vertices[vertex], &velocities[vertex]);
            *force += external.constant_force(vertex, mass);
            if has_air {
                *force += external.air.force(vertex, velocity);
            }
            if has_drag {
                *force += self.point_damping.dissipation_and_force(mass, velocity).1;
            }
        }
        forces
    }

    /// Adds the forces of spring targets, in N.
    pub(crate) fn add_spring_target_forces(&self, positions: &[Vec3], forces: &mut [Vec3]) {
        for (vertex, target) in self.spring_targets.iter().enumerate() {
            if let Some(target) = target {
                forces[vertex] += target.force(&positions[vertex]);
            }
        }
    }

    /// Whether forces depend on strain rates: by damping of materials or springs, or in closing seams.
    pub(crate) fn is_viscous(&self) -> bool {
        let is_damped = |material: &Material| {
            let times = [material.stretch_damping, material.shear_damping, material.bend_damping];
            times.iter().any(|time| *time > 0.0)
        };
        let is_rayleigh = self.point_damping.is_viscous();
        let mut springs = self.elements.springs.iter().flatten();
        let has_damped_spring = springs.any(|own| own.damping.iter().any(|one| *one > 0.0));
        is_rayleigh
            || has_damped_spring
            || self.elements.is_time_dependent()
            || self.materials.iter().any(is_damped)
    }
}
