// SPDX-License-Identifier: MIT OR Apache-2.0
//! Surfaces that cross already when a step begins, and how they come apart.
//!
//! Where an edge goes through a triangle nobody can say from the two of them which end is on the wrong side. As in
//! global intersection analysis (Baraff, Witkin and Kass 2003), the cloth is cut along all edges that cross something. A
//! piece has gone through a closed collider if it is inside (or outside, see `insides`), through another cloth if it is not
//! on the side where it belongs (see `layers`), and through its own cloth if it is not the largest. Between what has gone
//! through and what it went through there is no contact and no promise. The ends of the edges in between are drawn back to
//! the side of the other ends, and all of a piece that has gone through another cloth is drawn back through it. Where the
//! cut does not divide the cloth, an edge that goes into a solid and out again is lifted over what it goes below, and
//! others go where the line of the crossings becomes shorter (see `contours`). Nor is there a promise between parts of
//! cloths that are both crossed many times: they are crushed. What draws edges moves them and leaves them no speed (see
//! `impulse`). Out of solids it is firm at once; between cloths it begins with little force, which grows while something
//! keeps crossing; and cloths that cross each other have no friction on each other, or where they lie in a heap it would
//! bear any of that. Small knots of a cloth with itself, which no line leads out of, are evened out (see `evening`).

#[cfg(test)]
mod tests;

use super::{
    connected_pieces::{connected_components, largest_components},
    containment::escaped_components,
    contour_minimization::contour_minimizing_directions,
    edge_intervals::EdgeIntervals,
    laplacian_smoothing::{self, SmoothedPatch},
    layer_order::LayerOrder,
    recovery_contact::{RecoveryContext, grown_compression, recovery_contact},
};
use crate::{
    Vec3,
    collision::{Contact, Intersection, PrimitivePair},
    geometry::{Aabb, AabbTree, TriangleFeature, closest_point_on_triangle},
    mesh::NO_INDEX,
    surface::CollisionMesh,
};
use std::collections::{BTreeMap, BTreeSet};

/// The least compression at which cloths that lie on each other are drawn apart at first.
const LIGHTLY: f64 = 0.01;
/// The same out of solids, which do not give way: what has gone into them is soon to be back.
const FIRMLY: f64 = 1.0;
/// The same for all others, and for what comes back as a whole: it takes its own weight, and many times that.
const GENTLY: f64 = 0.1;
/// Two features of cloths that are both beside more crossings than this are crushed, and let go: what crosses what cannot be
/// told, and to look through all of it for every pair would take for ever.
const CRUSHED: usize = 64;
/// Ways in m are no longer than this before they are made shorter: their squares are numbers.
const MAX_FINITE_DISPLACEMENT: f64 = 1.0e100;
/// Time in which a piece that has gone through another cloth comes back, in s.
const RETURN_TIME: f64 = 0.1;

/// How an edge goes where nothing tells which of its ends is on the wrong side.
#[derive(Clone, Copy, Debug)]
enum AmbiguousIntersectionRule {
    /// In the direction in which its contour becomes shorter, where that is known.
    ContourMinimization(Option<Vec3>),
    /// To where the cloth is even.
    LaplacianSmoothing,
}

/// All that cross when a step begins.
#[derive(Clone, Debug)]
pub(crate) struct IntersectionState {
    pub(crate) intersections: Vec<Intersection>,
    /// For every vertex of cloth the piece that it belongs to.
    components: Vec<u32>,
    /// For every piece the bodies it has gone through.
    penetrated_bodies: Vec<Vec<u32>>,
    layer_order: LayerOrder,
    edge_intervals: EdgeIntervals,
    adjacent_features: AdjacentFeatures,
    /// Pairs of different cloths that cross each other, each in order.
    intersecting_cloths: BTreeSet<[u32; 2]>,
}

/// Vertices, edges and triangles at crossings.
#[derive(Clone, Debug, Default)]
struct AdjacentFeatures {
    /// In order.
    entries: Vec<AdjacencyEntry>,
    is_adjacent: [Vec<bool>; 3],
}

