// SPDX-License-Identifier: MIT OR Apache-2.0
//! Order of the rows of a linear system, independent of the order of the vertices.
//!
//! A matrix is stored, multiplied and smoothed in groups of consecutive rows (see `pattern`), the faster, the fewer
//! blocks are between groups. So each group is a compact patch of the mesh. Rows occur in the linear algebra alone.

use super::adjacency::Adjacency;
use crate::{parallel::reductions, simd::Row3, vec3::Vec3};
use rayon::prelude::*;
use sprs::{CsMatI, PermOwnedI};

/// Permutation between the vertices of a mesh and the rows of the linear system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordering {
    rows: Vec<u32>,
    vertices: Vec<u32>,
}

impl Ordering {
    /// Numbers compact patches of a mesh consecutively: [`GROUP`](crate::linear_solver::pattern::GROUP) vertices each,
    /// and each patch adjacent to those before.
    ///
    /// Within a patch rows are ordered from its first vertex outwards, which is better for smoothing and aggregation,
    /// both row by row, than an irregular order.
    #[must_use]
    pub fn new(vertex_count: usize, edges: &[[u32; 2]]) -> Self {
        let vertices = Adjacency::new(vertex_count, edges).patch_order();
        let mut rows = vec![0; vertex_count];
        for (row, vertex) in vertices.iter().enumerate() {
            rows[*vertex as usize] = row as u32;
        }
        Self { rows, vertices }
    }

    /// The row of a vertex.
    #[must_use]
    #[inline]
    pub fn row(&self, vertex: usize) -> usize {
        self.rows[vertex] as usize
    }

    /// The vertex of a row.
    #[must_use]
    #[inline]
    pub fn vertex(&self, row: usize) -> usize {
        self.vertices[row] as usize
    }

    /// A symmetric matrix of the vertices with its rows and columns in this order.
    pub(crate) fn permuted<Number: Clone + std::fmt::Debug>(
        &self,
        matrix: &CsMatI<Number, u32>,
    ) -> CsMatI<Number, u32> {
        let order = PermOwnedI::new(self.vertices.clone());
        sprs::transform_mat_papt(matrix.view(), order.view())
    }

    /// The rows at the ends of edges.
    #[must_use]
    pub fn rows_of(&self, edges: &[[u32; 2]]) -> Vec<[u32; 2]> {
        edges.iter().map(|edge| edge.map(|vertex| self.rows[vertex as usize])).collect()
    }

    /// Copies the vectors of vertices to their rows, in single precision.
    pub fn gather(&self, of_vertices: &[Vec3], rows: &mut [Row3]) {
        let each = (rows, &self.vertices)
            .into_par_iter()
            .with_min_len(reductions::MIN_LIGHT_VERTICES_PER_TASK);
        each.for_each(|(row, vertex)| {
            let vector = &of_vertices[*vertex as usize];
            *row = [vector.x as f32, vector.y as f32, vector.z as f32, 0.0];
        });
    }

    /// Sets each vertex to `value(vertex, vector in its row)`.
    pub fn scatter_with(
        &self,
        rows: &[Row3],
        of_vertices: &mut [Vec3],
        made: impl Fn(usize, Vec3) -> Vec3 + Sync,
    ) {
        let each = of_vertices.par_iter_mut().zip(&self.rows).enumerate();
        each.with_min_len(reductions::MIN_LIGHT_VERTICES_PER_TASK).for_each(
            |(vertex, (result, row))| {
                let [x, y, z, _] = rows[*row as usize].map(f64::from);
                *result = made(vertex, Vec3::new(x, y, z));
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear_solver::pattern::GROUP;

    /// Edges of a grid of n × n vertices, numbered row by row, with one diagonal of each square.
    fn grid(n: u32) -> Vec<[u32; 2]> {
        let of = |i: u32| {
            let (right, up) = (i % n + 1 < n, i / n + 1 < n);
            [(right, 1), (up, n), (right && up, n + 1)]
                .into_iter()
                .filter_map(move |(is_there, step)| is_there.then_some([i, i + step]))
        };
        (0..n * n).flat_map(of).collect()
    }

    /// The edges of a mesh whose vertices are numbered without any pattern.
    fn shuffled(n: u32) -> Vec<[u32; 2]> {
        // A number without a common factor permutes.
        grid(n).iter().map(|edge| edge.map(|vertex| vertex * 7919 % (n * n))).collect()
    }

    fn between_groups(edges: &[[u32; 2]]) -> usize {
        edges.iter().filter(|[a, b]| *a as usize / GROUP != *b as usize / GROUP).count()
    }

    #[test]
    fn every_vertex_has_a_row_of_its_own() {
        // A vertex that no edge reaches, and two parts.
        let edges: Vec<[u32; 2]> = grid(20)
            .into_iter()
            .filter(|[a, b]| *a != 3 && *b != 3 && a / 200 == b / 200)
            .collect();
        let ordering = Ordering::new(401, &edges);
        let mut vertices: Vec<usize> = (0..401).map(|row| ordering.vertex(row)).collect();
        for (row, vertex) in vertices.iter().enumerate() {
            assert_eq!(ordering.row(*vertex), row);
        }
        vertices.sort_unstable();
        assert!(vertices.into_iter().eq(0..401));
    }

    #[test]
    fn the_order_does_not_depend_on_how_edges_are_listed() {
        let edges = shuffled(60);
        let turned: Vec<[u32; 2]> = edges.iter().rev().map(|[a, b]| [*b, *a]).collect();
        assert_eq!(Ordering::new(3600, &edges), Ordering::new(3600, &turned));
    }

    #[test]
    fn groups_are_compact() {
        // A tile of 16×16 vertices has 3·256 edges to count, of which 2·16 sides and 31 diagonals leave it: one in twelve.
        for (edges, fewer) in [(grid(100), 3), (shuffled(100), 10)] {
            let cut = between_groups(&Ordering::new(10_000, &edges).rows_of(&edges));
            assert!(fewer * cut < between_groups(&edges), "{cut} of {}", edges.len());
            assert!(12 * cut < edges.len(), "{cut} of {}", edges.len());
        }
    }

    #[test]
    fn rows_follow_their_neighbours() {
        let edges = shuffled(60);
        let mut lowest: Vec<usize> = (0..3600).collect();
        for [a, b] in Ordering::new(3600, &edges).rows_of(&edges) {
            let [low, high] = [a.min(b), a.max(b)].map(|row| row as usize);
            lowest[high] = lowest[high].min(low);
        }
        assert!((1..3600).all(|row| lowest[row] < row));
    }

    #[test]
    fn vectors_go_into_rows_and_back() {
        let count = 40 * 40;
        let ordering = Ordering::new(count, &shuffled(40));
        let vectors: Vec<Vec3> =
            (0..count).map(|v| Vec3::new(v as f64, 0.5, -(v as f64))).collect();
        let mut rows = vec![[0.0; 4]; count];
        ordering.gather(&vectors, &mut rows);
        let of_row =
            |row: usize| [ordering.vertex(row) as f32, 0.5, -(ordering.vertex(row) as f32), 0.0];
        assert_eq!(rows, (0..count).map(of_row).collect::<Vec<Row3>>());
        let mut back = vec![Vec3::zeros(); count];
        ordering
            .scatter_with(&rows, &mut back, |vertex, vector| vector + Vec3::x() * vertex as f64);
        assert!(back.iter().zip(&vectors).all(|(a, b)| *a == b + Vec3::x() * b.x));
    }
}
