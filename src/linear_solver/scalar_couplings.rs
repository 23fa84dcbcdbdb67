// SPDX-License-Identifier: MIT OR Apache-2.0
//! The part K ⊗ I₃ of a symmetric matrix outside of its diagonal: one number for each pair of rows.
//!
//! Entries are stored in both halves, those inside a group of rows (see `pattern`) apart from the others: to read a
//! number twice costs less than to scatter its product with the transpose. Which pairs have an entry is kept apart from
//! the values, so that what depends on it is built once.

use super::{group_product::GroupVector, pattern::GROUP};
use crate::simd::{Lanes, Row3};
use sprs::CsMatI;
use std::{ops::Range, sync::Arc};

/// Entries of a row that are multiplied in one iteration of a loop.
const UNROLLED: usize = 4;

/// Rows and columns of the entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScalarPattern {
    /// For every row its first entry inside the group and the first of those right of the diagonal, and the end of the
    /// last row; empty without entries.
    near_starts: Vec<u32>,
    /// Columns counted from the start of the group.
    near_columns: Vec<u8>,
    /// First entry outside of the group of every row, and end of the last.
    far_starts: Vec<u32>,
    far_columns: Vec<u32>,
}

impl ScalarPattern {
    /// Those entries of a symmetric matrix that `is_kept(row, column)`, which is the same in either order of both.
    pub(crate) fn of<N>(matrix: &CsMatI<N, u32>, is_kept: impl Fn(usize, usize) -> bool) -> Self {
        const { assert!(GROUP == 1 << u8::BITS) };
        let mut own = Self { near_starts: vec![0], far_starts: vec![0], ..Self::default() };
        for row in 0..matrix.rows() {
            let slots = matrix.indptr().outer_inds_sz(row);
            let columns = matrix.indices()[slots].iter();
            let kept = columns.filter(|column| is_kept(row, **column as usize)).copied();
            own.push_row(row, &kept.collect::<Vec<u32>>());
        }
        own.near_columns.shrink_to_fit();
        own.far_columns.shrink_to_fit();
        own
    }

    /// Adds a row below all others; the diagonal is left out of its `columns`.
    fn push_row(&mut self, row: usize, columns: &[u32]) {
        let is_near = |column: &&u32| **column as usize / GROUP == row / GROUP;
        let (left, right) = columns.split_at(columns.partition_point(|c| (*c as usize) < row));
        for half in [left, right] {
            let others = half.iter().filter(|column| **column as usize != row);
            let near =
                others.clone().filter(is_near).map(|column| (*column as usize % GROUP) as u8);
            self.near_columns.extend(near);
            self.near_starts.push(self.near_columns.len() as u32);
            self.far_columns.extend(others.filter(|column| !is_near(column)));
        }
        self.far_starts.push(self.far_columns.len() as u32);
    }

    /// Whether there are no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.near_columns.is_empty() && self.far_columns.is_empty()
    }

    /// Columns of the entries below the diagonal and inside the group of a row.
    pub(crate) fn lower(&self, row: usize) -> impl Iterator<Item = usize> {
        self.columns(row, self.near_slots(2 * row, 2 * row + 1))
    }

    /// Columns of all entries inside the group of a row.
    fn near(&self, row: usize) -> impl Iterator<Item = usize> {
        self.columns(row, self.near_slots(2 * row, 2 * row + 2))
    }

    fn columns(&self, row: usize, slots: Range<usize>) -> impl Iterator<Item = usize> {
        let first = row / GROUP * GROUP;
        self.near_columns[slots].iter().map(move |column| first + usize::from(*column))
    }

    /// Columns of the entries outside the group of a row.
    pub(crate) fn far(&self, row: usize) -> &[u32] {
        &self.far_columns[self.far_slots(row)]
    }

    fn near_slots(&self, first: usize, end: usize) -> Range<usize> {
        let starts = &self.near_starts;
        if self.is_empty() { 0..0 } else { starts[first] as usize..starts[end] as usize }
    }

    #[inline(always)]
    fn far_slots(&self, row: usize) -> Range<usize> {
        let starts = &self.far_starts;
        if self.is_empty() { 0..0 } else { starts[row] as usize..starts[row + 1] as usize }
    }
}