/// Kind, feature, crossing, and whether it is beside its triangle rather than its edge.
type AdjacencyEntry = (usize, u32, u32, bool);

impl IntersectionState {
    /// `crossings` in order, with all vertices at `positions` in m.
    pub(crate) fn new(
        surfaces: &CollisionMesh,
        positions: &[Vec3],
        crossings: Vec<Intersection>,
    ) -> Self {
        let mut is_cut = vec![false; surfaces.cloth_edge_count];
        for crossing in &crossings {
            if let Some(is_cut) = is_cut.get_mut(crossing.edge as usize) {
                *is_cut = true;
            }
        }
        let pieces = connected_components(surfaces, |edge| !is_cut[edge]);
        let mut sizes = vec![0; pieces.len()];
        for piece in &pieces {
            sizes[*piece as usize] += 1;
        }
        let passages = EdgeIntervals::new(surfaces, positions, &crossings);
        let layers =
            LayerOrder::new(surfaces, positions, (&crossings, &passages), (&pieces, &sizes));
        let gone = vec![Vec::new(); pieces.len()];
        let crossed = intersecting_cloths(surfaces, &crossings);
        let near = AdjacentFeatures::default();
        let mut tangle = Self {
            intersections: crossings,
            components: pieces,
            penetrated_bodies: gone,
            layer_order: layers,
            edge_intervals: passages,
            adjacent_features: near,
            intersecting_cloths: crossed,
        };
        tangle.find_penetrated_bodies(surfaces, positions, &sizes);
        let is_home = |crossing: Intersection, end: u32| {
            let ends = tangle.wrong_and_right_ends(surfaces, crossing);
            ends.is_some_and(|[_, home]| home == end)
        };
        tangle.adjacent_features = AdjacentFeatures::new(surfaces, &tangle.intersections, is_home);
        tangle
    }

    /// Finds what has gone through what: a piece most of whose ends at a body are on the wrong side.
    fn find_penetrated_bodies(
        &mut self,
        surfaces: &CollisionMesh,
        positions: &[Vec3],
        sizes: &[usize],
    ) {
        let main = largest_components(surfaces, &self.components, sizes);
        let mut wrong: BTreeMap<(u32, u32), i32> = BTreeMap::new();
        for (index, crossing) in self.intersections.iter().enumerate() {
            let [cloth, body] = crossing.bodies(surfaces);
            let side = self.layer_order.side(surfaces, cloth, body);
            for end in self.edge_intervals.adjacent_ends(index) {
                let Some(piece) = self.components.get(end as usize) else { continue };
                let has_gone = match side {
                    Some(side) => {
                        side * surfaces.signed_height(crossing.triangle, positions, end) < 0.0
                    }
                    None => *piece != main[end as usize],
                };
                *wrong.entry((*piece, body)).or_default() += if has_gone { 1 } else { -1 };
            }
        }
        // Where nothing crosses that tells.
        for place in escaped_components(surfaces, positions, &self.components) {
            wrong.entry(place).or_insert(1);
        }
        for ((piece, body), _) in wrong.into_iter().filter(|(_, ends)| *ends > 0) {
            self.penetrated_bodies[piece as usize].push(body);
        }
    }

