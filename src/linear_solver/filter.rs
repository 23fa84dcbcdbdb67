// SPDX-License-Identifier: MIT OR Apache-2.0
//! Directions that are eliminated from a linear system A d = b: Baraff and Witkin 1998, sections 5.1 and 5.3, and Etzmuss 2002,
//! section 4.2.
//!
//! A vertex whose displacement is prescribed along some directions has the projector S = I − Σ ccᵀ onto the others
//! ([`Filter`]). With d = z + y, where z is prescribed along directions q and y is free, Etzmuss 2002, eq. 4.3, becomes
//! S A S y = S (b − A z); the force along q is then qᵀ(A d − b) ([`Prescribed`]). Both need only the rows qᵀA, which
//! are gathered before the filter projects them out of the matrix.

use super::{block_matrix::BlockMatrix, pattern::GROUP, rank_one_term::RankOneTerm};
use crate::{
    simd::{self, Block, Row3},
    vec3::Vec3,
};
use nalgebra::Matrix3;
use rayon::prelude::*;
use std::ops::Range;

/// The projectors of the rows of all constrained vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Constrained rows in ascending order, each with its projector.
    projectors: Vec<(u32, Block)>,
    /// Position in `projectors` plus 1, or 0, for every row.
    index: Vec<u32>,
}

impl Filter {
    /// No constraints on `row_count` rows.
    #[must_use]
    pub fn new(row_count: usize) -> Self {
        Self { projectors: Vec::new(), index: vec![0; row_count] }
    }

    /// Removes all constraints.
    pub fn clear(&mut self) {
        for (row, _) in self.projectors.drain(..) {
            self.index[row as usize] = 0;
        }
    }

    /// Constrains a row to the range of `projector`. Rows have to be added in ascending order.
    pub fn constrain(&mut self, row: usize, projector: &Matrix3<f64>) {
        debug_assert!(self.projectors.last().is_none_or(|(last, _)| (*last as usize) < row));
        self.projectors.push((row as u32, Block::from_matrix(projector)));
        self.index[row] = self.projectors.len() as u32;
    }

    /// Whether nothing is constrained.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.projectors.is_empty()
    }

    /// Projects `vector` onto the free directions.
    pub fn apply(&self, vector: &mut [Row3]) {
        for (row, projector) in &self.projectors {
            let entry = &mut vector[*row as usize];
            *entry = projector.times(entry);
        }
    }

    /// Projects the diagonal blocks of a matrix that commute with S.
    pub(super) fn project_blocks(&self, blocks: &mut [Block]) {
        for (row, projector) in &self.projectors {
            let block = &mut blocks[*row as usize];
            *block = projector.product(block);
        }
    }

    /// Turns A into S A S + (I − S)·δ with δ the mean diagonal of the row, so that a preconditioner of the matrix
    /// respects the constraints.
    pub fn apply_to(&self, matrix: &mut BlockMatrix) {
        if self.is_empty() {
            return;
        }
        matrix.map(
            |row| self.index[row] > 0,
            |row, column, block| {
                let (left, right) = (self.projector(row), self.projector(column));
                let mut result = left.map_or(*block, |left| left.product(block));
                result = right.map_or(result, |right| result.product(right));
                if let (Some(projector), true) = (left, row == column) {
                    keep_definite(&mut result, projector);
                }
                result
            },
        );
    }

    /// All constrained rows in ascending order, each with its projector.
    pub(super) fn projectors(&self) -> impl Iterator<Item = (u32, Block)> {
        self.projectors.iter().copied()
    }

    /// S of a row; `None` where it is the identity.
    pub(super) fn projector(&self, row: usize) -> Option<&Block> {
        let position = self.index[row].checked_sub(1)?;
        Some(&self.projectors[position as usize].1)
    }
}

