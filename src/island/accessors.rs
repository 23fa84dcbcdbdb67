// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accessors: the state of an island, and what a caller changes between frames: settings, boundary conditions, colliders,
//! materials and external forces, as `Simulation` tells. Indices of cloths are those within the island, and exist.

use super::{
    Island,
    arguments::{
        check_collider, check_count, check_number, check_targets, checked_pressure,
        checked_vertices, independent_directions,
    },
};
use crate::{
    error::{Error, Result},
    forces::{PressureLaw, enclosed_volume},
    linear_solver::{BlockMatrix, Ordering},
    material::Material,
    mesh::{Mesh, check_positions},
    scene::{Settings, Springs, check_duration, check_factors, check_vector},
    surface::SurfaceProperties,
    system::{Energy, LinearisedMatrices, model_factory},
    time_integration::Stage,
    vec3::Vec3,
};

impl Island {
    /// Number of colliders.
    pub(crate) fn collider_count(&self) -> usize {
        self.system.response.scene.collider_motions.len()
    }

    /// Mesh of all cloths.
    pub(crate) fn mesh(&self) -> &Mesh {
        &self.system.dynamics.mesh
    }

    /// Energy of all cloths.
    pub(crate) fn energy(&mut self) -> Energy {
        self.system.dynamics.energy(&self.state.positions, &self.state.velocities)
    }

    /// Whether there are seams, and whether there are soft pins.
    pub(crate) fn has_springs(&self) -> [bool; 2] {
        [!self.system.dynamics.seams.is_empty(), !self.system.dynamics.spring_targets.is_empty()]
    }

    /// See [`crate::Simulation::set_pins`].
    pub(crate) fn set_pins(
        &mut self,
        cloth: usize,
        vertices: &[usize],
        targets: Option<&[Vec3]>,
    ) -> Result<()> {
        let vertices = checked_vertices(self.mesh(), cloth, vertices)?;
        check_targets(targets, vertices.len())?;
        let conditions = &mut self.system.boundary_conditions;
        for (index, vertex) in vertices.into_iter().enumerate() {
            let position = self.state.positions[vertex];
            let target = targets.map(|targets| targets[index]);
            let end = target.or_else(|| conditions.kinematic_end(vertex)).unwrap_or(position);
            conditions.set_kinematic(vertex, position, end);
        }
        self.system.update_pinned_vertices();
        Ok(())
    }

    /// See [`crate::Simulation::set_soft_pins`].
    pub(crate) fn set_soft_pins(
        &mut self,
        cloth: usize,
        vertices: &[usize],
        targets: Option<&[Vec3]>,
        stiffness: &[f64],
    ) -> Result<()> {
        check_count("stiffness", stiffness.len(), vertices.len())?;
        for (index, stiffness) in stiffness.iter().enumerate() {
            if !(stiffness.is_finite() && *stiffness > 0.0) {
                let wanted = "a finite number more than 0";
                return Err(Error::element("stiffness", "entry", index, *stiffness, wanted));
            }
        }
        let vertices = checked_vertices(self.mesh(), cloth, vertices)?;
        check_targets(targets, vertices.len())?;
        let conditions = &mut self.system.boundary_conditions;
        let start =
            |vertex: &usize| conditions.path_end(*vertex).unwrap_or(self.state.positions[*vertex]);
        let starts: Vec<Vec3> = vertices.iter().map(start).collect();
        for (index, vertex) in vertices.into_iter().enumerate() {
            let end = targets.map_or(starts[index], |targets| targets[index]);
            conditions.set_spring_target(vertex, starts[index], end, stiffness[index]);
        }
        self.system.update_pinned_vertices();
        Ok(())
    }

    /// See [`crate::Simulation::release_pins`].
    pub(crate) fn release_pins(&mut self, cloth: usize, vertices: Option<&[usize]>) -> Result<()> {
        let released = match vertices {
            Some(vertices) => checked_vertices(self.mesh(), cloth, vertices)?,
            None => self.mesh().vertices_of(cloth).collect(),
        };
        for vertex in released {
            self.system.boundary_conditions.release(vertex);
        }
        self.system.update_pinned_vertices();
        Ok(())
    }

