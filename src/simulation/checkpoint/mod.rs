// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exact checkpoints: a simulation continued from one yields the same bits as an uninterrupted one.
//!
//! A checkpoint consists of a magic number, a version, a checksum, and all data that a step or a caller may change. It
//! contains no meshes; it is restored into a simulation of the same ones. The encoding is positional: the order of
//! fields is fixed for a version.

mod fingerprint;

pub(crate) use fingerprint::Fingerprint;

use super::{
    Simulation, animated_settings::AnimatedSettings, constrained_system::ConstrainedSystem,
    step_control::StepControl,
};
use crate::{
    collision::ContactHistory,
    error::{Error, Result},
    material::Material,
    mesh::Mesh,
    response::PinchedVertex,
    scene::Springs,
    system::{BoundaryConditions, EquationsOfMotion},
    time_integration::{ClothInternalVariables, PreviousState, State},
    vec3::Vec3,
};
use serde::{Deserialize, Serialize};

const MAGIC: &[u8; 8] = b"WEFTSTAT";
const VERSION: u32 = 18;
const HEADER_LENGTH: usize = 16;

/// Content of a checkpoint.
#[derive(Serialize, Deserialize)]
struct Snapshot {
    fingerprint: Fingerprint,
    state: State,
    boundary_conditions: BoundaryConditions,
    contact_history: ContactHistory,
    /// Pairs of a cloth and the solid that enclosed it at the start.
    enclosed_cloths: Vec<[u32; 2]>,
    /// Vertices that colliders pinch.
    pinched_vertices: Vec<PinchedVertex>,
    collider_frames: Vec<[Vec<Vec3>; 2]>,
    materials: Vec<Material>,
    /// Springs of each cloth.
    springs: Vec<Option<Springs>>,
    /// Internal variables of each cloth.
    internal_variables: Vec<ClothInternalVariables>,
    animated_settings: AnimatedSettings,
    step_control: StepControl,
}

impl Simulation {
    /// An exact checkpoint.
    ///
    /// # Errors
    /// An error of the encoder; none is known.
    pub fn state(&self) -> Result<Vec<u8>> {
        let ConstrainedSystem { dynamics, boundary_conditions, response } = &self.system;
        let motions = response.scene.collider_motions.iter();
        let snapshot = Snapshot {
            fingerprint: self.fingerprint,
            state: self.state.clone(),
            boundary_conditions: boundary_conditions.clone(),
            contact_history: response.contact_history.clone(),
            enclosed_cloths: response.scene.mesh.enclosed_cloths.clone(),
            pinched_vertices: response.recovery.flypapering.pinched_vertices.clone(),
            collider_frames: motions.map(|motion| motion.frame_positions.clone()).collect(),
            materials: dynamics.materials.clone(),
            springs: dynamics.elements.springs.clone(),
            internal_variables: dynamics.elements.internal_variables(&dynamics.mesh),
            animated_settings: AnimatedSettings::new(self.settings(), &self.system),
            step_control: self.step_control.clone(),
        };
        let body =
            postcard::to_stdvec(&snapshot).map_err(|error| checkpoint_error(error.to_string()))?;
        let mut bytes = Vec::with_capacity(HEADER_LENGTH + body.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        Ok(bytes)
    }

    /// Restores a checkpoint of a simulation of the same meshes. Its accuracy (time step, tolerances, iterations) may have
    /// been another one, as of a draft: then this simulation continues with its own.
    ///
    /// # Errors
    /// Bytes that are damaged, foreign, of another version, or from other meshes. The simulation is unchanged then.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        let snapshot = decode(bytes)?;
        if !snapshot.fingerprint.has_shapes_of(self.fingerprint) {
            return Err(foreign_checkpoint());
        }
        self.apply(snapshot)
    }

    /// Continues from a checkpoint of a simulation whose cloths may have had other rest shapes: cloth that grows or
    /// changes while it moves. Strain is measured against the rest shapes of this simulation from now on.
    ///
    /// # Errors
    /// As for [`restore`](Self::restore), but for the rest shapes.
    pub fn restore_with_other_rest_shape(&mut self, bytes: &[u8]) -> Result<()> {
        let snapshot = decode(bytes)?;
        if snapshot.fingerprint.scene != self.fingerprint.scene {
            return Err(foreign_checkpoint());
        }
        self.apply(snapshot)
    }

