// SPDX-License-Identifier: MIT OR Apache-2.0
//! The equations of motion of all cloths: masses and forces, and the potential of a stage.
//!
//! A stage of any scheme asks for the stationary point of
//! Φ(x) = Σ m/(2β²)‖x − y‖² + W(x) + viscous potentials − Σ ⟨f, x⟩, with y = x̂ + βv̂ (see `scheme`).

use super::{Report, scheme::Stage};
use crate::{
    Cloth, Material, Vec3,
    forces::{
        Air, Membrane, StrainHistory,
        bending::{Bending, BendingLaw},
    },
    mesh::Mesh,
    parallel,
    settings::Settings,
    simulation::report::Task,
};

/// Masses and forces of all cloths.
#[derive(Clone, Debug)]
pub(super) struct Dynamics {
    pub(super) mesh: Mesh,
    pub(super) materials: Vec<Material>,
    pub(super) membrane: Membrane,
    pub(super) bending: Bending,
    pub(super) air: Air,
    pub(super) gravity: Vec3,
    /// Mass of each vertex, in kg.
    pub(super) masses: Vec<f64>,
    /// Forces from outside, in N.
    pub(super) vertex_forces: Vec<Vec3>,
    mass_scales: Vec<f64>,
}

/// Energies in J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Of motion.
    pub kinetic: f64,
    /// Of strain along the yarns.
    pub stretch: f64,
    /// Of shear.
    pub shear: f64,
    /// Of curvature.
    pub bend: f64,
    /// Of height, 0 at the origin.
    pub gravity: f64,
}

impl Energy {
    /// Sum of all.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.kinetic + self.stretch + self.shear + self.bend + self.gravity
    }
}

impl Dynamics {
    pub(super) fn new(cloths: &[Cloth], settings: &Settings) -> Self {
        let meshes: Vec<&Mesh> = cloths.iter().map(|cloth| &cloth.mesh).collect();
        let mesh = Mesh::join(&meshes);
        let materials: Vec<Material> = cloths.iter().map(|cloth| cloth.material.clone()).collect();
        let laws: Vec<BendingLaw> = materials.iter().map(BendingLaw::from).collect();
        let count = mesh.vertex_count();
        let mass_scales = cloths
            .iter()
            .flat_map(|cloth| {
                cloth.mass_scale.clone().unwrap_or_else(|| vec![1.0; cloth.vertex_count()])
            })
            .collect();
        let mut dynamics = Self {
            membrane: Membrane::new(&mesh, &materials),
            bending: Bending::new(&mesh, &laws, &vec![false; count]),
            air: Air::new(&mesh, &materials, settings.air_density, settings.wind),
            gravity: settings.gravity,
            masses: vec![0.0; count],
            vertex_forces: vec![Vec3::zeros(); count],
            mass_scales,
            materials,
            mesh,
        };
        for cloth in 0..cloths.len() {
            dynamics.weigh(cloth);
        }
        dynamics
    }

    pub(super) fn vertex_count(&self) -> usize {
        self.masses.len()
    }

    fn weigh(&mut self, cloth: usize) {
        let density = self.materials[cloth].density;
        for vertex in self.mesh.vertices_of(cloth) {
            let area = self.mesh.rest.vertex_areas[vertex];
            self.masses[vertex] = density * area * self.mass_scales[vertex];
        }
    }

    pub(super) fn set_material(&mut self, cloth: usize, material: Material) {
        self.membrane.set_material(cloth, &material);
        self.bending.set_law(&self.mesh, cloth, BendingLaw::from(&material));
        self.air.set_material(cloth, &material);
        self.materials[cloth] = material;
        self.weigh(cloth);
    }

    /// Φ at `positions` in J, and −∇Φ in N as `residuals`.
    pub(super) fn evaluate(
        &mut self,
        stage: &Stage,
        positions: &[Vec3],
        residuals: &mut [Vec3],
        report: &mut Report,
    ) -> f64 {
        report.time(Task::Forces, || {
            let inverse_beta = 1.0 / stage.beta;
            residuals.fill(Vec3::zeros());
            let strains = StrainHistory { reference: stage.strains.as_slice(), inverse_beta };
            let stretched = self.membrane.evaluate(positions, strains, residuals);
            let angles = StrainHistory { reference: stage.angles.as_slice(), inverse_beta };
            let bent = self.bending.evaluate(positions, angles, residuals);
            stretched + bent + self.add_point_forces(stage, positions, residuals)
        })
    }

    /// Inertia, gravity, air and forces from outside.
    fn add_point_forces(&self, stage: &Stage, positions: &[Vec3], residuals: &mut [Vec3]) -> f64 {
        let has_air = self.air.is_felt();
        let mut points = vec![(); residuals.len()];
        parallel::sum2(residuals, &mut points, parallel::VERTICES, |vertex, residual, ()| {
            let (mass, beta) = (self.masses[vertex], stage.beta);
            let travelled = positions[vertex] - stage.positions[vertex];
            let lag = travelled - stage.velocities[vertex] * beta;
            let constant = self.gravity * mass + self.vertex_forces[vertex];
            *residual += constant - lag * (mass / (beta * beta));
            let mut potential =
                0.5 * mass / (beta * beta) * lag.norm_squared() - constant.dot(&travelled);
            if has_air {
                let force = self.air.force(vertex, &(travelled / beta));
                let against = travelled / beta - self.air.wind();
                potential -= 0.5 * beta * against.dot(&force);
                *residual += force;
            }
            potential
        })
    }

    /// Freezes what the air forces take from the shape and velocity expected at the end of a stage.
    pub(super) fn predict_air(&mut self, positions: &[Vec3], velocities: &[Vec3]) {
        if self.air.is_felt() {
            self.air.predict(positions, velocities);
        }
    }

    pub(super) fn energy(&mut self, positions: &[Vec3], velocities: &[Vec3]) -> Energy {
        let membrane = self.membrane.energy(positions);
        let mut energy = Energy {
            stretch: membrane.stretch,
            shear: membrane.shear,
            bend: self.bending.energy(positions),
            ..Energy::default()
        };
        for (vertex, mass) in self.masses.iter().enumerate() {
            energy.kinetic += 0.5 * mass * velocities[vertex].norm_squared();
            energy.gravity -= mass * self.gravity.dot(&positions[vertex]);
        }
        energy
    }
}