fn keep_definite(diagonal: &mut Block, projector: &Block) {
    let free = projector.trace();
    let trace = diagonal.trace();
    // All three directions are constrained: the row is 0, and any positive value makes it definite.
    let scale = if free > 0.5 { trace / free } else { 1.0 };
    diagonal.add(&Block::scaled_identity(scale));
    diagonal.add_scaled(-scale, projector);
}

/// A direction along which the displacement of a row is prescribed.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    /// Row of the vertex.
    pub row: usize,
    /// Unit vector.
    pub unit: Vec3,
    /// Prescribed displacement along the unit vector, in m.
    pub displacement: f64,
}

/// Prescribed displacements along directions of rows, and the rows qᵀA of these directions.
#[derive(Clone, Debug, Default)]
pub struct Prescribed {
    directions: Vec<Direction>,
    /// Entries of the matrix along the unit vectors, in N/m.
    stiffnesses: Vec<f64>,
    /// Entries of the rows in each group of the matrix, in the order in which the blocks are stored.
    groups: Vec<Vec<RowEntry>>,
    /// Right side b; empty where nothing is prescribed.
    loads: Vec<Row3>,
    /// Terms of the matrix of the last elimination, before the filter; empty where nothing is prescribed.
    rank_one_terms: Vec<RankOneTerm>,
}

/// An entry of one of the rows.
#[derive(Clone, Copy, Debug)]
struct RowEntry {
    /// Number of the direction.
    direction: u32,
    column: u32,
    entry: Row3,
}

impl Prescribed {
    /// Replaces the directions, which come in ascending order of their rows.
    pub fn set(&mut self, directions: impl Iterator<Item = Direction>) {
        self.directions.clear();
        self.directions.extend(directions);
    }

    /// Gathers the rows qᵀA and subtracts A z from `right_side`, before the filter is applied to the matrix.
    pub fn eliminate(
        &mut self,
        matrix: &BlockMatrix,
        rank_one_terms: &[RankOneTerm],
        right_side: &mut [Row3],
    ) {
        self.loads.clear();
        self.rank_one_terms.clear();
        if self.directions.is_empty() {
            return;
        }
        self.loads.extend_from_slice(right_side);
        let stiffness = |direction: &Direction| {
            let unit = rounded(&direction.unit);
            along(&matrix.diagonals()[direction.row].times(&unit), &direction.unit)
        };
        self.stiffnesses.clear();
        self.stiffnesses.extend(self.directions.iter().map(stiffness));
        let units = self.directions.iter().map(|one| (one.row as u32, rounded(&one.unit)));
        self.gather(matrix, &units.collect::<Vec<_>>());
        self.rank_one_terms.extend_from_slice(rank_one_terms);
        self.subtract(right_side);
    }

    fn gather(&mut self, matrix: &BlockMatrix, directions: &[(u32, Row3)]) {
        let count = matrix.pattern().row_count();
        self.groups.resize_with(count.div_ceil(GROUP), Vec::new);
        self.groups.par_iter_mut().enumerate().for_each(|(group, entries)| {
            let rows = group * GROUP..((group + 1) * GROUP).min(count);
            let place = |end: usize| directions.partition_point(|(row, _)| (*row as usize) < end);
            let numbers = place(rows.start)..place(rows.end);
            entries.clear();
            if !numbers.is_empty() {
                gather_group(matrix, (directions, numbers), &rows, entries);
            }
        });
    }

    fn subtract(&self, right_side: &mut [Row3]) {
        for RowEntry { direction, column, entry } in self.groups.iter().flatten() {
            let displacement = self.directions[*direction as usize].displacement;
            let right = &mut right_side[*column as usize];
            *right = std::array::from_fn(|k| right[k] - displacement as f32 * entry[k]);
        }
        for term in &self.rank_one_terms {
            let components = self
                .directions
                .iter()
                .map(|one| one.displacement * along(&term.vector[one.row], &one.unit));
            term.add_to(-term.factor * components.sum::<f64>(), right_side);
        }
    }

