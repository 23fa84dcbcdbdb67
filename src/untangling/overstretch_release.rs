// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cloth that is let go by other cloth, after something held has been led through something else whose motion is given.
//!
//! What such a thing drags along may cross nothing and still be on the wrong side: hooked on a held edge, and drawn out to
//! many times its length as the two part. There is nothing to draw apart, contact and friction bear any
//! tension, and it would stay hooked for ever. Real cloth would tear. Here what is stretched that far has no contact with
//! cloth until it has sprung back.

use crate::{Vec3, collision::PrimitivePair, surface::CollisionMesh};

/// An edge longer than so many times what it is at rest, as it is shrunk or lengthened, would tear.
const TEARING: f64 = 2.0;

/// The vertices of cloth that are let go.
#[derive(Clone, Debug, Default)]
pub(crate) struct OverstretchRelease {
    /// For every vertex of cloth; empty where there are none.
    is_released: Vec<bool>,
}

impl OverstretchRelease {
    /// Those at edges that would tear with all vertices at `positions`, in m.
    pub(crate) fn new(surfaces: &CollisionMesh, positions: &[Vec3]) -> Self {
        let length = |positions: &[Vec3], [start, end]: [u32; 2]| {
            (positions[end as usize] - positions[start as usize]).norm()
        };
        let scale = |edge: usize| surfaces.rest_length_scales.get(edge).unwrap_or(&1.0);
        let mut is_released = Vec::new();
        for (edge, ends) in surfaces.edges[..surfaces.cloth_edge_count].iter().enumerate() {
            if length(positions, *ends)
                > TEARING * scale(edge) * length(&surfaces.rest_positions, *ends)
            {
                is_released.resize(surfaces.cloth_vertex_count, false);
                for end in ends {
                    is_released[*end as usize] = true;
                }
            }
        }
        Self { is_released }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.is_released.is_empty()
    }

    /// Whether a pair is of two cloths, or of two parts of one, of which one is let go.
    pub(crate) fn filters(&self, surfaces: &CollisionMesh, pair: &PrimitivePair) -> bool {
        let is_loose = |vertex: &u32| self.is_released.get(*vertex as usize) == Some(&true);
        !self.is_empty()
            && pair.vertices.iter().any(is_loose)
            && pair.representative_vertices().iter().all(|end| surfaces.is_cloth(*end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Triangles in a row along x, a metre from vertex to vertex.
    fn row(count: u32) -> CollisionMesh {
        let triangles: Vec<[u32; 3]> = (0..count - 2).map(|k| [k, k + 1, k + 2]).collect();
        let rest: Vec<Vec3> =
            (0..count).map(|k| Vec3::new(f64::from(k), f64::from(k % 2), 0.0)).collect();
        CollisionMesh::of_thin_cloths(&triangles, &[0, count as usize], rest, &[])
    }

    #[test]
    fn overstretched_vertices_are_released() {
        let surfaces = row(6);
        for (stretch, count) in [(1.9, 0), (2.1, 6)] {
            let positions: Vec<Vec3> =
                surfaces.rest_positions.iter().map(|rest| rest * stretch).collect();
            let loose = OverstretchRelease::new(&surfaces, &positions);
            assert_eq!(loose.is_released.len(), count, "stretched by {stretch}");
            assert_eq!(loose.is_empty(), count == 0);
            let pair = PrimitivePair::vertex_face(&surfaces, 0, 3);
            assert_eq!(loose.filters(&surfaces, &pair), count > 0);
        }
    }

    #[test]
    fn scaled_rest_lengths_are_not_overstretched() {
        let mut surfaces = row(6);
        surfaces.rest_length_scales = vec![2.5; surfaces.cloth_edge_count];
        for (stretch, is_empty) in [(2.5, true), (4.9, true), (5.1, false)] {
            let positions: Vec<Vec3> =
                surfaces.rest_positions.iter().map(|rest| rest * stretch).collect();
            assert_eq!(
                OverstretchRelease::new(&surfaces, &positions).is_empty(),
                is_empty,
                "{stretch}"
            );
        }
    }
}
