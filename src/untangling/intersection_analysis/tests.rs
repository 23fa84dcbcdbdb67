// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::{collision::is_intersecting, scene::Collider, surface::Configuration};

/// Whether two edges are let go that are beside so many crossings each, but no common one.
fn is_filtered(crossings: usize, second_is_cloth: bool) -> bool {
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
    let surfaces = CollisionMesh::of_thin_cloths(&triangles, &starts, rest, &colliders);
    // The edges of the first triangle and of the last one go through the third.
    let through = |edge: u32| std::iter::repeat_n(Intersection { edge, triangle: 1 }, crossings);
    let last = surfaces.triangle_edges[2][0];
    let all: Vec<Intersection> =
        through(surfaces.triangle_edges[0][0]).chain(through(last)).collect();
    let near = AdjacentFeatures::new(&surfaces, &all, |_, _| false);
    near.filters(
        &surfaces,
        &PrimitivePair::edge_edge(&surfaces, surfaces.triangle_edges[0][0], last),
    )
}

#[test]
fn crushed_cloth_pairs_are_filtered_but_collider_pairs_are_not() {
    assert!(!is_filtered(CRUSHED, true));
    assert!(is_filtered(CRUSHED + 1, true));
    assert!(!is_filtered(CRUSHED + 1, false));
}

/// A large triangle, and above it a hexagon of cloth whose middle is below: what draws it back, after a time in s.
fn layer_recovery_contacts(crossed_for: f64) -> Vec<Contact> {
    let wide = [[-9.0, -9.0], [9.0, -9.0], [0.0, 9.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
    let rim = (0..6).map(|k| f64::from(k) * std::f64::consts::FRAC_PI_3).map(f64::sin_cos);
    let rim = rim.map(|(y, x)| Vec3::new(x, y, 0.1));
    let middle = Vec3::new(0.0, 0.0, -0.01);
    let positions: Vec<Vec3> = wide.into_iter().chain([middle]).chain(rim).collect();
    let around = (0..6_u32).map(|k| [3, 4 + k, 4 + (k + 1) % 6]);
    let triangles: Vec<[u32; 3]> = std::iter::once([0, 1, 2]).chain(around).collect();
    let surfaces = CollisionMesh::of_thin_cloths(&triangles, &[0, 3, 10], positions.clone(), &[]);
    let all = (0..surfaces.edges.len() as u32).map(|edge| Intersection { edge, triangle: 0 });
    let configuration = Configuration { mesh: &surfaces, positions: &positions };
    let crossings = all.filter(|crossing| is_intersecting(configuration, *crossing)).collect();
    let tangle = IntersectionState::new(&surfaces, &positions, crossings);
    assert_eq!(tangle.intersections.len(), 6);
    tangle.layer_recovery_contacts(&surfaces, &positions, [0.01, crossed_for])
}

#[test]
fn the_layer_recovery_force_grows_with_time() {
    let force = |crossed_for: f64| {
        let returns = layer_recovery_contacts(crossed_for);
        let [back] = &returns[..] else { panic!("{} contacts", returns.len()) };
        assert_eq!(back.pair.features, [3, 0]);
        assert!((back.linearised.normal - Vec3::z()).norm() < 1e-12);
        back.current_normal_force()
    };
    assert!(force(0.2) > 1.9 * force(0.1));
    assert!(force(0.4) > 1.9 * force(0.2));
    // Not for ever.
    assert!((force(9.0) - force(4.0)).abs() < 1e-9 * force(4.0));
}

/// Three triangles of cloth above each other and a solid one; edges of the first two and of the solid go through others.
#[test]
fn only_intersecting_cloths_are_frictionless() {
    let at = |z: f64| [Vec3::zeros(), Vec3::x(), Vec3::y()].map(|p| p + Vec3::z() * z).to_vec();
    let rest = [at(0.0), at(1.0), at(2.0)].concat();
    let collider = Collider::new(at(3.0), &[[0, 1, 2]], 0.5, 0.001).unwrap();
    let triangles = [[0, 1, 2], [3, 4, 5], [6, 7, 8]];
    let surfaces =
        CollisionMesh::of_thin_cloths(&triangles, &[0, 3, 6, 9], rest.clone(), &[collider]);
    let positions = [rest, at(3.0)].concat();
    let crossings = [(0, 1), (1, 3), (0, 0)]
        .map(|(own, triangle)| Intersection { edge: surfaces.triangle_edges[own][0], triangle });
    let mut crossings = crossings.to_vec();
    crossings.sort_unstable();
    let tangle = IntersectionState::new(&surfaces, &positions, crossings);
    let pairs = [[0, 1], [1, 0], [0, 2], [1, 2], [0, 0], [1, 3]];
    assert_eq!(
        pairs.map(|pair| tangle.is_frictionless(pair)),
        [true, true, false, false, false, false]
    );
}
