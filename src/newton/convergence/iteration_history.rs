// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lengths of the Newton steps of a stage, and what follows from them: convergence, stagnation, and the iterations that
//! count since contacts were last stiffened.

use super::{acceleration_error::SuccessiveSteps, energy_norm::largest_displacement};
use crate::{newton::parameters::NewtonParameters, scene::RejectionReason};

const PARAMETERS: NewtonParameters = NewtonParameters::DEFAULT;

/// Outcome of the solve of a stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SolveOutcome {
    /// Newton iterations, or updates of the fixed-point iteration.
    pub(crate) iterations: usize,
    /// Length of the last Newton step in m, in the energy norm: the largest of all cloths.
    pub(crate) step_length: f64,
    /// Convergence criterion that is not met; `None` if the stage has converged.
    pub(crate) unmet: Option<RejectionReason>,
    /// Whether the displacements of the step are certified free of intersections.
    pub(crate) is_collision_free: bool,
}

impl SolveOutcome {
    /// Outcome before the first iteration.
    pub(crate) const UNSOLVED: Self = Self {
        iterations: 0,
        step_length: f64::INFINITY,
        unmet: Some(RejectionReason::NewtonStep),
        is_collision_free: false,
    };

    /// Outcome of a stage whose initial guess is the solution.
    pub(crate) const EXACT: Self =
        Self { iterations: 0, step_length: 0.0, unmet: None, is_collision_free: true };

    /// Whether the stage has converged.
    pub(crate) fn converged(&self) -> bool {
        self.unmet.is_none()
    }

    /// The outcome with another reason for ending than the unmet criterion. A stage that had converged before its
    /// contacts were stiffened stays converged; its displacements are truncated.
    pub(crate) fn ended_by(self, reason: RejectionReason) -> Self {
        Self { unmet: self.unmet.map(|_| reason), ..self }
    }

    /// The outcome at the iteration limit, or of a stagnant stage before it.
    pub(crate) fn given_up(self, is_stagnant: bool) -> Self {
        match self.unmet {
            Some(RejectionReason::NewtonStep) if is_stagnant => {
                self.ended_by(RejectionReason::Stagnation)
            }
            _ => self,
        }
    }
}

/// Shortest Newton step since contacts were last stiffened.
#[derive(Clone, Copy, Debug)]
struct ShortestStep {
    /// In m.
    length: f64,
    /// Iteration in which it was found.
    iteration: usize,
}

/// History of the Newton steps of a stage.
#[derive(Clone, Debug)]
pub(crate) struct IterationHistory {
    /// Length of the first Newton step of each cloth, in m; empty before it.
    pub(crate) first_lengths: Vec<f64>,
    /// Length of the last Newton step of each cloth, in m; empty before the first.
    last_lengths: Vec<f64>,
    /// Root mean squares of the last two Newton steps of each cloth; empty before the first.
    successive_steps: Vec<SuccessiveSteps>,
    shortest_step: ShortestStep,
    /// Number of times that contacts have been stiffened.
    stiffenings: usize,
    /// Iteration after which contacts were last stiffened.
    last_stiffening: usize,
}

impl IterationHistory {
    pub(crate) fn new() -> Self {
        Self {
            first_lengths: Vec::new(),
            last_lengths: Vec::new(),
            successive_steps: Vec::new(),
            shortest_step: ShortestStep { length: f64::INFINITY, iteration: 0 },
            stiffenings: 0,
            last_stiffening: 0,
        }
    }

    /// Records the length of a Newton step of each cloth, in m. Returns the largest.
    pub(crate) fn record_step(&mut self, lengths: Vec<f64>) -> f64 {
        if self.first_lengths.is_empty() {
            self.first_lengths.clone_from(&lengths);
        }
        self.last_lengths = lengths;
        largest_displacement(&self.last_lengths)
    }

    /// Records the root mean square of a Newton step of each cloth, in m.
    pub(crate) fn record_root_mean_squares(&mut self, lengths: &[f64]) {
        self.successive_steps.resize(
            lengths.len(),
            SuccessiveSteps { previous: f64::INFINITY, last: f64::INFINITY },
        );
        for (steps, length) in self.successive_steps.iter_mut().zip(lengths) {
            *steps = SuccessiveSteps { previous: steps.last, last: *length };
        }
    }

    /// Whether the estimated error of every cloth is no larger than its threshold, in m.
    pub(crate) fn has_small_errors(&self, thresholds: &[f64]) -> bool {
        let mut pairs = self.successive_steps.iter().zip(thresholds);
        pairs.all(|(steps, threshold)| steps.remaining_error() <= *threshold)
    }

    /// Raises the length of the last step of a cloth to at least a length in m. Returns the largest of all cloths.
    pub(crate) fn raise_step_length(&mut self, cloth: usize, length: f64) -> f64 {
        self.last_lengths[cloth] = self.last_lengths[cloth].max(length);
        largest_displacement(&self.last_lengths)
    }

