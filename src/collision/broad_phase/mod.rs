// SPDX-License-Identifier: MIT OR Apache-2.0
//! Broad phase: swept BVHs over all vertices, edges and triangles, and the pairs whose boxes may
//! overlap within a step.

mod candidates;
mod common_vertices;
mod partial_query;

use candidates::{CandidateSearch, Candidates};
use common_vertices::CommonVertices;
pub(crate) use partial_query::FeatureSubset;

use super::{
    intersection::Intersection,
    primitive_pair::{DetectionRange, PairKind, PrimitivePair, Trajectories},
    trajectory_culling::TrajectoriesF32,
};
use crate::{
    geometry::{NODE_WIDTH, Node8, PairExclusions, PairVisitor, SweptBvh},
    surface::CollisionMesh,
};
use std::ops::Range;

/// Trees over the features of the cloths and over those of the colliders, with the trajectories of
/// all vertices.
#[derive(Clone, Debug)]
pub(crate) struct BroadPhase {
    trajectories: TrajectoriesF32,
    cloth_trees: FeatureTrees,
    collider_trees: FeatureTrees,
    /// Pairs of features of cloths with a common vertex; none without self-collision.
    common_vertices: CommonVertices,
    /// Whether pairs of features of cloths are included.
    has_self_collision: bool,
}

/// Trees over the vertices, edges and triangles of the cloths, or of the colliders.
#[derive(Clone, Debug)]
struct FeatureTrees {
    vertices: SweptBvh,
    edges: SweptBvh,
    triangles: SweptBvh,
    ranges: FeatureRanges,
}

/// Index ranges of the features of the cloths, or of the colliders.
#[derive(Clone, Debug)]
struct FeatureRanges {
    vertices: Range<usize>,
    edges: Range<usize>,
    triangles: Range<usize>,
}

/// Query of the broad phase: which pairs to find, and how near.
pub(crate) struct CandidateQuery<'a, Distance, Accept> {
    pub(crate) mesh: &'a CollisionMesh,
    pub(crate) range: DetectionRange<Distance>,
    /// Narrow-phase predicate of pairs whose boxes overlap.
    pub(crate) accept: Accept,
}

impl BroadPhase {
    /// Trees for pairs of cloths and colliders and, with self-collision, for those of cloths.
    pub(crate) fn new(
        mesh: &CollisionMesh,
        trajectories: Trajectories<'_>,
        has_self_collision: bool,
    ) -> Self {
        let has_cloths = mesh.cloth_triangle_count > 0;
        let cloths = FeatureRanges {
            vertices: 0..if has_cloths { mesh.cloth_vertex_count } else { 0 },
            edges: 0..mesh.cloth_edge_count,
            triangles: 0..mesh.cloth_triangle_count,
        };
        let colliders = FeatureRanges {
            vertices: mesh.cloth_vertex_count..mesh.surface_properties.len(),
            edges: mesh.cloth_edge_count..mesh.edges.len(),
            triangles: mesh.cloth_triangle_count..mesh.triangles.len(),
        };
        let mut rounded = TrajectoriesF32::new(&mesh.rest_positions);
        rounded.set_trajectories(trajectories);
        let builder = SweptAabbBuilder { mesh, trajectories: &rounded, thickness_factor: 1.0 };
        let [cloth_trees, collider_trees] =
            [cloths, colliders].map(|ranges| FeatureTrees::new(ranges, builder));
        let common_vertices = if has_self_collision {
            CommonVertices::new(mesh, &cloth_trees)
        } else {
            CommonVertices::default()
        };
        Self {
            trajectories: rounded,
            cloth_trees,
            collider_trees,
            common_vertices,
            has_self_collision,
        }
    }

    /// Sets the trajectories of all vertices. The trees keep their boxes until they are refitted.
    pub(crate) fn set_trajectories(&mut self, trajectories: Trajectories<'_>) {
        self.trajectories.set_trajectories(trajectories);
    }

    /// Refits the trees of the cloths to the trajectories, with a margin of `thickness_factor`
    /// times their thickness.
    pub(crate) fn refit_cloths(&mut self, mesh: &CollisionMesh, thickness_factor: f64) {
        let trajectories = &self.trajectories;
        self.cloth_trees.refit(SweptAabbBuilder { mesh, trajectories, thickness_factor });
    }

    /// Refits the trees of the colliders to the trajectories.
    pub(crate) fn refit_colliders(&mut self, mesh: &CollisionMesh) {
        let trajectories = &self.trajectories;
        self.collider_trees.refit(SweptAabbBuilder { mesh, trajectories, thickness_factor: 1.0 });
    }

