// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tangent matrix of a Newton step: the Hessian ∇²Φ made positive definite, on a sparsity pattern built once.
//!
//! Each block is gathered from the elements that contain both its vertices, so that blocks are assembled in parallel
//! with results that do not depend on the order; a few rows at a time, which fit into the cache.

mod pattern_scalars;
mod scalar_part;

use super::equations_of_motion::EquationsOfMotion;
use crate::{
    forces::{
        BlockCode, BlockColumns, BlockContributions, Elements, StrainHistory, Tangents, block_code,
    },
    linear_solver::{
        BlockMatrix, BlockPair, GROUP, GroupBlocks, Ordering, Pattern, ScalarCouplings,
        ScalarPattern,
    },
    mesh::Incidence,
    simd::{Block, Kernel, Lanes, dispatch},
    time_integration::Stage,
    vec3::Vec3,
};
use nalgebra::Matrix3;
use rayon::prelude::*;
use scalar_part::ScalarPart;
use sprs::CsMatI;
use std::{ops::Range, slice::IterMut, sync::Arc};

/// Rows that are assembled together; a divisor of the group size.
const STRIP_ROWS: usize = 32;

/// Tangent matrix and the plan of its assembly.
#[derive(Clone, Debug)]
pub(crate) struct TangentMatrix {
    pub(crate) matrix: BlockMatrix,
    /// Order of the rows.
    pub(crate) ordering: Arc<Ordering>,
    /// Plan of every group of rows.
    assembly_plans: Vec<AssemblyPlan>,
    scalar_part: ScalarPart,
}

/// Assembly plan of a group of rows.
#[derive(Clone, Debug)]
struct AssemblyPlan {
    /// Elements of each kind that contain a vertex of the rows, in ascending order.
    elements_by_kind: Vec<Vec<u32>>,
    /// Strips of [`STRIP_ROWS`] rows.
    strips: Vec<RowStrip>,
}

/// Contributions to the blocks of some rows: those inside the group, row by row, then those outside.
#[derive(Clone, Debug, Default)]
struct RowStrip {
    block_count: usize,
    /// Kind of element and tile, in ascending order, with their contributions.
    contributions: Vec<([u32; 2], BlockContributions)>,
}

/// All elements by kind, the elements of every vertex, and the rows of vertices.
struct ElementKinds<'a> {
    ordering: &'a Ordering,
    elements: &'a [Box<dyn Elements>],
    incidences: Vec<Incidence>,
}

/// Contribution of an element to a block, in the order in which contributions are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BlockContribution {
    column: u32,
    /// Kind of the element.
    kind: u32,
    /// Tile of the element.
    tile: u32,
    /// Position of the block in the element.
    code: BlockCode,
}

/// Columns of a group of rows, and the end of those of each row.
#[derive(Default)]
struct ColumnLists {
    list: Vec<u32>,
    ends: Vec<usize>,
}

impl ColumnLists {
    fn rows(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.list[start..*end])
    }
}

/// Contributions to the off-diagonal blocks of some rows, by column and kind, and the start of each row followed by the
/// end of the last.
struct ContributionLists {
    starts: Vec<usize>,
    list: Vec<BlockContribution>,
}

impl TangentMatrix {
    pub(crate) fn new(dynamics: &EquationsOfMotion) -> Self {
        let count = dynamics.vertex_count();
        let ordering = Ordering::new(count, &dynamics.coupled_pairs());
        let kinds = ElementKinds::new(&ordering, &dynamics.elements.kinds, count);
        let starts = (0..count).into_par_iter().step_by(GROUP);
        let (columns, assembly_plans): (Vec<ColumnLists>, Vec<AssemblyPlan>) =
            starts.map(|first| kinds.assembly_plan(first..(first + GROUP).min(count))).unzip();
        drop(kinds);
        let pattern = Pattern::of_rows(columns.iter().flat_map(ColumnLists::rows));
        drop(columns);
        let matrix = BlockMatrix::new(Arc::new(pattern));
        Self {
            matrix,
            ordering: Arc::new(ordering),
            assembly_plans,
            scalar_part: ScalarPart::default(),
        }
    }

