// SPDX-License-Identifier: MIT OR Apache-2.0
//! Displacements that resolve intersections: the first rule of the table in [`super`] that applies
//! to an intersected edge.

use super::{
    IntersectionState, UNTANGLING,
    contour_minimization::contour_minimizing_directions,
    laplacian_smoothing::{SmoothedPatch, is_smoothing_phase, vertex_rings},
    recovery_contact::{Displacement, RecoveryContext, combined_thickness},
};
use crate::{
    collision::{Contact, Intersection},
    surface::Configuration,
    vec3::Vec3,
};

/// Bound of a displacement in m before it is truncated: its square is finite.
const MAX_FINITE_DISPLACEMENT: f64 = 1.0e100;

/// Rule for an intersection whose wrong end is unknown.
#[derive(Clone, Copy, Debug)]
enum AmbiguousIntersectionRule {
    /// Displace the edge in the direction that shortens its intersection contour; `None` where that
    /// is undefined.
    ContourMinimization(Option<Vec3>),
    /// Displace the edge to its Laplacian smoothed position.
    LaplacianSmoothing,
}

impl IntersectionState {
    /// Recovery contacts of all intersected edges and smoothed vertices.
    pub(crate) fn recovery_contacts(&self, context: &RecoveryContext<'_>) -> Vec<Contact> {
        let RecoveryContext { configuration, intersection_time, .. } = *context;
        let rules = self.ambiguous_intersection_rules(configuration, intersection_time);
        let smoothed = self.smoothed_intersections(&rules);
        let rings = vertex_rings(configuration.mesh, smoothed.iter().copied(), intersection_time);
        let patch = SmoothedPatch::new(configuration, &smoothed, &rings);
        let mut contacts = Vec::new();
        for (index, (intersection, rule)) in self.intersections.iter().zip(&rules).enumerate() {
            let compression = self.initial_compression(configuration, *intersection);
            for (vertex, vector) in self.displacements(configuration, index, *rule, &patch) {
                let displacement = Displacement { vector, compression };
                contacts.extend(context.edge_recovery_contact(*intersection, vertex, displacement));
            }
        }
        for (vertex, intersection) in rings {
            let displacement = Displacement {
                vector: patch.relative_displacement(configuration, vertex, intersection.triangle),
                compression: UNTANGLING.initial_compression,
            };
            contacts.extend(context.edge_recovery_contact(intersection, vertex, displacement));
        }
        contacts
    }

    /// Intersections that are resolved by Laplacian smoothing.
    fn smoothed_intersections(&self, rules: &[AmbiguousIntersectionRule]) -> Vec<Intersection> {
        let smoothed = self
            .intersections
            .iter()
            .zip(rules)
            .filter(|(_, rule)| matches!(rule, AmbiguousIntersectionRule::LaplacianSmoothing));
        smoothed.map(|(intersection, _)| *intersection).collect()
    }

    /// Rule of each intersection in case its wrong end is unknown, after an intersection time in s.
    fn ambiguous_intersection_rules(
        &self,
        configuration: Configuration<'_>,
        intersection_time: f64,
    ) -> Vec<AmbiguousIntersectionRule> {
        let is_smoothing_phase = is_smoothing_phase(intersection_time);
        let directions = contour_minimizing_directions(configuration, &self.intersections);
        let rule = |(intersection, direction): (&Intersection, Option<Vec3>)| {
            let [cloth, body] = intersection.bodies(configuration.mesh);
            if is_smoothing_phase && cloth == body {
                AmbiguousIntersectionRule::LaplacianSmoothing
            } else {
                AmbiguousIntersectionRule::ContourMinimization(direction)
            }
        };
        self.intersections.iter().zip(directions).map(rule).collect()
    }

    /// Initial compression of the recovery contacts of an intersection.
    fn initial_compression(
        &self,
        Configuration { mesh, .. }: Configuration<'_>,
        intersection: Intersection,
    ) -> f64 {
        let [cloth, body] = intersection.bodies(mesh);
        if body as usize >= mesh.cloth_count {
            return UNTANGLING.initial_solid_compression;
        }
        if self.layer_order.side(mesh, cloth, body).is_some() {
            UNTANGLING.initial_layer_compression
        } else {
            UNTANGLING.initial_compression
        }
    }

