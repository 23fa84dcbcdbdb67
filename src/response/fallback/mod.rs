// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fallback of a step whose trajectories still collide: displacements are truncated, and prescribed
//! motion is distributed over the cloth around it.

mod distribution;
#[cfg(test)]
mod tests;
mod truncation;

pub(super) use truncation::Truncation;
pub(crate) use truncation::TruncationResult;

/// Parameters of the displacement truncation.
struct TruncationParameters {
    /// Halvings of a displacement after which its vertex is frozen, or follows the feature that
    /// pushes it. Effect: larger takes more rounds; smaller freezes vertices that a short
    /// displacement would have kept in motion. Evidence: none; at 0 no figure of the hostile suite
    /// changes.
    max_halvings: u8,
    /// Bound of the rounds of halving and distribution. Effect: larger takes longer where no gap
    /// remains; smaller leaves violating pairs. Evidence: hostile scenes `pin_goes_through_a_ball`
    /// (does not end without a bound), `plates_close_and_open` (196 vertices on the wrong side at
    /// 1).
    max_rounds: usize,
    /// Factor on the conductance of a pair that violates its gap again (1). Effect: larger makes the
    /// system ill-conditioned; smaller takes more rounds. Evidence: none; at 1 no figure of the
    /// hostile suite changes.
    conductance_growth: f64,
    /// Stiffness that binds a vertex to its initial displacement (largest initial conductance of its
    /// pairs). Effect: larger distributes less; smaller moves vertices of small weight far to
    /// compensate for others. Evidence: none; at 1e-12 no figure of the hostile suite changes.
    regularization: f64,
    /// Bound of the conjugate gradient iterations. Effect: speed, and accuracy of ill-conditioned
    /// systems. Evidence: none; at 10 and without a bound the hostile suite keeps its bits.
    max_iterations: usize,
    /// Squared preconditioned residual at which conjugate gradients stop (initial value). Effect:
    /// larger leaves unequal gaps; smaller takes more iterations. Evidence:
    /// `layers_share_the_remaining_gap` covers the result; at 1e-6 no figure of the hostile suite
    /// changes.
    relative_tolerance: f64,
    /// Bound of a distributed displacement (longest prescribed displacement). Effect: larger throws
    /// vertices away by levers; smaller lets layers be overrun. Evidence:
    /// `small_weights_do_not_amplify_displacements`; no scene of the hostile suite fails without a
    /// bound.
    max_amplification: f64,
}

impl TruncationParameters {
    const DEFAULT: Self = Self {
        max_halvings: 3,
        max_rounds: 32,
        conductance_growth: 4.0,
        regularization: 0.01,
        max_iterations: 200,
        relative_tolerance: 1.0e-16,
        max_amplification: 4.0,
    };
}

const TRUNCATION: TruncationParameters = TruncationParameters::DEFAULT;
