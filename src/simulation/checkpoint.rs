// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exact checkpoints: a simulation continued from one yields the same bits as an uninterrupted one.
//!
//! A checkpoint consists of a magic number, a version, a checksum, and all data that a step or a caller may change. It
//! contains no meshes; it is restored into a simulation of the same ones. The encoding is positional: the order of
//! fields is fixed for a version.

use super::{Simulation, fingerprint::Fingerprint, groups::ClothGroup};
use crate::{
    error::{Error, Result},
    island::Snapshot,
    vec3::Vec3,
};
use serde::{Deserialize, Serialize};

const MAGIC: &[u8; 8] = b"WEFTSTAT";
const VERSION: u32 = 18;
const HEADER_LENGTH: usize = 16;

/// Content of a checkpoint.
#[derive(Serialize, Deserialize)]
struct Checkpoint {
    fingerprint: Fingerprint,
    /// Positions of the vertices of each collider at the start and at the end of the frame, in m.
    collider_frames: Vec<[Vec<Vec3>; 2]>,
    islands: Vec<IslandRecord>,
}

/// State of an island.
#[derive(Serialize, Deserialize)]
struct IslandRecord {
    /// Cloths of the island, in ascending order.
    cloths: Vec<usize>,
    snapshot: Snapshot,
}

impl Simulation {
    /// An exact checkpoint.
    ///
    /// # Errors
    /// An error of the encoder; none is known.
    pub fn state(&self) -> Result<Vec<u8>> {
        let motions = self.islands.groups[0].island.system.response.scene.collider_motions.iter();
        let record = |group: &ClothGroup| IslandRecord {
            cloths: group.cloths.clone(),
            snapshot: group.island.snapshot(),
        };
        let checkpoint = Checkpoint {
            fingerprint: self.fingerprint,
            collider_frames: motions.map(|motion| motion.frame_positions.clone()).collect(),
            islands: self.islands.groups.iter().map(record).collect(),
        };
        let body = postcard::to_stdvec(&checkpoint)
            .map_err(|error| checkpoint_error(error.to_string()))?;
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
        let checkpoint = decode(bytes)?;
        if !checkpoint.fingerprint.has_shapes_of(self.fingerprint) {
            return Err(foreign_checkpoint());
        }
        self.apply(checkpoint)
    }

    /// Continues from a checkpoint of a simulation whose cloths may have had other rest shapes: cloth that grows or
    /// changes while it moves. Strain is measured against the rest shapes of this simulation from now on.
    ///
    /// # Errors
    /// As for [`restore`](Self::restore), but for the rest shapes.
    pub fn restore_with_other_rest_shape(&mut self, bytes: &[u8]) -> Result<()> {
        let checkpoint = decode(bytes)?;
        if checkpoint.fingerprint.scene != self.fingerprint.scene {
            return Err(foreign_checkpoint());
        }
        self.apply(checkpoint)
    }

    /// Takes over the state of a checkpoint.
    fn apply(&mut self, checkpoint: Checkpoint) -> Result<()> {
        let damaged = || checkpoint_error("damaged: lists of the wrong length".to_owned());
        if !checkpoint.is_consistent(self) {
            return Err(damaged());
        }
        let has_other_accuracy = checkpoint.fingerprint.accuracy != self.fingerprint.accuracy;
        let partition: Vec<Vec<usize>> =
            checkpoint.islands.iter().map(|one| one.cloths.clone()).collect();
        let built = self.threads.run(|| self.islands.missing_groups(&partition));
        let fits = |record: &IslandRecord| {
            let mut all = self.islands.groups.iter().chain(&built);
            let group = all.find(|group| group.cloths == record.cloths);
            group.is_some_and(|group| record.snapshot.fits(&group.island))
        };
        if !checkpoint.islands.iter().all(fits) {
            return Err(damaged());
        }
        self.islands.arrange(&partition, built);
        self.islands.has_friction = true;
        for (group, record) in self.islands.groups.iter_mut().zip(checkpoint.islands) {
            let mut snapshot = record.snapshot;
            if has_other_accuracy {
                snapshot.set_accuracy(group.island.settings());
            }
            self.threads.run(|| group.island.restore(snapshot));
            let motions = group.island.system.response.scene.collider_motions.iter_mut();
            for (motion, frame) in motions.zip(&checkpoint.collider_frames) {
                motion.frame_positions.clone_from(frame);
            }
        }
        Ok(())
    }
}

impl Checkpoint {
    /// Whether colliders and cloths are those of a simulation, every cloth once.
    fn is_consistent(&self, simulation: &Simulation) -> bool {
        let motions = &simulation.islands.groups[0].island.system.response.scene.collider_motions;
        let mut cloths: Vec<usize> =
            self.islands.iter().flat_map(|island| island.cloths.iter().copied()).collect();
        cloths.sort_unstable();
        cloths.into_iter().eq(0..simulation.cloth_count())
            && self
                .islands
                .iter()
                .all(|island| island.cloths.is_sorted() && !island.cloths.is_empty())
            && self.islands.is_sorted_by_key(|island| island.cloths[0])
            && self.collider_frames.len() == motions.len()
            && (self.collider_frames.iter().zip(motions)).all(|(frame, motion)| {
                frame.each_ref().map(Vec::len) == motion.frame_positions.each_ref().map(Vec::len)
            })
    }
}

fn foreign_checkpoint() -> Error {
    checkpoint_error("made by a simulation of other meshes, colliders or settings".to_owned())
}

fn checkpoint_error(reason: String) -> Error {
    Error::Checkpoint { reason }
}

fn decode(bytes: &[u8]) -> Result<Checkpoint> {
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
