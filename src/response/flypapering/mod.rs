// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flypapering of pinched cloth (Baraff, Witkin and Kass 2003, section 6).
//!
//! Where two surfaces of colliders are closer to each other than the cloth between them is thick, it is compressed:
//! contacts there have that fraction of their thickness for which there is room. Where even compressed cloth has no room,
//! or the surfaces overlap, no position of it satisfies the contacts with both. A vertex there is held: it moves with the
//! mean motion of the two surface points beside it, beyond its height over each by as much as over the other. So layers
//! keep their order, and cloth is stretched by no more than the surfaces are. Held cloth has neither contact with
//! colliders nor guarantee against them. It is free again once a step begins with room for all layers, outside of both
//! surfaces.

mod narrow_zone;
mod probes;
#[cfg(test)]
mod tests;

use super::step_geometry::StepGeometry;
use crate::{
    collision::{BroadPhase, ContactHistory, Intersection, PrimitivePair, Renumbering},
    surface::{CollisionMesh, Configuration, Gap, SurfacePoint},
    system::PrescribedDisplacement,
    vec3::Vec3,
};
use nalgebra::Matrix3;
use narrow_zone::NarrowZone;
use probes::PinchSearch;
use serde::{Deserialize, Serialize};

/// Parameters of the flypapering.
struct FlypaperingParameters {
    /// Cosine of the largest angle between two normals of surfaces that pinch what is between them, negative. Effect:
    /// nearer to −1 leaves cloth in creases to contacts that it cannot all satisfy; nearer to 0 holds cloth that could
    /// slip out of a wedge. Evidence: at −0.5 trousers of 12 mm ease cross
    /// themselves in the crotch in 7 of 119 frames, at −0.9 in none; layers between balls that overlap by 20 mm are
    /// stretched by 15 % at −0.5, by 41 % at −0.9 (72 % before).
    max_normal_cosine: f64,
    /// Smallest fraction of its thickness to which cloth is compressed before it is held (1). Effect: larger holds cloth,
    /// without guarantee, that still has room; smaller leaves contacts that hardly any position satisfies to Newton's
    /// method. Evidence: `layers_between_bodies_that_overlap_keep_their_shape_and_their_order_and_come_free`; at 0.2
    /// trousers of 8 mm ease on a walking figure cross themselves in 3 frames and those of 12 mm the body in one, at
    /// 0.05 none do; where thighs overlap a frame takes 1.5 s at 0.05 and 0.6 s at 0.2.
    min_thickness_fraction: f64,
}

impl FlypaperingParameters {
    const DEFAULT: Self = Self { max_normal_cosine: -0.9, min_thickness_fraction: 0.05 };
}

const FLYPAPERING: FlypaperingParameters = FlypaperingParameters::DEFAULT;

/// Cloth vertex between two surfaces of colliders that are closer than the cloth is thick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PinchedVertex {
    pub(crate) vertex: u32,
    /// Whether it is held, as even compressed cloth has no room.
    pub(crate) is_held: bool,
    /// Triangle of each surface that is closest to the vertex.
    triangles: [u32; 2],
    /// Side of each triangle that faces the cloth: 1 or −1.
    sides: [f64; 2],
    /// Height over each surface that the thickness of the cloth requires, in m, with the layers between.
    required_heights: [f64; 2],
}

/// Pinched vertex in a step.
#[derive(Clone, Debug)]
struct Pinch {
    state: PinchedVertex,
    /// Closest points of both surfaces at the start of the step.
    points: [SurfacePoint; 2],
    /// Room for the cloth as a fraction of its thickness, the smaller one of the start and the end of the step.
    room: f64,
    /// Position at the end of the step if it is held, in m.
    end: Vec3,
}

/// Cloth that colliders pinch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flypapering {
    /// Vertices that were pinched at the end of the last step, in ascending order.
    pub(crate) pinched_vertices: Vec<PinchedVertex>,
    /// Vertices that are pinched in this step, in ascending order.
    pinches: Vec<Pinch>,
    narrow_zone: NarrowZone,
}

/// Motion of a held vertex in a step.
pub(crate) struct HeldVertex {
    pub(crate) vertex: usize,
    /// Position at the end of the step, in m.
    pub(crate) end: Vec3,
}

impl HeldVertex {
    /// Dirichlet condition of the vertex in a step from `start` in m.
    pub(crate) fn prescribed_displacement(&self, start: &Vec3) -> PrescribedDisplacement {
        PrescribedDisplacement {
            vertex: self.vertex,
            free_projector: Matrix3::zeros(),
            displacement: self.end - start,
        }
    }
}

impl Flypapering {
    /// Finds the vertices that are pinched in the step, compresses the cloth there, and prescribes the motion of those
    /// that are held. Returns whether there are any.
    pub(super) fn hold_pinched_vertices(
        &mut self,
        step: &mut StepGeometry,
        mesh: &mut CollisionMesh,
        broad_phase: &BroadPhase,
        history: &ContactHistory,
    ) -> bool {
        let kept = self.pinched_vertices.iter().filter_map(|one| one.still_held(step, mesh));
        let mut pinches: Vec<Pinch> = kept.collect();
        if step.do_colliders_move() || !self.pinched_vertices.is_empty() {
            let search = PinchSearch { step, mesh, broad_phase };
            pinches.extend(search.newly_pinched(&pinches, history));
            pinches.sort_by_key(|one| one.state.vertex);
        }
        for one in pinches.iter().filter(|one| one.state.is_held) {
            step.hold(one.state.vertex, one.end);
        }
        self.narrow_zone = NarrowZone::new(&pinches, [step.start(mesh), step.end(mesh)]);
        self.pinches = pinches;
        self.compress_cloth(mesh);
        self.is_pinching()
    }

