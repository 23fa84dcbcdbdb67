// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gauss-Seidel inside groups of rows, Jacobi between them.
//!
//! A sweep solves (D̃ + L) x = b with L the strict lower triangle inside groups and D̃ the diagonal D, enlarged row by
//! row so that the couplings F between groups, which a sweep ignores, cannot make it diverge: after Baker, Falgout,
//! Kolev and Yang, "Multigrid smoothers for ultraparallel computing" (2011), but measured in the norm of the diagonal:
//! D̃ = D · max(1, ½ + ½ Σ_j ‖D_i^-½ F_ij D_j^-½‖). Both sweeps read each block once: the forward one leaves the
//! residual, the backward one starts from it.

use crate::{
    linear_solver::{
        block_matrix::BlockMatrix,
        contact_blocks::OffGroupBlocks,
        filter::Filter,
        group_product::{GroupVector, LowerGroupBlocks},
        pattern::{GROUP, task_length},
        scalar_couplings::ScalarCouplings,
    },
    parallel::reductions,
    simd::{Block, Kernel, Lanes, Row3, dispatch},
};
use rayon::prelude::*;
use std::ops::Range;

/// Inverses of the blocks of D̃, and the relative excess 1 − D/D̃ of each row.
#[derive(Default)]
pub(crate) struct Smoother {
    inverses: Vec<Block>,
    diagonal_excesses: Vec<f32>,
    /// Root of the norm of each inverse; while they are updated.
    roots: Vec<f32>,
}

impl Smoother {
    /// Updates to a matrix; constrained rows move along what is free only.
    pub(crate) fn update(&mut self, matrix: &BlockMatrix, filter: Option<&Filter>) {
        let each = matrix.diagonals().par_iter();
        each.with_min_len(reductions::MIN_VERTICES_PER_TASK)
            .map(Block::inverse)
            .collect_into_vec(&mut self.inverses);
        if let Some(filter) = filter {
            filter.project_blocks(&mut self.inverses);
        }
        self.diagonal_excesses.resize(self.inverses.len(), 0.0);
        let inverses = &self.inverses;
        inverses.par_iter().map(root_of_norm).collect_into_vec(&mut self.roots);
        let roots = &self.roots;
        let groups = self.diagonal_excesses.par_chunks_mut(GROUP).enumerate();
        groups.for_each(|(group, excesses)| {
            let rows = group * GROUP..group * GROUP + excesses.len();
            dispatch(MeasureDiagonalExcesses {
                outer: matrix.off_group_blocks(),
                scalars: matrix.scalars(),
                rows,
                inverses,
                roots,
                excesses,
            });
        });
        let each = (&mut self.inverses, &self.diagonal_excesses).into_par_iter();
        each.with_min_len(reductions::MIN_VERTICES_PER_TASK).for_each(|(inverse, excess)| {
            if *excess > 0.0 {
                let scale = 1.0 - excess;
                *inverse = Block(inverse.0.map(|column| column.map(|value| scale * value)));
            }
        });
    }

    /// Forward sweep from `solution` = 0, and its residual.
    pub(crate) fn forward(
        &self,
        matrix: &BlockMatrix,
        side: &[Row3],
        solution: &mut [Row3],
        residual: &mut [Row3],
    ) {
        let length = task_length(solution.len());
        sweep_all(&mut *solution, &mut *residual, |rows, solution, residual| {
            let (near, diagonals) = (matrix.lower_group_blocks(&rows), self.diagonals(&rows));
            Forward { near, diagonals, side: &side[rows], solution, residual }
        });
        let solution = &*solution;
        residual.par_chunks_mut(length).enumerate().for_each(|(task, residual)| {
            let rows = task * length..task * length + residual.len();
            dispatch(SubtractOffGroup {
                outer: matrix.off_group_blocks(),
                scalars: matrix.scalars(),
                rows,
                vector: solution,
                residual,
            });
        });
    }

    /// Adds `correction` to `solution` and sweeps backward; `residual` is that without the correction.
    pub(crate) fn backward(
        &self,
        matrix: &BlockMatrix,
        correction: &[Row3],
        solution: &mut [Row3],
        residual: &mut [Row3],
    ) {
        sweep_all(solution, residual, |rows, solution, residual| {
            let (outer, own) = (matrix.off_group_blocks(), rows.clone());
            let scalars = matrix.scalars();
            let left = &mut *residual;
            dispatch(SubtractOffGroup {
                outer,
                scalars,
                rows: own,
                vector: correction,
                residual: left,
            });
            let (near, diagonals) = (matrix.lower_group_blocks(&rows), self.diagonals(&rows));
            Backward { near, diagonals, correction: &correction[rows], solution, residual }
        });
    }

