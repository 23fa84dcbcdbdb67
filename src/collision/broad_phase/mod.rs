// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which features may meet within a step: trees over all vertices, edges and triangles.

mod candidates;
mod partial_query;

pub(crate) use partial_query::FeatureSubset;

use super::{
    broad_phase::candidates::{CandidateSearch, Candidates},
    intersection::Intersection,
    primitive_pair::{PairKind, PrimitivePair, Trajectories},
    trajectory_culling::TrajectoriesF32,
};

use crate::{
    geometry::{SweptAabbF32, SweptBvh},
    surface::CollisionMesh,
};
use std::ops::Range;

/// Trees over the features of the cloths and over those of the colliders, and the ways that they go.
#[derive(Clone, Debug)]
pub(crate) struct BroadPhase {
    trajectories: TrajectoriesF32,
    cloth_trees: FeatureTrees,
    collider_trees: FeatureTrees,
}

#[derive(Clone, Debug)]
struct FeatureTrees {
    vertices: SweptBvh,
    edges: SweptBvh,
    triangles: SweptBvh,
    ranges: FeatureRanges,
}

/// The features that trees are made over.
#[derive(Clone, Debug)]
struct FeatureRanges {
    vertices: Range<usize>,
    edges: Range<usize>,
    triangles: Range<usize>,
}

impl BroadPhase {
    pub(crate) fn new(surfaces: &CollisionMesh, motion: Trajectories<'_>) -> Self {
        let has_cloths = surfaces.cloth_triangle_count > 0;
        let cloths = FeatureRanges {
            vertices: 0..if has_cloths { surfaces.cloth_vertex_count } else { 0 },
            edges: 0..surfaces.cloth_edge_count,
            triangles: 0..surfaces.cloth_triangle_count,
        };
        let colliders = FeatureRanges {
            vertices: surfaces.cloth_vertex_count..surfaces.surface_properties.len(),
            edges: surfaces.cloth_edge_count..surfaces.edges.len(),
            triangles: surfaces.cloth_triangle_count..surfaces.triangles.len(),
        };
        let mut trajectories = TrajectoriesF32::new(&surfaces.rest_positions);
        trajectories.set_trajectories(motion);
        let fit =
            SweptAabbBuilder { mesh: surfaces, trajectories: &trajectories, thickness_factor: 1.0 };
        let [cloth_trees, collider_trees] =
            [cloths, colliders].map(|ranges| FeatureTrees::new(ranges, fit));
        Self { trajectories, cloth_trees, collider_trees }
    }

    /// Goes on with other ways of all vertices, to which trees can be fitted.
    pub(crate) fn set_trajectories(&mut self, motion: Trajectories<'_>) {
        self.trajectories.set_trajectories(motion);
    }

    /// Fits the trees of the cloths to the way they go, with `part` times their thickness around.
    pub(crate) fn refit_cloths(&mut self, surfaces: &CollisionMesh, part: f64) {
        self.cloth_trees.refit(SweptAabbBuilder {
            mesh: surfaces,
            trajectories: &self.trajectories,
            thickness_factor: part,
        });
    }

    /// Fits the trees of the colliders to the way they go.
    pub(crate) fn refit_colliders(&mut self, surfaces: &CollisionMesh) {
        self.collider_trees.refit(SweptAabbBuilder {
            mesh: surfaces,
            trajectories: &self.trajectories,
            thickness_factor: 1.0,
        });
    }

