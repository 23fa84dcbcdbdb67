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
        Feature, Impact, Path, closest_on_segments, closest_on_triangle, edge_edge_impact,
        point_triangle_impact,
    },
    mesh::NONE,
    surface::Surfaces,
};

/// What meets what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A vertex and a triangle.
    VertexFace,
    /// Two edges.
    EdgeEdge,
}

/// Where all vertices are when a step begins and where they have come to, in m.
#[derive(Clone, Copy)]
pub(crate) struct Motion<'a> {
    pub(crate) starts: &'a [Vec3],
    pub(crate) ends: &'a [Vec3],
}

/// Two features that may meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair {
    pub(crate) kind: Kind,
    /// Vertex and triangle, or two edges.
    pub(crate) features: [u32; 2],
    /// The vertex and the triangle's corners, or the ends of both edges.
    pub(crate) vertices: [u32; 4],
    /// The distance that both sides keep, in m; 0 before it has been found.
    pub(crate) thickness: f64,
    /// Distance when the step began, in m.
    pub(crate) start: f64,
    /// No greater than the distance at any time of the way on which it was measured, in m.
    pub(crate) clearance: f64,
    /// How often the contact has been made stiffer in this step.
    pub(crate) rescues: u8,
}

/// How a pair touches, linearised: the gap is normal · Σ weight · position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Touch {
    /// Positive on the first feature, negative on the second; each side sums to one.
    pub(crate) weights: [f64; 4],
    /// From the second feature towards the first.
    pub(crate) normal: Vec3,
    /// In m; negative where the pair has crossed.
    pub(crate) gap: f64,
    /// Whether the pair has crossed on its way.
    pub(crate) is_crossed: bool,
}

/// What a pair has to keep to, so that it touches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Distance, in m.
    pub(crate) reach: f64,
    /// Sine of the angle by which its direction may lean over a neighbouring face.
    pub(crate) leaning: f64,
}

/// The closest points of a pair.
struct Closest {
    weights: [f64; 4],
    /// From the second feature to the first, in m.
    offset: Vec3,
    distance: f64,
    /// Of the triangle, for a vertex; of edges the face stands for their insides.
    feature: Feature,
}

/// Room for rounding in comparisons of distances with ways.
const CAUTION: f64 = 1.0 + 1.0e-9;
/// Things as close as this part of their coordinates touch: no direction can be told from the offset.
const TOUCHING: f64 = 4.0e-12;
/// Heights over a face of more than this part of their coordinates are known by their sign.
const ROUNDING: f64 = 1.0e-14;
/// Continuous detection tells distances apart that differ by this part of the size of a pair: 2⁻⁴⁰ of the largest difference
/// of its points (see `time_of_impact`), which are no farther than once that size from the first of them.
const TOLD_APART: f64 = 2.0e-12;

impl Pair {
    /// The area of cloth that a contact stands for, in m².
    pub(crate) fn area(&self, surfaces: &Surfaces, weights: &[f64; 4]) -> f64 {
        let mut sides = [0.0; 2];
        for (vertex, weight) in self.vertices.iter().zip(weights) {
            if let Some(area) = surfaces.areas.get(*vertex as usize) {
                sides[usize::from(*weight < 0.0)] += weight.abs() * area;
            }
        }
        let area = sides.into_iter().filter(|area| *area > 0.0).fold(f64::INFINITY, f64::min);
        if area.is_finite() { area } else { 0.0 }
    }

    pub(crate) fn vertex_face(surfaces: &Surfaces, vertex: u32, triangle: u32) -> Self {
        let [a, b, c] = surfaces.triangles[triangle as usize];
        Self::new(Kind::VertexFace, [vertex, triangle], [vertex, a, b, c])
    }

    pub(crate) fn edge_edge(surfaces: &Surfaces, first: u32, second: u32) -> Self {
        let [a, b] = surfaces.edges[first as usize];
        let [c, d] = surfaces.edges[second as usize];
        Self::new(Kind::EdgeEdge, [first, second], [a, b, c, d])
    }