    fn diagonals(&self, rows: &Range<usize>) -> Diagonals<'_> {
        Diagonals {
            inverses: &self.inverses[rows.clone()],
            excesses: &self.diagonal_excesses[rows.clone()],
        }
    }
}

/// Computes the relative excess 1 − D/D̃ of some rows.
struct MeasureDiagonalExcesses<'a> {
    outer: [OffGroupBlocks<'a>; 2],
    scalars: &'a ScalarCouplings,
    rows: Range<usize>,
    inverses: &'a [Block],
    /// Root of the norm of each inverse.
    roots: &'a [f32],
    excesses: &'a mut [f32],
}

impl Kernel for MeasureDiagonalExcesses<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { outer, scalars, rows, inverses, roots, excesses } = self;
        // ‖D_i^-½ k D_j^-½‖ ≤ |k| ‖D_i⁻¹‖^½ ‖D_j⁻¹‖^½.
        for (row, excess) in rows.clone().zip(&mut *excesses) {
            let (columns, values) = scalars.far(row);
            let terms = columns.iter().zip(values);
            let sum: f32 = terms.map(|(column, k)| k.abs() * roots[*column as usize]).sum();
            *excess = roots[row] * sum;
        }
        for outer in outer {
            outer.visit(&rows, |row, column, block| {
                excesses[row - rows.start] +=
                    relative_norm(lanes, &inverses[row], block, &inverses[column]);
            });
        }
        for excess in excesses {
            *excess = 1.0 - 1.0 / (0.5 + 0.5 * *excess).max(1.0);
        }
    }
}

/// ‖D_i^-½ F D_j^-½‖ in the Frobenius norm, which is the root of the trace of D_i⁻¹ F D_j⁻¹ Fᵀ.
#[inline(always)]
fn relative_norm<L: Lanes>(lanes: L, left: &Block, coupling: &Block, right: &Block) -> f32 {
    let product = |k: usize| {
        let a = lanes.times(left, &coupling.0[k]);
        let b = lanes.times(coupling, &right.0[k]);
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    };
    (product(0) + product(1) + product(2)).max(0.0).sqrt()
}

/// Root of the Frobenius norm of a block.
fn root_of_norm(block: &Block) -> f32 {
    block.0.as_flattened().iter().map(|entry| entry * entry).sum::<f32>().sqrt().sqrt()
}

#[derive(Clone, Copy)]
struct Diagonals<'a> {
    inverses: &'a [Block],
    excesses: &'a [f32],
}

/// Subtracts the product of the blocks between groups and a vector from some rows.
struct SubtractOffGroup<'a> {
    outer: [OffGroupBlocks<'a>; 2],
    scalars: &'a ScalarCouplings,
    rows: Range<usize>,
    vector: &'a [Row3],
    residual: &'a mut [Row3],
}

impl Kernel for SubtractOffGroup<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { outer, scalars, rows, vector, residual } = self;
        if scalars.has_far_entries() {
            for (row, entry) in rows.clone().zip(&mut *residual) {
                let product = scalars.far_product(lanes, row, vector);
                *entry = std::array::from_fn(|k| entry[k] - product[k]);
            }
        }
        for outer in outer {
            outer.visit_products(lanes, &rows, vector, |row, product| {
                let entry = &mut residual[row - rows.start];
                *entry = std::array::from_fn(|k| entry[k] - product[k]);
            });
        }
    }
}

/// A sweep over the rows of a group.
trait Sweep {
    fn blocks(&self) -> &LowerGroupBlocks<'_>;

    /// Fills the vectors of the sweep, which are 0 before.
    fn begin<L: Lanes>(&self, lanes: L, vectors: &mut [GroupVector; 2]);

    /// Processes the row after `count` rows.
    fn advance_row<L: Lanes>(&mut self, lanes: L, count: usize, vectors: &mut [GroupVector; 2]);

    /// Processes the pair of rows after `count` pairs.
    fn advance_pair<L: Lanes>(&mut self, lanes: L, count: usize, vectors: &mut [GroupVector; 2]);

    /// Number of steps: pairs of rows where rows come in pairs.
    #[inline(always)]
    fn step_count(&self) -> usize {
        let blocks = self.blocks();
        if blocks.has_row_pairs { blocks.row_count() / 2 } else { blocks.row_count() }
    }

