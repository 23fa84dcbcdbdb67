// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recovery of a step from intersections: which pairs are filtered, and the recovery contacts that
//! lead cloth out.

use super::{contact_set::ContactSet, flypapering::Flypapering, step_geometry::StepGeometry};
use crate::{
    collision::{BroadPhase, ContactHistory, Intersection, PrimitivePair, is_intersecting},
    surface::{CollisionMesh, Configuration},
    untangling::{
        IntersectionState, OverstretchRelease, RecoveryContext, coincidence_predicate,
        separate_coincident,
    },
};
use std::collections::BTreeSet;

/// Intersections at the start of a step, and cloth without contact there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recovery {
    /// Intersections at the start of the step; `None` without any.
    pub(super) intersection_state: Option<IntersectionState>,
    /// Overstretched cloth that has no contact with cloth in this step.
    pub(super) overstretch_release: OverstretchRelease,
    /// Cloth that colliders pinch.
    pub(crate) flypapering: Flypapering,
}

impl Recovery {
    /// Finds the intersections at the start of a step, their recovery contacts, and the released
    /// cloth.
    pub(super) fn begin(
        &mut self,
        step: &StepGeometry,
        mesh: &CollisionMesh,
        broad_phase: &BroadPhase,
        history: &ContactHistory,
        contacts: &mut ContactSet,
    ) {
        let start = step.start(mesh);
        self.intersection_state = history.intersection_time.and_then(|_| {
            let intersections = self.find_intersections(step, mesh, broad_phase);
            let may_exist = !intersections.is_empty() || !mesh.enclosed_cloths.is_empty();
            may_exist
                .then(|| IntersectionState::new(start, &intersections))
                .filter(|state| !state.is_empty())
        });
        self.overstretch_release = if history.had_kinematic_intersection {
            OverstretchRelease::new(start)
        } else {
            OverstretchRelease::default()
        };
        contacts.edge_recovery.clear();
        contacts.layer_recovery.clear();
        let Some(state) = &self.intersection_state else { return };
        let intersection_time = history.intersection_time.unwrap_or_default();
        let context =
            RecoveryContext { configuration: start, duration: step.duration, intersection_time };
        contacts.edge_recovery = state.recovery_contacts(&context);
        contacts.layer_recovery = state.layer_recovery_contacts(&context);
        for contacts in [&mut contacts.edge_recovery, &mut contacts.layer_recovery] {
            contacts.retain(|contact| !self.overstretch_release.filters(mesh, &contact.pair));
        }
    }

    /// All edge–triangle intersections at the start of a step, sorted.
    fn find_intersections(
        &self,
        step: &StepGeometry,
        mesh: &CollisionMesh,
        broad_phase: &BroadPhase,
    ) -> Vec<Intersection> {
        let mut intersections = broad_phase.intersections(|intersection: Intersection| {
            !intersection.is_of_strip(mesh)
                && is_intersecting(step.start(mesh), intersection)
                && !self.flypapering.filters_intersection(step, mesh, intersection)
        });
        intersections.sort_unstable();
        intersections
    }

    /// Separates coincident surfaces before the first step. Returns whether there are any.
    pub(super) fn separate_coincident_cloth(
        &self,
        step: &mut StepGeometry,
        mesh: &CollisionMesh,
        broad_phase: &BroadPhase,
    ) -> bool {
        let is_coincident = coincidence_predicate(step.start(mesh));
        let is_in_use = |triangle| !mesh.is_alternative_triangle(triangle);
        let is_coincident = move |pair: [u32; 2]| is_in_use(pair[1]) && is_coincident(pair);
        let coincident = broad_phase.coincident_vertex_faces(is_coincident);
        let mut intersections = self.find_intersections(step, mesh, broad_phase);
        intersections.retain(|intersection| !intersection.is_alternative(mesh));
        let are_any = !(coincident.is_empty() && intersections.is_empty());
        if are_any {
            separate_coincident(mesh, &mut step.start_positions, &intersections, &coincident);
        }
        are_any
    }

