// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which features may meet within a step: trees over all vertices, edges and triangles.

mod candidates;
mod partial_query;

pub(crate) use partial_query::Strays;

use super::{
    broad_phase::candidates::{Candidates, Search},
    intersection::Crossing,
    primitive_pair::{Kind, Motion, Pair},
    trajectory_culling::RoundedWays,
};

use crate::{
    geometry::{MovingTree, RoundedBox},
    surface::Surfaces,
};
use std::ops::Range;

/// Trees over the features of the cloths and over those of the colliders, and the ways that they go.
#[derive(Clone, Debug)]
pub(crate) struct BroadPhase {
    ways: RoundedWays,
    cloths: Trees,
    colliders: Trees,
}

#[derive(Clone, Debug)]
struct Trees {
    vertices: MovingTree,
    edges: MovingTree,
    triangles: MovingTree,
    ranges: Ranges,
}

/// The features that trees are made over.
#[derive(Clone, Debug)]
struct Ranges {
    vertices: Range<usize>,
    edges: Range<usize>,
    triangles: Range<usize>,
}

impl BroadPhase {
    pub(crate) fn new(surfaces: &Surfaces, motion: Motion<'_>) -> Self {
        let has_cloths = surfaces.cloth_triangles > 0;
        let cloths = Ranges {
            vertices: 0..if has_cloths { surfaces.cloth_vertices } else { 0 },
            edges: 0..surfaces.cloth_edges,
            triangles: 0..surfaces.cloth_triangles,
        };
        let colliders = Ranges {
            vertices: surfaces.cloth_vertices..surfaces.kinds.len(),
            edges: surfaces.cloth_edges..surfaces.edges.len(),
            triangles: surfaces.cloth_triangles..surfaces.triangles.len(),
        };
        let mut ways = RoundedWays::new(&surfaces.rest);
        ways.follow(motion);
        let fit = Fit { surfaces, ways: &ways, part: 1.0 };
        let [cloths, colliders] = [cloths, colliders].map(|ranges| Trees::new(ranges, fit));
        Self { ways, cloths, colliders }
    }

    /// Goes on with other ways of all vertices, to which trees can be fitted.
    pub(crate) fn follow(&mut self, motion: Motion<'_>) {
        self.ways.follow(motion);
    }

    /// Fits the trees of the cloths to the way they go, with `part` times their thickness around.
    pub(crate) fn refit_cloths(&mut self, surfaces: &Surfaces, part: f64) {
        self.cloths.refit(Fit { surfaces, ways: &self.ways, part });
    }

    /// Fits the trees of the colliders to the way they go.
    pub(crate) fn refit_colliders(&mut self, surfaces: &Surfaces) {
        self.colliders.refit(Fit { surfaces, ways: &self.ways, part: 1.0 });
    }

    /// Puts all pairs at the end of `found` whose boxes meet, that may come within `part` of the thickness of both sides,
    /// and within what `reach` makes of the thickness that they keep, and that `keep` wants, in an order that is always
    /// the same.
    pub(crate) fn pairs(
        &self,
        (surfaces, part, reach): (&Surfaces, f64, impl Fn(&Pair, f64) -> f64 + Sync),
        (with_self, keep): (bool, impl Fn(&mut Pair) -> bool + Sync),
        found: &mut Vec<Pair>,
    ) {
        let (cloths, colliders) = (&self.cloths, &self.colliders);
        let search = Search { fit: Fit { surfaces, ways: &self.ways, part }, reach, keep };
        search.meet_faces(cloths, colliders, found);
        search.meet_faces(colliders, cloths, found);
        search.meet_edges(cloths, colliders, found);
        if with_self {
            search.meet_faces(cloths, cloths, found);
            search.meet_themselves(cloths, found);
        }
    }
}

impl<Reach, Keep> Search<'_, Reach, Keep>
where
    Reach: Fn(&Pair, f64) -> f64 + Sync,
    Keep: Fn(&mut Pair) -> bool + Sync,
{
    /// The vertices of the first trees and the triangles of the second ones.
    fn meet_faces(&self, one: &Trees, other: &Trees, found: &mut Vec<Pair>) {
        let [first, second] = [one.ranges.vertices.start, other.ranges.triangles.start];
        let visit = |a: u32, b: u32, candidates: &mut Candidates| {
            self.vertex_face(first as u32 + a, second as u32 + b, candidates);
        };
        let finish = |candidates| self.sifted(Kind::VertexFace, candidates);
        one.vertices.pairs_by(&other.triangles, (visit, finish), found);
    }

    /// The edges of the first trees and those of the second ones.
    fn meet_edges(&self, one: &Trees, other: &Trees, found: &mut Vec<Pair>) {
        let [first, second] = [one.ranges.edges.start, other.ranges.edges.start];
        let visit = |a: u32, b: u32, candidates: &mut Candidates| {
            self.edge_edge(first as u32 + a, second as u32 + b, candidates);
        };
        let finish = |candidates| self.sifted(Kind::EdgeEdge, candidates);
        one.edges.pairs_by(&other.edges, (visit, finish), found);
    }

    /// The edges of the cloths, which come first, and one another.
    fn meet_themselves(&self, cloths: &Trees, found: &mut Vec<Pair>) {
        let visit = |a: u32, b: u32, candidates: &mut Candidates| self.edge_edge(a, b, candidates);
        let finish = |candidates| self.sifted(Kind::EdgeEdge, candidates);
        cloths.edges.self_pairs_by((visit, finish), found);
    }
}

