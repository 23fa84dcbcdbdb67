// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flypapering of pinched cloth (Baraff, Witkin and Kass 2003, section 6).
//!
//! Where two surfaces of colliders come closer to each other than the compressed cloth between them is thick, or overlap,
//! no position of that cloth satisfies the contacts with both. A vertex there is held: it moves with the mean motion of the
//! two surface points beside it, at the height over each that its own thickness and that of the layers between require,
//! shortened or lengthened by the same amount on both sides. So layers keep their order, and cloth is stretched by no
//! more than the surfaces are. Held cloth has neither contact with colliders nor guarantee against them. It is free
//! again once a step begins with room for all layers, outside of both surfaces.

mod narrow_zone;
mod probes;
mod surface_point;

use super::CollisionResponse;
use crate::{
    collision::{Intersection, PrimitivePair},
    surface::Configuration,
    system::PrescribedDisplacement,
    vec3::Vec3,
};
use nalgebra::Matrix3;
pub(super) use narrow_zone::NarrowZone;
use serde::{Deserialize, Serialize};
use surface_point::{Gap, SurfacePoint};

/// Parameters of the flypapering.
struct FlypaperingParameters {
    /// Cosine of the largest angle between two normals of surfaces that pinch what is between them, negative. Effect:
    /// nearer to −1 leaves cloth in creases to contacts that it cannot all satisfy; nearer to 0 holds cloth that could
    /// slip out of a wedge. Evidence: `a_wedge_of_a_right_angle_holds_nothing`.
    max_normal_cosine: f64,
    /// Thickness of cloth between surfaces that press it together, as a fraction of its contact thickness (1): it is held
    /// where there is less room. Effect: larger holds cloth that contacts can still keep between the surfaces; smaller
    /// leaves contacts that hardly any position satisfies to Newton's method. Evidence: two layers between balls that
    /// come to overlap by 2 and 20 mm are stretched by 12 and 47 % at 1, by 5 and 8 % at 0.3, by 27 and 12 % at 0.1.
    compressed_thickness: f64,
}

impl FlypaperingParameters {
    const DEFAULT: Self = Self { max_normal_cosine: -0.5, compressed_thickness: 0.3 };
}

const FLYPAPERING: FlypaperingParameters = FlypaperingParameters::DEFAULT;

/// Cloth vertex between two surfaces of colliders that leave it no room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PinchedVertex {
    pub(crate) vertex: u32,
    /// Triangle of each surface that is closest to the vertex.
    triangles: [u32; 2],
    /// Side of each triangle that faces the cloth: 1 or −1.
    sides: [f64; 2],
    /// Height over each surface that the compressed cloth requires, in m, with the layers between.
    required_heights: [f64; 2],
}

/// Motion of a pinched vertex in a step.
#[derive(Clone, Debug)]
pub(crate) struct HeldVertex {
    pinched: PinchedVertex,
    /// Closest points of both surfaces at the start of the step.
    points: [SurfacePoint; 2],
    /// Position at the end of the step, in m.
    pub(crate) end: Vec3,
}

impl PinchedVertex {
    /// Distance of the surfaces that the cloth between them requires, in m.
    fn required_width(&self) -> f64 {
        self.required_heights.iter().sum()
    }
}

impl HeldVertex {
    pub(crate) fn vertex(&self) -> usize {
        self.pinched.vertex as usize
    }

    /// Dirichlet condition of the vertex in a step from `start` in m.
    pub(crate) fn prescribed_displacement(&self, start: &Vec3) -> PrescribedDisplacement {
        PrescribedDisplacement {
            vertex: self.vertex(),
            free_projector: Matrix3::zeros(),
            displacement: self.end - start,
        }
    }
}

impl CollisionResponse {
    /// Finds the vertices that are pinched in the step, and prescribes their motion. Returns whether there are any.
    pub(super) fn hold_pinched_vertices(&mut self, have_colliders_moved: bool) -> bool {
        let kept = self.pinched_vertices.iter().filter_map(|pinched| self.still_held(pinched));
        let mut held: Vec<HeldVertex> = kept.collect();
        if have_colliders_moved {
            held.extend(self.newly_held(&held));
            held.sort_by_key(HeldVertex::vertex);
        }
        for one in &held {
            self.is_pinned[one.vertex()] = true;
            self.end_positions[one.vertex()] = one.end;
        }
        self.narrow_zone =
            NarrowZone::new(&held, [self.start_configuration(), self.end_configuration()]);
        self.held_vertices = held;
        !self.held_vertices.is_empty()
    }