    /// See [`crate::Simulation::set_guided_velocity`].
    pub(crate) fn set_guided_velocity(
        &mut self,
        cloth: usize,
        vertices: &[usize],
        directions: &[Vec3],
        velocity: Vec3,
    ) -> Result<()> {
        let vertices = checked_vertices(self.mesh(), cloth, vertices)?;
        check_vector("velocity", &velocity)?;
        let directions = independent_directions(directions)?;
        let conditions = &mut self.system.boundary_conditions;
        for vertex in vertices {
            conditions.set_prescribed_velocity(vertex, directions.clone(), velocity);
        }
        self.system.update_pinned_vertices();
        Ok(())
    }

    /// See [`crate::Simulation::set_collider`].
    pub(crate) fn set_collider(&mut self, collider: usize, positions: &[Vec3]) -> Result<()> {
        check_collider(collider, self.collider_count())?;
        let motion = &mut self.system.response.scene.collider_motions[collider];
        let [_, end] = &mut motion.frame_positions;
        check_count("positions", positions.len(), end.len())?;
        check_positions("positions", positions)?;
        end.copy_from_slice(positions);
        Ok(())
    }

    /// See [`crate::Simulation::set_material`].
    pub(crate) fn set_material(&mut self, cloth: usize, material: Material) -> Result<()> {
        let material = material.checked()?;
        model_factory::check_material(self.settings(), "material", &material)?;
        self.system.set_material(cloth, material);
        self.system.dynamics.elements.initialize_internal_variables(&self.state.positions);
        Ok(())
    }

    /// See [`crate::Simulation::set_springs`].
    pub(crate) fn set_springs(&mut self, cloth: usize, springs: Option<Springs>) -> Result<()> {
        let count = self.mesh().vertices_of(cloth).len();
        let springs = springs.map(|springs| springs.checked(count)).transpose()?;
        let springs = springs.filter(|springs| !springs.pairs.is_empty());
        let Self { system, solver, state, .. } = self;
        let dynamics = &mut system.dynamics;
        if springs != dynamics.elements.springs[cloth] {
            let mut all = dynamics.elements.springs.clone();
            all[cloth] = springs;
            state.previous = None;
            dynamics.elements.set_springs(&dynamics.mesh, all);
            solver.renew_pattern(dynamics);
        }
        Ok(())
    }

    /// See [`crate::Simulation::set_gravity`].
    pub(crate) fn set_gravity(&mut self, gravity: Vec3) -> Result<()> {
        check_vector("g", &gravity)?;
        if gravity != self.system.dynamics.external_forces.gravity {
            self.state.previous = None;
        }
        self.system.dynamics.external_forces.gravity = gravity;
        Ok(())
    }

    /// See [`crate::Simulation::set_wind`].
    pub(crate) fn set_wind(&mut self, wind: Vec3) -> Result<()> {
        check_vector("w", &wind)?;
        self.system.dynamics.external_forces.air.set_wind(wind);
        Ok(())
    }

    /// See [`crate::Simulation::set_vertex_forces`].
    pub(crate) fn set_vertex_forces(&mut self, cloth: usize, forces: &[Vec3]) -> Result<()> {
        let vertices = self.mesh().vertices_of(cloth);
        check_count("forces", forces.len(), vertices.len())?;
        check_positions("forces", forces)?;
        let dynamics = &mut self.system.dynamics;
        dynamics.external_forces.vertex_forces.resize(dynamics.vertex_count(), Vec3::zeros());
        let present = &mut dynamics.external_forces.vertex_forces[vertices];
        if present != forces {
            self.state.previous = None;
        }
        present.copy_from_slice(forces);
        Ok(())
    }