    pub(crate) fn new(kind: Kind, features: [u32; 2], vertices: [u32; 4]) -> Self {
        Self { kind, features, vertices, thickness: 0.0, start: 0.0, clearance: 0.0, rescues: 0 }
    }

    /// Its name among all pairs.
    pub(crate) fn key(&self) -> (Kind, [u32; 2]) {
        (self.kind, self.features)
    }

    /// A vertex of the first feature and one of the second.
    pub(crate) fn ends(&self) -> [u32; 2] {
        match self.kind {
            Kind::VertexFace => [self.vertices[0], self.vertices[1]],
            Kind::EdgeEdge => [self.vertices[0], self.vertices[2]],
        }
    }

    /// The vertices of both features.
    pub(crate) fn sides(&self) -> (&[u32], &[u32]) {
        self.vertices.split_at(if self.kind == Kind::VertexFace { 1 } else { 2 })
    }

    /// What the features are: 0 for a vertex, 1 for an edge, 2 for a triangle.
    pub(crate) fn feature_kinds(&self) -> [usize; 2] {
        if self.kind == Kind::VertexFace { [0, 2] } else { [1, 1] }
    }

    /// Weights of the closest points with all vertices at `positions`.
    pub(crate) fn weights(&self, positions: &[Vec3]) -> [f64; 4] {
        self.closest(&self.vertices.map(|vertex| positions[vertex as usize])).weights
    }

    /// Measures the distance at the start, and says whether the pair may come within `reach` in m on its way.
    pub(crate) fn measure(&mut self, motion: Motion<'_>, reach: f64) -> bool {
        self.measure_by(motion, reach, |_| reach)
    }

    /// The same with a reach that is looked for only where the pair may come within `most` in m, which is no less.
    fn measure_by(
        &mut self,
        motion: Motion<'_>,
        most: f64,
        reach: impl FnOnce(&Self) -> f64,
    ) -> bool {
        let starts = self.vertices.map(|vertex| motion.starts[vertex as usize]);
        let ends = self.vertices.map(|vertex| motion.ends[vertex as usize]);
        let between_middles = self.separation(&self.between_middles(&starts), [&starts, &ends]);
        if between_middles > most {
            return false;
        }
        let reach = reach(self);
        if between_middles > reach {
            return false;
        }
        let start = self.closest(&starts);
        self.start = start.distance;
        let way = self.relative_way(&starts, &ends) * CAUTION;
        if self.start - way > reach || self.separation(&start.offset, [&starts, &ends]) > reach {
            return false;
        }
        let end = self.closest(&ends);
        // The distance changes no faster than both move relative to each other.
        let least = 0.5 * (self.start + end.distance - way);
        self.clearance = least.max(self.separation(&end.offset, [&starts, &ends]));
        self.clearance <= reach
    }

    /// Whether the pair comes closer than `gap` in m on its way, or than what can be told from where it was when the step
    /// began, if that is less.
    pub(crate) fn comes_within(&self, motion: Motion<'_>, gap: f64) -> bool {
        let size = [motion.starts, motion.ends].map(|all| {
            let [first, others @ ..] = self.vertices.map(|vertex| all[vertex as usize]);
            others.iter().fold(0.0, |most: f64, point| most.max((point - first).amax()))
        });
        let told = self.start - TOLD_APART * size[0].max(size[1]);
        self.impact(&self.paths(motion), gap.min(told).max(0.0)).is_some()
    }

    /// How the pair touches at the end of its way, if it is within `bounds` or has crossed.
    pub(crate) fn touch(
        &self,
        surfaces: &Surfaces,
        motion: Motion<'_>,
        bounds: Bounds,
    ) -> Option<Touch> {
        let starts = self.vertices.map(|vertex| motion.starts[vertex as usize]);
        let ends = self.vertices.map(|vertex| motion.ends[vertex as usize]);
        let closest = self.closest(&ends);
        let touching = self.touching(motion);
        if self.start <= touching {
            return self.touch_from_start((surfaces, motion.starts), &ends, &closest, bounds.reach);
        }
        let way = self.relative_way(&starts, &ends) * CAUTION;
        if self.start + closest.distance <= way
            && let Some(meeting) = self.impact(&self.paths(motion), 0.0)
            && meeting.time < 1.0
        {
            return Some(self.crossed(&ends, &closest, &meeting));
        }
        if closest.distance >= bounds.reach || closest.distance <= touching {
            return None;
        }
        let upright = self.upright(surfaces, motion.ends, &closest, bounds.leaning)?;
        let normal = upright.try_normalize(f64::MIN_POSITIVE)?;
        let gap = closest.offset.dot(&normal);
        Some(Touch { weights: closest.weights, normal, gap, is_crossed: false })
    }

