// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sparsity pattern of a symmetric block matrix.
//!
//! Rows are gathered into groups of [`GROUP`] consecutive ones. Inside a group only the blocks below the diagonal are
//! stored, in pairs; each also represents its transpose. Blocks between different groups are stored in both halves, so
//! that every group can be processed by a thread of its own.

use sprs::{CsMatI, CsStructureI, TriMatI};
use std::ops::Range;

/// Rows of a group.
pub const GROUP: usize = 256;

/// Largest number of groups per thread that are distributed evenly.
const MAX_EVEN_GROUPS: usize = 8;

/// Rows of a task. Few groups are distributed evenly over the threads, many in pairs, because the sweeps of two groups
/// are interleaved. No result depends on it.
pub(crate) fn task_length(row_count: usize) -> usize {
    let groups = row_count.div_ceil(GROUP).div_ceil(rayon::current_num_threads());
    if groups > MAX_EVEN_GROUPS { 2 * GROUP } else { groups.max(2) * GROUP }
}

/// Sparse rows: columns of those rows that have any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SparseRows {
    /// Rows that have columns, ascending.
    rows: Vec<u32>,
    /// First column of each listed row, and end of the last; empty without rows.
    starts: Vec<u32>,
    /// Columns of each listed row, ascending.
    columns: Vec<u32>,
}

impl SparseRows {
    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.starts.clear();
        self.columns.clear();
    }

    /// Releases unused capacity.
    fn shrink_to_fit(&mut self) {
        for list in [&mut self.rows, &mut self.starts, &mut self.columns] {
            list.shrink_to_fit();
        }
    }

    /// Adds a row below all others, if it has columns.
    pub(crate) fn push_row(&mut self, row: u32, columns: impl Iterator<Item = u32>) {
        let first = self.columns.len();
        self.columns.extend(columns);
        if self.columns.len() > first {
            if self.starts.is_empty() {
                self.starts.push(0);
            }
            self.rows.push(row);
            self.starts.push(self.columns.len() as u32);
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Rows that have columns, in ascending order.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Columns of all rows.
    #[must_use]
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The slots in [`Self::columns`] of the row at a `position` in [`Self::rows`].
    #[must_use]
    pub fn slots(&self, position: usize) -> Range<usize> {
        self.starts[position] as usize..self.starts[position + 1] as usize
    }

    /// Columns of a row, in ascending order.
    pub(super) fn columns_of(&self, row: u32) -> &[u32] {
        let slots = self.rows.binary_search(&row).map(|position| self.slots(position));
        &self.columns[slots.unwrap_or_default()]
    }

    /// Positions in [`Self::rows`] of the rows within a range.
    #[must_use]
    pub fn positions(&self, rows: &Range<usize>) -> Range<usize> {
        let position = |end: usize| self.rows.partition_point(|row| (*row as usize) < end);
        position(rows.start)..position(rows.end)
    }

    /// The slot of a column, if it is there.
    #[must_use]
    pub fn slot(&self, row: u32, column: u32) -> Option<usize> {
        let slots = self.slots(self.rows.binary_search(&row).ok()?);
        let place = self.columns[slots.clone()].binary_search(&column).ok()?;
        Some(slots.start + place)
    }
}

/// Sparsity pattern of a symmetric block matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// First pair of blocks left of the diagonal of every row, and end of the last.
    near_starts: Vec<u32>,
    /// Columns of a pair, counted from the start of the group, ascending; a single block repeats its column.
    near_columns: Vec<[u16; 2]>,
    /// Columns of other groups.
    far: SparseRows,
    /// Whether rows and columns come in pairs, each with blocks in the same columns.
    has_row_pairs: bool,
}

impl Pattern {
    /// The pattern in which the vertices of every element are coupled.
    #[must_use]
    pub fn of_elements(row_count: usize, elements: &[&[u32]]) -> Self {
        let mut entries = TriMatI::<u32, u32>::new((row_count, row_count));
        for element in elements {
            for row in *element {
                for column in *element {
                    entries.add_triplet(*row as usize, *column as usize, 1);
                }
            }
        }
        Self::of_matrix(&entries.to_csr())
    }

    /// The pattern of a symmetric sparse matrix.
    pub(crate) fn of_matrix<N>(matrix: &CsMatI<N, u32>) -> Self {
        Self::of_rows((0..matrix.rows()).map(|row| columns(matrix, row)))
    }

