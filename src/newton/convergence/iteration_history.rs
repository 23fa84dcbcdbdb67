// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the corrections of a stage come along.

use super::energy_norm::largest_displacement;
use crate::scene::RejectionReason;

/// Corrections without a shorter one after which no more are made, where anything touches.
const PATIENCE: usize = 10;
/// Times that a stage whose way would cross something is corrected further, with stiffer contacts.
const MOST_RESCUES: usize = 6;

/// How a stage ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SolveOutcome {
    /// Corrections made.
    pub(crate) iterations: usize,
    /// Length of the last correction in m, of the cloth of which it is longest: see `Accuracy`.
    pub(crate) step_length: f64,
    /// Convergence criterion that is not met; none where the stage has converged.
    pub(crate) unmet: Option<RejectionReason>,
    /// Whether the ways of all vertices were found to cross nothing.
    pub(crate) is_collision_free: bool,
}

impl SolveOutcome {
    /// Of a stage before its first iteration.
    pub(crate) const UNSOLVED: Self = Self {
        iterations: 0,
        step_length: f64::INFINITY,
        unmet: Some(RejectionReason::NewtonStep),
        is_collision_free: false,
    };

    pub(crate) fn converged(&self) -> bool {
        self.unmet.is_none()
    }

    /// The stage, ended for a reason other than the criterion that it does not meet. One that had converged before its
    /// contacts were stiffened stays converged: displacements are truncated then.
    pub(crate) fn ended_by(self, reason: RejectionReason) -> Self {
        Self { unmet: self.unmet.map(|_| reason), ..self }
    }

    /// The stage at the iteration limit, or before it where Newton steps have not become shorter for long.
    pub(crate) fn given_up(self, is_stagnant: bool) -> Self {
        match self.unmet {
            Some(RejectionReason::NewtonStep) if is_stagnant => {
                self.ended_by(RejectionReason::Stagnation)
            }
            _ => self,
        }
    }
}

/// What is known of a stage's corrections so far.
#[derive(Clone, Debug)]
pub(crate) struct IterationHistory {
    /// Lengths of the first correction and of the last one of each cloth, in m; none before the first.
    pub(crate) first_lengths: Vec<f64>,
    last_lengths: Vec<f64>,
    /// The shortest since contacts were last made stiffer, in m, and after how many it was made.
    shortest_step: (f64, usize),
    stiffenings: usize,
    last_stiffening: usize,
}

impl IterationHistory {
    pub(crate) fn new() -> Self {
        Self {
            first_lengths: Vec::new(),
            last_lengths: Vec::new(),
            shortest_step: (f64::INFINITY, 0),
            stiffenings: 0,
            last_stiffening: 0,
        }
    }

    /// Takes note of the lengths of a correction, in m. Gives the longest.
    pub(crate) fn record_step(&mut self, lengths: Vec<f64>) -> f64 {
        if self.first_lengths.is_empty() {
            self.first_lengths.clone_from(&lengths);
        }
        self.last_lengths = lengths;
        largest_displacement(&self.last_lengths)
    }

    /// That of a cloth is no less than a length in m. Gives the longest.
    pub(crate) fn raise_step_length(&mut self, cloth: usize, length: f64) -> f64 {
        self.last_lengths[cloth] = self.last_lengths[cloth].max(length);
        largest_displacement(&self.last_lengths)
    }

    /// Whether the last correction was no longer than `wanted` of each cloth, in m.
    pub(crate) fn is_within_thresholds(&self, wanted: &[f64]) -> bool {
        !self.last_lengths.is_empty()
            && self.last_lengths.iter().zip(wanted).all(|(last, wanted)| last <= wanted)
    }

    /// Takes note that contacts have been made stiffer after so many corrections. Says whether more may be made for it.
    pub(crate) fn record_stiffening(&mut self, iterations: usize) -> bool {
        if self.stiffenings == MOST_RESCUES {
            return false;
        }
        self.stiffenings += 1;
        self.last_stiffening = iterations;
        self.shortest_step = (f64::INFINITY, iterations);
        true
    }

    /// How many of so many corrections were made since contacts were last made stiffer: what is stiffer has to be solved as
    /// closely as all was at first, or it will be crossed again.
    pub(crate) fn iterations_since_stiffening(&self, iterations: usize) -> usize {
        iterations - self.last_stiffening
    }

    /// Takes note of the last of so many corrections, of such a length in m.
    pub(crate) fn update_shortest_step(&mut self, iterations: usize, correction: f64) {
        if correction < self.shortest_step.0 {
            self.shortest_step = (correction, iterations);
        }
    }

    /// Whether the last of so many corrections have not become shorter for long.
    pub(crate) fn is_stagnant(&self, iterations: usize) -> bool {
        iterations > self.shortest_step.1 + PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cloth_has_to_be_within_what_is_wanted_of_it() {
        let mut progress = IterationHistory::new();
        assert!(!progress.is_within_thresholds(&[1.0, 1.0]));
        assert!((progress.record_step(vec![3.0, 0.5]) - 3.0).abs() < 1e-15);
        assert!(
            progress.is_within_thresholds(&[3.0, 0.5])
                && !progress.is_within_thresholds(&[9.0, 0.4])
        );
        assert!((progress.record_step(vec![0.2, 0.1]) - 0.2).abs() < 1e-15);
        assert!((progress.raise_step_length(1, 0.6) - 0.6).abs() < 1e-15);
        assert!(
            progress.is_within_thresholds(&[0.2, 0.6])
                && !progress.is_within_thresholds(&[0.2, 0.5])
        );
        assert_eq!(progress.first_lengths, [3.0, 0.5]);
    }

    #[test]
    fn what_is_rescued_begins_anew() {
        let mut progress = IterationHistory::new();
        for (index, correction) in [4.0, 2.0, 3.0].into_iter().enumerate() {
            progress.update_shortest_step(index + 1, correction);
        }
        assert_eq!(progress.iterations_since_stiffening(3), 3);
        assert!(!progress.is_stagnant(2 + PATIENCE) && progress.is_stagnant(3 + PATIENCE));
        assert!(progress.record_stiffening(20));
        assert_eq!(progress.iterations_since_stiffening(21), 1);
        // Longer than the best before, which no longer counts.
        progress.update_shortest_step(21, 3.0);
        assert!(!progress.is_stagnant(21 + PATIENCE) && progress.is_stagnant(22 + PATIENCE));
        assert!(
            (1..MOST_RESCUES).all(|_| progress.record_stiffening(21))
                && !progress.record_stiffening(21)
        );
    }
}