/// Entries of K with their values.
#[derive(Clone, Debug, Default)]
pub struct ScalarCouplings {
    pub(crate) pattern: Arc<ScalarPattern>,
    near_values: Vec<f32>,
    far_values: Vec<f32>,
}

impl ScalarCouplings {
    /// The entries of a symmetric matrix on a pattern, and its diagonal with all that the pattern leaves out added to
    /// it, so that the sum of each row stays. `number` turns what the matrix is stored as into entries.
    pub(crate) fn of<N>(
        matrix: &CsMatI<N, u32>,
        number: impl Fn(&N) -> f64,
        pattern: Arc<ScalarPattern>,
    ) -> (Self, Vec<f64>) {
        let mut own = Self {
            near_values: Vec::with_capacity(pattern.near_columns.len()),
            far_values: Vec::with_capacity(pattern.far_columns.len()),
            pattern: Arc::clone(&pattern),
        };
        let mut diagonal = vec![0.0; matrix.rows()];
        for (row, diagonal) in diagonal.iter_mut().enumerate() {
            let slots = matrix.indptr().outer_inds_sz(row);
            let entries = matrix.indices()[slots.clone()].iter().zip(&matrix.data()[slots]);
            let mut near = pattern.near(row).peekable();
            let mut far = pattern.far(row).iter().peekable();
            for (column, value) in entries {
                let value = number(value);
                if near.next_if_eq(&(*column as usize)).is_some() {
                    own.near_values.push(value as f32);
                } else if far.next_if(|next| *next == column).is_some() {
                    own.far_values.push(value as f32);
                } else {
                    *diagonal += value;
                }
            }
        }
        (own, diagonal)
    }

    /// These entries times a factor.
    pub(crate) fn scaled(mut self, factor: f32) -> Self {
        for value in self.near_values.iter_mut().chain(&mut self.far_values) {
            *value *= factor;
        }
        self
    }

    /// Number of entries below the diagonal inside of groups, and of those between groups in both halves.
    #[must_use]
    pub fn entry_counts(&self) -> [usize; 2] {
        [self.near_values.len() / 2, self.far_values.len()]
    }

    /// Entries inside the group whose rows these are.
    #[inline(always)]
    pub(crate) fn group(&self, rows: &Range<usize>) -> GroupScalars<'_> {
        if self.near_values.is_empty() {
            return GroupScalars { starts: &[], columns: &[], values: &[] };
        }
        let starts = &self.pattern.near_starts[2 * rows.start..=2 * rows.end];
        let slots = starts[0] as usize..starts[2 * rows.len()] as usize;
        GroupScalars {
            starts,
            columns: &self.pattern.near_columns[slots.clone()],
            values: &self.near_values[slots],
        }
    }

    /// Calls `visit(row, column, value)` for all entries below the diagonal in the first `count` rows.
    pub(crate) fn visit_lower(&self, count: usize, mut visit: impl FnMut(usize, usize, f32)) {
        for row in 0..if self.pattern.is_empty() { 0 } else { count } {
            let slots = self.pattern.near_slots(2 * row, 2 * row + 1);
            for (column, value) in self.pattern.lower(row).zip(&self.near_values[slots]) {
                visit(row, column, *value);
            }
            let (columns, values) = self.far(row);
            let entries = columns.iter().zip(values);
            for (column, value) in entries.take_while(|(other, _)| (**other as usize) < row) {
                visit(row, *column as usize, *value);
            }
        }
    }

    /// Whether there are entries between groups.
    pub(crate) fn has_far_entries(&self) -> bool {
        !self.far_values.is_empty()
    }

    /// Columns and values of the entries outside the group of a row.
    #[inline(always)]
    pub(crate) fn far(&self, row: usize) -> (&[u32], &[f32]) {
        if !self.has_far_entries() {
            return (&[], &[]);
        }
        let slots = self.pattern.far_slots(row);
        (&self.pattern.far_columns[slots.clone()], &self.far_values[slots])
    }

    /// Product of the entries outside the group of a row with a vector.
    #[inline(always)]
    pub(crate) fn far_product<L: Lanes>(&self, lanes: L, row: usize, vector: &[Row3]) -> Row3 {
        let (columns, values) = self.far(row);
        product(lanes, columns, values, |column| &vector[*column as usize])
    }

    /// Adds the product with a vector to `result`.
    pub(crate) fn add_product(&self, vector: &[Row3], result: &mut [Row3]) {
        self.visit_lower(result.len(), |row, column, value| {
            for k in 0..4 {
                result[row][k] += value * vector[column][k];
                result[column][k] += value * vector[row][k];
            }
        });
    }
}

