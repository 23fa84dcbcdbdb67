// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gauss-Seidel inside groups of rows, Jacobi between them.
//!
//! A sweep solves (D̃ + L) x = b with L what lies below the diagonal inside groups and D̃ the diagonal D, enlarged
//! row by row so far that the couplings F between groups, which a sweep does not see, cannot make it diverge: after
//! Baker, Falgout, Kolev and Yang, "Multigrid smoothers for ultraparallel computing" (2011), but measured in
//! the norm of the diagonal: D̃ = D · max(1, ½ + ½ Σ_j ‖D_i^-½ F_ij D_j^-½‖). Both sweeps read each block once:
//! the forward one leaves the residual, the backward one starts from it.

use super::weights::Weights;
use crate::{
    parallel,
    solver::{
        Block, BlockMatrix, GROUP, Row3,
        lanes::{Kernel, Lanes, dispatch},
        near::{GroupVector, Near},
    },
};
use rayon::prelude::*;
use std::ops::Range;

/// Inverses of D̃, and by how much of itself each row of it is larger than D.
#[derive(Default)]
pub(super) struct Smoother {
    inverses: Vec<Block>,
    excesses: Vec<f32>,
}

/// What the next level has found, and how it is interpolated.
#[derive(Clone, Copy)]
pub(super) struct Correction<'a> {
    pub(super) weights: &'a Weights,
    pub(super) coarse: &'a [Row3],
}

impl Correction<'_> {
    #[inline]
    fn at(&self, row: usize) -> Row3 {
        let mut sum = [0.0; 4];
        for (coarse, weight) in self.weights.row(row) {
            for (sum, value) in sum.iter_mut().zip(&self.coarse[*coarse as usize]) {
                *sum += weight * value;
            }
        }
        sum
    }
}

impl Smoother {
    pub(super) fn update(&mut self, matrix: &BlockMatrix) {
        let each = matrix.diagonals().par_iter().with_min_len(parallel::VERTICES);
        each.map(Block::inverse).collect_into_vec(&mut self.inverses);
        self.excesses.resize(self.inverses.len(), 0.0);
        let inverses = &self.inverses;
        let groups = self.excesses.par_chunks_mut(GROUP).enumerate();
        groups.for_each(|(group, excesses)| {
            excesses.fill(0.0);
            let first = group * GROUP;
            for outer in matrix.outer() {
                outer.visit(&(first..first + excesses.len()), |row, column, block| {
                    excesses[row - first] += relative(&inverses[row], block, &inverses[column]);
                });
            }
            for excess in excesses {
                *excess = 1.0 - 1.0 / (0.5 + 0.5 * *excess).max(1.0);
            }
        });
        let each = (&mut self.inverses, &self.excesses).into_par_iter();
        each.with_min_len(parallel::VERTICES).for_each(|(inverse, excess)| {
            if *excess > 0.0 {
                let scale = 1.0 - excess;
                *inverse = Block(inverse.0.map(|column| column.map(|value| scale * value)));
            }
        });
    }

    /// A forward sweep from `solution` = 0, and what it leaves over.
    pub(super) fn forward(
        &self,
        matrix: &BlockMatrix,
        side: &[Row3],
        solution: &mut [Row3],
        residual: &mut [Row3],
    ) {
        let groups = solution.par_chunks_mut(GROUP).zip(residual.par_chunks_mut(GROUP));
        groups.enumerate().for_each(|(group, (solution, residual))| {
            let rows = group * GROUP..group * GROUP + solution.len();
            let diagonals = self.diagonals(&rows);
            let (near, side) = (matrix.near(&rows), &side[rows]);
            dispatch(Forward { near, diagonals, side, solution, residual });
        });
        let solution = &*solution;
        residual.par_chunks_mut(GROUP).enumerate().for_each(|(group, residual)| {
            let first = group * GROUP;
            for outer in matrix.outer() {
                outer.visit(&(first..first + residual.len()), |row, column, block| {
                    block.subtract(&solution[column], &mut residual[row - first]);
                });
            }
        });
    }

