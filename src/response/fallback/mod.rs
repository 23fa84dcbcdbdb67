// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fallback of a step whose trajectories still collide: displacements are truncated, and prescribed
//! motion is distributed over the cloth around it.

mod distribution;
mod truncation;
pub(crate) use truncation::TruncationResult;

/// Parameters of the displacement truncation.
struct TruncationParameters {
    /// Halvings of a displacement after which its vertex is frozen, or follows what pushes it.
    /// Effect: larger takes more rounds; smaller freezes vertices that a short displacement would
    /// have kept in motion. Evidence: none.
    max_halvings: u8,
    /// Bound of the rounds of halving and distribution. Effect: larger takes longer where nothing
    /// remains to be done; smaller leaves violating pairs. Evidence: none.
    max_rounds: usize,
    /// Factor on the conductance of a pair that violates its gap again (1). Effect: larger makes the
    /// system ill-conditioned; smaller takes more rounds. Evidence: none.
    conductance_growth: f64,
    /// Stiffness that binds a vertex to its initial displacement (largest initial conductance of its
    /// pairs). Effect: larger distributes less; smaller moves vertices of small weight far to
    /// compensate for others. Evidence: none.
    regularization: f64,
    /// Bound of the conjugate gradient iterations. Effect: speed, and accuracy of ill-conditioned
    /// systems. Evidence: none.
    max_iterations: usize,
    /// Squared preconditioned residual at which conjugate gradients stop (initial value). Effect:
    /// larger leaves unequal gaps; smaller takes more iterations. Evidence:
    /// `layers_share_the_remaining_gap` covers the result.
    relative_tolerance: f64,
    /// Bound of a distributed displacement (longest prescribed displacement). Effect: larger throws
    /// vertices away by levers; smaller lets layers be overrun. Evidence:
    /// `small_weights_do_not_amplify_displacements`.
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
