// SPDX-License-Identifier: MIT OR Apache-2.0
//! Energy guard of the schemes without sufficient numerical damping.
//!
//! The midpoint rules have no numerical damping, and the explicit forces of semi-implicit schemes are stable
//! only while the cloth is not much stiffer than at rest; at a stretch of one half it is. Both may multiply the energy
//! of stiff cloth in an impact, step by step and without bound. A step that does is replaced by one of implicit Euler,
//! which damps ([`needs_implicit_euler_step`]). So are the first few steps of a motion from rest, whose energy
//! grows as fast; their number does not depend on the step, so that the order of the scheme remains.

use super::{
    constrained_system::ConstrainedSystem, stage_solve::StageSolver, step::TrialStep,
    step_control::StepInterval,
};
use crate::{scene::Integrator, time_integration::State};

/// Parameters of the energy guard.
pub(crate) struct EnergyGuardParameters {
    /// Rise of the energy above which truncated displacements count as torn (fraction of the energy without gravity).
    /// Effect: larger accepts more stretch by truncation; smaller rejects more steps. Evidence: none: no test or figure
    /// depends on it (0.01, 0.04 and no bound tried; bits of `hostile/hail` and `hostile/armpit` change).
    pub(crate) max_truncation_gain: f64,
    /// Rise of the energy above which a step of the implicit midpoint rule or of a semi-implicit scheme is replaced by
    /// one of implicit Euler (fraction of the energy), where nothing drives the cloth. Effect: larger admits more
    /// energy; smaller damps more motion. Evidence:
    /// `time_integration::integrators::no_scheme_multiplies_the_energy_of_stiff_cloth_that_falls_on_a_ball` (fails
    /// without the fallback).
    undriven_fallback_threshold: f64,
    /// That rise where something drives the cloth (fraction of the energy). Effect: larger admits more energy; smaller
    /// damps driven motion. Evidence:
    /// `time_integration::integrators::no_scheme_multiplies_the_energy_of_stiff_cloth_that_falls_on_a_ball`,
    /// `hostile/chance_still@251` and `hostile/chance_moving@69` (fail without the fallback).
    driven_fallback_threshold: f64,
}

impl EnergyGuardParameters {
    pub(crate) const DEFAULT: Self = Self {
        max_truncation_gain: 0.02,
        undriven_fallback_threshold: 0.2,
        driven_fallback_threshold: 0.5,
    };
}

const PARAMETERS: EnergyGuardParameters = EnergyGuardParameters::DEFAULT;

/// Whether a trial step is replaced by one of implicit Euler: a scheme without sufficient damping has multiplied the
/// energy, or has not converged at the shortest step.
pub(crate) fn needs_implicit_euler_step(
    trial: &TrialStep,
    start: &State,
    system: &ConstrainedSystem,
    solver: &StageSolver,
    interval: StepInterval,
) -> bool {
    let integrator = solver.settings.integrator;
    let may_multiply_energy =
        integrator == Integrator::ImplicitMidpoint || integrator.is_semi_implicit();
    // Unconverged steps of driven cloth may gain energy again and again.
    let is_unsolved = !interval.can_retry_shorter && !trial.outcome.converged();
    let speed = solver.settings.tolerance * solver.tolerance_length / interval.duration;
    may_multiply_energy && (is_unsolved || exceeds_fallback_gain(trial, start, system, speed))
}

/// Whether the energy of a step is not a number, or rises by a large fraction of the energy and of the released
/// gravitational energy, and by more than a speed in m/s explains.
fn exceeds_fallback_gain(
    trial: &TrialStep,
    start: &State,
    system: &ConstrainedSystem,
    speed: f64,
) -> bool {
    let dynamics = &system.dynamics;
    let before = dynamics.energy(&start.positions, &start.velocities);
    let after = dynamics.energy(&trial.positions, &trial.velocities);
    let gain = after.total() - before.total();
    let available = before.total() - before.gravity.min(after.gravity);
    let fraction = if system.is_externally_driven() {
        PARAMETERS.driven_fallback_threshold
    } else {
        PARAMETERS.undriven_fallback_threshold
    };
    let allowed = fraction * available;
    gain > allowed + dynamics.masses.total * speed * speed || gain.is_nan()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        island::{Island, tests::three_triangles},
        newton::SolveOutcome,
        scene::{RejectionReason, Settings},
        time_integration::KinematicState,
        vec3::Vec3,
    };

    /// Whether a step that ends at a speed in m/s and a height in m above its start is replaced.
    fn is_replaced(integrator: Integrator, speed: f64, height: f64, is_unsolved: bool) -> bool {
        let Island { system, solver, mut state, .. } =
            three_triangles(Settings { integrator, ..Settings::default() });
        state.velocities.fill(Vec3::x());
        let positions = state.positions.iter().map(|x| x + Vec3::z() * height).collect();
        let end = KinematicState { positions, velocities: vec![Vec3::x() * speed; 5] };
        let unmet = is_unsolved.then_some(RejectionReason::Stagnation);
        let outcome = SolveOutcome { unmet, ..SolveOutcome::EXACT };
        let history = system.response.contact_history.clone();
        let trial = TrialStep::at(end, outcome, history, 0);
        let interval = StepInterval::whole_frame(0.01, 30);
        needs_implicit_euler_step(&trial, &state, &system, &solver, interval)
    }

    #[test]
    fn only_schemes_without_damping_are_replaced_where_they_multiply_energy() {
        let midpoint = Integrator::ImplicitMidpoint;
        assert!(!is_replaced(midpoint, 1.0, 0.0, false));
        // Energy rises by a fifth of itself at 1.095 m/s, if nothing drives the cloth.
        assert!(!is_replaced(midpoint, 1.05, 0.0, false));
        assert!(is_replaced(midpoint, 1.5, 0.0, false));
        assert!(is_replaced(Integrator::ImexEuler, 1.5, 0.0, false));
        assert!(!is_replaced(Integrator::Bdf2, 1.5, 0.0, false));
        // Fall sets energy free.
        assert!(!is_replaced(midpoint, 1.5, -0.0637, false));
        assert!(is_replaced(midpoint, 1.0, f64::NAN, false));
        assert!(
            is_replaced(midpoint, 1.0, 0.0, true) && !is_replaced(Integrator::Bdf2, 1.0, 0.0, true)
        );
    }
}