    /// Vertices of an intersected edge and their displacements in m, by the first rule that
    /// applies.
    fn displacements(
        &self,
        configuration: Configuration<'_>,
        index: usize,
        rule: AmbiguousIntersectionRule,
        patch: &SmoothedPatch,
    ) -> Vec<(u32, Vec3)> {
        let mesh = configuration.mesh;
        let intersection = self.intersections[index];
        let Intersection { edge, triangle } = intersection;
        let ends = mesh.edges[edge as usize];
        let Some(normal) = configuration.triangle_normal(triangle) else { return Vec::new() };
        let [cloth, body] = intersection.bodies(mesh);
        let height = |end: u32| configuration.signed_height(triangle, end);
        let through_triangle = |end: u32, side: f64| {
            let distance = height(end).abs() + combined_thickness(mesh, end, triangle);
            (end, normal * (side * distance))
        };
        if (body as usize) < mesh.cloth_count
            && let Some(side) = self.layer_order.side(mesh, cloth, body)
        {
            let wrong = ends.into_iter().filter(|end| side * height(*end) < 0.0);
            // A penetrated component returns as a whole.
            let remaining = wrong.filter(|end| !self.has_penetrated(&[*end], body));
            return remaining.map(|end| through_triangle(end, side)).collect();
        }
        if let Some([wrong, right]) = self.wrong_and_right_ends(mesh, intersection) {
            return vec![through_triangle(wrong, height(right).signum())];
        }
        if let Some(lift) = self.lift_displacement(configuration, index) {
            return ends.map(|end| (end, lift)).to_vec();
        }
        match rule {
            AmbiguousIntersectionRule::ContourMinimization(Some(direction)) => {
                let displacement = contour_displacement(configuration, intersection, direction);
                ends.map(|end| (end, displacement)).to_vec()
            }
            AmbiguousIntersectionRule::ContourMinimization(None) => Vec::new(),
            AmbiguousIntersectionRule::LaplacianSmoothing => ends
                .map(|end| (end, patch.relative_displacement(configuration, end, triangle)))
                .to_vec(),
        }
    }

    /// Displacement in m that lifts an edge which enters a solid and leaves it again, below a ridge
    /// or a tip, with both ends on the right side.
    fn lift_displacement(&self, configuration: Configuration<'_>, index: usize) -> Option<Vec3> {
        let mesh = configuration.mesh;
        let intersection = self.intersections[index];
        let [cloth, body] = intersection.bodies(mesh);
        let side = mesh.required_side_of_solid(cloth, body)?;
        let depth = Some(self.edge_intervals.depth(index)).filter(|depth| *depth > 0.0)?;
        let height = |end| configuration.signed_height(intersection.triangle, end);
        let is_right =
            self.edge_intervals.adjacent_ends(index).all(|end| side * height(end) >= 0.0);
        let normal = configuration.triangle_normal(intersection.triangle).filter(|_| is_right)?;
        let [end, _] = mesh.edges[intersection.edge as usize];
        Some(normal * (side * (depth + combined_thickness(mesh, end, intersection.triangle))))
    }
}

/// Displacement in m of an edge along a direction that shortens its contour, until the end that
/// passes the triangle has passed it.
fn contour_displacement(
    configuration: Configuration<'_>,
    Intersection { edge, triangle }: Intersection,
    direction: Vec3,
) -> Vec3 {
    let Configuration { mesh, positions } = configuration;
    let ends = mesh.edges[edge as usize];
    let Some(normal) = configuration.triangle_normal(triangle) else { return Vec3::zeros() };
    let normal_component = direction.dot(&normal);
    let height = |end: u32| configuration.signed_height(triangle, end);
    let behind = ends.map(height).into_iter().find(|height| height * normal_component < 0.0);
    // A direction in the plane of the triangle moves no end through it; the edge length then is the
    // bound.
    let [start, end] = ends.map(|end| positions[end as usize]);
    let distance = behind.map_or((end - start).norm(), |height| {
        (height.abs() + combined_thickness(mesh, ends[0], triangle)) / normal_component.abs()
    });
    direction * distance.min(MAX_FINITE_DISPLACEMENT)
}
