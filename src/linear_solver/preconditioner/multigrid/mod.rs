// SPDX-License-Identifier: MIT OR Apache-2.0
//! Multigrid by aggregates that move rigidly, for any mesh in any shape.
//!
//! Vertices are gathered into aggregates along the edges of the mesh, the aggregates into larger ones, and so on. A
//! coarse displacement moves each aggregate of the present shape rigidly, as far as its constraints allow: what cloth does
//! easily, to turn without being stretched, translations of aggregates could not represent where it is folded. The
//! prolongation is not smoothed; instead each coarse level is solved by some conjugate gradient iterations, with the
//! levels below as their preconditioner (Notay and Vassilevski, "Recursive Krylov-based multigrid cycles", 2008). The
//! smoothers are a forward Gauss-Seidel sweep before and a backward one after.

mod aggregation;
mod galerkin;
mod group_sums;
mod motion_product;
mod rigid_motions;
mod smoother;
#[cfg(test)]
mod tests;

use super::{FilteredMatrix, Preconditioner};
use crate::{
    linear_solver::{
        adjacency::Adjacency, block_matrix::BlockMatrix, filter::Filter, pattern::Pattern,
        scalar_couplings::ScalarPattern,
    },
    simd::{Block, Row3, dot},
    vec3::Vec3,
};
use galerkin::Galerkin;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use rigid_motions::RigidMotions;
use smoother::Smoother;
use std::sync::Arc;

/// Heuristic parameters of the multigrid preconditioner.
struct MultigridParameters {
    /// Largest number of rows of the coarsest level, which is solved directly. Effect: larger costs time in the direct
    /// solve; smaller adds levels. Evidence: none: a level of this size costs nothing either way.
    max_coarsest_rows: usize,
    /// Largest ratio of the nodes of a level to those of the finer one; a level with more is not added. Effect: larger
    /// adds levels that hardly save work; smaller ends with a larger coarsest level. Evidence: none: it ends the levels
    /// of a graph without edges.
    max_coarsening_ratio: f64,
    /// Conjugate gradient iterations on each coarse level. Effect: larger costs time on the coarse levels; smaller
    /// costs iterations on the finest. Evidence: a sheet on a ball (1: 86 instead of 61 conjugate gradient iterations a
    /// frame at the same time; 3: 56 at 3 % more time).
    coarse_iterations: usize,
}

impl MultigridParameters {
    const DEFAULT: Self =
        Self { max_coarsest_rows: 48, max_coarsening_ratio: 0.7, coarse_iterations: 2 };
}

/// A level with the transfer to the next coarser one.
struct Level {
    motions: RigidMotions,
    galerkin: Galerkin,
    smoother: Smoother,
    residual: Vec<Row3>,
    correction: Vec<Row3>,
    coarse_matrix: BlockMatrix,
    coarse: CoarseSolve,
}

/// Vectors of the conjugate gradients of a coarse level.
#[derive(Default)]
struct CoarseSolve {
    residual: Vec<Row3>,
    solution: Vec<Row3>,
    direction: Vec<Row3>,
    image: Vec<Row3>,
    preconditioned: Vec<Row3>,
}

/// The cycle.
pub struct Multigrid {
    pattern: Arc<Pattern>,
    edges: Vec<[u32; 2]>,
    levels: Vec<Level>,
    coarsest: CoarsestLevel,
}

impl Multigrid {
    /// Prepares for matrices on `pattern`, whose rows are joined by the `edges` of a mesh.
    #[must_use]
    pub fn new(pattern: &Arc<Pattern>, edges: &[[u32; 2]]) -> Self {
        let mut own = Self {
            pattern: Arc::clone(pattern),
            edges: edges.to_vec(),
            levels: Vec::new(),
            coarsest: CoarsestLevel::new(pattern.row_count()),
        };
        own.build_levels(&Arc::default());
        own
    }

    /// Builds all levels for matrices with a pattern of their scalar part.
    fn build_levels(&mut self, scalar_pattern: &Arc<ScalarPattern>) {
        let parameters = MultigridParameters::DEFAULT;
        let mut pattern = Arc::clone(&self.pattern);
        let mut scalar_pattern = Arc::clone(scalar_pattern);
        let mut graph = Adjacency::new(pattern.row_count(), &self.edges);
        let mut rows_per_node = 1;
        self.levels.clear();
        while pattern.row_count() > parameters.max_coarsest_rows {
            let (aggregates, coarse_graph) = aggregation::aggregates(&graph);
            let (count, coarse_count) = (graph.vertex_count(), coarse_graph.vertex_count());
            if coarse_count as f64 > parameters.max_coarsening_ratio * count as f64 {
                break;
            }
            let motions = RigidMotions::new(&aggregates, coarse_count, rows_per_node);
            let level = Level::new(&pattern, &scalar_pattern, motions);
            pattern = Arc::clone(level.coarse_matrix.pattern());
            self.levels.push(level);
            (graph, rows_per_node, scalar_pattern) = (coarse_graph, 2, Arc::default());
        }
        self.coarsest = CoarsestLevel::new(pattern.row_count());
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
        if let Some(Level { motions, galerkin, coarse_matrix, .. }) = self.levels.first_mut() {
            galerkin.project(matrix, motions, coarse_matrix);
        }
    }
}

