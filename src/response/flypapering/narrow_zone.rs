// SPDX-License-Identifier: MIT OR Apache-2.0
//! Narrow zone: the parts of colliders' surfaces that are closer to each other than the cloth between them is thick.
//!
//! Where even compressed cloth has no room, what lies between free vertices would have to be outside of both surfaces as
//! well, which nothing can satisfy. So contacts and the guarantee end where the room, interpolated over the surface, falls
//! below that of compressed cloth.

use super::{FLYPAPERING, Pinch};
use crate::{
    collision::{Intersection, PrimitivePair},
    geometry::closest_point_on_triangle,
    surface::{Configuration, Gap, SurfacePoint},
};
use std::collections::{BTreeMap, VecDeque};

/// Room at vertices of colliders in the narrow zone, where it is less than 1, and around it.
#[derive(Clone, Debug, Default)]
pub(super) struct NarrowZone {
    /// Distance to the opposite surface as a fraction of the thickness of the cloth between, the smaller one of the start
    /// and the end of the step.
    rooms: BTreeMap<u32, f64>,
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
    /// Zone that is connected with the surfaces beside pinched vertices, at the start and the end of the step.
    pub(super) fn new(pinches: &[Pinch], configurations: [Configuration<'_>; 2]) -> Self {
        let [start, _] = configurations;
        let mut fronts: VecDeque<Front> =
            pinches.iter().flat_map(|one| one.fronts(start)).collect();
        let mut zone = Self::default();
        while let Some(mut front) = fronts.pop_front() {
            if zone.rooms.contains_key(&front.vertex) {
                continue;
            }
            let position = start.position(front.vertex);
            let SurfacePoint { triangle, side, .. } = front.opposite;
            front.opposite = SurfacePoint::closest(start, triangle, side, &position);
            let Some(room) = front.room(configurations) else { continue };
            zone.rooms.insert(front.vertex, room);
            if room < 1.0 {
                fronts.extend(front.neighbours(start));
            }
        }
        zone
    }

    /// Vertices of colliders with their room.
    pub(super) fn rooms(&self) -> impl Iterator<Item = (u32, f64)> {
        self.rooms.iter().map(|(vertex, room)| (*vertex, *room))
    }

    /// Whether even compressed cloth has no room at the point of a collider's feature with these weights at its vertices.
    fn contains(&self, mut vertices: impl Iterator<Item = (u32, f64)>) -> bool {
        let room = vertices.try_fold(0.0, |sum, (vertex, weight)| {
            self.rooms.get(&vertex).map(|room| sum + weight * room)
        });
        room.is_some_and(|room| room < FLYPAPERING.min_thickness_fraction)
    }

    /// Whether even compressed cloth has no room where the features of a pair are closest at the start of the step.
    pub(super) fn contains_pair(&self, start: Configuration<'_>, pair: &PrimitivePair) -> bool {
        let is_near = pair.vertices.iter().any(|vertex| self.rooms.contains_key(vertex));
        is_near && {
            let weights = pair.closest_point_weights(start.positions);
            let each = pair.vertices.into_iter().zip(weights.map(f64::abs));
            self.contains(each.filter(|(vertex, _)| !start.mesh.is_cloth(*vertex)))
        }
    }

    /// Whether even compressed cloth has no room where an edge crosses a triangle at the start of the step.
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

impl Front {
    /// Room at the vertex; `None` for one without triangles.
    fn room(&self, configurations: [Configuration<'_>; 2]) -> Option<f64> {
        let mesh = configurations[0].mesh;
        let (own, corner) = mesh.vertex_triangles.elements_of(self.vertex as usize).next()?;
        let points = [SurfacePoint::corner(own, usize::from(corner), self.side), self.opposite];
        let width = |one| Gap::between(&points, one).map_or(f64::INFINITY, |gap| gap.width);
        let smaller = configurations.map(width).into_iter().fold(f64::INFINITY, f64::min);
        Some(smaller / self.required_width)
    }

    /// The vertices around.
    fn neighbours(&self, start: Configuration<'_>) -> impl Iterator<Item = Self> {
        let Self { side, opposite, required_width, .. } = *self;
        let around = start.mesh.vertex_triangles.elements_of(self.vertex as usize);
        let corners = around.flat_map(move |(one, _)| start.mesh.triangles[one as usize]);
        corners.map(move |vertex| Self { vertex, side, opposite, required_width })
    }
}

impl Pinch {
    /// Corners of the triangle on each side, with the other side.
    fn fronts(&self, start: Configuration<'_>) -> impl Iterator<Item = Front> {
        let required_width = self.state.required_width();
        self.points.iter().zip(self.points.iter().rev()).flat_map(move |(own, opposite)| {
            let corners = start.mesh.triangles[own.triangle as usize];
            let (side, opposite) = (own.side, *opposite);
            corners.into_iter().map(move |vertex| Front { vertex, side, opposite, required_width })
        })
    }
}
