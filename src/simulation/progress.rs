// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the corrections of a stage come along.

/// Corrections without a shorter one after which no more are made, where anything touches.
const PATIENCE: usize = 10;
/// Times that a stage whose way would cross something is corrected further, with stiffer contacts.
const MOST_RESCUES: usize = 6;

/// What is known of a stage's corrections so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Length of the first correction, in m.
    pub(super) first: f64,
    /// The shortest since contacts were last made stiffer, in m, and after how many it was made.
    best: (f64, usize),
    rescues: usize,
    rescued_at: usize,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { first: 0.0, best: (f64::INFINITY, 0), rescues: 0, rescued_at: 0 }
    }

    /// Takes note that contacts have been made stiffer after so many corrections. Says whether more may be made for it.
    pub(super) fn rescue(&mut self, iterations: usize) -> bool {
        if self.rescues == MOST_RESCUES {
            return false;
        }
        self.rescues += 1;
        self.rescued_at = iterations;
        self.best = (f64::INFINITY, iterations);
        true
    }

    /// How many of so many corrections were made since contacts were last made stiffer: what is stiffer has to be solved as
    /// closely as all was at first, or it will be crossed again.
    pub(super) fn since_rescue(&self, iterations: usize) -> usize {
        iterations - self.rescued_at
    }

    /// Takes note of the last of so many corrections, of such a length in m.
    pub(super) fn compare(&mut self, iterations: usize, correction: f64) {
        if correction < self.best.0 {
            self.best = (correction, iterations);
        }
    }

    /// Whether the last of so many corrections have not become shorter for long.
    pub(super) fn is_hopeless(&self, iterations: usize) -> bool {
        iterations > self.best.1 + PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rescued_begins_anew() {
        let mut progress = Progress::new();
        for (index, correction) in [4.0, 2.0, 3.0].into_iter().enumerate() {
            progress.compare(index + 1, correction);
        }
        assert_eq!(progress.since_rescue(3), 3);
        assert!(!progress.is_hopeless(2 + PATIENCE) && progress.is_hopeless(3 + PATIENCE));
        assert!(progress.rescue(20));
        assert_eq!(progress.since_rescue(21), 1);
        // Longer than the best before, which no longer counts.
        progress.compare(21, 3.0);
        assert!(!progress.is_hopeless(21 + PATIENCE) && progress.is_hopeless(22 + PATIENCE));
        assert!((1..MOST_RESCUES).all(|_| progress.rescue(21)) && !progress.rescue(21));
    }
}
