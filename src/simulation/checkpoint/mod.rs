// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exact checkpoints: a simulation continued from one yields the same bits as an uninterrupted one.
//!
//! A checkpoint consists of a magic number, a version, a checksum, and all data that a step or a caller may change. It
//! contains no meshes; it is restored into a simulation of the same ones. The encoding is positional: the order of
//! fields is fixed for a version.

mod fingerprint;

pub(crate) use fingerprint::Fingerprint;

use super::{Simulation, animated_settings::AnimatedSettings, step_control::StepControl, surface};
use crate::{
    collision::ContactHistory,
    error::{Error, Result},
    forces::PressureLaw,
    material::Material,
    response::PinchedVertex,
    scene::Springs,
    system::BoundaryConditions,
    time_integration::{PreviousState, State},
    vec3::Vec3,
};
use serde::{Deserialize, Serialize};

const MAGIC: &[u8; 8] = b"WEFTSTAT";
const VERSION: u32 = 16;
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
    /// Internal variables of the elements, by kind.
    internal_variables: Vec<Vec<f64>>,
    gravity: Vec3,
    wind: Vec3,
    animated_settings: AnimatedSettings,
    vertex_forces: Vec<Vec3>,
    /// Pressure inside each cloth.
    pressures: Vec<Option<PressureLaw>>,
    preferred_step_size: f64,
    step_control: StepControl,
    /// It determines the horizon of the next estimate of the stability limit.
    stable_step_size: f64,
}

