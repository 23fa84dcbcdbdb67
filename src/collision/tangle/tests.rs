// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::Collider;

/// Whether two edges are let go that are beside so many crossings each, but no common one.
fn is_let_go(crossings: usize, second_is_cloth: bool) -> bool {
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
    let surfaces = Surfaces::of_thin_cloths((&triangles, &starts), rest, &colliders);
    // The edges of the first triangle and of the last one go through the third.
    let through = |edge: u32| std::iter::repeat_n(Crossing { edge, triangle: 1 }, crossings);
    let last = surfaces.sides[2][0];
    let all: Vec<Crossing> = through(surfaces.sides[0][0]).chain(through(last)).collect();
    let near = Near::new(&surfaces, &all, |_, _| false);
    near.frees(&surfaces, &Pair::edge_edge(&surfaces, surfaces.sides[0][0], last))
}

#[test]
fn what_is_crushed_is_let_go_but_not_by_colliders() {
    assert!(!is_let_go(CRUSHED, true));
    assert!(is_let_go(CRUSHED + 1, true));
    assert!(!is_let_go(CRUSHED + 1, false));
}
