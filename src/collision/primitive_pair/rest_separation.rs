// SPDX-License-Identifier: MIT OR Apache-2.0
//! The distance that a pair keeps: the thickness of both sides, but of one cloth less than what it has between them at
//! rest, so that no thickness strains a cloth.

use super::{PrimitivePair, Trajectories};
use crate::surface::CollisionMesh;

/// Distances to keep are not smaller than this, in m.
const SMALLEST_THICKNESS: f64 = 1.0e-6;
/// Parts of one cloth keep no more than this part of their distance at rest.
const REST_PART: f64 = 0.5;
/// But no less than this part of the edges there, which strains nothing that can be seen: parts that are in one place at
/// rest, of panels side by side or of faces doubled in place, could not be held apart by nothing.
const EDGE_PART: f64 = 0.01;

impl PrimitivePair {
    /// Measures the pair, and finds the distance to keep. Says whether the pair may come within what `reach` makes of
    /// that on its way, in m, which must not fall where that rises. It is no more than `part` of the thickness of both
    /// sides. Most pairs are told apart by that, or, where cloth is finer than thick, by the little that neighbours keep,
    /// before they are measured closely.
    pub(crate) fn passes_narrow_phase(
        &mut self,
        surfaces: &CollisionMesh,
        motion: Trajectories<'_>,
        (part, reach): (f64, impl Fn(&Self, f64) -> f64),
    ) -> bool {
        let most = part * self.combined_thickness(surfaces);
        self.update_clearance_with(motion, most, |pair| {
            reach(pair, pair.thickness_upper_bound(surfaces))
        }) && {
            self.compute_thickness(surfaces);
            self.clearance <= reach(self, self.thickness)
        }
    }

    /// Finds the distance to keep.
    fn compute_thickness(&mut self, surfaces: &CollisionMesh) {
        self.thickness = self.combined_thickness(surfaces);
        if self.is_within_one_cloth(surfaces) {
            let rest =
                self.closest_points(&self.vertices.map(|vertex| surfaces.rest_position(vertex)));
            let sewn =
                surfaces.seams.rest_distance_through_seams(self.vertices_by_feature(), |vertex| {
                    surfaces.rest_position(vertex)
                });
            self.thickness = self.thickness_at_rest_distance(surfaces, rest.distance.min(sewn));
        }
    }

    /// No less than the distance to keep, in m, and found sooner.
    fn thickness_upper_bound(&self, surfaces: &CollisionMesh) -> f64 {
        let thickness = self.combined_thickness(surfaces);
        if !self.is_within_one_cloth(surfaces) {
            return thickness;
        }
        let (one, other) = self.vertices_by_feature();
        let ways = one.iter().flat_map(|a| {
            other.iter().map(|b| surfaces.rest_position(*a) - surfaces.rest_position(*b))
        });
        let nearest = ways.fold(f64::INFINITY, |least, way| least.min(way.norm_squared()));
        self.thickness_at_rest_distance(surfaces, nearest.sqrt())
    }

    /// The distance to keep by parts of one cloth that are so far apart at rest, all in m.
    pub(crate) fn thickness_at_rest_distance(&self, surfaces: &CollisionMesh, rest: f64) -> f64 {
        let [first, second] = self
            .representative_vertices()
            .map(|vertex| surfaces.mean_edge_lengths[vertex as usize]);
        let least = (EDGE_PART * first.min(second)).max(SMALLEST_THICKNESS);
        self.combined_thickness(surfaces).min((REST_PART * rest).max(least))
    }

    /// The thickness of both sides, in m.
    pub(crate) fn combined_thickness(&self, surfaces: &CollisionMesh) -> f64 {
        let [first, second] = self
            .representative_vertices()
            .map(|vertex| surfaces.surface_properties[vertex as usize].thickness);
        (first + second).max(SMALLEST_THICKNESS)
    }

    pub(crate) fn is_within_one_cloth(&self, surfaces: &CollisionMesh) -> bool {
        let [first, second] = self.representative_vertices();
        let bodies = &surfaces.bodies;
        surfaces.is_cloth(first) && bodies[first as usize] == bodies[second as usize]
    }
}