    /// Whether any displacement is prescribed.
    #[must_use]
    pub fn is_any(&self) -> bool {
        !self.directions.is_empty()
    }

    /// Adds the prescribed displacements to the free components of a solution.
    pub fn complete(&self, solution: &mut [Row3]) {
        for Direction { row, unit, displacement } in &self.directions {
            let given = rounded(&(unit * *displacement));
            solution[*row] = std::array::from_fn(|k| solution[*row][k] + given[k]);
        }
    }

    /// The right side b of the last elimination, from its filtered values `free`.
    #[must_use]
    pub fn loads<'a>(&'a self, free: &'a [Row3]) -> &'a [Row3] {
        if self.directions.is_empty() { free } else { &self.loads }
    }

    /// The directions with the entry qᵀAq of the matrix in N/m and the force qᵀ(A d − b) in N of a `solution` d.
    /// `scalar_loads` is the product of d with what is not in the matrix; empty if nothing is.
    pub fn forces(
        &self,
        solution: &[Row3],
        scalar_loads: &[Row3],
    ) -> impl Iterator<Item = (&Direction, f64, f64)> {
        let mut products = self.products(solution);
        for (product, one) in products.iter_mut().zip(&self.directions) {
            *product += scalar_loads.get(one.row).map_or(0.0, |load| along(load, &one.unit));
        }
        let entries = self.directions.iter().zip(&self.stiffnesses).zip(products);
        entries.map(|((one, stiffness), product)| {
            (one, *stiffness, product - along(&self.loads[one.row], &one.unit))
        })
    }

    /// qᵀA d for every direction.
    fn products(&self, solution: &[Row3]) -> Vec<f64> {
        let mut sums = vec![0.0; self.directions.len()];
        // Without directions the rows are those of an earlier elimination.
        if sums.is_empty() {
            return sums;
        }
        for RowEntry { direction, column, entry } in self.groups.iter().flatten() {
            sums[*direction as usize] += dot(entry, &solution[*column as usize]);
        }
        for term in &self.rank_one_terms {
            let component = term.factor * simd::dot(&term.vector, solution);
            for (sum, one) in sums.iter_mut().zip(&self.directions) {
                *sum += component * along(&term.vector[one.row], &one.unit);
            }
        }
        sums
    }
}

/// Gathers the entries of one group of rows for the directions with these numbers.
fn gather_group(
    matrix: &BlockMatrix,
    (directions, numbers): (&[(u32, Row3)], Range<usize>),
    rows: &Range<usize>,
    entries: &mut Vec<RowEntry>,
) {
    let mut places = [None; GROUP];
    for number in numbers {
        places[directions[number].0 as usize - rows.start] = Some(number);
    }
    let mut visit = |row: usize, column: usize, block: &Block, is_transposed: bool| {
        let Some(number) = places[row - rows.start] else { return };
        let along = &directions[number].1;
        let entry = if is_transposed { block.times(along) } else { across(along, block) };
        entries.push(RowEntry { direction: number as u32, column: column as u32, entry });
    };
    for row in rows.clone() {
        visit(row, row, &matrix.diagonals()[row], false);
    }
    let is_wanted = |row: usize| places[row - rows.start].is_some();
    matrix.visit_group_blocks(rows, is_wanted, |row, column, block| {
        visit(row, column, block, false);
        visit(column, row, block, true);
    });
    for outer in matrix.off_group_blocks() {
        outer.visit(rows, |row, column, block| visit(row, column, block, false));
    }
}

/// qᵀB.
fn across(direction: &Row3, block: &Block) -> Row3 {
    let [x, y, z] = block.0.map(|column| dot(direction, &column) as f32);
    [x, y, z, 0.0]
}

fn dot(a: &Row3, b: &Row3) -> f64 {
    (0..3).map(|k| f64::from(a[k]) * f64::from(b[k])).sum()
}