    /// Whether nothing crosses anything, and nothing has gone through anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.intersections.is_empty() && self.penetrated_bodies.iter().all(Vec::is_empty)
    }

    /// Whether a pair is without contact and promise.
    pub(crate) fn filters(&self, surfaces: &CollisionMesh, pair: &PrimitivePair) -> bool {
        let [first, second] =
            pair.representative_vertices().map(|vertex| surfaces.bodies[vertex as usize]);
        let (one, other) = pair.vertices_by_feature();
        self.has_penetrated(one, second)
            || self.has_penetrated(other, first)
            || self.adjacent_features.filters(surfaces, pair)
    }

    /// Whether two bodies are cloths that cross each other, and so slide on each other without friction.
    pub(crate) fn is_frictionless(&self, [one, other]: [u32; 2]) -> bool {
        self.intersecting_cloths.contains(&[one.min(other), one.max(other)])
    }

    /// The end of a crossing's edge that has gone through its triangle, and the one that has not, where that is known.
    fn wrong_and_right_ends(
        &self,
        surfaces: &CollisionMesh,
        crossing: Intersection,
    ) -> Option<[u32; 2]> {
        let [_, body] = crossing.bodies(surfaces);
        let [one, other] = surfaces.edges[crossing.edge as usize];
        match [one, other].map(|end| self.has_penetrated(&[end], body)) {
            [true, false] => Some([one, other]),
            [false, true] => Some([other, one]),
            _ => None,
        }
    }

    fn has_penetrated(&self, vertices: &[u32], body: u32) -> bool {
        vertices.iter().any(|vertex| {
            let piece = self.components.get(*vertex as usize);
            piece.is_some_and(|piece| self.penetrated_bodies[*piece as usize].contains(&body))
        })
    }

    /// The contacts that draw apart edges and triangles in a step of a `duration`, where some have crossed for a time
    /// already, both in s.
    pub(crate) fn recovery_contacts(
        &self,
        surfaces: &CollisionMesh,
        positions: &[Vec3],
        [duration, crossed_for]: [f64; 2],
    ) -> Vec<Contact> {
        let drawing =
            RecoveryContext { mesh: surfaces, positions, duration, intersection_time: crossed_for };
        let leads = self.ambiguous_intersection_rules(surfaces, positions, crossed_for);
        let knots = self.smoothed_intersections(&leads);
        let rings = laplacian_smoothing::vertex_rings(surfaces, knots.iter().copied(), crossed_for);
        let evened = SmoothedPatch::new(surfaces, positions, (&knots, &rings));
        let mut pulls = Vec::new();
        for (index, (crossing, lead)) in self.intersections.iter().zip(&leads).enumerate() {
            let least = self.initial_compression(surfaces, *crossing);
            for (vertex, way) in
                self.recovery_displacements((surfaces, positions), (index, *lead), &evened)
            {
                pulls.extend(drawing.edge_recovery_contact(*crossing, vertex, (way, least)));
            }
        }
        for (vertex, knot) in rings {
            let way = evened.relative_displacement(surfaces, positions, (vertex, knot.triangle));
            pulls.extend(drawing.edge_recovery_contact(knot, vertex, (way, GENTLY)));
        }
        pulls
    }

    /// The crossings whose cloth is to be even.
    fn smoothed_intersections(&self, leads: &[AmbiguousIntersectionRule]) -> Vec<Intersection> {
        let evened = self
            .intersections
            .iter()
            .zip(leads)
            .filter(|(_, lead)| matches!(lead, AmbiguousIntersectionRule::LaplacianSmoothing));
        evened.map(|(knot, _)| *knot).collect()
    }

    /// How the edges of crossings go where nothing tells which end is on the wrong side, after a time in s.
    fn ambiguous_intersection_rules(
        &self,
        surfaces: &CollisionMesh,
        positions: &[Vec3],
        crossed_for: f64,
    ) -> Vec<AmbiguousIntersectionRule> {
        let is_due = laplacian_smoothing::is_smoothing_phase(crossed_for);
        let directions = contour_minimizing_directions(surfaces, positions, &self.intersections);
        let lead = |(crossing, direction): (&Intersection, Option<Vec3>)| {
            let [cloth, body] = crossing.bodies(surfaces);
            if is_due && cloth == body {
                AmbiguousIntersectionRule::LaplacianSmoothing
            } else {
                AmbiguousIntersectionRule::ContourMinimization(direction)
            }
        };
        self.intersections.iter().zip(directions).map(lead).collect()
    }

    /// The least compression at which what crosses is drawn apart at first.
    fn initial_compression(&self, surfaces: &CollisionMesh, crossing: Intersection) -> f64 {
        let [cloth, body] = crossing.bodies(surfaces);
        if body as usize >= surfaces.cloth_count {
            return FIRMLY;
        }
        let lies_on_it = self.layer_order.side(surfaces, cloth, body).is_some();
        if lies_on_it { LIGHTLY } else { GENTLY }
    }

    /// The contacts that draw what has gone through another cloth, or out of a solid where it belongs, back to the nearest
    /// place, in a step of a `duration`, where some have crossed for a time already, both in s.
    pub(crate) fn layer_recovery_contacts(
        &self,
        surfaces: &CollisionMesh,
        positions: &[Vec3],
        [duration, crossed_for]: [f64; 2],
    ) -> Vec<Contact> {
        let mut returns = Vec::new();
        let cloths = 0..surfaces.cloth_count as u32;
        let insides = surfaces.enclosed_cloths.iter().map(|[_, body]| *body);
        let bodies: BTreeSet<u32> = cloths.chain(insides).collect();
        for body in bodies {
            let home = |vertex: u32| {
                let cloth = surfaces.bodies[vertex as usize];
                let is_let_out =
                    surfaces.is_solid(body) && !surfaces.enclosed_cloths.contains(&[cloth, body]);
                self.layer_order.side(surfaces, cloth, body).filter(|_| !is_let_out)
            };
            let gone: Vec<u32> = (0..surfaces.cloth_vertex_count as u32)
                .filter(|vertex| self.has_penetrated(&[*vertex], body) && home(*vertex).is_some())
                .collect();
            if gone.is_empty() {
                continue;
            }
            let sheet = BodyTriangles::new(surfaces, positions, body);
            for vertex in gone {
                let Some((triangle, offset)) = sheet.closest_triangle(surfaces, positions, vertex)
                else {
                    continue;
                };
                let side = home(vertex).unwrap_or(1.0);
                let distance = offset.norm();
                if side * surfaces.signed_height(triangle, positions, vertex) >= 0.0
                    || distance == 0.0
                {
                    continue;
                }
                let pair = PrimitivePair::vertex_face(surfaces, vertex, triangle);
                let way = (distance + combined_thickness(surfaces, vertex, triangle))
                    * (duration / RETURN_TIME).min(1.0);
                let compression = grown_compression(GENTLY, crossed_for);
                let drawn = (offset * (-way / distance), compression);
                returns.extend(recovery_contact(surfaces, positions, pair, drawn));
            }
        }
        returns
    }

    /// Which ends of an edge are drawn where, in m: as far as the crossing needs, and where it is led if nothing else tells.
    fn recovery_displacements(
        &self,
        (surfaces, positions): (&CollisionMesh, &[Vec3]),
        (index, lead): (usize, AmbiguousIntersectionRule),
        evened: &SmoothedPatch,
    ) -> Vec<(u32, Vec3)> {
        let crossing = self.intersections[index];
        let Intersection { edge, triangle } = crossing;
        let ends = surfaces.edges[edge as usize];
        let Some(normal) = surfaces.triangle_normal(triangle, positions) else { return Vec::new() };
        let [cloth, body] = crossing.bodies(surfaces);
        let height = |end: u32| surfaces.signed_height(triangle, positions, end);
        let through = |end: u32, side: f64| {
            let way = height(end).abs() + combined_thickness(surfaces, end, triangle);
            (end, normal * (side * way))
        };
        if (body as usize) < surfaces.cloth_count
            && let Some(side) = self.layer_order.side(surfaces, cloth, body)
        {
            let wrong = ends.into_iter().filter(|end| side * height(*end) < 0.0);
            // What has gone as a whole comes back as a whole.
            let alone = wrong.filter(|end| !self.has_penetrated(&[*end], body));
            return alone.map(|end| through(end, side)).collect();
        }
        if let Some([away, home]) = self.wrong_and_right_ends(surfaces, crossing) {
            return vec![through(away, height(home).signum())];
        }
        if let Some(lift) = self.lift_displacement(surfaces, positions, index) {
            return ends.map(|end| (end, lift)).to_vec();
        }
        let direction = match lead {
            AmbiguousIntersectionRule::ContourMinimization(Some(direction)) => direction,
            AmbiguousIntersectionRule::ContourMinimization(None) => return Vec::new(),
            AmbiguousIntersectionRule::LaplacianSmoothing => {
                let way =
                    |end: u32| evened.relative_displacement(surfaces, positions, (end, triangle));
                return ends.map(|end| (end, way(end))).to_vec();
            }
        };
        // By then the end that it leads through the triangle is through.
        let rising = direction.dot(&normal);
        let behind = ends.map(height).into_iter().find(|height| height * rising < 0.0);
        // A direction in the plane of the triangle leads neither through it: the length of the edge is as far as any goes.
        let [start, end] = ends.map(|end| positions[end as usize]);
        let way = behind.map_or((end - start).norm(), |height| {
            (height.abs() + combined_thickness(surfaces, ends[0], triangle)) / rising.abs()
        });
        ends.map(|end| (end, direction * way.min(MAX_FINITE_DISPLACEMENT))).to_vec()
    }

    /// The way in m by which an edge is lifted that goes into a solid and out again, below a ridge or a tip, with both
    /// ends where they belong.
    fn lift_displacement(
        &self,
        surfaces: &CollisionMesh,
        positions: &[Vec3],
        index: usize,
    ) -> Option<Vec3> {
        let crossing = self.intersections[index];
        let [cloth, body] = crossing.bodies(surfaces);
        let side = surfaces.required_side_of_solid(cloth, body)?;
        let depth = Some(self.edge_intervals.depth(index)).filter(|depth| *depth > 0.0)?;
        let height = |end| surfaces.signed_height(crossing.triangle, positions, end);
        let is_right =
            self.edge_intervals.adjacent_ends(index).all(|end| side * height(end) >= 0.0);
        let normal = surfaces.triangle_normal(crossing.triangle, positions).filter(|_| is_right)?;
        let [end, _] = surfaces.edges[crossing.edge as usize];
        Some(normal * (side * (depth + combined_thickness(surfaces, end, crossing.triangle))))
    }
}

