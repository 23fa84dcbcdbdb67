// SPDX-License-Identifier: MIT OR Apache-2.0
//! Displacements that are given along some directions, and the forces that this takes.
//!
//! With d = z + y, where z is given along directions q and y is free, Etzmuss 2002, eq. 4.3, becomes
//! S A S y = S (b − A z); the force along q is then qᵀ(A d − b). Both need the rows qᵀA alone, which
//! are gathered before the filter takes them out of the matrix.

use super::{Block, BlockMatrix, GROUP, Row3};
use rayon::prelude::*;
use std::ops::Range;

/// Rows qᵀA of a matrix along directions q of vertices.
#[derive(Clone, Debug, Default)]
pub struct Prescribed {
    rows: Vec<PrescribedRow>,
}

/// One of these rows.
#[derive(Clone, Debug, Default)]
pub struct PrescribedRow {
    /// qᵀA q.
    pub stiffness: f64,
    /// Vertices with the row's part there.
    entries: Vec<(u32, Row3)>,
}

impl Prescribed {
    /// Takes the rows of `matrix` along directions; these come with their vertices, in ascending order.
    pub fn gather(&mut self, matrix: &BlockMatrix, directions: &[(u32, Row3)]) {
        let count = matrix.pattern().row_count();
        let groups = (0..count).into_par_iter().step_by(GROUP);
        let gathered = groups.flat_map_iter(|first| {
            let rows = first..(first + GROUP).min(count);
            let place = |end: usize| directions.partition_point(|(row, _)| (*row as usize) < end);
            group_rows(matrix, &directions[place(rows.start)..place(rows.end)], &rows)
        });
        self.rows = gathered.collect();
    }

    /// The rows, in the order of the directions.
    #[must_use]
    pub fn rows(&self) -> &[PrescribedRow] {
        &self.rows
    }

    /// Takes A z from `right_side`, with z so far along the directions.
    pub fn subtract(&self, ways: impl Iterator<Item = f64>, right_side: &mut [Row3]) {
        for (row, way) in self.rows.iter().zip(ways) {
            for (column, entry) in &row.entries {
                let right = &mut right_side[*column as usize];
                *right = std::array::from_fn(|k| right[k] - way as f32 * entry[k]);
            }
        }
    }
}

impl PrescribedRow {
    /// qᵀA d.
    #[must_use]
    pub fn times(&self, solution: &[Row3]) -> f64 {
        let each = self.entries.iter();
        each.map(|(column, entry)| dot(entry, &solution[*column as usize])).sum()
    }
}

/// The rows along directions of vertices of one group.
fn group_rows(
    matrix: &BlockMatrix,
    directions: &[(u32, Row3)],
    rows: &Range<usize>,
) -> Vec<PrescribedRow> {
    if directions.is_empty() {
        return Vec::new();
    }
    let mut places = [None; GROUP];
    for (place, (row, _)) in directions.iter().enumerate() {
        places[*row as usize - rows.start] = Some(place);
    }
    let mut found = vec![PrescribedRow::default(); directions.len()];
    let mut visit = |row: usize, column: usize, block: &Block, is_transposed: bool| {
        let Some(place) = places[row - rows.start] else { return };
        let direction = &directions[place].1;
        let entry = if is_transposed { block.times(direction) } else { across(direction, block) };
        found[place].entries.push((column as u32, entry));
        if row == column {
            found[place].stiffness = dot(&entry, direction);
        }
    };
    for row in rows.clone() {
        visit(row, row, &matrix.diagonals()[row], false);
    }
    matrix.visit_near(rows, |row, column, block| {
        visit(row, column, block, false);
        visit(column, row, block, true);
    });
    for outer in matrix.outer() {
        outer.visit(rows, |row, column, block| visit(row, column, block, false));
    }
    found
}

/// qᵀB.
fn across(direction: &Row3, block: &Block) -> Row3 {
    let [x, y, z] = block.0.map(|column| dot(direction, &column) as f32);
    [x, y, z, 0.0]
}

fn dot(a: &Row3, b: &Row3) -> f64 {
    (0..3).map(|k| f64::from(a[k]) * f64::from(b[k])).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::Pattern;
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
        matrix.set_coupling(&[(3, 290, upper(1, 2))]);
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
        let directions: Vec<(u32, Row3)> = [0, 3, 100, 255, 256, 290, 299]
            .map(|row| (row, [0.5, number(row as usize), -0.3, 0.0]))
            .to_vec();
        let mut prescribed = Prescribed::default();
        prescribed.gather(&matrix, &directions);
        assert_eq!(prescribed.rows().len(), directions.len());
        for ((row, direction), gathered) in directions.iter().zip(prescribed.rows()) {
            let expected = dot(direction, &image[*row as usize]);
            assert!((gathered.times(&vector) - expected).abs() < 1.0e-4, "row {row}");
        }
    }

    #[test]
    fn what_is_given_is_taken_from_the_right_side() {
        let matrix = matrix(300);
        let directions = [(3, [1.0, 0.0, 0.0, 0.0]), (256, [0.0, 0.6, 0.8, 0.0])];
        let ways = [2.0, -0.5];
        let mut prescribed = Prescribed::default();
        prescribed.gather(&matrix, &directions);
        let mut right_side = vec![[0.0; 4]; 300];
        prescribed.subtract(ways.into_iter(), &mut right_side);
        let mut given = vec![[0.0; 4]; 300];
        for ((row, direction), way) in directions.iter().zip(ways) {
            given[*row as usize] = direction.map(|part| part * way as f32);
        }
        let mut image = vec![[0.0; 4]; 300];
        matrix.times(&given, &mut image);
        for (right, image) in right_side.iter().zip(&image) {
            assert!((0..3).all(|k| (right[k] + image[k]).abs() < 1.0e-4), "{right:?}, {image:?}");
        }
    }
}
