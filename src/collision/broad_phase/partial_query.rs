// SPDX-License-Identifier: MIT OR Apache-2.0
//! Candidate search for a few features whose trajectories left the boxes of the trees.

use super::{
    BroadPhase, CandidateQuery, CandidateSearch, Candidates, FeatureTrees, PairKind, PrimitivePair,
    SweptAabbBuilder,
};
use crate::{
    geometry::{Node8, SweptBvh, for_each_box},
    surface::CollisionMesh,
};
use rayon::prelude::*;

/// Features per parallel task.
const FEATURES_PER_TASK: usize = 32;

/// All features at some vertices of cloths, each kind in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct FeatureSubset {
    vertices: Vec<u32>,
    edges: Vec<u32>,
    triangles: Vec<u32>,
}

impl FeatureSubset {
    /// Features at `vertices`, which are in ascending order.
    pub(crate) fn new(mesh: &CollisionMesh, vertices: Vec<u32>) -> Self {
        let incident = |vertex: &u32| mesh.all_triangles_at(*vertex);
        let triangles = vertices.iter().flat_map(incident).map(|(triangle, _)| triangle);
        // The edges at a corner are those opposite the two others.
        let edges = vertices.iter().flat_map(incident).flat_map(|(triangle, corner)| {
            let edges = mesh.triangle_edges[triangle as usize];
            [1, 2].map(|step| edges[(corner as usize + step) % 3])
        });
        Self { triangles: sorted_unique(triangles), edges: sorted_unique(edges), vertices }
    }
}

impl BroadPhase {
    /// Enlarges the trees of the cloths by the trajectories of a subset, with a margin of
    /// `thickness_factor` times the thickness.
    pub(crate) fn expand_cloth_trees(
        &mut self,
        subset: &FeatureSubset,
        mesh: &CollisionMesh,
        thickness_factor: f64,
    ) {
        let Self { cloth_trees, trajectories, .. } = self;
        let builder = SweptAabbBuilder { mesh, trajectories, thickness_factor };
        let FeatureTrees { vertices, edges, triangles, .. } = cloth_trees;
        vertices.expand(&subset.vertices, |members| builder.vertices(0, members));
        edges.expand(&subset.edges, |members| builder.edges(0, members));
        triangles.expand(&subset.triangles, |members| builder.triangles(0, members));
    }

    /// All accepted pairs with a feature of the subset whose boxes overlap, each once or twice. The
    /// trees must contain the trajectories of all features.
    pub(crate) fn candidate_pairs_of_subset(
        &self,
        subset: &FeatureSubset,
        query: &CandidateQuery<
            '_,
            impl Fn(&PrimitivePair, f64) -> f64 + Sync,
            impl Fn(&mut PrimitivePair) -> bool + Sync,
        >,
    ) -> Vec<PrimitivePair> {
        let search = self.search(query);
        let mut found = Vec::new();
        let all = [&self.collider_trees, &self.cloth_trees];
        for trees in &all[..if self.has_self_collision { 2 } else { 1 }] {
            search.append_pairs_of_subset(subset, trees, &mut found);
        }
        found
    }
}

impl<Distance, Accept> CandidateSearch<'_, Distance, Accept>
where
    Distance: Fn(&PrimitivePair, f64) -> f64 + Sync,
    Accept: Fn(&mut PrimitivePair) -> bool + Sync,
{
    fn append_pairs_of_subset(
        &self,
        subset: &FeatureSubset,
        trees: &FeatureTrees,
        found: &mut Vec<PrimitivePair>,
    ) {
        let builder = self.builder;
        let [first_vertex, first_edge, first_triangle] = trees.ranges.firsts();
        let vertices = FeatureGroup {
            kind: PairKind::VertexFace,
            features: &subset.vertices,
            boxes: |members: &[u32]| builder.vertices(0, members),
            add: |vertex: u32, other: u32, candidates: &mut Candidates| {
                self.add_vertex_face(vertex, first_triangle + other, candidates);
            },
        };
        self.append_pairs_near(&trees.triangles, &vertices, found);
        let triangles = FeatureGroup {
            kind: PairKind::VertexFace,
            features: &subset.triangles,
            boxes: |members: &[u32]| builder.triangles(0, members),
            add: |triangle: u32, other: u32, candidates: &mut Candidates| {
                self.add_vertex_face(first_vertex + other, triangle, candidates);
            },
        };
        self.append_pairs_near(&trees.vertices, &triangles, found);
        let edges = FeatureGroup {
            kind: PairKind::EdgeEdge,
            features: &subset.edges,
            boxes: |members: &[u32]| builder.edges(0, members),
            add: |edge: u32, other: u32, candidates: &mut Candidates| {
                let other = first_edge + other;
                self.add_edge_edge(edge.min(other), edge.max(other), candidates);
            },
        };
        self.append_pairs_near(&trees.edges, &edges, found);
    }

    /// Appends the accepted pairs of a group of features and the members of a tree whose boxes
    /// overlap to `found`, in a fixed order.
    fn append_pairs_near(
        &self,
        tree: &SweptBvh,
        group: &FeatureGroup<
            '_,
            impl Fn(&[u32]) -> Node8 + Sync,
            impl Fn(u32, u32, &mut Candidates) + Sync,
        >,
        found: &mut Vec<PrimitivePair>,
    ) {
        let pairs_of = |features: &[u32]| {
            let mut candidates = Candidates::default();
            for_each_box(features, &group.boxes, |feature, bounds| {
                tree.for_each_overlapping(bounds, |other| {
                    (group.add)(feature, other, &mut candidates);
                });
            });
            self.finish(group.kind, candidates)
        };
        found.par_extend(group.features.par_chunks(FEATURES_PER_TASK).flat_map_iter(pairs_of));
    }
}

/// Features of one kind whose pairs are searched for.
struct FeatureGroup<'a, Boxes, Add> {
    /// Kind of the pairs.
    kind: PairKind,
    features: &'a [u32],
    /// Swept AABBs of up to eight features.
    boxes: Boxes,
    /// Adds the pair of a feature and a member of the tree to the candidates.
    add: Add,
}

fn sorted_unique(features: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut features: Vec<u32> = features.collect();
    features.sort_unstable();
    features.dedup();
    features
}
