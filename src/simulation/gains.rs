// SPDX-License-Identifier: MIT OR Apache-2.0
//! Energy that a step brings from nothing.
//!
//! What is hit and turned by more than a radian in a step may find another solution of its equations than the one that
//! time leads to, and leave with many times its energy. Where nothing moves, blows or draws the cloth, that shows.

use super::{
    Simulation,
    step::{Candidate, Span},
};

/// A step gains what is more than this part of the energy there was, with what it fell by, and than what its equations
/// leave: the energy of a speed by which all vertices would go as far in the step as its last correction.
const GAINED: f64 = 0.02;
/// Steps of no more than this part of the longest are taken as they are: if neither halves nor quarters bring less, it comes
/// from somewhere.
const QUARTER: f64 = 0.26;

impl Simulation {
    /// Whether a step brings energy that nothing gives.
    pub(super) fn gains_energy(&self, candidate: &Candidate, span: Span) -> bool {
        if span.part <= QUARTER || self.is_driven() {
            return false;
        }
        let dynamics = &self.dynamics;
        let (positions, velocities) = (&self.state.positions, &self.state.velocities);
        let [was, height] = dynamics.energy_of_motion(positions, velocities);
        let [is, lower] = candidate.energy_of_motion(dynamics);
        let fell = height - lower;
        let speed = candidate.solved.correction / span.duration;
        let floor = dynamics.mass * speed * speed;
        // Most steps need no look at what is strained.
        let had = was + fell.max(0.0);
        if is - was - fell <= GAINED * had + floor {
            return false;
        }
        let before = dynamics.energy(positions, velocities);
        let grown = candidate.energy(dynamics) - before.total();
        let strained = before.total() - before.gravity - before.kinetic;
        grown > GAINED * (had + strained) + floor
    }

    /// Whether anything but gravity and contacts at rest may give energy to the cloth.
    fn is_driven(&self) -> bool {
        self.dynamics.is_pushed() || self.guides.move_anything() || self.response.is_driving()
    }
}
