// SPDX-License-Identifier: MIT OR Apache-2.0
//! Control of the step for equations that are linearised once (Baraff and Witkin 1998, section 7).
//!
//! A step after which any triangle is stretched along a yarn by much more or less than before is given up and tried with
//! half the length. After two successes the longer step is tried again; each time that fails twice as many are waited
//! for, up to forty, so that in the long run one step in forty is lost.

use super::dynamics::Dynamics;
use crate::{Vec3, parallel};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Largest change of the stretch of a triangle in one step. The text says "drastic": unstable steps change it by far more,
/// sound ones by far less.
const LARGEST_CHANGE: f64 = 0.25;
/// Successes after which a longer step is tried, at first and at most.
const WAIT: [u32; 2] = [2, 40];

/// What is remembered of the last steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StepControl {
    successes: u32,
    wait: u32,
    /// Whether the last step was the first of its length after shorter ones.
    is_trial: bool,
}

impl Default for StepControl {
    fn default() -> Self {
        Self { successes: 0, wait: WAIT[0], is_trial: false }
    }
}

impl StepControl {
    /// A step has failed.
    pub(super) fn fail(&mut self) {
        if self.is_trial {
            self.wait = (2 * self.wait).min(WAIT[1]);
        }
        (self.successes, self.is_trial) = (0, false);
    }

    /// A step has succeeded. Says whether the next may be longer, where it is `shorter` than it may be.
    pub(super) fn succeed(&mut self, shorter: bool) -> bool {
        if self.is_trial {
            self.wait = WAIT[0];
        }
        self.successes += 1;
        self.is_trial = shorter && self.successes >= self.wait;
        if self.is_trial {
            self.successes = 0;
        }
        self.is_trial
    }
}

impl Dynamics {
    /// Whether no triangle changes its stretch drastically between two shapes.
    pub(super) fn stretches_little(&self, before: &[Vec3], after: &[Vec3]) -> bool {
        let mesh = &self.mesh;
        let triangles = mesh.topology.triangles.par_iter().zip(&mesh.rest.gradients);
        triangles.with_min_len(parallel::ELEMENTS).all(|(corners, gradients)| {
            [0, 1].into_iter().all(|axis| {
                let [before, after] = [before, after].map(|positions| {
                    let parts = corners.iter().zip(gradients);
                    let sum: Vec3 =
                        parts.map(|(vertex, g)| positions[*vertex as usize] * g[axis]).sum();
                    sum.norm()
                });
                (after - before).abs() <= LARGEST_CHANGE
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step of more than a half fails.
    #[test]
    fn a_step_that_is_too_long_costs_one_in_forty() {
        let (mut control, mut step, mut failures) = (StepControl::default(), 1.0, Vec::new());
        for attempt in 0..1000 {
            if step > 0.5 {
                failures.push(attempt);
                control.fail();
                step *= 0.5;
            } else if control.succeed(step < 1.0) {
                step *= 2.0;
            }
        }
        let waits: Vec<i32> = failures.windows(2).map(|pair| pair[1] - pair[0] - 1).collect();
        assert_eq!(waits[..6], [2, 4, 8, 16, 32, 40]);
        assert!(waits[6..].iter().all(|wait| *wait == 40));
    }
}
