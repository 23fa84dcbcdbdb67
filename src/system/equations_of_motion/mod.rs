// SPDX-License-Identifier: MIT OR Apache-2.0
//! Equations of motion of all cloths: masses, forces, and the potential of a stage.
//!
//! A stage of any scheme is solved by the stationary point of
//! Φ(x) = Σ m/(2β²)‖x − y‖² + W(x) + viscous potentials − Σ ⟨f, x⟩, with y = x̂ + βv̂ (see `time_integration::stage`).

mod element_set;
mod explicit_forces;
mod external_forces;
mod masses;
mod measures;
mod point_damping;
#[cfg(test)]
mod tests;

use super::{boundary_conditions::SpringTarget, model_factory};
use crate::{
    forces::{Air, ElasticEnergy, ModelInput, scaled_gradients, sewing},
    material::Material,
    mesh::{Mesh, ShapeGradients},
    parallel::reductions,
    scene::{Cloth, Report, Settings, Task},
    time_integration::Stage,
    vec3::Vec3,
};
use element_set::ElementSet;
use external_forces::ExternalForces;
use masses::Masses;
use point_damping::PointDamping;
use std::sync::Arc;

/// Equations of motion of all cloths.
pub(crate) struct EquationsOfMotion {
    pub(crate) mesh: Arc<Mesh>,
    pub(crate) materials: Vec<Material>,
    pub(crate) masses: Masses,
    pub(crate) elements: ElementSet,
    pub(crate) external_forces: ExternalForces,
    pub(crate) point_damping: PointDamping,
    /// Spring target of each vertex; empty if there are none.
    pub(crate) spring_targets: Vec<Option<SpringTarget>>,
    /// Pairs of vertices that are sewn together.
    pub(crate) seams: Vec<[u32; 2]>,
    /// Factors on the lengths at rest along warp and weft, for each vertex; empty if all are 1.
    pub(crate) rest_scale: Vec<[f64; 2]>,
    /// Gradients of the shape functions of all triangles with respect to the scaled lengths, in 1/m.
    pub(crate) gradients: Arc<Vec<ShapeGradients>>,
}

/// Energies in J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Energy of the strain along the yarns.
    pub stretch: f64,
    /// Energy of shear.
    pub shear: f64,
    /// Energy of bending.
    pub bend: f64,
    /// Energy of seams.
    pub sewing: f64,
    /// Energy of soft pins.
    pub pins: f64,
    /// Gravitational energy, 0 at the origin.
    pub gravity: f64,
}

impl std::ops::Add for Energy {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            kinetic: self.kinetic + other.kinetic,
            stretch: self.stretch + other.stretch,
            shear: self.shear + other.shear,
            bend: self.bend + other.bend,
            sewing: self.sewing + other.sewing,
            pins: self.pins + other.pins,
            gravity: self.gravity + other.gravity,
        }
    }
}

impl Energy {
    /// Sum of all energies.
    #[must_use]
    pub fn total(&self) -> f64 {
        let elastic = self.stretch + self.shear + self.bend + self.sewing + self.pins;
        self.kinetic + elastic + self.gravity
    }
}

