// SPDX-License-Identifier: MIT OR Apache-2.0
//! Energy that a step brings from nothing.
//!
//! What is hit and turned by more than a radian in a step may find another solution of its equations than the one that
//! time leads to, and leave with many times its energy. Where nothing moves, blows or draws the cloth, that shows.
//!
//! The implicit midpoint rule damps nothing, and what the schemes with one solve take from the past is stable as long as
//! the cloth is not much stiffer than at rest; stretched by half it is. Either may multiply the energy of stiff cloth that
//! is hit, step by step and without end. A step that does is made by implicit Euler instead, which damps. So are the first
//! few of what is set in motion from rest, whose energy grows as fast: their number does not depend on the step, and that
//! leaves the order of the scheme.

use super::{Simulation, step::TrialStep, step_control::StepInterval};
use crate::scene::{Integrator, Report};

/// A step gains what is more than this part of the energy there was, with what it fell by, and than what its equations
/// leave: the energy of a speed by which all vertices would go as far in the step as its last correction.
const GAINED: f64 = 0.02;
/// Steps of no more than this part of the longest are taken as they are: if neither halves nor quarters bring less, it comes
/// from somewhere.
const QUARTER: f64 = 0.26;
/// Schemes that may multiply energy are not trusted with a step that brings more than this part of what there was, and than
/// that of a speed by which all vertices would go as far as the tolerance: where nothing gives any, and where something does.
const MULTIPLIED: [f64; 2] = [0.2, 0.5];

impl Simulation {
    /// Whether a step brings energy that nothing gives.
    pub(crate) fn has_spurious_energy_gain(
        &self,
        candidate: &TrialStep,
        span: StepInterval,
    ) -> bool {
        if span.fraction_of_max_step <= QUARTER || self.is_externally_driven() {
            return false;
        }
        let dynamics = &self.dynamics;
        let (positions, velocities) = (&self.state.positions, &self.state.velocities);
        let [was, height] = dynamics.kinetic_and_gravity_energy(positions, velocities);
        let [is, lower] = candidate.kinetic_and_gravity_energy(dynamics);
        let fell = height - lower;
        let speed = candidate.outcome.step_length / span.duration;
        let floor = dynamics.total_mass * speed * speed;
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

    /// The candidate, or a step by implicit Euler where a scheme that may do so has multiplied the energy, or has left
    /// equations unsolved that no shorter step will solve.
    pub(crate) fn or_implicit_euler_step(
        &mut self,
        candidate: TrialStep,
        span: StepInterval,
        report: &mut Report,
    ) -> TrialStep {
        let integrator = self.settings.integrator;
        let may_multiply = matches!(
            integrator,
            Integrator::ImplicitMidpoint | Integrator::ImexEuler | Integrator::Sbdf2
        );
        // Where something drives, what is taken unsolved may bring as much again with every step.
        let is_unsolved = !span.can_retry_shorter && !candidate.outcome.converged();
        if !(may_multiply && (is_unsolved || self.exceeds_fallback_gain(&candidate, span))) {
            return candidate;
        }
        self.discard_step(candidate);
        self.solve_step_with(Integrator::ImplicitEuler, span, report)
    }

    /// Whether a step is not finite, or brings a large part of the energy there was, with what it fell by.
    fn exceeds_fallback_gain(&self, candidate: &TrialStep, span: StepInterval) -> bool {
        let dynamics = &self.dynamics;
        let speed = self.settings.tolerance * self.tolerance_length / span.duration;
        let before = dynamics.energy(&self.state.positions, &self.state.velocities);
        let [_, lower] = candidate.kinetic_and_gravity_energy(dynamics);
        let grown = candidate.energy(dynamics) - before.total();
        let had = before.total() - before.gravity.min(lower);
        let [still, driven] = MULTIPLIED;
        let most = if self.is_externally_driven() { driven } else { still } * had;
        grown > most + dynamics.total_mass * speed * speed || grown.is_nan()
    }

    /// Whether anything but gravity and contacts at rest may give energy to the cloth.
    fn is_externally_driven(&self) -> bool {
        self.dynamics.has_external_load()
            || self.boundary_conditions.has_motion()
            || self.response.may_add_energy()
    }
}
