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

use super::constrained_system::ConstrainedSystem;
use crate::{
    newton::{FixedPointParameters, SolveOutcome},
    scene::{RejectionReason, Settings, Solver},
    system::ExplicitSteppingParameters,
};
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
    /// larger keeps long steps; smaller takes more steps. Evidence: a strip that runs over a cylinder beyond the capstan
    /// limit (0.45: 87 and 40 % of its way too short at 1.1 and 1.3 times the limit; 0.3: 40 and 25 %; 0.2: 34 and 40 %).
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
    pub(crate) max_stretch_change: f64,
    /// Accepted steps required after the first rejection before the step is lengthened. Effect: larger stays short for
    /// longer; smaller is rejected more often. Evidence: `hostile/random_soup` and `hostile/jersey_on_needles` (0: 37 %
    /// more iterations, 50 rejected steps instead of 16).
    initial_wait: u32,
    /// Upper bound of the required steps. Effect: larger stays short for longer; smaller is rejected more often.
    /// Evidence: `hostile/crumpled_in_a_closing_box` (2: 17 % more iterations, 51 rejected steps instead of 36).
    max_wait: u32,
}

impl StepControlParameters {
    pub(crate) const DEFAULT: Self = Self {
        min_step_size_fraction: 1.0 / 256.0,
        long_fraction: 0.5,
        long_shrink_above: 0.3,
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
    /// Evidence: `hostile/held_vertex_goes_through_cloth` and `hostile/folded_twice` (28: more than 1 500 iterations in a
    /// frame).
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
        full_solves_per_max_step: 14.0,
        exhausted_step_size_fraction: 0.03125,
        exhausted_max_iterations: 10,
        reference_pairs_per_vertex: 24.0,
    };
}

const PARAMETERS: StepControlParameters = StepControlParameters::DEFAULT;
const BUDGET: FrameBudgetParameters = FrameBudgetParameters::DEFAULT;

/// Excess over a whole number of steps that counts as rounding error (steps).
const STEP_COUNT_ROUNDING: f64 = 1.0e-6;

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
    /// Number of substeps of an explicit scheme.
    pub(crate) substep_count: usize,
    /// Iteration limit of a stage.
    pub(crate) max_iterations: usize,
    /// Whether a rejected step is retried with a shorter one. If not, it is accepted as it is.
    pub(crate) can_retry_shorter: bool,
}

impl StepInterval {
    /// A frame of `duration` in s in one step, accepted as it is.
    pub(crate) fn whole_frame(duration: f64, max_iterations: usize) -> Self {
        Self {
            start_fraction: 0.0,
            end_fraction: 1.0,
            duration,
            fraction_of_max_step: 1.0,
            substep_count: 1,
            max_iterations,
            can_retry_shorter: false,
        }
    }

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
}

impl FrameProgress {
    /// Start of a frame of a duration in s.
    pub(crate) fn new(duration: f64) -> Self {
        Self { duration, fraction: 0.0, spent_iterations: 0.0, next_estimate: 0 }
    }

    /// Whether the stability limit is to be estimated after a number of accepted steps.
    pub(crate) fn needs_stability_estimate(&mut self, steps: usize) -> bool {
        let is_due = steps >= self.next_estimate;
        if is_due {
            self.next_estimate = steps + ExplicitSteppingParameters::DEFAULT.steps_per_estimate;
        }
        is_due
    }

    /// Charges the iterations of a step to the budget.
    pub(crate) fn charge_iterations(
        &mut self,
        iterations: usize,
        settings: &Settings,
        system: &ConstrainedSystem,
    ) {
        let has_contacts = !system.response.contact_set.detected.is_empty();
        let cost = iterations * iteration_cost(settings.solver, has_contacts);
        self.spent_iterations += cost as f64 * dense_pair_cost_factor(system);
    }

    fn is_budget_exhausted(&self, max_step_size: f64, settings: &Settings) -> bool {
        let steps = (self.duration / max_step_size).max(1.0);
        let full_solves = BUDGET.full_solves_per_max_step * steps;
        self.spent_iterations >= full_solves * max_stage_iterations(settings)
    }
}

