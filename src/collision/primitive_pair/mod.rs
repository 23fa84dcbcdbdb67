// SPDX-License-Identifier: MIT OR Apache-2.0
//! A vertex and a triangle, or two edges, that may meet within a step.
//!
//! Where they are at the end of the step is only half the answer: on which side they belong is a matter of
//! the way there. So a pair that ends near is seen along the shortest way between its features, and
//! one that has crossed on its way, which continuous detection tells, along the direction in which it would
//! have to go back.

mod rest_separation;
#[cfg(test)]
mod tests;

use crate::{
    Vec3,
    geometry::{
        CcdHit, Trajectory, TriangleFeature, closest_point_on_triangle, closest_points_of_segments,
        edge_edge_ccd, point_triangle_ccd,
    },
    mesh::NO_INDEX,
    surface::CollisionMesh,
};

/// What meets what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PairKind {
    /// A vertex and a triangle.
    VertexFace,
    /// Two edges.
    EdgeEdge,
}

/// Where all vertices are when a step begins and where they have come to, in m.
#[derive(Clone, Copy)]
pub(crate) struct Trajectories<'a> {
    pub(crate) starts: &'a [Vec3],
    pub(crate) ends: &'a [Vec3],
}

/// Two features that may meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PrimitivePair {
    pub(crate) kind: PairKind,
    /// Vertex and triangle, or two edges.
    pub(crate) features: [u32; 2],
    /// The vertex and the triangle's corners, or the ends of both edges.
    pub(crate) vertices: [u32; 4],
    /// The distance that both sides keep, in m; 0 before it has been found.
    pub(crate) thickness: f64,
    /// Distance when the step began, in m.
    pub(crate) start_distance: f64,
    /// No greater than the distance at any time of the way on which it was measured, in m.
    pub(crate) clearance: f64,
    /// How often the contact has been made stiffer in this step.
    pub(crate) stiffening_count: u8,
}

/// How a pair touches, linearised: the gap is normal · Σ weight · position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LinearisedContact {
    /// Positive on the first feature, negative on the second; each side sums to one.
    pub(crate) weights: [f64; 4],
    /// From the second feature towards the first.
    pub(crate) normal: Vec3,
    /// In m; negative where the pair has crossed.
    pub(crate) gap: f64,
    /// Whether the pair has crossed on its way.
    pub(crate) has_penetrated: bool,
}

/// What a pair has to keep to, so that it touches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DetectionBounds {
    /// Distance, in m.
    pub(crate) detection_distance: f64,
    /// Sine of the angle by which its direction may lean over a neighbouring face.
    pub(crate) max_normal_tilt: f64,
}

/// The closest points of a pair.
struct ClosestPoints {
    weights: [f64; 4],
    /// From the second feature to the first, in m.
    offset: Vec3,
    distance: f64,
    /// Of the triangle, for a vertex; of edges the face stands for their insides.
    feature: TriangleFeature,
}

/// Room for rounding in comparisons of distances with ways.
const DISTANCE_ROUNDING: f64 = 1.0 + 1.0e-9;
/// Things as close as this part of their coordinates touch: no direction can be told from the offset.
const COINCIDENCE_TOLERANCE: f64 = 4.0e-12;
/// Heights over a face of more than this part of their coordinates are known by their sign.
const HEIGHT_ROUNDING: f64 = 1.0e-14;
/// Continuous detection tells distances apart that differ by this part of the size of a pair: 2⁻⁴⁰ of the largest difference
/// of its points (see `time_of_impact`), which are no farther than once that size from the first of them.
const CCD_RESOLUTION: f64 = 2.0e-12;

impl PrimitivePair {
    /// The area of cloth that a contact stands for, in m².
    pub(crate) fn area(&self, surfaces: &CollisionMesh, weights: &[f64; 4]) -> f64 {
        let mut sides = [0.0; 2];
        for (vertex, weight) in self.vertices.iter().zip(weights) {
            if let Some(area) = surfaces.vertex_areas.get(*vertex as usize) {
                sides[usize::from(*weight < 0.0)] += weight.abs() * area;
            }
        }
        let area = sides.into_iter().filter(|area| *area > 0.0).fold(f64::INFINITY, f64::min);
        if area.is_finite() { area } else { 0.0 }
    }

    pub(crate) fn vertex_face(surfaces: &CollisionMesh, vertex: u32, triangle: u32) -> Self {
        let [a, b, c] = surfaces.triangles[triangle as usize];
        Self::new(PairKind::VertexFace, [vertex, triangle], [vertex, a, b, c])
    }

