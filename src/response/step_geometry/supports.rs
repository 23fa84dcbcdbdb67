// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prediction along supports: cloth that slides over a solid is predicted to keep its distance from it.
//!
//! Straight trajectories lead off a solid that turns away, by the square of the step, and into one that turns towards
//! them. Contacts there are lost, the first Newton steps press the cloth back with many times the normal force, and
//! friction holds it by that. So the predicted position of a vertex that pressed on a solid at the end of the last step is
//! moved along the normal of the solid's surface to the distance of its start, unless the force that pressed it is too
//! small to hold it there against its inertia: that cloth flies off.

use super::StepGeometry;
use crate::{
    collision::{ContactHistory, PrimitivePair},
    surface::{CollisionMesh, Configuration, SurfacePoint},
    vec3::Vec3,
};
use rayon::prelude::*;

/// Solid that a cloth vertex pressed on at the end of the last step.
#[derive(Clone, Copy, Debug)]
struct Support {
    vertex: u32,
    /// Share of the vertex in the normal forces, in N.
    force: f64,
    /// Triangle of the solid near the vertex.
    triangle: u32,
}

/// Distance of a point from a surface.
struct Height {
    foot: SurfacePoint,
    /// Unit vector from the surface to the side that its triangles face.
    normal: Vec3,
    /// In m; negative on the other side.
    distance: f64,
}

impl Height {
    /// Distance of a point in m from the surface around a triangle.
    fn above(surface: Configuration<'_>, triangle: u32, point: &Vec3) -> Self {
        let foot = SurfacePoint::closest(surface, triangle, 1.0, point);
        let (offset, outward) = (point - foot.position(surface), foot.normal(surface));
        let side = if offset.dot(&outward) < 0.0 { -1.0 } else { 1.0 };
        let direction = if offset == Vec3::zeros() { outward } else { offset * side };
        let normal = direction.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vec3::zeros);
        Self { foot, normal, distance: side * offset.norm() }
    }
}

impl StepGeometry {
    /// Moves the predicted positions of cloth that pressed on solids along their surfaces; of a step whose predicted
    /// positions have no compliances none.
    pub(in crate::response) fn predict_along_supports(
        &mut self,
        mesh: &CollisionMesh,
        history: &ContactHistory,
    ) {
        if self.vertex_compliances.is_empty() {
            return;
        }
        let supports = self.supports(mesh, history);
        let predicted = supports.par_iter().map(|support| self.supported_end(mesh, support));
        let predicted: Vec<Option<Vec3>> = predicted.collect();
        for (support, end) in supports.iter().zip(predicted) {
            if let Some(end) = end {
                self.end_positions[support.vertex as usize] = end;
            }
        }
    }

    /// Supports of free vertices, in ascending order; of several that of the largest force counts, with all forces.
    fn supports(&self, mesh: &CollisionMesh, history: &ContactHistory) -> Vec<Support> {
        let mut found = Vec::new();
        for (kind, features, force) in history.pressing_pairs() {
            let pair = PrimitivePair::of_features(mesh, kind, features);
            let (first, second) = pair.vertices_by_feature();
            let (cloth, solid) = match [first, second].map(|side| mesh.is_cloth(side[0])) {
                [true, false] => (first, second),
                [false, true] => (second, first),
                _ => continue,
            };
            let mut around = mesh.vertex_triangles.elements_of(solid[0] as usize);
            let Some((triangle, _)) = around.next() else { continue };
            let force = force / cloth.len() as f64;
            let free = cloth.iter().filter(|vertex| self.is_free(**vertex));
            found.extend(free.map(|vertex| Support { vertex: *vertex, force, triangle }));
        }
        found.sort_by(|a, b| a.vertex.cmp(&b.vertex).then(b.force.total_cmp(&a.force)));
        found.dedup_by(|other, first| {
            let is_same = other.vertex == first.vertex;
            first.force += if is_same { other.force } else { 0.0 };
            is_same
        });
        found
    }