    /// Appends all accepted pairs whose boxes overlap to `found`, in a fixed order.
    pub(crate) fn candidate_pairs(
        &self,
        query: &CandidateQuery<
            '_,
            impl Fn(&PrimitivePair, f64) -> f64 + Sync,
            impl Fn(&mut PrimitivePair) -> bool + Sync,
        >,
        found: &mut Vec<PrimitivePair>,
    ) {
        let (cloths, colliders) = (&self.cloth_trees, &self.collider_trees);
        let search = self.search(query);
        let none = &PairExclusions::default();
        search.vertex_face_pairs(cloths, colliders, none, found);
        search.vertex_face_pairs(colliders, cloths, none, found);
        search.edge_edge_pairs(cloths, colliders, none, found);
        if self.has_self_collision {
            let CommonVertices { vertex_faces, edges } = &self.common_vertices;
            search.vertex_face_pairs(cloths, cloths, vertex_faces, found);
            search.edge_edge_self_pairs(cloths, edges, found);
        }
    }

    fn search<'a, Distance, Accept>(
        &'a self,
        query: &'a CandidateQuery<'_, Distance, Accept>,
    ) -> CandidateSearch<'a, Distance, Accept> {
        let builder = SweptAabbBuilder {
            mesh: query.mesh,
            trajectories: &self.trajectories,
            thickness_factor: query.range.thickness_factor,
        };
        CandidateSearch { builder, range: &query.range, accept: &query.accept }
    }
}

impl<Distance, Accept> CandidateSearch<'_, Distance, Accept>
where
    Distance: Fn(&PrimitivePair, f64) -> f64 + Sync,
    Accept: Fn(&mut PrimitivePair) -> bool + Sync,
{
    /// Pairs of the vertices of the first trees and the triangles of the second.
    fn vertex_face_pairs(
        &self,
        one: &FeatureTrees,
        other: &FeatureTrees,
        excluded: &PairExclusions,
        found: &mut Vec<PrimitivePair>,
    ) {
        let [first, second] = [one.ranges.vertices.start, other.ranges.triangles.start];
        let visitor = PairVisitor {
            excluded,
            visit: |a: u32, b: u32, candidates: &mut Candidates| {
                self.add_vertex_face(first as u32 + a, second as u32 + b, candidates);
            },
            finish: |candidates| self.finish(PairKind::VertexFace, candidates),
        };
        one.vertices.collect_overlapping_pairs(&other.triangles, &visitor, found);
    }

    /// Pairs of the edges of the first trees and those of the second.
    fn edge_edge_pairs(
        &self,
        one: &FeatureTrees,
        other: &FeatureTrees,
        excluded: &PairExclusions,
        found: &mut Vec<PrimitivePair>,
    ) {
        let [first, second] = [one.ranges.edges.start, other.ranges.edges.start];
        let visitor = PairVisitor {
            excluded,
            visit: |a: u32, b: u32, candidates: &mut Candidates| {
                self.add_edge_edge(first as u32 + a, second as u32 + b, candidates);
            },
            finish: |candidates| self.finish(PairKind::EdgeEdge, candidates),
        };
        one.edges.collect_overlapping_pairs(&other.edges, &visitor, found);
    }

    /// Pairs of edges of the cloths, whose indices start at 0.
    fn edge_edge_self_pairs(
        &self,
        cloths: &FeatureTrees,
        excluded: &PairExclusions,
        found: &mut Vec<PrimitivePair>,
    ) {
        let visitor = PairVisitor {
            excluded,
            visit: |a: u32, b: u32, candidates: &mut Candidates| {
                self.add_edge_edge(a, b, candidates);
            },
            finish: |candidates| self.finish(PairKind::EdgeEdge, candidates),
        };
        cloths.edges.collect_overlapping_self_pairs(&visitor, found);
    }
}

impl BroadPhase {
    /// Edges and triangles that intersect, among those whose boxes overlap.
    pub(crate) fn intersections(
        &self,
        is_intersecting: impl Fn(Intersection) -> bool + Sync,
    ) -> Vec<Intersection> {
        let (cloths, colliders) = (&self.cloth_trees, &self.collider_trees);
        let intersection = |[edge, triangle]: [u32; 2]| Intersection { edge, triangle };
        let accept = |pair| is_intersecting(intersection(pair));
        let mut found = Vec::new();
        overlapping_pairs(cloths.edge_tree(), colliders.triangle_tree(), &accept, &mut found);
        overlapping_pairs(colliders.edge_tree(), cloths.triangle_tree(), &accept, &mut found);
        if self.has_self_collision {
            overlapping_pairs(cloths.edge_tree(), cloths.triangle_tree(), &accept, &mut found);
        }
        found.into_iter().map(intersection).collect()
    }

    /// Pairs of a box of a tree and a triangle of a collider or, with self-collision, of a cloth, among those whose
    /// boxes overlap.
    pub(crate) fn overlapping_triangles(
        &self,
        boxes: &SweptBvh,
        accept: impl Fn([u32; 2]) -> bool + Sync,
    ) -> Vec<[u32; 2]> {
        let boxes = TreeWithOffset { tree: boxes, first: 0 };
        let mut found = Vec::new();
        overlapping_pairs(boxes, self.collider_trees.triangle_tree(), &accept, &mut found);
        if self.has_self_collision {
            overlapping_pairs(boxes, self.cloth_trees.triangle_tree(), &accept, &mut found);
        }
        found
    }

