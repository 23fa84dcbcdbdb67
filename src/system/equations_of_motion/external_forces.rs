// SPDX-License-Identifier: MIT OR Apache-2.0
//! External forces: gravity, air, pressures inside cloths, and forces that a caller gives.

use crate::{
    forces::{Air, PressureLoads},
    mesh::Mesh,
    scene::Settings,
    time_integration::Stage,
    vec3::Vec3,
};

/// External forces on all cloths.
pub(crate) struct ExternalForces {
    pub(crate) air: Air,
    pub(crate) pressures: PressureLoads,
    /// Gravity, in m/s².
    pub(crate) gravity: Vec3,
    /// Forces on the vertices that a caller gives, in N; empty if none have been set.
    pub(crate) vertex_forces: Vec<Vec3>,
}

impl ExternalForces {
    /// Gravity and air of the settings, and no pressure inside cloths at these positions in m.
    pub(super) fn new(mesh: &Mesh, air: Air, positions: &[Vec3], settings: &Settings) -> Self {
        Self {
            air,
            pressures: PressureLoads::new(mesh, positions),
            gravity: settings.gravity,
            vertex_forces: Vec::new(),
        }
    }

    /// Gravity and given force on a vertex with a mass in kg, in N.
    pub(super) fn constant_force(&self, vertex: usize, mass: f64) -> Vec3 {
        self.gravity * mass + self.vertex_forces.get(vertex).copied().unwrap_or_default()
    }

    /// Predicts the air forces where the equations of a stage hold, for positions in m and velocities in m/s expected
    /// at its end.
    pub(crate) fn predict_stage(&mut self, stage: &Stage, positions: &[Vec3], velocities: &[Vec3]) {
        if stage.extrapolation_factor > 1.0 {
            let pairs = velocities.iter().zip(&stage.base_velocities);
            let mean: Vec<Vec3> =
                pairs.map(|(v, from)| from + (v - from) / stage.extrapolation_factor).collect();
            self.predict(&stage.evaluation_points(positions), &mean);
        } else {
            self.predict(positions, velocities);
        }
    }

    /// Freezes the normals and relative velocities of the air forces at expected positions in m and velocities in m/s,
    /// and begins the path of pressures there.
    pub(super) fn predict(&mut self, positions: &[Vec3], velocities: &[Vec3]) {
        self.pressures.begin_path(positions, &self.gravity);
        if self.air.is_active() {
            self.air.set_predicted_state(positions, velocities);
        }
    }

    /// Whether wind, pressure or given forces do work on the cloth.
    pub(super) fn do_work(&self) -> bool {
        let is_windy = self.air.is_active() && self.air.wind() != Vec3::zeros();
        let is_driven = is_windy || !self.pressures.is_empty();
        is_driven || self.vertex_forces.iter().any(|force| *force != Vec3::zeros())
    }
}
