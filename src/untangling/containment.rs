// SPDX-License-Identifier: MIT OR Apache-2.0
//! Containment: which cloths belong inside of solids. A cloth does if all its vertices are inside
//! when the scene begins, apart from some on the surface itself; all others belong outside.
//!
//! Cloth that was squeezed out of a solid as a whole does not intersect it. If its containment were
//! not stored it would stay outside, and the opening solid would push it along.

use crate::{
    geometry::{Aabb, ClosedSurface, coordinate_error},
    surface::Configuration,
};

/// Cloths inside of solids, each with the body of the solid.
pub(crate) fn find_enclosed_cloths(configuration: Configuration<'_>) -> Vec<[u32; 2]> {
    let Configuration { mesh, positions } = configuration;
    let count = mesh.cloth_count as u32;
    let solids = (count..mesh.body_count() as u32).filter(|body| mesh.is_solid(*body));
    let mut enclosed = Vec::new();
    for body in solids {
        let bounds = Aabb::from_points(&positions[mesh.vertices_of_body(body)]);
        let vertices_of = |cloth: u32| &positions[mesh.vertices_of_body(cloth)];
        let is_within_bounds = |cloth: &u32| {
            let bounds = bounds.inflated(coordinate_error(vertices_of(*cloth)));
            vertices_of(*cloth).iter().all(|point| bounds.contains_point(point))
        };
        let candidates: Vec<u32> = (0..count).filter(is_within_bounds).collect();
        if candidates.is_empty() {
            continue;
        }
        let solid = solid(configuration, body);
        let is_inside = |cloth: &u32| solid.encloses(vertices_of(*cloth));
        enclosed.extend(candidates.into_iter().filter(is_inside).map(|cloth| [cloth, body]));
    }
    enclosed
}

/// Components outside of the solids where their cloths belong, each with the body of the solid.
/// Components are named by their first vertices and intersect nothing.
pub(super) fn escaped_components(
    configuration: Configuration<'_>,
    components: &[u32],
) -> Vec<(u32, u32)> {
    let Configuration { mesh, positions } = configuration;
    let mut escaped = Vec::new();
    for [cloth, body] in &mesh.enclosed_cloths {
        let solid = solid(configuration, *body);
        let firsts =
            mesh.vertices_of_body(*cloth).filter(|vertex| components[*vertex] as usize == *vertex);
        let outside = firsts.filter(|vertex| !solid.contains(&positions[*vertex]));
        escaped.extend(outside.map(|vertex| (vertex as u32, *body)));
    }
    escaped
}

/// Closed surface of a solid.
fn solid(Configuration { mesh, positions }: Configuration<'_>, body: u32) -> ClosedSurface {
    let own = mesh.triangles_in_use().filter(|one| mesh.body_of_triangle(*one) == body);
    let corners =
        |triangle: u32| mesh.triangles[triangle as usize].map(|vertex| positions[vertex as usize]);
    ClosedSurface::from_triangles(own.map(corners).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{scene::Collider, surface::CollisionMesh, vec3::Vec3};

    /// Enclosed cloths of a scene with one cloth triangle, moved by `x` in m, in a tetrahedron ten
    /// times as wide that may face inward.
    fn enclosed_cloths_at(x: f64, is_inward: bool) -> Vec<[u32; 2]> {
        let (mesh, positions) = scene(x, is_inward);
        find_enclosed_cloths(Configuration { mesh: &mesh, positions: &positions })
    }

    fn scene(x: f64, is_inward: bool) -> (CollisionMesh, Vec<Vec3>) {
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        let outward = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        let sides = outward.map(|[a, b, c]| if is_inward { [a, c, b] } else { [a, b, c] });
        let solid = Collider::new(corners.to_vec(), &sides, 0.0, 0.0).unwrap();
        let cloth = [Vec3::x(), Vec3::y(), Vec3::z()].map(|corner| corner * 0.1);
        let cloth = cloth.map(|corner| corner + Vec3::new(0.1 + x, 0.1, 0.1));
        let mesh = CollisionMesh::of_thin_cloths(&[[0, 1, 2]], &[0, 3], cloth.to_vec(), &[solid]);
        (mesh, cloth.into_iter().chain(corners).collect())
    }

    #[test]
    fn a_component_outside_of_its_solid_has_escaped() {
        for (belongs, x, wanted) in
            [(true, 3.0, vec![(0, 1)]), (true, 0.0, vec![]), (false, 3.0, vec![])]
        {
            let (mut mesh, positions) = scene(x, false);
            mesh.enclosed_cloths.extend(belongs.then_some([0, 1]));
            let configuration = Configuration { mesh: &mesh, positions: &positions };
            assert_eq!(escaped_components(configuration, &[0, 0, 0]), wanted, "moved by {x} m");
        }
    }

    #[test]
    fn a_cloth_entirely_inside_is_enclosed() {
        assert_eq!(enclosed_cloths_at(0.0, false), [[0, 1]]);
        for x in [-0.15, 0.65, 3.0] {
            assert!(enclosed_cloths_at(x, false).is_empty(), "moved by {x} m");
        }
        // Independent of the winding of the triangles.
        assert_eq!(enclosed_cloths_at(0.0, true), [[0, 1]]);
    }
}
