// SPDX-License-Identifier: MIT OR Apache-2.0
//! Step size control within a frame.
//!
//! * A rejected step is retried with half its length.
//! * A step that needed many iterations is followed by a shorter one, an easy one by a longer one (Etzmuss 2002,
//!   section 3.4.3).
//! * After a rejection two accepted steps are required before the step is lengthened; each time that the longer step is
//!   soon rejected again, twice as many, up to 40, so that in the long run one step in 40 is lost (Baraff and Witkin
//!   1998, section 7).
//! * The Newton iterations of a frame are limited by a budget. Once it is exhausted no step is rejected any more.

use super::Simulation;
use crate::{
    mesh::gradients_of_all_corners,
    newton::{FixedPointParameters, SolveOutcome},
    parallel::reductions,
    scene::{Settings, Solver},
    system::{EquationsOfMotion, ExplicitSteppingParameters},
    vec3::Vec3,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parameters of step size control.
pub(crate) struct StepControlParameters {
    /// Shortest step (fraction of the longest step of the frame). Effect: larger accepts unconverged steps earlier;
    /// smaller takes longer in hopeless contact. Evidence: none: no test or figure depends on it (0 tried; bits of
    /// `hostile/pins_cross_each_other` change).
    min_step_size_fraction: f64,
    /// Step size above which a step counts as long (fraction of the longest step), and to which fast sliding limits it.
    /// Effect: larger exempts more steps; smaller limits more. Evidence:
    /// `contact::friction::steps_are_halved_where_layers_slide_by_more_than_half_an_edge` (fails with 1).
    long_fraction: f64,
    /// Iterations of a long step above which the next one is shortened (fraction of the iteration limit): crumpling cloth needs no more iterations in two steps of half the length. Effect:
    /// larger keeps long steps; smaller takes more steps. Evidence: `sheet/self16_solve` (0.9: 21.3 mm instead of 23.9
    /// mm from the reference); 10 % fewer iterations at 10 000 vertices.
    long_shrink_above: f64,
    /// Distance that layers may slide on each other in a long step (fraction of the mean edge length), since contacts
    /// on the trajectory matter. Effect: larger misses contacts; smaller takes more steps. Evidence:
    /// `contact::friction::steps_are_halved_where_layers_slide_by_more_than_half_an_edge` (fails without a bound).
    max_slide_per_step: f64,
    /// Change of the stretch of a triangle above which a linearised step is rejected. Baraff and Witkin call it
    /// drastic: unstable steps exceed it by far, sound ones are far below. Effect: larger accepts unstable steps;
    /// smaller rejects sound ones. Evidence:
    /// `time_integration::integrators::a_linearised_step_that_changes_the_stretch_drastically_is_given_up` (fails
    /// without a bound; 0.125 rejects four more steps).
    max_stretch_change: f64,
    /// Accepted steps required after the first rejection before the step is lengthened. Effect: larger stays short for
    /// longer; smaller is rejected more often. Evidence: `hostile/random_soup` and `hostile/jersey_on_needles` (0: 37 %
    /// more iterations, 50 rejected steps instead of 16).
    initial_wait: u32,
    /// Upper bound of the required steps. Effect: larger stays short for longer; smaller is rejected more often.
    /// Evidence: `hostile/crumpled_in_a_closing_box` (2: 17 % more iterations, 51 rejected steps instead of 36).
    max_wait: u32,
}

impl StepControlParameters {
    const DEFAULT: Self = Self {
        min_step_size_fraction: 1.0 / 256.0,
        long_fraction: 0.5,
        long_shrink_above: 0.45,
        max_slide_per_step: 0.5,
        max_stretch_change: 0.25,
        initial_wait: 2,
        max_wait: 40,
    };
}

/// Parameters of the iteration budget of a frame.
struct FrameBudgetParameters {
    /// Newton budget of a frame (multiple of the iteration limit of a stage, per longest step). When it is spent no
    /// step is rejected. Effect: larger takes longer in hopeless contact; smaller accepts unconverged steps earlier.
    /// Evidence: `hostile/jump_through_a_held_sheet` (14 saves 26 % iterations) and `hostile/pins_cross_each_other` (no
    /// budget costs 5 %).
    full_solves_per_max_step: f64,
    /// Step size once the budget is spent (fraction of the longest step). Effect: larger is less accurate; smaller
    /// takes longer. Evidence: none: no test or figure depends on it (1/64, 1/16 and 1 tried; bits of
    /// `hostile/pins_cross_each_other` change).
    exhausted_step_size_fraction: f64,
    /// Iteration limit once the budget is spent. Effect: larger takes longer; smaller is less accurate. Evidence: none:
    /// no test or figure depends on it (5, 20 and 30 tried; bits of `hostile/pins_cross_each_other` change).
    exhausted_max_iterations: usize,
    /// Candidate pairs per vertex above which an iteration counts as several: crushed cloth has an unbounded number of
    /// pairs. Effect: larger takes longer in crushed cloth; smaller exhausts the budget earlier. Evidence: none:
    /// neither tests nor scenes depend on it (12, 48 and no weighting tried).
    reference_pairs_per_vertex: f64,
}

impl FrameBudgetParameters {
    const DEFAULT: Self = Self {
        full_solves_per_max_step: 28.0,
        exhausted_step_size_fraction: 0.03125,
        exhausted_max_iterations: 10,
        reference_pairs_per_vertex: 24.0,
    };
}

const PARAMETERS: StepControlParameters = StepControlParameters::DEFAULT;
const BUDGET: FrameBudgetParameters = FrameBudgetParameters::DEFAULT;

/// Excess over a whole number of steps that counts as rounding error (steps).
pub(crate) const STEP_COUNT_ROUNDING: f64 = 1.0e-6;

/// Interval of a frame that a step covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepInterval {
    /// Start of the step (fraction of the frame).
    pub(crate) start_fraction: f64,
    /// End of the step (fraction of the frame).
    pub(crate) end_fraction: f64,
    /// Length of the step, in s.
    pub(crate) duration: f64,
    /// Length of the step (fraction of the longest step of the frame).
    pub(crate) fraction_of_max_step: f64,
    /// Iteration limit of a stage.
    pub(crate) max_iterations: usize,
    /// Whether a rejected step is retried with a shorter one. If not, it is accepted as it is.
    pub(crate) can_retry_shorter: bool,
}

