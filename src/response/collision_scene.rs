// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collision scene: what lasts over the simulation, the surfaces of cloths and colliders and the
//! prescribed motion of colliders within a frame.

use crate::{
    scene::Collider,
    surface::{CollisionMesh, SurfaceProperties},
    vec3::Vec3,
};

/// Surfaces of all cloths and colliders, and the motion of the colliders.
#[derive(Clone, Debug)]
pub(crate) struct CollisionScene {
    pub(crate) mesh: CollisionMesh,
    /// Motion of each collider in the frame.
    pub(crate) collider_motions: Vec<ColliderMotion>,
    /// Whether a collider's surface properties have changed since its trees were refitted.
    pub(super) has_changed_collider_surface: bool,
    /// Whether the scene has neither colliders nor self-collision.
    pub(super) is_disabled: bool,
}

impl CollisionScene {
    /// Positions of the vertices of all colliders at a `fraction` of the frame, in m.
    pub(super) fn collider_positions_at(&self, fraction: f64) -> impl Iterator<Item = Vec3> {
        self.collider_motions.iter().flat_map(move |collider| collider.positions_at(fraction))
    }

    /// Smallest contact thickness of a cloth, in m.
    pub(crate) fn min_cloth_thickness(&self) -> f64 {
        let cloths = &self.mesh.surface_properties[..self.mesh.cloth_vertex_count];
        cloths.iter().map(|surface| surface.thickness).fold(f64::INFINITY, f64::min)
    }

    /// Numbers of vertices, edges and triangles of the collision mesh.
    pub(crate) fn feature_counts(&self) -> [usize; 3] {
        let mesh = &self.mesh;
        [mesh.surface_properties.len(), mesh.edges.len(), mesh.triangles.len()]
    }

    /// Sets the friction and thickness of a collider.
    pub(crate) fn set_collider_surface_properties(
        &mut self,
        collider: usize,
        surface: SurfaceProperties,
    ) {
        let vertices = self.mesh.vertices_of_collider(collider);
        self.mesh.surface_properties[vertices].fill(surface);
        self.has_changed_collider_surface = true;
    }

    /// Friction and thickness of a collider.
    pub(crate) fn collider_surface_properties(&self, collider: usize) -> SurfaceProperties {
        self.mesh.surface_properties[self.mesh.vertices_of_collider(collider).start]
    }

    /// Sets whether the strips of closing seams are surfaces.
    pub(crate) fn set_guards_seams(&mut self, guards_seams: bool) {
        self.mesh.seam_strips.are_ignored = !guards_seams;
        self.mesh.guard_seam_strips(|_| false);
    }

    /// Vertices of all cloth edges, each with an adjacent triangle.
    pub(crate) fn cloth_edges(&self) -> impl Iterator<Item = ([u32; 2], usize)> {
        let mesh = &self.mesh;
        let edges = (0_u32..).zip(&mesh.edges).take(mesh.cloth_edge_count);
        edges.map(|(edge, ends)| (*ends, mesh.triangle_in_use_at(edge) as usize))
    }

    /// Whether all pairs name a cloth and a solid of the scene.
    pub(crate) fn are_valid_enclosed_cloths(&self, enclosed_cloths: &[[u32; 2]]) -> bool {
        let cloth_count = self.mesh.cloth_count;
        let is_solid =
            |body: u32| (body as usize) < self.mesh.body_count() && self.mesh.is_solid(body);
        enclosed_cloths
            .iter()
            .all(|[cloth, body]| (*cloth as usize) < cloth_count && is_solid(*body))
    }
}

/// Linear motion of a collider's vertices between two frames.
#[derive(Clone, Debug)]
pub(crate) struct ColliderMotion {
    /// Positions at the start and at the end of the frame, in m.
    pub(crate) frame_positions: [Vec<Vec3>; 2],
}

impl ColliderMotion {
    /// Motion of a collider at rest.
    pub(crate) fn new(collider: &Collider) -> Self {
        let positions = || collider.initial_positions().to_vec();
        Self { frame_positions: [positions(), positions()] }
    }

    /// Ends the frame at a `fraction` of its duration; the next one starts there.
    pub(crate) fn end_frame(&mut self, fraction: f64) {
        let [start, end] = &mut self.frame_positions;
        for (start, end) in start.iter_mut().zip(end) {
            if fraction < 1.0 {
                *end = *start + (*end - *start) * fraction;
            }
            *start = *end;
        }
    }

    /// Positions at a `fraction` of the frame from 0 to 1, in m; exact for vertices at rest.
    pub(crate) fn positions_at(&self, fraction: f64) -> impl Iterator<Item = Vec3> {
        let pairs = self.frame_positions[0].iter().zip(&self.frame_positions[1]);
        pairs
            .map(move |(from, to)| if fraction < 1.0 { from + (to - from) * fraction } else { *to })
    }
}
