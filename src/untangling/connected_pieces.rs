// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pieces that cloth falls into where it is cut.

use crate::{
    mesh::{Groups, NONE},
    surface::Surfaces,
};

/// For every vertex of cloth the largest piece of its whole cloth.
pub(crate) fn main_pieces(surfaces: &Surfaces, pieces: &[u32], sizes: &[usize]) -> Vec<u32> {
    let whole = connected(surfaces, |_| true);
    let mut main = vec![NONE; whole.len()];
    for (piece, cloth) in pieces.iter().zip(&whole) {
        let known = &mut main[*cloth as usize];
        if *known == NONE || sizes[*piece as usize] > sizes[*known as usize] {
            *known = *piece;
        }
    }
    whole.iter().map(|cloth| main[*cloth as usize]).collect()
}

/// For every vertex of cloth the first vertex that edges which `join` lead to.
pub(crate) fn connected(surfaces: &Surfaces, join: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut pieces = Groups::new(surfaces.cloth_vertices);
    for edge in (0..surfaces.cloth_edges).filter(|edge| join(*edge)) {
        let [a, b] = surfaces.edges[edge];
        pieces.join(a, b);
    }
    pieces.names()
}