impl StepInterval {
    /// Interval of the first fraction of the step.
    pub(crate) fn first_fraction(&self, fraction: f64) -> Self {
        let end = self.start_fraction + (self.end_fraction - self.start_fraction) * fraction;
        Self { end_fraction: end, duration: self.duration * fraction, ..*self }
    }

    /// Whether a step with this outcome of a stage is rejected whatever its result.
    pub(crate) fn rejects_unconverged(&self, outcome: &SolveOutcome) -> bool {
        self.can_retry_shorter && !outcome.converged()
    }
}

/// Progress of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameProgress {
    /// Duration of the frame, in s.
    duration: f64,
    /// Simulated fraction of the frame.
    pub(crate) fraction: f64,
    /// Newton iterations so far, weighted by their cost.
    spent_iterations: f64,
    /// Number of accepted steps at which the stability limit is estimated next.
    next_estimate: usize,
    pub(crate) truncation: TruncationTolerance,
}

impl FrameProgress {
    /// Start of a frame of a duration in s.
    pub(crate) fn new(duration: f64) -> Self {
        let truncation = TruncationTolerance::default();
        Self { duration, fraction: 0.0, spent_iterations: 0.0, next_estimate: 0, truncation }
    }

    /// Whether the stability limit is to be estimated after a number of accepted steps.
    pub(crate) fn needs_stability_estimate(&mut self, steps: usize) -> bool {
        let is_due = steps >= self.next_estimate;
        if is_due {
            self.next_estimate = steps + ExplicitSteppingParameters::DEFAULT.steps_per_estimate;
        }
        is_due
    }
}

/// State of the step size controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepControl {
    /// Accepted steps since the step size last changed.
    successes_since_change: u32,
    /// Accepted steps required before the step is lengthened.
    required_successes: u32,
    /// Whether the last change lengthened the step.
    was_lengthened: bool,
}

impl Default for StepControl {
    fn default() -> Self {
        Self {
            successes_since_change: 0,
            required_successes: PARAMETERS.initial_wait,
            was_lengthened: false,
        }
    }
}

impl StepControl {
    /// Records a rejected step.
    pub(crate) fn record_rejection(&mut self) {
        if self.successes_since_change >= PARAMETERS.max_wait {
            self.required_successes = PARAMETERS.initial_wait;
        } else if self.was_lengthened {
            self.required_successes = (2 * self.required_successes).min(PARAMETERS.max_wait);
        }
        (self.successes_since_change, self.was_lengthened) = (0, false);
    }

    /// Records an accepted step. Returns whether to lengthen the next one, if it is `shortened`.
    pub(crate) fn record_success(&mut self, shortened: bool) -> bool {
        self.successes_since_change = self.successes_since_change.saturating_add(1);
        let is_due = shortened && self.successes_since_change >= self.required_successes;
        if is_due {
            (self.successes_since_change, self.was_lengthened) = (0, true);
        }
        is_due
    }
}