    /// Whether any vertex is pinched in this step.
    pub(super) fn is_pinching(&self) -> bool {
        !self.pinches.is_empty()
    }

    /// Vertices that are held in this step, in ascending order.
    pub(crate) fn held_vertices(&self) -> impl Iterator<Item = HeldVertex> {
        let held = self.pinches.iter().filter(|one| one.state.is_held);
        held.map(|one| HeldVertex { vertex: one.state.vertex as usize, end: one.end })
    }

    /// Accepts the vertices that were pinched in the step.
    pub(crate) fn accept_pinched_vertices(&mut self) {
        self.pinched_vertices.clear();
        self.pinched_vertices.extend(self.pinches.iter().map(|pinch| pinch.state.clone()));
    }

    /// Whether a pair of cloth and a collider has a held vertex, or is where even compressed cloth has no room.
    pub(super) fn filters(
        &self,
        step: &StepGeometry,
        mesh: &CollisionMesh,
        pair: &PrimitivePair,
    ) -> bool {
        self.is_pinching()
            && !pair.representative_vertices().iter().all(|vertex| mesh.is_cloth(*vertex))
            && (pair.vertices.iter().any(|vertex| step.is_held(*vertex))
                || self.narrow_zone.contains_pair(step.start(mesh), pair))
    }

    /// Whether cloth crosses a collider with a held vertex, or where even compressed cloth has no room.
    pub(super) fn filters_intersection(
        &self,
        step: &StepGeometry,
        mesh: &CollisionMesh,
        intersection: Intersection,
    ) -> bool {
        let ends = mesh.edges[intersection.edge as usize];
        let corners = mesh.triangles[intersection.triangle as usize];
        self.is_pinching()
            && mesh.is_cloth(ends[0]) != mesh.is_cloth(corners[0])
            && (ends.iter().chain(&corners).any(|vertex| step.is_held(*vertex))
                || self.narrow_zone.contains_intersection(step.start(mesh), intersection))
    }

    /// Limits the thickness of contacts to the room.
    fn compress_cloth(&self, mesh: &mut CollisionMesh) {
        let vertex_count = mesh.surface_properties.len();
        let fractions = &mut mesh.thickness_fractions;
        fractions.clear();
        if !self.is_pinching() {
            return;
        }
        fractions.resize(vertex_count, 1.0);
        let cloth = self.pinches.iter().map(|one| (one.state.vertex, one.room));
        for (vertex, room) in cloth.chain(self.narrow_zone.rooms()) {
            fractions[vertex as usize] = room.clamp(FLYPAPERING.min_thickness_fraction, 1.0);
        }
    }
}

impl Pinch {
    /// A vertex between two surface points from the start to the end of a step. Held, it has the mean
    /// motion of both and is as far beyond its height over each as over the other.
    fn new(
        mut state: PinchedVertex,
        points: [SurfacePoint; 2],
        [start, end]: [Configuration<'_>; 2],
    ) -> Option<Self> {
        let gaps = [Gap::between(&points, start)?, Gap::between(&points, end)?];
        let required_width = state.required_width();
        let room = gaps[0].width.min(gaps[1].width) / required_width;
        let motions = points.each_ref().map(|one| one.position(end) - one.position(start));
        let carried = start.position(state.vertex) + (motions[0] + motions[1]) * 0.5;
        let [first, second] =
            state.required_heights.map(|height| FLYPAPERING.min_thickness_fraction * height);
        let Gap { axis, width } = &gaps[1];
        let height = 0.5 * (width + first - second);
        let present_height = (carried - points[0].position(end)).dot(axis);
        state.is_held = room < FLYPAPERING.min_thickness_fraction;
        Some(Self { state, points, room, end: carried + axis * (height - present_height) })
    }
}

impl PinchedVertex {
    /// Whether it is a vertex of cloth between triangles of colliders of a mesh.
    pub(crate) fn is_valid(&self, mesh: &CollisionMesh) -> bool {
        let triangles = mesh.cloth_triangle_count..mesh.triangles.len();
        mesh.is_cloth(self.vertex)
            && self.triangles.iter().all(|triangle| triangles.contains(&(*triangle as usize)))
    }

    /// It with the new numbers of its features, where these have one.
    pub(crate) fn renumbered(&self, new: &Renumbering<'_>) -> Option<Self> {
        let [first, second] = self.triangles;
        Some(Self {
            vertex: new.vertex(self.vertex)?,
            triangles: [new.triangle(first)?, new.triangle(second)?],
            ..self.clone()
        })
    }

    /// Its pinch in a step, if it was held at the end of the last one and has no room yet.
    fn still_held(&self, step: &StepGeometry, mesh: &CollisionMesh) -> Option<Pinch> {
        if !self.is_held || step.is_pinned(self.vertex as usize) {
            return None;
        }
        let start = step.start(mesh);
        let position = start.position(self.vertex);
        let point = |index: usize| {
            SurfacePoint::closest(start, self.triangles[index], self.sides[index], &position)
        };
        let points = [0, 1].map(point);
        let state = Self { triangles: points.map(|one| one.triangle), ..self.clone() };
        Pinch::new(state, points, [start, step.end(mesh)]).filter(|pinch| pinch.state.is_held)
    }

    /// Distance of the surfaces that the cloth between them requires, in m.
    fn required_width(&self) -> f64 {
        self.required_heights.iter().sum()
    }
}
