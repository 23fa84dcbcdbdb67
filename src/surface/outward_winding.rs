// SPDX-License-Identifier: MIT OR Apache-2.0
//! Solids are wound so that they face outward: a mirrored object, or one with its normals flipped, has the same inside.
//!
//! A part that faces inward is turned, unless it lies within another part: a hollow within a wall faces inward as it should, and
//! is turned only together with what it lies in.

use crate::{
    Vec3,
    geometry::{Aabb, ClosedSurface, is_closed_surface},
    mesh::UnionFind,
};
use std::collections::BTreeMap;

/// Triangles that hang together, with the positions of their corners in m.
type ComponentTriangles = Vec<[Vec3; 3]>;

/// The triangles of a collider with these positions, in order; those of a closed surface face outward.
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
    let mut parts: BTreeMap<u32, ComponentTriangles> = BTreeMap::new();
    for corners in triangles {
        let part = parts.entry(name_of[corners[0] as usize]).or_default();
        part.push(corners.map(|vertex| positions[vertex as usize]));
    }
    let (names, parts): (Vec<u32>, Vec<ComponentTriangles>) = parts.into_iter().unzip();
    let volumes: Vec<f64> = parts.iter().map(|part| scaled_signed_volume(part)).collect();
    let outermost = outermost_enclosing_components(&parts, &volumes).into_iter();
    let is_turned: Vec<bool> = outermost.map(|part| volumes[part] < 0.0).collect();
    for corners in &mut outward {
        if names.binary_search(&name_of[corners[0] as usize]).is_ok_and(|part| is_turned[part]) {
            corners.swap(1, 2);
        }
    }
    outward
}

/// Six times the volume of a part in m³; less than 0 where the surface faces inward.
fn scaled_signed_volume(part: &[[Vec3; 3]]) -> f64 {
    let origin = part[0][0];
    let each = part.iter().map(|corners| corners.map(|corner| corner - origin));
    each.map(|[a, b, c]| a.dot(&b.cross(&c))).sum()
}

/// For every part the largest one that it lies in, or itself.
fn outermost_enclosing_components(parts: &[ComponentTriangles], volumes: &[f64]) -> Vec<usize> {
    let boxes: Vec<Aabb> =
        parts.iter().map(|part| Aabb::from_points(part.iter().flatten())).collect();
    let mut solids: Vec<Option<ClosedSurface>> = parts.iter().map(|_| None).collect();
    let mut lies_in = |part: usize, other: usize| {
        let [inner, outer] = [part, other].map(|one| &boxes[one]);
        outer.contains_point(&inner.lower) && outer.contains_point(&inner.upper) && {
            let solid = solids[other]
                .get_or_insert_with(|| ClosedSurface::from_triangles(parts[other].clone()));
            solid.winding_number(&parts[part][0][0]) != 0
        }
    };
    let largest_around = |part: usize| {
        (0..parts.len()).fold(part, |best, other| {
            let is_larger = volumes[other].abs() > volumes[best].abs();
            if is_larger && lies_in(part, other) { other } else { best }
        })
    };
    (0..parts.len()).map(largest_around).collect()
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
        let turned = triangles.map(|[a, b, c]| if is_inward { [a, c, b] } else { [a, b, c] });
        ((0..8).map(corner).collect(), turned.collect())
    }

    /// Cubes of sizes, of which some face inward, about places along x: which of them are turned.
    fn turned(cubes: &[(f64, bool, f64)]) -> Vec<bool> {
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
                let is_turned: Vec<bool> = before.iter().zip(after).map(|(a, b)| a != b).collect();
                assert!(is_turned.iter().all(|one| *one == is_turned[0]));
                is_turned[0]
            })
            .collect()
    }

    #[test]
    fn what_faces_inward_is_turned() {
        assert_eq!(turned(&[(1.0, false, 5.0)]), [false]);
        assert_eq!(turned(&[(1.0, true, 5.0)]), [true]);
        assert_eq!(turned(&[(1.0, true, 5.0), (1.0, false, 7.0)]), [true, false]);
    }

    #[test]
    fn what_lies_in_another_part_is_turned_with_it() {
        for is_inward in [false, true] {
            let hollow = [(2.0, is_inward, 0.0), (1.0, !is_inward, 0.1), (0.2, is_inward, 0.1)];
            assert_eq!(turned(&hollow), [is_inward; 3]);
        }
    }

    #[test]
    fn what_is_open_stays_as_it_is() {
        let (positions, mut triangles) = cube(1.0, true);
        triangles.pop();
        assert_eq!(wound_outward(&triangles, &positions), triangles);
    }
}
