// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linearised contact of a primitive pair: normal, weights and gap.

use super::{
    COINCIDENCE_TOLERANCE, ClosestPoints, DISTANCE_ROUNDING, PairKind, PrimitivePair, Trajectories,
    coincidence_distance, largest_coordinate,
};
use crate::{
    geometry::{CcdHit, TriangleFeature},
    surface::{CollisionMesh, Configuration},
    vec3::Vec3,
};

/// Linearised contact: gap = normal · Σ weight · position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LinearisedContact {
    /// Barycentric weights: positive on the first feature, negative on the second; each side sums
    /// to ±1.
    pub(crate) weights: [f64; 4],
    /// Unit normal from the second feature to the first.
    pub(crate) normal: Vec3,
    /// Gap in m; negative after penetration.
    pub(crate) gap: f64,
    /// Whether the features have passed through each other in this step.
    pub(crate) has_penetrated: bool,
}

/// Criteria for a contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DetectionBounds {
    /// Detection distance, in m.
    pub(crate) detection_distance: f64,
    /// Sine of the angle by which the normal may leave the normal cone of the closest feature.
    pub(crate) max_normal_tilt: f64,
}

/// Height over a face in units of the largest coordinate above which its sign is exact.
const HEIGHT_ROUNDING: f64 = 1.0e-14;

impl PrimitivePair {
    /// Linearised contact at the end of the trajectories, if the pair meets the `bounds` or has
    /// penetrated.
    pub(crate) fn linearised_contact(
        &self,
        mesh: &CollisionMesh,
        trajectories: Trajectories<'_>,
        bounds: DetectionBounds,
    ) -> Option<LinearisedContact> {
        let starts = self.points(trajectories.starts);
        let ends = self.points(trajectories.ends);
        let closest = self.closest_points(&ends);
        let coincidence_distance = coincidence_distance(&starts, &ends);
        if self.start_distance <= coincidence_distance {
            let start = Configuration { mesh, positions: trajectories.starts };
            let contact = self.contact_from_coincident_start(start, &ends, &closest)?;
            return (contact.gap < bounds.detection_distance).then_some(contact);
        }
        let displacement = self.max_relative_displacement(&starts, &ends) * DISTANCE_ROUNDING;
        if self.start_distance + closest.distance <= displacement
            && let Some(hit) = self.ccd(&self.trajectories(trajectories), 0.0)
            && hit.time < 1.0
        {
            return Some(self.penetrated_contact(&ends, &closest, &hit));
        }
        if closest.distance >= bounds.detection_distance || closest.distance <= coincidence_distance
        {
            return None;
        }
        let end = Configuration { mesh, positions: trajectories.ends };
        let direction = self.direction_in_normal_cone(end, &closest, bounds.max_normal_tilt)?;
        let normal = direction.try_normalize(f64::MIN_POSITIVE)?;
        let gap = closest.offset.dot(&normal);
        Some(LinearisedContact { weights: closest.weights, normal, gap, has_penetrated: false })
    }

    /// Gap in m at the end of the trajectories of a pair that coincided at the start; `None` for
    /// all others.
    pub(crate) fn gap_from_coincident_start(
        &self,
        mesh: &CollisionMesh,
        trajectories: Trajectories<'_>,
    ) -> Option<f64> {
        let ends = self.points(trajectories.ends);
        self.is_coincident_at_start(trajectories).then(|| {
            let start = Configuration { mesh, positions: trajectories.starts };
            self.contact_from_coincident_start(start, &ends, &self.closest_points(&ends))
                .map_or(0.0, |contact| contact.gap)
        })
    }

    /// Contact of a pair that has penetrated: a vertex above or below its triangle is pushed back
    /// along the face normal, any other pair along the direction of the CCD hit.
    fn penetrated_contact(
        &self,
        ends: &[Vec3; 4],
        closest: &ClosestPoints,
        hit: &CcdHit<4>,
    ) -> LinearisedContact {
        let face_normal = self.unscaled_normal(ends).try_normalize(f64::MIN_POSITIVE);
        let is_over_face =
            self.kind == PairKind::VertexFace && closest.feature == TriangleFeature::Face;
        let (normal, weights) = match face_normal {
            Some(normal) if is_over_face => {
                let side = if normal.dot(&hit.direction) < 0.0 { -1.0 } else { 1.0 };
                (normal * side, closest.weights)
            }
            _ => (hit.direction, hit.weights),
        };
        let gap = linearised_gap(ends, &weights, &normal);
        LinearisedContact { weights, normal, gap, has_penetrated: true }
    }

