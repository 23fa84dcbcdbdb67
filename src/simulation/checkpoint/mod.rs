// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exact checkpoints: going on from one gives the same bits as never having stopped.
//!
//! A checkpoint is a mark, a version, a checksum, and everything that a step changes or a caller may have changed. It
//! does not hold meshes: it is restored into a simulation made of the same ones.

mod fingerprint;

pub(crate) use fingerprint::fingerprint;

use super::{Simulation, animated_settings::Changes, step_control::StepControl, surface};
use crate::{
    Vec3,
    collision::Memory,
    error::{Error, Result},
    material::Material,
    system::Guides,
    time_integration::{Past, State},
};
use serde::{Deserialize, Serialize};

const MARK: &[u8; 8] = b"WEFTSTAT";
const VERSION: u32 = 9;
const HEADER: usize = 16;

/// What a checkpoint holds.
#[derive(Serialize, Deserialize)]
struct Snapshot {
    /// Of what the simulation is made of.
    fingerprint: u32,
    state: State,
    guides: Guides,
    contacts: Memory,
    /// Which cloths belong inside of which bodies, as where all began has decided.
    insiders: Vec<[u32; 2]>,
    obstacles: Vec<[Vec<Vec3>; 2]>,
    materials: Vec<Material>,
    /// What elements remember, kind by kind.
    memories: Vec<Vec<f64>>,
    gravity: Vec3,
    wind: Vec3,
    changes: Changes,
    vertex_forces: Vec<Vec3>,
    preferred_step: f64,
    step_control: StepControl,
    /// It says how far ahead the next one is looked for.
    stable_step: f64,
}

impl Simulation {
    /// An exact checkpoint.
    ///
    /// # Errors
    /// What the encoder refuses, which is nothing known.
    pub fn state(&self) -> Result<Vec<u8>> {
        let snapshot = Snapshot {
            fingerprint: self.fingerprint,
            state: self.state.clone(),
            guides: self.guides.clone(),
            contacts: self.response.memory().clone(),
            insiders: self.response.insiders().to_vec(),
            obstacles: self.response.obstacles().iter().map(|o| o.frame().clone()).collect(),
            materials: self.dynamics.materials.clone(),
            memories: self.dynamics.memories(),
            gravity: self.dynamics.gravity,
            wind: self.dynamics.air.wind(),
            changes: self.changes(),
            vertex_forces: self.dynamics.vertex_forces.clone(),
            preferred_step: self.preferred_step,
            step_control: self.step_control.clone(),
            stable_step: self.stable_step,
        };
        let body = postcard::to_stdvec(&snapshot).map_err(|error| refused(error.to_string()))?;
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend_from_slice(MARK);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        Ok(bytes)
    }

    /// Goes back, or on, to a checkpoint of a simulation of the same meshes.
    ///
    /// # Errors
    /// Bytes that are damaged, foreign, of another version, or from other meshes; nothing is changed
    /// then.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        let snapshot = decode(bytes)?;
        if snapshot.fingerprint != self.fingerprint {
            let reason = "made by a simulation of other meshes, colliders or settings";
            return Err(refused(reason.to_owned()));
        }
        if !self.fits(&snapshot) {
            return Err(refused("damaged: lists of the wrong length".to_owned()));
        }
        self.apply_changes(snapshot.changes);
        for (cloth, material) in snapshot.materials.into_iter().enumerate() {
            let vertices = self.dynamics.mesh.vertices_of(cloth);
            self.response.set_surface(vertices, &surface(&material));
            self.dynamics.set_material(cloth, material);
        }
        self.dynamics.set_memories(&snapshot.memories);
        for (obstacle, frame) in self.response.obstacles_mut().iter_mut().zip(snapshot.obstacles) {
            obstacle.set_frame(frame);
        }
        self.response.set_memory(snapshot.contacts);
        self.response.set_insiders(snapshot.insiders);
        self.state = snapshot.state;
        self.guides = snapshot.guides;
        self.dynamics.gravity = snapshot.gravity;
        self.dynamics.air.set_wind(snapshot.wind);
        self.dynamics.vertex_forces = snapshot.vertex_forces;
        self.preferred_step = snapshot.preferred_step;
        self.step_control = snapshot.step_control;
        self.stable_step = snapshot.stable_step;
        self.update_held();
        Ok(())
    }

    /// Numbers of vertices, edges and triangles that contacts can be between. Where nothing can meet they are those of
    /// the cloths: contacts of before are kept for whoever restores them next.
    fn feature_counts(&self) -> [usize; 3] {
        let topology = &self.dynamics.mesh.topology;
        match self.response.counts() {
            [vertices, _, 0] => [vertices, topology.edges.len(), topology.triangles.len()],
            counts => counts,
        }
    }

    /// Whether every list of a checkpoint has the length it must have.
    fn fits(&self, snapshot: &Snapshot) -> bool {
        let count = self.state.positions.len();
        let state = &snapshot.state;
        let obstacles = self.response.obstacles();
        let has_past = |past: &Past| {
            [past.positions.len(), past.velocities.len()] == [count; 2]
                && past.restarts.iter().all(|restart| (restart.vertex as usize) < count)
                && (past.memories.is_empty() || self.dynamics.memories_fit(&past.memories))
        };
        [state.positions.len(), state.velocities.len()] == [count; 2]
            && state.past.as_ref().is_none_or(has_past)
            && (snapshot.vertex_forces.is_empty() || snapshot.vertex_forces.len() == count)
            && snapshot.changes.fit(obstacles.len(), count)
            && snapshot.materials.len() == self.cloth_count()
            && self.dynamics.memories_fit(&snapshot.memories)
            && snapshot.guides.fit(count)
            && snapshot.contacts.fits(self.feature_counts())
            && self.response.insiders_fit(&snapshot.insiders)
            && snapshot.obstacles.len() == obstacles.len()
            && snapshot
                .obstacles
                .iter()
                .zip(obstacles)
                .all(|(frame, obstacle)| frame.iter().all(|f| f.len() == obstacle.vertex_count()))
    }
}

fn refused(reason: String) -> Error {
    Error::Checkpoint { reason }
}

fn decode(bytes: &[u8]) -> Result<Snapshot> {
    let (Some(header), Some(body)) = (bytes.get(..HEADER), bytes.get(HEADER..)) else {
        return Err(refused(format!("{} bytes are too few", bytes.len())));
    };
    let word = |start: usize| -> u32 {
        header[start..start + 4].iter().rev().fold(0, |word, byte| (word << 8) | u32::from(*byte))
    };
    if &header[..8] != MARK {
        return Err(refused("not a checkpoint".to_owned()));
    }
    if word(8) != VERSION {
        return Err(refused(format!("version {}; this is version {VERSION}", word(8))));
    }
    if word(12) != crc32fast::hash(body) {
        return Err(refused("damaged: the checksum does not match".to_owned()));
    }
    postcard::from_bytes(body).map_err(|error| refused(format!("damaged: {error}")))
}
