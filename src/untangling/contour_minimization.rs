// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the edges along a line of crossings go, so that the line becomes shorter.
//!
//! The triangles of two surfaces cross in segments, which crossings join to contours. Each crossing knows only how its own
//! edge changes the two segments there; along a straight contour that is nothing but rounding, and at the bends one
//! edge may undo what the next one does. So the changes of a whole contour are added up, and all of the one surface goes that
//! way, and all of the other against it (Volino and Magnenat-Thalmann 2006): most of all the ends tell, where the
//! contour comes to a border.

use crate::{Vec3, collision::Intersection, mesh::NO_INDEX, surface::CollisionMesh};
use std::collections::BTreeMap;

/// The direction in which the edge of each of the crossings goes, where that is known, with all vertices at `positions` in m.
pub(crate) fn contour_minimizing_directions(
    surfaces: &CollisionMesh,
    positions: &[Vec3],
    crossings: &[Intersection],
) -> Vec<Option<Vec3>> {
    let mut found = vec![None; crossings.len()];
    for contour in intersection_contours(surfaces, crossings) {
        let sum: Vec3 = contour
            .iter()
            .map(|(index, side)| {
                contour_length_descent(surfaces, positions, crossings[*index]) * *side
            })
            .sum();
        let direction = sum.try_normalize(f64::MIN_POSITIVE);
        for (index, side) in contour {
            found[index] = direction.map(|direction| direction * side);
        }
    }
    found
}

/// The crossings of each contour, with 1 where their edges are of the one surface, and −1 where they are of the other.
fn intersection_contours(
    surfaces: &CollisionMesh,
    crossings: &[Intersection],
) -> Vec<Vec<(usize, f64)>> {
    let segments: Vec<Vec<[u32; 2]>> =
        crossings.iter().map(|crossing| contour_segments(surfaces, *crossing)).collect();
    let mut ends: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
    for (index, segments) in segments.iter().enumerate() {
        for segment in segments {
            ends.entry(*segment).or_default().push(index);
        }
    }
    let mut is_known = vec![false; crossings.len()];
    let mut contours = Vec::new();
    for first in 0..crossings.len() {
        if std::mem::replace(&mut is_known[first], true) {
            continue;
        }
        let mut contour = vec![(first, 1.0)];
        let mut next = 0;
        while let Some((index, side)) = contour.get(next).copied() {
            next += 1;
            for other in segments[index].iter().flat_map(|segment| &ends[segment]) {
                if !std::mem::replace(&mut is_known[*other], true) {
                    let is_same = crossings[*other].triangle == crossings[index].triangle;
                    contour.push((*other, if is_same { side } else { -side }));
                }
            }
        }
        contours.push(contour);
    }
    contours
}

/// The segments that meet at a crossing: each by the two triangles that it is in.
fn contour_segments(
    surfaces: &CollisionMesh,
    Intersection { edge, triangle }: Intersection,
) -> Vec<[u32; 2]> {
    let [start, _] = surfaces.edges[edge as usize];
    let around = surfaces.vertex_triangles.elements_of(start as usize).map(|(beside, _)| beside);
    let beside = around.filter(|beside| surfaces.triangle_edges[*beside as usize].contains(&edge));
    beside.map(|beside| [beside.min(triangle), beside.max(triangle)]).collect()
}

/// How far the segments at a crossing shorten by as its edge goes along each axis; nothing where the edge is in the plane.
fn contour_length_descent(
    surfaces: &CollisionMesh,
    positions: &[Vec3],
    Intersection { edge, triangle }: Intersection,
) -> Vec3 {
    let Some(normal) = surfaces.triangle_normal(triangle, positions) else { return Vec3::zeros() };
    let [start, end] = surfaces.edges[edge as usize].map(|vertex| positions[vertex as usize]);
    let along = end - start;
    let mut sum = Vec3::zeros();
    for corner in surfaces.edge_adjacency[edge as usize]
        .opposite_vertices
        .into_iter()
        .filter(|c| *c != NO_INDEX)
    {
        let side = positions[corner as usize] - start;
        let line = normal.cross(&along.cross(&side));
        let inward = side * along.norm_squared() - along * side.dot(&along);
        if let Some(line) = line.try_normalize(f64::MIN_POSITIVE) {
            let into = line * line.dot(&inward).signum();
            sum += into - normal * (2.0 * along.dot(&into) / along.dot(&normal));
        }
    }
    if sum.norm_squared().is_finite() { sum } else { Vec3::zeros() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{collision::is_intersecting, surface::Configuration};

    /// Triangles of a sheet of squares between `count` lines each way, the first vertex of which is `start`.
    fn grid_triangles(start: u32, count: u32) -> Vec<[u32; 3]> {
        let corners =
            (0..count - 1).flat_map(|row| (0..count - 1).map(move |column| [row, column]));
        let first = corners.map(|[row, column]| start + row * count + column);
        first.flat_map(|a| [[a, a + 1, a + count], [a + 1, a + count + 1, a + count]]).collect()
    }

    /// An upright sheet cuts into a level one along x, as far as its own border at x = 2.2 m.
    #[test]
    fn contour_minimization_moves_a_whole_sheet_back_out() {
        let line = |count: u32| (0..count).flat_map(move |row| (0..count).map(move |k| [row, k]));
        let at = |number: u32, scale: f64, offset: f64| f64::from(number) * scale + offset;
        let level = line(5).map(|[row, k]| Vec3::new(at(k, 1.0, 0.0), at(row, 1.0, 0.01), 0.0));
        let upright =
            line(6).map(|[row, k]| Vec3::new(at(k, 0.74, -1.5), 1.3, at(row, 0.4, -1.03)));
        let positions: Vec<Vec3> = level.chain(upright).collect();
        let triangles = [grid_triangles(0, 5), grid_triangles(25, 6)].concat();
        let surfaces =
            CollisionMesh::of_thin_cloths(&triangles, &[0, 25, 61], positions.clone(), &[]);
        let edges = 0..surfaces.edges.len() as u32;
        let pairs = edges.flat_map(|edge| {
            (0..triangles.len() as u32).map(move |triangle| Intersection { edge, triangle })
        });
        let configuration = Configuration { mesh: &surfaces, positions: &positions };
        let crossings: Vec<Intersection> =
            pairs.filter(|crossing| is_intersecting(configuration, *crossing)).collect();
        assert!(crossings.len() > 8);
        assert_eq!(intersection_contours(&surfaces, &crossings).len(), 1);
        for (crossing, found) in
            crossings.iter().zip(contour_minimizing_directions(&surfaces, &positions, &crossings))
        {
            let [body, _] = crossing.bodies(&surfaces);
            let out = if body == 0 { Vec3::x() } else { -Vec3::x() };
            assert!(found.unwrap().dot(&out) > 0.9, "{crossing:?} of {body}: {found:?}");
        }
    }
}
