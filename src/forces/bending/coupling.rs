// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sparse matrix over hinges, most of whose rows reach no farther than the next edges.

use super::hinges::Hinges;
use std::ops::Range;

/// Entries of one row: column and value.
pub(super) type Row = Vec<(u32, f64)>;

/// Coefficients of a hinge and its four neighbours at fixed places, everything farther off in lists.
///
/// Single precision halves what a product reads. A constant curvature has the least energy over ψ, so that
/// errors of P change the rigidity by their square only.
#[derive(Clone, Debug, Default)]
pub(super) struct Coupling {
    near: Vec<[f32; 5]>,
    far: Vec<(u32, f32)>,
    /// Where the farther entries of each row start; the end of the last one at the end.
    far_starts: Vec<u32>,
}

impl Coupling {
    pub(super) fn new(hinges: &Hinges, rows: &[Row]) -> Self {
        let mut coupling = Self {
            near: Vec::with_capacity(rows.len()),
            far: Vec::new(),
            far_starts: Vec::with_capacity(rows.len() + 1),
        };
        coupling.far_starts.push(0);
        for (hinge, row) in rows.iter().enumerate() {
            let own = [2 * hinge as u32];
            let places: Vec<u32> =
                own.iter().chain(&hinges.neighbours[hinge]).map(|half| half / 2).collect();
            let mut near = [0.0_f32; 5];
            for (column, value) in row {
                match places.iter().position(|place| place == column) {
                    Some(place) => near[place] = *value as f32,
                    None => coupling.far.push((*column, *value as f32)),
                }
            }
            coupling.near.push(near);
            coupling.far_starts.push(coupling.far.len() as u32);
        }
        coupling.far.shrink_to_fit();
        coupling
    }

    /// One element of the product with each of the vectors of `values`.
    #[inline(always)]
    pub(super) fn row<const COUNT: usize>(
        &self,
        hinge: usize,
        neighbours: &[u32; 4],
        value: impl Fn(usize) -> [f64; COUNT],
    ) -> [f64; COUNT] {
        let near = &self.near[hinge];
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
        for (column, coefficient) in &self.far[self.far_range(hinge)] {
            add(*coefficient, value(*column as usize));
        }
        sum
    }

    /// Column and value of all entries of a row; some of them 0, and then any column.
    pub(super) fn entries(
        &self,
        hinge: usize,
        neighbours: &[u32; 4],
    ) -> impl Iterator<Item = (u32, f64)> {
        let columns = std::iter::once(hinge as u32).chain(neighbours.map(|half| half / 2));
        let near = columns.zip(self.near[hinge].map(f64::from));
        let far = self.far[self.far_range(hinge)].iter();
        near.chain(far.map(|(column, value)| (*column, f64::from(*value))))
    }

    #[inline]
    fn far_range(&self, hinge: usize) -> Range<usize> {
        self.far_starts[hinge] as usize..self.far_starts[hinge + 1] as usize
    }
}

/// The rows of the transposed matrix.
pub(super) fn transposed(rows: &[Row]) -> Vec<Row> {
    let mut columns = vec![Row::new(); rows.len()];
    for (hinge, row) in rows.iter().enumerate() {
        for (column, value) in row {
            columns[*column as usize].push((hinge as u32, *value));
        }
    }
    columns
}
