// SPDX-License-Identifier: MIT OR Apache-2.0
//! Energy guard: detection of steps whose energy rises without a cause.
//!
//! A triangle that an impact turns by more than a radian within a step may converge to another solution of its
//! equations than the continuous motion has, with many times its energy. Where no boundary condition, wind, force or
//! collider does work, the rise shows, and the step is retried shorter ([`Simulation::has_spurious_energy_gain`]).
//!
//! The implicit midpoint rule has no numerical damping, and the extrapolated forces of semi-implicit schemes are stable
//! only while the cloth is not much stiffer than at rest; at a stretch of one half it is. Both may multiply the energy
//! of stiff cloth in an impact, step by step and without bound. A step that does is replaced by one of implicit Euler,
//! which damps ([`Simulation::or_implicit_euler_step`]). So are the first few steps of a motion from rest, whose energy
//! grows as fast; their number does not depend on the step, so that the order of the scheme remains.

use super::{Simulation, step::TrialStep, step_control::StepInterval};
use crate::scene::{Integrator, Report};

/// Parameters of the energy guard.
pub(crate) struct EnergyGuardParameters {
    /// Rise of the energy above which truncated displacements count as torn (fraction of the energy without gravity).
    /// Effect: larger accepts more stretch by truncation; smaller rejects more steps. Evidence: none: no test or figure
    /// depends on it (0.01, 0.04 and no bound tried; bits of `hostile/hail` and `hostile/armpit` change).
    pub(crate) truncation_gain: f64,
    /// Rise of the energy above which a step is rejected (fraction of the energy and of the released gravitational
    /// energy). Effect: larger accepts more spurious energy; smaller rejects more steps. Evidence: none: neither tests
    /// nor scenes depend on it (0.01, 0.04 and no bound tried).
    spurious_gain: f64,
    /// Step duration up to which every rise is accepted (fraction of the longest step): a rise that neither halving nor
    /// quartering the step removes has a cause. Effect: larger accepts more spurious energy; smaller rejects more
    /// steps. Evidence: none: neither tests nor scenes depend on it (0, 0.13 and 0.52 tried).
    min_step_fraction: f64,
    /// Rise of the energy above which a step of the implicit midpoint rule or of a semi-implicit scheme is replaced by
    /// one of implicit Euler (fraction of the energy), where nothing drives the cloth. Effect: larger admits more
    /// energy; smaller damps more motion. Evidence:
    /// `time_integration::integrators::no_scheme_multiplies_the_energy_of_stiff_cloth_that_falls_on_a_ball` (fails
    /// without the fallback).
    undriven_fallback_gain: f64,
    /// That rise where something drives the cloth (fraction of the energy). Effect: larger admits more energy; smaller
    /// damps driven motion. Evidence:
    /// `time_integration::integrators::no_scheme_multiplies_the_energy_of_stiff_cloth_that_falls_on_a_ball`,
    /// `hostile/chance_still@251` and `hostile/chance_moving@69` (fail without the fallback).
    driven_fallback_gain: f64,
}

impl EnergyGuardParameters {
    pub(crate) const DEFAULT: Self = Self {
        truncation_gain: 0.02,
        spurious_gain: 0.02,
        min_step_fraction: 0.26,
        undriven_fallback_gain: 0.2,
        driven_fallback_gain: 0.5,
    };
}

const PARAMETERS: EnergyGuardParameters = EnergyGuardParameters::DEFAULT;

impl Simulation {
    /// Whether the energy of a step rises without a cause: by more than a fraction of the energy and of the released
    /// gravitational energy, and by more than the residual explains. The residual corresponds to the kinetic energy of
    /// a speed at which all vertices travel the length of the last Newton step.
    pub(crate) fn has_spurious_energy_gain(
        &self,
        trial: &TrialStep,
        interval: StepInterval,
    ) -> bool {
        let is_short = interval.fraction_of_max_step <= PARAMETERS.min_step_fraction;
        if is_short || self.is_externally_driven() {
            return false;
        }
        let dynamics = &self.dynamics;
        let (positions, velocities) = (&self.state.positions, &self.state.velocities);
        let [kinetic, gravity] = dynamics.kinetic_and_gravity_energy(positions, velocities);
        let [trial_kinetic, trial_gravity] = trial.kinetic_and_gravity_energy(dynamics);
        let released = gravity - trial_gravity;
        let residual_speed = trial.outcome.step_length / interval.duration;
        let residual_energy = dynamics.total_mass * residual_speed * residual_speed;
        let available = kinetic + released.max(0.0);
        // Most steps pass without an evaluation of the elastic energy.
        if trial_kinetic - kinetic - released
            <= PARAMETERS.spurious_gain * available + residual_energy
        {
            return false;
        }
        let before = dynamics.energy(positions, velocities);
        let gain = trial.energy(dynamics) - before.total();
        let elastic = before.total() - before.gravity - before.kinetic;
        gain > PARAMETERS.spurious_gain * (available + elastic) + residual_energy
    }

    /// The trial step, or one of implicit Euler if a scheme without sufficient damping has multiplied the energy or has
    /// not converged at the shortest step.
    pub(crate) fn or_implicit_euler_step(
        &mut self,
        trial: TrialStep,
        interval: StepInterval,
        report: &mut Report,
    ) -> TrialStep {
        let integrator = self.settings.integrator;
        let may_multiply_energy = matches!(
            integrator,
            Integrator::ImplicitMidpoint | Integrator::ImexEuler | Integrator::Sbdf2
        );
        // Unconverged steps of driven cloth may gain energy again and again.
        let is_unsolved = !interval.can_retry_shorter && !trial.outcome.converged();
        if !(may_multiply_energy && (is_unsolved || self.exceeds_fallback_gain(&trial, interval))) {
            return trial;
        }
        self.discard_step(trial);
        self.solve_step_with(Integrator::ImplicitEuler, interval, report)
    }

    /// Whether the energy of a step is not a number, or rises by a large fraction of the energy and of the released
    /// gravitational energy, and by more than the tolerance explains.
    fn exceeds_fallback_gain(&self, trial: &TrialStep, interval: StepInterval) -> bool {
        let dynamics = &self.dynamics;
        let speed = self.settings.tolerance * self.tolerance_length / interval.duration;
        let before = dynamics.energy(&self.state.positions, &self.state.velocities);
        let [_, trial_gravity] = trial.kinetic_and_gravity_energy(dynamics);
        let gain = trial.energy(dynamics) - before.total();
        let available = before.total() - before.gravity.min(trial_gravity);
        let fraction = if self.is_externally_driven() {
            PARAMETERS.driven_fallback_gain
        } else {
            PARAMETERS.undriven_fallback_gain
        };
        let allowed = fraction * available;
        gain > allowed + dynamics.total_mass * speed * speed || gain.is_nan()
    }

    /// Whether anything but gravity and contacts at rest may do work on the cloth.
    fn is_externally_driven(&self) -> bool {
        self.dynamics.has_external_load()
            || self.boundary_conditions.has_motion()
            || self.response.may_add_energy()
    }
}
