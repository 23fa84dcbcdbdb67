// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulation of cloths and colliders.
//!
//! Cloths that may touch each other are an island (`island`), a system of its own. A frame:
//!
//! 1. groups the cloths by the space that they would sweep with their velocities (`groups`);
//! 2. advances every island, several at once;
//! 3. unites those whose cloths have met all the same, and advances these anew from where they began.
//!
//! So a cloth moves as if those that it does not touch were not there, and costs what it costs alone.

mod accessors;
mod checkpoint;
mod fingerprint;
mod frame;
mod groups;
#[cfg(test)]
mod tests;

use crate::{
    error::{Error, Result},
    island::Island,
    parallel::SimulationThreads,
    scene::{Cloth, Collider, Report, Settings, check_duration},
    system,
};
use fingerprint::Fingerprint;
use groups::{ClothGroup, ClothLocation, initial_partition, locations};

/// Simulation of cloths and colliders.
pub struct Simulation {
    /// Of meshes, colliders and settings, for checkpoints.
    fingerprint: Fingerprint,
    /// All cloths as they were at the start, to group them anew; empty if there is only one.
    cloths: Vec<Cloth>,
    /// All colliders as they were at the start; empty if there is only one cloth.
    colliders: Vec<Collider>,
    groups: Vec<ClothGroup>,
    locations: Vec<ClothLocation>,
    /// Whether cloth rubs on anything.
    has_friction: bool,
    /// Whether the strips of closing seams are surfaces.
    guards_seams: bool,
    threads: SimulationThreads,
}

/// Upper bound of the steps of one call.
const MAX_STEPS_PER_CALL: f64 = 1.0e7;

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
        system::check_cloths(&settings, cloths, colliders.len())?;
        let vertex_count = cloths.iter().map(Cloth::vertex_count).sum();
        let threads = SimulationThreads::new(settings.threads, vertex_count)?;
        let partition = initial_partition(cloths, colliders, settings.self_collision);
        let of_group = |group: &Vec<usize>| {
            let members: Vec<Cloth> = group.iter().map(|cloth| cloths[*cloth].clone()).collect();
            ClothGroup::new(group, Island::new(&members, colliders, settings.clone()))
        };
        let groups: Vec<ClothGroup> = threads.run(|| partition.iter().map(of_group).collect());
        let is_one = cloths.len() == 1;
        let mut simulation = Self {
            fingerprint: Fingerprint::new(cloths, colliders, &settings),
            cloths: if is_one { Vec::new() } else { cloths.to_vec() },
            colliders: if is_one { Vec::new() } else { colliders.to_vec() },
            locations: locations(&groups),
            groups,
            has_friction: true,
            guards_seams: true,
            threads,
        };
        for group in 0..simulation.groups.len() {
            let swept_volumes = simulation.swept_volumes_of(&simulation.groups[group].cloths);
            simulation.groups[group].island.swept_volumes = swept_volumes;
        }
        Ok(simulation)
    }

    /// Simulates `duration` seconds with as many steps as needed, none longer than `time_step`. Hard contact makes
    /// steps shorter; it is never an error.
    ///
    /// # Errors
    /// A duration that is not positive, or below the shortest time step; or a position or velocity that is not finite:
    /// the state before that step is kept, and with several islands that before the call.
    pub fn advance(&mut self, duration: f64) -> Result<Report> {
        check_duration("duration", duration)?;
        let time_step = self.settings().time_step;
        if duration > MAX_STEPS_PER_CALL * time_step {
            let wanted = format!("at most {MAX_STEPS_PER_CALL:e} steps of {time_step:?} s");
            return Err(Error::value("duration", format!("{duration:?} s"), wanted));
        }
        self.run_frame(duration, false)
    }

    /// Simulates exactly one step of `duration` seconds.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn step(&mut self, duration: f64) -> Result<Report> {
        check_duration("h", duration)?;
        self.run_frame(duration, true)
    }
}
