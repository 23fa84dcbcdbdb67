// SPDX-License-Identifier: MIT OR Apache-2.0
//! What may meet the few features that go elsewhere than the trees were fitted to: a search for these alone.

use super::{
    BroadPhase, FeatureTrees, SweptAabbBuilder,
    candidates::{CandidateSearch, Candidates},
};
use crate::{
    collision::primitive_pair::{PairKind, PrimitivePair},
    geometry::{SweptAabbF32, SweptBvh},
    surface::CollisionMesh,
};
use rayon::prelude::*;

/// Features that are worth a task of their own.
const FEATURES_PER_TASK: usize = 32;

/// All features that have one of some vertices of cloths, each in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct FeatureSubset {
    vertices: Vec<u32>,
    edges: Vec<u32>,
    triangles: Vec<u32>,
}

impl FeatureSubset {
    /// The features of `vertices`, which come in ascending order.
    pub(crate) fn new(surfaces: &CollisionMesh, vertices: Vec<u32>) -> Self {
        let around = |vertex: &u32| surfaces.vertex_triangles.elements_of(*vertex as usize);
        let triangles = vertices.iter().flat_map(around).map(|(triangle, _)| triangle);
        // The edges at a corner are those opposite the two others.
        let edges = vertices.iter().flat_map(around).flat_map(|(triangle, corner)| {
            let sides = surfaces.triangle_edges[triangle as usize];
            [1, 2].map(|step| sides[(corner as usize + step) % 3])
        });
        Self { triangles: sorted_unique(triangles), edges: sorted_unique(edges), vertices }
    }
}

impl BroadPhase {
    /// Widens the trees of the cloths by the ways of strays, with `part` times their thickness around.
    pub(crate) fn expand_cloth_trees(
        &mut self,
        strays: &FeatureSubset,
        surfaces: &CollisionMesh,
        part: f64,
    ) {
        let Self { cloth_trees: cloths, trajectories: ways, .. } = self;
        let fit = SweptAabbBuilder { mesh: surfaces, trajectories: ways, thickness_factor: part };
        let FeatureTrees { vertices, edges, triangles, .. } = cloths;
        vertices.expand(&strays.vertices, |vertex| fit.vertex(vertex));
        edges.expand(&strays.edges, |edge| fit.edge(edge));
        triangles.expand(&strays.triangles, |triangle| fit.triangle(triangle));
    }

    /// The same as [`BroadPhase::pairs`] of all pairs that a stray feature is part of, once or twice. The trees must hold the
    /// ways of all features.
    pub(crate) fn candidate_pairs_of_subset(
        &self,
        strays: &FeatureSubset,
        (surfaces, part, reach): (&CollisionMesh, f64, impl Fn(&PrimitivePair, f64) -> f64 + Sync),
        (with_self, keep): (bool, impl Fn(&mut PrimitivePair) -> bool + Sync),
    ) -> Vec<PrimitivePair> {
        let fit = SweptAabbBuilder {
            mesh: surfaces,
            trajectories: &self.trajectories,
            thickness_factor: part,
        };
        let search = CandidateSearch { builder: fit, detection_distance: reach, accept: keep };
        let mut found = Vec::new();
        let all = [&self.collider_trees, &self.cloth_trees];
        for trees in &all[..if with_self { 2 } else { 1 }] {
            let firsts = [&trees.ranges.vertices, &trees.ranges.edges, &trees.ranges.triangles];
            let [first_vertex, first_edge, first_triangle] = firsts.map(|range| range.start as u32);
            pairs_near_features(
                &trees.triangles,
                (&strays.vertices, |vertex| fit.vertex(vertex)),
                (&search, PairKind::VertexFace, |vertex, other, out| {
                    search.add_vertex_face(vertex, first_triangle + other, out);
                }),
                &mut found,
            );
            pairs_near_features(
                &trees.vertices,
                (&strays.triangles, |triangle| fit.triangle(triangle)),
                (&search, PairKind::VertexFace, |own, other, out| {
                    search.add_vertex_face(first_vertex + other, own, out);
                }),
                &mut found,
            );
            pairs_near_features(
                &trees.edges,
                (&strays.edges, |edge| fit.edge(edge)),
                (&search, PairKind::EdgeEdge, |edge, other, out| {
                    let other = first_edge + other;
                    search.add_edge_edge(edge.min(other), edge.max(other), out);
                }),
                &mut found,
            );
        }
        found
    }
}

/// Calls `visit` with each of some features, which have these boxes, and all members of a tree that it may meet, and puts
/// what the search finds of that at the end of `out`, always in the same order.
fn pairs_near_features<Reach, Keep>(
    tree: &SweptBvh,
    (features, bounds): (&[u32], impl Fn(u32) -> SweptAabbF32 + Sync),
    (search, kind, visit): (
        &CandidateSearch<'_, Reach, Keep>,
        PairKind,
        impl Fn(u32, u32, &mut Candidates) + Sync,
    ),
    out: &mut Vec<PrimitivePair>,
) where
    Reach: Fn(&PrimitivePair, f64) -> f64 + Sync,
    Keep: Fn(&mut PrimitivePair) -> bool + Sync,
{
    let around = |features: &[u32]| {
        let mut candidates = Candidates::default();
        for feature in features {
            tree.for_each_overlapping(&bounds(*feature), |other| {
                visit(*feature, other, &mut candidates)
            });
        }
        search.finish(kind, candidates)
    };
    out.par_extend(features.par_chunks(FEATURES_PER_TASK).flat_map_iter(around));
}

fn sorted_unique(features: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut features: Vec<u32> = features.collect();
    features.sort_unstable();
    features.dedup();
    features
}
