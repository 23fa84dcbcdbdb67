// SPDX-License-Identifier: MIT OR Apache-2.0
//! The matrix of a correction: ∇²Φ made positive definite, on a structure built once.
//!
//! Each block is gathered from the elements that have both its vertices, so that blocks are filled in parallel
//! without order mattering; a few rows at a time, so that they stay in the cache meanwhile.

use super::{dynamics::Dynamics, scheme::Stage};
use crate::{
    Vec3,
    forces::{BlockColumns, BlockParts, Elements, StrainHistory, block_code},
    mesh::Incidence,
    solver::{Block, BlockMatrix, BlockPair, GROUP, GroupBlocks, Kernel, Lanes, Pattern, dispatch},
};
use nalgebra::Matrix3;
use rayon::prelude::*;
use std::{ops::Range, slice::IterMut, sync::Arc};

/// Rows that are filled together; a part of a group.
const ROWS: usize = 32;

/// The matrix and what its blocks are made of.
#[derive(Clone, Debug)]
pub(super) struct Tangent {
    pub(super) matrix: BlockMatrix,
    /// For every [`ROWS`] rows.
    recipes: Vec<Recipe>,
}

/// What the blocks of some rows are made of: those inside the group, row by row, then those outside.
#[derive(Clone, Debug, Default)]
struct Recipe {
    block_count: usize,
    /// By kind of elements.
    kinds: Vec<BlockParts>,
}

/// All elements, and those around every vertex.
struct Kinds<'a> {
    elements: &'a [Box<dyn Elements>],
    incidences: Vec<Incidence>,
}

/// Column of a block, kind of an element, and the code of its block.
type Entry = (u32, u16, u32);

impl Tangent {
    pub(super) fn new(dynamics: &Dynamics) -> Self {
        let count = dynamics.vertex_count();
        let kinds = Kinds::new(&dynamics.elements, count);
        let starts = (0..count).into_par_iter().step_by(ROWS);
        let (rows, recipes): (Vec<Vec<Vec<u32>>>, Vec<Recipe>) =
            starts.map(|first| kinds.recipe(first..(first + ROWS).min(count))).unzip();
        let pattern = Pattern::of_rows(rows.iter().flatten().map(Vec::as_slice));
        Self { matrix: BlockMatrix::new(Arc::new(pattern)), recipes }
    }

    /// Fills the matrix at the shape that the forces were last evaluated at.
    pub(super) fn fill(&mut self, dynamics: &mut Dynamics, stage: &Stage) {
        for elements in &mut dynamics.elements {
            elements.update_tangent();
        }
        let dynamics = &*dynamics;
        let Self { matrix, recipes } = self;
        let pattern = Arc::clone(matrix.pattern());
        let has_air = dynamics.air.is_felt();
        matrix.fill(|mut group| {
            let sums = fill_group(&dynamics.elements, recipes, &pattern, &mut group);
            let rows = group.rows.clone().zip(&mut *group.diagonals);
            for ((row, diagonal), sum) in rows.zip(&sums) {
                let point = point_matrix(dynamics, stage, row, has_air);
                *diagonal = Block::from_matrix(&(point - sum.to_matrix()));
            }
            if stage.reach > 1.0 {
                group.scale(1.0 / stage.reach as f32);
            }
        });
    }

    /// The matrix of the elements alone at a shape, with viscosity at 1/β in 1/s.
    pub(super) fn of_elements(
        &mut self,
        dynamics: &mut Dynamics,
        positions: &[Vec3],
        inverse_beta: f64,
    ) -> &BlockMatrix {
        let references = dynamics.measure_anew(positions);
        let mut forces = vec![Vec3::zeros(); positions.len()];
        for (elements, reference) in dynamics.elements.iter_mut().zip(&references) {
            let history = StrainHistory { reference: reference.as_slice(), inverse_beta };
            elements.evaluate(positions, history, &mut forces);
        }
        self.fill(dynamics, &Stage::STILL);
        &self.matrix
    }
}

impl<'a> Kinds<'a> {
    fn new(elements: &'a [Box<dyn Elements>], vertex_count: usize) -> Self {
        let around = |elements: &dyn Elements| {
            Incidence::of_list(elements.vertices(), elements.corner_count(), vertex_count)
        };
        Self { elements, incidences: elements.iter().map(|one| around(one.as_ref())).collect() }
    }

    /// Columns of some rows, and what their blocks are made of.
    fn recipe(&self, rows: Range<usize>) -> (Vec<Vec<u32>>, Recipe) {
        let entries: Vec<Vec<Entry>> = rows.clone().map(|row| self.entries(row)).collect();
        let kinds = vec![BlockParts::default(); self.elements.len()];
        let mut recipe = Recipe { block_count: 0, kinds };
        for is_outside in [false, true] {
            for (row, entries) in rows.clone().zip(&entries) {
                for block in entries.chunk_by(|a, b| a.0 == b.0) {
                    let column = block[0].0 as usize;
                    let is_far = column / GROUP != row / GROUP;
                    if is_far == is_outside && (is_far || column < row) {
                        recipe.push(block);
                    }
                }
            }
        }
        for kind in &mut recipe.kinds {
            kind.shrink_to_fit();
        }
        let columns = |entries: &Vec<Entry>| {
            entries.chunk_by(|a, b| a.0 == b.0).map(|block| block[0].0).collect()
        };
        (entries.iter().map(columns).collect(), recipe)
    }

