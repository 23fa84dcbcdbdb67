// SPDX-License-Identifier: MIT OR Apache-2.0
//! Intersection analysis at the start of a step: which components of the cloth have penetrated which
//! bodies.
//!
//! An edge–triangle intersection does not tell which end of the edge is on the wrong side. As in
//! global intersection analysis (Baraff, Witkin and Kass 2003), the cloth is cut along all
//! intersected edges into connected components. A component has penetrated a closed collider if it
//! is inside (or outside, see `containment`), another cloth if it is on the wrong side (see
//! `layer_order`), and its own cloth if it is not the largest component. Pairs between a component
//! and a body that it has penetrated are filtered: they have neither contact nor guarantee. Pairs
//! between features that are both adjacent to more intersections than a limit are filtered as well.
//!
//! Cloths that intersect each other have no friction on each other: in a heap it would bear any
//! recovery force.

#[cfg(test)]
mod tests;

use super::{
    UNTANGLING, containment::escaped_components, edge_intervals::EdgeIntervals,
    layer_order::LayerOrder,
};
use crate::{
    collision::{ClothComponents, Intersection, PrimitivePair},
    surface::{CollisionMesh, Configuration},
};
use std::collections::{BTreeMap, BTreeSet};

/// Intersections at the start of a step, and the components of the cloth that they separate.
#[derive(Clone, Debug)]
pub(crate) struct IntersectionState {
    /// Sorted.
    pub(crate) intersections: Vec<Intersection>,
    components: ClothComponents,
    /// Bodies that each component has penetrated.
    penetrated_bodies: Vec<Vec<u32>>,
    pub(super) layer_order: LayerOrder,
    pub(super) edge_intervals: EdgeIntervals,
    adjacent_features: AdjacentFeatures,
    /// Pairs of different cloths that intersect, each in ascending order.
    intersecting_cloths: BTreeSet<[u32; 2]>,
}

/// Vertices, edges and triangles adjacent to intersections.
#[derive(Clone, Debug, Default)]
struct AdjacentFeatures {
    /// Sorted.
    entries: Vec<AdjacencyEntry>,
    /// For each feature, by dimension.
    is_adjacent: [Vec<bool>; 3],
    /// For each intersection.
    is_at_reflex_corner: Vec<bool>,
}

/// A feature adjacent to an intersection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct AdjacencyEntry {
    /// Dimension of the feature: 0 for vertices, 1 for edges, 2 for triangles.
    dimension: usize,
    feature: u32,
    /// Index of the intersection.
    intersection: u32,
    /// Whether the feature is adjacent to the triangle rather than to the edge.
    is_beside_triangle: bool,
}

impl IntersectionState {
    /// State of sorted `all` intersections. Those of alternative triangles and their edges are resolved where no
    /// others are between the same bodies; until then their pairs are filtered alone. Those at reflex corners are
    /// not resolved, and of their pairs only those of alternatives are filtered: nothing that is drawn intersects.
    pub(crate) fn new(configuration: Configuration<'_>, all: &[Intersection]) -> Self {
        let mesh = configuration.mesh;
        let intersections = intersections_to_resolve(configuration, all);
        let components = ClothComponents::new(mesh, &intersections);
        let edge_intervals = EdgeIntervals::new(configuration, &intersections);
        let layer_order =
            LayerOrder::new(configuration, &intersections, &edge_intervals, &components);
        let mut state = Self {
            penetrated_bodies: vec![Vec::new(); components.of_vertex.len()],
            intersecting_cloths: intersecting_cloths(mesh, &intersections),
            adjacent_features: AdjacentFeatures::default(),
            intersections,
            components,
            layer_order,
            edge_intervals,
        };
        state.find_penetrated_bodies(configuration);
        let is_right_end = |intersection: Intersection, end: u32| {
            let ends = state.wrong_and_right_ends(mesh, intersection);
            ends.is_some_and(|[_, right]| right == end)
        };
        state.adjacent_features = AdjacentFeatures::new(configuration, all, is_right_end);
        state
    }

