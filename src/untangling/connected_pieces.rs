// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pieces that cloth falls into where it is cut.

use crate::{
    mesh::{NO_INDEX, UnionFind},
    surface::CollisionMesh,
};

/// For every vertex of cloth the largest piece of its whole cloth.
pub(crate) fn largest_components(
    surfaces: &CollisionMesh,
    pieces: &[u32],
    sizes: &[usize],
) -> Vec<u32> {
    let whole = connected_components(surfaces, |_| true);
    let mut main = vec![NO_INDEX; whole.len()];
    for (piece, cloth) in pieces.iter().zip(&whole) {
        let known = &mut main[*cloth as usize];
        if *known == NO_INDEX || sizes[*piece as usize] > sizes[*known as usize] {
            *known = *piece;
        }
    }
    whole.iter().map(|cloth| main[*cloth as usize]).collect()
}

/// For every vertex of cloth the first vertex that edges which `join` lead to.
pub(crate) fn connected_components(
    surfaces: &CollisionMesh,
    join: impl Fn(usize) -> bool,
) -> Vec<u32> {
    let mut pieces = UnionFind::new(surfaces.cloth_vertex_count);
    for edge in (0..surfaces.cloth_edge_count).filter(|edge| join(*edge)) {
        let [a, b] = surfaces.edges[edge];
        pieces.union(a, b);
    }
    pieces.roots()
}
