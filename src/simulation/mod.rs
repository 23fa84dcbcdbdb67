// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulation of cloths and colliders.
//!
//! A step, from top to bottom:
//!
//! 1. `next_interval` (`step_control`): step size;
//! 2. `predict_positions` (`step::stage`, `predictor`): initial guess;
//! 3. `begin_step` (`response`): candidate pairs of the broad phase;
//! 4. `solve_stage_equations` (`stage_solve`): Newton iterations (`newton`) of each stage (`time_integration`), each of
//!    them contact detection, `compute_newton_step` and `line_search`;
//! 5. `validate_step` (`response`): continuous collision detection; `truncate_displacements` if it fails;
//! 6. `apply_velocity_jumps` (`step`): impact impulses, Dirichlet conditions;
//! 7. `acceptance` (`acceptance`): convergence, stretch, truncation; `reject_step` or `accept_step`;
//! 8. `adapt_step_size` (`step_control`).

mod acceptance;
mod accessors;
mod advance;
mod animated_settings;
mod checkpoint;
mod energy_guard;
mod predictor;
mod stage_solve;
mod step;
mod step_control;
#[cfg(test)]
mod tests;

use crate::{
    error::{Error, Result},
    material::Material,
    mesh::AlternativeTriangles,
    newton::{self, Newton},
    parallel::{BufferPool, SimulationThreads},
    response::{ColliderMotion, CollisionResponse},
    scene::{Cloth, Collider, Preconditioning, Settings},
    surface::{ClothCollisionData, CollisionMesh, SurfaceProperties, append_seam_strips},
    system::{self, BoundaryConditions, EquationsOfMotion, RevisedStiffness},
    time_integration::State,
    vec3::Vec3,
};
use checkpoint::Fingerprint;
use std::sync::Arc;
use step_control::StepControl;

/// Simulation of cloths and colliders.
pub struct Simulation {
    settings: Settings,
    /// Of meshes, colliders and settings, for checkpoints.
    fingerprint: Fingerprint,
    /// Number of alternative triangles of the cloths, strips of seams included.
    alternative_count: usize,
    dynamics: EquationsOfMotion,
    response: CollisionResponse,
    boundary_conditions: BoundaryConditions,
    newton: Newton,
    constant_stiffness: RevisedStiffness,
    state: State,
    /// Buffers for vectors of all vertices.
    buffers: BufferPool<Vec<Vec3>>,
    /// Step size that the step control prefers for the next step, in s.
    preferred_step_size: f64,
    step_control: StepControl,
    /// Longest stable step of an explicit scheme, in s.
    stable_step_size: f64,
    /// Minimum over all cloths of the mean edge length, in m.
    mean_edge_length: f64,
    /// Length that the tolerance is relative to, in m.
    tolerance_length: f64,
    /// Simulated fraction of the present frame, from 0 to 1.
    frame_fraction: f64,
    threads: SimulationThreads,
}

/// Idle vectors of all vertices in the pool: as many as a step returns.
const POOLED_VECTORS: usize = 4;

impl Simulation {
    /// Simulation of cloths at rest.
    ///
    /// # Errors
    /// No cloth, a setting out of range, cloths that the model cannot simulate, or threads that the system refuses.
    pub fn new(cloths: &[Cloth], colliders: &[Collider], settings: Settings) -> Result<Self> {
        let settings = settings.checked()?;
        if cloths.is_empty() {
            return Err(Error::value("cloths", "no cloths", "one cloth or more"));
        }
        system::check_cloths(&settings, cloths)?;
        let mut positions: Vec<Vec3> =
            cloths.iter().flat_map(|cloth| cloth.positions.iter().copied()).collect();
        let threads = SimulationThreads::new(settings.threads, positions.len())?;
        let (mut dynamics, newton) = threads.run(|| {
            let dynamics = EquationsOfMotion::new(cloths, &settings);
            let newton = Newton::new(&dynamics, preconditioning(&settings));
            (dynamics, newton)
        });
        // With collision disabled the collision mesh needs no edges and triangles.
        let is_disabled = colliders.is_empty() && !settings.self_collision;
        let mesh = collision_mesh(cloths, colliders, &dynamics, is_disabled)?;
        let motions = colliders.iter().map(ColliderMotion::new).collect();
        let mut response =
            CollisionResponse::new(mesh, motions, &positions, settings.self_collision);
        threads.run(|| {
            response.separate_coincident_cloth(&mut positions);
            dynamics.initialize_internal_variables(&positions);
        });
        let mut simulation = Self {
            preferred_step_size: settings.time_step,
            step_control: StepControl::default(),
            stable_step_size: f64::INFINITY,
            frame_fraction: 0.0,
            mean_edge_length: newton::min_mean_edge_length(&dynamics.mesh),
            tolerance_length: newton::tolerance_length(&dynamics.mesh),
            response,
            boundary_conditions: BoundaryConditions::default(),
            state: State::at_rest(positions),
            buffers: BufferPool::new(POOLED_VECTORS),
            fingerprint: Fingerprint::new(cloths, colliders, &settings),
            alternative_count: alternative_count(cloths, &dynamics),
            settings,
            dynamics,
            newton,
            constant_stiffness: RevisedStiffness::default(),
            threads,
        };
        simulation.update_rest_length_scales();
        Ok(simulation)
    }
}

/// Preconditioner of the settings. For explicit schemes only contacts couple vertices, and the diagonal blocks suffice.
fn preconditioning(settings: &Settings) -> Preconditioning {
    if settings.integrator.is_explicit() {
        Preconditioning::BlockJacobi
    } else {
        settings.preconditioner
    }
}

/// Number of triangles that may be in contact beside those in use: alternatives of faces, and strips of seams.
fn alternative_count(cloths: &[Cloth], dynamics: &EquationsOfMotion) -> usize {
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
) -> Result<CollisionMesh> {
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
        contact_filter: system::contact_exclusions(cloths, colliders.len())?,
        friction_scale: system::concatenated(cloths, 1.0, |cloth| cloth.friction_scale.as_ref()),
        layers: cloths.iter().map(|cloth| cloth.layer).collect(),
    };
    Ok(CollisionMesh::new(cloth_data, colliders))
}

/// Surface properties of a material.
fn surface(material: &Material) -> SurfaceProperties {
    SurfaceProperties { friction: material.friction, thickness: material.thickness }
}