/// Pairs of different cloths that cross each other, each in order.
fn intersecting_cloths(surfaces: &CollisionMesh, crossings: &[Intersection]) -> BTreeSet<[u32; 2]> {
    let bodies = crossings.iter().map(|crossing| crossing.bodies(surfaces));
    let pairs = bodies.map(|[one, other]| [one.min(other), one.max(other)]);
    pairs.filter(|[one, other]| one < other && (*other as usize) < surfaces.cloth_count).collect()
}

/// The thickness of a vertex and of a triangle, in m.
fn combined_thickness(surfaces: &CollisionMesh, vertex: u32, triangle: u32) -> f64 {
    let [corner, ..] = surfaces.triangles[triangle as usize];
    surfaces.surface_properties[vertex as usize].thickness
        + surfaces.surface_properties[corner as usize].thickness
}

/// The triangles of a body, to look for the nearest.
struct BodyTriangles {
    triangles: Vec<u32>,
    tree: AabbTree,
}

impl BodyTriangles {
    fn new(surfaces: &CollisionMesh, positions: &[Vec3], body: u32) -> Self {
        let all = 0..surfaces.triangles.len() as u32;
        let triangles: Vec<u32> =
            all.filter(|triangle| surfaces.body_of_triangle(*triangle) == body).collect();
        let around = |triangle: &u32| {
            let corners = surfaces.triangles[*triangle as usize];
            Aabb::from_points(corners.iter().map(|vertex| &positions[*vertex as usize]))
        };
        let boxes: Vec<Aabb> = triangles.iter().map(around).collect();
        Self { triangles, tree: AabbTree::new(&boxes) }
    }

