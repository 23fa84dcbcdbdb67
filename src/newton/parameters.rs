// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameters of Newton's method that its files share.

/// Parameters of Newton's method.
pub(crate) struct NewtonParameters {
    /// Iterations at the start of every cycle in which contact normals are updated. Effect: larger lets contacts at
    /// edges chatter; smaller uses outdated normals. Evidence: `sheet/ball16_solve` and `sheet/self16_solve` (8: 14.8
    /// mm and 19.4 mm instead of 16.9 mm and 23.9 mm from the reference).
    pub(crate) normal_updates: usize,
    /// Iterations of a cycle; normals are frozen in the others, so that the method converges. Effect: larger uses
    /// outdated normals; smaller lets contacts at edges chatter. Evidence: `sheet/ball16_solve` and
    /// `sheet/self16_solve` (no further updates: 13.8 mm and 19.0 mm instead of 16.9 mm and 23.9 mm from the
    /// reference).
    pub(crate) normal_update_cycle: usize,
    /// Iterations without a shorter Newton step after which a stage in contact counts as stagnant. Effect: larger costs
    /// iterations in hopeless contact; smaller gives up on slow convergence. Evidence: none: no test or figure depends
    /// on it (no limit tried; bits of `sheet/self16_solve`, at 6 % more iterations, change).
    pub(crate) stagnation_iterations: usize,
    /// Times that contacts are stiffened in a stage whose displacements would intersect. Effect: larger costs
    /// iterations; smaller truncates more displacements. Evidence: `hostile/pins_cross_each_other` (0: one pair
    /// penetrates; no limit costs 14 % iterations).
    pub(crate) max_stiffenings_per_stage: usize,
    /// Contraction ‖dₖ‖ ≤ c‖dₖ₋₁‖ at which the last Newton step is accepted without evaluating its residuals. Bounded
    /// forces, as those of seams, do not contract like this. Effect: larger accepts steps with more residual; smaller
    /// evaluates more. Evidence: `test_a_bounded_force_holds_the_weight_that_it_can_and_no_more` (without it a seam stays
    /// 2.6 mm open).
    pub(crate) contraction: f64,
}

impl NewtonParameters {
    pub(crate) const DEFAULT: Self = Self {
        normal_updates: 3,
        normal_update_cycle: 8,
        stagnation_iterations: 10,
        max_stiffenings_per_stage: 6,
        contraction: 0.5,
    };
}