    /// Takes over the state of a checkpoint.
    fn apply(&mut self, mut snapshot: Snapshot) -> Result<()> {
        if !snapshot.fits(&self.system, self.alternative_count) {
            return Err(checkpoint_error("damaged: lists of the wrong length".to_owned()));
        }
        if snapshot.fingerprint.accuracy != self.fingerprint.accuracy {
            snapshot.animated_settings.set_accuracy(self.settings());
            snapshot.step_control = StepControl::new(self.settings().time_step);
        }
        let Self { system, solver, threads, .. } = self;
        snapshot.animated_settings.apply(&mut solver.settings, system);
        for (cloth, material) in snapshot.materials.into_iter().enumerate() {
            system.set_material(cloth, material);
        }
        let ConstrainedSystem { dynamics, boundary_conditions, response } = system;
        if snapshot.springs != dynamics.elements.springs {
            dynamics.elements.set_springs(&dynamics.mesh, snapshot.springs);
            threads.run(|| solver.renew_pattern(dynamics));
        }
        dynamics.elements.set_internal_variables(&dynamics.mesh, &snapshot.internal_variables);
        let motions = response.scene.collider_motions.iter_mut();
        for (motion, frame) in motions.zip(snapshot.collider_frames) {
            motion.frame_positions = frame;
        }
        response.contact_history = snapshot.contact_history;
        response.scene.mesh.enclosed_cloths = snapshot.enclosed_cloths;
        response.recovery.flypapering.pinched_vertices = snapshot.pinched_vertices;
        self.state = snapshot.state;
        *boundary_conditions = snapshot.boundary_conditions;
        self.step_control = snapshot.step_control;
        system.update_pinned_vertices();
        Ok(())
    }
}

impl Snapshot {
    /// Whether every list has the right length for a system with a number of alternative triangles.
    fn fits(&self, system: &ConstrainedSystem, alternative_count: usize) -> bool {
        let ConstrainedSystem { dynamics, response, .. } = system;
        let (mesh, count) = (&dynamics.mesh, dynamics.vertex_count());
        let motions = &response.scene.collider_motions;
        is_valid_state(&self.state, dynamics)
            && self.animated_settings.fits(motions.len(), mesh)
            && self.materials.len() == mesh.cloth_count()
            && are_valid_springs(&self.springs, mesh)
            && dynamics.elements.internal_variables_fit(mesh, &self.internal_variables)
            && self.boundary_conditions.fits(count)
            && self.contact_history.has_valid_features(feature_counts(system, alternative_count))
            && response.scene.are_valid_enclosed_cloths(&self.enclosed_cloths)
            && self.pinched_vertices.iter().all(|one| one.is_valid(&response.scene.mesh))
            && self.collider_frames.len() == motions.len()
            && (self.collider_frames.iter().zip(motions)).all(|(frame, motion)| {
                frame.each_ref().map(Vec::len) == motion.frame_positions.each_ref().map(Vec::len)
            })
    }
}

fn is_valid_state(state: &State, dynamics: &EquationsOfMotion) -> bool {
    let count = dynamics.vertex_count();
    let is_valid_history = |previous: &PreviousState| {
        [previous.positions.len(), previous.velocities.len()] == [count; 2]
            && previous.history_resets.iter().all(|reset| (reset.vertex as usize) < count)
            && (previous.internal_variables.is_empty()
                || dynamics
                    .elements
                    .internal_variables_fit(&dynamics.mesh, &previous.internal_variables))
    };
    [state.positions.len(), state.velocities.len()] == [count; 2]
        && state.previous.as_ref().is_none_or(is_valid_history)
}

/// Whether springs of a checkpoint fit the cloths.
fn are_valid_springs(springs: &[Option<Springs>], mesh: &Mesh) -> bool {
    let is_valid = |(cloth, springs): (usize, &Option<Springs>)| {
        let count = mesh.vertices_of(cloth).len();
        springs.as_ref().is_none_or(|one| one.clone().checked(count).is_ok())
    };
    springs.len() == mesh.cloth_count() && springs.iter().enumerate().all(is_valid)
}

/// Numbers of vertices, edges and triangles that contacts may refer to. With collision disabled they are at most those
/// of the cloths, each alternative with edges of its own: contacts of an earlier checkpoint are kept for the next one.
fn feature_counts(system: &ConstrainedSystem, alternative_count: usize) -> [usize; 3] {
    let topology = &system.dynamics.mesh.topology;
    match system.response.scene.feature_counts() {
        [vertices, _, 0] => [
            vertices,
            topology.edges.len() + 3 * alternative_count,
            topology.triangles.len() + alternative_count,
        ],
        counts => counts,
    }
}

fn foreign_checkpoint() -> Error {
    checkpoint_error("made by a simulation of other meshes, colliders or settings".to_owned())
}

fn checkpoint_error(reason: String) -> Error {
    Error::Checkpoint { reason }
}

fn decode(bytes: &[u8]) -> Result<Snapshot> {
    let (Some(header), Some(body)) = (bytes.get(..HEADER_LENGTH), bytes.get(HEADER_LENGTH..))
    else {
        return Err(checkpoint_error(format!("{} bytes are too few", bytes.len())));
    };
    let word = |start: usize| -> u32 {
        header[start..start + 4].iter().rev().fold(0, |word, byte| (word << 8) | u32::from(*byte))
    };
    if &header[..8] != MAGIC {
        return Err(checkpoint_error("not a checkpoint".to_owned()));
    }
    if word(8) != VERSION {
        return Err(checkpoint_error(format!("version {}; this is version {VERSION}", word(8))));
    }
    if word(12) != crc32fast::hash(body) {
        return Err(checkpoint_error("damaged: the checksum does not match".to_owned()));
    }
    postcard::from_bytes(body).map_err(|error| checkpoint_error(format!("damaged: {error}")))
}
