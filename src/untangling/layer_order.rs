// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which of two cloths that cross is the upper one.
//!
//! Two cloths that lie on each other and cross are one above the other here and below there. Along every line in which
//! they cross the one may be drawn up or the other: to push both the same way brings them nowhere. So all
//! crossings of two cloths are settled alike. Each end of an edge is above or below the triangle next to it that the edge
//! goes through, and speaks for the piece of its cloth that it belongs to; what most of the cloth says is right, for
//! both.

use super::edge_intervals::EdgeIntervals;
use crate::{Vec3, collision::Intersection, surface::CollisionMesh};
use std::collections::BTreeMap;

/// Cosine of the angle between two surfaces beyond which they do not lie on each other, in the mean.
const LEAST_ALIGNED: f64 = 0.5;

/// For a cloth and another the side of the other's triangles on which the cloth belongs: 1 where they face, or −1.
#[derive(Clone, Debug, Default)]
pub(crate) struct LayerOrder {
    sides: BTreeMap<[u32; 2], f64>,
}

/// Ends of edges of a piece on the sides of what they cross.
#[derive(Clone, Copy, Debug, Default)]
struct EndCounts {
    above: f64,
    below: f64,
}

/// What is known of a cloth and another that it crosses.
#[derive(Clone, Debug, Default)]
struct LayerVotes {
    components: BTreeMap<u32, EndCounts>,
    /// Sum of the cosines between the surfaces, and their number.
    alignment: [f64; 2],
}

impl LayerOrder {
    /// `pieces` are those of the vertices of cloth, and `sizes` their numbers of vertices.
    pub(crate) fn new(
        surfaces: &CollisionMesh,
        positions: &[Vec3],
        (crossings, passages): (&[Intersection], &EdgeIntervals),
        (pieces, sizes): (&[u32], &[usize]),
    ) -> Self {
        let mut votes: BTreeMap<[u32; 2], LayerVotes> = BTreeMap::new();
        for (index, crossing) in crossings.iter().enumerate() {
            let bodies = crossing.bodies(surfaces);
            let are_cloths = bodies.iter().all(|body| (*body as usize) < surfaces.cloth_count);
            if are_cloths && bodies[0] != bodies[1] {
                let votes = votes.entry(bodies).or_default();
                let ends = passages.adjacent_ends(index);
                votes.count_ends(surfaces, positions, (*crossing, ends), pieces);
            }
        }
        let pairs: Vec<[u32; 2]> = votes.keys().map(|[a, b]| [*a.min(b), *a.max(b)]).collect();
        let mut layers = Self::default();
        for [one, other] in pairs {
            let none = LayerVotes::default();
            let of = |bodies: [u32; 2]| votes.get(&bodies).unwrap_or(&none);
            let both = [of([one, other]), of([other, one])];
            if let Some([first, second]) = decide_sides(both, sizes) {
                layers.sides.insert([one, other], first);
                layers.sides.insert([other, one], second);
            }
        }
        layers
    }

    /// The side of a body on which a cloth belongs, where it is known.
    pub(crate) fn side(&self, surfaces: &CollisionMesh, cloth: u32, body: u32) -> Option<f64> {
        surfaces
            .required_side_of_solid(cloth, body)
            .or_else(|| self.sides.get(&[cloth, body]).copied())
    }
}

impl LayerVotes {
    fn count_ends(
        &mut self,
        surfaces: &CollisionMesh,
        positions: &[Vec3],
        (crossing, near): (Intersection, impl Iterator<Item = u32>),
        pieces: &[u32],
    ) {
        for end in near {
            let ends = self.components.entry(pieces[end as usize]).or_default();
            if surfaces.signed_height(crossing.triangle, positions, end) > 0.0 {
                ends.above += 1.0;
            } else {
                ends.below += 1.0;
            }
        }
        let owner = surfaces.edge_adjacency[crossing.edge as usize].first_triangle;
        let normals =
            [owner, crossing.triangle].map(|one| surfaces.triangle_normal(one, positions));
        if let [Some(of_edge), Some(of_triangle)] = normals {
            self.alignment[0] += of_edge.dot(&of_triangle);
            self.alignment[1] += 1.0;
        }
    }

    /// Vertices above less vertices below, as far as the ends of edges tell.
    fn net_vertices_above(&self, sizes: &[usize]) -> f64 {
        let each = self.components.iter().map(|(piece, EndCounts { above, below })| {
            sizes[*piece as usize] as f64 * (above - below) / (above + below)
        });
        each.sum()
    }
}

/// The sides of two cloths, of the first by the triangles of the second and the other way round; `None` where they
/// do not lie on each other.
fn decide_sides([first, second]: [&LayerVotes; 2], sizes: &[usize]) -> Option<[f64; 2]> {
    let [sum, count] = [0, 1].map(|k| first.alignment[k] + second.alignment[k]);
    if sum.abs() < LEAST_ALIGNED * count || count == 0.0 {
        return None;
    }
    // Where both face the same way, the first is above the second if that is below the first.
    let facing = -sum.signum();
    let above = first.net_vertices_above(sizes) + facing * second.net_vertices_above(sizes);
    let side = if above < 0.0 { -1.0 } else { 1.0 };
    Some([side, facing * side])
}