    /// Assembles the matrix at the positions where the forces were last evaluated.
    pub(crate) fn assemble(&mut self, dynamics: &mut EquationsOfMotion, stage: &Stage) {
        self.assemble_without_couplings(dynamics, stage);
        self.merge_scalars();
    }

    /// Assembles the matrix without the scalar part outside of the diagonal.
    fn assemble_without_couplings(&mut self, dynamics: &mut EquationsOfMotion, stage: &Stage) {
        for elements in &mut dynamics.elements.kinds {
            elements.update_tangent();
        }
        let dynamics = &*dynamics;
        self.update_scalars(dynamics, stage);
        let Self { matrix, ordering, assembly_plans: recipes, scalar_part, .. } = self;
        let pattern = Arc::clone(matrix.pattern());
        let has_air = dynamics.external_forces.air.is_active();
        matrix.fill(|mut group| {
            let sums = assemble_group(&dynamics.elements.kinds, recipes, &pattern, &mut group);
            let rows = group.rows.clone().zip(&mut *group.diagonals);
            for ((row, diagonal), sum) in rows.zip(&sums) {
                let nodal = nodal_matrix(dynamics, stage, ordering.vertex(row), has_air)
                    + Matrix3::identity() * scalar_part.diagonal(row);
                *diagonal = Block::from_matrix(&(nodal - sum.to_matrix()));
            }
            if stage.extrapolation_factor > 1.0 {
                group.scale(1.0 / stage.extrapolation_factor as f32);
            }
        });
    }

    /// Updates the part that does not depend on the shape.
    fn update_scalars(&mut self, dynamics: &EquationsOfMotion, stage: &Stage) {
        self.clear_scalars();
        let mut parts = dynamics.elements.kinds.iter().filter_map(|one| one.scalar_stiffness());
        let Some(stiffness) = parts.next() else { return };
        let factor = 1.0 / stage.extrapolation_factor;
        let Self { matrix, ordering, scalar_part, .. } = self;
        if !scalar_part.is_up_to_date(stiffness, factor) {
            scalar_part.update(stiffness, factor, ordering, matrix.pattern());
        }
    }

    /// Adds the scalar part outside of the diagonal to a matrix that has just been assembled: to the blocks where there
    /// are any.
    fn merge_scalars(&mut self) {
        self.scalar_part.in_blocks.add_to(&mut self.matrix);
        self.matrix.set_scalars(Arc::clone(&self.scalar_part.outside));
    }

    /// Replaces the scalar part outside of the diagonal by a symmetric matrix of the vertices.
    pub(crate) fn set_scalars(&mut self, matrix: &CsMatI<f64, u32>) {
        let matrix = self.ordering.permuted(matrix);
        let pattern = Arc::new(ScalarPattern::of(&matrix, |_, _| true));
        self.matrix.set_scalars(Arc::new(ScalarCouplings::of(&matrix, f64::clone, pattern).0));
    }

    /// Removes the scalar part outside of the diagonal.
    pub(crate) fn clear_scalars(&mut self) {
        self.matrix.set_scalars(Arc::default());
    }

    /// Replaces the matrix by another one on the same pattern.
    pub(crate) fn replace(&mut self, matrix: &BlockMatrix) {
        self.matrix.clone_from(matrix);
    }

    /// Fills the matrix with the blocks `value(vertex, other)`.
    pub(crate) fn fill_with(&mut self, value: impl Fn(usize, usize) -> Block + Sync) {
        let Self { matrix, ordering, .. } = self;
        matrix.fill_by(|row, column| value(ordering.vertex(row), ordering.vertex(column)));
    }

    /// Matrix of the elements alone at `positions`, with viscosity at 1/β in 1/s, without the scalar part outside of the
    /// diagonal.
    pub(crate) fn element_matrix(
        &mut self,
        dynamics: &mut EquationsOfMotion,
        positions: &[Vec3],
        inverse_beta: f64,
    ) -> &BlockMatrix {
        let references = dynamics.elements.measure(positions);
        let mut forces = vec![Vec3::zeros(); positions.len()];
        for (elements, reference) in dynamics.elements.kinds.iter_mut().zip(&references) {
            let history = StrainHistory { reference: reference.as_slice(), inverse_beta };
            elements.evaluate(positions, history, &mut forces);
        }
        self.assemble_without_couplings(dynamics, &Stage::STATIC);
        &self.matrix
    }
}