    /// All that a row is made of but its diagonal, by column and kind.
    fn entries(&self, row: usize) -> Vec<Entry> {
        let mut entries = Vec::new();
        for (kind, (elements, incidence)) in self.elements.iter().zip(&self.incidences).enumerate()
        {
            let count = elements.corner_count();
            for (element, corner) in incidence.around(row) {
                let (element, corner) = (*element as usize, usize::from(*corner));
                let vertices = &elements.vertices()[element * count..(element + 1) * count];
                for (other, column) in vertices.iter().enumerate() {
                    if *column as usize != row {
                        let code = block_code(count, element, corner, other);
                        entries.push((*column, kind as u16, code));
                    }
                }
            }
        }
        entries.sort_unstable();
        entries
    }
}

impl Recipe {
    fn push(&mut self, block: &[Entry]) {
        for part in block.chunk_by(|a, b| a.1 == b.1) {
            let kind = &mut self.kinds[usize::from(part[0].1)];
            kind.push(self.block_count, part.iter().map(|entry| entry.2));
        }
        self.block_count += 1;
    }
}

/// Fills a group but for its diagonals, and gives the sum of each row's other blocks. No element resists a translation,
/// so the elements' part of the diagonal is minus this sum; formed so, it leaves the inertia of light vertices
/// standing where the rounding of stiff elements would drown it.
fn fill_group(
    elements: &[Box<dyn Elements>],
    recipes: &[Recipe],
    pattern: &Pattern,
    group: &mut GroupBlocks<'_>,
) -> Vec<Sum> {
    let mut sums = vec![Sum::default(); group.rows.len()];
    let (mut pairs, mut outside) = (group.pairs.iter_mut(), group.far.iter_mut());
    let mut blocks: Vec<BlockColumns> = Vec::new();
    for start in group.rows.clone().step_by(ROWS) {
        let rows = start..(start + ROWS).min(group.rows.end);
        let recipe = &recipes[start / ROWS];
        blocks.clear();
        blocks.resize(recipe.block_count, BlockColumns::default());
        for (elements, parts) in elements.iter().zip(&recipe.kinds) {
            elements.fill_blocks(parts, &mut blocks);
        }
        dispatch(Distribute {
            pattern,
            rows,
            blocks: &blocks,
            pairs: &mut pairs,
            outside: &mut outside,
            sums: &mut sums,
        });
    }
    sums
}

/// Puts the blocks of some rows where they belong, and sums them up.
struct Distribute<'a, 'b> {
    pattern: &'a Pattern,
    rows: Range<usize>,
    blocks: &'a [BlockColumns],
    pairs: &'a mut IterMut<'b, BlockPair>,
    outside: &'a mut IterMut<'b, Block>,
    /// For every row of the group.
    sums: &'a mut [Sum],
}

impl Kernel for Distribute<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { pattern, rows, blocks, pairs, outside, sums } = self;
        let first = rows.start / GROUP * GROUP;
        let mut blocks = blocks.iter();
        let empty = BlockColumns::default();
        for row in rows.clone() {
            let mut own = sums[row - first];
            let columns = &pattern.near_columns()[pattern.pairs(row)];
            for ([a, b], pair) in columns.iter().zip(&mut *pairs) {
                let left = Block(*blocks.next().unwrap_or(&empty));
                let right = if a == b { empty } else { *blocks.next().unwrap_or(&empty) };
                let right = Block(right);
                own.add(lanes, &left);
                own.add(lanes, &right);
                let [left_transposed, right_transposed] = lanes.transposed(&left, &right);
                sums[usize::from(*a)].add(lanes, &left_transposed);
                sums[usize::from(*b)].add(lanes, &right_transposed);
                pair.set(0, &left);
                pair.set(1, &right);
            }
            sums[row - first] = own;
        }
        let far = pattern.far();
        for position in far.positions(&rows) {
            let row = far.rows()[position] as usize;
            for block in outside.by_ref().take(far.slots(position).len()) {
                *block = Block(*blocks.next().unwrap_or(&empty));
                sums[row - first].add(lanes, block);
            }
        }
    }
}

/// Sum of blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Sum([[f64; 4]; 3]);

impl Sum {
    #[inline(always)]
    fn add<L: Lanes>(&mut self, lanes: L, block: &Block) {
        for (sum, column) in self.0.iter_mut().zip(&block.0) {
            *sum = lanes.numbers(lanes.plus(lanes.four(sum), lanes.widened(column)));
        }
    }

    fn to_matrix(self) -> Matrix3<f64> {
        Matrix3::from_fn(|i, j| self.0[j][i])
    }
}

/// m/β² plus the resistance of the air.
fn point_matrix(dynamics: &Dynamics, stage: &Stage, vertex: usize, has_air: bool) -> Matrix3<f64> {
    let beta = stage.beta;
    let inertia = Matrix3::identity() * (dynamics.masses[vertex] / (beta * beta));
    let drawn = dynamics.goal(vertex).map_or(0.0, |goal| goal.stiffness);
    let points = inertia + Matrix3::identity() * drawn;
    if has_air { points + dynamics.air.resistance(vertex) / beta } else { points }
}