    /// Contact of a pair that coincided at the start of the step.
    fn contact_from_coincident_start(
        &self,
        start: Configuration<'_>,
        ends: &[Vec3; 4],
        closest: &ClosestPoints,
    ) -> Option<LinearisedContact> {
        // The normal to two edges may have either sign, whatever the surfaces do.
        if self.kind == PairKind::EdgeEdge || closest.feature != TriangleFeature::Face {
            return None;
        }
        let normal = self.unscaled_normal(ends).try_normalize(f64::MIN_POSITIVE)?;
        let normal = normal * self.side_from_coincident_start(start);
        let gap = linearised_gap(ends, &closest.weights, &normal);
        Some(LinearisedContact { weights: closest.weights, normal, gap, has_penetrated: false })
    }

    /// Side of its triangle, ±1, on which a vertex belongs that coincided with it at the start. For
    /// solids: the side of its cloth; for open colliders: the outward side; for cloth: the side of
    /// the vertex or, below rounding, of its neighbours. Where these coincide as well, the sheet of
    /// the higher vertex index is on the outward side.
    fn side_from_coincident_start(&self, start: Configuration<'_>) -> f64 {
        let Configuration { mesh, positions } = start;
        let [first, second] = self.representative_vertices();
        if !mesh.is_cloth(second) {
            let [cloth, body] = [first, second].map(|vertex| mesh.bodies[vertex as usize]);
            return mesh.required_side_of_solid(cloth, body).unwrap_or(1.0);
        }
        let points = self.points(positions);
        if let Some(normal) = self.unscaled_normal(&points).try_normalize(f64::MIN_POSITIVE) {
            let closest = self.closest_points(&points);
            let height = closest.offset.dot(&normal);
            let extent = largest_coordinate(&points);
            if closest.feature == TriangleFeature::Face && height.abs() > HEIGHT_ROUNDING * extent {
                return height.signum();
            }
            let neighbours = start.edge_directions_at_vertex(first);
            let height: f64 = neighbours.map(|direction| direction.dot(&normal)).sum();
            if height.abs() > COINCIDENCE_TOLERANCE * extent {
                return height.signum();
            }
        }
        if first > second { 1.0 } else { -1.0 }
    }

    /// Offset between the closest points, if it lies in the normal cones of both closest features:
    /// only then does it separate the surfaces. Of features shared by several triangles the first
    /// triangle represents all. An offset that leaves the cone by at most the angle of sine
    /// `max_tilt` is projected into it.
    fn direction_in_normal_cone(
        &self,
        end: Configuration<'_>,
        closest: &ClosestPoints,
        max_tilt: f64,
    ) -> Option<Vec3> {
        let (mesh, offset) = (end.mesh, closest.offset);
        if self.stiffening_count > 0 {
            return Some(offset);
        }
        match (self.kind, closest.feature) {
            (PairKind::VertexFace, TriangleFeature::Face) => Some(offset),
            (PairKind::VertexFace, TriangleFeature::Edge(corner)) => {
                let triangle = self.features[1];
                let edge = mesh.triangle_edges[triangle as usize][usize::from(corner)];
                let is_first = mesh.edge_adjacency[edge as usize].first_triangle == triangle;
                let neighbours = end.directions_into_adjacent_triangles(edge);
                is_first.then(|| projected_into_normal_cone(offset, neighbours, max_tilt)).flatten()
            }
            (PairKind::VertexFace, TriangleFeature::Vertex(corner)) => {
                let triangle = self.features[1];
                let vertex = mesh.triangles[triangle as usize][usize::from(corner)];
                let mut incident = mesh.vertex_triangles.elements_of(vertex as usize);
                let is_first = incident.next().is_some_and(|(first, _)| first == triangle);
                let neighbours = end.edge_directions_at_vertex(vertex);
                is_first.then(|| projected_into_normal_cone(offset, neighbours, max_tilt)).flatten()
            }
            (PairKind::EdgeEdge, TriangleFeature::Face) => {
                let [first, second] =
                    self.features.map(|edge| end.directions_into_adjacent_triangles(edge));
                let reversed = projected_into_normal_cone(-offset, first, max_tilt)?;
                projected_into_normal_cone(-reversed, second, max_tilt)
            }
            (PairKind::EdgeEdge, _) => None,
        }
    }
}

/// Offset without its components toward any neighbour; `None` where it tilts toward one by more
/// than the angle of sine `max_tilt`.
fn projected_into_normal_cone(
    offset: Vec3,
    neighbours: impl Iterator<Item = Vec3>,
    max_tilt: f64,
) -> Option<Vec3> {
    let mut projected = offset;
    for neighbour in neighbours {
        let component = offset.dot(&neighbour);
        if component > max_tilt * offset.norm() * neighbour.norm() {
            return None;
        }
        if component > 0.0 {
            projected -=
                neighbour * (projected.dot(&neighbour).max(0.0) / neighbour.norm_squared());
        }
    }
    Some(projected)
}

/// Gap in m: the weighted sum of points along a normal.
fn linearised_gap(points: &[Vec3; 4], weights: &[f64; 4], normal: &Vec3) -> f64 {
    let between: Vec3 = points.iter().zip(weights).map(|(point, weight)| point * *weight).sum();
    between.dot(normal)
}
