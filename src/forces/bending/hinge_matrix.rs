// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sparse matrix over hinges, most of whose rows reach no farther than the next edges.

use super::{four_hinges::FIVE, hinges::Hinges};
use crate::simd::Lanes;

/// Entries of one row: column and value.
pub(super) type Row = Vec<(u32, f64)>;

/// Coefficients of four hinges: those of themselves, and of the four neighbours of each.
type FourRows = [[f32; 4]; FIVE];

/// Coefficients of a hinge and its four neighbours at fixed places, everything farther off in lists.
///
/// Single precision halves the memory traffic of a product. A constant curvature has the least energy over ψ, so that
/// errors of P change the rigidity by their square only.
#[derive(Clone, Debug, Default)]
pub(super) struct HingeMatrix {
    /// Four rows at a time, and four columns at a time; past the last hinge 0.
    rows: Vec<FourRows>,
    columns: Vec<FourRows>,
    far: FarEntries,
    /// Farther entries of the transposed matrix.
    transposed_far: FarEntries,
}

impl HingeMatrix {
    pub(super) fn new(hinges: &Hinges, rows: &[Row]) -> Self {
        let mut near = Vec::with_capacity(rows.len() + 1);
        let mut far = Vec::new();
        for (hinge, row) in rows.iter().enumerate() {
            let itself = [2 * hinge as u32];
            let places: Vec<u32> =
                itself.iter().chain(&hinges.neighbours[hinge]).map(|half| half / 2).collect();
            let mut coefficients = [0.0_f32; FIVE];
            for (column, value) in row {
                match places.iter().position(|place| place == column) {
                    Some(place) => coefficients[place] = *value as f32,
                    None => far.push((hinge as u32, *column, *value as f32)),
                }
            }
            near.push(coefficients);
        }
        // Of boundary edges.
        near.push([0.0; FIVE]);
        let mut turned: Vec<MatrixEntry> =
            far.iter().map(|(row, column, v)| (*column, *row, *v)).collect();
        // Stable sort: the entries of a row stay in the order of their columns.
        turned.sort_by_key(|(row, ..)| *row);
        let [far, transposed_far] =
            [far, turned].map(|entries| FarEntries::new(rows.len(), entries));
        Self {
            rows: in_fours(rows.len(), |hinge| near[hinge]),
            columns: in_fours(rows.len(), |hinge| near_column(hinges, &near, hinge)),
            far,
            transposed_far,
        }
    }

    /// Four elements of the product with the vectors of which `near` has what belongs to the coefficients, and `value`
    /// any element.
    #[inline(always)]
    pub(super) fn rows<L: Lanes>(
        &self,
        lanes: L,
        batch: usize,
        near: &[L::Four; FIVE],
        value: impl Fn(usize) -> f64,
    ) -> L::Four {
        self.far.add(lanes, batch, combine(lanes, &self.rows[batch], near), value)
    }

    /// Four elements of the product of the transposed matrix.
    #[inline(always)]
    pub(super) fn columns<L: Lanes>(
        &self,
        lanes: L,
        batch: usize,
        near: &[L::Four; FIVE],
        value: impl Fn(usize) -> f64,
    ) -> L::Four {
        self.transposed_far.add(lanes, batch, combine(lanes, &self.columns[batch], near), value)
    }

    /// Column and value of all entries of a row; some of them 0, and then any column.
    pub(super) fn entries_of_row(
        &self,
        hinge: usize,
        neighbours: &[u32; 4],
    ) -> impl Iterator<Item = (u32, f64)> {
        let columns = std::iter::once(hinge as u32).chain(neighbours.map(|half| half / 2));
        let near = self.rows[hinge / 4].map(|four| f64::from(four[hinge % 4]));
        let far = self.far.batch(hinge / 4).iter();
        let far = far.filter(move |(row, ..)| *row as usize == hinge);
        columns.zip(near).chain(far.map(|(_, column, value)| (*column, f64::from(*value))))
    }
}

/// Coefficients of `count` hinges, four at a time.
fn in_fours(count: usize, of_hinge: impl Fn(usize) -> [f32; FIVE]) -> Vec<FourRows> {
    let mut fours = vec![[[0.0; 4]; FIVE]; count.div_ceil(4)];
    for hinge in 0..count {
        for (four, coefficient) in fours[hinge / 4].iter_mut().zip(of_hinge(hinge)) {
            four[hinge % 4] = coefficient;
        }
    }
    fours
}

/// The coefficients of a hinge in its own row and in those of its neighbours.
fn near_column(hinges: &Hinges, rows: &[[f32; FIVE]], hinge: usize) -> [f32; FIVE] {
    // If this edge is the next one of a neighbour in the triangle, the neighbour is the last one of this edge, and
    // vice versa.
    let of_neighbour = |place: usize, is_last: usize| {
        let half = hinges.neighbours[hinge][place] as usize;
        rows[half / 2][1 + 2 * (half % 2) + is_last]
    };
    let [a, b] = [of_neighbour(0, 1), of_neighbour(1, 0)];
    [rows[hinge][0], a, b, of_neighbour(2, 1), of_neighbour(3, 0)]
}

/// Σ coefficient · value of four hinges.
#[inline(always)]
fn combine<L: Lanes>(lanes: L, coefficients: &FourRows, near: &[L::Four; FIVE]) -> L::Four {
    let mut sum = lanes.product(lanes.widened(&coefficients[0]), near[0]);
    for (four, value) in coefficients.iter().zip(near).skip(1) {
        sum = lanes.plus(sum, lanes.product(lanes.widened(four), *value));
    }
    sum
}

/// Row, column and value.
type MatrixEntry = (u32, u32, f32);

/// Entries of rows most of which have none.
#[derive(Clone, Debug, Default)]
struct FarEntries {
    /// First entry of each four rows, and end of the last.
    starts: Vec<u32>,
    entries: Vec<MatrixEntry>,
}

impl FarEntries {
    /// Builds the rows from entries in the order of their rows.
    fn new(row_count: usize, mut entries: Vec<MatrixEntry>) -> Self {
        entries.shrink_to_fit();
        let ends = (0..=row_count.div_ceil(4)).map(|batch| 4 * batch);
        let starts = ends
            .map(|end| entries.partition_point(|(row, ..)| (*row as usize) < end) as u32)
            .collect();
        Self { starts, entries }
    }

    /// Entries of four rows.
    #[inline(always)]
    fn batch(&self, batch: usize) -> &[MatrixEntry] {
        &self.entries[self.starts[batch] as usize..self.starts[batch + 1] as usize]
    }

    /// Adds the products of four rows.
    #[inline(always)]
    fn add<L: Lanes>(
        &self,
        lanes: L,
        batch: usize,
        sum: L::Four,
        value: impl Fn(usize) -> f64,
    ) -> L::Four {
        let entries = self.batch(batch);
        if entries.is_empty() {
            return sum;
        }
        let mut numbers = lanes.to_numbers(sum);
        for (row, column, coefficient) in entries {
            numbers[*row as usize % 4] += f64::from(*coefficient) * value(*column as usize);
        }
        lanes.load_four(&numbers)
    }
}