    /// Finds the bodies that components have penetrated: most ends of intersected edges there are
    /// on the wrong side.
    fn find_penetrated_bodies(&mut self, configuration: Configuration<'_>) {
        let mesh = configuration.mesh;
        let largest = self.components.largest(mesh);
        let mut wrong_ends: BTreeMap<(u32, u32), i32> = BTreeMap::new();
        for (intersection, ends) in self.edge_intervals.with_adjacent_ends(&self.intersections) {
            let [cloth, body] = intersection.bodies(mesh);
            let side = self.layer_order.side(mesh, cloth, body);
            for end in ends {
                let Some(component) = self.components.of_vertex.get(end as usize) else { continue };
                let is_wrong = match side {
                    Some(side) => {
                        side * configuration.signed_height(intersection.triangle, end) < 0.0
                    }
                    None => *component != largest[end as usize],
                };
                *wrong_ends.entry((*component, body)).or_default() += if is_wrong { 1 } else { -1 };
            }
        }
        // Components without an intersection.
        for escaped in escaped_components(configuration, &self.components.of_vertex) {
            wrong_ends.entry(escaped).or_insert(1);
        }
        for ((component, body), _) in wrong_ends.into_iter().filter(|(_, count)| *count > 0) {
            self.penetrated_bodies[component as usize].push(body);
        }
    }

    /// Whether nothing is filtered: there are neither intersections nor penetrated bodies.
    pub(crate) fn is_empty(&self) -> bool {
        self.adjacent_features.entries.is_empty()
            && self.penetrated_bodies.iter().all(Vec::is_empty)
    }

    /// Whether a pair is filtered, without contact and guarantee.
    pub(crate) fn filters(&self, mesh: &CollisionMesh, pair: &PrimitivePair) -> bool {
        let [first_body, second_body] =
            pair.representative_vertices().map(|vertex| mesh.bodies[vertex as usize]);
        let (first, second) = pair.vertices_by_feature();
        self.has_penetrated(first, second_body)
            || self.has_penetrated(second, first_body)
            || self.adjacent_features.filters(mesh, pair)
    }

    /// Whether two bodies are cloths that intersect, and so have no friction on each other.
    pub(crate) fn is_frictionless(&self, [one, other]: [u32; 2]) -> bool {
        self.intersecting_cloths.contains(&[one.min(other), one.max(other)])
    }

    /// Wrong end and right end of an intersected edge, if known.
    pub(super) fn wrong_and_right_ends(
        &self,
        mesh: &CollisionMesh,
        intersection: Intersection,
    ) -> Option<[u32; 2]> {
        let [_, body] = intersection.bodies(mesh);
        let [start, end] = mesh.edges[intersection.edge as usize];
        match [start, end].map(|vertex| self.has_penetrated(&[vertex], body)) {
            [true, false] => Some([start, end]),
            [false, true] => Some([end, start]),
            _ => None,
        }
    }

    /// Whether a component of one of the vertices has penetrated a body.
    pub(super) fn has_penetrated(&self, vertices: &[u32], body: u32) -> bool {
        vertices.iter().any(|vertex| {
            let component = self.components.of_vertex.get(*vertex as usize);
            component.is_some_and(|one| self.penetrated_bodies[*one as usize].contains(&body))
        })
    }
}

/// Intersections without those of alternatives at reflex corners, or between bodies that others intersect.
fn intersections_to_resolve(
    configuration: Configuration<'_>,
    all: &[Intersection],
) -> Vec<Intersection> {
    let mesh = configuration.mesh;
    let bodies = |one: &Intersection| {
        let [first, second] = one.bodies(mesh);
        [first.min(second), first.max(second)]
    };
    let in_use = all.iter().filter(|one| !one.is_alternative(mesh));
    let intersecting: BTreeSet<[u32; 2]> = in_use.map(bodies).collect();
    let is_resolved = |one: &&Intersection| {
        !one.is_alternative(mesh)
            || !(intersecting.contains(&bodies(one)) || one.is_at_reflex_corner(configuration))
    };
    all.iter().filter(is_resolved).copied().collect()
}