    /// Puts all pairs at the end of `found` whose boxes meet, that may come within `part` of the thickness of both sides,
    /// and within what `reach` makes of the thickness that they keep, and that `keep` wants, in an order that is always
    /// the same.
    pub(crate) fn candidate_pairs(
        &self,
        (surfaces, part, reach): (&CollisionMesh, f64, impl Fn(&PrimitivePair, f64) -> f64 + Sync),
        (with_self, keep): (bool, impl Fn(&mut PrimitivePair) -> bool + Sync),
        found: &mut Vec<PrimitivePair>,
    ) {
        let (cloths, colliders) = (&self.cloth_trees, &self.collider_trees);
        let search = CandidateSearch {
            builder: SweptAabbBuilder {
                mesh: surfaces,
                trajectories: &self.trajectories,
                thickness_factor: part,
            },
            detection_distance: reach,
            accept: keep,
        };
        search.vertex_face_pairs(cloths, colliders, found);
        search.vertex_face_pairs(colliders, cloths, found);
        search.edge_edge_pairs(cloths, colliders, found);
        if with_self {
            search.vertex_face_pairs(cloths, cloths, found);
            search.edge_edge_self_pairs(cloths, found);
        }
    }
}

impl<Reach, Keep> CandidateSearch<'_, Reach, Keep>
where
    Reach: Fn(&PrimitivePair, f64) -> f64 + Sync,
    Keep: Fn(&mut PrimitivePair) -> bool + Sync,
{
    /// The vertices of the first trees and the triangles of the second ones.
    fn vertex_face_pairs(
        &self,
        one: &FeatureTrees,
        other: &FeatureTrees,
        found: &mut Vec<PrimitivePair>,
    ) {
        let [first, second] = [one.ranges.vertices.start, other.ranges.triangles.start];
        let visit = |a: u32, b: u32, candidates: &mut Candidates| {
            self.add_vertex_face(first as u32 + a, second as u32 + b, candidates);
        };
        let finish = |candidates| self.finish(PairKind::VertexFace, candidates);
        one.vertices.collect_overlapping_pairs(&other.triangles, (visit, finish), found);
    }

    /// The edges of the first trees and those of the second ones.
    fn edge_edge_pairs(
        &self,
        one: &FeatureTrees,
        other: &FeatureTrees,
        found: &mut Vec<PrimitivePair>,
    ) {
        let [first, second] = [one.ranges.edges.start, other.ranges.edges.start];
        let visit = |a: u32, b: u32, candidates: &mut Candidates| {
            self.add_edge_edge(first as u32 + a, second as u32 + b, candidates);
        };
        let finish = |candidates| self.finish(PairKind::EdgeEdge, candidates);
        one.edges.collect_overlapping_pairs(&other.edges, (visit, finish), found);
    }

    /// The edges of the cloths, which come first, and one another.
    fn edge_edge_self_pairs(&self, cloths: &FeatureTrees, found: &mut Vec<PrimitivePair>) {
        let visit =
            |a: u32, b: u32, candidates: &mut Candidates| self.add_edge_edge(a, b, candidates);
        let finish = |candidates| self.finish(PairKind::EdgeEdge, candidates);
        cloths.edges.collect_overlapping_self_pairs((visit, finish), found);
    }
}

impl BroadPhase {
    /// All edges that go through triangles, of those whose boxes meet.
    pub(crate) fn intersections(
        &self,
        with_self: bool,
        crosses: impl Fn(Intersection) -> bool + Sync,
    ) -> Vec<Intersection> {
        let (cloths, colliders) = (&self.cloth_trees, &self.collider_trees);
        let crossing = |[edge, triangle]: [u32; 2]| Intersection { edge, triangle };
        let crosses = |pair| crosses(crossing(pair));
        let mut found = Vec::new();
        overlapping_pairs(cloths.edge_tree(), colliders.triangle_tree(), &crosses, &mut found);
        overlapping_pairs(colliders.edge_tree(), cloths.triangle_tree(), &crosses, &mut found);
        if with_self {
            overlapping_pairs(cloths.edge_tree(), cloths.triangle_tree(), &crosses, &mut found);
        }
        found.into_iter().map(crossing).collect()
    }

