// SPDX-License-Identifier: MIT OR Apache-2.0
//! Panels against the bodies that they are to dress.

use super::{Finding, FindingKind, Findings, PatternLimits, Place, Severity};
use crate::{
    geometry::{Aabb, AabbTree, closest_point_on_triangle},
    pattern::{Panel, Pattern},
    scene::Collider,
    vec3::Vec3,
};

/// Panels of a pattern that are far from every collider: their units or their placement are wrong.
#[must_use]
pub fn far_panels(pattern: &Pattern, colliders: &[&Collider]) -> Vec<Finding> {
    let mut findings = Findings { pattern, found: Vec::new() };
    let triangles: Vec<[Vec3; 3]> = colliders.iter().flat_map(|body| body.corners()).collect();
    let boxes: Vec<Aabb> = triangles.iter().map(Aabb::from_points).collect();
    let tree = AabbTree::new(&boxes);
    let far = PatternLimits::DEFAULT.far_panel;
    for (index, panel) in pattern.panels.iter().enumerate() {
        let is_near = samples(panel).any(|point| {
            let measure = |triangle: usize| {
                (closest_point_on_triangle(&point, &triangles[triangle]).distance_squared, ())
            };
            tree.nearest(&point, far, measure).is_some()
        });
        if !is_near {
            let place = Place { panel: Some(index), ..Place::default() };
            let message = format!("more than {far} m away from every collider");
            findings.add(FindingKind::Far, Severity::Warning, place, message);
        }
    }
    findings.found
}

/// Points of the outline in space, and the middle of its corners.
fn samples(panel: &Panel) -> impl Iterator<Item = Vec3> + '_ {
    let points: Vec<Vec3> = (0..panel.outline.edges.len())
        .flat_map(|edge| panel.outline.flattened(edge))
        .map(|point| panel.placement.placed(point))
        .collect();
    let middle = points.iter().sum::<Vec3>() / points.len().max(1) as f64;
    points.into_iter().chain([middle])
}