    /// The pattern of rows of ascending columns without repetition. Diagonals are always there.
    pub fn of_rows<'a>(rows: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut near_starts = vec![0];
        let (mut near_columns, mut far) = (Vec::new(), SparseRows::default());
        for (row, columns) in rows.enumerate() {
            let start = row / GROUP * GROUP;
            let is_near = |column: &u32| *column as usize / GROUP == row / GROUP;
            let below =
                columns.iter().filter(|column| is_near(column) && (**column as usize) < row);
            let below: Vec<u16> = below.map(|column| (*column as usize - start) as u16).collect();
            near_columns
                .extend(below.chunks(2).map(|pair| [pair[0], *pair.last().unwrap_or(&pair[0])]));
            near_starts.push(near_columns.len() as u32);
            far.push_row(row as u32, columns.iter().copied().filter(|column| !is_near(column)));
        }
        near_starts.shrink_to_fit();
        near_columns.shrink_to_fit();
        far.shrink_to_fit();
        Self { near_starts, near_columns, far, has_row_pairs: false }
    }

    /// The pattern of pairs of rows, each with all blocks of the pairs in its columns, which are ascending.
    pub(crate) fn of_row_pairs<'a>(pairs: impl Iterator<Item = &'a [u32]>) -> Self {
        const { assert!(GROUP.is_multiple_of(2)) };
        let columns: Vec<Vec<u32>> = pairs
            .map(|others| others.iter().flat_map(|other| [2 * other, 2 * other + 1]).collect())
            .collect();
        let rows = columns.iter().flat_map(|columns| [columns.as_slice(); 2]);
        Self { has_row_pairs: true, ..Self::of_rows(rows) }
    }

    /// Whether rows and columns come in pairs, each with blocks in the same columns: rows 2k and 2k + 1 then have the same
    /// pairs of blocks but for the last of the second row, which couples it to the first.
    #[must_use]
    pub fn has_row_pairs(&self) -> bool {
        self.has_row_pairs
    }

    /// Number of rows.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.near_starts.len() - 1
    }

    /// Number of pairs of blocks inside groups.
    #[must_use]
    pub fn pair_count(&self) -> usize {
        self.near_columns.len()
    }

    /// The pairs of a row.
    #[must_use]
    pub fn pairs(&self, row: usize) -> Range<usize> {
        self.near_starts[row] as usize..self.near_starts[row + 1] as usize
    }

    /// Columns of each pair of blocks, counted from the first row of the group.
    #[must_use]
    pub fn near_columns(&self) -> &[[u16; 2]] {
        &self.near_columns
    }

    /// Columns left of the diagonal and inside the group of a row, counted from the first row of the group.
    pub fn near(&self, row: usize) -> impl Iterator<Item = u16> {
        let pairs = self.near_columns[self.pairs(row)].iter();
        pairs.flat_map(|[first, second]| {
            std::iter::once(*first).chain((first != second).then_some(*second))
        })
    }

    /// Columns outside the groups of rows.
    #[must_use]
    pub fn far(&self) -> &SparseRows {
        &self.far
    }

    /// The blocks below the diagonal as a sparse matrix in compressed rows.
    #[must_use]
    pub fn lower_triangle(&self) -> CsStructureI<u32> {
        let (mut starts, mut columns) = (vec![0], Vec::new());
        for row in 0..self.row_count() {
            let far = self.far.columns_of(row as u32).iter();
            columns.extend(far.take_while(|column| (**column as usize) < row));
            let first = group_rows(row).start as u32;
            columns.extend(self.near(row).map(|column| first + u32::from(column)));
            starts.push(columns.len() as u32);
        }
        let values = vec![(); columns.len()];
        CsStructureI::new((self.row_count(), self.row_count()), starts, columns, values)
    }

    /// Whether there is a block outside of the diagonal at a place.
    pub(crate) fn has(&self, row: usize, column: usize) -> bool {
        if row / GROUP == column / GROUP {
            self.near_slot(row.max(column), row.min(column)).is_some()
        } else {
            self.far.slot(row as u32, column as u32).is_some()
        }
    }

    /// Slot of the first block outside of the group whose rows these are.
    pub(crate) fn far_start(&self, rows: &Range<usize>) -> usize {
        let position = self.far.positions(rows).start;
        self.far.starts.get(position).map_or(0, |start| *start as usize)
    }

    /// First pair of every row, and end of the last.
    pub(crate) fn near_starts(&self) -> &[u32] {
        &self.near_starts
    }

    /// The pair of a block inside a group, and which of the two it is; `row` is the larger index.
    pub(crate) fn near_slot(&self, row: usize, column: usize) -> Option<(usize, usize)> {
        let local = (column % GROUP) as u16;
        let pairs = self.pairs(row);
        let place =
            self.near_columns[pairs.clone()].iter().position(|pair| pair.contains(&local))?;
        let pair = pairs.start + place;
        Some((pair, usize::from(self.near_columns[pair][0] != local)))
    }
}

/// Rows that a group of rows starting at `first` reaches to.
pub(crate) fn group_rows(row: usize) -> Range<usize> {
    let first = row / GROUP * GROUP;
    first..first + GROUP
}

/// The columns of a row of a sparse matrix in compressed rows, in ascending order.
pub(crate) fn columns<N>(matrix: &CsMatI<N, u32>, row: usize) -> &[u32] {
    &matrix.indices()[matrix.indptr().outer_inds_sz(row)]
}