    /// All vertices of cloth and triangles that touch, of those whose boxes meet.
    pub(crate) fn coincident_vertex_faces(
        &self,
        with_self: bool,
        touches: impl Fn([u32; 2]) -> bool + Sync,
    ) -> Vec<[u32; 2]> {
        let (cloths, colliders) = (&self.cloth_trees, &self.collider_trees);
        let mut found = Vec::new();
        overlapping_pairs(cloths.vertex_tree(), colliders.triangle_tree(), &touches, &mut found);
        if with_self {
            overlapping_pairs(cloths.vertex_tree(), cloths.triangle_tree(), &touches, &mut found);
        }
        found
    }
}

/// A tree, and the number of its first feature.
type TreeWithOffset<'a> = (&'a SweptBvh, u32);

/// Puts those pairs of features of two trees at the end of `found` whose boxes meet and that are `wanted`.
fn overlapping_pairs(
    (one, first): TreeWithOffset<'_>,
    (other, second): TreeWithOffset<'_>,
    wanted: &(impl Fn([u32; 2]) -> bool + Sync),
    found: &mut Vec<[u32; 2]>,
) {
    let visit = |a: u32, b: u32, found: &mut Vec<[u32; 2]>| {
        let pair = [first + a, second + b];
        if wanted(pair) {
            found.push(pair);
        }
    };
    one.overlapping_pairs(other, visit, found);
}

impl FeatureTrees {
    fn vertex_tree(&self) -> TreeWithOffset<'_> {
        (&self.vertices, self.ranges.vertices.start as u32)
    }

    fn edge_tree(&self) -> TreeWithOffset<'_> {
        (&self.edges, self.ranges.edges.start as u32)
    }

    fn triangle_tree(&self) -> TreeWithOffset<'_> {
        (&self.triangles, self.ranges.triangles.start as u32)
    }

    fn new(ranges: FeatureRanges, fit: SweptAabbBuilder<'_>) -> Self {
        let of = |range: &Range<usize>, one: &(dyn Fn(u32) -> SweptAabbF32 + Sync)| {
            SweptBvh::build_with(range.len(), |index| one(range.start as u32 + index))
        };
        Self {
            vertices: of(&ranges.vertices, &|vertex| fit.vertex(vertex)),
            edges: of(&ranges.edges, &|edge| fit.edge(edge)),
            triangles: of(&ranges.triangles, &|triangle| fit.triangle(triangle)),
            ranges,
        }
    }

    fn refit(&mut self, fit: SweptAabbBuilder<'_>) {
        let Self { vertices, edges, triangles, ranges } = self;
        vertices.refit_with(|one| fit.vertex(ranges.vertices.start as u32 + one));
        edges.refit_with(|one| fit.edge(ranges.edges.start as u32 + one));
        triangles.refit_with(|one| fit.triangle(ranges.triangles.start as u32 + one));
    }
}

/// What boxes are made of.
#[derive(Clone, Copy)]
struct SweptAabbBuilder<'a> {
    mesh: &'a CollisionMesh,
    trajectories: &'a TrajectoriesF32,
    /// Room around, as a part of the thickness.
    thickness_factor: f64,
}

impl SweptAabbBuilder<'_> {
    fn vertex(&self, vertex: u32) -> SweptAabbF32 {
        self.swept_aabb(&[vertex])
    }

    fn edge(&self, edge: u32) -> SweptAabbF32 {
        self.swept_aabb(&self.mesh.edges[edge as usize])
    }

    fn triangle(&self, triangle: u32) -> SweptAabbF32 {
        self.swept_aabb(&self.mesh.triangles[triangle as usize])
    }

    /// The box around points, grown by a part of the thickness there, so that two boxes apart mean surfaces
    /// apart by more than that part of both.
    #[inline]
    fn swept_aabb(&self, vertices: &[u32]) -> SweptAabbF32 {
        let margin =
            self.thickness_factor * self.mesh.surface_properties[vertices[0] as usize].thickness;
        self.trajectories.swept_aabb(vertices, margin)
    }
}
