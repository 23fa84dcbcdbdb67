// SPDX-License-Identifier: MIT OR Apache-2.0
//! Untangling at the start of a step: intersection state, recovery contacts, released cloth.

use super::{CollisionResponse, step_validation::STEP_VALIDATION};
use crate::{
    collision::{Intersection, is_intersecting},
    untangling::{
        IntersectionState, OverstretchRelease, RecoveryContext, coincidence_predicate,
        separate_coincident,
    },
    vec3::Vec3,
};
use std::collections::BTreeSet;

impl CollisionResponse {
    /// Finds the intersections at the start of the step, their recovery contacts, and the released
    /// cloth, and guards the strips of closing seams.
    pub(super) fn prepare_untangling(&mut self) {
        self.intersection_state =
            self.contact_history.intersection_time.and_then(|_| self.find_intersection_state());
        self.overstretch_release = if self.contact_history.had_kinematic_intersection {
            OverstretchRelease::new(self.start_configuration())
        } else {
            OverstretchRelease::default()
        };
        self.build_recovery_contacts();
        if !(self.mesh.seam_strips.is_empty() || self.mesh.seam_strips.are_ignored) {
            self.guard_seam_strips();
        }
    }

    /// Sets whether the strips of closing seams are surfaces.
    pub(crate) fn set_guards_seams(&mut self, guards_seams: bool) {
        self.mesh.seam_strips.are_ignored = !guards_seams;
        self.mesh.guard_seam_strips(|_| false);
    }

    /// Guards the strips of closing seams that no cloth passes through, and leads cloth out of the others.
    fn guard_seam_strips(&mut self) {
        let start = self.start_configuration();
        let min_gap = STEP_VALIDATION.min_gap;
        let closing = self.mesh.seam_strips.closing_triangles(start, min_gap);
        let intersections =
            if closing.is_empty() { Vec::new() } else { self.cloth_in_strips(&closing) };
        let mut guarded = closing;
        for Intersection { edge, triangle } in &intersections {
            guarded.remove(triangle);
            for beside in self.mesh.triangles_at_edge(*edge) {
                guarded.remove(&beside);
            }
        }
        if !intersections.is_empty() {
            let state = IntersectionState::new(start, &intersections);
            let contacts = state.recovery_contacts(&self.recovery_context(0.0));
            self.recovery_contacts.extend(contacts);
        }
        self.mesh.guard_seam_strips(|triangle| guarded.contains(&triangle));
    }

    /// Edges and triangles that intersect, one of them of cloth and the other of closing strips, sorted.
    fn cloth_in_strips(&self, closing: &BTreeSet<u32>) -> Vec<Intersection> {
        let (mesh, start) = (&self.mesh, self.start_configuration());
        let is_passing = |one: Intersection| {
            let mut triangles = mesh.triangles_at_edge(one.edge).chain([one.triangle]);
            one.is_between_strip_and_cloth(mesh)
                && triangles.any(|triangle| closing.contains(&triangle))
                && is_intersecting(start, one)
        };
        let mut found = self.broad_phase.intersections(self.has_self_collision, is_passing);
        found.sort_unstable();
        found
    }

    /// Separates coincident surfaces before the first step, with the cloth vertices at `positions`
    /// in m.
    pub(crate) fn separate_coincident_cloth(&mut self, positions: &mut [Vec3]) {
        if self.is_collision_disabled() {
            return;
        }
        let is_coincident = coincidence_predicate(self.start_configuration());
        let is_in_use = |triangle| !self.mesh.is_alternative_triangle(triangle);
        let is_coincident = move |pair: [u32; 2]| is_in_use(pair[1]) && is_coincident(pair);
        let coincident =
            self.broad_phase.coincident_vertex_faces(self.has_self_collision, is_coincident);
        let mut intersections = self.find_intersections();
        intersections.retain(|intersection| !intersection.is_alternative(&self.mesh));
        if !(coincident.is_empty() && intersections.is_empty()) {
            separate_coincident(&self.mesh, &mut self.start_positions, &intersections, &coincident);
            positions.copy_from_slice(&self.start_positions[..positions.len()]);
        }
    }

    /// All edge–triangle intersections at the start of the step, sorted.
    fn find_intersections(&self) -> Vec<Intersection> {
        let start = self.start_configuration();
        let is_intersecting_pair = |intersection: Intersection| {
            !intersection.is_of_strip(&self.mesh)
                && is_intersecting(start, intersection)
                && !self.is_pinched_intersection(intersection)
        };
        let mut intersections =
            self.broad_phase.intersections(self.has_self_collision, is_intersecting_pair);
        intersections.sort_unstable();
        intersections
    }

    fn find_intersection_state(&self) -> Option<IntersectionState> {
        let intersections = self.find_intersections();
        let may_exist = !intersections.is_empty() || !self.mesh.enclosed_cloths.is_empty();
        may_exist
            .then(|| IntersectionState::new(self.start_configuration(), &intersections))
            .filter(|state| !state.is_empty())
    }

