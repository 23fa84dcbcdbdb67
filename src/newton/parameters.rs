// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameters of Newton's method that its files share.

/// Parameters of Newton's method.
pub(crate) struct NewtonParameters {
    /// Iterations in which contacts get the normals of the iterate; from then on they keep them, because at edges of a
    /// mesh contacts may chatter for ever. Effect: larger costs iterations in chattering contact; smaller presses what
    /// slides round a solid where it has been. Evidence: a strip over a smooth peg (3, and three after every fifth: 11 %
    /// off instead of 9 %; 3 alone: 74 %), a sheet of 2 500 vertices on a ball (3, and three after every fifth: 17 % more
    /// Newton iterations; no limit: 4 % fewer); `a_vertex_in_a_corner_keeps_its_distance_from_both_walls` (no limit: does not converge).
    pub(crate) normal_updates: usize,
    /// Iterations without a shorter Newton step after which a stage in contact counts as stagnant. Effect: larger costs
    /// iterations in hopeless contact; smaller gives up on slow convergence. Evidence: none: no test or figure depends
    /// on it (no limit tried; bits of `sheet/self16_solve`, at 6 % more iterations, change).
    pub(crate) stagnation_iterations: usize,
    /// Times that contacts are stiffened in a stage whose displacements would intersect. Effect: larger costs
    /// iterations; smaller truncates more displacements. Evidence: `hostile/pins_cross_each_other` (0: one pair
    /// penetrates; no limit costs 14 % iterations).
    pub(crate) max_stiffenings_per_stage: usize,
    /// Upper bound of conjugate gradient iterations. Effect: larger lets an ill-conditioned system take longer; smaller
    /// ends it earlier. Evidence: none: neither tests nor scenes depend on it (1000, 4000 and no limit tried).
    pub(crate) max_linear_iterations: usize,
    /// Contraction ‖dₖ‖ ≤ c‖dₖ₋₁‖ at which the last Newton step is accepted without evaluating its residuals. Bounded
    /// forces, as those of seams, do not contract like this. Effect: larger accepts steps with more residual; smaller
    /// evaluates more. Evidence: `test_a_bounded_force_holds_the_weight_that_it_can_and_no_more` (without it a seam stays
    /// 2.6 mm open).
    pub(crate) contraction: f64,
}

impl NewtonParameters {
    pub(crate) const DEFAULT: Self = Self {
        normal_updates: 12,
        stagnation_iterations: 10,
        max_stiffenings_per_stage: 6,
        max_linear_iterations: 2000,
        contraction: 0.5,
    };
}