impl EquationsOfMotion {
    pub(crate) fn new(cloths: &[Cloth], settings: &Settings) -> Self {
        let mesh = model_factory::joined_mesh(cloths);
        let materials: Vec<Material> = cloths.iter().map(|cloth| cloth.material.clone()).collect();
        let rest_scale =
            model_factory::concatenated(cloths, [1.0; 2], |cloth| cloth.rest_scale.as_ref());
        let stiffness_scale =
            model_factory::concatenated(cloths, 1.0, |cloth| cloth.stiffness_scale.as_ref());
        let property_scale =
            model_factory::concatenated(cloths, [1.0; 3], |cloth| cloth.property_scale.as_ref());
        let mass_scales =
            model_factory::concatenated(cloths, 1.0, |cloth| cloth.mass_scale.as_ref());
        let point_damping = PointDamping::from(settings);
        let damped: Vec<_> = materials.iter().map(|one| point_damping.damped(one)).collect();
        let sheets = ModelInput {
            mesh: &mesh,
            materials: &damped,
            rest_scale: &rest_scale,
            stiffness_scale: &stiffness_scale,
            property_scale: &property_scale,
        };
        let (mut kinds, vertex_areas) = model_factory::build(settings.model, &sheets);
        kinds.extend(sewing(cloths.iter().map(|cloth| cloth.sewing.as_ref()), &sheets));
        let mut air = Air::new(&mesh, &materials, settings.air_density, settings.wind);
        if let Some(buffers) = kinds.iter().find_map(|elements| elements.buffers()) {
            air.set_buffers(buffers.clone());
        }
        let positions: Vec<Vec3> =
            cloths.iter().flat_map(|cloth| &cloth.positions).copied().collect();
        let mut elements = ElementSet::new(kinds);
        elements.set_springs(&mesh, cloths.iter().map(|cloth| cloth.springs.clone()).collect());
        Self {
            masses: Masses::new(&mesh, &materials, vertex_areas, mass_scales),
            elements,
            external_forces: ExternalForces::new(&mesh, air, &positions, settings),
            point_damping,
            spring_targets: Vec::new(),
            seams: model_factory::seam_pairs(cloths, &mesh.cloth_starts),
            gradients: scaled_gradients(&mesh, &rest_scale),
            rest_scale,
            materials,
            mesh,
        }
    }

    pub(crate) fn vertex_count(&self) -> usize {
        self.masses.vertices.len()
    }

    /// Sets the material of a cloth.
    pub(crate) fn set_material(&mut self, cloth: usize, material: Material) {
        let damped = self.point_damping.damped(&material);
        for elements in &mut self.elements.kinds {
            elements.set_material(&self.mesh, cloth, &damped);
        }
        self.elements.record_change();
        self.external_forces.air.set_material(cloth, &material);
        self.materials[cloth] = material;
        self.masses.update(&self.mesh, &self.materials, cloth..cloth + 1);
    }

    /// Sets the factors on the lengths at rest along warp and weft of all vertices; empty if all are 1.
    pub(crate) fn set_rest_scale(&mut self, scale: Vec<[f64; 2]>) {
        for elements in &mut self.elements.kinds {
            elements.set_rest_scale(&self.mesh, &scale);
        }
        self.elements.record_change();
        self.gradients = scaled_gradients(&self.mesh, &scale);
        self.rest_scale = scale;
    }

    /// Sets the flags of pinned vertices from now on.
    pub(crate) fn set_pinned(&mut self, pinned: &[bool]) {
        self.elements.invalidate_measures();
        for elements in &mut self.elements.kinds {
            elements.set_pinned(&self.mesh, pinned);
        }
    }

    /// Pairs of vertices that are connected by an edge, a seam or a spring.
    pub(crate) fn coupled_pairs(&self) -> Vec<[u32; 2]> {
        let edges = self.mesh.topology.edges.iter().map(|edge| edge.vertices);
        let springs = &self.elements.springs;
        let springs = springs.iter().zip(&self.mesh.cloth_starts).flat_map(|(own, first)| {
            let pairs = own.iter().flat_map(|springs| &springs.pairs);
            pairs.map(|pair| pair.map(|vertex| vertex + *first as u32))
        });
        edges.chain(self.seams.iter().copied()).chain(springs).collect()
    }

    /// Φ in J at positions at the end of a stage, and −∇Φ in N as `residuals`. Where the equations hold before the end,
    /// their potential is multiplied by the extrapolation factor, so that the gradient equals the forces there.
    pub(crate) fn evaluate(
        &mut self,
        stage: &Stage,
        positions: &[Vec3],
        residuals: &mut [Vec3],
        report: &mut Report,
    ) -> f64 {
        if stage.extrapolation_factor > 1.0 {
            return stage.extrapolation_factor
                * self.evaluate_at(stage, &stage.evaluation_points(positions), residuals, report);
        }
        self.evaluate_at(stage, positions, residuals, report)
    }