    /// Takes the step after `count` steps.
    #[inline(always)]
    fn advance<L: Lanes>(&mut self, lanes: L, count: usize, vectors: &mut [GroupVector; 2]) {
        if self.blocks().has_row_pairs {
            self.advance_pair(lanes, count, vectors);
        } else {
            self.advance_row(lanes, count, vectors);
        }
    }

    /// Writes the results.
    fn finish<L: Lanes>(self, lanes: L, vectors: &[GroupVector; 2]);
}

/// Runs the sweeps of all groups; `of_group(rows, solution, residual)` makes the sweep of a group from its entries of
/// both vectors.
fn sweep_all<'a, S: Sweep>(
    solution: &'a mut [Row3],
    residual: &'a mut [Row3],
    of_group: impl Fn(Range<usize>, &'a mut [Row3], &'a mut [Row3]) -> S + Sync,
) {
    let length = task_length(solution.len());
    let tasks = solution.par_chunks_mut(length).zip(residual.par_chunks_mut(length));
    tasks.enumerate().for_each(|(task, (solution, residual))| {
        let groups = solution.chunks_mut(GROUP).zip(residual.chunks_mut(GROUP));
        sweep(groups.enumerate().map(|(group, (solution, residual))| {
            let first = task * length + group * GROUP;
            of_group(first..first + solution.len(), solution, residual)
        }));
    });
}

/// Runs sweeps in pairs: every row waits for the one before it, but a row of another group need not.
fn sweep<S: Sweep>(mut sweeps: impl Iterator<Item = S>) {
    while let Some(first) = sweeps.next() {
        dispatch(Sweeps { first, second: sweeps.next() });
    }
}

struct Sweeps<S> {
    first: S,
    second: Option<S>,
}

impl<S: Sweep> Kernel for Sweeps<S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { mut first, second } = self;
        let mut vectors = [[[0.0; 4]; GROUP]; 2];
        first.begin(lanes, &mut vectors);
        let mut both = 0;
        if let Some(mut second) = second {
            let mut others = [[[0.0; 4]; GROUP]; 2];
            second.begin(lanes, &mut others);
            // Only the last group of a matrix is shorter than others.
            both = second.step_count().min(first.step_count());
            for count in 0..both {
                first.advance(lanes, count, &mut vectors);
                second.advance(lanes, count, &mut others);
            }
            second.finish(lanes, &others);
        }
        for count in both..first.step_count() {
            first.advance(lanes, count, &mut vectors);
        }
        first.finish(lanes, &vectors);
    }
}

/// x = (D̃ + L)⁻¹ b, and the residual b − A x inside the group: (D̃ − D) x − Lᵀ x.
struct Forward<'a> {
    near: LowerGroupBlocks<'a>,
    diagonals: Diagonals<'a>,
    side: &'a [Row3],
    solution: &'a mut [Row3],
    residual: &'a mut [Row3],
}

impl Sweep for Forward<'_> {
    fn blocks(&self) -> &LowerGroupBlocks<'_> {
        &self.near
    }

    #[inline(always)]
    fn begin<L: Lanes>(&self, _lanes: L, _vectors: &mut [GroupVector; 2]) {}

    #[inline(always)]
    fn advance_row<L: Lanes>(&mut self, lanes: L, row: usize, vectors: &mut [GroupVector; 2]) {
        let coupled = self.near.scalars.left_product(lanes, row, &vectors[0]);
        let known = self.near.gather(lanes, row, &vectors[0]);
        let value: Row3 = std::array::from_fn(|k| self.side[row][k] - coupled[k] - known[k]);
        let entry = self.solve_row(lanes, row, &value, vectors);
        self.near.scatter(lanes, row, &entry, &mut vectors[1]);
    }

    #[inline(always)]
    fn advance_pair<L: Lanes>(&mut self, lanes: L, count: usize, vectors: &mut [GroupVector; 2]) {
        let [first, second] = [2 * count, 2 * count + 1];
        let known = self.near.gather_both(lanes, first, &vectors[0]);
        let value: Row3 = std::array::from_fn(|k| self.side[first][k] - known[0][k]);
        let upper = self.solve_row(lanes, first, &value, vectors);
        let coupled = self.near.times_within(lanes, first, &upper);
        let value: Row3 = std::array::from_fn(|k| self.side[second][k] - coupled[k] - known[1][k]);
        let lower = self.solve_row(lanes, second, &value, vectors);
        let coupled = self.near.transposed_times_within(lanes, first, &lower);
        let entry = &mut vectors[1][first];
        *entry = std::array::from_fn(|k| entry[k] - coupled[k]);
        self.near.scatter_both(lanes, first, [&upper, &lower], &mut vectors[1]);
    }

    #[inline(always)]
    fn finish<L: Lanes>(self, lanes: L, [found, left]: &[GroupVector; 2]) {
        self.solution.copy_from_slice(&found[..self.solution.len()]);
        for (row, residual) in self.residual.iter_mut().enumerate() {
            let coupled = self.near.scalars.right_product(lanes, row, found);
            *residual = std::array::from_fn(|k| left[row][k] - coupled[k]);
        }
    }
}