    /// See [`crate::Simulation::set_pressure`].
    pub(crate) fn set_pressure(&mut self, cloth: usize, law: Option<PressureLaw>) -> Result<()> {
        let count = self.mesh().vertices_of(cloth).len();
        let dynamics = &mut self.system.dynamics;
        let initial_volume = dynamics.external_forces.pressures.initial_volume(cloth);
        let law = law.map(|law| checked_pressure(law, count, initial_volume)).transpose()?;
        let present = dynamics.external_forces.pressures.law(cloth);
        let is_other_surface =
            |law: &PressureLaw| present.is_none_or(|one| one.weights != law.weights);
        if law.as_ref().map_or(present.is_some(), is_other_surface) {
            self.state.previous = None;
        }
        dynamics.external_forces.pressures.set(&dynamics.mesh, cloth, law);
        Ok(())
    }

    /// Volume that a cloth encloses in m³, positive if its faces turn around outward normals.
    pub(crate) fn volume(&self, cloth: usize) -> f64 {
        enclosed_volume(self.mesh(), cloth, &self.state.positions)
    }

    /// Assembles the tangent matrix at the positions where forces were last evaluated, without contacts, with the
    /// inertia of implicit Euler steps of `duration` in s. [`Self::ordering`] is the order of its rows. Runs on the
    /// threads of the caller.
    pub(crate) fn assemble(&mut self, duration: f64) -> &BlockMatrix {
        let stage = Stage { beta: duration, ..Stage::STATIC };
        let tangent = self.solver.newton.tangent_without_contacts();
        tangent.assemble(&mut self.system.dynamics, &stage);
        &tangent.matrix
    }

    /// See [`crate::Simulation::matrices`].
    pub(crate) fn matrices(&mut self, duration: Option<f64>) -> Result<LinearisedMatrices> {
        let duration = duration.unwrap_or(self.solver.settings.time_step);
        check_duration("h", duration)?;
        let Self { system, solver, state, .. } = self;
        let tangent = solver.newton.tangent_without_contacts();
        Ok(LinearisedMatrices::new(&mut system.dynamics, tangent, &state.positions, duration))
    }

    /// Order of the vertices in the rows of the tangent matrix.
    pub(crate) fn ordering(&self) -> &Ordering {
        self.solver.newton.ordering()
    }

    /// Present settings.
    pub(crate) fn settings(&self) -> &Settings {
        &self.solver.settings
    }

    /// Sets the time step, the tolerance, the iteration limit and the air density from now on, which have been checked.
    /// Other fields of `settings` have no effect.
    pub(crate) fn set_settings(&mut self, settings: &Settings) {
        let Settings { time_step, tolerance, max_iterations, air_density, .. } = *settings;
        let own = &mut self.solver.settings;
        self.step_control.change_time_step(own.time_step, time_step);
        *own = Settings { time_step, air_density, tolerance, max_iterations, ..own.clone() };
        self.system.dynamics.external_forces.air.set_density(air_density);
    }

    /// See [`crate::Simulation::set_collider_surface`].
    pub(crate) fn set_collider_surface(
        &mut self,
        collider: usize,
        friction: f64,
        thickness: f64,
    ) -> Result<()> {
        check_collider(collider, self.collider_count())?;
        check_number("friction", friction, 0.0)?;
        check_number("thickness", thickness, 0.0)?;
        let surface = SurfaceProperties { friction, thickness };
        self.system.response.scene.set_collider_surface_properties(collider, surface);
        Ok(())
    }

    /// See [`crate::Simulation::set_rest_scale`].
    pub(crate) fn set_rest_scale(&mut self, cloth: usize, scale: &[[f64; 2]]) -> Result<()> {
        let vertices = self.mesh().vertices_of(cloth);
        check_factors("rest_scale", scale, vertices.len(), |pair| *pair)?;
        let dynamics = &self.system.dynamics;
        let mut all = dynamics.rest_scale.clone();
        all.resize(dynamics.vertex_count(), [1.0; 2]);
        all[vertices].copy_from_slice(scale);
        self.system.set_rest_scale(all);
        Ok(())
    }
}