    /// Vertices of cloth and triangles that coincide, among those whose boxes overlap.
    pub(crate) fn coincident_vertex_faces(
        &self,
        is_coincident: impl Fn([u32; 2]) -> bool + Sync,
    ) -> Vec<[u32; 2]> {
        let (cloths, colliders) = (&self.cloth_trees, &self.collider_trees);
        let vertices = cloths.vertex_tree();
        let mut found = Vec::new();
        overlapping_pairs(vertices, colliders.triangle_tree(), &is_coincident, &mut found);
        if self.has_self_collision {
            overlapping_pairs(vertices, cloths.triangle_tree(), &is_coincident, &mut found);
        }
        found
    }
}

/// Tree, and the index of its first feature.
#[derive(Clone, Copy)]
struct TreeWithOffset<'a> {
    tree: &'a SweptBvh,
    first: u32,
}

/// Appends the pairs of features of two trees whose boxes overlap and that `accept` confirms to
/// `found`.
fn overlapping_pairs(
    one: TreeWithOffset<'_>,
    other: TreeWithOffset<'_>,
    accept: &(impl Fn([u32; 2]) -> bool + Sync),
    found: &mut Vec<[u32; 2]>,
) {
    let visit = |a: u32, b: u32, found: &mut Vec<[u32; 2]>| {
        let pair = [one.first + a, other.first + b];
        if accept(pair) {
            found.push(pair);
        }
    };
    one.tree.overlapping_pairs(other.tree, visit, found);
}

impl FeatureTrees {
    fn vertex_tree(&self) -> TreeWithOffset<'_> {
        TreeWithOffset { tree: &self.vertices, first: self.ranges.vertices.start as u32 }
    }

    fn edge_tree(&self) -> TreeWithOffset<'_> {
        TreeWithOffset { tree: &self.edges, first: self.ranges.edges.start as u32 }
    }

    fn triangle_tree(&self) -> TreeWithOffset<'_> {
        TreeWithOffset { tree: &self.triangles, first: self.ranges.triangles.start as u32 }
    }

    fn new(ranges: FeatureRanges, builder: SweptAabbBuilder<'_>) -> Self {
        let [vertex, edge, triangle] = ranges.firsts();
        Self {
            vertices: SweptBvh::build_with(ranges.vertices.len(), |members| {
                builder.vertices(vertex, members)
            }),
            edges: SweptBvh::build_with(ranges.edges.len(), |members| builder.edges(edge, members)),
            triangles: SweptBvh::build_with(ranges.triangles.len(), |members| {
                builder.triangles(triangle, members)
            }),
            ranges,
        }
    }

    fn refit(&mut self, builder: SweptAabbBuilder<'_>) {
        let Self { vertices, edges, triangles, ranges } = self;
        let [vertex, edge, triangle] = ranges.firsts();
        vertices.refit_nodes_with(|members| builder.vertices(vertex, members));
        edges.refit_nodes_with(|members| builder.edges(edge, members));
        triangles.refit_nodes_with(|members| builder.triangles(triangle, members));
    }
}

impl FeatureRanges {
    /// Index of the first vertex, the first edge and the first triangle.
    fn firsts(&self) -> [u32; 3] {
        [&self.vertices, &self.edges, &self.triangles].map(|range| range.start as u32)
    }
}

/// Source of the swept AABBs of features.
#[derive(Clone, Copy)]
struct SweptAabbBuilder<'a> {
    mesh: &'a CollisionMesh,
    trajectories: &'a TrajectoriesF32,
    /// Margin of the boxes, in units of the contact thickness.
    thickness_factor: f64,
}

impl SweptAabbBuilder<'_> {
    /// Boxes of up to eight vertices, given by their places after the first one.
    fn vertices(&self, first: u32, members: &[u32]) -> Node8 {
        self.boxes(members, |one| [first + one])
    }

    /// Boxes of up to eight edges, given by their places after the first one.
    fn edges(&self, first: u32, members: &[u32]) -> Node8 {
        self.boxes(members, |one| self.mesh.edges[(first + one) as usize])
    }

    /// Boxes of up to eight triangles, given by their places after the first one.
    fn triangles(&self, first: u32, members: &[u32]) -> Node8 {
        self.boxes(members, |one| self.mesh.triangles[(first + one) as usize])
    }

    /// Swept AABBs with their margins of up to eight members of a tree with these vertices.
    #[inline]
    fn boxes<const CORNERS: usize>(
        &self,
        members: &[u32],
        vertices: impl Fn(u32) -> [u32; CORNERS],
    ) -> Node8 {
        let mut features = [[0; CORNERS]; NODE_WIDTH];
        let features = &mut features[..members.len()];
        for (feature, member) in features.iter_mut().zip(members) {
            *feature = vertices(*member);
        }
        self.trajectories.swept_aabbs(features, |vertex| self.margin(vertex))
    }

    /// Margin at a vertex in m, `thickness_factor` times the thickness there: surfaces with disjoint
    /// boxes are farther apart than this multiple of both thicknesses.
    fn margin(&self, vertex: u32) -> f64 {
        self.thickness_factor * self.mesh.surface_properties[vertex as usize].thickness
    }
}
