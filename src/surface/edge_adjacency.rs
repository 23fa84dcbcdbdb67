// SPDX-License-Identifier: MIT OR Apache-2.0
//! Edges of the collision mesh and what is adjacent to them.

use crate::{mesh::NO_INDEX, vec3::Vec3};

/// Triangles adjacent to an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EdgeAdjacency {
    /// Vertices opposite the edge in its first two triangles, or [`NO_INDEX`].
    pub(crate) opposite_vertices: [u32; 2],
    /// First triangle at the edge.
    pub(crate) first_triangle: u32,
}

/// Edges in ascending order of their vertices, edges of every triangle, and adjacent triangles of
/// every edge. Alternative triangles, which come later than the others of their body, are adjacent
/// to edges between alternatives alone.
pub(super) fn build_edges(
    triangles: &[[u32; 3]],
    is_alternative: impl Fn(u32) -> bool,
) -> (Vec<[u32; 2]>, Vec<[u32; 3]>, Vec<EdgeAdjacency>) {
    let mut uses: Vec<([u32; 2], u32, u8)> = Vec::with_capacity(3 * triangles.len());
    for (triangle, corners) in triangles.iter().enumerate() {
        for corner in 0..3_u8 {
            let [a, b] = [1, 2].map(|step| corners[(usize::from(corner) + step) % 3]);
            uses.push(([a.min(b), a.max(b)], triangle as u32, corner));
        }
    }
    uses.sort_unstable();
    let (mut edges, mut edge_adjacency): (Vec<[u32; 2]>, Vec<EdgeAdjacency>) =
        (Vec::new(), Vec::new());
    let mut triangle_edges = vec![[0; 3]; triangles.len()];
    for (edge, triangle, corner) in uses {
        if edges.last() != Some(&edge) {
            edges.push(edge);
            edge_adjacency
                .push(EdgeAdjacency { opposite_vertices: [NO_INDEX; 2], first_triangle: triangle });
        }
        let index = edges.len() - 1;
        triangle_edges[triangle as usize][usize::from(corner)] = index as u32;
        let opposite = triangles[triangle as usize][usize::from(corner)];
        if is_alternative(triangle) != is_alternative(edge_adjacency[index].first_triangle) {
            continue;
        }
        if let Some(free) =
            edge_adjacency[index].opposite_vertices.iter_mut().find(|corner| **corner == NO_INDEX)
        {
            *free = opposite;
        }
    }
    edges.shrink_to_fit();
    edge_adjacency.shrink_to_fit();
    (edges, triangle_edges, edge_adjacency)
}

/// Mean length of the edges at each vertex in m; infinite at vertices without edges.
pub(super) fn mean_lengths_at_vertices<'a>(
    edges: impl Iterator<Item = &'a [u32; 2]>,
    positions: &[Vec3],
) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); positions.len()];
    for [start, end] in edges {
        let ends = [start, end].map(|vertex| *vertex as usize);
        let [Some(a), Some(b)] = ends.map(|vertex| positions.get(vertex)) else { continue };
        for vertex in ends {
            sums[vertex].0 += (a - b).norm();
            sums[vertex].1 += 1.0;
        }
    }
    sums.into_iter()
        .map(|(sum, count)| if count > 0.0 { sum / count } else { f64::INFINITY })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_know_their_opposite_vertices_and_triangles_their_edges() {
        let (edges, triangle_edges, edge_adjacency) =
            build_edges(&[[0, 1, 2], [2, 1, 3]], |_| false);
        assert_eq!(edges, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(triangle_edges, [[2, 1, 0], [3, 4, 2]]);
        assert_eq!(
            edge_adjacency[2],
            EdgeAdjacency { opposite_vertices: [0, 3], first_triangle: 0 }
        );
        assert_eq!(
            edge_adjacency[4],
            EdgeAdjacency { opposite_vertices: [1, NO_INDEX], first_triangle: 1 }
        );
    }

    #[test]
    fn alternatives_are_adjacent_to_their_own_diagonals_alone() {
        let triangles = [[0, 1, 2], [0, 2, 3], [0, 1, 3], [1, 2, 3]];
        let (edges, _, edge_adjacency) = build_edges(&triangles, |triangle| triangle >= 2);
        assert_eq!(edges, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        let opposite = |edge: usize| edge_adjacency[edge].opposite_vertices;
        assert_eq!([opposite(0), opposite(1)], [[2, NO_INDEX], [1, 3]]);
        assert_eq!(
            edge_adjacency[4],
            EdgeAdjacency { opposite_vertices: [0, 2], first_triangle: 2 }
        );
    }
}
