// SPDX-License-Identifier: MIT OR Apache-2.0
//! Primitive pairs: a vertex and a triangle, or two edges, that may come into contact within a step.
//!
//! The positions at the end of the step do not tell the side on which the features belong; their
//! trajectories do. A pair that ends close is linearised along the shortest offset between its
//! features, and one that has penetrated, as CCD tells, along the direction from which it came
//! (see `linearisation`).

#[cfg(test)]
mod tests;

mod linearisation;
mod partner_rotation;
mod rest_separation;

use crate::{
    geometry::{
        CcdHit, Trajectory, TriangleFeature, closest_point_on_triangle, closest_points_of_segments,
        edge_edge_ccd, point_triangle_ccd,
    },
    surface::CollisionMesh,
    vec3::Vec3,
};
pub(crate) use linearisation::{DetectionBounds, LinearisedContact};
pub(crate) use partner_rotation::turned_with_partner;

/// Kind of a primitive pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PairKind {
    /// A vertex and a triangle.
    VertexFace,
    /// Two edges.
    EdgeEdge,
}

/// Straight trajectories of all vertices in a step, in m.
#[derive(Clone, Copy)]
pub(crate) struct Trajectories<'a> {
    /// Positions at the start of the step.
    pub(crate) starts: &'a [Vec3],
    /// Positions at the end of the step, or at the trial point.
    pub(crate) ends: &'a [Vec3],
}

/// Two features that may come into contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PrimitivePair {
    pub(crate) kind: PairKind,
    /// Indices of the vertex and the triangle, or of both edges.
    pub(crate) features: [u32; 2],
    /// The vertex and the corners of the triangle, or the ends of both edges.
    pub(crate) vertices: [u32; 4],
    /// Contact thickness of the pair, in m; 0 before [`Self::passes_narrow_phase`].
    pub(crate) thickness: f64,
    /// Distance at the start of the step, in m.
    pub(crate) start_distance: f64,
    /// Lower bound of the distance during the step, in m, on the trajectories of the last narrow
    /// phase.
    pub(crate) clearance: f64,
    /// Number of times the contact was stiffened in this step.
    pub(crate) stiffening_count: u8,
}

/// Detection distance of pairs as a function of their contact thickness.
#[derive(Clone, Copy)]
pub(crate) struct DetectionRange<Distance> {
    /// Upper bound of the detection distance, in units of the thickness of both sides.
    pub(crate) thickness_factor: f64,
    /// Detection distance in m of a pair with a contact thickness in m. It must not decrease with
    /// the thickness.
    pub(crate) distance: Distance,
}

/// Closest points of a pair.
struct ClosestPoints {
    weights: [f64; 4],
    /// Vector from the second feature to the first, in m.
    offset: Vec3,
    distance: f64,
    /// Closest feature of the triangle; for two edges `Face` stands for their interiors.
    feature: TriangleFeature,
}

/// Rounding allowance, a factor, in comparisons of distances with displacements.
const DISTANCE_ROUNDING: f64 = 1.0 + 1.0e-9;
/// Distance in units of the largest coordinate below which features coincide: the offset no longer
/// tells a direction.
const COINCIDENCE_TOLERANCE: f64 = 4.0e-12;
/// Resolution of CCD in units of the size of a pair: 2⁻⁴⁰ of the largest difference of its points
/// (see `ccd`), which are no farther than once that size from the first of them.
const CCD_RESOLUTION: f64 = 2.0e-12;

impl PrimitivePair {
    pub(crate) fn vertex_face(mesh: &CollisionMesh, vertex: u32, triangle: u32) -> Self {
        let [a, b, c] = mesh.triangles[triangle as usize];
        Self::new(PairKind::VertexFace, [vertex, triangle], [vertex, a, b, c])
    }

    pub(crate) fn edge_edge(mesh: &CollisionMesh, first: u32, second: u32) -> Self {
        let [a, b] = mesh.edges[first as usize];
        let [c, d] = mesh.edges[second as usize];
        Self::new(PairKind::EdgeEdge, [first, second], [a, b, c, d])
    }

