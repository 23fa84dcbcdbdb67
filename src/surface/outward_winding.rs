// SPDX-License-Identifier: MIT OR Apache-2.0
//! Winding of solids with outward normals: a mirrored object, or one with flipped normals, keeps
//! its interior.
//!
//! A connected component that faces inward is reversed, unless it lies within another one: the
//! cavity of a hollow solid faces inward as it should, and is reversed only together with the
//! component around it.

use crate::{
    geometry::{Aabb, ClosedSurface, is_closed_surface},
    mesh::UnionFind,
    vec3::Vec3,
};
use std::collections::BTreeMap;

/// Corner positions of the triangles of a connected component, in m.
type ComponentTriangles = Vec<[Vec3; 3]>;

/// Triangles of a collider in their order, wound to face outward if the surface is closed.
pub(crate) fn wound_outward(triangles: &[[u32; 3]], positions: &[Vec3]) -> Vec<[u32; 3]> {
    let mut outward = triangles.to_vec();
    if !is_closed_surface(triangles) {
        return outward;
    }
    let mut groups = UnionFind::new(positions.len());
    for [a, b, c] in triangles {
        groups.union(*a, *b);
        groups.union(*a, *c);
    }
    let name_of = groups.roots();
    let mut components: BTreeMap<u32, ComponentTriangles> = BTreeMap::new();
    for corners in triangles {
        let component = components.entry(name_of[corners[0] as usize]).or_default();
        component.push(corners.map(|vertex| positions[vertex as usize]));
    }
    let (names, components): (Vec<u32>, Vec<ComponentTriangles>) = components.into_iter().unzip();
    let volumes: Vec<f64> =
        components.iter().map(|component| scaled_signed_volume(component)).collect();
    let outermost = outermost_enclosing_components(&components, &volumes).into_iter();
    let is_reversed: Vec<bool> = outermost.map(|component| volumes[component] < 0.0).collect();
    for corners in &mut outward {
        if names
            .binary_search(&name_of[corners[0] as usize])
            .is_ok_and(|component| is_reversed[component])
        {
            corners.swap(1, 2);
        }
    }
    outward
}

/// Six times the signed volume of a component, in m³; negative where it faces inward.
fn scaled_signed_volume(component: &[[Vec3; 3]]) -> f64 {
    let origin = component[0][0];
    let each = component.iter().map(|corners| corners.map(|corner| corner - origin));
    each.map(|[a, b, c]| a.dot(&b.cross(&c))).sum()
}

/// For every component the largest one that encloses it, or itself.
fn outermost_enclosing_components(
    components: &[ComponentTriangles],
    volumes: &[f64],
) -> Vec<usize> {
    let boxes: Vec<Aabb> =
        components.iter().map(|component| Aabb::from_points(component.iter().flatten())).collect();
    let mut solids: Vec<Option<ClosedSurface>> = components.iter().map(|_| None).collect();
    let mut lies_in = |component: usize, other: usize| {
        let [inner, outer] = [component, other].map(|one| &boxes[one]);
        outer.contains_point(&inner.lower) && outer.contains_point(&inner.upper) && {
            let solid = solids[other]
                .get_or_insert_with(|| ClosedSurface::from_triangles(components[other].clone()));
            solid.winding_number(&components[component][0][0]) != 0
        }
    };
    let largest_around = |component: usize| {
        (0..components.len()).fold(component, |best, other| {
            let is_larger = volumes[other].abs() > volumes[best].abs();
            if is_larger && lies_in(component, other) { other } else { best }
        })
    };
    (0..components.len()).map(largest_around).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube of a size about the origin, facing outward or inward.
    fn cube(size: f64, is_inward: bool) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let side = |bit: u32, index: u32| if index >> bit & 1 == 0 { -0.5 } else { 0.5 };
        let corner = |index: u32| Vec3::new(side(0, index), side(1, index), side(2, index)) * size;
        let squares =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = squares.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]);
        let reversed = triangles.map(|[a, b, c]| if is_inward { [a, c, b] } else { [a, b, c] });
        ((0..8).map(corner).collect(), reversed.collect())
    }

    /// Cubes given by size, whether they face inward, and their place along x: which of them are reversed.
    fn reversed(cubes: &[(f64, bool, f64)]) -> Vec<bool> {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for (size, is_inward, x) in cubes {
            let (corners, own) = cube(*size, *is_inward);
            let first = positions.len() as u32;
            positions.extend(corners.into_iter().map(|corner| corner + Vec3::x() * *x));
            triangles.extend(own.into_iter().map(|three| three.map(|vertex| vertex + first)));
        }
        let outward = wound_outward(&triangles, &positions);
        let of_cube = triangles.chunks(12).zip(outward.chunks(12));
        of_cube
            .map(|(before, after)| {
                let is_reversed: Vec<bool> =
                    before.iter().zip(after).map(|(a, b)| a != b).collect();
                assert!(is_reversed.iter().all(|one| *one == is_reversed[0]));
                is_reversed[0]
            })
            .collect()
    }

    #[test]
    fn inward_components_are_reversed() {
        assert_eq!(reversed(&[(1.0, false, 5.0)]), [false]);
        assert_eq!(reversed(&[(1.0, true, 5.0)]), [true]);
        assert_eq!(reversed(&[(1.0, true, 5.0), (1.0, false, 7.0)]), [true, false]);
    }

    #[test]
    fn enclosed_components_are_reversed_with_their_enclosure() {
        for is_inward in [false, true] {
            let hollow = [(2.0, is_inward, 0.0), (1.0, !is_inward, 0.1), (0.2, is_inward, 0.1)];
            assert_eq!(reversed(&hollow), [is_inward; 3]);
        }
    }

    #[test]
    fn open_surfaces_keep_their_winding() {
        let (positions, mut triangles) = cube(1.0, true);
        triangles.pop();
        assert_eq!(wound_outward(&triangles, &positions), triangles);
    }
}