/// Sum of values times the rows of a vector in their columns. Even and odd entries are summed apart, because every sum
/// waits for the one before.
#[inline(always)]
fn product<'a, L: Lanes, Column>(
    lanes: L,
    columns: &[Column],
    values: &[f32],
    row_of: impl Fn(&Column) -> &'a Row3,
) -> Row3 {
    let [mut even, mut odd] = [[0.0; 4]; 2];
    let (columns, last_columns) = columns.as_chunks::<UNROLLED>();
    let (values, last_values) = values.as_chunks::<UNROLLED>();
    for (columns, values) in columns.iter().zip(values) {
        for k in (0..UNROLLED).step_by(2) {
            even = lanes.plus_multiple(&even, values[k], row_of(&columns[k]));
            odd = lanes.plus_multiple(&odd, values[k + 1], row_of(&columns[k + 1]));
        }
    }
    for (column, value) in last_columns.iter().zip(last_values) {
        even = lanes.plus_multiple(&even, *value, row_of(column));
    }
    lanes.plus_multiple(&even, 1.0, &odd)
}

/// Entries of K inside a group of rows.
#[derive(Clone, Copy)]
pub(crate) struct GroupScalars<'a> {
    /// For each row its first entry and the first of those right of the diagonal, and the end of the last row; empty
    /// without entries.
    starts: &'a [u32],
    columns: &'a [u8],
    values: &'a [f32],
}

impl<'a> GroupScalars<'a> {
    /// Product of the entries left of the diagonal in a row with a vector.
    #[inline(always)]
    pub(crate) fn left_product<L: Lanes>(
        &self,
        lanes: L,
        row: usize,
        vector: &GroupVector,
    ) -> Row3 {
        self.product(lanes, 2 * row, 2 * row + 1, vector)
    }

    /// Product of the entries right of the diagonal in a row with a vector.
    #[inline(always)]
    pub(crate) fn right_product<L: Lanes>(
        &self,
        lanes: L,
        row: usize,
        vector: &GroupVector,
    ) -> Row3 {
        self.product(lanes, 2 * row + 1, 2 * row + 2, vector)
    }

    /// Product of all entries in a row with a vector.
    #[inline(always)]
    pub(crate) fn row_product<L: Lanes>(&self, lanes: L, row: usize, vector: &GroupVector) -> Row3 {
        self.product(lanes, 2 * row, 2 * row + 2, vector)
    }

    #[inline(always)]
    fn product<L: Lanes>(&self, lanes: L, first: usize, end: usize, vector: &GroupVector) -> Row3 {
        let (columns, values) = self.entries(first, end);
        product(lanes, columns, values, |column| &vector[usize::from(*column)])
    }