impl Level {
    fn new(pattern: &Pattern, scalar_pattern: &Arc<ScalarPattern>, motions: RigidMotions) -> Self {
        let galerkin = Galerkin::new(pattern, scalar_pattern, &motions);
        Self {
            coarse_matrix: BlockMatrix::new(Arc::clone(&galerkin.coarse_pattern)),
            coarse: CoarseSolve::new(motions.coarse_row_count()),
            galerkin,
            motions,
            smoother: Smoother::default(),
            residual: vec![[0.0; 4]; pattern.row_count()],
            correction: vec![[0.0; 4]; pattern.row_count()],
        }
    }

    /// Updates to a matrix and the `positions` of the nodes in m.
    fn update(&mut self, matrix: &BlockMatrix, positions: &[Vec3], filter: Option<&Filter>) {
        self.smoother.update(matrix, filter);
        self.motions.update(positions, filter);
        self.galerkin.project(matrix, &self.motions, &mut self.coarse_matrix);
    }
}

impl Preconditioner for Multigrid {
    fn update(&mut self, FilteredMatrix { matrix, filter, positions }: FilteredMatrix<'_>) {
        let scalar_pattern = &matrix.scalars().pattern;
        if self.levels.first().is_some_and(|level| !level.galerkin.is_for(scalar_pattern)) {
            self.build_levels(scalar_pattern);
        }
        let (mut fine, mut positions, mut filter) = (matrix, positions, Some(filter));
        for level in &mut self.levels {
            level.update(fine, positions, filter);
            (fine, positions, filter) = (&level.coarse_matrix, &level.motions.centers, None);
        }
        self.coarsest.update(fine, filter);
    }

    fn apply(&mut self, matrix: &BlockMatrix, vector: &[Row3], result: &mut [Row3]) {
        cycle(&mut self.levels, &mut self.coarsest, matrix, vector, result);
    }
}

/// `result` ≈ matrix⁻¹ · `vector`.
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
    level.motions.restrict(&mut level.residual, &mut level.coarse.residual);
    let Level { coarse_matrix, coarse, .. } = level;
    if coarser.is_empty() {
        coarsest.solve(&coarse.residual, &mut coarse.solution);
    } else {
        coarse.solve(coarse_matrix, |vector, result| {
            cycle(coarser, coarsest, coarse_matrix, vector, result);
        });
    }
    level.motions.prolong(&level.coarse.solution, &mut level.correction);
    level.smoother.backward(matrix, &level.correction, result, &mut level.residual);
}

impl CoarseSolve {
    fn new(row_count: usize) -> Self {
        let zeros = || vec![[0.0; 4]; row_count];
        Self {
            residual: zeros(),
            solution: zeros(),
            direction: zeros(),
            image: zeros(),
            preconditioned: zeros(),
        }
    }

    /// Solves for the residual, approximately.
    fn solve(&mut self, matrix: &BlockMatrix, mut precondition: impl FnMut(&[Row3], &mut [Row3])) {
        let Self { residual, solution, direction, image, preconditioned } = self;
        solution.fill([0.0; 4]);
        let mut previous = f64::INFINITY;
        let last = MultigridParameters::DEFAULT.coarse_iterations - 1;
        for iteration in 0..=last {
            precondition(residual, preconditioned);
            let current = dot(residual, preconditioned);
            add_multiple(direction, (current / previous) as f32, preconditioned);
            // Nothing needs the last residual.
            let is_last = iteration == last;
            let curvature = if is_last {
                matrix.quadratic_form(direction)
            } else {
                matrix.times_and_dot(direction, image)
            };
            // Nothing is left, or rounding has the upper hand.
            if !(current > 0.0 && curvature > 0.0) {
                break;
            }
            let length = (current / curvature) as f32;
            add_scaled(solution, length, direction);
            if !is_last {
                add_scaled(residual, -length, image);
            }
            previous = current;
        }
        direction.fill([0.0; 4]);
    }
}

/// vector ← vector + factor · other.
fn add_scaled(vector: &mut [Row3], factor: f32, other: &[Row3]) {
    for (own, other) in vector.iter_mut().zip(other) {
        *own = std::array::from_fn(|k| own[k] + factor * other[k]);
    }
}

/// vector ← other + ratio · vector.
fn add_multiple(vector: &mut [Row3], ratio: f32, other: &[Row3]) {
    for (own, other) in vector.iter_mut().zip(other) {
        *own = std::array::from_fn(|k| other[k] + ratio * own[k]);
    }
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

    fn update(&mut self, matrix: &BlockMatrix, filter: Option<&Filter>) {
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
        let projector = |row: usize| {
            let own = filter.and_then(|filter| filter.projector(row)).copied();
            own.unwrap_or(Block::scaled_identity(1.0)).to_matrix()
        };
        matrix.scalars().visit_lower(self.count, |row, column, value| {
            let block = projector(row) * projector(column) * f64::from(value);
            let mut place = dense.fixed_view_mut::<3, 3>(3 * row, 3 * column);
            place += block;
            let mut place = dense.fixed_view_mut::<3, 3>(3 * column, 3 * row);
            place += block.transpose();
        });
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