    /// Φ in J and −∇Φ in N at the positions where the equations hold.
    fn evaluate_at(
        &mut self,
        stage: &Stage,
        positions: &[Vec3],
        residuals: &mut [Vec3],
        report: &mut Report,
    ) -> f64 {
        report.time(Task::Forces, || {
            residuals.fill(Vec3::zeros());
            let mut internal = self.elements.add_stage_forces(stage, positions, residuals);
            internal += self.external_forces.pressures.evaluate(positions, residuals);
            internal + self.add_point_forces(stage, positions, residuals)
        })
    }

    /// Calls `work` with the tangents of the highest stiffness within the next `seconds`. Materials are unchanged.
    pub(crate) fn with_stiffest_tangents<T>(
        &mut self,
        seconds: f64,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        for elements in &mut self.elements.kinds {
            elements.begin_stage(seconds);
            elements.set_stiffest_tangent(true);
        }
        let result = work(self);
        for elements in &mut self.elements.kinds {
            elements.set_stiffest_tangent(false);
        }
        result
    }

    /// Adds the forces of inertia, gravity, air, spring targets and external forces to the residuals, in N. Returns
    /// their potential in J.
    pub(crate) fn add_point_forces(
        &self,
        stage: &Stage,
        positions: &[Vec3],
        residuals: &mut [Vec3],
    ) -> f64 {
        let (external, masses) = (&self.external_forces, &self.masses.vertices);
        let (has_air, has_drag) = (external.air.is_active(), self.point_damping.has_drag());
        let mut points = vec![(); residuals.len()];
        reductions::sum_zipped(
            residuals,
            &mut points,
            reductions::MIN_VERTICES_PER_TASK,
            |vertex, residual, ()| {
                let (mass, beta) = (masses[vertex], stage.beta);
                let displacement = positions[vertex] - stage.base_positions[vertex];
                let lag = displacement - stage.base_velocities[vertex] * beta;
                let constant = external.constant_force(vertex, mass);
                *residual += constant - lag * (mass / (beta * beta));
                let mut potential =
                    0.5 * mass / (beta * beta) * lag.norm_squared() - constant.dot(&displacement);
                if has_air {
                    let force = external.air.force(vertex, &(displacement / beta));
                    let air_velocity = displacement / beta - external.air.wind();
                    potential -= 0.5 * beta * air_velocity.dot(&force);
                    *residual += force;
                }
                if has_drag {
                    let (dissipation, force) =
                        self.point_damping.dissipation_and_force(mass, &(displacement / beta));
                    potential += beta * dissipation;
                    *residual += force;
                }
                if let Some(target) = self.spring_target(vertex) {
                    potential += target.energy(&positions[vertex]);
                    *residual += target.force(&positions[vertex]);
                }
                potential
            },
        )
    }

    /// Spring target of a vertex.
    pub(crate) fn spring_target(&self, vertex: usize) -> Option<&SpringTarget> {
        self.spring_targets.get(vertex)?.as_ref()
    }

    /// Whether wind, pressure, external forces or seams do work on the cloth.
    pub(crate) fn has_external_load(&self) -> bool {
        self.external_forces.do_work() || !self.seams.is_empty()
    }

    /// Energy at these positions in m and velocities in m/s.
    pub(crate) fn energy(&self, positions: &[Vec3], velocities: &[Vec3]) -> Energy {
        let ElasticEnergy { stretch, shear, bend, sewing } = self.elements.energy(positions);
        let (masses, block) = (&self.masses.vertices, reductions::MIN_LIGHT_VERTICES_PER_TASK);
        let kinetic = |vertex: usize| 0.5 * masses[vertex] * velocities[vertex].norm_squared();
        let gravity = &self.external_forces.gravity;
        let gravitational = |vertex: usize| -masses[vertex] * gravity.dot(&positions[vertex]);
        let pins = positions.iter().enumerate().filter_map(|(vertex, position)| {
            self.spring_target(vertex).map(|target| target.energy(position))
        });
        Energy {
            kinetic: reductions::sum_blocked(masses.len(), block, kinetic),
            stretch,
            shear,
            bend,
            sewing,
            pins: pins.sum(),
            gravity: reductions::sum_blocked(masses.len(), block, gravitational),
        }
    }
}
