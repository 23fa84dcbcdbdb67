// SPDX-License-Identifier: MIT OR Apache-2.0
//! When a step that had to be shortened may be longer again (Baraff and Witkin 1998, section 7).
//!
//! After a failure two successes are waited for before the longer step is tried again; each time that this fails soon, twice
//! as many, up to forty, so that in the long run one step in forty is lost. So it goes with every implicit solver: with
//! equations that are linearised once, a step fails after which any triangle is stretched along a yarn by much more or
//! less than before; with others, one that does not converge.

use crate::{
    Vec3, mesh::gradients_of_all_corners, newton::SolveOutcome, parallel::reductions,
    system::EquationsOfMotion,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Largest change of the stretch of a triangle in one step that is linearised. The text
/// says "drastic": unstable steps change it by far more, sound ones by far less.
const LARGEST_CHANGE: f64 = 0.25;
/// Successes after which a longer step is tried, at first and at most.
const WAIT: [u32; 2] = [2, 40];

/// What is remembered of the last steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepControl {
    /// Since the length last changed.
    successes_since_change: u32,
    required_successes: u32,
    /// Whether it was made longer then.
    was_lengthened: bool,
}

impl Default for StepControl {
    fn default() -> Self {
        Self { successes_since_change: 0, required_successes: WAIT[0], was_lengthened: false }
    }
}

impl StepControl {
    /// A step has failed.
    pub(crate) fn record_rejection(&mut self) {
        if self.successes_since_change >= WAIT[1] {
            self.required_successes = WAIT[0];
        } else if self.was_lengthened {
            self.required_successes = (2 * self.required_successes).min(WAIT[1]);
        }
        (self.successes_since_change, self.was_lengthened) = (0, false);
    }

    /// A step has succeeded. Says whether the next may be longer, where it is `shorter` than it may be.
    pub(crate) fn record_success(&mut self, shorter: bool) -> bool {
        self.successes_since_change = self.successes_since_change.saturating_add(1);
        let is_due = shorter && self.successes_since_change >= self.required_successes;
        if is_due {
            (self.successes_since_change, self.was_lengthened) = (0, true);
        }
        is_due
    }
}

/// Whether shorter steps help where vertices that a step had to hold back are torn from others. They do where something came
/// too fast. Where it is squeezed they do not, and then such vertices are borne with for the rest of the frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TruncationTolerance {
    /// Vertices that were held back in the last step that was given up for them.
    previously_truncated: usize,
    is_tolerated: bool,
}

impl TruncationTolerance {
    /// Whether a step that has held back so many vertices may be taken.
    pub(crate) fn tolerates(&mut self, held_back: usize) -> bool {
        // A shorter step that helps holds back less than half as many.
        self.is_tolerated |= held_back > 0
            && self.previously_truncated > 0
            && 2 * held_back >= self.previously_truncated;
        self.previously_truncated = held_back;
        self.is_tolerated || held_back == 0
    }
}

impl EquationsOfMotion {
    /// Whether no triangle changes its stretch drastically between two shapes.
    pub(crate) fn has_small_stretch_change(&self, before: &[Vec3], after: &[Vec3]) -> bool {
        let triangles = self.mesh.topology.triangles.par_iter().zip(self.gradients.as_slice());
        triangles.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).all(|(corners, gradients)| {
            let gradients = gradients_of_all_corners(gradients);
            [0, 1].into_iter().all(|axis| {
                let [before, after] = [before, after].map(|positions| {
                    let parts = corners.iter().zip(&gradients);
                    let sum: Vec3 =
                        parts.map(|(vertex, g)| positions[*vertex as usize] * g[axis]).sum();
                    sum.norm()
                });
                (after - before).abs() <= LARGEST_CHANGE
            })
        })
    }
}

/// The part of a frame that a step covers, from 0 to 1, and its length in s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepInterval {
    pub(crate) start_fraction: f64,
    pub(crate) end_fraction: f64,
    pub(crate) duration: f64,
    /// Length of the step, as a part of the longest that the frame may take.
    pub(crate) fraction_of_max_step: f64,
    /// Most corrections of a stage.
    pub(crate) max_iterations: usize,
    /// Whether a shorter step takes its place where it cannot be solved.
    pub(crate) can_retry_shorter: bool,
}

impl StepInterval {
    /// A part of the span from its start.
    pub(crate) fn first_fraction(&self, part: f64) -> Self {
        Self {
            start_fraction: self.start_fraction,
            end_fraction: self.start_fraction + (self.end_fraction - self.start_fraction) * part,
            duration: self.duration * part,
            ..*self
        }
    }

    /// Whether a step that came out so is given up, whatever it leads to.
    pub(crate) fn rejects_unconverged(&self, solved: &SolveOutcome) -> bool {
        self.can_retry_shorter && !solved.converged()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        material::Material,
        mesh::Polygons,
        scene::{Cloth, Settings},
    };

    #[test]
    fn what_shorter_steps_do_not_help_is_borne_with() {
        let mut squeeze = TruncationTolerance::default();
        assert_eq!(
            [9, 4, 1, 0, 3].map(|count| squeeze.tolerates(count)),
            [false, false, false, true, false]
        );
        assert_eq!([2, 5, 0].map(|count| squeeze.tolerates(count)), [true; 3]);
        assert!(!TruncationTolerance::default().tolerates(1));
    }

    /// What is longer at rest is stretched by less.
    #[test]
    fn a_change_of_stretch_is_one_of_what_is_long_at_rest() {
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        let polygons = Polygons::new(&[3], &[0, 1, 2], 3).unwrap();
        let cloth = Cloth::new(corners.to_vec(), &polygons, Material::default(), None, None);
        let longer = cloth.unwrap().with_rest_scale(vec![[2.0; 2]; 3]).unwrap();
        let dynamics = EquationsOfMotion::new(&[longer], &Settings::default());
        let stretched = |factor: f64| corners.map(|corner| corner * factor);
        assert!(dynamics.has_small_stretch_change(&stretched(2.0), &stretched(2.4)));
        assert!(!dynamics.has_small_stretch_change(&stretched(2.0), &stretched(2.6)));
    }

    /// A step of more than a half fails.
    #[test]
    fn a_step_that_is_too_long_costs_one_in_forty() {
        let (mut control, mut step, mut failures) = (StepControl::default(), 1.0, Vec::new());
        for attempt in 0..1000 {
            if step > 0.5 {
                failures.push(attempt);
                control.record_rejection();
                step *= 0.5;
            } else if control.record_success(step < 1.0) {
                step *= 2.0;
            }
        }
        let waits: Vec<i32> = failures.windows(2).map(|pair| pair[1] - pair[0] - 1).collect();
        assert_eq!(waits[..6], [2, 4, 8, 16, 32, 40]);
        assert!(waits[6..].iter().all(|wait| *wait == 40));
    }
}
