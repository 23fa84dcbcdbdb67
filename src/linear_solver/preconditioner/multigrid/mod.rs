// SPDX-License-Identifier: MIT OR Apache-2.0
//! Multigrid by smoothed aggregation, for any mesh.
//!
//! Vertices are gathered into aggregates along the edges of the mesh, the aggregates into larger ones, and so on. The
//! prolongation from the aggregates is smoothed with one step of averaging over the mesh (after Vaněk, Mandel and
//! Brezina, "Algebraic multigrid by smoothed aggregation", 1996), which on a regular mesh makes it linear
//! interpolation. It depends on the mesh alone and is built once; only the Galerkin products PᵀAP are updated with the
//! matrix. One V-cycle with a forward Gauss-Seidel sweep as pre-smoother and a backward one as post-smoother is
//! symmetric and positive definite.

mod aggregation;
mod contact_blocks;
mod galerkin;
mod smoother;
#[cfg(test)]
mod tests;

pub use galerkin::LevelSizes;

use super::Preconditioner;
use crate::{
    linear_solver::{adjacency::Adjacency, block_matrix::BlockMatrix, pattern::Pattern},
    simd::{Block, Row3},
};
use aggregation::Prolongation;
use galerkin::Galerkin;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use smoother::Smoother;
use std::sync::Arc;

/// Heuristic parameters of the multigrid preconditioner.
struct MultigridParameters {
    /// Largest number of rows of the coarsest level, which is solved directly. Effect: larger saves iterations of
    /// conjugate gradients (64: −9 to −13 %) and costs time in the direct solve; smaller adds levels. Evidence:
    /// benchmark `sheet/pinned16_time` (64: 9 % fewer iterations of conjugate gradients); a Laplacian of 64 × 64 needs
    /// 6 iterations, with 8 rows 7, with 128 rows 5.
    max_coarsest_rows: usize,
    /// Largest ratio of the rows of a level to those of the finer one; a level with more is not added. Effect: larger
    /// adds levels that hardly save work; smaller ends with a larger coarsest level. It ends the levels of a graph
    /// without edges. Evidence: `iterations_hardly_grow_with_the_mesh` (fails with 0.1); no mesh comes near the value,
    /// aggregates have a fifth of the rows.
    max_coarsening_ratio: f64,
    /// Weight ω of the neighbours' mean in the smoothed prolongation (1): 2/3 makes the prolongation linear between the
    /// centres of aggregates in a row. Effect: 0, the piecewise constant prolongation, needs 15 to 21 % more
    /// iterations. Evidence: `iterations_hardly_grow_with_the_mesh` (fails with 0), benchmarks `sheet/pinned16_time`
    /// (0: 15 % more iterations) and `sheet/pinned16_96` (0: 3.0 mm instead of 1.8 mm from the reference).
    prolongation_smoothing: f32,
    /// Smallest weight of the prolongation that is kept (1). Effect: larger loses interpolation and needs more
    /// iterations; smaller keeps more blocks of the coarse matrices. Evidence: benchmark `sheet/ball24_solve` (0: 12.7
    /// mm instead of 11.2 mm from the reference); a Laplacian of 64 × 64 needs 6 iterations, with 0 to 0.065 5 at 3 to
    /// 4 % more weights, with 0.26 13.
    min_weight: f32,
}

impl MultigridParameters {
    const DEFAULT: Self = Self {
        max_coarsest_rows: 32,
        max_coarsening_ratio: 0.7,
        prolongation_smoothing: 2.0 / 3.0,
        min_weight: 0.13,
    };
}

/// A level with the transfer to the next coarser one.
struct Level {
    galerkin: Galerkin,
    smoother: Smoother,
    residual: Vec<Row3>,
    correction: Vec<Row3>,
    coarse_right_side: Vec<Row3>,
    coarse_solution: Vec<Row3>,
    coarse_matrix: BlockMatrix,
}

/// The V-cycle.
pub struct Multigrid {
    levels: Vec<Level>,
    coarsest: CoarsestLevel,
}

impl Multigrid {
    /// Prepares for matrices on `pattern`, whose rows are joined by the `edges` of a mesh.
    #[must_use]
    pub fn new(pattern: &Arc<Pattern>, edges: &[[u32; 2]]) -> Self {
        let mut graph = Adjacency::new(pattern.row_count(), edges);
        let mut pattern = Arc::clone(pattern);
        let mut levels = Vec::new();
        let parameters = MultigridParameters::DEFAULT;
        while pattern.row_count() > parameters.max_coarsest_rows {
            let (prolongation, coarse_graph) = Prolongation::new(&graph);
            let coarse_count = prolongation.coarse_count();
            if coarse_count as f64 > parameters.max_coarsening_ratio * pattern.row_count() as f64 {
                break;
            }
            graph = coarse_graph;
            let level = Level::new(&pattern, prolongation);
            pattern = Arc::clone(level.coarse_matrix.pattern());
            levels.push(level);
        }
        Self { levels, coarsest: CoarsestLevel::new(pattern.row_count()) }
    }