fn along(entry: &Row3, unit: &Vec3) -> f64 {
    (0..3).map(|k| f64::from(entry[k]) * unit[k]).sum()
}

fn rounded(vector: &Vec3) -> Row3 {
    [vector.x as f32, vector.y as f32, vector.z as f32, 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear_solver::pattern::Pattern;
    use std::sync::Arc;

    /// Triangles in a strip over two groups of rows, with any symmetric blocks, and two rows coupled across.
    fn matrix(count: u32) -> BlockMatrix {
        let triangles: Vec<[u32; 3]> = (2..count).map(|last| [last - 2, last - 1, last]).collect();
        let elements: Vec<&[u32]> = triangles.iter().map(<[u32; 3]>::as_slice).collect();
        let pattern = Pattern::of_elements(count as usize, &elements);
        let mut matrix = BlockMatrix::new(Arc::new(pattern));
        let upper = |i: usize, j: usize| {
            Block(std::array::from_fn(|k| {
                std::array::from_fn(|l| {
                    let number =
                        7 * i + 11 * j + if i == j { k.min(l) * 3 + k.max(l) } else { 3 * k + l };
                    if l < 3 { (number % 13) as f32 - 6.0 } else { 0.0 }
                })
            }))
        };
        matrix.fill_by(|i, j| if i > j { upper(j, i).transposed() } else { upper(i, j) });
        matrix.set_contact_blocks(&[(3, 290, upper(1, 2))]);
        matrix
    }

    fn number(seed: usize) -> f32 {
        (seed * 37 % 101) as f32 / 50.0 - 1.0
    }

    #[test]
    fn rows_are_those_of_the_product() {
        let matrix = matrix(300);
        let vector: Vec<Row3> =
            (0..300).map(|i| [number(i), number(2 * i + 1), number(i + 5), 0.0]).collect();
        let mut image = vec![[0.0; 4]; 300];
        matrix.times(&vector, &mut image);
        let directions = [0, 3, 100, 255, 256, 290, 299].map(|row| Direction {
            row,
            unit: Vec3::new(0.5, f64::from(number(row)), -0.3),
            displacement: 0.0,
        });
        let mut prescribed = Prescribed::default();
        prescribed.set(directions.into_iter());
        let load = [0.25, -1.0, 2.0, 0.0];
        prescribed.eliminate(&matrix, &[], &mut vec![load; 300]);
        for (Direction { row, unit, .. }, stiffness, force) in prescribed.forces(&vector, &[]) {
            let expected = along(&image[*row], unit) - along(&load, unit);
            assert!((force - expected).abs() < 1.0e-4, "row {row}");
            let own = along(&matrix.diagonals()[*row].times(&rounded(unit)), unit);
            assert!((stiffness - own).abs() < 1.0e-12, "row {row}");
        }
    }

    #[test]
    fn what_is_given_is_taken_from_the_right_side() {
        let matrix = matrix(300);
        let directions = [
            Direction { row: 3, unit: Vec3::x(), displacement: 2.0 },
            Direction { row: 256, unit: Vec3::new(0.0, 0.6, 0.8), displacement: -0.5 },
        ];
        let mut prescribed = Prescribed::default();
        prescribed.set(directions.into_iter());
        let mut right_side = vec![[0.0; 4]; 300];
        prescribed.eliminate(&matrix, &[], &mut right_side);
        let mut given = vec![[0.0; 4]; 300];
        prescribed.complete(&mut given);
        let mut image = vec![[0.0; 4]; 300];
        matrix.times(&given, &mut image);
        for (right, image) in right_side.iter().zip(&image) {
            assert!((0..3).all(|k| (right[k] + image[k]).abs() < 1.0e-4), "{right:?}, {image:?}");
        }
        prescribed.set(std::iter::empty());
        prescribed.eliminate(&matrix, &[], &mut right_side);
        assert_eq!(prescribed.forces(&given, &[]).count(), 0);
    }
}
