// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nonmonotone backtracking line search along a Newton step (Grippo, Lampariello and Lucidi 1986), with contacts
//! detected anew at the trial point.

use super::{NewtonSolve, convergence::PredictedDecrease, objective::Potential};
use crate::collision::Contact;

/// Parameters of the line search.
struct LineSearchParameters {
    /// Potentials of past iterates whose maximum a trial point is compared with: the second-order stretch of a rotation
    /// may raise the potential for one iteration. Effect: larger accepts more increases; smaller halves steps of
    /// rotating cloth. Evidence: `sheet/ball16_solve` and hostile scenes (1 saves 15 % iterations and six rejected
    /// steps).
    nonmonotone_window: usize,
    /// Decrease that a trial point must reach (fraction of the decrease predicted by the slope; Armijo's condition).
    /// Effect: larger halves more steps; smaller accepts less progress. Evidence:
    /// `factors_that_are_everywhere_alike_are_another_fabric` (without the condition a solve goes round for ever).
    sufficient_decrease: f64,
    /// Halvings after which a trial point is accepted as it is. Effect: larger costs evaluations; smaller accepts more
    /// increases of the potential. Evidence:
    /// `time_integration::conservation::free_fall_is_exact_for_bdf2_whatever_the_steps` (fails without a line search).
    max_halvings: usize,
    /// Halvings after which a trial point is accepted whatever the potential of its new contacts. Effect: larger costs
    /// contact detections; smaller accepts deeper contacts. Evidence: none: no test or figure depends on it (0 tried;
    /// bits of contact scenes change).
    max_halvings_new_contacts: usize,
    /// Increase that counts as rounding error (fraction of the potential). Effect: larger accepts small increases;
    /// smaller halves steps at convergence. Evidence: none: neither tests nor scenes depend on it (0 tried).
    potential_rounding: f64,
}

impl LineSearchParameters {
    const DEFAULT: Self = Self {
        nonmonotone_window: 3,
        sufficient_decrease: 1.0e-4,
        max_halvings: 8,
        max_halvings_new_contacts: 3,
        potential_rounding: 1.0e-12,
    };
}

const PARAMETERS: LineSearchParameters = LineSearchParameters::DEFAULT;

impl NewtonSolve<'_, '_> {
    /// Takes the Newton step as far as the line search allows, and accepts the contacts at its end. Returns the
    /// increase of the potential in J; `None` if the potential is not finite.
    pub(crate) fn take_newton_step(&mut self, predicted: &PredictedDecrease) -> Option<f64> {
        // Past potentials are compared with the new multipliers of active constraints.
        self.set_contact_potential(predicted.contact_potential);
        let (potential, contacts) = self.line_search(predicted.slope);
        if !potential.total().is_finite() {
            return None;
        }
        // Elements that rotate may raise the potential, which the next iterations must make up for.
        let increase = self.recent_potentials.last().map_or(0.0, |last| potential.total() - last);
        let without_contacts = increase - (potential.contact - self.newton.contact_potential);
        let increase = increase.min(without_contacts).max(0.0);
        self.recent_potentials.push(potential.total());
        if self.recent_potentials.len() > PARAMETERS.nonmonotone_window {
            self.recent_potentials.remove(0);
        }
        self.newton.contact_potential = potential.contact;
        self.accept_contacts(contacts);
        Some(increase)
    }

    /// Moves to the first trial point that satisfies the conditions of the line search. Returns the potential there
    /// with the present contacts, and the contacts detected there; the residuals are those there.
    fn line_search(&mut self, slope: f64) -> (Potential, Vec<Contact>) {
        let reference = self.recent_potentials.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut step_length = 1.0;
        let mut halvings = 0;
        loop {
            let potential = self.evaluate_trial_point(step_length);
            let allowed = reference
                + PARAMETERS.sufficient_decrease * step_length * slope
                + PARAMETERS.potential_rounding * reference.abs();
            if potential.total() <= allowed || halvings == PARAMETERS.max_halvings {
                let contacts = self.detect_contacts_at_trial_point();
                // New contacts may cost as much as the step was predicted to gain, but no more.
                let response = &*self.objective.response;
                let trial_point = response.contact_positions(&self.newton.trial_point);
                let change =
                    response.contact_set.active_set_potential_change(&contacts, trial_point);
                if potential.total() + change <= reference - step_length * slope
                    || halvings >= PARAMETERS.max_halvings_new_contacts
                {
                    self.positions.copy_from_slice(&self.newton.trial_point);
                    return (potential, contacts);
                }
            }
            step_length *= 0.5;
            halvings += 1;
        }
    }

    /// Evaluates the objective and its residuals at a fraction of the Newton step.
    fn evaluate_trial_point(&mut self, step_length: f64) -> Potential {
        let newton = &mut *self.newton;
        newton.system.set_trial_point(self.positions, step_length, &mut newton.trial_point);
        self.objective.evaluate(&newton.trial_point, &mut newton.residuals, self.report)
    }
}
