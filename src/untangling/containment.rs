// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which cloths belong inside of solids: those that are there with all of their vertices when the scene begins, but for some
//! that are on the very surface. All others belong outside.
//!
//! What has been squeezed out of a solid as a whole crosses it nowhere. If that were forgotten it would stay outside, and the
//! solid, wherever it opened again, would push it along.

use crate::{
    Vec3,
    geometry::{BoundingBox, Solid, rounding},
    surface::Surfaces,
};

/// The cloths that are inside of solids, each with the body of the solid, with all vertices at `positions` in m.
pub(crate) fn insiders(surfaces: &Surfaces, positions: &[Vec3]) -> Vec<[u32; 2]> {
    let count = surfaces.cloth_count as u32;
    let solids = (count..surfaces.body_count() as u32).filter(|body| surfaces.is_solid(*body));
    let mut found = Vec::new();
    for body in solids {
        let around = BoundingBox::around(&positions[surfaces.vertices_of(body)]);
        let points = |cloth: u32| &positions[surfaces.vertices_of(cloth)];
        let is_near = |cloth: &u32| {
            let around = around.grown(rounding(points(*cloth)));
            points(*cloth).iter().all(|point| around.contains(point))
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
pub(crate) fn escaped(surfaces: &Surfaces, positions: &[Vec3], pieces: &[u32]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for [cloth, body] in &surfaces.insiders {
        let solid = solid(surfaces, positions, *body);
        let firsts =
            surfaces.vertices_of(*cloth).filter(|vertex| pieces[*vertex] as usize == *vertex);
        let outside = firsts.filter(|vertex| !solid.contains(&positions[*vertex]));
        found.extend(outside.map(|vertex| (vertex as u32, *body)));
    }
    found
}

/// The solid that a body is, with all vertices at `positions` in m.
fn solid(surfaces: &Surfaces, positions: &[Vec3], body: u32) -> Solid {
    let all = surfaces.cloth_triangles as u32..surfaces.triangles.len() as u32;
    let own = all.filter(|triangle| surfaces.body_of_triangle(*triangle) == body);
    let corners = |triangle: u32| {
        surfaces.triangles[triangle as usize].map(|vertex| positions[vertex as usize])
    };
    Solid::of(own.map(corners).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Collider;

    /// One triangle of cloth a tenth as wide as the tetrahedron around the origin's corner, moved by `x` in m, and whether the
    /// tetrahedron faces inward.
    fn found(x: f64, is_inward: bool) -> Vec<[u32; 2]> {
        let (surfaces, positions) = scene(x, is_inward);
        insiders(&surfaces, &positions)
    }

    fn scene(x: f64, is_inward: bool) -> (Surfaces, Vec<Vec3>) {
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        let outward = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        let sides = outward.map(|[a, b, c]| if is_inward { [a, c, b] } else { [a, b, c] });
        let solid = Collider::new(corners.to_vec(), &sides, 0.0, 0.0).unwrap();
        let cloth = [Vec3::x(), Vec3::y(), Vec3::z()].map(|corner| corner * 0.1);
        let cloth = cloth.map(|corner| corner + Vec3::new(0.1 + x, 0.1, 0.1));
        let surfaces = Surfaces::of_thin_cloths((&[[0, 1, 2]], &[0, 3]), cloth.to_vec(), &[solid]);
        (surfaces, cloth.into_iter().chain(corners).collect())
    }

    #[test]
    fn what_has_left_where_it_belongs_has_escaped() {
        for (belongs, x, wanted) in
            [(true, 3.0, vec![(0, 1)]), (true, 0.0, vec![]), (false, 3.0, vec![])]
        {
            let (mut surfaces, positions) = scene(x, false);
            surfaces.insiders.extend(belongs.then_some([0, 1]));
            assert_eq!(escaped(&surfaces, &positions, &[0, 0, 0]), wanted, "moved by {x} m");
        }
    }

    #[test]
    fn what_is_all_inside_belongs_there() {
        assert_eq!(found(0.0, false), [[0, 1]]);
        for x in [-0.15, 0.65, 3.0] {
            assert!(found(x, false).is_empty(), "moved by {x} m");
        }
        // However its triangles are wound.
        assert_eq!(found(0.0, true), [[0, 1]]);
    }
}