    /// The nearest triangle, and the way from it to a vertex in m; `None` where that is at a border.
    fn closest_triangle(
        &self,
        surfaces: &CollisionMesh,
        positions: &[Vec3],
        vertex: u32,
    ) -> Option<(u32, Vec3)> {
        let point = positions[vertex as usize];
        let found = self.tree.nearest(&point, f64::INFINITY, |place| {
            let corners = surfaces.triangles[self.triangles[place] as usize];
            let closest = closest_point_on_triangle(
                &point,
                &corners.map(|vertex| positions[vertex as usize]),
            );
            (closest.distance_squared, closest)
        })?;
        let triangle = self.triangles[found.primitive];
        let is_border =
            |edge: u32| surfaces.edge_adjacency[edge as usize].opposite_vertices[1] == NO_INDEX;
        let sides = surfaces.triangle_edges[triangle as usize];
        let is_at_border = match found.payload.feature {
            TriangleFeature::Face => false,
            TriangleFeature::Edge(corner) => is_border(sides[usize::from(corner)]),
            TriangleFeature::Vertex(corner) => {
                (0..3).any(|k| k != usize::from(corner) && is_border(sides[k]))
            }
        };
        (!is_at_border).then_some((triangle, found.payload.offset))
    }
}

impl AdjacentFeatures {
    /// An end that `is_home` keeps its contact and promise with the triangle: without them it would go through as well while
    /// the other end is drawn back.
    fn new(
        surfaces: &CollisionMesh,
        crossings: &[Intersection],
        is_home: impl Fn(Intersection, u32) -> bool,
    ) -> Self {
        let counts =
            [surfaces.surface_properties.len(), surfaces.edges.len(), surfaces.triangles.len()];
        let mut near =
            Self { entries: Vec::new(), is_adjacent: counts.map(|count| vec![false; count]) };
        for (index, Intersection { edge, triangle }) in crossings.iter().enumerate() {
            let mut add = |kind: usize, feature: u32, is_beside_triangle: bool| {
                near.is_adjacent[kind][feature as usize] = true;
                near.entries.push((kind, feature, index as u32, is_beside_triangle));
            };
            add(1, *edge, false);
            add(2, *triangle, true);
            surfaces.triangle_edges[*triangle as usize]
                .into_iter()
                .for_each(|side| add(1, side, true));
            surfaces.triangles[*triangle as usize]
                .into_iter()
                .for_each(|corner| add(0, corner, true));
            let [start, end] = surfaces.edges[*edge as usize];
            for end in [start, end].into_iter().filter(|end| !is_home(crossings[index], *end)) {
                add(0, end, false);
            }
            for (around, _) in surfaces.vertex_triangles.elements_of(start as usize) {
                if surfaces.triangle_edges[around as usize].contains(edge) {
                    add(2, around, false);
                }
            }
        }
        near.entries.sort_unstable();
        near
    }