/// Tolerance of truncated displacements within a frame. Shorter steps help against them after an impact, but not in a
/// squeeze; once a shorter step has not helped, they are tolerated for the rest of the frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TruncationTolerance {
    /// Number of truncated vertices of the last step.
    previously_truncated: usize,
    is_tolerated: bool,
}

impl TruncationTolerance {
    /// Whether a step with a number of truncated vertices is accepted.
    pub(crate) fn tolerates(&mut self, truncated: usize) -> bool {
        // A shorter step helps if it truncates less than half as many vertices.
        self.is_tolerated |= truncated > 0
            && self.previously_truncated > 0
            && 2 * truncated >= self.previously_truncated;
        self.previously_truncated = truncated;
        self.is_tolerated || truncated == 0
    }
}

impl Simulation {
    /// Next interval of a frame: the preferred step size, adjusted so that equal steps end with the frame.
    pub(crate) fn next_interval(&self, frame: &FrameProgress) -> StepInterval {
        let (done, max_step_size) = (frame.fraction, self.max_step_size());
        let is_exhausted = self.is_budget_exhausted(frame);
        let step_size = if is_exhausted {
            let fraction = BUDGET.exhausted_step_size_fraction * self.dense_pair_cost_factor();
            fraction.min(1.0) * max_step_size
        } else {
            self.preferred_step_size.min(max_step_size)
        };
        let remaining = frame.duration * (1.0 - done);
        let count = (remaining / step_size - STEP_COUNT_ROUNDING).ceil().max(1.0);
        let duration = remaining / count;
        let longest = frame.duration.min(max_step_size);
        let is_divisible = 0.5 * duration >= PARAMETERS.min_step_size_fraction * longest;
        StepInterval {
            start_fraction: done,
            end_fraction: if count > 1.0 { done + (1.0 - done) / count } else { 1.0 },
            duration,
            fraction_of_max_step: duration / longest,
            max_iterations: if is_exhausted {
                BUDGET.exhausted_max_iterations
            } else {
                self.settings.max_iterations
            },
            can_retry_shorter: !is_exhausted && is_divisible,
        }
    }

    /// Charges the iterations of a step to the budget of a frame.
    pub(crate) fn charge_iterations(&self, frame: &mut FrameProgress, iterations: usize) {
        let cost = (iterations * self.iteration_cost()) as f64;
        frame.spent_iterations += cost * self.dense_pair_cost_factor();
    }

    fn is_budget_exhausted(&self, frame: &FrameProgress) -> bool {
        let steps = (frame.duration / self.max_step_size()).max(1.0);
        let full_solves = BUDGET.full_solves_per_max_step * steps;
        frame.spent_iterations >= full_solves * self.max_stage_iterations()
    }

    /// Cost of an iteration. Without contact it is free: Newton's method always converges for steps that are short
    /// enough. The fixed-point iteration may not, and during contact its updates cost as much as Newton iterations.
    fn iteration_cost(&self) -> usize {
        let has_contacts = !self.response.contact_set.detected.is_empty();
        match (self.settings.solver, has_contacts) {
            (Solver::FixedPoint, true) => FixedPointParameters::DEFAULT.updates_per_iteration,
            (Solver::FixedPoint, false) | (_, true) => 1,
            (_, false) => 0,
        }
    }

    /// Cost factor of an iteration with many candidate pairs, filtered ones included.
    fn dense_pair_cost_factor(&self) -> f64 {
        let reference = BUDGET.reference_pairs_per_vertex * self.dynamics.vertex_count() as f64;
        (self.response.candidates.near_pair_count() as f64 / reference).max(1.0)
    }

    /// Iteration limit of a stage.
    fn max_stage_iterations(&self) -> f64 {
        let iterations = self.settings.max_iterations as f64;
        match self.settings.solver {
            Solver::FixedPoint => {
                FixedPointParameters::DEFAULT.updates_per_iteration as f64 * iterations
            }
            _ => iterations,
        }
    }

    /// Iterations of a stage up to which a shortened step grows again, given those above which a long one shrinks.
    fn min_stage_iterations(&self, shrink_above: f64) -> f64 {
        let Settings { min_iterations, max_iterations, .. } = self.settings;
        if min_iterations == 0 {
            return 0.5 * shrink_above;
        }
        self.max_stage_iterations() * min_iterations as f64 / max_iterations as f64
    }

    /// Longest interval between two detections of contacts, in s.
    pub(crate) fn max_step_size(&self) -> f64 {
        let time_step = self.settings.time_step;
        if self.stable_step_size.is_finite() {
            let interval = ExplicitSteppingParameters::DEFAULT.contact_interval;
            time_step.min(self.stable_step_size.max(interval))
        } else {
            time_step
        }
    }

