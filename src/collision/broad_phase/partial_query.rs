// SPDX-License-Identifier: MIT OR Apache-2.0
//! What may meet the few features that go elsewhere than the trees were fitted to: a search for these alone.

use super::{
    BroadPhase, Fit, Trees,
    candidates::{Candidates, Search},
};
use crate::{
    collision::primitive_pair::{Kind, Pair},
    geometry::{MovingTree, RoundedBox},
    surface::Surfaces,
};
use rayon::prelude::*;

/// Features that are worth a task of their own.
const FEATURES: usize = 32;

/// All features that have one of some vertices of cloths, each in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct Strays {
    vertices: Vec<u32>,
    edges: Vec<u32>,
    triangles: Vec<u32>,
}

impl Strays {
    /// The features of `vertices`, which come in ascending order.
    pub(crate) fn new(surfaces: &Surfaces, vertices: Vec<u32>) -> Self {
        let around = |vertex: &u32| surfaces.around.around(*vertex as usize);
        let triangles = vertices.iter().flat_map(around).map(|(triangle, _)| triangle);
        // The edges at a corner are those opposite the two others.
        let edges = vertices.iter().flat_map(around).flat_map(|(triangle, corner)| {
            let sides = surfaces.sides[triangle as usize];
            [1, 2].map(|step| sides[(corner as usize + step) % 3])
        });
        Self { triangles: unique(triangles), edges: unique(edges), vertices }
    }
}

impl BroadPhase {
    /// Widens the trees of the cloths by the ways of strays, with `part` times their thickness around.
    pub(crate) fn widen(&mut self, strays: &Strays, surfaces: &Surfaces, part: f64) {
        let Self { cloths, ways, .. } = self;
        let fit = Fit { surfaces, ways, part };
        let Trees { vertices, edges, triangles, .. } = cloths;
        vertices.widen(&strays.vertices, |vertex| fit.vertex(vertex));
        edges.widen(&strays.edges, |edge| fit.edge(edge));
        triangles.widen(&strays.triangles, |triangle| fit.triangle(triangle));
    }

    /// The same as [`BroadPhase::pairs`] of all pairs that a stray feature is part of, once or twice. The trees must hold the
    /// ways of all features.
    pub(crate) fn pairs_of(
        &self,
        strays: &Strays,
        (surfaces, part, reach): (&Surfaces, f64, impl Fn(&Pair, f64) -> f64 + Sync),
        (with_self, keep): (bool, impl Fn(&mut Pair) -> bool + Sync),
    ) -> Vec<Pair> {
        let fit = Fit { surfaces, ways: &self.ways, part };
        let search = Search { fit, reach, keep };
        let mut found = Vec::new();
        let all = [&self.colliders, &self.cloths];
        for trees in &all[..if with_self { 2 } else { 1 }] {
            let firsts = [&trees.ranges.vertices, &trees.ranges.edges, &trees.ranges.triangles];
            let [first_vertex, first_edge, first_triangle] = firsts.map(|range| range.start as u32);
            near(
                &trees.triangles,
                (&strays.vertices, |vertex| fit.vertex(vertex)),
                (&search, Kind::VertexFace, |vertex, other, out| {
                    search.vertex_face(vertex, first_triangle + other, out);
                }),
                &mut found,
            );
            near(
                &trees.vertices,
                (&strays.triangles, |triangle| fit.triangle(triangle)),
                (&search, Kind::VertexFace, |own, other, out| {
                    search.vertex_face(first_vertex + other, own, out);
                }),
                &mut found,
            );
            near(
                &trees.edges,
                (&strays.edges, |edge| fit.edge(edge)),
                (&search, Kind::EdgeEdge, |edge, other, out| {
                    let other = first_edge + other;
                    search.edge_edge(edge.min(other), edge.max(other), out);
                }),
                &mut found,
            );
        }
        found
    }
}

/// Calls `visit` with each of some features, which have these boxes, and all members of a tree that it may meet, and puts
/// what the search finds of that at the end of `out`, always in the same order.
fn near<Reach, Keep>(
    tree: &MovingTree,
    (features, bounds): (&[u32], impl Fn(u32) -> RoundedBox + Sync),
    (search, kind, visit): (
        &Search<'_, Reach, Keep>,
        Kind,
        impl Fn(u32, u32, &mut Candidates) + Sync,
    ),
    out: &mut Vec<Pair>,
) where
    Reach: Fn(&Pair, f64) -> f64 + Sync,
    Keep: Fn(&mut Pair) -> bool + Sync,
{
    let around = |features: &[u32]| {
        let mut candidates = Candidates::default();
        for feature in features {
            tree.near(&bounds(*feature), |other| visit(*feature, other, &mut candidates));
        }
        search.sifted(kind, candidates)
    };
    out.par_extend(features.par_chunks(FEATURES).flat_map_iter(around));
}

fn unique(features: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut features: Vec<u32> = features.collect();
    features.sort_unstable();
    features.dedup();
    features
}