    /// Whether a pair has neither contact nor guarantee, as it is at an intersection, overstretched,
    /// or pinched.
    pub(super) fn filters(
        &self,
        mesh: &CollisionMesh,
        step: &StepGeometry,
        pair: &PrimitivePair,
    ) -> bool {
        self.intersection_state.as_ref().is_some_and(|state| state.filters(mesh, pair))
            || self.overstretch_release.filters(mesh, pair)
            || self.flypapering.filters(step, mesh, pair)
    }

    /// Whether two bodies slide on each other without friction, as they intersect.
    pub(super) fn is_frictionless(&self, bodies: [u32; 2]) -> bool {
        self.intersection_state.as_ref().is_some_and(|state| state.is_frictionless(bodies))
    }

    /// Number of edge–triangle intersections at the start of the step.
    pub(crate) fn intersection_count(&self) -> usize {
        self.intersection_state.as_ref().map_or(0, |state| state.intersections.len())
    }
}

/// Guards the strips of closing seams that no cloth passes through, and leads cloth out of the
/// others. Strips whose sides are within `min_gap` thicknesses are closed.
pub(super) fn guard_seam_strips(
    step: &StepGeometry,
    mesh: &mut CollisionMesh,
    broad_phase: &BroadPhase,
    min_gap: f64,
    contacts: &mut ContactSet,
) {
    if mesh.seam_strips.is_empty() || mesh.seam_strips.are_ignored {
        return;
    }
    let start = step.start(mesh);
    let closing = mesh.seam_strips.closing_triangles(start, min_gap);
    let intersections =
        if closing.is_empty() { Vec::new() } else { cloth_in_strips(start, broad_phase, &closing) };
    let mut guarded = closing;
    for Intersection { edge, triangle } in &intersections {
        guarded.remove(triangle);
        for beside in mesh.triangles_at_edge(*edge) {
            guarded.remove(&beside);
        }
    }
    if !intersections.is_empty() {
        let state = IntersectionState::new(start, &intersections);
        let context = RecoveryContext {
            configuration: start,
            duration: step.duration,
            intersection_time: 0.0,
        };
        contacts.edge_recovery.extend(state.recovery_contacts(&context));
    }
    mesh.guard_seam_strips(|triangle| guarded.contains(&triangle));
}