    fn build_recovery_contacts(&mut self) {
        self.recovery_contacts.clear();
        self.layer_recovery_contacts.clear();
        let Some(state) = &self.intersection_state else { return };
        let context =
            self.recovery_context(self.contact_history.intersection_time.unwrap_or_default());
        let of_edges = state.recovery_contacts(&context);
        let of_layers = state.layer_recovery_contacts(&context);
        (self.recovery_contacts, self.layer_recovery_contacts) = (of_edges, of_layers);
        for contacts in [&mut self.recovery_contacts, &mut self.layer_recovery_contacts] {
            contacts.retain(|contact| !self.overstretch_release.filters(&self.mesh, &contact.pair));
        }
    }

    /// Context of recovery contacts, after an intersection time in s.
    fn recovery_context(&self, intersection_time: f64) -> RecoveryContext<'_> {
        RecoveryContext {
            configuration: self.start_configuration(),
            duration: self.duration,
            intersection_time,
        }
    }

    /// Vertices of all cloth edges, each with an adjacent triangle.
    pub(crate) fn cloth_edges(&self) -> impl Iterator<Item = ([u32; 2], usize)> {
        let mesh = &self.mesh;
        let edges = (0_u32..).zip(&mesh.edges).take(mesh.cloth_edge_count);
        edges.map(|(edge, ends)| (*ends, mesh.triangle_in_use_at(edge) as usize))
    }

    /// Sets the factors on the rest lengths of the cloth edges; empty if all are 1.
    pub(crate) fn set_rest_length_scales(&mut self, scales: Vec<f64>) {
        self.mesh.rest_length_scales = scales;
    }

    /// Cloths that belong inside of solids, each with the body of the solid.
    pub(crate) fn enclosed_cloths(&self) -> &[[u32; 2]] {
        &self.mesh.enclosed_cloths
    }

    /// Restores the enclosed cloths from a checkpoint.
    pub(crate) fn set_enclosed_cloths(&mut self, enclosed_cloths: Vec<[u32; 2]>) {
        self.mesh.enclosed_cloths = enclosed_cloths;
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

    /// Number of edge–triangle intersections at the start of the step.
    pub(crate) fn intersection_count(&self) -> usize {
        self.intersection_state.as_ref().map_or(0, |state| state.intersections.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mesh::AlternativeTriangles,
        response::{StepStart, collider_motion::ColliderMotion},
        scene::Collider,
        surface::{ClothCollisionData, CollisionMesh, ContactFilter, SurfaceProperties},
    };

    /// Friction coefficients of the contacts between the cloths and of those with the collider: a
    /// large cloth triangle on a collider, and on it a cloth strip whose fourth vertex is at a
    /// height in m.
    fn frictions(height: f64) -> [Vec<f64>; 2] {
        let sheet = [[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]];
        let strip =
            [[0.0, 0.0, 5.0e-4], [1.0, 0.0, 5.0e-4], [0.0, 1.0, 5.0e-4], [1.0, 1.0, height]];
        let start_positions: Vec<Vec3> = sheet.into_iter().chain(strip).map(Vec3::from).collect();
        let cloths = ClothCollisionData {
            triangles: &[[0, 1, 2], [3, 4, 5], [4, 6, 5]],
            alternatives: AlternativeTriangles::default(),
            vertex_offsets: &[0, 3, 7],
            surface_properties: vec![SurfaceProperties { friction: 0.5, thickness: 1.0e-3 }; 2],
            rest_positions: start_positions.clone().into(),
            vertex_areas: vec![0.01; start_positions.len()].into(),
            seams: &[],
            contact_filter: ContactFilter::default(),
            friction_scale: Vec::new(),
            layers: Vec::new(),
        };
        let collider_vertices = [[-9.5, -9.5], [-8.0, -9.5], [-9.5, -8.0]];
        let collider_vertices = collider_vertices.map(|[x, y]| Vec3::new(x, y, -5.0e-4)).to_vec();
        let collider = Collider::new(collider_vertices, &[[0, 1, 2]], 0.5, 1.0e-3).unwrap();
        let mesh = CollisionMesh::new(cloths, std::slice::from_ref(&collider));
        let mut response = CollisionResponse::new(
            mesh,
            vec![ColliderMotion::new(&collider)],
            &start_positions,
            true,
        );
        response.begin_step(StepStart {
            start_positions: &start_positions,
            predicted_positions: &start_positions,
            is_pinned: &[false; 7],
            frame_fractions: [0.0, 1.0],
            duration: 0.01,
            vertex_compliances: Vec::new(),
        });
        response.detect_initial_contacts(&start_positions);
        let frictions = |with_collider: bool| {
            let contacts = response.contacts().iter();
            let selected = contacts
                .filter(|one| one.pair.vertices.iter().any(|vertex| *vertex >= 7) == with_collider);
            selected.map(|contact| contact.friction).collect()
        };
        [false, true].map(frictions)
    }

    #[test]
    fn intersecting_cloths_slide_without_friction() {
        let are_all = |list: &[f64], friction: f64| {
            assert!(
                !list.is_empty() && list.iter().all(|value| (value - friction).abs() < 1e-12),
                "{list:?}"
            );
        };
        for (height, friction) in [(0.5, 0.5), (-0.5, 0.0)] {
            let [on_cloth, on_collider] = frictions(height);
            are_all(&on_cloth, friction);
            are_all(&on_collider, 0.5);
        }
    }
}