/// Step size controller; part of checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepControl {
    /// Preferred size of the next step, in s.
    preferred: f64,
    /// Accepted steps since the step size last changed.
    successes_since_change: u32,
    /// Accepted steps required before the step is lengthened.
    required_successes: u32,
    /// Whether the last change lengthened the step.
    was_lengthened: bool,
    /// Longest stable step of an explicit scheme, in s. It determines the horizon of the next estimate.
    pub(crate) stable: f64,
}

impl StepControl {
    /// Controller at the start of a simulation with steps of a size in s.
    pub(crate) fn new(preferred: f64) -> Self {
        Self {
            preferred,
            successes_since_change: 0,
            required_successes: PARAMETERS.initial_wait,
            was_lengthened: false,
            stable: f64::INFINITY,
        }
    }

    /// Controller of an island that is put together from others: that of the part with the shortest steps.
    pub(crate) fn of_parts<'a>(parts: impl Iterator<Item = &'a Self>) -> Self {
        let shortest = parts.min_by(|one, other| one.preferred.total_cmp(&other.preferred));
        shortest.cloned().unwrap_or_else(|| Self::new(f64::INFINITY))
    }

    /// Follows a change of the longest step, both in s.
    pub(crate) fn change_time_step(&mut self, before: f64, after: f64) {
        self.preferred = if self.preferred >= before { after } else { self.preferred.min(after) };
    }

    /// Records a rejected step. The next one is half as long.
    pub(crate) fn record_rejection(&mut self, interval: StepInterval, reason: RejectionReason) {
        self.preferred = 0.5 * interval.duration;
        if reason.is_convergence_failure() {
            self.require_more_successes();
        }
    }

    fn require_more_successes(&mut self) {
        if self.successes_since_change >= PARAMETERS.max_wait {
            self.required_successes = PARAMETERS.initial_wait;
        } else if self.was_lengthened {
            self.required_successes = (2 * self.required_successes).min(PARAMETERS.max_wait);
        }
        (self.successes_since_change, self.was_lengthened) = (0, false);
    }

    /// Records an accepted step. Returns whether to lengthen the next one, if it is `shortened`.
    fn record_success(&mut self, shortened: bool) -> bool {
        self.successes_since_change = self.successes_since_change.saturating_add(1);
        let is_due = shortened && self.successes_since_change >= self.required_successes;
        if is_due {
            (self.successes_since_change, self.was_lengthened) = (0, true);
        }
        is_due
    }

    /// Next interval of a frame: the preferred step size, adjusted so that equal steps end with the frame. Once the
    /// budget is spent, steps are short, and longer by `cost_factor`, that of an iteration.
    #[allow(clippy::cast_sign_loss, reason = "there is at least one substep")]
    pub(crate) fn next_interval(
        &self,
        frame: &FrameProgress,
        settings: &Settings,
        cost_factor: f64,
    ) -> StepInterval {
        let (done, max_step_size) = (frame.fraction, self.max_step_size(settings));
        let is_exhausted = frame.is_budget_exhausted(max_step_size, settings);
        let step_size = if is_exhausted {
            let fraction = BUDGET.exhausted_step_size_fraction * cost_factor;
            fraction.min(1.0) * max_step_size
        } else {
            self.preferred.min(max_step_size)
        };
        let remaining = frame.duration * (1.0 - done);
        let count = whole_steps(remaining, step_size);
        let duration = remaining / count;
        let longest = frame.duration.min(max_step_size);
        let is_divisible = 0.5 * duration >= PARAMETERS.min_step_size_fraction * longest;
        StepInterval {
            start_fraction: done,
            end_fraction: if count > 1.0 { done + (1.0 - done) / count } else { 1.0 },
            duration,
            fraction_of_max_step: duration / longest,
            substep_count: whole_steps(duration, self.stable) as usize,
            max_iterations: if is_exhausted {
                BUDGET.exhausted_max_iterations
            } else {
                settings.max_iterations
            },
            can_retry_shorter: !is_exhausted && is_divisible,
        }
    }

    /// Longest interval between two detections of contacts, in s.
    pub(crate) fn max_step_size(&self, settings: &Settings) -> f64 {
        if self.stable.is_finite() {
            let interval = ExplicitSteppingParameters::DEFAULT.contact_interval;
            settings.time_step.min(self.stable.max(interval))
        } else {
            settings.time_step
        }
    }

    /// Lengthens or shortens the next step by the number of iterations of this one (Etzmuss 2002, section 3.4.3), and by
    /// the speed at which layers slide on each other, in m/s, over edges of a length in m.
    pub(crate) fn adapt_step_size(
        &mut self,
        interval: StepInterval,
        iterations: f64,
        [slip_speed, edge_length]: [f64; 2],
        settings: &Settings,
    ) {
        let duration = interval.duration;
        let longest = duration / interval.fraction_of_max_step;
        let is_long =
            |duration: f64| duration > (PARAMETERS.long_fraction + STEP_COUNT_ROUNDING) * longest;
        let is_linearised = settings.is_linearised();
        let shrink_above = PARAMETERS.long_shrink_above * max_stage_iterations(settings);
        if !is_linearised && is_long(duration) && iterations > shrink_above {
            self.preferred = settings.shrink_factor * duration;
            return;
        }
        let max_slide = PARAMETERS.max_slide_per_step * edge_length;
        let slides_far = |duration: f64| is_long(duration) && slip_speed * duration > max_slide;
        if slides_far(duration) {
            self.preferred = PARAMETERS.long_fraction * longest;
            return;
        }
        // A squeeze needs many iterations however short the step: only a longer step shows whether it converges as
        // well.
        let is_shortened = self.preferred < settings.time_step;
        let lengthened = (settings.growth_factor * self.preferred).min(settings.time_step);
        let is_easy = is_linearised || iterations <= min_stage_iterations(settings, shrink_above);
        let may_lengthen =
            !is_shortened || (is_easy || !is_long(lengthened)) && !slides_far(lengthened);
        if may_lengthen && self.record_success(is_shortened) {
            self.preferred = lengthened;
        }
    }
}