impl Simulation {
    /// An exact checkpoint.
    ///
    /// # Errors
    /// An error of the encoder; none is known.
    pub fn state(&self) -> Result<Vec<u8>> {
        let snapshot = Snapshot {
            fingerprint: self.fingerprint,
            state: self.state.clone(),
            boundary_conditions: self.boundary_conditions.clone(),
            contact_history: self.response.contact_history.clone(),
            enclosed_cloths: self.response.scene.mesh.enclosed_cloths.clone(),
            pinched_vertices: self.response.recovery.flypapering.pinched_vertices.clone(),
            collider_frames: self
                .response
                .scene
                .collider_motions
                .iter()
                .map(|o| o.frame_positions().clone())
                .collect(),
            materials: self.dynamics.materials.clone(),
            springs: self.dynamics.springs.clone(),
            internal_variables: self.dynamics.internal_variables(),
            gravity: self.dynamics.gravity,
            wind: self.dynamics.air.wind(),
            animated_settings: self.animated_settings(),
            vertex_forces: self.dynamics.vertex_forces.clone(),
            pressures: (0..self.cloth_count()).map(|cloth| self.pressure(cloth).cloned()).collect(),
            preferred_step_size: self.preferred_step_size,
            step_control: self.step_control.clone(),
            stable_step_size: self.stable_step_size,
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

    /// Restores a checkpoint of a simulation of the same meshes.
    ///
    /// # Errors
    /// Bytes that are damaged, foreign, of another version, or from other meshes. The simulation is unchanged then.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        let snapshot = decode(bytes)?;
        if snapshot.fingerprint != self.fingerprint {
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
    fn apply(&mut self, snapshot: Snapshot) -> Result<()> {
        if !self.fits(&snapshot) {
            return Err(checkpoint_error("damaged: lists of the wrong length".to_owned()));
        }
        self.apply_animated_settings(snapshot.animated_settings);
        for (cloth, material) in snapshot.materials.into_iter().enumerate() {
            let vertices = self.dynamics.mesh.vertices_of(cloth);
            self.response.scene.mesh.set_surface_properties(vertices, &surface(&material));
            self.dynamics.set_material(cloth, material);
        }
        self.replace_springs(snapshot.springs);
        self.dynamics.set_internal_variables(&snapshot.internal_variables);
        for (motion, frame) in
            self.response.scene.collider_motions.iter_mut().zip(snapshot.collider_frames)
        {
            motion.set_frame_positions(frame);
        }
        self.response.contact_history = snapshot.contact_history;
        self.response.scene.mesh.enclosed_cloths = snapshot.enclosed_cloths;
        self.response.recovery.flypapering.pinched_vertices = snapshot.pinched_vertices;
        self.state = snapshot.state;
        self.boundary_conditions = snapshot.boundary_conditions;
        self.dynamics.gravity = snapshot.gravity;
        self.dynamics.air.set_wind(snapshot.wind);
        self.dynamics.vertex_forces = snapshot.vertex_forces;
        for (cloth, law) in snapshot.pressures.into_iter().enumerate() {
            self.dynamics.pressures.set(&self.dynamics.mesh, cloth, law);
        }
        self.preferred_step_size = snapshot.preferred_step_size;
        self.step_control = snapshot.step_control;
        self.stable_step_size = snapshot.stable_step_size;
        self.update_pinned_vertices();
        Ok(())
    }

    /// Whether springs of a checkpoint fit the cloths.
    fn are_valid_springs(&self, springs: &[Option<Springs>]) -> bool {
        let is_valid = |(cloth, springs): (usize, &Option<Springs>)| {
            let count = self.dynamics.mesh.vertices_of(cloth).len();
            springs.as_ref().is_none_or(|one| one.clone().checked(count).is_ok())
        };
        springs.len() == self.cloth_count() && springs.iter().enumerate().all(is_valid)
    }

    /// Numbers of vertices, edges and triangles that contacts may refer to. With collision disabled they are at most
    /// those of the cloths, each alternative with edges of its own: contacts of an earlier checkpoint are kept for the
    /// next one.
    fn feature_counts(&self) -> [usize; 3] {
        let topology = &self.dynamics.mesh.topology;
        match self.response.scene.feature_counts() {
            [vertices, _, 0] => [
                vertices,
                topology.edges.len() + 3 * self.alternative_count,
                topology.triangles.len() + self.alternative_count,
            ],
            counts => counts,
        }
    }

    /// Whether every list of a checkpoint has the right length.
    fn fits(&self, snapshot: &Snapshot) -> bool {
        let count = self.state.positions.len();
        let state = &snapshot.state;
        let motions = &self.response.scene.collider_motions;
        let is_valid_history = |previous: &PreviousState| {
            [previous.positions.len(), previous.velocities.len()] == [count; 2]
                && previous.history_resets.iter().all(|reset| (reset.vertex as usize) < count)
                && (previous.internal_variables.is_empty()
                    || self.dynamics.internal_variables_fit(&previous.internal_variables))
        };
        [state.positions.len(), state.velocities.len()] == [count; 2]
            && state.previous.as_ref().is_none_or(is_valid_history)
            && (snapshot.vertex_forces.is_empty() || snapshot.vertex_forces.len() == count)
            && snapshot.pressures.len() == self.cloth_count()
            && (snapshot.pressures.iter().enumerate().all(|(cloth, law)| {
                let weights = law.as_ref().map_or(0, |law| law.weights.len());
                weights == 0 || weights == self.dynamics.mesh.vertices_of(cloth).len()
            }))
            && snapshot.animated_settings.fits(motions.len(), count)
            && snapshot.materials.len() == self.cloth_count()
            && self.are_valid_springs(&snapshot.springs)
            && self.dynamics.internal_variables_fit(&snapshot.internal_variables)
            && snapshot.boundary_conditions.fits(count)
            && snapshot.contact_history.has_valid_features(self.feature_counts())
            && self.response.scene.are_valid_enclosed_cloths(&snapshot.enclosed_cloths)
            && snapshot.pinched_vertices.iter().all(|one| one.is_valid(&self.response.scene.mesh))
            && snapshot.collider_frames.len() == motions.len()
            && snapshot
                .collider_frames
                .iter()
                .zip(motions)
                .all(|(frame, motion)| frame.iter().all(|f| f.len() == motion.vertex_count()))
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
