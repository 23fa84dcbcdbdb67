// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drag on every vertex: the Stokes drag −kv of Cords 2004, eq. 2.6, and Rayleigh damping αM + βK of Huber 2018, eq. 2.94.
//!
//! The forces −(k + αm)v are the gradient of a dissipation function. βK is the viscosity that the materials already have:
//! Kelvin-Voigt times of stretch, shear and bending that are all β longer. It acts on strains, so that cloth that turns
//! as a whole feels none of it, unlike K at rest.

use crate::{material::Material, scene::Settings, vec3::Vec3};

/// Drag of vertices, and damping by stiffness.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointDamping {
    /// k, in N·s/m.
    stokes_drag: f64,
    /// α, in 1/s.
    mass_damping: f64,
    /// β, in s.
    stiffness_damping: f64,
}

impl From<&Settings> for PointDamping {
    fn from(settings: &Settings) -> Self {
        let Settings { stokes_drag, mass_damping, stiffness_damping, .. } = *settings;
        Self { stokes_drag, mass_damping, stiffness_damping }
    }
}

impl PointDamping {
    /// k + αm of a vertex with a mass in kg, in N·s/m.
    pub(crate) fn coefficient(&self, mass: f64) -> f64 {
        self.stokes_drag + self.mass_damping * mass
    }

    /// Dissipation function of a vertex in W, half of the power that is lost, and the force in N.
    pub(crate) fn dissipation_and_force(&self, mass: f64, velocity: &Vec3) -> (f64, Vec3) {
        let force = velocity * -self.coefficient(mass);
        (-0.5 * force.dot(velocity), force)
    }

    /// Whether any vertex feels drag.
    pub(crate) fn has_drag(&self) -> bool {
        self.stokes_drag > 0.0 || self.mass_damping > 0.0
    }

    /// Whether strain rates are resisted.
    pub(crate) fn is_viscous(&self) -> bool {
        self.stiffness_damping > 0.0
    }

    /// A material with the damping by stiffness added.
    pub(crate) fn damped(&self, material: &Material) -> Material {
        Material {
            stretch_damping: material.stretch_damping + self.stiffness_damping,
            shear_damping: material.shear_damping + self.stiffness_damping,
            bend_damping: material.bend_damping + self.stiffness_damping,
            ..material.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Central differences of a quadratic function are exact but for rounding.
    #[test]
    fn drag_is_the_gradient_of_the_dissipation_function() {
        let settings = Settings { stokes_drag: 0.3, mass_damping: 2.0, ..Settings::default() };
        let damping = PointDamping::from(&settings);
        let (mass, velocity, step) = (0.05, Vec3::new(1.0, -2.0, 0.5), 1.0e-3);
        let (_, force) = damping.dissipation_and_force(mass, &velocity);
        for axis in 0..3 {
            let at = |size: f64| {
                let mut moved = velocity;
                moved[axis] += size;
                damping.dissipation_and_force(mass, &moved).0
            };
            let slope = (at(step) - at(-step)) / (2.0 * step);
            assert!((slope + force[axis]).abs() < 1.0e-9, "{slope} {}", force[axis]);
        }
        assert!((force + velocity * 0.4).norm() < 1.0e-12);
    }
}