    /// Whether the features of a pair are beside both sides of one crossing, or are crushed.
    fn filters(&self, surfaces: &CollisionMesh, pair: &PrimitivePair) -> bool {
        let [first, second] = pair.features;
        let [one, other] = pair.feature_dimensions();
        if !self.is_adjacent[one][first as usize] || !self.is_adjacent[other][second as usize] {
            return false;
        }
        let [own, others] = [self.entries_of(one, first), self.entries_of(other, second)];
        let (few, many) = if own.len() <= others.len() { (own, others) } else { (others, own) };
        let beside = |(_, _, crossing, side): &AdjacencyEntry| (*crossing, *side);
        let mut wanted = few.iter().map(beside).map(|(crossing, side)| (crossing, !side));
        let is_crushed = few.len() > CRUSHED
            && pair.representative_vertices().iter().all(|end| surfaces.is_cloth(*end));
        is_crushed || wanted.any(|wanted| many.binary_search_by_key(&wanted, beside).is_ok())
    }

    fn entries_of(&self, kind: usize, feature: u32) -> &[AdjacencyEntry] {
        let start = self.entries.partition_point(|entry| (entry.0, entry.1) < (kind, feature));
        let length =
            self.entries[start..].partition_point(|entry| (entry.0, entry.1) == (kind, feature));
        &self.entries[start..start + length]
    }
}