/// Edges and triangles that intersect, one of them of cloth and the other of closing strips, sorted.
fn cloth_in_strips(
    start: Configuration<'_>,
    broad_phase: &BroadPhase,
    closing: &BTreeSet<u32>,
) -> Vec<Intersection> {
    let mesh = start.mesh;
    let mut found = broad_phase.intersections(|one: Intersection| {
        let mut triangles = mesh.triangles_at_edge(one.edge).chain([one.triangle]);
        one.is_between_strip_and_cloth(mesh)
            && triangles.any(|triangle| closing.contains(&triangle))
            && is_intersecting(start, one)
    });
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        response::{
            ColliderMotion, CollisionResponse, StepStart,
            tests::{UPPER, at_heights, begin, response},
        },
        scene::Collider,
        surface::SurfaceProperties,
        vec3::Vec3,
    };

    /// Friction coefficients of the contacts between the cloths and of those with the collider: a
    /// large cloth triangle on a collider, and on it a cloth strip whose fourth vertex is at a
    /// height in m.
    fn frictions(height: f64) -> [Vec<f64>; 2] {
        let sheet = [[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]];
        let strip =
            [[0.0, 0.0, 5.0e-4], [1.0, 0.0, 5.0e-4], [0.0, 1.0, 5.0e-4], [1.0, 1.0, height]];
        let start_positions: Vec<Vec3> = sheet.into_iter().chain(strip).map(Vec3::from).collect();
        let triangles = [[0, 1, 2], [3, 4, 5], [4, 6, 5]];
        let collider_vertices = [[-9.5, -9.5], [-8.0, -9.5], [-9.5, -8.0]];
        let collider_vertices = collider_vertices.map(|[x, y]| Vec3::new(x, y, -5.0e-4)).to_vec();
        let collider = Collider::new(collider_vertices, &[[0, 1, 2]], 0.5, 1.0e-3).unwrap();
        let (rest, colliders) = (start_positions.clone(), std::slice::from_ref(&collider));
        let mut mesh = CollisionMesh::of_thin_cloths(&triangles, &[0, 3, 7], rest, colliders);
        mesh.set_surface_properties(0..7, &SurfaceProperties { friction: 0.5, thickness: 1.0e-3 });
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
            let contacts = response.contact_set.detected.iter();
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

    /// A step that starts with a corner of the upper cloth at a height below the lower one, in m.
    fn intersecting(depth: f64) -> CollisionResponse {
        let mut positions = at_heights([0.05, 0.06]);
        positions[3].z = 0.05 - depth;
        let mut response = response(&positions, 0.0);
        begin(&mut response, [&positions, &positions], [false; 6]);
        response
    }

    #[test]
    fn pairs_at_an_intersection_are_filtered_and_get_recovery_contacts() {
        for (depth, intersects) in [(-0.005, false), (0.005, true)] {
            let response = intersecting(depth);
            let (mesh, step) = (&response.scene.mesh, response.begun_step());
            // Both edges of the corner pass through the lower triangle.
            let count = response.recovery.intersection_count();
            assert_eq!(count, if intersects { 2 } else { 0 });
            assert_eq!(response.is_untangling(), intersects);
            assert_eq!(response.contact_set.has_recovery(), intersects);
            let at_intersection = PrimitivePair::vertex_face(mesh, 3, 0);
            assert_eq!(step.is_filtered_pair(&at_intersection), intersects);
            assert_eq!(step.is_guaranteed_pair(&at_intersection), !intersects);
            for vertex in 0..6 {
                let on_collider = PrimitivePair::vertex_face(mesh, vertex, 2);
                assert!(step.is_guaranteed_pair(&on_collider), "{vertex}");
            }
            let history = response.new_contact_history(0);
            assert_eq!(history.intersection_time.is_some(), intersects);
        }
    }

    #[test]
    fn recovery_contacts_lead_the_corner_back() {
        let response = intersecting(0.005);
        let contacts = &response.contact_set;
        assert!(contacts.detected.is_empty());
        let at = response.contact_positions(&response.step.start_positions[..6]);
        let mut force = 0.0;
        for (contact, of_contact) in contacts.all().zip(contacts.forces(at)) {
            for (vertex, weight) in contact.pair.vertices.iter().zip(contact.linearised.weights) {
                if UPPER.contains(&(*vertex as usize)) {
                    force += of_contact.force.z * weight;
                }
            }
        }
        // All of the upper cloth is pushed upwards, the lower one down.
        assert!(force > 0.0, "{force} N");
    }

    #[test]
    fn overstretched_cloth_is_filtered_after_a_kinematic_intersection() {
        let rest = at_heights([0.05, 0.06]);
        let mut stretched = rest.clone();
        for vertex in UPPER {
            stretched[vertex].x *= 3.0;
            stretched[vertex].y *= 3.0;
        }
        for had_kinematic_intersection in [false, true] {
            let mut response = response(&rest, 0.0);
            response.contact_history.had_kinematic_intersection = had_kinematic_intersection;
            begin(&mut response, [&stretched, &stretched], [false; 6]);
            let (mesh, step) = (&response.scene.mesh, response.begun_step());
            let between_cloths = PrimitivePair::vertex_face(mesh, 3, 0);
            assert_eq!(step.is_filtered_pair(&between_cloths), had_kinematic_intersection);
            assert!(!step.is_filtered_pair(&PrimitivePair::vertex_face(mesh, 3, 2)));
        }
    }
}