/// Pairs of different cloths that intersect, each in ascending order.
fn intersecting_cloths(mesh: &CollisionMesh, intersections: &[Intersection]) -> BTreeSet<[u32; 2]> {
    let bodies = intersections.iter().map(|intersection| intersection.bodies(mesh));
    let pairs = bodies.map(|[one, other]| [one.min(other), one.max(other)]);
    pairs.filter(|[one, other]| one < other && (*other as usize) < mesh.cloth_count).collect()
}

impl AdjacentFeatures {
    /// The right end of an edge keeps its contact and guarantee with the triangle: else it would
    /// pass through as well while the other end returns.
    fn new(
        configuration: Configuration<'_>,
        intersections: &[Intersection],
        is_right_end: impl Fn(Intersection, u32) -> bool,
    ) -> Self {
        let mesh = configuration.mesh;
        let counts = [mesh.surface_properties.len(), mesh.edges.len(), mesh.triangles.len()];
        let at_reflex_corners =
            intersections.iter().map(|one| one.is_at_reflex_corner(configuration));
        let mut adjacent = Self {
            entries: Vec::new(),
            is_adjacent: counts.map(|count| vec![false; count]),
            is_at_reflex_corner: at_reflex_corners.collect(),
        };
        for (index, intersection) in intersections.iter().enumerate() {
            let Intersection { edge, triangle } = *intersection;
            let mut add = |dimension: usize, feature: u32, is_beside_triangle: bool| {
                adjacent.is_adjacent[dimension][feature as usize] = true;
                let intersection = index as u32;
                let entry = AdjacencyEntry { dimension, feature, intersection, is_beside_triangle };
                adjacent.entries.push(entry);
            };
            add(1, edge, false);
            add(2, triangle, true);
            mesh.triangle_edges[triangle as usize].into_iter().for_each(|side| add(1, side, true));
            mesh.triangles[triangle as usize].into_iter().for_each(|corner| add(0, corner, true));
            let [start, end] = mesh.edges[edge as usize];
            for end in [start, end].into_iter().filter(|end| !is_right_end(*intersection, *end)) {
                add(0, end, false);
            }
            mesh.triangles_at_edge(edge).for_each(|beside| add(2, beside, false));
        }
        adjacent.entries.sort_unstable();
        adjacent
    }

    /// Whether the features of a pair are adjacent to both sides of one intersection, or to more
    /// intersections than the limit. At a reflex corner one of them is an alternative.
    fn filters(&self, mesh: &CollisionMesh, pair: &PrimitivePair) -> bool {
        let [first, second] = pair.features;
        let [first_dimension, second_dimension] = pair.feature_dimensions();
        if !self.is_adjacent[first_dimension][first as usize]
            || !self.is_adjacent[second_dimension][second as usize]
        {
            return false;
        }
        let entries =
            [self.entries_of(first_dimension, first), self.entries_of(second_dimension, second)];
        let [few, many] =
            if entries[0].len() <= entries[1].len() { entries } else { [entries[1], entries[0]] };
        let side = |entry: &AdjacencyEntry| (entry.intersection, entry.is_beside_triangle);
        let mut opposite =
            few.iter().map(side).map(|(intersection, is_beside)| (intersection, !is_beside));
        let is_crushed = few.len() > UNTANGLING.max_adjacent_intersections
            && pair.representative_vertices().iter().all(|vertex| mesh.is_cloth(*vertex));
        is_crushed
            || opposite.any(|opposite| {
                many.binary_search_by_key(&opposite, side).is_ok()
                    && (!self.is_at_reflex_corner[opposite.0 as usize] || pair.is_alternative(mesh))
            })
    }

    /// Entries of one feature.
    fn entries_of(&self, dimension: usize, feature: u32) -> &[AdjacencyEntry] {
        let key = |entry: &AdjacencyEntry| (entry.dimension, entry.feature);
        let start = self.entries.partition_point(|entry| key(entry) < (dimension, feature));
        let length =
            self.entries[start..].partition_point(|entry| key(entry) == (dimension, feature));
        &self.entries[start..start + length]
    }
}