    /// Predicted end position of a vertex that keeps its distance from its support, in m; `None` where the force does
    /// not hold it.
    fn supported_end(&self, mesh: &CollisionMesh, support: &Support) -> Option<Vec3> {
        let (start, end) = (self.start(mesh), self.end(mesh));
        let before = Height::above(start, support.triangle, &start.position(support.vertex));
        let predicted = end.position(support.vertex);
        let after = Height::above(end, before.foot.triangle, &predicted);
        let lift = before.distance - after.distance;
        let outward_lift = if before.distance < 0.0 { -lift } else { lift };
        let reach = support.force * self.vertex_compliances[support.vertex as usize];
        (outward_lift > -reach).then(|| predicted + after.normal * lift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::{
        CollisionResponse,
        tests::{DURATION, LOWER, UPPER, at_heights, begin, step_between},
    };

    const HEIGHTS: [f64; 2] = [1.9e-3, 0.1];

    /// Response after a step at whose end the lower cloth presses on the collider.
    fn pressing() -> CollisionResponse {
        let mut response = step_between([HEIGHTS; 2], 0.0);
        for _ in 0..20 {
            let contacts = response.detect_contacts(&at_heights(HEIGHTS));
            response.accept_contacts(contacts);
        }
        response.contact_history = response.new_contact_history(0);
        assert!(response.contact_history.contact_count() > 0);
        response
    }

    /// Heights of all cloth vertices that are predicted for a step in which the collider moves up by a distance in m
    /// and all cloth is extrapolated to where it is.
    fn predicted_heights(mut response: CollisionResponse, rise: f64) -> Vec<f64> {
        let corners = [[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]].map(|[x, y]| Vec3::new(x, y, rise));
        response.scene.collider_motions[0].frame_positions[1] = corners.to_vec();
        let positions = at_heights(HEIGHTS);
        begin(&mut response, [&positions; 2].map(|each| &each[..]), [false; 6]);
        response.predicted_positions().iter().map(|position| position.z).collect()
    }

    #[test]
    fn cloth_that_pressed_keeps_its_distance_from_a_solid_that_sinks_or_rises() {
        for rise in [-1.0e-3, 5.0e-4] {
            let heights = predicted_heights(pressing(), rise);
            for vertex in LOWER {
                assert!((heights[vertex] - HEIGHTS[0] - rise).abs() < 1e-12, "{heights:?}");
            }
            // What did not press goes on as extrapolated.
            assert!(
                UPPER.into_iter().all(|vertex| heights[vertex].to_bits() == HEIGHTS[1].to_bits())
            );
        }
    }

    #[test]
    fn cloth_flies_off_where_its_force_does_not_hold_it() {
        let response = pressing();
        let force = |vertex: u32| {
            let supports = response.step.supports(&response.scene.mesh, &response.contact_history);
            supports.iter().find(|one| one.vertex == vertex).map_or(0.0, |one| one.force)
        };
        let reaches = [0, 1, 2].map(|vertex| force(vertex) * DURATION * DURATION / 0.001);
        let nearest = reaches.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(nearest > 0.0, "{reaches:?}");
        for (sink, is_held) in [(0.9 * nearest, true), (1.1 * nearest, false)] {
            let heights = predicted_heights(response.clone(), -sink);
            let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
            let held = LOWER.filter(|vertex| (heights[*vertex] - HEIGHTS[0] + sink).abs() < 1e-12);
            assert_eq!(held.count() == 3, is_held, "{lowest}: {heights:?}");
        }
    }

    #[test]
    fn positions_that_are_no_guess_stay() {
        let mut response = pressing();
        response.step.vertex_compliances.clear();
        let z = response.step.end_positions[0].z;
        response.step.end_positions[0].z = z - 1.0e-3;
        response.step.predict_along_supports(&response.scene.mesh, &response.contact_history);
        assert!((response.step.end_positions[0].z - z + 1.0e-3).abs() < 1e-15);
    }
}
