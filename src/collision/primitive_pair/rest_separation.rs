// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contact thickness of a pair: the sum of the thicknesses of both sides, within one cloth limited
//! by the rest separation, so that no thickness strains a cloth.

use super::{DetectionRange, PrimitivePair, Trajectories};
use crate::{geometry::closest_point_on_triangle, surface::CollisionMesh};

/// Parameters of the contact thickness.
struct RestSeparationParameters {
    /// Smallest contact thickness (m). Effect: larger keeps cloths without thickness visibly apart;
    /// smaller makes their contacts too stiff to be resolved. Evidence: none; results keep their
    /// bits at 1e-15.
    min_thickness: f64,
    /// Largest contact thickness within one cloth as a fraction of the rest distance (1). Effect:
    /// larger strains thick cloth in its plane and at folds; smaller lets layers of one cloth lie
    /// closer than their thickness. Evidence: none; seven scenes keep their bits without the bound.
    rest_fraction: f64,
    /// Smallest contact thickness within one cloth as a fraction of the mean edge length there (1).
    /// It separates parts that coincide at rest, as panels side by side or faces doubled in place.
    /// Effect: larger strains cloth visibly; smaller leaves such parts nothing to keep them apart.
    /// Evidence: hostile scene `copied_within_a_cloth` stalls and is given up at 0.
    min_edge_fraction: f64,
}

impl RestSeparationParameters {
    const DEFAULT: Self =
        Self { min_thickness: 1.0e-6, rest_fraction: 0.5, min_edge_fraction: 0.01 };
}

const PARAMETERS: RestSeparationParameters = RestSeparationParameters::DEFAULT;

impl PrimitivePair {
    /// Narrow phase: updates `start_distance`, `clearance` and `thickness`, and returns whether the
    /// pair may come within its detection distance during the step. Most pairs are rejected by the
    /// upper bound of that distance, before their thickness is computed.
    pub(crate) fn passes_narrow_phase(
        &mut self,
        mesh: &CollisionMesh,
        trajectories: Trajectories<'_>,
        range: &DetectionRange<impl Fn(&Self, f64) -> f64>,
    ) -> bool {
        let max_distance = range.thickness_factor * self.combined_thickness(mesh);
        let upper_bound = |pair: &Self| (range.distance)(pair, pair.thickness_upper_bound(mesh));
        self.update_clearance_with(trajectories, max_distance, upper_bound) && {
            self.compute_thickness(mesh);
            self.clearance <= (range.distance)(self, self.thickness)
                && !self.touches_own_face_at_rest(mesh)
        }
    }

    /// Whether a feature is an alternative, and the other one has a corner of the same face that lies on it at rest: a
    /// diagonal along two sides in a line touches all edges at the corner between these.
    fn touches_own_face_at_rest(&self, mesh: &CollisionMesh) -> bool {
        let [first_face, second_face] = self.alternative_faces(mesh);
        if first_face.is_empty() && second_face.is_empty() {
            return false;
        }
        let (first, second) = self.vertices_by_feature();
        let has_corner_on = |feature: &[u32], face: &[u32], other: &[u32]| {
            let corners = other.iter().filter(|vertex| face.contains(vertex));
            corners.into_iter().any(|corner| lies_on_at_rest(mesh, *corner, feature))
        };
        has_corner_on(first, first_face, second) || has_corner_on(second, second_face, first)
    }

    /// Computes the contact thickness.
    fn compute_thickness(&mut self, mesh: &CollisionMesh) {
        self.thickness = self.combined_thickness(mesh);
        if self.is_within_one_cloth(mesh) {
            let rest = self.closest_points(&self.vertices.map(|vertex| mesh.rest_position(vertex)));
            let (first, second) = self.vertices_by_feature();
            let through_seams = mesh
                .seams
                .rest_distance_through_seams(first, second, |vertex| mesh.rest_position(vertex));
            self.thickness =
                self.thickness_at_rest_distance(mesh, rest.distance.min(through_seams));
        }
    }

    /// Upper bound of the contact thickness in m, cheaper than the exact one.
    fn thickness_upper_bound(&self, mesh: &CollisionMesh) -> f64 {
        let thickness = self.combined_thickness(mesh);
        if !self.is_within_one_cloth(mesh) {
            return thickness;
        }
        let (first, second) = self.vertices_by_feature();
        let offsets = first
            .iter()
            .flat_map(|a| second.iter().map(|b| mesh.rest_position(*a) - mesh.rest_position(*b)));
        let min_squared = offsets.fold(f64::INFINITY, |min, offset| min.min(offset.norm_squared()));
        self.thickness_at_rest_distance(mesh, min_squared.sqrt())
    }

    /// Contact thickness of two features of one cloth at a `rest_distance`, all in m.
    pub(crate) fn thickness_at_rest_distance(
        &self,
        mesh: &CollisionMesh,
        rest_distance: f64,
    ) -> f64 {
        let [first, second] =
            self.representative_vertices().map(|vertex| mesh.mean_edge_lengths[vertex as usize]);
        let min_thickness =
            (PARAMETERS.min_edge_fraction * first.min(second)).max(PARAMETERS.min_thickness);
        self.combined_thickness(mesh)
            .min((PARAMETERS.rest_fraction * rest_distance).max(min_thickness))
    }

    /// Sum of the thicknesses of both sides, in m.
    pub(crate) fn combined_thickness(&self, mesh: &CollisionMesh) -> f64 {
        let [first, second] = self
            .representative_vertices()
            .map(|vertex| mesh.surface_properties[vertex as usize].thickness);
        (first + second).max(PARAMETERS.min_thickness)
    }

    /// Whether both features belong to the same cloth.
    pub(crate) fn is_within_one_cloth(&self, mesh: &CollisionMesh) -> bool {
        let [first, second] = self.representative_vertices();
        mesh.is_cloth(first) && mesh.bodies[first as usize] == mesh.bodies[second as usize]
    }
}

/// Whether a vertex of cloth lies on an edge or a triangle at rest.
fn lies_on_at_rest(mesh: &CollisionMesh, vertex: u32, feature: &[u32]) -> bool {
    if !mesh.is_cloth(vertex) {
        return false;
    }
    let point = mesh.rest_position(vertex);
    let corner = |place: usize| mesh.rest_position(feature[place.min(feature.len() - 1)]);
    let corners = [corner(0), corner(1), corner(2)];
    let max_distance = PARAMETERS.min_edge_fraction * mesh.mean_edge_lengths[vertex as usize];
    closest_point_on_triangle(&point, &corners).distance_squared < max_distance * max_distance
}
