// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulation of cloths and colliders.
//!
//! Cloths that may touch each other are an island (`island`), a system of its own. A frame:
//!
//! 1. groups the cloths by the space that they would sweep with their velocities (`partition`);
//! 2. advances every island, several at once;
//! 3. unites those whose cloths have met all the same, and advances these anew from where they began.
//!
//! So a cloth moves as if those that it does not touch were not there, and costs what it costs alone.

mod accessors;
mod checkpoint;
mod fingerprint;
mod frame;
mod groups;
mod islands;
mod partition;
#[cfg(test)]
mod tests;

use crate::{
    error::{Error, Result},
    parallel::SimulationThreads,
    scene::{Cloth, Collider, Report, Settings, check_duration},
    system,
};
use fingerprint::Fingerprint;
use islands::Islands;
use std::time::Instant;

/// Simulation of cloths and colliders.
pub struct Simulation {
    /// Of meshes, colliders and settings, for checkpoints.
    fingerprint: Fingerprint,
    pub(crate) islands: Islands,
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
        let islands = threads.run(|| Islands::new(cloths, colliders, &settings));
        let fingerprint = Fingerprint::new(cloths, colliders, &settings);
        Ok(Self { fingerprint, islands, threads })
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

    /// Simulates a frame of a `duration` in s, or an only step of it.
    fn run_frame(&mut self, duration: f64, is_one_step: bool) -> Result<Report> {
        let start = Instant::now();
        let Self { islands, threads, .. } = self;
        let mut report = threads.run(|| islands.run_frame(duration, is_one_step))?;
        report.total_seconds = start.elapsed().as_secs_f64();
        Ok(report)
    }
}