    /// Whether the last step of every cloth is no longer than its threshold, in m.
    pub(crate) fn is_within_thresholds(&self, thresholds: &[f64]) -> bool {
        let mut pairs = self.last_lengths.iter().zip(thresholds);
        !self.last_lengths.is_empty() && pairs.all(|(length, threshold)| length <= threshold)
    }

    /// Records that contacts have been stiffened after an iteration. Returns whether the solve may continue.
    pub(crate) fn record_stiffening(&mut self, iteration: usize) -> bool {
        if self.stiffenings == PARAMETERS.max_stiffenings_per_stage {
            return false;
        }
        self.stiffenings += 1;
        self.last_stiffening = iteration;
        self.shortest_step = ShortestStep { length: f64::INFINITY, iteration };
        true
    }

    /// Iterations since contacts were last stiffened. Stiffened contacts must be solved as closely as those of the
    /// first iterations, or surfaces pass through each other again.
    pub(crate) fn iterations_since_stiffening(&self, iteration: usize) -> usize {
        iteration - self.last_stiffening
    }

    /// Compares the length in m of the step of an iteration with the shortest.
    pub(crate) fn update_shortest_step(&mut self, iteration: usize, length: f64) {
        if length < self.shortest_step.length {
            self.shortest_step = ShortestStep { length, iteration };
        }
    }

    /// Whether the shortest step is too many iterations old.
    pub(crate) fn is_stagnant(&self, iteration: usize) -> bool {
        iteration > self.shortest_step.iteration + PARAMETERS.stagnation_iterations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cloth_must_be_within_its_threshold() {
        let mut history = IterationHistory::new();
        assert!(!history.is_within_thresholds(&[1.0, 1.0]));
        assert!((history.record_step(vec![3.0, 0.5]) - 3.0).abs() < 1e-15);
        assert!(history.is_within_thresholds(&[3.0, 0.5]));
        assert!(!history.is_within_thresholds(&[9.0, 0.4]));
        assert!((history.record_step(vec![0.2, 0.1]) - 0.2).abs() < 1e-15);
        assert!((history.raise_step_length(1, 0.6) - 0.6).abs() < 1e-15);
        assert!(history.is_within_thresholds(&[0.2, 0.6]));
        assert!(!history.is_within_thresholds(&[0.2, 0.5]));
        assert_eq!(history.first_lengths, [3.0, 0.5]);
    }

    #[test]
    fn stiffening_restarts_the_detection_of_stagnation() {
        let mut history = IterationHistory::new();
        let patience = PARAMETERS.stagnation_iterations;
        for (index, length) in [4.0, 2.0, 3.0].into_iter().enumerate() {
            history.update_shortest_step(index + 1, length);
        }
        assert_eq!(history.iterations_since_stiffening(3), 3);
        assert!(!history.is_stagnant(2 + patience) && history.is_stagnant(3 + patience));
        assert!(history.record_stiffening(20));
        assert_eq!(history.iterations_since_stiffening(21), 1);
        // Longer than the shortest before the stiffening, which no longer counts.
        history.update_shortest_step(21, 3.0);
        assert!(!history.is_stagnant(21 + patience) && history.is_stagnant(22 + patience));
        let remaining = 1..PARAMETERS.max_stiffenings_per_stage;
        assert!(remaining.into_iter().all(|_| history.record_stiffening(21)));
        assert!(!history.record_stiffening(21));
    }

    #[test]
    fn errors_are_small_once_steps_contract() {
        let mut history = IterationHistory::new();
        history.record_root_mean_squares(&[4.0, 1.0]);
        // Nothing is known of the contraction yet.
        assert!(history.has_small_errors(&[4.0, 1.0]) && !history.has_small_errors(&[3.9, 1.0]));
        history.record_root_mean_squares(&[1.0, 0.9]);
        // 1/4 + 1/16 + … of one cloth; the other one does not contract.
        assert!(history.has_small_errors(&[0.334, 0.9]));
        assert!(!history.has_small_errors(&[0.333, 0.9]));
        assert!(!history.has_small_errors(&[0.334, 0.89]));
    }

    #[test]
    fn stagnation_is_a_reason_only_where_the_step_is_too_long() {
        let unmet = |unmet: Option<RejectionReason>, is_stagnant: bool| {
            SolveOutcome { unmet, ..SolveOutcome::UNSOLVED }.given_up(is_stagnant).unmet
        };
        let [long, unbalanced] = [RejectionReason::NewtonStep, RejectionReason::ForceBalance];
        assert_eq!(unmet(Some(long), true), Some(RejectionReason::Stagnation));
        assert_eq!(unmet(Some(long), false), Some(long));
        assert_eq!(unmet(Some(unbalanced), true), Some(unbalanced));
        // What had converged before its contacts were stiffened stays so.
        assert_eq!(unmet(None, true), None);
    }
}