    /// Whether the equations are linearised once per step.
    pub(crate) fn is_linearised(&self) -> bool {
        self.settings.solver == Solver::Linearised && self.settings.integrator.is_implicit()
    }

    /// Lengthens or shortens the next step by the number of iterations of this one (Etzmuss 2002, section 3.4.3).
    pub(crate) fn adapt_step_size(&mut self, iterations: f64, interval: StepInterval) {
        let allowed = self.max_stage_iterations();
        let duration = interval.duration;
        let longest = duration / interval.fraction_of_max_step;
        let is_long =
            |duration: f64| duration > (PARAMETERS.long_fraction + STEP_COUNT_ROUNDING) * longest;
        let shrink_above = PARAMETERS.long_shrink_above * allowed;
        if !self.is_linearised() && is_long(duration) && iterations > shrink_above {
            self.preferred_step_size = self.settings.shrink_factor * duration;
            return;
        }
        let max_slide = PARAMETERS.max_slide_per_step * self.mean_edge_length;
        let speed = self.response.contact_set.mean_slip_speed(&self.response.step);
        let slides_far = |duration: f64| is_long(duration) && speed * duration > max_slide;
        if slides_far(duration) {
            self.preferred_step_size = PARAMETERS.long_fraction * longest;
            return;
        }
        // A squeeze needs many iterations however short the step: only a longer step shows whether it converges as
        // well.
        let is_shortened = self.preferred_step_size < self.settings.time_step;
        let lengthened =
            (self.settings.growth_factor * self.preferred_step_size).min(self.settings.time_step);
        let is_easy = self.is_linearised() || iterations <= self.min_stage_iterations(shrink_above);
        let may_lengthen =
            !is_shortened || (is_easy || !is_long(lengthened)) && !slides_far(lengthened);
        if may_lengthen && self.step_control.record_success(is_shortened) {
            self.preferred_step_size = lengthened;
        }
    }
}

impl EquationsOfMotion {
    /// Whether the stretch of no triangle changes drastically along the yarns between two lists of positions in m.
    pub(crate) fn has_small_stretch_change(&self, before: &[Vec3], after: &[Vec3]) -> bool {
        let triangles = self.mesh.topology.triangles.par_iter().zip(self.gradients.as_slice());
        triangles.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).all(|(corners, gradients)| {
            let gradients = gradients_of_all_corners(gradients);
            [0, 1].into_iter().all(|axis| {
                let [before, after] = [before, after].map(|positions| {
                    let terms = corners.iter().zip(&gradients);
                    let derivative: Vec3 =
                        terms.map(|(vertex, g)| positions[*vertex as usize] * g[axis]).sum();
                    derivative.norm()
                });
                (after - before).abs() <= PARAMETERS.max_stretch_change
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{material::Material, mesh::Polygons, scene::Cloth};

    #[test]
    fn truncation_is_tolerated_once_a_shorter_step_does_not_help() {
        let mut truncation = TruncationTolerance::default();
        assert_eq!(
            [9, 4, 1, 0, 3].map(|count| truncation.tolerates(count)),
            [false, false, false, true, false]
        );
        assert_eq!([2, 5, 0].map(|count| truncation.tolerates(count)), [true; 3]);
        assert!(!TruncationTolerance::default().tolerates(1));
    }

    #[test]
    fn a_change_of_stretch_is_relative_to_scaled_lengths_at_rest() {
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        let polygons = Polygons::new(&[3], &[0, 1, 2], 3).unwrap();
        let cloth = Cloth::new(corners.to_vec(), &polygons, Material::default(), None, None);
        let longer = cloth.unwrap().with_rest_scale(vec![[2.0; 2]; 3]).unwrap();
        let dynamics = EquationsOfMotion::new(&[longer], &Settings::default());
        let stretched = |factor: f64| corners.map(|corner| corner * factor);
        assert!(dynamics.has_small_stretch_change(&stretched(2.0), &stretched(2.4)));
        assert!(!dynamics.has_small_stretch_change(&stretched(2.0), &stretched(2.6)));
    }

    /// Steps longer than one half are rejected.
    #[test]
    fn a_step_size_that_is_too_long_is_rejected_once_in_forty_steps() {
        let (mut control, mut step, mut rejections) = (StepControl::default(), 1.0, Vec::new());
        for attempt in 0..1000 {
            if step > 0.5 {
                rejections.push(attempt);
                control.record_rejection();
                step *= 0.5;
            } else if control.record_success(step < 1.0) {
                step *= 2.0;
            }
        }
        let waits: Vec<i32> = rejections.windows(2).map(|pair| pair[1] - pair[0] - 1).collect();
        assert_eq!(waits[..6], [2, 4, 8, 16, 32, 40]);
        assert!(waits[6..].iter().all(|wait| *wait == 40));
    }
}
