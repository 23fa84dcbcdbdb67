// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which cloths belong inside of solids: those that are there with all of their vertices when the scene begins, but for some
//! that are on the very surface. All others belong outside.
//!
//! What has been squeezed out of a solid as a whole crosses it nowhere. If that were forgotten it would stay outside, and the
//! solid, wherever it opened again, would push it along.

use crate::{
    Vec3,
    geometry::{Aabb, ClosedSurface, coordinate_error},
    surface::CollisionMesh,
};

/// The cloths that are inside of solids, each with the body of the solid, with all vertices at `positions` in m.
pub(crate) fn find_enclosed_cloths(surfaces: &CollisionMesh, positions: &[Vec3]) -> Vec<[u32; 2]> {
    let count = surfaces.cloth_count as u32;
    let solids = (count..surfaces.body_count() as u32).filter(|body| surfaces.is_solid(*body));
    let mut found = Vec::new();
    for body in solids {
        let around = Aabb::from_points(&positions[surfaces.vertices_of_body(body)]);
        let points = |cloth: u32| &positions[surfaces.vertices_of_body(cloth)];
        let is_near = |cloth: &u32| {
            let around = around.inflated(coordinate_error(points(*cloth)));
            points(*cloth).iter().all(|point| around.contains_point(point))
        };
        let near: Vec<u32> = (0..count).filter(is_near).collect();
        if near.is_empty() {
            continue;
        }
        let solid = solid(surfaces, positions, body);
        let is_inside = |cloth: &u32| solid.encloses(points(*cloth));
        found.extend(near.into_iter().filter(is_inside).map(|cloth| [cloth, body]));
    }
    found
}

/// The pieces that are outside of solids where their cloths belong, each with the body of the solid; pieces have the names of
/// their first vertices, and no edge of any crosses anything.
pub(crate) fn escaped_components(
    surfaces: &CollisionMesh,
    positions: &[Vec3],
    pieces: &[u32],
) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for [cloth, body] in &surfaces.enclosed_cloths {
        let solid = solid(surfaces, positions, *body);
        let firsts =
            surfaces.vertices_of_body(*cloth).filter(|vertex| pieces[*vertex] as usize == *vertex);
        let outside = firsts.filter(|vertex| !solid.contains(&positions[*vertex]));
        found.extend(outside.map(|vertex| (vertex as u32, *body)));
    }
    found
}

/// The solid that a body is, with all vertices at `positions` in m.
fn solid(surfaces: &CollisionMesh, positions: &[Vec3], body: u32) -> ClosedSurface {
    let all = surfaces.cloth_triangle_count as u32..surfaces.triangles.len() as u32;
    let own = all.filter(|triangle| surfaces.body_of_triangle(*triangle) == body);
    let corners = |triangle: u32| {
        surfaces.triangles[triangle as usize].map(|vertex| positions[vertex as usize])
    };
    ClosedSurface::from_triangles(own.map(corners).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Collider;

    /// One triangle of cloth a tenth as wide as the tetrahedron around the origin's corner, moved by `x` in m, and whether the
    /// tetrahedron faces inward.
    fn enclosed_cloths_at(x: f64, is_inward: bool) -> Vec<[u32; 2]> {
        let (surfaces, positions) = scene(x, is_inward);
        find_enclosed_cloths(&surfaces, &positions)
    }

    fn scene(x: f64, is_inward: bool) -> (CollisionMesh, Vec<Vec3>) {
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        let outward = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        let sides = outward.map(|[a, b, c]| if is_inward { [a, c, b] } else { [a, b, c] });
        let solid = Collider::new(corners.to_vec(), &sides, 0.0, 0.0).unwrap();
        let cloth = [Vec3::x(), Vec3::y(), Vec3::z()].map(|corner| corner * 0.1);
        let cloth = cloth.map(|corner| corner + Vec3::new(0.1 + x, 0.1, 0.1));
        let surfaces =
            CollisionMesh::of_thin_cloths(&[[0, 1, 2]], &[0, 3], cloth.to_vec(), &[solid]);
        (surfaces, cloth.into_iter().chain(corners).collect())
    }

    #[test]
    fn a_component_outside_of_its_solid_has_escaped() {
        for (belongs, x, wanted) in
            [(true, 3.0, vec![(0, 1)]), (true, 0.0, vec![]), (false, 3.0, vec![])]
        {
            let (mut surfaces, positions) = scene(x, false);
            surfaces.enclosed_cloths.extend(belongs.then_some([0, 1]));
            assert_eq!(
                escaped_components(&surfaces, &positions, &[0, 0, 0]),
                wanted,
                "moved by {x} m"
            );
        }
    }

    #[test]
    fn a_cloth_entirely_inside_is_enclosed() {
        assert_eq!(enclosed_cloths_at(0.0, false), [[0, 1]]);
        for x in [-0.15, 0.65, 3.0] {
            assert!(enclosed_cloths_at(x, false).is_empty(), "moved by {x} m");
        }
        // However its triangles are wound.
        assert_eq!(enclosed_cloths_at(0.0, true), [[0, 1]]);
    }
}