    /// Where a pair touched when the step began, the gap at its end in m; `None` for all others.
    pub(crate) fn gap_from_touch(&self, surfaces: &Surfaces, motion: Motion<'_>) -> Option<f64> {
        let ends = self.vertices.map(|vertex| motion.ends[vertex as usize]);
        self.is_undecided(motion).then(|| {
            let closest = self.closest(&ends);
            self.touch_from_start((surfaces, motion.starts), &ends, &closest, f64::INFINITY)
                .map_or(0.0, |touch| touch.gap)
        })
    }

    /// Whether the pair touched when the step began: no way tells its side then.
    pub(crate) fn is_undecided(&self, motion: Motion<'_>) -> bool {
        self.start <= self.touching(motion)
    }

    /// The distance at which the pair touches, in m.
    fn touching(&self, motion: Motion<'_>) -> f64 {
        let [starts, ends] = [motion.starts, motion.ends]
            .map(|all| extent(&self.vertices.map(|vertex| all[vertex as usize])));
        TOUCHING * starts.max(ends)
    }

    fn paths(&self, motion: Motion<'_>) -> [Path; 4] {
        self.vertices.map(|vertex| Path {
            start: motion.starts[vertex as usize],
            end: motion.ends[vertex as usize],
        })
    }

    fn closest(&self, points: &[Vec3; 4]) -> Closest {
        let [a, b, c, d] = *points;
        match self.kind {
            Kind::VertexFace => {
                let found = closest_on_triangle(&a, &[b, c, d]);
                Closest {
                    weights: of_point(found.weights),
                    offset: found.offset,
                    distance: found.distance_squared.sqrt(),
                    feature: found.feature,
                }
            }
            Kind::EdgeEdge => {
                let found = closest_on_segments(&[a, b], &[c, d]);
                let [s, t] = found.parameters;
                let is_inside = 0.0 < s && s < 1.0 && 0.0 < t && t < 1.0;
                Closest {
                    weights: of_edges([s, t]),
                    offset: found.offset,
                    distance: found.distance_squared.sqrt(),
                    feature: if is_inside { Feature::Face } else { Feature::Vertex(0) },
                }
            }
        }
    }

    /// From the middle of the second feature to that of the first, of any length.
    fn between_middles(&self, points: &[Vec3; 4]) -> Vec3 {
        let [a, b, c, d] = points;
        match self.kind {
            Kind::VertexFace => a * 3.0 - (b + c + d),
            Kind::EdgeEdge => (a + b) - (c + d),
        }
    }

    /// How far the first feature is from the second along an axis, at the nearer of several times, in m; on straight ways
    /// between such times they are never nearer. Negative where the axis does not separate them.
    fn separation(&self, axis: &Vec3, times: [&[Vec3; 4]; 2]) -> f64 {
        let along = times.map(|points| {
            // Differences first, so that nothing is lost far from the origin.
            let along = [1, 2, 3].map(|k| (points[0] - points[k]).dot(axis));
            match self.kind {
                Kind::VertexFace => along[0].min(along[1]).min(along[2]),
                Kind::EdgeEdge => along[1].min(along[2]) - along[0].max(0.0),
            }
        });
        let length = axis.norm() * CAUTION;
        if length > 0.0 { along[0].min(along[1]) / length } else { 0.0 }
    }