/// Number of equal steps of a duration, none longer than a size, both in s.
fn whole_steps(duration: f64, size: f64) -> f64 {
    (duration / size - STEP_COUNT_ROUNDING).ceil().max(1.0)
}

/// Cost factor of an iteration with many candidate pairs, filtered ones included.
pub(crate) fn dense_pair_cost_factor(system: &ConstrainedSystem) -> f64 {
    let reference = BUDGET.reference_pairs_per_vertex * system.dynamics.vertex_count() as f64;
    (system.response.candidates.near_pair_count() as f64 / reference).max(1.0)
}

/// Cost of an iteration. Without contact it is free: Newton's method always converges for steps that are short enough.
/// The fixed-point iteration may not, and during contact its updates cost as much as Newton iterations.
fn iteration_cost(solver: Solver, has_contacts: bool) -> usize {
    match (solver, has_contacts) {
        (Solver::FixedPoint, true) => FixedPointParameters::DEFAULT.updates_per_iteration,
        (Solver::FixedPoint, false) | (_, true) => 1,
        (_, false) => 0,
    }
}

/// Iteration limit of a stage.
fn max_stage_iterations(settings: &Settings) -> f64 {
    let iterations = settings.max_iterations as f64;
    match settings.solver {
        Solver::FixedPoint => {
            FixedPointParameters::DEFAULT.updates_per_iteration as f64 * iterations
        }
        _ => iterations,
    }
}