    /// Sizes of the Galerkin products of all levels, from the finest on.
    pub fn sizes(&self) -> impl Iterator<Item = LevelSizes<'_>> {
        self.levels.iter().map(|level| level.galerkin.sizes(&level.coarse_matrix))
    }

    /// Both sweeps of the finest level without the coarser ones in between, for timing; `result` ≈ matrix⁻¹ · `vector`.
    pub fn smooth(&mut self, matrix: &BlockMatrix, vector: &[Row3], result: &mut [Row3]) {
        if let Some(Level { smoother, residual, correction, .. }) = self.levels.first_mut() {
            correction.fill([0.0; 4]);
            smoother.forward(matrix, vector, result, residual);
            smoother.backward(matrix, correction, result, residual);
        }
    }

    /// Updates the matrix of the second level from that of the finest, for timing.
    pub fn coarsen(&mut self, matrix: &BlockMatrix) {
        if let Some(Level { galerkin, coarse_matrix, .. }) = self.levels.first_mut() {
            galerkin.project(matrix, coarse_matrix);
        }
    }
}

impl Level {
    fn new(pattern: &Arc<Pattern>, prolongation: Prolongation) -> Self {
        let coarse_count = prolongation.coarse_count();
        let galerkin = Galerkin::new(pattern, prolongation);
        Self {
            coarse_matrix: BlockMatrix::new(Arc::clone(galerkin.coarse_pattern())),
            galerkin,
            smoother: Smoother::default(),
            residual: vec![[0.0; 4]; pattern.row_count()],
            correction: vec![[0.0; 4]; pattern.row_count()],
            coarse_right_side: vec![[0.0; 4]; coarse_count],
            coarse_solution: vec![[0.0; 4]; coarse_count],
        }
    }

    fn update(&mut self, matrix: &BlockMatrix) {
        self.smoother.update(matrix);
        self.galerkin.project(matrix, &mut self.coarse_matrix);
    }
}

impl Preconditioner for Multigrid {
    fn update(&mut self, matrix: &BlockMatrix) {
        let mut fine = matrix;
        for level in &mut self.levels {
            level.update(fine);
            fine = &level.coarse_matrix;
        }
        self.coarsest.update(fine);
    }

    fn apply(&mut self, matrix: &BlockMatrix, vector: &[Row3], result: &mut [Row3]) {
        cycle(&mut self.levels, &mut self.coarsest, matrix, vector, result);
    }
}

fn cycle(
    levels: &mut [Level],
    coarsest: &mut CoarsestLevel,
    matrix: &BlockMatrix,
    vector: &[Row3],
    result: &mut [Row3],
) {
    let Some((level, coarser)) = levels.split_first_mut() else {
        coarsest.solve(vector, result);
        return;
    };
    level.smoother.forward(matrix, vector, result, &mut level.residual);
    level.galerkin.prolongation.restrict(&level.residual, &mut level.coarse_right_side);
    let Level { coarse_matrix, coarse_right_side: coarse_side, coarse_solution, .. } = level;
    cycle(coarser, coarsest, coarse_matrix, coarse_side, coarse_solution);
    level.galerkin.prolongation.prolong(&level.coarse_solution, &mut level.correction);
    level.smoother.backward(matrix, &level.correction, result, &mut level.residual);
}

/// The coarsest level, factorised.
struct CoarsestLevel {
    count: usize,
    factor: Option<Cholesky<f64, Dyn>>,
    diagonals: Vec<Block>,
    right_side: DVector<f64>,
}

impl CoarsestLevel {
    fn new(count: usize) -> Self {
        Self { count, factor: None, diagonals: Vec::new(), right_side: DVector::zeros(3 * count) }
    }

    fn update(&mut self, matrix: &BlockMatrix) {
        self.diagonals = matrix.diagonals().iter().map(Block::inverse).collect();
        self.factor = None;
        if self.count > MultigridParameters::DEFAULT.max_coarsest_rows {
            return;
        }
        let mut dense = DMatrix::zeros(3 * self.count, 3 * self.count);
        for row in 0..self.count {
            for column in 0..self.count {
                let block = matrix.block(row, column).to_matrix();
                dense.fixed_view_mut::<3, 3>(3 * row, 3 * column).copy_from(&block);
            }
        }
        self.factor = Cholesky::new(dense);
    }

    /// Direct solve; by the diagonal blocks if there are too many rows or the factorisation has failed by rounding.
    fn solve(&mut self, vector: &[Row3], result: &mut [Row3]) {
        let Some(factor) = &self.factor else {
            for ((result, vector), inverse) in result.iter_mut().zip(vector).zip(&self.diagonals) {
                *result = inverse.times(vector);
            }
            return;
        };
        for (row, vector) in vector.iter().enumerate() {
            for (k, value) in vector[..3].iter().enumerate() {
                self.right_side[3 * row + k] = f64::from(*value);
            }
        }
        factor.solve_mut(&mut self.right_side);
        for (row, result) in result.iter_mut().enumerate() {
            *result =
                [0, 1, 2, 3].map(|k| if k < 3 { self.right_side[3 * row + k] as f32 } else { 0.0 });
        }
    }
}
