// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connected components of the cloths that their intersected edges separate.

use super::intersection::Intersection;
use crate::{mesh::NO_INDEX, surface::CollisionMesh};

/// Connected components of cloth cut along intersected edges, each named by its first vertex.
#[derive(Clone, Debug)]
pub(crate) struct ClothComponents {
    /// Component of each cloth vertex.
    pub(crate) of_vertex: Vec<u32>,
    /// Number of vertices of each component.
    pub(crate) sizes: Vec<usize>,
}

impl ClothComponents {
    pub(crate) fn new(mesh: &CollisionMesh, intersections: &[Intersection]) -> Self {
        let mut is_cut = vec![false; mesh.cloth_edge_count];
        for intersection in intersections {
            if let Some(is_cut) = is_cut.get_mut(intersection.edge as usize) {
                *is_cut = true;
            }
        }
        let of_vertex = mesh.cloth_components(|edge| !is_cut[edge]);
        let mut sizes = vec![0; of_vertex.len()];
        for component in &of_vertex {
            sizes[*component as usize] += 1;
        }
        Self { of_vertex, sizes }
    }

    /// Largest component of the whole connected cloth of each vertex.
    pub(crate) fn largest(&self, mesh: &CollisionMesh) -> Vec<u32> {
        let whole = mesh.cloth_components(|_| true);
        let mut largest = vec![NO_INDEX; whole.len()];
        for (component, cloth) in self.of_vertex.iter().zip(&whole) {
            let known = &mut largest[*cloth as usize];
            if *known == NO_INDEX || self.sizes[*component as usize] > self.sizes[*known as usize] {
                *known = *component;
            }
        }
        whole.iter().map(|cloth| largest[*cloth as usize]).collect()
    }
}