impl BroadPhase {
    /// All edges that go through triangles, of those whose boxes meet.
    pub(crate) fn crossings(
        &self,
        with_self: bool,
        crosses: impl Fn(Crossing) -> bool + Sync,
    ) -> Vec<Crossing> {
        let (cloths, colliders) = (&self.cloths, &self.colliders);
        let crossing = |[edge, triangle]: [u32; 2]| Crossing { edge, triangle };
        let crosses = |pair| crosses(crossing(pair));
        let mut found = Vec::new();
        meet(cloths.edges(), colliders.triangles(), &crosses, &mut found);
        meet(colliders.edges(), cloths.triangles(), &crosses, &mut found);
        if with_self {
            meet(cloths.edges(), cloths.triangles(), &crosses, &mut found);
        }
        found.into_iter().map(crossing).collect()
    }

    /// All vertices of cloth and triangles that touch, of those whose boxes meet.
    pub(crate) fn touching(
        &self,
        with_self: bool,
        touches: impl Fn([u32; 2]) -> bool + Sync,
    ) -> Vec<[u32; 2]> {
        let (cloths, colliders) = (&self.cloths, &self.colliders);
        let mut found = Vec::new();
        meet(cloths.vertices(), colliders.triangles(), &touches, &mut found);
        if with_self {
            meet(cloths.vertices(), cloths.triangles(), &touches, &mut found);
        }
        found
    }
}

/// A tree, and the number of its first feature.
type Numbered<'a> = (&'a MovingTree, u32);

/// Puts those pairs of features of two trees at the end of `found` whose boxes meet and that are `wanted`.
fn meet(
    (one, first): Numbered<'_>,
    (other, second): Numbered<'_>,
    wanted: &(impl Fn([u32; 2]) -> bool + Sync),
    found: &mut Vec<[u32; 2]>,
) {
    let visit = |a: u32, b: u32, found: &mut Vec<[u32; 2]>| {
        let pair = [first + a, second + b];
        if wanted(pair) {
            found.push(pair);
        }
    };
    one.pairs(other, visit, found);
}

impl Trees {
    fn vertices(&self) -> Numbered<'_> {
        (&self.vertices, self.ranges.vertices.start as u32)
    }

    fn edges(&self) -> Numbered<'_> {
        (&self.edges, self.ranges.edges.start as u32)
    }

    fn triangles(&self) -> Numbered<'_> {
        (&self.triangles, self.ranges.triangles.start as u32)
    }

    fn new(ranges: Ranges, fit: Fit<'_>) -> Self {
        let of = |range: &Range<usize>, one: &(dyn Fn(u32) -> RoundedBox + Sync)| {
            MovingTree::of(range.len(), |index| one(range.start as u32 + index))
        };
        Self {
            vertices: of(&ranges.vertices, &|vertex| fit.vertex(vertex)),
            edges: of(&ranges.edges, &|edge| fit.edge(edge)),
            triangles: of(&ranges.triangles, &|triangle| fit.triangle(triangle)),
            ranges,
        }
    }

    fn refit(&mut self, fit: Fit<'_>) {
        let Self { vertices, edges, triangles, ranges } = self;
        vertices.refit_with(|one| fit.vertex(ranges.vertices.start as u32 + one));
        edges.refit_with(|one| fit.edge(ranges.edges.start as u32 + one));
        triangles.refit_with(|one| fit.triangle(ranges.triangles.start as u32 + one));
    }
}

/// What boxes are made of.
#[derive(Clone, Copy)]
struct Fit<'a> {
    surfaces: &'a Surfaces,
    ways: &'a RoundedWays,
    /// Room around, as a part of the thickness.
    part: f64,
}

impl Fit<'_> {
    fn vertex(&self, vertex: u32) -> RoundedBox {
        self.around(&[vertex])
    }

    fn edge(&self, edge: u32) -> RoundedBox {
        self.around(&self.surfaces.edges[edge as usize])
    }

    fn triangle(&self, triangle: u32) -> RoundedBox {
        self.around(&self.surfaces.triangles[triangle as usize])
    }

    /// The box around points, grown by a part of the thickness there, so that two boxes apart mean surfaces
    /// apart by more than that part of both.
    #[inline]
    fn around(&self, vertices: &[u32]) -> RoundedBox {
        let margin = self.part * self.surfaces.kinds[vertices[0] as usize].thickness;
        self.ways.around(vertices, margin)
    }
}