impl<'a> ElementKinds<'a> {
    fn new(ordering: &'a Ordering, elements: &'a [Box<dyn Elements>], vertex_count: usize) -> Self {
        let around = |elements: &dyn Elements| {
            Incidence::of_list(elements.vertices(), elements.corner_count(), vertex_count)
        };
        let incidences = elements.iter().map(|one| around(one.as_ref())).collect();
        Self { ordering, elements, incidences }
    }

    /// Columns of a group of rows, and their assembly plan.
    fn assembly_plan(&self, rows: Range<usize>) -> (ColumnLists, AssemblyPlan) {
        let members = self.elements_around(&rows);
        let (mut columns, mut strips) = (ColumnLists::default(), Vec::new());
        for first in rows.clone().step_by(STRIP_ROWS) {
            let own = first..(first + STRIP_ROWS).min(rows.end);
            let entries = self.contributions(&own, &members);
            strips.push(RowStrip::new(own.start, &entries));
            for row in 0..own.len() {
                columns.list.extend(entries.blocks(row).map(|block| block[0].column));
                columns.ends.push(columns.list.len());
            }
        }
        (columns, AssemblyPlan { elements_by_kind: members, strips })
    }

    /// Elements of each kind that contain a vertex of some rows, in ascending order.
    fn elements_around(&self, rows: &Range<usize>) -> Vec<Vec<u32>> {
        let around = |incidence: &Incidence| {
            let all = rows.clone().flat_map(|row| incidence.elements_of(self.ordering.vertex(row)));
            let mut members: Vec<u32> = all.map(|(element, _)| element).collect();
            members.sort_unstable();
            members.dedup();
            members.shrink_to_fit();
            members
        };
        self.incidences.iter().map(around).collect()
    }