/// Iterations of a stage up to which a shortened step grows again, given those above which a long one shrinks.
fn min_stage_iterations(settings: &Settings, shrink_above: f64) -> f64 {
    let Settings { min_iterations, max_iterations, .. } = *settings;
    if min_iterations == 0 {
        return 0.5 * shrink_above;
    }
    max_stage_iterations(settings) * min_iterations as f64 / max_iterations as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings { time_step: 0.01, ..Settings::default() }
    }

    /// Durations of the steps of a frame in s, without rejections.
    fn steps(control: &StepControl, duration: f64) -> Vec<StepInterval> {
        let (mut frame, mut found) = (FrameProgress::new(duration), Vec::new());
        while frame.fraction < 1.0 {
            found.push(control.next_interval(&frame, &settings(), 1.0));
            frame.fraction = found.last().unwrap().end_fraction;
        }
        found
    }

    #[test]
    fn equal_steps_end_with_the_frame() {
        let mut control = StepControl::new(0.01);
        for (duration, count) in [(0.025, 3_u8), (0.03, 3), (0.004, 1), (0.0101, 2)] {
            let found = steps(&control, duration);
            let wanted = duration / f64::from(count);
            assert_eq!(found.len(), usize::from(count));
            assert!(found.iter().all(|step| (step.duration - wanted).abs() < 1e-15));
        }
        let whole = StepInterval::whole_frame(0.01, 30);
        control.record_rejection(whole, RejectionReason::TruncatedDisplacement);
        assert_eq!(steps(&control, 0.01).len(), 2);
    }

    #[test]
    fn a_step_is_halved_until_it_is_the_shortest_or_the_budget_is_spent() {
        let mut control = StepControl::new(0.01);
        let mut frame = FrameProgress::new(0.01);
        let mut attempts = vec![control.next_interval(&frame, &settings(), 1.0)];
        while attempts.last().unwrap().can_retry_shorter {
            let rejected = *attempts.last().unwrap();
            control.record_rejection(rejected, RejectionReason::NotFinite);
            attempts.push(control.next_interval(&frame, &settings(), 1.0));
        }
        assert_eq!(attempts.len(), 9);
        assert!((attempts[8].duration - 0.01 / 256.0).abs() < 1e-15);
        frame.spent_iterations = 1.0e9;
        let spent = StepControl::new(0.01).next_interval(&frame, &settings(), 1.0);
        assert!(
            !spent.can_retry_shorter && spent.max_iterations == BUDGET.exhausted_max_iterations
        );
        assert!((spent.fraction_of_max_step - BUDGET.exhausted_step_size_fraction).abs() < 1e-12);
    }

    #[test]
    fn many_iterations_and_fast_sliding_shorten_the_next_step_and_easy_steps_lengthen_it() {
        let (settings, whole) = (settings(), StepInterval::whole_frame(0.01, 30));
        let most = settings.max_iterations as f64;
        let adapted = |iterations: f64, slip: [f64; 2]| {
            let mut control = StepControl::new(0.01);
            control.adapt_step_size(whole, iterations, slip, &settings);
            control.preferred
        };
        let still = [0.0, 0.02];
        assert_eq!(adapted(0.25 * most, still).to_bits(), 0.01_f64.to_bits());
        assert!((adapted(0.35 * most, still) - settings.shrink_factor * 0.01).abs() < 1e-15);
        // Half an edge of 20 mm in 10 ms.
        assert_eq!(adapted(0.0, [0.99, 0.02]).to_bits(), 0.01_f64.to_bits());
        assert!((adapted(0.0, [1.01, 0.02]) - 0.005).abs() < 1e-15);
        let mut control = StepControl::new(0.01);
        control.record_rejection(whole, RejectionReason::Stagnation);
        let half = StepInterval { duration: 0.005, fraction_of_max_step: 0.5, ..whole };
        let sizes = [(); 2].map(|()| {
            control.adapt_step_size(half, 1.0, still, &settings);
            control.preferred
        });
        assert!((sizes[0] - 0.005).abs() < 1e-15 && (sizes[1] - 0.01).abs() < 1e-15, "{sizes:?}");
    }

    #[test]
    fn explicit_schemes_take_stable_substeps_between_two_detections_of_contacts() {
        let mut control = StepControl::new(0.01);
        control.stable = 0.003;
        let found = steps(&control, 0.009);
        assert_eq!(found.iter().map(|step| step.substep_count).collect::<Vec<_>>(), [1; 3]);
        control.stable = 1.0e-4;
        let first = steps(&control, 0.009)[0];
        let interval = ExplicitSteppingParameters::DEFAULT.contact_interval;
        assert!((first.duration - interval).abs() < 1e-12 && first.substep_count == 5);
    }

    /// Steps longer than one half are rejected.
    #[test]
    fn a_step_size_that_is_too_long_is_rejected_once_in_forty_steps() {
        let (mut control, mut step, mut rejections) = (StepControl::new(1.0), 1.0, Vec::new());
        for attempt in 0..1000 {
            if step > 0.5 {
                rejections.push(attempt);
                control.require_more_successes();
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