    /// No point of the first feature moves farther relative to any of the second, in m.
    fn relative_way(&self, starts: &[Vec3; 4], ends: &[Vec3; 4]) -> f64 {
        let ways: [Vec3; 4] = std::array::from_fn(|k| ends[k] - starts[k]);
        let firsts = if self.kind == Kind::VertexFace { 1 } else { 2 };
        let (first, second) = ways.split_at(firsts);
        let squares = first.iter().flat_map(|a| second.iter().map(move |b| (a - b).norm_squared()));
        squares.fold(0.0, f64::max).sqrt()
    }

    /// Where the pair comes closer than a gap.
    fn impact(&self, paths: &[Path; 4], gap: f64) -> Option<Impact<4>> {
        let [a, b, c, d] = *paths;
        match self.kind {
            Kind::VertexFace => point_triangle_impact(&a, &[b, c, d], gap).map(
                |Impact { time, weights, direction }| Impact {
                    time,
                    weights: of_point(weights),
                    direction,
                },
            ),
            Kind::EdgeEdge => edge_edge_impact(&[a, b], &[c, d], gap).map(
                |Impact { time, weights, direction }| Impact {
                    time,
                    weights: of_edges(weights),
                    direction,
                },
            ),
        }
    }

    /// The normal of the triangle, or across both edges, of any length.
    fn across(&self, points: &[Vec3; 4]) -> Vec3 {
        let [a, b, c, d] = points;
        match self.kind {
            Kind::VertexFace => (c - b).cross(&(d - b)),
            Kind::EdgeEdge => (b - a).cross(&(d - c)),
        }
    }

    /// A pair that has crossed: a vertex above or below the triangle goes back through it, any other pair the way that
    /// it met.
    fn crossed(&self, ends: &[Vec3; 4], closest: &Closest, meeting: &Impact<4>) -> Touch {
        let across = self.across(ends).try_normalize(f64::MIN_POSITIVE);
        let is_inside = self.kind == Kind::VertexFace && closest.feature == Feature::Face;
        let (normal, weights) = match across {
            Some(normal) if is_inside => {
                let side = if normal.dot(&meeting.direction) < 0.0 { -1.0 } else { 1.0 };
                (normal * side, closest.weights)
            }
            _ => (meeting.direction, meeting.weights),
        };
        Touch { weights, normal, gap: gap(ends, &weights, &normal), is_crossed: true }
    }

    /// A pair that touched when the step began, where no way tells the side.
    fn touch_from_start(
        &self,
        (surfaces, starts): (&Surfaces, &[Vec3]),
        ends: &[Vec3; 4],
        closest: &Closest,
        reach: f64,
    ) -> Option<Touch> {
        // Of two edges the normal may look either way, whatever the surfaces do.
        if self.kind == Kind::EdgeEdge || closest.feature != Feature::Face {
            return None;
        }
        let normal = self.across(ends).try_normalize(f64::MIN_POSITIVE)?;
        let normal = normal * self.side_from_start(surfaces, starts);
        let gap = gap(ends, &closest.weights, &normal);
        (gap < reach).then_some(Touch { weights: closest.weights, normal, gap, is_crossed: false })
    }

    /// The side of its triangle that a vertex which touched it when the step began belongs on: of a solid where its cloth
    /// does, of another collider where that faces, of cloth where it is itself, if that can be told, or where the vertices around it are. Where these touch as
    /// well, where the triangle faces, if that is of the sheet that comes first.
    fn side_from_start(&self, surfaces: &Surfaces, starts: &[Vec3]) -> f64 {
        let [first, second] = self.ends();
        if !surfaces.is_cloth(second) {
            let [own, other] = [first, second].map(|vertex| surfaces.bodies[vertex as usize]);
            return surfaces.side_of_solid(own, other).unwrap_or(1.0);
        }
        let points = self.vertices.map(|vertex| starts[vertex as usize]);
        if let Some(normal) = self.across(&points).try_normalize(f64::MIN_POSITIVE) {
            let closest = self.closest(&points);
            let own = closest.offset.dot(&normal);
            if closest.feature == Feature::Face && own.abs() > ROUNDING * extent(&points) {
                return own.signum();
            }
            let around = beside_vertex(surfaces, starts, first);
            let height: f64 = around.map(|beside| beside.dot(&normal)).sum();
            if height.abs() > TOUCHING * extent(&points) {
                return height.signum();
            }
        }
        if first > second { 1.0 } else { -1.0 }
    }