    /// Contributions to the off-diagonal blocks of some rows.
    fn contributions(&self, rows: &Range<usize>, members: &[Vec<u32>]) -> ContributionLists {
        let mut entries = ContributionLists { starts: vec![0], list: Vec::new() };
        for row in rows.clone() {
            let first = entries.list.len();
            let own = self.ordering.vertex(row);
            for (kind, elements) in self.elements.iter().enumerate() {
                if elements.scalar_stiffness().is_some() {
                    continue;
                }
                let count = elements.corner_count();
                for (element, corner) in self.incidences[kind].elements_of(own) {
                    let member = members[kind].partition_point(|other| *other < element);
                    let vertices = &elements.vertices()[element as usize * count..][..count];
                    for (other, vertex) in vertices.iter().enumerate() {
                        if *vertex as usize != own {
                            let (tile, code) =
                                block_code(count, member, usize::from(corner), other);
                            let column = self.ordering.row(*vertex as usize) as u32;
                            entries.list.push(BlockContribution {
                                column,
                                kind: kind as u32,
                                tile,
                                code,
                            });
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

impl ContributionLists {
    /// Contributions to a row, block by block.
    fn blocks(&self, row: usize) -> impl Iterator<Item = &[BlockContribution]> {
        self.list[self.starts[row]..self.starts[row + 1]].chunk_by(|a, b| a.column == b.column)
    }
}

impl RowStrip {
    /// Strip of the rows from `first` on.
    fn new(first: usize, entries: &ContributionLists) -> Self {
        let mut strip = Self::default();
        for is_outside in [false, true] {
            for (row, place) in (first..).zip(1..entries.starts.len()) {
                for block in entries.blocks(place - 1) {
                    let column = block[0].column as usize;
                    let is_far = column / GROUP != row / GROUP;
                    if is_far == is_outside && (is_far || column < row) {
                        strip.push(block);
                    }
                }
            }
        }
        for (_, contributions) in &mut strip.contributions {
            contributions.shrink_to_fit();
        }
        strip
    }

    fn push(&mut self, block: &[BlockContribution]) {
        let key = |entry: &BlockContribution| [entry.kind, entry.tile];
        for chunk in block.chunk_by(|a, b| key(a) == key(b)) {
            let own = key(&chunk[0]);
            let place = self.contributions.binary_search_by_key(&own, |(key, _)| *key);
            let place = place.unwrap_or_else(|place| {
                self.contributions.insert(place, (own, BlockContributions::default()));
                place
            });
            self.contributions[place]
                .1
                .push(self.block_count, chunk.iter().map(|entry| entry.code));
        }
        self.block_count += 1;
    }
}

/// Assembles the off-diagonal blocks of a group, and returns their sum over each row. No element resists a translation,
/// so that the elements contribute minus this sum to the diagonal; formed like this, the inertia of light vertices
/// survives the rounding errors of stiff elements.
fn assemble_group(
    elements: &[Box<dyn Elements>],
    recipes: &[AssemblyPlan],
    pattern: &Pattern,
    group: &mut GroupBlocks<'_>,
) -> Vec<BlockSum> {
    let mut sums = vec![BlockSum::default(); group.rows.len()];
    let (mut pairs, mut outside) = (group.pairs.iter_mut(), group.far.iter_mut());
    let mut blocks: Vec<BlockColumns> = Vec::new();
    let recipe = &recipes[group.rows.start / GROUP];
    let members = elements.iter().zip(&recipe.elements_by_kind);
    let tangents: Vec<Box<dyn Tangents>> =
        members.map(|(elements, members)| elements.tangents(members)).collect();
    for (start, strip) in group.rows.clone().step_by(STRIP_ROWS).zip(&recipe.strips) {
        let rows = start..(start + STRIP_ROWS).min(group.rows.end);
        blocks.clear();
        blocks.resize(strip.block_count, BlockColumns::default());
        for ([kind, tile], contributions) in &strip.contributions {
            tangents[*kind as usize].add_blocks(*tile, contributions, &mut blocks);
        }
        dispatch(DistributeBlocks {
            pattern,
            rows,
            blocks: &blocks,
            pairs: &mut pairs,
            far_blocks: &mut outside,
            sums: &mut sums,
        });
    }
    sums
}

/// Distributes the blocks of some rows to the storage of the matrix, and sums them by rows.
struct DistributeBlocks<'a, 'b> {
    pattern: &'a Pattern,
    rows: Range<usize>,
    blocks: &'a [BlockColumns],
    pairs: &'a mut IterMut<'b, BlockPair>,
    far_blocks: &'a mut IterMut<'b, Block>,
    /// Sum of every row of the group.
    sums: &'a mut [BlockSum],
}

impl Kernel for DistributeBlocks<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { pattern, rows, blocks, pairs, far_blocks: outside, sums } = self;
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
struct BlockSum([[f64; 4]; 3]);

impl BlockSum {
    #[inline(always)]
    fn add<L: Lanes>(&mut self, lanes: L, block: &Block) {
        for (sum, column) in self.0.iter_mut().zip(&block.0) {
            *sum = lanes.to_numbers(lanes.plus(lanes.load_four(sum), lanes.widened(column)));
        }
    }

    fn to_matrix(self) -> Matrix3<f64> {
        Matrix3::from_fn(|i, j| self.0[j][i])
    }
}

/// Contribution of a vertex to the diagonal: m/β², the spring target, and the drag of the air.
fn nodal_matrix(
    dynamics: &EquationsOfMotion,
    stage: &Stage,
    vertex: usize,
    has_air: bool,
) -> Matrix3<f64> {
    let beta = stage.beta;
    let inertia = Matrix3::identity() * (dynamics.masses.vertices[vertex] / (beta * beta));
    let spring = dynamics.spring_target(vertex).map_or(0.0, |target| target.stiffness);
    let drag = dynamics.point_damping.coefficient(dynamics.masses.vertices[vertex]) / beta;
    let nodal = inertia + Matrix3::identity() * (spring + drag);
    if has_air { nodal + dynamics.external_forces.air.resistance(vertex) / beta } else { nodal }
}

#[cfg(test)]
mod tests;
