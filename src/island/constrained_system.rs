// SPDX-License-Identifier: MIT OR Apache-2.0
//! Constrained system: the equations of motion with what constrains them, boundary conditions and contacts.

use super::step_control::StepInterval;
use crate::{
    error::{Error, Result},
    forces::edge_scale,
    material::Material,
    mesh::AlternativeTriangles,
    response::{ColliderMotion, CollisionResponse, ContactVelocities, StepStart},
    scene::{Cloth, Collider, Report, Task},
    surface::{ClothCollisionData, CollisionMesh, SurfaceProperties, append_seam_strips},
    system::{self, BoundaryConditions, EquationsOfMotion, PrescribedDisplacement},
    time_integration::{Stage, State},
    vec3::Vec3,
};
use std::sync::Arc;

/// Equations of motion, boundary conditions and contacts of all cloths.
pub(crate) struct ConstrainedSystem {
    pub(crate) dynamics: EquationsOfMotion,
    pub(crate) boundary_conditions: BoundaryConditions,
    pub(crate) response: CollisionResponse,
}

impl ConstrainedSystem {
    /// System without boundary conditions, with the cloths at their positions in m. Collision is disabled where no
    /// cloth could meet anything.
    pub(crate) fn new(
        dynamics: EquationsOfMotion,
        cloths: &[Cloth],
        colliders: &[Collider],
        self_collision: bool,
        positions: &[Vec3],
    ) -> Self {
        // With collision disabled the collision mesh needs no edges and triangles.
        let is_disabled = colliders.is_empty() && !self_collision;
        let mesh = collision_mesh(cloths, colliders, &dynamics, is_disabled);
        let motions = colliders.iter().map(ColliderMotion::new).collect();
        let response = CollisionResponse::new(mesh, motions, positions, self_collision);
        let boundary_conditions = BoundaryConditions::default();
        Self { dynamics, boundary_conditions, response }
    }

    /// Updates the lengths at rest of edges in the collision response.
    pub(crate) fn update_rest_length_scales(&mut self) {
        let EquationsOfMotion { mesh, rest_scale, .. } = &self.dynamics;
        let edges = self.response.scene.cloth_edges().filter(|_| !rest_scale.is_empty());
        let scale = |(ends, triangle)| edge_scale(mesh, rest_scale, ends, triangle);
        let scales = edges.map(scale).collect();
        self.response.scene.mesh.rest_length_scales = scales;
    }

    /// Sets the factors on the lengths at rest along warp and weft of all vertices; empty if all are 1.
    pub(crate) fn set_rest_scale(&mut self, scale: Vec<[f64; 2]>) {
        self.dynamics.set_rest_scale(scale);
        self.update_rest_length_scales();
    }

    /// Sets the material of a cloth.
    pub(crate) fn set_material(&mut self, cloth: usize, material: Material) {
        let vertices = self.dynamics.mesh.vertices_of(cloth);
        self.response.scene.mesh.set_surface_properties(vertices, &surface(&material));
        self.dynamics.set_material(cloth, material);
    }

    /// Sets whether cloth rubs on anything, until the material of the cloth is set or a checkpoint restored.
    pub(crate) fn set_has_friction(&mut self, has_friction: bool) {
        for (cloth, material) in self.dynamics.materials.iter().enumerate() {
            let own = surface(material);
            let friction = if has_friction { own.friction } else { 0.0 };
            let vertices = self.dynamics.mesh.vertices_of(cloth);
            self.response
                .scene
                .mesh
                .set_surface_properties(vertices, &SurfaceProperties { friction, ..own });
        }
    }

    /// Tells the elements which vertices are pinned, and where spring targets start.
    pub(crate) fn update_pinned_vertices(&mut self) {
        let pinned = self.boundary_conditions.pinned(self.dynamics.vertex_count());
        self.dynamics.set_pinned(&pinned);
        self.dynamics.spring_targets = self.boundary_conditions.spring_targets(pinned.len(), 0.0);
    }

    /// Whether anything but gravity and contacts at rest may do work on the cloth.
    pub(crate) fn is_externally_driven(&self) -> bool {
        self.dynamics.has_external_load()
            || self.boundary_conditions.has_motion()
            || self.response.may_add_energy()
    }

    /// Inverse mass of a vertex in 1/kg; 0 if it is pinned.
    pub(crate) fn inverse_mass(&self, vertex: usize) -> f64 {
        let is_pinned = self.response.step.is_pinned(vertex);
        if is_pinned { 0.0 } else { 1.0 / self.dynamics.masses.vertices[vertex] }
    }