    /// The shortest way between the features, if nothing else of both surfaces around is nearer: only then does it
    /// separate the surfaces. Of features that several triangles share, the first one stands for all. Where it leans over
    /// a neighbouring face, but by no more than an angle whose sine is `leaning`, it is made upright.
    fn upright(
        &self,
        surfaces: &Surfaces,
        points: &[Vec3],
        closest: &Closest,
        leaning: f64,
    ) -> Option<Vec3> {
        let offset = closest.offset;
        if self.rescues > 0 {
            return Some(offset);
        }
        match (self.kind, closest.feature) {
            (Kind::VertexFace, Feature::Face) => Some(offset),
            (Kind::VertexFace, Feature::Edge(corner)) => {
                let triangle = self.features[1];
                let edge = surfaces.sides[triangle as usize][usize::from(corner)];
                let is_first = surfaces.wings[edge as usize].owner == triangle;
                let beside = beside_edge(surfaces, points, edge);
                is_first.then(|| stood_up(offset, beside, leaning)).flatten()
            }
            (Kind::VertexFace, Feature::Vertex(corner)) => {
                let triangle = self.features[1];
                let vertex = surfaces.triangles[triangle as usize][usize::from(corner)];
                let mut around = surfaces.around.around(vertex as usize);
                let is_first = around.next().is_some_and(|(first, _)| first == triangle);
                let beside = beside_vertex(surfaces, points, vertex);
                is_first.then(|| stood_up(offset, beside, leaning)).flatten()
            }
            (Kind::EdgeEdge, Feature::Face) => {
                let [first, second] = self.features;
                let back = stood_up(-offset, beside_edge(surfaces, points, first), leaning)?;
                stood_up(-back, beside_edge(surfaces, points, second), leaning)
            }
            (Kind::EdgeEdge, _) => None,
        }
    }
}

/// The largest coordinate, in m.
fn extent(points: &[Vec3; 4]) -> f64 {
    points.iter().fold(0.0, |most, point| most.max(point.amax()))
}

/// Weights of a vertex and a point on a triangle.
fn of_point([u, v, w]: [f64; 3]) -> [f64; 4] {
    [1.0, -u, -v, -w]
}

/// Weights of points so far along two edges.
fn of_edges([s, t]: [f64; 2]) -> [f64; 4] {
    [1.0 - s, s, t - 1.0, -t]
}

/// Directions from an edge into its triangles, across it.
fn beside_edge(surfaces: &Surfaces, points: &[Vec3], edge: u32) -> impl Iterator<Item = Vec3> {
    let [start, end] = surfaces.edges[edge as usize].map(|vertex| points[vertex as usize]);
    let along = end - start;
    let corners =
        surfaces.wings[edge as usize].corners.into_iter().filter(|corner| *corner != NONE);
    corners.map(move |corner| {
        let side = points[corner as usize] - start;
        side * along.norm_squared() - along * side.dot(&along)
    })
}

/// Directions from a vertex along the edges there.
fn beside_vertex(surfaces: &Surfaces, points: &[Vec3], vertex: u32) -> impl Iterator<Item = Vec3> {
    let around = surfaces.around.around(vertex as usize);
    let corners = around.flat_map(|(triangle, _)| surfaces.triangles[triangle as usize]);
    corners.map(move |other| points[other as usize] - points[vertex as usize])
}

/// A way without its part towards any neighbour, unless it leans towards one by more than an angle of this sine.
fn stood_up(way: Vec3, beside: impl Iterator<Item = Vec3>, leaning: f64) -> Option<Vec3> {
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
fn gap(points: &[Vec3; 4], weights: &[f64; 4], normal: &Vec3) -> f64 {
    let between: Vec3 = points.iter().zip(weights).map(|(point, weight)| point * *weight).sum();
    between.dot(normal)
}
