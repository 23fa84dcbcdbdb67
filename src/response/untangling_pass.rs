// SPDX-License-Identifier: MIT OR Apache-2.0
//! What crosses when a step begins, what draws it apart, and what is let go.

use super::CollisionResponse;
use crate::{
    Vec3,
    collision::{Intersection, is_intersecting},
    surface::{CollisionMesh, Configuration},
    untangling::{
        IntersectionState, OverstretchRelease, coincidence_predicate, separate_coincident,
    },
};

impl CollisionResponse {
    /// Finds what crosses, what draws it apart, and what is let go.
    pub(crate) fn prepare_untangling(&mut self) {
        self.intersection_state =
            self.contact_history.intersection_time.and_then(|_| self.find_intersection_state());
        self.overstretch_release = if self.contact_history.had_kinematic_intersection {
            OverstretchRelease::new(&self.mesh, &self.start_positions)
        } else {
            OverstretchRelease::default()
        };
        self.build_recovery_contacts();
    }

    /// Parts what coincides before the first step, with the cloths' vertices at `positions` in m.
    pub(crate) fn separate_coincident_cloth(&mut self, positions: &mut [Vec3]) {
        if self.is_collision_disabled() {
            return;
        }
        let touches = coincidence_predicate(&self.mesh, &self.start_positions);
        let touching = self.broad_phase.coincident_vertex_faces(self.has_self_collision, touches);
        let crossings = self.find_intersections();
        if !(touching.is_empty() && crossings.is_empty()) {
            separate_coincident(&self.mesh, &mut self.start_positions, (&crossings, &touching));
            positions.copy_from_slice(&self.start_positions[..positions.len()]);
        }
    }

    /// All edges that go through triangles where the step begins, in order.
    fn find_intersections(&self) -> Vec<Intersection> {
        let start = Configuration { mesh: &self.mesh, positions: &self.start_positions };
        let crosses = |crossing| is_intersecting(start, crossing);
        let mut crossings = self.broad_phase.intersections(self.has_self_collision, crosses);
        crossings.sort_unstable();
        crossings
    }

    fn find_intersection_state(&self) -> Option<IntersectionState> {
        let (surfaces, starts) = (&self.mesh, &self.start_positions);
        let crossings = self.find_intersections();
        let may_be = !crossings.is_empty() || !surfaces.enclosed_cloths.is_empty();
        may_be
            .then(|| IntersectionState::new(surfaces, starts, crossings))
            .filter(|tangle| !tangle.is_empty())
    }

    fn build_recovery_contacts(&mut self) {
        self.recovery_contacts.clear();
        self.layer_recovery_contacts.clear();
        let Some(tangle) = &self.intersection_state else { return };
        let times = [self.duration, self.contact_history.intersection_time.unwrap_or_default()];
        self.recovery_contacts = tangle.recovery_contacts(&self.mesh, &self.start_positions, times);
        self.layer_recovery_contacts =
            tangle.layer_recovery_contacts(&self.mesh, &self.start_positions, times);
        for drawn in [&mut self.recovery_contacts, &mut self.layer_recovery_contacts] {
            drawn.retain(|contact| !self.overstretch_release.filters(&self.mesh, &contact.pair));
        }
    }

    /// The ends of all edges of cloth, each with a triangle beside it.
    pub(crate) fn cloth_edges(&self) -> impl Iterator<Item = ([u32; 2], usize)> {
        let CollisionMesh { edges, edge_adjacency: wings, cloth_edge_count: cloth_edges, .. } =
            &self.mesh;
        let pairs = edges.iter().zip(wings).take(*cloth_edges);
        pairs.map(|(ends, wings)| (*ends, wings.first_triangle as usize))
    }

    /// Takes factors on the undeformed lengths of these; none where all are 1.
    pub(crate) fn set_rest_length_scales(&mut self, scales: Vec<f64>) {
        self.mesh.rest_length_scales = scales;
    }

    /// Which cloths belong inside of which bodies: see [`Surfaces::insiders`].
    pub(crate) fn enclosed_cloths(&self) -> &[[u32; 2]] {
        &self.mesh.enclosed_cloths
    }

    pub(crate) fn set_enclosed_cloths(&mut self, insiders: Vec<[u32; 2]>) {
        self.mesh.enclosed_cloths = insiders;
    }

    /// Whether these can belong inside of these bodies.
    pub(crate) fn are_valid_enclosed_cloths(&self, insiders: &[[u32; 2]]) -> bool {
        let CollisionMesh { cloth_count, .. } = self.mesh;
        let is_solid =
            |body: u32| (body as usize) < self.mesh.body_count() && self.mesh.is_solid(body);
        insiders.iter().all(|[cloth, body]| (*cloth as usize) < cloth_count && is_solid(*body))
    }

    /// Edges that go through triangles when the step begins.
    pub(crate) fn intersection_count(&self) -> usize {
        self.intersection_state.as_ref().map_or(0, |tangle| tangle.intersections.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        response::collider_motion::ColliderMotion,
        scene::Collider,
        surface::{ClothCollisionData, ContactFilter, SurfaceProperties},
    };

    /// A large triangle of cloth that lies on a collider, and a strip that lies on it with three vertices and has the fourth at
    /// a height in m: friction of the cloths on each other, and of the first on the collider.
    fn frictions(height: f64) -> [Vec<f64>; 2] {
        let wide = [[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]];
        let strip =
            [[0.0, 0.0, 5.0e-4], [1.0, 0.0, 5.0e-4], [0.0, 1.0, 5.0e-4], [1.0, 1.0, height]];
        let starts: Vec<Vec3> = wide.into_iter().chain(strip).map(Vec3::from).collect();
        let cloths = ClothCollisionData {
            triangles: &[[0, 1, 2], [3, 4, 5], [4, 6, 5]],
            vertex_offsets: &[0, 3, 7],
            surface_properties: vec![SurfaceProperties { friction: 0.5, thickness: 1.0e-3 }; 2],
            rest_positions: starts.clone().into(),
            vertex_areas: vec![0.01; starts.len()].into(),
            seams: &[],
            contact_filter: ContactFilter::default(),
            friction_scale: Vec::new(),
        };
        let below = [[-9.5, -9.5], [-8.0, -9.5], [-9.5, -8.0]];
        let below = below.map(|[x, y]| Vec3::new(x, y, -5.0e-4)).to_vec();
        let ground = Collider::new(below, &[[0, 1, 2]], 0.5, 1.0e-3).unwrap();
        let surfaces = CollisionMesh::new(cloths, std::slice::from_ref(&ground));
        let mut response =
            CollisionResponse::new(surfaces, vec![ColliderMotion::new(&ground)], &starts, true);
        response.begin_step((&starts, &starts), &[false; 7], ([0.0, 1.0], 0.01));
        response.detect_initial_contacts(&starts);
        let of_ground = |is_wanted: bool| {
            let contacts = response.contacts().iter();
            let wanted = contacts
                .filter(|one| one.pair.vertices.iter().any(|vertex| *vertex >= 7) == is_wanted);
            wanted.map(|contact| contact.friction).collect()
        };
        [false, true].map(of_ground)
    }

    #[test]
    fn intersecting_cloths_slide_without_friction() {
        let are_all = |list: &[f64], friction: f64| {
            assert!(
                !list.is_empty() && list.iter().all(|own| (own - friction).abs() < 1e-12),
                "{list:?}"
            );
        };
        for (height, friction) in [(0.5, 0.5), (-0.5, 0.0)] {
            let [on_cloth, on_ground] = frictions(height);
            are_all(&on_cloth, friction);
            are_all(&on_ground, 0.5);
        }
    }
}
