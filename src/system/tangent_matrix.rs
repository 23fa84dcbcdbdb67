// SPDX-License-Identifier: MIT OR Apache-2.0
//! The matrix of a correction: ∇²Φ made positive definite, on a structure built once.
//!
//! Each block is gathered from the elements that have both its vertices, so that blocks are filled in parallel
//! without order mattering; a few rows at a time, so that they stay in the cache meanwhile.

use super::equations_of_motion::Dynamics;
use crate::{
    Vec3,
    forces::{BlockCode, BlockColumns, BlockParts, Elements, StrainHistory, Tangents, block_code},
    linear_solver::{BlockMatrix, BlockPair, GROUP, GroupBlocks, Ordering, Pattern},
    mesh::Incidence,
    simd::{Block, Kernel, Lanes, dispatch},
    time_integration::Stage,
};
use nalgebra::Matrix3;
use rayon::prelude::*;
use std::{ops::Range, slice::IterMut, sync::Arc};

/// Rows that are filled together; a part of a group.
const ROWS: usize = 32;

/// The matrix and what its blocks are made of.
#[derive(Clone, Debug)]
pub(crate) struct Tangent {
    pub(crate) matrix: BlockMatrix,
    /// That of the rows.
    pub(crate) ordering: Arc<Ordering>,
    /// For every group of rows.
    recipes: Vec<Recipe>,
}

/// What the blocks of a group of rows are made of.
#[derive(Clone, Debug)]
struct Recipe {
    /// The elements of each kind around the rows, in ascending order.
    members: Vec<Vec<u32>>,
    /// For every [`ROWS`] rows.
    strips: Vec<Strip>,
}

/// What the blocks of some rows are made of: those inside the group, row by row, then those outside.
#[derive(Clone, Debug, Default)]
struct Strip {
    block_count: usize,
    /// Kind and tile, in ascending order, and what comes of them.
    parts: Vec<([u32; 2], BlockParts)>,
}

/// All elements, those around every vertex, and the rows of vertices.
struct Kinds<'a> {
    ordering: &'a Ordering,
    elements: &'a [Box<dyn Elements>],
    incidences: Vec<Incidence>,
}

/// Column of a block, kind of an element, and tile and code of its block.
type Entry = (u32, u32, (u32, BlockCode));

/// Columns of a group of rows, and where those of each row end.
#[derive(Default)]
struct Columns {
    list: Vec<u32>,
    ends: Vec<usize>,
}

impl Columns {
    fn rows(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.list[start..*end])
    }
}

/// All that some rows are made of but their diagonals, by column and kind, and where each row starts and the last ends.
struct Entries {
    starts: Vec<usize>,
    list: Vec<Entry>,
}

impl Tangent {
    pub(crate) fn new(dynamics: &Dynamics) -> Self {
        let count = dynamics.vertex_count();
        let ordering = Ordering::new(count, &dynamics.joints());
        let kinds = Kinds::new(&ordering, &dynamics.elements, count);
        let starts = (0..count).into_par_iter().step_by(GROUP);
        let (columns, recipes): (Vec<Columns>, Vec<Recipe>) =
            starts.map(|first| kinds.recipe(first..(first + GROUP).min(count))).unzip();
        drop(kinds);
        let pattern = Pattern::of_rows(columns.iter().flat_map(Columns::rows));
        drop(columns);
        let matrix = BlockMatrix::new(Arc::new(pattern));
        Self { matrix, ordering: Arc::new(ordering), recipes }
    }

    /// Fills the matrix at the shape that the forces were last evaluated at.
    pub(crate) fn fill(&mut self, dynamics: &mut Dynamics, stage: &Stage) {
        for elements in &mut dynamics.elements {
            elements.update_tangent();
        }
        let dynamics = &*dynamics;
        let Self { matrix, ordering, recipes } = self;
        let pattern = Arc::clone(matrix.pattern());
        let has_air = dynamics.air.is_felt();
        matrix.fill(|mut group| {
            let sums = fill_group(&dynamics.elements, recipes, &pattern, &mut group);
            let rows = group.rows.clone().zip(&mut *group.diagonals);
            for ((row, diagonal), sum) in rows.zip(&sums) {
                let point = point_matrix(dynamics, stage, ordering.vertex(row), has_air);
                *diagonal = Block::from_matrix(&(point - sum.to_matrix()));
            }
            if stage.reach > 1.0 {
                group.scale(1.0 / stage.reach as f32);
            }
        });
    }

    /// Fills the matrix with `value(vertex, other)`.
    pub(crate) fn fill_by(&mut self, value: impl Fn(usize, usize) -> Block + Sync) {
        let Self { matrix, ordering, .. } = self;
        matrix.fill_by(|row, column| value(ordering.vertex(row), ordering.vertex(column)));
    }

