// SPDX-License-Identifier: MIT OR Apache-2.0
//! Error of the acceleration of every cloth: what the solver leaves, against what drives the motion.
//!
//! An error e of the end positions is an error e/β² of the acceleration. The energy norm weights stiff modes; what
//! slides, buckles or swings is soft, and the error that its threshold allows would hold it for seconds. Here all modes
//! count alike: the root mean square of the Newton step is compared with that of the displacement β²a by which the
//! acceleration of the step moves the cloth, at most that of gravity.
//!
//! The error that remains after a step dₖ is estimated from the contraction ρ = ‖dₖ‖/‖dₖ₋₁‖ of Newton's method, as the
//! rest ρ/(1 − ρ)‖dₖ‖ of a geometric series.

use super::criteria::{ConvergenceCriteria, Iterate};
use crate::{newton::regime::Regime, parallel::reductions};

/// Parameters of the criterion.
struct AccelerationErrorParameters {
    /// Error of the acceleration (multiple of `Settings::tolerance`, relative to the acceleration). Effect: larger
    /// slows down what slides or buckles; smaller costs iterations. Evidence: a strip over a smooth peg (2.5: 21 % too
    /// slow after λt = 2.6, 1: 17 %, without the criterion 70 %); a hanging sheet (1: 80 % more iterations).
    tolerance_factor: f64,
    /// Acceleration below which the error is no longer relative to it (fraction of gravity). Effect: larger lets the
    /// errors of successive steps keep resting cloth moving; smaller spends iterations near rest. Evidence: a sheet on
    /// a ball after 3 s (0.1: 46 mm/s instead of 14 mm/s).
    min_acceleration: f64,
    /// Error that is always tolerated (multiple of the tolerance of the energy norm); decisive without gravity. Effect:
    /// larger as for `min_acceleration`; with 0 rounding counts. Evidence: none: free flight has no other bound.
    min_error: f64,
    /// Largest contraction that the estimate assumes: chattering contacts do not contract. Effect: larger iterates
    /// until steps are much shorter than the threshold; smaller trusts slow convergence. Evidence: a sheet on a ball
    /// (0.5: 8 % fewer iterations than without the estimate).
    max_contraction: f64,
    /// Iterations in contact after which the criterion no longer counts, as contacts may chatter for ever. Effect:
    /// larger costs iterations in hard contact; smaller leaves it unsolved. Evidence: none: hostile scenes need a bound.
    max_iterations: usize,
}

impl AccelerationErrorParameters {
    const DEFAULT: Self = Self {
        tolerance_factor: 10.0,
        min_acceleration: 0.04,
        min_error: 0.01,
        max_contraction: 0.5,
        max_iterations: 20,
    };
}

const PARAMETERS: AccelerationErrorParameters = AccelerationErrorParameters::DEFAULT;

/// Root mean squares of the last two Newton steps of a cloth, in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SuccessiveSteps {
    /// Infinite before the second step.
    pub(crate) previous: f64,
    pub(crate) last: f64,
}

impl SuccessiveSteps {
    /// Estimate of the error after the last step, in m.
    pub(crate) fn remaining_error(&self) -> f64 {
        let contraction = match self.last / self.previous {
            ratio if self.previous.is_finite() => ratio.min(PARAMETERS.max_contraction),
            _ => PARAMETERS.max_contraction,
        };
        self.last * contraction / (1.0 - contraction)
    }
}

impl ConvergenceCriteria {
    /// Largest error of the end positions of each cloth that the criterion allows, in m; `None` where it does not
    /// apply: to quadratic objectives, while untangling, whose forces are not physical, and after many iterations in
    /// contact.
    pub(crate) fn displacement_error_thresholds(
        &self,
        iterate: Iterate<'_, '_>,
        regime: Regime,
        iterations: usize,
    ) -> Option<Vec<f64>> {
        let applies = matches!(regime, Regime::Free | Regime::OnSolids | Regime::Layered)
            && iterations < PARAMETERS.max_iterations;
        applies.then(|| {
            let cloths = 0..iterate.objective.dynamics.masses.cloths.len();
            cloths.map(|cloth| self.displacement_error_threshold(iterate, cloth)).collect()
        })
    }

    fn displacement_error_threshold(&self, iterate: Iterate<'_, '_>, cloth: usize) -> f64 {
        let Iterate { objective, .. } = iterate;
        let gravity =
            objective.dynamics.external_forces.gravity.norm() * objective.stage.beta.powi(2);
        let largest = if gravity > 0.0 { gravity } else { f64::INFINITY };
        let displacement = iterate.rms_acceleration_displacement(cloth).min(largest);
        let displacement = displacement.max(PARAMETERS.min_acceleration * gravity);
        (PARAMETERS.tolerance_factor * self.relative_tolerance * displacement)
            .max(PARAMETERS.min_error * self.step_tolerance)
    }
}

impl Iterate<'_, '_> {
    /// Mass-weighted root mean square of the displacements β²a by the accelerations of the vertices of a cloth that are
    /// not pinned, in m.
    fn rms_acceleration_displacement(&self, cloth: usize) -> f64 {
        let Self { objective, positions } = *self;
        let (dynamics, stage) = (&*objective.dynamics, objective.stage);
        let vertices = dynamics.mesh.vertices_of(cloth);
        let square = |vertex: usize| {
            if objective.response.step.is_pinned(vertex) {
                return 0.0;
            }
            let inertial =
                stage.base_positions[vertex] + stage.base_velocities[vertex] * stage.beta;
            let point = stage.evaluation_point(vertex, &positions[vertex]);
            dynamics.masses.vertices[vertex] * (point - inertial).norm_squared()
        };
        let sum = reductions::sum_blocked(
            vertices.len(),
            reductions::MIN_LIGHT_VERTICES_PER_TASK,
            |index| square(vertices.start + index),
        );
        (sum / dynamics.masses.cloths[cloth]).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_error_is_the_rest_of_a_geometric_series() {
        let error = |previous: f64, last: f64| SuccessiveSteps { previous, last }.remaining_error();
        // 1 + 1/4 + 1/16 + … after the first term.
        assert!((error(4.0, 1.0) - 1.0 / 3.0).abs() < 1e-15);
        // Without contraction, or before a second step, the last step itself.
        assert!((error(1.0, 3.0) - 3.0).abs() < 1e-15);
        assert!((error(f64::INFINITY, 3.0) - 3.0).abs() < 1e-15);
        assert!(error(1.0, 0.0).abs() < 1e-15);
    }
}
