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
    height: f64,
}

impl Height {
    /// Distance of a point in m from the surface around a triangle.
    fn above(surface: Configuration<'_>, triangle: u32, point: &Vec3) -> Self {
        let foot = SurfacePoint::closest(surface, triangle, 1.0, point);
        let (offset, outward) = (point - foot.position(surface), foot.normal(surface));
        let side = if offset.dot(&outward) < 0.0 { -1.0 } else { 1.0 };
        let direction = if offset == Vec3::zeros() { outward } else { offset * side };
        let normal = direction.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vec3::zeros);
        Self { foot, normal, height: side * offset.norm() }
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
        let lift = before.height - after.height;
        let outward_lift = if before.height < 0.0 { -lift } else { lift };
        let reach = support.force * self.vertex_compliances[support.vertex as usize];
        (outward_lift > -reach).then(|| predicted + after.normal * lift)
    }
}