    /// The matrix of the elements alone at a shape, with viscosity at 1/β in 1/s.
    pub(crate) fn of_elements(
        &mut self,
        dynamics: &mut Dynamics,
        positions: &[Vec3],
        inverse_beta: f64,
    ) -> &BlockMatrix {
        let references = dynamics.measure(positions);
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
    fn new(ordering: &'a Ordering, elements: &'a [Box<dyn Elements>], vertex_count: usize) -> Self {
        let around = |elements: &dyn Elements| {
            Incidence::of_list(elements.vertices(), elements.corner_count(), vertex_count)
        };
        let incidences = elements.iter().map(|one| around(one.as_ref())).collect();
        Self { ordering, elements, incidences }
    }

    /// Columns of a group of rows, and what their blocks are made of.
    fn recipe(&self, rows: Range<usize>) -> (Columns, Recipe) {
        let members = self.members(&rows);
        let (mut columns, mut strips) = (Columns::default(), Vec::new());
        for first in rows.clone().step_by(ROWS) {
            let own = first..(first + ROWS).min(rows.end);
            let entries = self.entries(&own, &members);
            strips.push(Strip::new(own.start, &entries));
            for row in 0..own.len() {
                columns.list.extend(entries.blocks(row).map(|block| block[0].0));
                columns.ends.push(columns.list.len());
            }
        }
        (columns, Recipe { members, strips })
    }

    /// The elements of each kind around some rows, in ascending order.
    fn members(&self, rows: &Range<usize>) -> Vec<Vec<u32>> {
        let around = |incidence: &Incidence| {
            let all = rows.clone().flat_map(|row| incidence.around(self.ordering.vertex(row)));
            let mut members: Vec<u32> = all.map(|(element, _)| element).collect();
            members.sort_unstable();
            members.dedup();
            members.shrink_to_fit();
            members
        };
        self.incidences.iter().map(around).collect()
    }

    /// All that some rows are made of but their diagonals.
    fn entries(&self, rows: &Range<usize>, members: &[Vec<u32>]) -> Entries {
        let mut entries = Entries { starts: vec![0], list: Vec::new() };
        for row in rows.clone() {
            let first = entries.list.len();
            let own = self.ordering.vertex(row);
            for (kind, elements) in self.elements.iter().enumerate() {
                let count = elements.corner_count();
                for (element, corner) in self.incidences[kind].around(own) {
                    let member = members[kind].partition_point(|other| *other < element);
                    let vertices = &elements.vertices()[element as usize * count..][..count];
                    for (other, vertex) in vertices.iter().enumerate() {
                        if *vertex as usize != own {
                            let code = block_code(count, member, usize::from(corner), other);
                            let column = self.ordering.row(*vertex as usize) as u32;
                            entries.list.push((column, kind as u32, code));
                        }
                    }
                }
            }
            entries.list[first..].sort_unstable();
            entries.starts.push(entries.list.len());
        }
        entries
    }
}

impl Entries {
    /// The entries of a row, by columns.
    fn blocks(&self, row: usize) -> impl Iterator<Item = &[Entry]> {
        self.list[self.starts[row]..self.starts[row + 1]].chunk_by(|a, b| a.0 == b.0)
    }
}

impl Strip {
    /// Of the rows from the first on.
    fn new(first: usize, entries: &Entries) -> Self {
        let mut strip = Self::default();
        for is_outside in [false, true] {
            for (row, place) in (first..).zip(1..entries.starts.len()) {
                for block in entries.blocks(place - 1) {
                    let column = block[0].0 as usize;
                    let is_far = column / GROUP != row / GROUP;
                    if is_far == is_outside && (is_far || column < row) {
                        strip.push(block);
                    }
                }
            }
        }
        for (_, parts) in &mut strip.parts {
            parts.shrink_to_fit();
        }
        strip
    }

    fn push(&mut self, block: &[Entry]) {
        let key = |entry: &Entry| [entry.1, entry.2.0];
        for part in block.chunk_by(|a, b| key(a) == key(b)) {
            let own = key(&part[0]);
            let place = self.parts.binary_search_by_key(&own, |(key, _)| *key);
            let place = place.unwrap_or_else(|place| {
                self.parts.insert(place, (own, BlockParts::default()));
                place
            });
            self.parts[place].1.push(self.block_count, part.iter().map(|entry| entry.2.1));
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
    let recipe = &recipes[group.rows.start / GROUP];
    let members = elements.iter().zip(&recipe.members);
    let tangents: Vec<Box<dyn Tangents>> =
        members.map(|(elements, members)| elements.tangents(members)).collect();
    for (start, strip) in group.rows.clone().step_by(ROWS).zip(&recipe.strips) {
        let rows = start..(start + ROWS).min(group.rows.end);
        blocks.clear();
        blocks.resize(strip.block_count, BlockColumns::default());
        for ([kind, tile], parts) in &strip.parts {
            tangents[*kind as usize].add_blocks(*tile, parts, &mut blocks);
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