    /// Columns in the group and values left of the diagonal in a row.
    #[inline(always)]
    pub(crate) fn left(&self, row: usize) -> impl Iterator<Item = (usize, f32)> + use<'a> {
        let (columns, values) = self.entries(2 * row, 2 * row + 1);
        columns.iter().zip(values).map(|(column, value)| (usize::from(*column), *value))
    }

    #[inline(always)]
    fn entries(&self, first: usize, end: usize) -> (&'a [u8], &'a [f32]) {
        let Some(start) = self.starts.first() else { return (&[], &[]) };
        let slots = (self.starts[first] - start) as usize..(self.starts[end] - start) as usize;
        (&self.columns[slots.clone()], &self.values[slots])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        linear_solver::{BlockMatrix, Pattern},
        simd::Block,
    };
    use nalgebra::DMatrix;
    use sprs::TriMatI;

    /// Rows over three groups, the last of which is not full.
    const COUNT: usize = 2 * GROUP + 40;

    fn number(seed: usize) -> f64 {
        (seed * 37 % 101) as f64 / 50.0 - 1.0
    }

    /// Any symmetric matrix with entries near the diagonal, between groups, and rows that have none.
    fn symmetric() -> CsMatI<f64, u32> {
        let mut entries = TriMatI::new((COUNT, COUNT));
        for row in (0..COUNT).filter(|row| row % 9 != 4) {
            entries.add_triplet(row, row, 5.0 + number(row));
            for step in [1, 2, 7, 41, GROUP + 3] {
                let other = row + step;
                if other < COUNT && other % 9 != 4 {
                    entries.add_triplet(row, other, number(row * step + 3));
                    entries.add_triplet(other, row, number(row * step + 3));
                }
            }
        }
        entries.to_csr()
    }

    fn is_kept(row: usize, column: usize) -> bool {
        !(row + column).is_multiple_of(5)
    }

    fn vector() -> Vec<Row3> {
        let value = |seed| number(seed) as f32;
        (0..COUNT).map(|i| [value(i), value(3 * i + 1), value(i * i + 2), 0.0]).collect()
    }

    fn to_dense(matrix: &CsMatI<f64, u32>) -> DMatrix<f64> {
        let entry = |row, column| matrix.get(row, column).copied().unwrap_or(0.0);
        DMatrix::from_fn(COUNT, COUNT, entry)
    }

    /// Largest difference of a product from that of a dense matrix.
    fn error(dense: &DMatrix<f64>, vector: &[Row3], found: &[Row3]) -> f64 {
        let columns = |rows: &[Row3]| DMatrix::from_fn(COUNT, 3, |i, k| f64::from(rows[i][k]));
        (dense * columns(vector) - columns(found)).amax()
    }

    #[test]
    fn the_product_is_that_of_the_dense_matrix() {
        let matrix = symmetric();
        let (scalars, _) =
            ScalarCouplings::of(&matrix, f64::clone, Arc::new(ScalarPattern::of(&matrix, is_kept)));
        let mut dense = to_dense(&matrix) * 3.0;
        for (row, column) in (0..COUNT).flat_map(|row| (0..COUNT).map(move |other| (row, other))) {
            if row == column || !is_kept(row, column) {
                dense[(row, column)] = 0.0;
            }
        }
        let scalars = scalars.scaled(3.0);
        let vector = vector();
        let mut found = vec![[0.0; 4]; COUNT];
        scalars.add_product(&vector, &mut found);
        assert!(error(&dense, &vector, &found) < 1e-5);
        // The same as a part of a matrix of blocks.
        let pairs: Vec<[u32; 2]> = (1..COUNT as u32).map(|row| [row - 1, row]).collect();
        let elements: Vec<&[u32]> = pairs.iter().map(<[u32; 2]>::as_slice).collect();
        let mut blocks = BlockMatrix::new(Arc::new(Pattern::of_elements(COUNT, &elements)));
        blocks
            .fill_by(|row, column| Block::scaled_identity(if row == column { 4.0 } else { -0.5 }));
        blocks.set_scalars(Arc::new(scalars));
        for row in 0..COUNT {
            dense[(row, row)] = 4.0;
            if row > 0 {
                dense[(row, row - 1)] -= 0.5;
                dense[(row - 1, row)] -= 0.5;
            }
        }
        let product = blocks.times_and_dot(&vector, &mut found);
        assert!(error(&dense, &vector, &found) < 1e-5);
        assert!((product - crate::simd::dot(&vector, &found)).abs() < 1e-9 * product.abs());
        assert!((product - blocks.quadratic_form(&vector)).abs() < 1e-5 * product.abs());
    }

    /// The entries that a pattern leaves out go to the diagonal, so that a translation meets the same forces.
    #[test]
    fn what_is_left_out_leaves_the_sums_of_rows() {
        let matrix = symmetric();
        let dense = to_dense(&matrix);
        let ones = vec![[1.0, 0.0, 0.0, 0.0]; COUNT];
        let choices: [fn(usize, usize) -> bool; 3] = [|_, _| true, is_kept, |_, _| false];
        for is_kept in choices {
            let pattern = ScalarPattern::of(&matrix, is_kept);
            let (scalars, diagonal) = ScalarCouplings::of(&matrix, f64::clone, Arc::new(pattern));
            let mut found = vec![[0.0; 4]; COUNT];
            scalars.add_product(&ones, &mut found);
            for (sum, own) in found.iter_mut().zip(&diagonal) {
                sum[0] += *own as f32;
            }
            assert!(error(&dense, &ones, &found) < 1e-5);
        }
    }
}