    /// Vertices that are held in this step, in ascending order.
    pub(crate) fn held_vertices(&self) -> &[HeldVertex] {
        &self.held_vertices
    }

    /// Vertices that were held at the end of the last step, in ascending order.
    pub(crate) fn pinched_vertices(&self) -> &[PinchedVertex] {
        &self.pinched_vertices
    }

    /// Restores the pinched vertices from a checkpoint.
    pub(crate) fn set_pinched_vertices(&mut self, pinched_vertices: Vec<PinchedVertex>) {
        self.pinched_vertices = pinched_vertices;
    }

    /// Accepts the vertices that were held in the step.
    pub(crate) fn accept_held_vertices(&mut self) {
        self.pinched_vertices.clear();
        self.pinched_vertices.extend(self.held_vertices.iter().map(|held| held.pinched.clone()));
    }

    /// Whether all of these are vertices of cloth and triangles of colliders of the scene.
    pub(crate) fn are_valid_pinched_vertices(&self, pinched_vertices: &[PinchedVertex]) -> bool {
        let triangles = self.mesh.cloth_triangle_count..self.mesh.triangles.len();
        pinched_vertices.iter().all(|one| {
            self.mesh.is_cloth(one.vertex)
                && one.triangles.iter().all(|triangle| triangles.contains(&(*triangle as usize)))
        })
    }

    /// Whether a pair of cloth and a collider has a held vertex, or is in the narrow zone.
    pub(super) fn is_pinched_pair(&self, pair: &PrimitivePair) -> bool {
        !self.held_vertices.is_empty()
            && !pair.representative_vertices().iter().all(|vertex| self.is_cloth(*vertex))
            && (pair.vertices.iter().any(|vertex| self.is_held(*vertex))
                || self.narrow_zone.contains_pair(self.start_configuration(), pair))
    }

    /// Whether cloth crosses a collider with a held vertex, or in the narrow zone.
    pub(super) fn is_pinched_intersection(&self, intersection: Intersection) -> bool {
        let mesh = &self.mesh;
        let ends = mesh.edges[intersection.edge as usize];
        let corners = mesh.triangles[intersection.triangle as usize];
        !self.held_vertices.is_empty()
            && mesh.is_cloth(ends[0]) != mesh.is_cloth(corners[0])
            && (ends.iter().chain(&corners).any(|vertex| self.is_held(*vertex))
                || self.narrow_zone.contains_intersection(self.start_configuration(), intersection))
    }

    /// Whether a vertex is held in this step.
    pub(super) fn is_held(&self, vertex: u32) -> bool {
        self.held_vertices.binary_search_by_key(&(vertex as usize), HeldVertex::vertex).is_ok()
    }

    /// All vertices at the end of the step.
    fn end_configuration(&self) -> Configuration<'_> {
        Configuration { mesh: &self.mesh, positions: &self.end_positions }
    }

    /// Motion of a vertex that was pinched at the end of the last step; `None` if it has room again.
    fn still_held(&self, pinched: &PinchedVertex) -> Option<HeldVertex> {
        let start = self.start_configuration();
        if self.is_pinned[pinched.vertex as usize] {
            return None;
        }
        let position = start.position(pinched.vertex);
        let point = |index: usize| {
            let side = pinched.sides[index];
            SurfacePoint::closest(start, pinched.triangles[index], side, &position)
        };
        let points = [0, 1].map(point);
        let required_width = pinched.required_width();
        let is_pinched = |configuration| {
            Gap::between(&points, configuration).is_some_and(|gap| gap.width < required_width)
        };
        if !is_pinched(start) && !is_pinched(self.end_configuration()) {
            return None;
        }
        self.held(
            PinchedVertex { triangles: points.map(|one| one.triangle), ..pinched.clone() },
            &points,
        )
    }

    /// Mean motion of two surface points, with the vertex as far beyond its required height over each as over the other.
    fn held(&self, pinched: PinchedVertex, points: &[SurfacePoint; 2]) -> Option<HeldVertex> {
        let [start, end] = [self.start_configuration(), self.end_configuration()];
        let motions = points.each_ref().map(|one| one.position(end) - one.position(start));
        let carried = start.position(pinched.vertex) + (motions[0] + motions[1]) * 0.5;
        let Gap { axis, width } = Gap::between(points, end)?;
        let [first, second] = pinched.required_heights;
        let height = 0.5 * (width + first - second);
        let present_height = (carried - points[0].position(end)).dot(&axis);
        Some(HeldVertex {
            pinched,
            points: *points,
            end: carried + axis * (height - present_height),
        })
    }
}