impl Forward<'_> {
    /// Solves for a row, and returns its entry.
    #[inline(always)]
    fn solve_row<L: Lanes>(
        &self,
        lanes: L,
        row: usize,
        value: &Row3,
        [found, left]: &mut [GroupVector; 2],
    ) -> Row3 {
        let entry = lanes.times(&self.diagonals.inverses[row], value);
        found[row] = entry;
        left[row] = value.map(|value| self.diagonals.excesses[row] * value);
        entry
    }
}

/// Adds e + d to x, with (D̃ + Lᵀ) d = r − A e.
struct Backward<'a> {
    near: LowerGroupBlocks<'a>,
    diagonals: Diagonals<'a>,
    /// e.
    correction: &'a [Row3],
    solution: &'a mut [Row3],
    /// r less the product of the blocks to other groups.
    residual: &'a [Row3],
}

impl Sweep for Backward<'_> {
    fn blocks(&self) -> &LowerGroupBlocks<'_> {
        &self.near
    }

    #[inline(always)]
    fn begin<L: Lanes>(&self, lanes: L, [step, left]: &mut [GroupVector; 2]) {
        step[..self.correction.len()].copy_from_slice(self.correction);
        for (row, residual) in self.residual.iter().enumerate() {
            let coupled = self.near.scalars.left_product(lanes, row, step);
            left[row] = std::array::from_fn(|k| residual[k] - coupled[k]);
        }
    }

    #[inline(always)]
    fn advance_row<L: Lanes>(&mut self, lanes: L, count: usize, vectors: &mut [GroupVector; 2]) {
        let row = self.near.row_count() - 1 - count;
        let [step, left] = &*vectors;
        let coupled = self.near.scalars.right_product(lanes, row, step);
        let known = self.near.gather(lanes, row, step);
        let value: Row3 = std::array::from_fn(|k| left[row][k] - coupled[k] - known[k]);
        let entry = self.solve_row(lanes, row, &value, &mut vectors[0]);
        self.near.scatter(lanes, row, &entry, &mut vectors[1]);
    }

    #[inline(always)]
    fn advance_pair<L: Lanes>(&mut self, lanes: L, count: usize, vectors: &mut [GroupVector; 2]) {
        let first = self.near.row_count() - 2 - 2 * count;
        let second = first + 1;
        let [step, left] = vectors;
        let known = self.near.gather_both(lanes, first, step);
        let coupled = self.near.times_within(lanes, first, &step[first]);
        let value: Row3 = std::array::from_fn(|k| left[second][k] - coupled[k] - known[1][k]);
        let lower = self.solve_row(lanes, second, &value, step);
        let coupled = self.near.transposed_times_within(lanes, first, &lower);
        let value: Row3 = std::array::from_fn(|k| left[first][k] - coupled[k] - known[0][k]);
        let upper = self.solve_row(lanes, first, &value, step);
        self.near.scatter_both(lanes, first, [&upper, &lower], left);
    }

    fn finish<L: Lanes>(self, _lanes: L, _vectors: &[GroupVector; 2]) {}
}

impl Backward<'_> {
    /// Solves for a row, replaces e by e + d in `step`, and returns that entry.
    #[inline(always)]
    fn solve_row<L: Lanes>(
        &mut self,
        lanes: L,
        row: usize,
        value: &Row3,
        step: &mut GroupVector,
    ) -> Row3 {
        let found = lanes.times(&self.diagonals.inverses[row], value);
        // D e = D̃ e − (D̃ − D) e is solved for along with the rest.
        let excess = self.diagonals.excesses[row];
        let entry: Row3 = std::array::from_fn(|k| found[k] + excess * step[row][k]);
        step[row] = entry;
        for (solution, entry) in self.solution[row].iter_mut().zip(&entry) {
            *solution += entry;
        }
        entry
    }
}
