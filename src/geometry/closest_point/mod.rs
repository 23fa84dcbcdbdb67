// SPDX-License-Identifier: MIT OR Apache-2.0
//! Closest points: a point and a triangle, two segments.
//!
//! Every answer is a point of the triangle or segment (weights within 0 and 1 that sum to 1), so that a
//! rounding can only make a distance a little too large. The weights come from triple products with the
//! normal and not from the Gram matrix: in a needle, or for segments nearly parallel, with an angle of
//! sine θ they are off by u/θ for one rounding u, and not by u/θ². Triangles and segments without extent
//! are the segments or points that they look like.

#[cfg(test)]
mod tests;

use crate::vec3::Vec3;

/// Feature of a triangle that a point of it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriangleFeature {
    /// The interior.
    Face,
    /// The edge opposite this corner.
    Edge(u8),
    /// This corner.
    Vertex(u8),
}

/// Point of a triangle closest to a given point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPointOnTriangle {
    /// Barycentric coordinates of the closest point.
    pub weights: [f64; 3],
    /// Vector from the closest point to the given point, in m.
    pub offset: Vec3,
    /// Squared distance, in m².
    pub distance_squared: f64,
    /// Feature of the triangle that contains the closest point.
    pub feature: TriangleFeature,
}

/// Closest points of two segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPointsOfSegments {
    /// Position of the closest point along each segment, from 0 to 1.
    pub parameters: [f64; 2],
    /// Vector from the point of the second segment to the point of the first, in m.
    pub offset: Vec3,
    /// Squared distance, in m².
    pub distance_squared: f64,
}

/// Parameter from 0 to 1 of the point of `edge` closest to a point `from` its start; 0 for an edge
/// without extent.
fn closest_parameter_on_segment(from: &Vec3, edge: &Vec3) -> f64 {
    let length_squared = edge.norm_squared();
    if length_squared > 0.0 { (edge.dot(from) / length_squared).clamp(0.0, 1.0) } else { 0.0 }
}

/// Point of `triangle` closest to `point`.
#[must_use]
pub fn closest_point_on_triangle(point: &Vec3, triangle: &[Vec3; 3]) -> ClosestPointOnTriangle {
    let [a, b, c] = triangle;
    let edges = [c - b, a - c, b - a];
    let from = [point - a, point - b, point - c];
    if let Some(weights) = interior_barycentric_coordinates(&edges, &from) {
        return closest_point_at_weights(&from, weights, TriangleFeature::Face);
    }
    // No branches: whichever edge it is, a processor would guess wrong.
    let along = [0, 1, 2]
        .map(|corner| closest_parameter_on_segment(&from[(corner + 1) % 3], &edges[corner]));
    let squares = [0, 1, 2].map(|corner: usize| {
        (from[(corner + 1) % 3] - edges[corner] * along[corner]).norm_squared()
    });
    let first = usize::from(squares[1] < squares[0]);
    let corner = if squares[2] < squares[first] { 2 } else { first };
    let (start, end) = ((corner + 1) % 3, (corner + 2) % 3);
    let mut weights = [0.0; 3];
    weights[start] = 1.0 - along[corner];
    weights[end] = along[corner];
    let feature = if along[corner] <= 0.0 {
        TriangleFeature::Vertex(start as u8)
    } else if along[corner] >= 1.0 {
        TriangleFeature::Vertex(end as u8)
    } else {
        TriangleFeature::Edge(corner as u8)
    };
    closest_point_at_weights(&from, weights, feature)
}

/// Barycentric coordinates of the projection of the point, if it falls into the triangle.
fn interior_barycentric_coordinates(edges: &[Vec3; 3], from: &[Vec3; 3]) -> Option<[f64; 3]> {
    let normal = nondegenerate_normal(edges)?;
    let weights =
        [0, 1, 2].map(|corner: usize| normal.dot(&edges[corner].cross(&from[(corner + 1) % 3])));
    let sum = weights[0] + weights[1] + weights[2];
    let is_inside = weights[0].min(weights[1]).min(weights[2]) >= 0.0 && sum > 0.0;
    is_inside.then(|| weights.map(|weight| weight / sum))
}

/// Normal with a length of twice the area; `None` for a triangle so thin that the closest points of
/// its edges are more accurate.
fn nondegenerate_normal(edges: &[Vec3; 3]) -> Option<Vec3> {
    /// Ratio of twice the area to the squared longest edge. With the rounding u of a cross product
    /// the normal is off by u over this ratio: as much as the triangle is thin where the ratio is
    /// the root of u.
    const MIN_AREA_RATIO: f64 = 1.0 / (1_u64 << 26) as f64;
    let lengths = edges.map(|edge| edge.norm_squared());
    let thinnest = MIN_AREA_RATIO * lengths[0].max(lengths[1]).max(lengths[2]);
    let normal = edges[0].cross(&edges[1]);
    (normal.norm_squared() > thinnest * thinnest).then_some(normal)
}

fn closest_point_at_weights(
    from: &[Vec3; 3],
    weights: [f64; 3],
    feature: TriangleFeature,
) -> ClosestPointOnTriangle {
    // A sum of differences loses nothing far from the origin.
    let offset = from[0] * weights[0] + from[1] * weights[1] + from[2] * weights[2];
    ClosestPointOnTriangle { weights, offset, distance_squared: offset.norm_squared(), feature }
}

/// Closest points of two segments; of parallel segments one such pair.
#[must_use]
pub fn closest_points_of_segments(
    first: &[Vec3; 2],
    second: &[Vec3; 2],
) -> ClosestPointsOfSegments {
    let [start, end] = first;
    let along = [end - start, second[1] - second[0]];
    let across = second[0] - start;
    let normal = along[0].cross(&along[1]);
    let squared = normal.norm_squared();
    // Of parallel segments any point will do to begin with.
    let line = if squared > 0.0 { across.cross(&along[1]).dot(&normal) / squared } else { 0.0 };
    let mut on_first = line.clamp(0.0, 1.0);
    let on_second = closest_parameter_on_segment(&(along[0] * on_first - across), &along[1]);
    if on_second <= 0.0 || on_second >= 1.0 {
        on_first = closest_parameter_on_segment(&(along[1] * on_second + across), &along[0]);
    }
    let offset = along[0] * on_first - along[1] * on_second - across;
    ClosestPointsOfSegments {
        parameters: [on_first, on_second],
        offset,
        distance_squared: offset.norm_squared(),
    }
}