    /// Contacts of the step with the inverse masses of their vertices.
    pub(crate) fn contact_velocities(&self) -> ContactVelocities<'_, impl Fn(usize) -> f64> {
        let CollisionResponse { contact_set: contacts, step, .. } = &self.response;
        ContactVelocities { contacts, step, inverse_masses: |vertex| self.inverse_mass(vertex) }
    }

    /// Error of a vertex that is not finite at a time in s.
    pub(crate) fn check_finite(&self, vertex: Option<usize>, time: f64) -> Result<()> {
        vertex.map_or(Ok(()), |vertex| {
            let (cloth, vertex) = self.dynamics.mesh.cloth_of_vertex(vertex);
            Err(Error::NotFinite { cloth, vertex, time })
        })
    }

    /// Ends the frame at a fraction of it, from 0 to 1: boundary conditions and colliders stay where they are then.
    pub(crate) fn end_frame(&mut self, fraction: f64) {
        self.boundary_conditions.end_frame(fraction);
        for motion in &mut self.response.scene.collider_motions {
            motion.end_frame(fraction);
        }
    }

    /// Applies the boundary conditions of a stage from a state to the initial guess `positions` in m, and begins the
    /// step of the response, which leads a guess that `is_extrapolated` along the supports of the cloths. Returns the
    /// Dirichlet conditions.
    pub(crate) fn begin_stage(
        &mut self,
        stage: &Stage,
        start: &State,
        positions: &mut [Vec3],
        interval: StepInterval,
        is_extrapolated: bool,
        report: &mut Report,
    ) -> Vec<PrescribedDisplacement> {
        let StepInterval { start_fraction, end_fraction, duration, .. } = interval;
        let starts = &start.positions;
        let conditions = &self.boundary_conditions;
        let mut prescribed: Vec<PrescribedDisplacement> =
            conditions.prescribed_displacements(starts, end_fraction, duration).collect();
        for prescribed in &prescribed {
            let position = &mut positions[prescribed.vertex];
            *position = prescribed.constrained_end(&starts[prescribed.vertex], position);
        }
        let pinned = conditions.pinned(positions.len());
        let evaluation =
            start_fraction + (end_fraction - start_fraction) / stage.extrapolation_factor;
        self.dynamics.spring_targets = conditions.spring_targets(positions.len(), evaluation);
        let compliance = |mass: &f64| stage.beta * stage.beta / mass;
        let masses = if is_extrapolated { &self.dynamics.masses.vertices[..] } else { &[] };
        let vertex_compliances = masses.iter().map(compliance).collect();
        let response = &mut self.response;
        report.time(Task::BroadPhase, || {
            response.begin_step(StepStart {
                start_positions: starts,
                predicted_positions: positions,
                is_pinned: &pinned,
                frame_fractions: [start_fraction, end_fraction],
                duration,
                vertex_compliances,
            });
        });
        let predicted = response.predicted_positions();
        positions[..predicted.len()].copy_from_slice(predicted);
        for held in response.recovery.flypapering.held_vertices() {
            prescribed.retain(|one| one.vertex != held.vertex);
            prescribed.push(held.prescribed_displacement(&starts[held.vertex]));
        }
        prescribed.sort_by_key(|one| one.vertex);
        prescribed
    }

    /// Lets surfaces that start closer than their thickness come apart in a stage, without a velocity. `positions` in m
    /// are its initial guess.
    pub(crate) fn alter_positions(
        &self,
        stage: &mut Stage,
        positions: &mut [Vec3],
        prescribed_displacements: &[PrescribedDisplacement],
        has_reactions: bool,
    ) {
        let mut alterations =
            self.response.position_alterations(has_reactions, |vertex| self.inverse_mass(vertex));
        for prescribed in prescribed_displacements {
            let free = prescribed.free_projector;
            alterations.entry(prescribed.vertex).and_modify(|y| *y = free * *y);
        }
        for (vertex, alteration) in &alterations {
            positions[*vertex] += alteration;
        }
        stage.alter(alterations);
    }
}

/// Number of triangles that may be in contact beside those in use: alternatives of faces, and strips of seams.
pub(crate) fn alternative_count(cloths: &[Cloth], dynamics: &EquationsOfMotion) -> usize {
    let of_faces: usize = cloths.iter().map(|cloth| cloth.alternatives.triangles.len()).sum();
    let triangles = &dynamics.mesh.topology.triangles;
    let (count, mut strips) = (dynamics.mesh.vertex_count(), AlternativeTriangles::default());
    of_faces + append_seam_strips(&dynamics.seams, triangles, count, &mut strips)
}