    pub(crate) fn edge_edge(surfaces: &CollisionMesh, first: u32, second: u32) -> Self {
        let [a, b] = surfaces.edges[first as usize];
        let [c, d] = surfaces.edges[second as usize];
        Self::new(PairKind::EdgeEdge, [first, second], [a, b, c, d])
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

    /// Its name among all pairs.
    pub(crate) fn key(&self) -> (PairKind, [u32; 2]) {
        (self.kind, self.features)
    }

    /// A vertex of the first feature and one of the second.
    pub(crate) fn representative_vertices(&self) -> [u32; 2] {
        match self.kind {
            PairKind::VertexFace => [self.vertices[0], self.vertices[1]],
            PairKind::EdgeEdge => [self.vertices[0], self.vertices[2]],
        }
    }

    /// The vertices of both features.
    pub(crate) fn vertices_by_feature(&self) -> (&[u32], &[u32]) {
        self.vertices.split_at(if self.kind == PairKind::VertexFace { 1 } else { 2 })
    }

    /// What the features are: 0 for a vertex, 1 for an edge, 2 for a triangle.
    pub(crate) fn feature_dimensions(&self) -> [usize; 2] {
        if self.kind == PairKind::VertexFace { [0, 2] } else { [1, 1] }
    }

    /// Weights of the closest points with all vertices at `positions`.
    pub(crate) fn closest_point_weights(&self, positions: &[Vec3]) -> [f64; 4] {
        self.closest_points(&self.vertices.map(|vertex| positions[vertex as usize])).weights
    }

    /// Measures the distance at the start, and says whether the pair may come within `reach` in m on its way.
    pub(crate) fn update_clearance(&mut self, motion: Trajectories<'_>, reach: f64) -> bool {
        self.update_clearance_with(motion, reach, |_| reach)
    }

    /// The same with a reach that is looked for only where the pair may come within `most` in m, which is no less.
    fn update_clearance_with(
        &mut self,
        motion: Trajectories<'_>,
        most: f64,
        reach: impl FnOnce(&Self) -> f64,
    ) -> bool {
        let starts = self.vertices.map(|vertex| motion.starts[vertex as usize]);
        let ends = self.vertices.map(|vertex| motion.ends[vertex as usize]);
        let between_middles =
            self.separation_along_axis(&self.scaled_centroid_offset(&starts), [&starts, &ends]);
        if between_middles > most {
            return false;
        }
        let reach = reach(self);
        if between_middles > reach {
            return false;
        }
        let start = self.closest_points(&starts);
        self.start_distance = start.distance;
        let way = self.max_relative_displacement(&starts, &ends) * DISTANCE_ROUNDING;
        if self.start_distance - way > reach
            || self.separation_along_axis(&start.offset, [&starts, &ends]) > reach
        {
            return false;
        }
        let end = self.closest_points(&ends);
        // The distance changes no faster than both move relative to each other.
        let least = 0.5 * (self.start_distance + end.distance - way);
        self.clearance = least.max(self.separation_along_axis(&end.offset, [&starts, &ends]));
        self.clearance <= reach
    }

    /// Whether the pair comes closer than `gap` in m on its way, or than what can be told from where it was when the step
    /// began, if that is less.
    pub(crate) fn ccd_comes_within(&self, motion: Trajectories<'_>, gap: f64) -> bool {
        let size = [motion.starts, motion.ends].map(|all| {
            let [first, others @ ..] = self.vertices.map(|vertex| all[vertex as usize]);
            others.iter().fold(0.0, |most: f64, point| most.max((point - first).amax()))
        });
        let told = self.start_distance - CCD_RESOLUTION * size[0].max(size[1]);
        self.ccd(&self.trajectories(motion), gap.min(told).max(0.0)).is_some()
    }

    /// How the pair touches at the end of its way, if it is within `bounds` or has crossed.
    pub(crate) fn linearised_contact(
        &self,
        surfaces: &CollisionMesh,
        motion: Trajectories<'_>,
        bounds: DetectionBounds,
    ) -> Option<LinearisedContact> {
        let starts = self.vertices.map(|vertex| motion.starts[vertex as usize]);
        let ends = self.vertices.map(|vertex| motion.ends[vertex as usize]);
        let closest = self.closest_points(&ends);
        let touching = self.coincidence_distance(motion);
        if self.start_distance <= touching {
            return self.contact_from_coincident_start(
                (surfaces, motion.starts),
                &ends,
                &closest,
                bounds.detection_distance,
            );
        }
        let way = self.max_relative_displacement(&starts, &ends) * DISTANCE_ROUNDING;
        if self.start_distance + closest.distance <= way
            && let Some(meeting) = self.ccd(&self.trajectories(motion), 0.0)
            && meeting.time < 1.0
        {
            return Some(self.penetrated_contact(&ends, &closest, &meeting));
        }
        if closest.distance >= bounds.detection_distance || closest.distance <= touching {
            return None;
        }
        let upright =
            self.direction_in_normal_cone(surfaces, motion.ends, &closest, bounds.max_normal_tilt)?;
        let normal = upright.try_normalize(f64::MIN_POSITIVE)?;
        let gap = closest.offset.dot(&normal);
        Some(LinearisedContact { weights: closest.weights, normal, gap, has_penetrated: false })
    }

    /// Where a pair touched when the step began, the gap at its end in m; `None` for all others.
    pub(crate) fn gap_from_coincident_start(
        &self,
        surfaces: &CollisionMesh,
        motion: Trajectories<'_>,
    ) -> Option<f64> {
        let ends = self.vertices.map(|vertex| motion.ends[vertex as usize]);
        self.is_coincident_at_start(motion).then(|| {
            let closest = self.closest_points(&ends);
            self.contact_from_coincident_start(
                (surfaces, motion.starts),
                &ends,
                &closest,
                f64::INFINITY,
            )
            .map_or(0.0, |touch| touch.gap)
        })
    }

    /// Whether the pair touched when the step began: no way tells its side then.
    pub(crate) fn is_coincident_at_start(&self, motion: Trajectories<'_>) -> bool {
        self.start_distance <= self.coincidence_distance(motion)
    }

    /// The distance at which the pair touches, in m.
    fn coincidence_distance(&self, motion: Trajectories<'_>) -> f64 {
        let [starts, ends] = [motion.starts, motion.ends]
            .map(|all| largest_coordinate(&self.vertices.map(|vertex| all[vertex as usize])));
        COINCIDENCE_TOLERANCE * starts.max(ends)
    }

    fn trajectories(&self, motion: Trajectories<'_>) -> [Trajectory; 4] {
        self.vertices.map(|vertex| Trajectory {
            start: motion.starts[vertex as usize],
            end: motion.ends[vertex as usize],
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
                let is_inside = 0.0 < s && s < 1.0 && 0.0 < t && t < 1.0;
                ClosestPoints {
                    weights: edge_edge_weights([s, t]),
                    offset: found.offset,
                    distance: found.distance_squared.sqrt(),
                    feature: if is_inside {
                        TriangleFeature::Face
                    } else {
                        TriangleFeature::Vertex(0)
                    },
                }
            }
        }
    }

    /// From the middle of the second feature to that of the first, of any length.
    fn scaled_centroid_offset(&self, points: &[Vec3; 4]) -> Vec3 {
        let [a, b, c, d] = points;
        match self.kind {
            PairKind::VertexFace => a * 3.0 - (b + c + d),
            PairKind::EdgeEdge => (a + b) - (c + d),
        }
    }

    /// How far the first feature is from the second along an axis, at the nearer of several times, in m; on straight ways
    /// between such times they are never nearer. Negative where the axis does not separate them.
    fn separation_along_axis(&self, axis: &Vec3, times: [&[Vec3; 4]; 2]) -> f64 {
        let along = times.map(|points| {
            // Differences first, so that nothing is lost far from the origin.
            let along = [1, 2, 3].map(|k| (points[0] - points[k]).dot(axis));
            match self.kind {
                PairKind::VertexFace => along[0].min(along[1]).min(along[2]),
                PairKind::EdgeEdge => along[1].min(along[2]) - along[0].max(0.0),
            }
        });
        let length = axis.norm() * DISTANCE_ROUNDING;
        if length > 0.0 { along[0].min(along[1]) / length } else { 0.0 }
    }

    /// No point of the first feature moves farther relative to any of the second, in m.
    fn max_relative_displacement(&self, starts: &[Vec3; 4], ends: &[Vec3; 4]) -> f64 {
        let ways: [Vec3; 4] = std::array::from_fn(|k| ends[k] - starts[k]);
        let firsts = if self.kind == PairKind::VertexFace { 1 } else { 2 };
        let (first, second) = ways.split_at(firsts);
        let squares = first.iter().flat_map(|a| second.iter().map(move |b| (a - b).norm_squared()));
        squares.fold(0.0, f64::max).sqrt()
    }

    /// Where the pair comes closer than a gap.
    fn ccd(&self, paths: &[Trajectory; 4], gap: f64) -> Option<CcdHit<4>> {
        let [a, b, c, d] = *paths;
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

    /// The normal of the triangle, or across both edges, of any length.
    fn unscaled_normal(&self, points: &[Vec3; 4]) -> Vec3 {
        let [a, b, c, d] = points;
        match self.kind {
            PairKind::VertexFace => (c - b).cross(&(d - b)),
            PairKind::EdgeEdge => (b - a).cross(&(d - c)),
        }
    }

    /// A pair that has crossed: a vertex above or below the triangle goes back through it, any other pair the way that
    /// it met.
    fn penetrated_contact(
        &self,
        ends: &[Vec3; 4],
        closest: &ClosestPoints,
        meeting: &CcdHit<4>,
    ) -> LinearisedContact {
        let across = self.unscaled_normal(ends).try_normalize(f64::MIN_POSITIVE);
        let is_inside =
            self.kind == PairKind::VertexFace && closest.feature == TriangleFeature::Face;
        let (normal, weights) = match across {
            Some(normal) if is_inside => {
                let side = if normal.dot(&meeting.direction) < 0.0 { -1.0 } else { 1.0 };
                (normal * side, closest.weights)
            }
            _ => (meeting.direction, meeting.weights),
        };
        LinearisedContact {
            weights,
            normal,
            gap: linearised_gap(ends, &weights, &normal),
            has_penetrated: true,
        }
    }

    /// A pair that touched when the step began, where no way tells the side.
    fn contact_from_coincident_start(
        &self,
        (surfaces, starts): (&CollisionMesh, &[Vec3]),
        ends: &[Vec3; 4],
        closest: &ClosestPoints,
        reach: f64,
    ) -> Option<LinearisedContact> {
        // Of two edges the normal may look either way, whatever the surfaces do.
        if self.kind == PairKind::EdgeEdge || closest.feature != TriangleFeature::Face {
            return None;
        }
        let normal = self.unscaled_normal(ends).try_normalize(f64::MIN_POSITIVE)?;
        let normal = normal * self.side_from_coincident_start(surfaces, starts);
        let gap = linearised_gap(ends, &closest.weights, &normal);
        (gap < reach).then_some(LinearisedContact {
            weights: closest.weights,
            normal,
            gap,
            has_penetrated: false,
        })
    }

    /// The side of its triangle that a vertex which touched it when the step began belongs on: of a solid where its cloth
    /// does, of another collider where that faces, of cloth where it is itself, if that can be told, or where the vertices around it are. Where these touch as
    /// well, where the triangle faces, if that is of the sheet that comes first.
    fn side_from_coincident_start(&self, surfaces: &CollisionMesh, starts: &[Vec3]) -> f64 {
        let [first, second] = self.representative_vertices();
        if !surfaces.is_cloth(second) {
            let [own, other] = [first, second].map(|vertex| surfaces.bodies[vertex as usize]);
            return surfaces.required_side_of_solid(own, other).unwrap_or(1.0);
        }
        let points = self.vertices.map(|vertex| starts[vertex as usize]);
        if let Some(normal) = self.unscaled_normal(&points).try_normalize(f64::MIN_POSITIVE) {
            let closest = self.closest_points(&points);
            let own = closest.offset.dot(&normal);
            if closest.feature == TriangleFeature::Face
                && own.abs() > HEIGHT_ROUNDING * largest_coordinate(&points)
            {
                return own.signum();
            }
            let around = edge_directions_at_vertex(surfaces, starts, first);
            let height: f64 = around.map(|beside| beside.dot(&normal)).sum();
            if height.abs() > COINCIDENCE_TOLERANCE * largest_coordinate(&points) {
                return height.signum();
            }
        }
        if first > second { 1.0 } else { -1.0 }
    }

    /// The shortest way between the features, if nothing else of both surfaces around is nearer: only then does it
    /// separate the surfaces. Of features that several triangles share, the first one stands for all. Where it leans over
    /// a neighbouring face, but by no more than an angle whose sine is `leaning`, it is made upright.
    fn direction_in_normal_cone(
        &self,
        surfaces: &CollisionMesh,
        points: &[Vec3],
        closest: &ClosestPoints,
        leaning: f64,
    ) -> Option<Vec3> {
        let offset = closest.offset;
        if self.stiffening_count > 0 {
            return Some(offset);
        }
        match (self.kind, closest.feature) {
            (PairKind::VertexFace, TriangleFeature::Face) => Some(offset),
            (PairKind::VertexFace, TriangleFeature::Edge(corner)) => {
                let triangle = self.features[1];
                let edge = surfaces.triangle_edges[triangle as usize][usize::from(corner)];
                let is_first = surfaces.edge_adjacency[edge as usize].first_triangle == triangle;
                let beside = directions_into_adjacent_triangles(surfaces, points, edge);
                is_first.then(|| projected_into_normal_cone(offset, beside, leaning)).flatten()
            }
            (PairKind::VertexFace, TriangleFeature::Vertex(corner)) => {
                let triangle = self.features[1];
                let vertex = surfaces.triangles[triangle as usize][usize::from(corner)];
                let mut around = surfaces.vertex_triangles.elements_of(vertex as usize);
                let is_first = around.next().is_some_and(|(first, _)| first == triangle);
                let beside = edge_directions_at_vertex(surfaces, points, vertex);
                is_first.then(|| projected_into_normal_cone(offset, beside, leaning)).flatten()
            }
            (PairKind::EdgeEdge, TriangleFeature::Face) => {
                let [first, second] = self.features;
                let back = projected_into_normal_cone(
                    -offset,
                    directions_into_adjacent_triangles(surfaces, points, first),
                    leaning,
                )?;
                projected_into_normal_cone(
                    -back,
                    directions_into_adjacent_triangles(surfaces, points, second),
                    leaning,
                )
            }
            (PairKind::EdgeEdge, _) => None,
        }
    }
}

/// The largest coordinate, in m.
fn largest_coordinate(points: &[Vec3; 4]) -> f64 {
    points.iter().fold(0.0, |most, point| most.max(point.amax()))
}

/// Weights of a vertex and a point on a triangle.
fn vertex_face_weights([u, v, w]: [f64; 3]) -> [f64; 4] {
    [1.0, -u, -v, -w]
}

/// Weights of points so far along two edges.
fn edge_edge_weights([s, t]: [f64; 2]) -> [f64; 4] {
    [1.0 - s, s, t - 1.0, -t]
}

/// Directions from an edge into its triangles, across it.
fn directions_into_adjacent_triangles(
    surfaces: &CollisionMesh,
    points: &[Vec3],
    edge: u32,
) -> impl Iterator<Item = Vec3> {
    let [start, end] = surfaces.edges[edge as usize].map(|vertex| points[vertex as usize]);
    let along = end - start;
    let corners = surfaces.edge_adjacency[edge as usize]
        .opposite_vertices
        .into_iter()
        .filter(|corner| *corner != NO_INDEX);
    corners.map(move |corner| {
        let side = points[corner as usize] - start;
        side * along.norm_squared() - along * side.dot(&along)
    })
}

/// Directions from a vertex along the edges there.
fn edge_directions_at_vertex(
    surfaces: &CollisionMesh,
    points: &[Vec3],
    vertex: u32,
) -> impl Iterator<Item = Vec3> {
    let around = surfaces.vertex_triangles.elements_of(vertex as usize);
    let corners = around.flat_map(|(triangle, _)| surfaces.triangles[triangle as usize]);
    corners.map(move |other| points[other as usize] - points[vertex as usize])
}

/// A way without its part towards any neighbour, unless it leans towards one by more than an angle of this sine.
fn projected_into_normal_cone(
    way: Vec3,
    beside: impl Iterator<Item = Vec3>,
    leaning: f64,
) -> Option<Vec3> {
    let mut upright = way;
    for neighbour in beside {
        let lean = way.dot(&neighbour);
        if lean > leaning * way.norm() * neighbour.norm() {
            return None;
        }
        if lean > 0.0 {
            upright -= neighbour * (upright.dot(&neighbour).max(0.0) / neighbour.norm_squared());
        }
    }
    Some(upright)
}

/// The way along a normal between the points that weights name.
fn linearised_gap(points: &[Vec3; 4], weights: &[f64; 4], normal: &Vec3) -> f64 {
    let between: Vec3 = points.iter().zip(weights).map(|(point, weight)| point * *weight).sum();
    between.dot(normal)
}