    /// Pair of a kind between two features.
    pub(crate) fn of_features(
        mesh: &CollisionMesh,
        kind: PairKind,
        [first, second]: [u32; 2],
    ) -> Self {
        match kind {
            PairKind::VertexFace => Self::vertex_face(mesh, first, second),
            PairKind::EdgeEdge => Self::edge_edge(mesh, first, second),
        }
    }

    pub(crate) fn new(kind: PairKind, features: [u32; 2], vertices: [u32; 4]) -> Self {
        Self {
            kind,
            features,
            vertices,
            thickness: 0.0,
            start_distance: 0.0,
            clearance: 0.0,
            stiffening_count: 0,
        }
    }

    /// Identity among all pairs, and sort key.
    pub(crate) fn key(&self) -> (PairKind, [u32; 2]) {
        (self.kind, self.features)
    }

    /// The key as one number, in the same order.
    pub(crate) fn packed_key(&self) -> u128 {
        let [first, second] = self.features.map(u128::from);
        (self.kind as u128) << 64 | first << 32 | second
    }

    /// Whether one of the features is an alternative.
    pub(crate) fn is_alternative(&self, mesh: &CollisionMesh) -> bool {
        self.alternative_faces(mesh).iter().any(|corners| !corners.is_empty())
    }

    /// For each feature the vertices around its face, if it is an alternative.
    fn alternative_faces<'a>(&self, mesh: &'a CollisionMesh) -> [&'a [u32]; 2] {
        let [first, second] = self.features;
        match self.kind {
            PairKind::VertexFace => [&[], mesh.face_of_alternative_triangle(second)],
            PairKind::EdgeEdge => [first, second].map(|edge| mesh.face_of_alternative_edge(edge)),
        }
    }

    /// One vertex of each feature.
    pub(crate) fn representative_vertices(&self) -> [u32; 2] {
        match self.kind {
            PairKind::VertexFace => [self.vertices[0], self.vertices[1]],
            PairKind::EdgeEdge => [self.vertices[0], self.vertices[2]],
        }
    }

    /// Vertices of each feature.
    pub(crate) fn vertices_by_feature(&self) -> (&[u32], &[u32]) {
        self.vertices.split_at(if self.kind == PairKind::VertexFace { 1 } else { 2 })
    }

    /// Dimension of each feature: 0 for a vertex, 1 for an edge, 2 for a triangle.
    pub(crate) fn feature_dimensions(&self) -> [usize; 2] {
        if self.kind == PairKind::VertexFace { [0, 2] } else { [1, 1] }
    }

    /// Positions of the four vertices among those of all vertices, in m.
    fn points(&self, positions: &[Vec3]) -> [Vec3; 4] {
        self.vertices.map(|vertex| positions[vertex as usize])
    }

    /// Unit vector from the second feature to the first with all vertices at `positions`; `None` where they touch.
    pub(crate) fn direction(&self, positions: &[Vec3]) -> Option<Vec3> {
        self.closest_points(&self.points(positions)).offset.try_normalize(f64::MIN_POSITIVE)
    }

    /// Weights of the closest points with all vertices at `positions`.
    pub(crate) fn closest_point_weights(&self, positions: &[Vec3]) -> [f64; 4] {
        self.closest_points(&self.points(positions)).weights
    }

    /// Area of cloth that a contact with these weights represents, in m²: the smaller one of both
    /// sides.
    pub(crate) fn contact_area(&self, mesh: &CollisionMesh, weights: &[f64; 4]) -> f64 {
        let mut sides = [0.0; 2];
        for (vertex, weight) in self.vertices.iter().zip(weights) {
            if let Some(area) = mesh.vertex_areas.get(*vertex as usize) {
                sides[usize::from(*weight < 0.0)] += weight.abs() * area;
            }
        }
        let area = sides.into_iter().filter(|area| *area > 0.0).fold(f64::INFINITY, f64::min);
        if area.is_finite() { area } else { 0.0 }
    }

    /// Updates `start_distance` and `clearance`, and returns whether the pair may come within
    /// `distance` in m during the step.
    pub(crate) fn update_clearance(
        &mut self,
        trajectories: Trajectories<'_>,
        distance: f64,
    ) -> bool {
        self.update_clearance_with(trajectories, distance, |_| distance)
    }

    /// Updates `start_distance` and `clearance`, and returns whether the pair may come within
    /// `distance` in m during the step. `distance` is computed only for pairs that may come within
    /// its upper bound `max_distance`.
    fn update_clearance_with(
        &mut self,
        trajectories: Trajectories<'_>,
        max_distance: f64,
        distance: impl FnOnce(&Self) -> f64,
    ) -> bool {
        let starts = self.points(trajectories.starts);
        let ends = self.points(trajectories.ends);
        let centroid_separation =
            self.separation_along_axis(&self.scaled_centroid_offset(&starts), [&starts, &ends]);
        if centroid_separation > max_distance {
            return false;
        }
        let distance = distance(self);
        if centroid_separation > distance {
            return false;
        }
        let start = self.closest_points(&starts);
        self.start_distance = start.distance;
        let displacement = self.max_relative_displacement(&starts, &ends) * DISTANCE_ROUNDING;
        if self.start_distance - displacement > distance
            || self.separation_along_axis(&start.offset, [&starts, &ends]) > distance
        {
            return false;
        }
        let end = self.closest_points(&ends);
        // The distance changes no faster than both sides move relative to each other.
        let lower_bound = 0.5 * (self.start_distance + end.distance - displacement);
        self.clearance = lower_bound.max(self.separation_along_axis(&end.offset, [&starts, &ends]));
        self.clearance <= distance
    }

    /// Whether the pair comes within `gap` in m during the step, by CCD. A pair that starts closer
    /// must come closer than its initial distance by the resolution of CCD.
    pub(crate) fn ccd_comes_within(&self, trajectories: Trajectories<'_>, gap: f64) -> bool {
        let size = [trajectories.starts, trajectories.ends].map(|positions| {
            let [first, others @ ..] = self.points(positions);
            others.iter().fold(0.0, |max: f64, point| max.max((point - first).amax()))
        });
        let resolved = self.start_distance - CCD_RESOLUTION * size[0].max(size[1]);
        self.ccd(&self.trajectories(trajectories), gap.min(resolved).max(0.0)).is_some()
    }

    /// Whether the features coincided at the start of the step, so that the trajectories do not
    /// tell the sides.
    pub(crate) fn is_coincident_at_start(&self, trajectories: Trajectories<'_>) -> bool {
        let [starts, ends] =
            [trajectories.starts, trajectories.ends].map(|positions| self.points(positions));
        self.start_distance <= coincidence_distance(&starts, &ends)
    }

    fn trajectories(&self, trajectories: Trajectories<'_>) -> [Trajectory; 4] {
        self.vertices.map(|vertex| Trajectory {
            start: trajectories.starts[vertex as usize],
            end: trajectories.ends[vertex as usize],
        })
    }

    fn closest_points(&self, points: &[Vec3; 4]) -> ClosestPoints {
        let [a, b, c, d] = *points;
        match self.kind {
            PairKind::VertexFace => {
                let found = closest_point_on_triangle(&a, &[b, c, d]);
                ClosestPoints {
                    weights: vertex_face_weights(found.weights),
                    offset: found.offset,
                    distance: found.distance_squared.sqrt(),
                    feature: found.feature,
                }
            }
            PairKind::EdgeEdge => {
                let found = closest_points_of_segments(&[a, b], &[c, d]);
                let [s, t] = found.parameters;
                let is_interior = 0.0 < s && s < 1.0 && 0.0 < t && t < 1.0;
                ClosestPoints {
                    weights: edge_edge_weights([s, t]),
                    offset: found.offset,
                    distance: found.distance_squared.sqrt(),
                    feature: if is_interior {
                        TriangleFeature::Face
                    } else {
                        TriangleFeature::Vertex(0)
                    },
                }
            }
        }
    }

    /// Vector from the centroid of the second feature to that of the first, times a constant.
    fn scaled_centroid_offset(&self, points: &[Vec3; 4]) -> Vec3 {
        let [a, b, c, d] = points;
        match self.kind {
            PairKind::VertexFace => a * 3.0 - (b + c + d),
            PairKind::EdgeEdge => (a + b) - (c + d),
        }
    }

    /// Smaller separation of the features along an axis at the two times, in m; on straight
    /// trajectories a lower bound for all times between. Negative where the axis does not separate
    /// them.
    fn separation_along_axis(&self, axis: &Vec3, times: [&[Vec3; 4]; 2]) -> f64 {
        let separations = times.map(|points| {
            // Differences first, so that nothing is lost far from the origin.
            let along = [1, 2, 3].map(|k| (points[0] - points[k]).dot(axis));
            match self.kind {
                PairKind::VertexFace => along[0].min(along[1]).min(along[2]),
                PairKind::EdgeEdge => along[1].min(along[2]) - along[0].max(0.0),
            }
        });
        let length = axis.norm() * DISTANCE_ROUNDING;
        if length > 0.0 { separations[0].min(separations[1]) / length } else { 0.0 }
    }

    /// Upper bound of the displacement of any point of the first feature relative to any of the
    /// second, in m.
    fn max_relative_displacement(&self, starts: &[Vec3; 4], ends: &[Vec3; 4]) -> f64 {
        let displacements: [Vec3; 4] = std::array::from_fn(|k| ends[k] - starts[k]);
        let first_count = if self.kind == PairKind::VertexFace { 1 } else { 2 };
        let (first, second) = displacements.split_at(first_count);
        let squares = first.iter().flat_map(|a| second.iter().map(move |b| (a - b).norm_squared()));
        squares.fold(0.0, f64::max).sqrt()
    }

    /// CCD: first time within `gap` in m.
    fn ccd(&self, trajectories: &[Trajectory; 4], gap: f64) -> Option<CcdHit<4>> {
        let [a, b, c, d] = *trajectories;
        match self.kind {
            PairKind::VertexFace => point_triangle_ccd(&a, &[b, c, d], gap).map(
                |CcdHit { time, weights, direction }| CcdHit {
                    time,
                    weights: vertex_face_weights(weights),
                    direction,
                },
            ),
            PairKind::EdgeEdge => {
                edge_edge_ccd(&[a, b], &[c, d], gap).map(|CcdHit { time, weights, direction }| {
                    CcdHit { time, weights: edge_edge_weights(weights), direction }
                })
            }
        }
    }

    /// Normal of the triangle, or to both edges, of any length.
    fn unscaled_normal(&self, points: &[Vec3; 4]) -> Vec3 {
        let [a, b, c, d] = points;
        match self.kind {
            PairKind::VertexFace => (c - b).cross(&(d - b)),
            PairKind::EdgeEdge => (b - a).cross(&(d - c)),
        }
    }
}

/// Distance below which features with these points at the start and at the end coincide, in m.
fn coincidence_distance(starts: &[Vec3; 4], ends: &[Vec3; 4]) -> f64 {
    COINCIDENCE_TOLERANCE * largest_coordinate(starts).max(largest_coordinate(ends))
}

/// Largest absolute coordinate, in m.
fn largest_coordinate(points: &[Vec3; 4]) -> f64 {
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    let [a, b, c, d] = points.each_ref().map(|p| larger(larger(p.x.abs(), p.y.abs()), p.z.abs()));
    larger(larger(a, b), larger(c, d))
}

/// Contact weights of a vertex and a point of a triangle.
fn vertex_face_weights([u, v, w]: [f64; 3]) -> [f64; 4] {
    [1.0, -u, -v, -w]
}

/// Contact weights of points at parameters along two edges.
fn edge_edge_weights([s, t]: [f64; 2]) -> [f64; 4] {
    [1.0 - s, s, t - 1.0, -t]
}