fn collision_mesh(
    cloths: &[Cloth],
    colliders: &[Collider],
    dynamics: &EquationsOfMotion,
    is_disabled: bool,
) -> CollisionMesh {
    let triangles = &dynamics.mesh.topology.triangles;
    let mut alternatives = AlternativeTriangles::default();
    for (cloth, first) in cloths.iter().zip(&dynamics.mesh.cloth_starts).filter(|_| !is_disabled) {
        alternatives.append(&cloth.alternatives, *first as u32);
    }
    let cloth_data = ClothCollisionData {
        triangles: if is_disabled { &[] } else { triangles },
        alternatives,
        vertex_offsets: &dynamics.mesh.cloth_starts,
        surface_properties: cloths.iter().map(|cloth| surface(&cloth.material)).collect(),
        rest_positions: Arc::clone(&dynamics.mesh.rest.positions),
        vertex_areas: Arc::clone(&dynamics.mesh.rest.vertex_areas),
        seams: &dynamics.seams,
        contact_filter: system::contact_exclusions(cloths),
        friction_scale: system::concatenated(cloths, 1.0, |cloth| cloth.friction_scale.as_ref()),
        layers: cloths.iter().map(|cloth| cloth.layer).collect(),
    };
    CollisionMesh::new(cloth_data, colliders)
}

/// Surface properties of a material.
fn surface(material: &Material) -> SurfaceProperties {
    SurfaceProperties { friction: material.friction, thickness: material.thickness }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        island::{
            Island,
            tests::{flat, three_triangles},
        },
        scene::Settings,
    };

    fn system() -> (ConstrainedSystem, State) {
        let Island { system, state, .. } = three_triangles(Settings::default());
        (system, state)
    }

    #[test]
    fn a_stage_begins_with_its_boundary_conditions() {
        let (mut system, state) = system();
        let conditions = &mut system.boundary_conditions;
        conditions.set_kinematic(0, flat()[0], Vec3::z() * 0.1);
        conditions.set_spring_target(2, Vec3::zeros(), Vec3::y(), 5.0);
        conditions.set_prescribed_velocity(4, vec![Vec3::x()], Vec3::x() * 2.0);
        // The second half of a frame, with equations that hold in its middle.
        let stage = Stage::to_middle(&state, Vec::new(), 0.01, [Vec::new(), Vec::new()]);
        let interval = StepInterval { start_fraction: 0.5, ..StepInterval::whole_frame(0.01, 30) };
        let mut guess: Vec<Vec3> = flat().iter().map(|x| x - Vec3::z() * 0.01).collect();
        let report = &mut Report::default();
        let prescribed = system.begin_stage(&stage, &state, &mut guess, interval, true, report);
        assert_eq!(prescribed.iter().map(|one| one.vertex).collect::<Vec<_>>(), [0, 4]);
        assert!((guess[0] - Vec3::z() * 0.1).norm() < 1e-15);
        assert!((guess[1] - flat()[1] + Vec3::z() * 0.01).norm() < 1e-15);
        assert!((guess[4] - flat()[4] - Vec3::new(0.02, 0.0, -0.01)).norm() < 1e-15);
        let target = system.dynamics.spring_target(2).unwrap();
        assert!((target.position - Vec3::y() * 0.75).norm() < 1e-15);
        assert_eq!(system.inverse_mass(0).to_bits(), 0.0_f64.to_bits());
        let mass = system.dynamics.masses.vertices[1];
        assert!((system.inverse_mass(1) * mass - 1.0).abs() < 1e-15);
    }

    #[test]
    fn motion_of_pins_drives_the_cloth_until_the_frame_ends() {
        let (mut system, _) = system();
        assert!(!system.is_externally_driven());
        system.boundary_conditions.set_kinematic(0, flat()[0], Vec3::z());
        assert!(system.is_externally_driven());
        system.end_frame(1.0);
        assert!(!system.is_externally_driven());
    }

    #[test]
    fn what_is_not_finite_is_named_by_its_cloth_and_time() {
        let (system, _) = system();
        assert!(system.check_finite(None, 1.0).is_ok());
        let found = system.check_finite(Some(3), 1.5);
        let is_named = |error: &Error| matches!(error, Error::NotFinite { cloth: 0, vertex: 3, time } if *time > 1.4);
        assert!(found.as_ref().is_err_and(is_named), "{found:?}");
    }
}
