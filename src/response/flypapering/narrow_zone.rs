// SPDX-License-Identifier: MIT OR Apache-2.0
//! Narrow zone: the parts of colliders' surfaces that leave the cloth between them no room.
//!
//! Cloth between free vertices would have to be outside of both surfaces there as well, which nothing can satisfy. So
//! their contacts and the guarantee end where the room, interpolated over the surface, falls below that which the
//! pinched cloth requires.

use super::{Gap, HeldVertex, SurfacePoint};
use crate::{
    collision::{Intersection, PrimitivePair},
    geometry::closest_point_on_triangle,
    surface::Configuration,
};
use std::collections::{BTreeMap, VecDeque};

/// Spare room at vertices of colliders in the narrow zone, where it is negative, and around it.
#[derive(Clone, Debug, Default)]
pub(in crate::response) struct NarrowZone {
    /// Distance to the opposite surface less the one that the cloth requires, in m, the smaller one of the start and
    /// the end of the step.
    spare_room: BTreeMap<u32, f64>,
}

/// Vertex of a collider, with the closest triangle known of the opposite surface.
struct Front {
    vertex: u32,
    /// Side of its triangles that faces the cloth: 1 or −1.
    side: f64,
    opposite: SurfacePoint,
    required_width: f64,
}

impl NarrowZone {
    /// Zone that is connected with the surfaces beside held vertices, at the start and the end of the step.
    pub(super) fn new(held: &[HeldVertex], configurations: [Configuration<'_>; 2]) -> Self {
        let mut fronts: VecDeque<Front> =
            held.iter().flat_map(|one| one.fronts(configurations[0])).collect();
        let mut zone = Self::default();
        while let Some(Front { vertex, side, opposite, required_width }) = fronts.pop_front() {
            if zone.spare_room.contains_key(&vertex) {
                continue;
            }
            let [start, _] = configurations;
            let SurfacePoint { triangle, side: opposite_side, .. } = opposite;
            let opposite =
                SurfacePoint::closest(start, triangle, opposite_side, &start.position(vertex));
            let around = || start.mesh.vertex_triangles.elements_of(vertex as usize);
            let Some((own, corner)) = around().next() else { continue };
            let points = [SurfacePoint::corner(own, usize::from(corner), side), opposite];
            let width = |one| Gap::between(&points, one).map_or(f64::INFINITY, |gap| gap.width);
            let spare = configurations.map(width).into_iter().fold(f64::INFINITY, f64::min)
                - required_width;
            zone.spare_room.insert(vertex, spare);
            if spare < 0.0 {
                let corners =
                    around().flat_map(|(triangle, _)| start.mesh.triangles[triangle as usize]);
                fronts.extend(corners.map(|vertex| Front {
                    vertex,
                    side,
                    opposite,
                    required_width,
                }));
            }
        }
        zone
    }

    /// Whether the point of a collider's feature with these weights at its vertices is in the zone.
    fn contains(&self, mut vertices: impl Iterator<Item = (u32, f64)>) -> bool {
        let spare = vertices.try_fold(0.0, |sum, (vertex, weight)| {
            self.spare_room.get(&vertex).map(|spare| sum + weight * spare)
        });
        spare.is_some_and(|spare| spare < 0.0)
    }

    /// Whether the features of a pair are closest to each other in the zone, at the start of the step.
    pub(super) fn contains_pair(&self, start: Configuration<'_>, pair: &PrimitivePair) -> bool {
        let is_near = pair.vertices.iter().any(|vertex| self.spare_room.contains_key(vertex));
        is_near && {
            let weights = pair.closest_point_weights(start.positions);
            let each = pair.vertices.into_iter().zip(weights.map(f64::abs));
            self.contains(each.filter(|(vertex, _)| !start.mesh.is_cloth(*vertex)))
        }
    }

    /// Whether an edge crosses a triangle in the zone, at the start of the step.
    pub(super) fn contains_intersection(
        &self,
        start: Configuration<'_>,
        Intersection { edge, triangle }: Intersection,
    ) -> bool {
        let ends = start.mesh.edges[edge as usize];
        let [below, above] = ends.map(|end| start.signed_height(triangle, end).abs());
        let along = if below + above > 0.0 { below / (below + above) } else { 0.5 };
        if !start.mesh.is_cloth(ends[0]) {
            return self.contains(ends.into_iter().zip([1.0 - along, along]));
        }
        let [from, to] = start.edge_ends(edge);
        let crossing = from + (to - from) * along;
        let weights =
            closest_point_on_triangle(&crossing, &start.triangle_corners(triangle)).weights;
        self.contains(start.mesh.triangles[triangle as usize].into_iter().zip(weights))
    }
}

impl HeldVertex {
    /// Corners of the triangle on each side, with the other side.
    fn fronts(&self, start: Configuration<'_>) -> impl Iterator<Item = Front> {
        let required_width = self.pinched.required_width();
        self.points.iter().zip(self.points.iter().rev()).flat_map(move |(own, opposite)| {
            let corners = start.mesh.triangles[own.triangle as usize];
            let (side, opposite) = (own.side, *opposite);
            corners.into_iter().map(move |vertex| Front { vertex, side, opposite, required_width })
        })
    }
}
