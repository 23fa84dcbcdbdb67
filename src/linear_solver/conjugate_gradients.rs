// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conjugate gradients with constraints filtered inside.
//!
//! Etzmuss 2002, algorithm 7, and Baraff and Witkin 1998, section 5.3, with the corrections of Ascher and Boxerman, "On
//! the modified conjugate gradient method in cloth simulation" (2003): the initial solution contains the prescribed
//! components, and the stopping criterion is on the filtered residual.

use super::{
    block_matrix::BlockMatrix, filter::Filter, preconditioner::Preconditioner,
    rank_one_term::RankOneTerm,
};
use crate::{
    parallel::reductions,
    simd::{Row3, dot},
};
use rayon::prelude::*;

/// Work vectors of a solve, reused by the next.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    residual: Vec<Row3>,
    direction: Vec<Row3>,
    /// Product of the matrix and the direction.
    image: Vec<Row3>,
    preconditioned: Vec<Row3>,
}

/// Result of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveOutcome {
    /// Iterations taken.
    pub iterations: usize,
    /// Preconditioned norm of the filtered residual, relative to its start.
    pub residual: f64,
    /// Whether the solve ended early at a direction of negative or vanishing curvature.
    pub indefinite: bool,
}

/// Stopping criterion of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppingCriterion {
    /// Ratio of the residual to the initial one, in the norm of the preconditioner's inverse, at which the solve ends.
    pub relative_tolerance: f64,
    /// Upper bound of the iterations.
    pub max_iterations: usize,
}

/// Heuristic parameters of the conjugate gradients.
struct ConjugateGradientsParameters {
    /// Ratio of the residual to the initial one at which every solve ends: the rounding error of single precision.
    /// Effect: larger ends solves of tight tolerances early; smaller iterates on noise. Evidence: none: rounding.
    rounding: f64,
}

impl ConjugateGradientsParameters {
    const DEFAULT: Self = Self { rounding: 1.0e-6 };
}

/// A linear system with constraints: S A S d = S b.
pub struct FilteredSystem<'a> {
    /// S A S + (I − S)δ: see [`Filter::apply_to`].
    pub matrix: &'a BlockMatrix,
    /// S b.
    pub right_side: &'a [Row3],
    /// Terms that are added to the matrix.
    pub rank_one_terms: &'a [RankOneTerm],
    /// S.
    pub filter: &'a Filter,
}

#[cfg(test)]
impl<'a> FilteredSystem<'a> {
    /// System of a matrix alone.
    pub(super) fn assembled(
        matrix: &'a BlockMatrix,
        right_side: &'a [Row3],
        filter: &'a Filter,
    ) -> Self {
        Self { matrix, right_side, rank_one_terms: &[], filter }
    }
}

impl FilteredSystem<'_> {
    /// Writes the product of the matrix and the search direction to the workspace.
    fn multiply(&self, workspace: &mut Workspace) {
        let Workspace { direction, image, .. } = workspace;
        self.matrix.times(direction, image);
        for term in self.rank_one_terms {
            term.add_product(direction, image);
        }
        self.filter.apply(image);
    }

    /// Writes the preconditioned residual to the workspace.
    fn precondition(&self, preconditioner: &mut dyn Preconditioner, workspace: &mut Workspace) {
        let Workspace { residual, preconditioned, .. } = workspace;
        preconditioner.apply(self.matrix, residual, preconditioned);
        self.filter.apply(preconditioned);
    }
}

/// Solves S A S d = S b for the free components of `solution`, which has to be 0 at the start.
///
/// The residual is measured in the norm of the preconditioner's inverse. The preconditioner may change a little from one
/// iteration to the next: directions are made conjugate by the product itself (Notay, "Flexible conjugate gradients",
/// 2000).
pub fn conjugate_gradients(
    system: FilteredSystem<'_>,
    preconditioner: &mut dyn Preconditioner,
    stopping: StoppingCriterion,
    workspace: &mut Workspace,
    solution: &mut [Row3],
) -> SolveOutcome {
    workspace.reset(system.right_side);
    system.precondition(preconditioner, workspace);
    workspace.direction.copy_from_slice(&workspace.preconditioned);
    let start = dot(&workspace.residual, &workspace.preconditioned);
    let mut progress = Progress { start, current: start, iterations: 0 };
    let mut indefinite = !start.is_finite() || start < 0.0;
    while !indefinite && !stopping.is_met(&progress) {
        system.multiply(workspace);
        let curvature = dot(&workspace.direction, &workspace.image);
        if curvature.is_nan() || curvature <= 0.0 {
            indefinite = true;
            break;
        }
        let alpha = progress.current / curvature;
        workspace.update_residual(alpha as f32);
        system.precondition(preconditioner, workspace);
        let next = dot(&workspace.residual, &workspace.preconditioned);
        let beta = -dot(&workspace.preconditioned, &workspace.image) / curvature;
        workspace.update_solution(alpha as f32, beta as f32, solution);
        progress.current = next;
        progress.iterations += 1;
    }
    let Progress { current, iterations, .. } = progress;
    let residual = if start > 0.0 { (current / start).max(0.0).sqrt() } else { 0.0 };
    SolveOutcome { iterations, residual, indefinite }
}

/// Progress of a solve.
struct Progress {
    /// Square of the norm of the residual at the start, in J.
    start: f64,
    /// Square of the norm of the present residual, in J.
    current: f64,
    iterations: usize,
}

impl StoppingCriterion {
    fn is_met(&self, progress: &Progress) -> bool {
        let Progress { start, current, iterations } = *progress;
        let rounding = ConjugateGradientsParameters::DEFAULT.rounding;
        let tolerance = self.relative_tolerance.max(rounding);
        iterations >= self.max_iterations || current <= tolerance * tolerance * start
    }
}

impl Workspace {
    fn reset(&mut self, right_side: &[Row3]) {
        let count = right_side.len();
        self.residual.clear();
        self.residual.extend_from_slice(right_side);
        let Self { direction, image, preconditioned, .. } = self;
        for vector in [direction, image, preconditioned] {
            vector.resize(count, [0.0; 4]);
        }
    }

    /// r ← r − α A p.
    fn update_residual(&mut self, alpha: f32) {
        let vectors = (&mut self.residual, &self.image);
        vectors.into_par_iter().with_min_len(reductions::MIN_LIGHT_VERTICES_PER_TASK).for_each(
            |(residual, image)| {
                for k in 0..4 {
                    residual[k] -= alpha * image[k];
                }
            },
        );
    }

    /// x ← x + α p, then p ← z + β p with the preconditioned residual z.
    fn update_solution(&mut self, alpha: f32, beta: f32, solution: &mut [Row3]) {
        let Self { direction, preconditioned, .. } = self;
        let vectors = (solution, direction, &*preconditioned);
        vectors.into_par_iter().with_min_len(reductions::MIN_LIGHT_VERTICES_PER_TASK).for_each(
            |(solution, direction, preconditioned)| {
                for k in 0..4 {
                    solution[k] += alpha * direction[k];
                    direction[k] = preconditioned[k] + beta * direction[k];
                }
            },
        );
    }
}
