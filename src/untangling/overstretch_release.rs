// SPDX-License-Identifier: MIT OR Apache-2.0
//! Overstretch release: overstretched cloth has no contact with cloth, after a pinned vertex has
//! passed through another feature of prescribed motion.
//!
//! Cloth that such a vertex drags along may intersect nothing and still be on the wrong side:
//! hooked on a pinned edge, and stretched to many times its length as the two separate. There is
//! nothing to untangle, contact and friction bear any tension, and the cloth would stay hooked.
//! Real cloth would tear. Here it has no contact with cloth until it has contracted.

use super::UNTANGLING;
use crate::{
    collision::PrimitivePair,
    surface::{CollisionMesh, Configuration},
    vec3::Vec3,
};

/// Cloth vertices without contact to cloth.
#[derive(Clone, Debug, Default)]
pub(crate) struct OverstretchRelease {
    /// For each cloth vertex; empty if none is released.
    is_released: Vec<bool>,
}

impl OverstretchRelease {
    /// Vertices of overstretched edges.
    pub(crate) fn new(Configuration { mesh, positions }: Configuration<'_>) -> Self {
        let length = |positions: &[Vec3], [start, end]: [u32; 2]| {
            (positions[end as usize] - positions[start as usize]).norm()
        };
        let scale = |edge: usize| mesh.rest_length_scales.get(edge).unwrap_or(&1.0);
        let mut is_released = Vec::new();
        let of_cloth = mesh.edges[..mesh.cloth_edge_count].iter().enumerate();
        for (edge, ends) in of_cloth.filter(|(edge, _)| !mesh.seam_strips.has_edge(*edge as u32)) {
            if length(positions, *ends)
                > UNTANGLING.max_stretch * scale(edge) * length(&mesh.rest_positions, *ends)
            {
                is_released.resize(mesh.cloth_vertex_count, false);
                for end in ends {
                    is_released[*end as usize] = true;
                }
            }
        }
        Self { is_released }
    }

    /// Whether no vertex is released.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_released.is_empty()
    }

    /// Whether a cloth–cloth pair has a released vertex.
    pub(crate) fn filters(&self, mesh: &CollisionMesh, pair: &PrimitivePair) -> bool {
        let is_released = |vertex: &u32| self.is_released.get(*vertex as usize) == Some(&true);
        !self.is_empty()
            && pair.vertices.iter().any(is_released)
            && pair.representative_vertices().iter().all(|end| mesh.is_cloth(*end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of triangles along x, with vertices a metre apart.
    fn row(count: u32) -> CollisionMesh {
        let triangles: Vec<[u32; 3]> = (0..count - 2).map(|k| [k, k + 1, k + 2]).collect();
        let rest: Vec<Vec3> =
            (0..count).map(|k| Vec3::new(f64::from(k), f64::from(k % 2), 0.0)).collect();
        CollisionMesh::of_thin_cloths(&triangles, &[0, count as usize], rest, &[])
    }

    #[test]
    fn overstretched_vertices_are_released() {
        let mesh = row(6);
        for (stretch, count) in [(1.9, 0), (2.1, 6)] {
            let positions: Vec<Vec3> =
                mesh.rest_positions.iter().map(|rest| rest * stretch).collect();
            let release =
                OverstretchRelease::new(Configuration { mesh: &mesh, positions: &positions });
            assert_eq!(release.is_released.len(), count, "stretched by {stretch}");
            assert_eq!(release.is_empty(), count == 0);
            let pair = PrimitivePair::vertex_face(&mesh, 0, 3);
            assert_eq!(release.filters(&mesh, &pair), count > 0);
        }
    }

    #[test]
    fn scaled_rest_lengths_are_not_overstretched() {
        let mut mesh = row(6);
        mesh.rest_length_scales = vec![2.5; mesh.cloth_edge_count];
        for (stretch, is_empty) in [(2.5, true), (4.9, true), (5.1, false)] {
            let positions: Vec<Vec3> =
                mesh.rest_positions.iter().map(|rest| rest * stretch).collect();
            assert_eq!(
                OverstretchRelease::new(Configuration { mesh: &mesh, positions: &positions })
                    .is_empty(),
                is_empty,
                "{stretch}"
            );
        }
    }
}
