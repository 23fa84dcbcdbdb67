// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fixed-point iteration of Etzmuss 2002, section 3.4.3: the step of a scheme with one solve, over and over with the
//! forces that it has led to, until it is that of the implicit scheme. It is Newton's method with a constant matrix.
//!
//! It contracts slowly where forces are weak that the matrix takes for strong, as those across a stiff sheet: the
//! slower the larger h²k/(ρl²). Anderson's acceleration (`anderson`) helps, shorter steps help more.
//!
//! **When it ends.** A short update does not mean a small error: an iteration that contracts by the factor L is off
//! by its last update over 1 − L. L is measured as the worst that any of the remembered updates has shown, and an
//! iteration with L ≥ 1 has not converged whatever its last update was.

use super::{
    Report,
    anderson::Anderson,
    constant_matrix::ConstantMatrix,
    equations::number,
    newton::{Accuracy, Newton, Problem, Solved},
    quadratic::{Metric, Quadratic},
};
use crate::Vec3;

/// Updates allowed for every correction that Newton's method is allowed: they are as much cheaper.
pub(super) const UPDATES: usize = 4;
/// The linear equations are solved to this part of the tolerance.
const INNER: f64 = 0.1;

/// Solves a stage from the start `positions`, which become its solution.
pub(super) fn solve(
    (newton, problem): (&mut Newton, &mut Problem<'_>),
    (matrix, revision): (&ConstantMatrix, u64),
    positions: &mut [Vec3],
    accuracy: Accuracy,
    report: &mut Report,
) -> Solved {
    let stage = problem.stage;
    let mass: f64 = problem.dynamics.masses.iter().sum();
    let inner = Accuracy {
        correction: INNER * accuracy.correction,
        touching: INNER * accuracy.touching,
        ..accuracy
    };
    let mut solved = Solved { iterations: 0, correction: f64::INFINITY, converged: false };
    let mut residuals = vec![Vec3::zeros(); positions.len()];
    let mut anderson = Anderson::default();
    problem.lead(positions);
    while solved.iterations < UPDATES * accuracy.max_iterations {
        let point = positions.to_vec();
        let potential = problem.dynamics.evaluate(stage, &point, &mut residuals, report);
        if !potential.is_finite() {
            return solved;
        }
        let around = (point.as_slice(), residuals.as_slice());
        let masses = &problem.dynamics.masses;
        let mut quadratic = Quadratic::new(Metric::Constant(matrix), stage, masses, around);
        quadratic.number = number(stage, revision);
        let linear = newton.solve(&mut problem.with(&quadratic), positions, inner, report);
        let contraction = anderson.remember(&point, positions, |field| quadratic.times(field));
        let length = stage.beta * (anderson.last_square() / mass).sqrt();
        solved.iterations += 1;
        solved.correction =
            if contraction < 1.0 { length / (1.0 - contraction) } else { f64::INFINITY };
        let touches = !problem.response.contacts().is_empty();
        let wanted = if touches { accuracy.touching } else { accuracy.correction };
        if solved.correction <= wanted && linear.converged {
            solved.converged = true;
            return solved;
        }
        if solved.iterations < UPDATES * accuracy.max_iterations {
            anderson.mix(positions);
        }
    }
    solved
}
