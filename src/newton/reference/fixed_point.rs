// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fixed-point iteration of Etzmuss 2002, section 3.4.3: the step of a scheme with one solve, over and over with the
//! forces that it has led to, until it is that of the implicit scheme. It is Newton's method with a constant matrix.
//!
//! It contracts slowly where forces are weak that the matrix takes for strong, as those across a stiff sheet: the
//! slower the larger h²k/(ρl²). Anderson's acceleration (`anderson`) helps, shorter steps help more.
//!
//! **When it ends.** A short update does not mean a small error: where the iteration hardly contracts, the error is many
//! times the last update. What is left of the forces at the end, R, means an error of at most √⟨R, β²M⁻¹R⟩ in the norm that
//! Newton's corrections are measured in, because the tangent is no less than M/β²; that has to be within the
//! tolerance. Contacts enter R by the balance that the linear equations have found for them.

use super::anderson::AndersonAcceleration;
use crate::{
    Vec3,
    newton::{
        Newton,
        convergence::{ConvergenceCriteria, EnergyNorm, SolveOutcome, largest_displacement},
        objective::Objective,
        quadratic_model::constant_quadratic_model,
    },
    scene::{RejectionReason, Report},
    system::{ConstantStiffness, EquationsOfMotion},
    time_integration::Stage,
};

/// Updates allowed for every correction that Newton's method is allowed: they are as much cheaper.
pub(crate) const UPDATES: usize = 4;
/// The part of the tolerance that it is solved to. The last of Newton's corrections leaves the square of an error, an
/// update most of it, and at the tolerance itself the errors of all steps would add up to something to see.
const STRICT: f64 = 0.1;
/// The linear equations are solved to this part of that,
const INNER: f64 = 0.1;
/// but not finer than to this part of the last update.
const ENOUGH: f64 = 0.1;

/// Solves a stage from the start `positions`, which become its solution.
pub(crate) fn solve(
    (newton, problem): (&mut Newton, &mut Objective<'_>),
    constant: (&ConstantStiffness, u64),
    positions: &mut [Vec3],
    accuracy: ConvergenceCriteria,
    report: &mut Report,
) -> SolveOutcome {
    let stage = problem.stage;
    let accuracy = accuracy.scaled(STRICT);
    let inner = accuracy.scaled(INNER);
    let mut solved = SolveOutcome::UNSOLVED;
    let mut residuals = vec![Vec3::zeros(); positions.len()];
    let (mut first, mut last, mut touches) = (0.0, 0.0, false);
    let mut anderson = AndersonAcceleration::default();
    let before = report.newton_iterations;
    problem.apply_prescribed_displacements(positions);
    while solved.iterations < UPDATES * accuracy.max_iterations {
        let point = positions.to_vec();
        let potential = problem.dynamics.evaluate(stage, &point, &mut residuals, report);
        if !potential.is_finite() {
            solved.unmet = Some(RejectionReason::NotFinite);
            return solved;
        }
        let quadratic = constant_quadratic_model(problem, constant, (&point, &residuals));
        // Contacts are met anew in every update, and settling them inside of one is lost on the next.
        let is_rough = last > accuracy.quadratic_threshold(solved.iterations, first, (true, true));
        let mut needed = inner.with_min_threshold(ENOUGH * last);
        if is_rough && touches {
            needed.max_iterations = 1;
        }
        let linear =
            newton.solve(&mut problem.with_quadratic_model(&quadratic), positions, needed, report);
        anderson.record(&point, positions, |field| quadratic.hessian_product(field));
        solved.iterations += 1;
        // What counts is updates, not the corrections inside of them.
        report.newton_iterations = before + solved.iterations;
        let squares = anderson.last_squared_norms(&problem.dynamics.mesh.cloth_starts);
        solved.step_length = largest_displacement(
            &EnergyNorm::new(problem.dynamics, stage).equivalent_displacements(&squares),
        );
        last = solved.step_length;
        touches = !problem.response.contacts().is_empty();
        if solved.iterations == 1 {
            first = solved.step_length;
        }
        let wanted = accuracy.quadratic_threshold(solved.iterations, first, (touches, true));
        solved.is_collision_free = linear.is_collision_free;
        solved.unmet = unmet(solved.step_length <= wanted, &linear);
        if solved.converged() {
            let contacts = touches.then_some((&anderson, residuals.as_slice()));
            let error = error_bound(problem, positions, contacts, report);
            solved.step_length = solved.step_length.max(error);
            if solved.step_length <= wanted {
                return solved;
            }
            solved.unmet = Some(RejectionReason::ForceResidual);
        }
        if solved.iterations < UPDATES * accuracy.max_iterations {
            solved.is_collision_free = false;
            anderson.mix(positions);
        }
    }
    solved
}

/// The criterion that an update leaves unmet, before its residual forces are known, with the result of its linear equations.
fn unmet(is_short: bool, linear: &SolveOutcome) -> Option<RejectionReason> {
    let is_long = (!is_short).then_some(RejectionReason::NewtonStep);
    let crosses = (!linear.is_collision_free).then_some(RejectionReason::Penetration);
    is_long.or(linear.unmet).or(crosses)
}

/// The largest error that what is left of the forces at `positions` may mean, in m as in [`Accuracy`]. The balance of
/// contacts is that of the last update and of the forces where it began, in N.
fn error_bound(
    problem: &mut Objective<'_>,
    positions: &[Vec3],
    contacts: Option<(&AndersonAcceleration, &[Vec3])>,
    report: &mut Report,
) -> f64 {
    let mut left = vec![Vec3::zeros(); positions.len()];
    problem.dynamics.evaluate(problem.stage, positions, &mut left, report);
    if let Some((anderson, forces_at_point)) = contacts {
        anderson.add_contact_forces(forces_at_point, &mut left);
    }
    for guide in problem.prescribed_displacements {
        left[guide.vertex] = guide.free_projector * left[guide.vertex];
    }
    let EquationsOfMotion { masses, mesh, .. } = &*problem.dynamics;
    let Stage { beta, extrapolation_factor: reach, .. } = *problem.stage;
    // R, β²M⁻¹R of a cloth.
    let square = |ends: &[usize]| {
        let own = left[ends[0]..ends[1]].iter().zip(&masses[ends[0]..ends[1]]);
        let squares = own.map(|(force, mass)| force.norm_squared() / mass);
        reach * beta * beta * squares.sum::<f64>()
    };
    let squares: Vec<f64> = mesh.cloth_starts.windows(2).map(square).collect();
    largest_displacement(
        &EnergyNorm::new(problem.dynamics, problem.stage).equivalent_displacements(&squares),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_criterion_that_an_update_violates_is_named() {
        let solved =
            SolveOutcome { unmet: None, is_collision_free: true, ..SolveOutcome::UNSOLVED };
        assert_eq!(unmet(true, &solved), None);
        assert_eq!(unmet(false, &solved), Some(RejectionReason::NewtonStep));
        let crossing = SolveOutcome { is_collision_free: false, ..solved };
        assert_eq!(unmet(true, &crossing), Some(RejectionReason::Penetration));
        let stagnant = SolveOutcome { unmet: Some(RejectionReason::Stagnation), ..crossing };
        assert_eq!(unmet(true, &stagnant), Some(RejectionReason::Stagnation));
    }
}
