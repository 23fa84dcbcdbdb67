// SPDX-License-Identifier: MIT OR Apache-2.0
//! The part K ⊗ I₃ of a symmetric matrix outside of its diagonal: one number for each pair of rows.
//!
//! Entries are stored as the blocks are (see `pattern`): inside a group of rows only those below the diagonal, between
//! groups both halves. Which pairs have an entry is kept apart from the values, so that what depends on it is built
//! once.

use super::pattern::GROUP;
use crate::simd::Row3;
use sprs::CsMatI;
use std::{ops::Range, sync::Arc};

/// Rows and columns of the entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScalarPattern {
    /// First entry below the diagonal and inside the group of every row, and end of the last; empty without entries.
    near_starts: Vec<u32>,
    /// Columns counted from the start of the group.
    near_columns: Vec<u8>,
    /// First entry outside of the group of every row, and end of the last.
    far_starts: Vec<u32>,
    far_columns: Vec<u32>,
}

impl ScalarPattern {
    /// Those entries of a symmetric matrix that `is_kept(row, column)`, which is the same in either order of both.
    pub(crate) fn of(matrix: &CsMatI<f64, u32>, is_kept: impl Fn(usize, usize) -> bool) -> Self {
        const { assert!(GROUP == 1 << u8::BITS) };
        let mut own = Self { near_starts: vec![0], far_starts: vec![0], ..Self::default() };
        for row in 0..matrix.rows() {
            let slots = matrix.indptr().outer_inds_sz(row);
            for column in &matrix.indices()[slots] {
                let other = *column as usize;
                if other == row || !is_kept(row, other) {
                    continue;
                }
                if other / GROUP != row / GROUP {
                    own.far_columns.push(*column);
                } else if other < row {
                    own.near_columns.push((other % GROUP) as u8);
                }
            }
            own.near_starts.push(own.near_columns.len() as u32);
            own.far_starts.push(own.far_columns.len() as u32);
        }
        own
    }

    /// Whether there are no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.near_columns.is_empty() && self.far_columns.is_empty()
    }

    /// Columns of the entries below the diagonal and inside the group of a row.
    pub(crate) fn near(&self, row: usize) -> impl Iterator<Item = usize> {
        let first = row / GROUP * GROUP;
        self.near_columns[self.slots(&self.near_starts, row)]
            .iter()
            .map(move |column| first + usize::from(*column))
    }

    /// Columns of the entries outside the group of a row.
    pub(crate) fn far(&self, row: usize) -> &[u32] {
        &self.far_columns[self.slots(&self.far_starts, row)]
    }

    #[inline(always)]
    fn slots(&self, starts: &[u32], row: usize) -> Range<usize> {
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
    /// it, so that the sum of each row stays.
    pub(crate) fn of(matrix: &CsMatI<f64, u32>, pattern: Arc<ScalarPattern>) -> (Self, Vec<f64>) {
        let mut own = Self::default();
        let mut diagonal = vec![0.0; matrix.rows()];
        for row in 0..matrix.rows() {
            let slots = matrix.indptr().outer_inds_sz(row);
            let entries = matrix.indices()[slots.clone()].iter().zip(&matrix.data()[slots]);
            let mut near = pattern.near(row).peekable();
            let mut far = pattern.far(row).iter().peekable();
            for (column, value) in entries {
                diagonal[row] += value;
                if near.next_if_eq(&(*column as usize)).is_some() {
                    own.near_values.push(*value as f32);
                    diagonal[row] -= value;
                    diagonal[*column as usize] -= value;
                } else if far.next_if(|next| *next == column).is_some() {
                    own.far_values.push(*value as f32);
                    diagonal[row] -= value;
                }
            }
        }
        own.pattern = pattern;
        (own, diagonal)
    }

    /// These entries times a factor.
    pub(crate) fn scaled(mut self, factor: f32) -> Self {
        for value in self.near_values.iter_mut().chain(&mut self.far_values) {
            *value *= factor;
        }
        self
    }

    /// Number of entries that are stored below the diagonal, and of those that are stored in both halves.
    #[must_use]
    pub fn entry_counts(&self) -> [usize; 2] {
        [self.near_values.len(), self.far_values.len()]
    }

    /// Entries below the diagonal inside the group whose rows these are.
    #[inline(always)]
    pub(crate) fn lower(&self, rows: &Range<usize>) -> LowerScalars<'_> {
        if self.near_values.is_empty() {
            return LowerScalars { starts: &[], columns: &[], values: &[] };
        }
        let starts = &self.pattern.near_starts[rows.start..=rows.end];
        let slots = starts[0] as usize..starts[rows.len()] as usize;
        LowerScalars {
            starts,
            columns: &self.pattern.near_columns[slots.clone()],
            values: &self.near_values[slots],
        }
    }

    /// Calls `visit(row, column, value)` for all entries below the diagonal in the first `count` rows.
    pub(crate) fn visit_lower(&self, count: usize, mut visit: impl FnMut(usize, usize, f32)) {
        for row in 0..if self.pattern.is_empty() { 0 } else { count } {
            let slots = self.pattern.slots(&self.pattern.near_starts, row);
            for (column, value) in self.pattern.near(row).zip(&self.near_values[slots]) {
                visit(row, column, *value);
            }
            let (columns, values) = self.far(row);
            let entries = columns.iter().zip(values);
            for (column, value) in entries.take_while(|(other, _)| (**other as usize) < row) {
                visit(row, *column as usize, *value);
            }
        }
    }

    /// Columns and values of the entries outside the group of a row.
    #[inline(always)]
    pub(crate) fn far(&self, row: usize) -> (&[u32], &[f32]) {
        if self.far_values.is_empty() {
            return (&[], &[]);
        }
        let slots = self.pattern.slots(&self.pattern.far_starts, row);
        (&self.pattern.far_columns[slots.clone()], &self.far_values[slots])
    }

    /// Product of the entries outside the group of a row with a vector.
    #[inline(always)]
    pub(crate) fn far_product(&self, row: usize, vector: &[Row3]) -> Row3 {
        let (columns, values) = self.far(row);
        let mut sum = [0.0; 4];
        for (column, value) in columns.iter().zip(values) {
            let entry = &vector[*column as usize];
            for k in 0..4 {
                sum[k] += value * entry[k];
            }
        }
        sum
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

/// Entries of K below the diagonal of a group of rows.
#[derive(Clone, Copy)]
pub(crate) struct LowerScalars<'a> {
    /// First entry of every row, and end of the last; empty without entries.
    starts: &'a [u32],
    columns: &'a [u8],
    values: &'a [f32],
}

impl<'a> LowerScalars<'a> {
    /// Columns in the group and values left of the diagonal in a row.
    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (usize, f32)> + use<'a> {
        let slots = match self.starts {
            [] => 0..0,
            starts => {
                let first = starts[0];
                (starts[row] - first) as usize..(starts[row + 1] - first) as usize
            }
        };
        let columns = self.columns[slots.clone()].iter();
        columns.zip(&self.values[slots]).map(|(column, value)| (usize::from(*column), *value))
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
            ScalarCouplings::of(&matrix, Arc::new(ScalarPattern::of(&matrix, is_kept)));
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
            let (scalars, diagonal) = ScalarCouplings::of(&matrix, Arc::new(pattern));
            let mut found = vec![[0.0; 4]; COUNT];
            scalars.add_product(&ones, &mut found);
            for (sum, own) in found.iter_mut().zip(&diagonal) {
                sum[0] += *own as f32;
            }
            assert!(error(&dense, &ones, &found) < 1e-5);
        }
    }
}