    /// Adds the correction to `solution` and sweeps backward; `residual` is that without the correction.
    pub(super) fn backward(
        &self,
        matrix: &BlockMatrix,
        correction: Correction<'_>,
        solution: &mut [Row3],
        residual: &mut [Row3],
    ) {
        let groups = solution.par_chunks_mut(GROUP).zip(residual.par_chunks_mut(GROUP));
        groups.enumerate().for_each(|(group, (solution, residual))| {
            let rows = group * GROUP..group * GROUP + solution.len();
            for outer in matrix.outer() {
                outer.visit(&rows, |row, column, block| {
                    block.subtract(&correction.at(column), &mut residual[row - rows.start]);
                });
            }
            let mut step = [[0.0; 4]; GROUP];
            for (step, row) in step.iter_mut().zip(rows.clone()) {
                *step = correction.at(row);
            }
            let diagonals = self.diagonals(&rows);
            let near = matrix.near(&rows);
            dispatch(Backward { near, diagonals, step: &step, solution, residual });
        });
    }

    fn diagonals(&self, rows: &Range<usize>) -> Diagonals<'_> {
        Diagonals { inverses: &self.inverses[rows.clone()], excesses: &self.excesses[rows.clone()] }
    }
}

/// ‖D_i^-½ F D_j^-½‖ in the Frobenius norm, which is the root of the trace of D_i⁻¹ F D_j⁻¹ Fᵀ.
fn relative(left: &Block, coupling: &Block, right: &Block) -> f32 {
    let (a, b) = (left.product(coupling), coupling.product(right));
    let products = a.0.iter().flatten().zip(b.0.iter().flatten());
    products.map(|(a, b)| a * b).sum::<f32>().max(0.0).sqrt()
}

#[derive(Clone, Copy)]
struct Diagonals<'a> {
    inverses: &'a [Block],
    excesses: &'a [f32],
}

/// x = (D̃ + L)⁻¹ b, and what is left of b − A x inside the group: (D̃ − D) x − Lᵀ x.
struct Forward<'a> {
    near: Near<'a>,
    diagonals: Diagonals<'a>,
    side: &'a [Row3],
    solution: &'a mut [Row3],
    residual: &'a mut [Row3],
}

impl Kernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { near, diagonals, side, solution, residual } = self;
        let (mut found, mut left) = ([[0.0; 4]; GROUP], [[0.0; 4]; GROUP]);
        for row in 0..near.row_count() {
            let known = near.gather(lanes, row, &found);
            let value: Row3 = std::array::from_fn(|k| side[row][k] - known[k]);
            let entry = diagonals.inverses[row].times(&value);
            found[row] = entry;
            left[row] = value.map(|value| diagonals.excesses[row] * value);
            near.scatter(lanes, row, &entry, &mut left);
        }
        solution.copy_from_slice(&found[..solution.len()]);
        residual.copy_from_slice(&left[..residual.len()]);
    }
}

/// Adds e + d to x, with (D̃ + Lᵀ) d = r − A e.
struct Backward<'a> {
    near: Near<'a>,
    diagonals: Diagonals<'a>,
    /// e.
    step: &'a GroupVector,
    solution: &'a mut [Row3],
    /// r less what comes from outside the group.
    residual: &'a [Row3],
}

impl Kernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { near, diagonals, step, solution, residual } = self;
        let mut left = [[0.0; 4]; GROUP];
        left[..residual.len()].copy_from_slice(residual);
        for row in (0..near.row_count()).rev() {
            let known = near.gather(lanes, row, step);
            let value: Row3 = std::array::from_fn(|k| left[row][k] - known[k]);
            let found = diagonals.inverses[row].times(&value);
            // D e = D̃ e − (D̃ − D) e is solved for along with the rest.
            let excess = diagonals.excesses[row];
            let entry: Row3 = std::array::from_fn(|k| found[k] + excess * step[row][k]);
            near.scatter(lanes, row, &entry, &mut left);
            for (solution, entry) in solution[row].iter_mut().zip(&entry) {
                *solution += entry;
            }
        }
    }
}
