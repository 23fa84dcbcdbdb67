// SPDX-License-Identifier: MIT OR Apache-2.0
//! Layer order of two intersecting cloths: which of them is the upper one.
//!
//! Two cloths that lie on each other and intersect are above each other here and below each other
//! there. If each contour were resolved by itself, they could be displaced in opposite senses
//! without progress. So all intersections of two cloths are resolved in the same sense. Each end of
//! an intersected edge is above or below its adjacent triangle and votes for its connected
//! component, weighted by size; the majority decides for both cloths. Where garments have been given
//! an order, that decides instead: the outer one belongs on the side of the normals of the inner one.

use super::{UNTANGLING, edge_intervals::EdgeIntervals};
use crate::{
    collision::{ClothComponents, Intersection},
    surface::{CollisionMesh, Configuration},
};
use std::{cmp::Ordering, collections::BTreeMap};

/// Side of the triangles of a body on which a cloth belongs, by cloth and body: 1 along their
/// normals, or −1.
#[derive(Clone, Debug, Default)]
pub(super) struct LayerOrder {
    sides: BTreeMap<[u32; 2], f64>,
}

/// Numbers of edge ends of a component on either side of the triangles that they intersect.
#[derive(Clone, Copy, Debug, Default)]
struct EndCounts {
    above: f64,
    below: f64,
}

/// Votes on a cloth and another one that its edges intersect.
#[derive(Clone, Debug, Default)]
struct LayerVotes {
    components: BTreeMap<u32, EndCounts>,
    /// Sum of the cosines between the normals, and their number.
    alignment: [f64; 2],
}

impl LayerOrder {
    /// Layer order from all intersections.
    pub(super) fn new(
        configuration: Configuration<'_>,
        intersections: &[Intersection],
        edge_intervals: &EdgeIntervals,
        components: &ClothComponents,
    ) -> Self {
        let mesh = configuration.mesh;
        let mut votes: BTreeMap<[u32; 2], LayerVotes> = BTreeMap::new();
        for (intersection, ends) in edge_intervals.with_adjacent_ends(intersections) {
            let bodies = intersection.bodies(mesh);
            let are_cloths = bodies.iter().all(|body| (*body as usize) < mesh.cloth_count);
            if are_cloths && bodies[0] != bodies[1] {
                let votes = votes.entry(bodies).or_default();
                votes.count_ends(configuration, intersection, ends, components);
                votes.add_alignment(configuration, intersection);
            }
        }
        let pairs: Vec<[u32; 2]> = votes.keys().map(|[a, b]| [*a.min(b), *a.max(b)]).collect();
        let mut order = Self::default();
        for [one, other] in pairs {
            let none = LayerVotes::default();
            let of = |bodies: [u32; 2]| votes.get(&bodies).unwrap_or(&none);
            let both = [of([one, other]), of([other, one])];
            let layers = [one, other].map(|cloth| mesh.layers.get(cloth as usize).copied());
            let sides =
                sides_in_order(both, layers).or_else(|| decide_sides(both, &components.sizes));
            if let Some([first, second]) = sides {
                order.sides.insert([one, other], first);
                order.sides.insert([other, one], second);
            }
        }
        order
    }

    /// Side of a body on which a cloth belongs, if known.
    pub(super) fn side(&self, mesh: &CollisionMesh, cloth: u32, body: u32) -> Option<f64> {
        let side_of_solid = mesh.required_side_of_solid(cloth, body);
        side_of_solid.or_else(|| self.sides.get(&[cloth, body]).copied())
    }
}

impl LayerVotes {
    fn count_ends(
        &mut self,
        configuration: Configuration<'_>,
        intersection: Intersection,
        ends: impl Iterator<Item = u32>,
        components: &ClothComponents,
    ) {
        for end in ends {
            let component = components.of_vertex[end as usize];
            let counts = self.components.entry(component).or_default();
            if configuration.signed_height(intersection.triangle, end) > 0.0 {
                counts.above += 1.0;
            } else {
                counts.below += 1.0;
            }
        }
    }

    fn add_alignment(
        &mut self,
        configuration: Configuration<'_>,
        Intersection { edge, triangle }: Intersection,
    ) {
        let mesh = configuration.mesh;
        let at_edge = mesh.edge_adjacency[edge as usize].first_triangle;
        let normals = [at_edge, triangle].map(|one| configuration.triangle_normal(one));
        if let [Some(of_edge), Some(of_triangle)] = normals {
            self.alignment[0] += of_edge.dot(&of_triangle);
            self.alignment[1] += 1.0;
        }
    }

    /// Number of vertices above minus number below, extrapolated from the edge ends of each
    /// component of `sizes` in vertices.
    fn net_vertices_above(&self, sizes: &[usize]) -> f64 {
        let each = self.components.iter().map(|(component, EndCounts { above, below })| {
            sizes[*component as usize] as f64 * (above - below) / (above + below)
        });
        each.sum()
    }
}

/// Sides of two cloths whose layers differ: the outer one is on the side of the normals of the
/// inner one, and this on the other side of the outer one as that is turned; `None` without an order.
fn sides_in_order(
    [first, second]: [&LayerVotes; 2],
    layers: [Option<usize>; 2],
) -> Option<[f64; 2]> {
    let facing = -(first.alignment[0] + second.alignment[0]).signum();
    match layers[0].cmp(&layers[1]) {
        Ordering::Greater => Some([1.0, facing]),
        Ordering::Less => Some([facing, 1.0]),
        Ordering::Equal => None,
    }
}

/// Sides of two cloths, of the first by the triangles of the second and vice versa; `None` where
/// they do not lie on each other.
fn decide_sides([first, second]: [&LayerVotes; 2], sizes: &[usize]) -> Option<[f64; 2]> {
    let [sum, count] = [0, 1].map(|k| first.alignment[k] + second.alignment[k]);
    if sum.abs() < UNTANGLING.min_layer_alignment * count || count == 0.0 {
        return None;
    }
    // With normals in the same sense, the first is above the second if the second is below the
    // first.
    let facing = -sum.signum();
    let above = first.net_vertices_above(sizes) + facing * second.net_vertices_above(sizes);
    let side = if above < 0.0 { -1.0 } else { 1.0 };
    Some([side, facing * side])
}
