// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contour minimization: displacements of intersected edges that shorten the intersection contours.
//!
//! The triangles of two surfaces intersect in segments, which join to contours at the edge–triangle
//! intersections. The contour length gradient of one intersection involves the two segments there;
//! along a straight contour it is rounding, and at the bends one edge may undo the displacement of
//! the next one. So the gradients of a whole contour are summed, and all edges of the one surface move in
//! that direction and those of the other surface against it (Volino and Magnenat-Thalmann 2006).
//! The ends of the contour dominate the sum, where it meets a border.

use crate::{
    collision::Intersection,
    mesh::NO_INDEX,
    surface::{CollisionMesh, Configuration},
    vec3::Vec3,
};
use std::collections::BTreeMap;

/// Unit displacement direction of each intersected edge, or `None` where the gradient vanishes.
pub(super) fn contour_minimizing_directions(
    configuration: Configuration<'_>,
    intersections: &[Intersection],
) -> Vec<Option<Vec3>> {
    let mut directions = vec![None; intersections.len()];
    for contour in intersection_contours(configuration.mesh, intersections) {
        let sum: Vec3 = contour
            .iter()
            .map(|member| {
                contour_length_descent(configuration, intersections[member.intersection])
                    * member.side
            })
            .sum();
        let direction = sum.try_normalize(f64::MIN_POSITIVE);
        for ContourMember { intersection, side } in contour {
            directions[intersection] = direction.map(|direction| direction * side);
        }
    }
    directions
}

/// An intersection on a contour.
#[derive(Clone, Copy)]
struct ContourMember {
    /// Index of the intersection.
    intersection: usize,
    /// 1 if its edge is of the one surface, and −1 if it is of the other.
    side: f64,
}

/// Intersections of each contour.
fn intersection_contours(
    mesh: &CollisionMesh,
    intersections: &[Intersection],
) -> Vec<Vec<ContourMember>> {
    let segments: Vec<Vec<[u32; 2]>> =
        intersections.iter().map(|intersection| contour_segments(mesh, *intersection)).collect();
    let mut ends: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
    for (index, segments) in segments.iter().enumerate() {
        for segment in segments {
            ends.entry(*segment).or_default().push(index);
        }
    }
    let mut is_visited = vec![false; intersections.len()];
    let mut contours = Vec::new();
    for first in 0..intersections.len() {
        if std::mem::replace(&mut is_visited[first], true) {
            continue;
        }
        let mut contour = vec![ContourMember { intersection: first, side: 1.0 }];
        let mut next = 0;
        while let Some(ContourMember { intersection: index, side }) = contour.get(next).copied() {
            next += 1;
            for other in segments[index].iter().flat_map(|segment| &ends[segment]) {
                if !std::mem::replace(&mut is_visited[*other], true) {
                    let is_same_surface =
                        intersections[*other].triangle == intersections[index].triangle;
                    let side = if is_same_surface { side } else { -side };
                    contour.push(ContourMember { intersection: *other, side });
                }
            }
        }
        contours.push(contour);
    }
    contours
}

/// Contour segments that meet at an intersection, each by its two triangles.
fn contour_segments(
    mesh: &CollisionMesh,
    Intersection { edge, triangle }: Intersection,
) -> Vec<[u32; 2]> {
    mesh.triangles_at_edge(edge)
        .map(|beside| [beside.min(triangle), beside.max(triangle)])
        .collect()
}

/// Negative gradient of the length of the segments at an intersection with respect to a
/// displacement of its edge; zero where the edge is in the plane of the triangle.
fn contour_length_descent(
    configuration: Configuration<'_>,
    Intersection { edge, triangle }: Intersection,
) -> Vec3 {
    let Configuration { mesh, positions } = configuration;
    let Some(normal) = configuration.triangle_normal(triangle) else { return Vec3::zeros() };
    let [start, end] = mesh.edges[edge as usize].map(|vertex| positions[vertex as usize]);
    let along = end - start;
    let mut sum = Vec3::zeros();
    for corner in
        mesh.edge_adjacency[edge as usize].opposite_vertices.into_iter().filter(|c| *c != NO_INDEX)
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
    use crate::collision::is_intersecting;

    /// Triangles of a square grid with `count` vertices per side, the first of which is `start`.
    fn grid_triangles(start: u32, count: u32) -> Vec<[u32; 3]> {
        let corners =
            (0..count - 1).flat_map(|row| (0..count - 1).map(move |column| [row, column]));
        let first = corners.map(|[row, column]| start + row * count + column);
        first.flat_map(|a| [[a, a + 1, a + count], [a + 1, a + count + 1, a + count]]).collect()
    }

    /// An upright sheet cuts into a horizontal one along x, as far as its own border at x = 2.2 m.
    #[test]
    fn contour_minimization_moves_a_whole_sheet_back_out() {
        let row = |count: u32| (0..count).flat_map(move |row| (0..count).map(move |k| [row, k]));
        let coordinate = |number: u32, scale: f64, offset: f64| f64::from(number) * scale + offset;
        let horizontal = row(5)
            .map(|[row, k]| Vec3::new(coordinate(k, 1.0, 0.0), coordinate(row, 1.0, 0.01), 0.0));
        let upright = row(6)
            .map(|[row, k]| Vec3::new(coordinate(k, 0.74, -1.5), 1.3, coordinate(row, 0.4, -1.03)));
        let positions: Vec<Vec3> = horizontal.chain(upright).collect();
        let triangles = [grid_triangles(0, 5), grid_triangles(25, 6)].concat();
        let mesh = CollisionMesh::of_thin_cloths(&triangles, &[0, 25, 61], positions.clone(), &[]);
        let edges = 0..mesh.edges.len() as u32;
        let pairs = edges.flat_map(|edge| {
            (0..triangles.len() as u32).map(move |triangle| Intersection { edge, triangle })
        });
        let intersections: Vec<Intersection> = pairs
            .filter(|intersection| {
                is_intersecting(Configuration { mesh: &mesh, positions: &positions }, *intersection)
            })
            .collect();
        assert!(intersections.len() > 8);
        let configuration = Configuration { mesh: &mesh, positions: &positions };
        assert_eq!(intersection_contours(&mesh, &intersections).len(), 1);
        for (intersection, directions) in
            intersections.iter().zip(contour_minimizing_directions(configuration, &intersections))
        {
            let [body, _] = intersection.bodies(&mesh);
            let outward = if body == 0 { Vec3::x() } else { -Vec3::x() };
            assert!(
                directions.unwrap().dot(&outward) > 0.9,
                "{intersection:?} of {body}: {directions:?}"
            );
        }
    }
}
