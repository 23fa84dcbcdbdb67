// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::{
    collision::{Contact, is_intersecting},
    scene::Collider,
    untangling::RecoveryContext,
    vec3::Vec3,
};

/// Whether two edges are filtered that are each adjacent to a number of intersections, none of them
/// common.
fn is_filtered(count: usize, second_is_cloth: bool) -> bool {
    let at = |z: f64| [Vec3::zeros(), Vec3::x(), Vec3::y()].map(|p| p + Vec3::z() * z).to_vec();
    let (one, other, third) = (at(0.0), at(1.0), at(2.0));
    let triangle = |first: u32| [first, first + 1, first + 2];
    let cloths = [one, third].concat();
    let collider = Collider::new(other.clone(), &[[0, 1, 2]], 0.5, 0.001).unwrap();
    let (rest, triangles, starts, colliders) = if second_is_cloth {
        (
            [cloths, other].concat(),
            vec![triangle(0), triangle(3), triangle(6)],
            vec![0, 3, 6, 9],
            vec![],
        )
    } else {
        (cloths, vec![triangle(0), triangle(3)], vec![0, 3, 6], vec![collider])
    };
    let mesh = CollisionMesh::of_thin_cloths(&triangles, &starts, rest.clone(), &colliders);
    // The edges of the first triangle and of the last one intersect the third.
    let intersecting = |edge: u32| std::iter::repeat_n(Intersection { edge, triangle: 1 }, count);
    let last = mesh.triangle_edges[2][0];
    let intersections: Vec<Intersection> =
        intersecting(mesh.triangle_edges[0][0]).chain(intersecting(last)).collect();
    let positions = [rest, at(1.0)].concat();
    let configuration = Configuration { mesh: &mesh, positions: &positions };
    let adjacent = AdjacentFeatures::new(configuration, &intersections, |_, _| false);
    adjacent.filters(&mesh, &PrimitivePair::edge_edge(&mesh, mesh.triangle_edges[0][0], last))
}

#[test]
fn crushed_cloth_pairs_are_filtered_but_collider_pairs_are_not() {
    let limit = UNTANGLING.max_adjacent_intersections;
    assert!(!is_filtered(limit, true));
    assert!(is_filtered(limit + 1, true));
    assert!(!is_filtered(limit + 1, false));
}

/// Whether pairs of an edge at the corner of a square are filtered with a diagonal that it passes and with a side of
/// the square, and how many intersections are resolved, with the corner at a height and a place along the diagonal.
fn filtered_at_corner(along: f64) -> ([bool; 2], usize) {
    let (mesh, mut positions, opposite) = CollisionMesh::square_with_a_flap();
    positions[0] = Vec3::new(along, along, -0.1);
    positions[4] = Vec3::new(0.9, 0.9, 0.3);
    let edge = |ends: [u32; 2]| mesh.edges.iter().position(|one| *one == ends).unwrap() as u32;
    let configuration = Configuration { mesh: &mesh, positions: &positions };
    let passing = Intersection { edge: edge([0, 4]), triangle: opposite };
    assert!(is_intersecting(configuration, passing));
    let state = IntersectionState::new(configuration, &[passing]);
    let is_filtered = |other: [u32; 2]| {
        state.filters(&mesh, &PrimitivePair::edge_edge(&mesh, edge([0, 4]), edge(other)))
    };
    ([[1, 3], [1, 2]].map(is_filtered), state.intersections.len())
}

#[test]
fn at_a_reflex_corner_only_what_is_not_drawn_lets_go() {
    assert_eq!(filtered_at_corner(0.6), ([true, false], 0));
    assert_eq!(filtered_at_corner(0.45), ([true, true], 1), "the corner is convex");
}

/// Layer recovery contacts of a cloth hexagon above a large triangle, with its middle below, after
/// an intersection time in s.
fn layer_recovery_contacts(intersection_time: f64) -> Vec<Contact> {
    let large = [[-9.0, -9.0], [9.0, -9.0], [0.0, 9.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
    let rim = (0..6).map(|k| f64::from(k) * std::f64::consts::FRAC_PI_3).map(f64::sin_cos);
    let rim = rim.map(|(y, x)| Vec3::new(x, y, 0.1));
    let middle = Vec3::new(0.0, 0.0, -0.01);
    let positions: Vec<Vec3> = large.into_iter().chain([middle]).chain(rim).collect();
    let around = (0..6_u32).map(|k| [3, 4 + k, 4 + (k + 1) % 6]);
    let triangles: Vec<[u32; 3]> = std::iter::once([0, 1, 2]).chain(around).collect();
    let mesh = CollisionMesh::of_thin_cloths(&triangles, &[0, 3, 10], positions.clone(), &[]);
    let intersections = (0..mesh.edges.len() as u32).map(|edge| Intersection { edge, triangle: 0 });
    let intersections: Vec<Intersection> = intersections
        .filter(|intersection| {
            is_intersecting(Configuration { mesh: &mesh, positions: &positions }, *intersection)
        })
        .collect();
    let configuration = Configuration { mesh: &mesh, positions: &positions };
    let state = IntersectionState::new(configuration, &intersections);
    assert_eq!(state.intersections.len(), 6);
    state.layer_recovery_contacts(&RecoveryContext {
        configuration,
        duration: 0.01,
        intersection_time,
    })
}

#[test]
fn the_layer_recovery_force_grows_with_time() {
    let force = |intersection_time: f64| {
        let contacts = layer_recovery_contacts(intersection_time);
        let [contact] = &contacts[..] else { panic!("{} contacts", contacts.len()) };
        assert_eq!(contact.pair.features, [3, 0]);
        assert!((contact.linearised.normal - Vec3::z()).norm() < 1e-12);
        contact.current_normal_force()
    };
    assert!(force(0.2) > 1.9 * force(0.1));
    assert!(force(0.4) > 1.9 * force(0.2));
    // The growth is bounded.
    assert!((force(9.0) - force(4.0)).abs() < 1e-9 * force(4.0));
}

/// Three cloth triangles above each other and a solid one; edges of the first two and of the solid
/// intersect others.
#[test]
fn only_intersecting_cloths_are_frictionless() {
    let at = |z: f64| [Vec3::zeros(), Vec3::x(), Vec3::y()].map(|p| p + Vec3::z() * z).to_vec();
    let rest = [at(0.0), at(1.0), at(2.0)].concat();
    let collider = Collider::new(at(3.0), &[[0, 1, 2]], 0.5, 0.001).unwrap();
    let triangles = [[0, 1, 2], [3, 4, 5], [6, 7, 8]];
    let mesh = CollisionMesh::of_thin_cloths(&triangles, &[0, 3, 6, 9], rest.clone(), &[collider]);
    let positions = [rest, at(3.0)].concat();
    let intersections = [(0, 1), (1, 3), (0, 0)]
        .map(|(own, triangle)| Intersection { edge: mesh.triangle_edges[own][0], triangle });
    let mut intersections = intersections.to_vec();
    intersections.sort_unstable();
    let configuration = Configuration { mesh: &mesh, positions: &positions };
    let state = IntersectionState::new(configuration, &intersections);
    let pairs = [[0, 1], [1, 0], [0, 2], [1, 2], [0, 0], [1, 3]];
    assert_eq!(
        pairs.map(|pair| state.is_frictionless(pair)),
        [true, true, false, false, false, false]
    );
}
