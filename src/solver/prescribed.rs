// SPDX-License-Identifier: MIT OR Apache-2.0
//! Displacements that are given along some directions, and the forces that this takes.
//!
//! With d = z + y, where z is given along directions q and y is free, Etzmuss 2002, eq. 4.3, becomes
//! S A S y = S (b − A z); the force along q is then qᵀ(A d − b). Both need the rows qᵀA alone, which
//! are gathered before the filter takes them out of the matrix.

use super::{Block, BlockMatrix, GROUP, Row3};
use rayon::prelude::*;
use std::ops::Range;

/// Rows qᵀA of a matrix A along directions q of vertices.
#[derive(Clone, Debug, Default)]
pub struct Prescribed {
    /// What there is of the rows in each group of the matrix, in the order in which the blocks are stored.
    groups: Vec<Vec<Part>>,
}

/// Part of a row.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Number of the direction.
    direction: u32,
    column: u32,
    entry: Row3,
}

impl Prescribed {
    /// Takes the rows along directions; these come with the rows of their vertices in `matrix`, in ascending order.
    pub fn gather(&mut self, matrix: &BlockMatrix, directions: &[(u32, Row3)]) {
        let count = matrix.pattern().row_count();
        self.groups.resize_with(count.div_ceil(GROUP), Vec::new);
        self.groups.par_iter_mut().enumerate().for_each(|(group, parts)| {
            let rows = group * GROUP..((group + 1) * GROUP).min(count);
            let place = |end: usize| directions.partition_point(|(row, _)| (*row as usize) < end);
            let numbers = place(rows.start)..place(rows.end);
            parts.clear();
            if !numbers.is_empty() {
                gather_group(matrix, (directions, numbers), &rows, parts);
            }
        });
    }

    /// Takes A z from `right_side`, with z so far along each direction.
    pub fn subtract(&self, ways: &[f64], right_side: &mut [Row3]) {
        for Part { direction, column, entry } in self.groups.iter().flatten() {
            let (way, right) = (ways[*direction as usize], &mut right_side[*column as usize]);
            *right = std::array::from_fn(|k| right[k] - way as f32 * entry[k]);
        }
    }

    /// Adds qᵀA d to the sum of every direction.
    pub fn add_products(&self, solution: &[Row3], sums: &mut [f64]) {
        for Part { direction, column, entry } in self.groups.iter().flatten() {
            sums[*direction as usize] += dot(entry, &solution[*column as usize]);
        }
    }
}

/// Gathers the parts of rows in one group, of directions with these numbers.
fn gather_group(
    matrix: &BlockMatrix,
    (directions, numbers): (&[(u32, Row3)], Range<usize>),
    rows: &Range<usize>,
    parts: &mut Vec<Part>,
) {
    let mut places = [None; GROUP];
    for number in numbers {
        places[directions[number].0 as usize - rows.start] = Some(number);
    }
    let mut visit = |row: usize, column: usize, block: &Block, is_transposed: bool| {
        let Some(number) = places[row - rows.start] else { return };
        let along = &directions[number].1;
        let entry = if is_transposed { block.times(along) } else { across(along, block) };
        parts.push(Part { direction: number as u32, column: column as u32, entry });
    };
    for row in rows.clone() {
        visit(row, row, &matrix.diagonals()[row], false);
    }
    let is_wanted = |row: usize| places[row - rows.start].is_some();
    matrix.visit_near(rows, is_wanted, |row, column, block| {
        visit(row, column, block, false);
        visit(column, row, block, true);
    });
    for outer in matrix.outer() {
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
        let mut sums = vec![0.0; directions.len()];
        prescribed.add_products(&vector, &mut sums);
        for ((row, direction), sum) in directions.iter().zip(sums) {
            let expected = dot(direction, &image[*row as usize]);
            assert!((sum - expected).abs() < 1.0e-4, "row {row}");
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
        prescribed.subtract(&ways, &mut right_side);
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
