// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sparse matrix over hinges, most of whose rows reach no farther than the next edges.

use super::hinges::Hinges;

/// Entries of one row: column and value.
pub(super) type Row = Vec<(u32, f64)>;

/// Coefficients of a hinge and its four neighbours at fixed places, everything farther off in lists.
///
/// Single precision halves the memory traffic of a product. A constant curvature has the least energy over ψ, so that
/// errors of P change the rigidity by their square only.
#[derive(Clone, Debug, Default)]
pub(super) struct HingeMatrix {
    /// Diagonal coefficient of each hinge, and a 0 past the last for boundary edges.
    own: Vec<f32>,
    /// On each side of each hinge, of both neighbours there; again one pair more.
    near: Vec<[[f32; 2]; 2]>,
    far: FarEntries,
    /// Farther entries of the transposed matrix; its nearer entries are those above.
    transposed_far: FarEntries,
}

impl HingeMatrix {
    pub(super) fn new(hinges: &Hinges, rows: &[Row]) -> Self {
        let count = rows.len() + 1;
        let (mut own, mut near) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut far = Vec::new();
        for (hinge, row) in rows.iter().enumerate() {
            let itself = [2 * hinge as u32];
            let places: Vec<u32> =
                itself.iter().chain(&hinges.neighbours[hinge]).map(|half| half / 2).collect();
            let mut coefficients = [0.0_f32; 5];
            for (column, value) in row {
                match places.iter().position(|place| place == column) {
                    Some(place) => coefficients[place] = *value as f32,
                    None => far.push((hinge as u32, *column, *value as f32)),
                }
            }
            let [first, a, b, c, d] = coefficients;
            own.push(first);
            near.push([[a, b], [c, d]]);
        }
        own.push(0.0);
        near.push([[0.0; 2]; 2]);
        let mut turned: Vec<MatrixEntry> =
            far.iter().map(|(row, column, v)| (*column, *row, *v)).collect();
        // Stable sort: the entries of a row stay in the order of their columns.
        turned.sort_by_key(|(row, ..)| *row);
        let [far, transposed_far] =
            [far, turned].map(|entries| FarEntries::new(rows.len(), entries));
        Self { own, near, far, transposed_far }
    }

    /// One element of the product with each of the vectors of `values`.
    #[inline(always)]
    pub(super) fn row<const COUNT: usize>(
        &self,
        hinge: usize,
        neighbours: &[u32; 4],
        value: impl Fn(usize) -> [f64; COUNT],
    ) -> [f64; COUNT] {
        let [[a, b], [c, d]] = self.near[hinge];
        combine(&[self.own[hinge], a, b, c, d], self.far.row(hinge), hinge, neighbours, value)
    }

    /// One element of the product of the transposed matrix with each of the vectors of `values`.
    #[inline(always)]
    pub(super) fn column<const COUNT: usize>(
        &self,
        hinge: usize,
        neighbours: &[u32; 4],
        value: impl Fn(usize) -> [f64; COUNT],
    ) -> [f64; COUNT] {
        let near = self.near_column(hinge, neighbours);
        combine(&near, self.transposed_far.row(hinge), hinge, neighbours, value)
    }

    /// Column and value of all entries of a row; some of them 0, and then any column.
    pub(super) fn entries_of_row(
        &self,
        hinge: usize,
        neighbours: &[u32; 4],
    ) -> impl Iterator<Item = (u32, f64)> {
        let [[a, b], [c, d]] = self.near[hinge];
        let columns = std::iter::once(hinge as u32).chain(neighbours.map(|half| half / 2));
        let near = columns.zip([self.own[hinge], a, b, c, d].map(f64::from));
        let far = self.far.row(hinge).iter();
        near.chain(far.map(|(_, column, value)| (*column, f64::from(*value))))
    }

    /// The coefficients of a hinge in its own row and in those of its neighbours.
    #[inline(always)]
    fn near_column(&self, hinge: usize, neighbours: &[u32; 4]) -> [f32; 5] {
        // If this edge is the next one of a neighbour in the triangle, the neighbour is the last one of this edge, and
        // vice versa.
        let halves = self.near.as_flattened();
        let [a, b, c, d] = neighbours.map(|half| &halves[half as usize]);
        [self.own[hinge], a[1], b[0], c[1], d[0]]
    }
}

/// Σ coefficient · value of a hinge, its neighbours, and hinges farther off.
#[inline(always)]
fn combine<const COUNT: usize>(
    near: &[f32; 5],
    far: &[MatrixEntry],
    hinge: usize,
    neighbours: &[u32; 4],
    value: impl Fn(usize) -> [f64; COUNT],
) -> [f64; COUNT] {
    let mut sum = [0.0; COUNT];
    let mut add = |coefficient: f32, values: [f64; COUNT]| {
        for (sum, value) in sum.iter_mut().zip(values) {
            *sum += f64::from(coefficient) * value;
        }
    };
    add(near[0], value(hinge));
    for (coefficient, half) in near[1..].iter().zip(neighbours) {
        add(*coefficient, value(*half as usize / 2));
    }
    for (_, column, coefficient) in far {
        add(*coefficient, value(*column as usize));
    }
    sum
}

/// Row, column and value.
type MatrixEntry = (u32, u32, f32);

/// Entries of rows most of which have none.
#[derive(Clone, Debug, Default)]
struct FarEntries {
    /// First entry of each [`ROWS_PER_BUCKET`] rows, and end of the last.
    starts: Vec<u32>,
    entries: Vec<MatrixEntry>,
}

/// Rows of a bucket: their entries are stored together.
const ROWS_PER_BUCKET: usize = 8;

impl FarEntries {
    /// Builds the rows from entries in the order of their rows.
    fn new(row_count: usize, mut entries: Vec<MatrixEntry>) -> Self {
        entries.shrink_to_fit();
        let ends = (0..=row_count.div_ceil(ROWS_PER_BUCKET)).map(|few| ROWS_PER_BUCKET * few);
        let starts = ends
            .map(|end| entries.partition_point(|(row, ..)| (*row as usize) < end) as u32)
            .collect();
        Self { starts, entries }
    }

    #[inline(always)]
    fn row(&self, row: usize) -> &[MatrixEntry] {
        let few = row / ROWS_PER_BUCKET;
        let entries = &self.entries[self.starts[few] as usize..self.starts[few + 1] as usize];
        if entries.is_empty() {
            return entries;
        }
        let start = entries.partition_point(|(own, ..)| (*own as usize) < row);
        let count = entries[start..].partition_point(|(own, ..)| *own as usize == row);
        &entries[start..start + count]
    }
}
