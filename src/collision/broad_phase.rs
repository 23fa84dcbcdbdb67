// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which features may meet within a step: trees over all vertices, edges and triangles.

use super::{
    MovingBox, MovingTree,
    pair::{Motion, Pair},
    surfaces::Surfaces,
    tangle::Crossing,
};
use std::ops::Range;

/// Trees over the features of the cloths and over those of the colliders.
#[derive(Clone, Debug)]
pub(crate) struct BroadPhase {
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
        Self {
            cloths: Trees::new(cloths, surfaces, motion),
            colliders: Trees::new(colliders, surfaces, motion),
        }
    }

    /// Fits the trees of the cloths to the way they go, with `part` times their thickness around.
    pub(crate) fn refit_cloths(&mut self, surfaces: &Surfaces, motion: Motion<'_>, part: f64) {
        self.cloths.refit(Fit { surfaces, motion, part });
    }

    /// Fits the trees of the colliders to the way they go.
    pub(crate) fn refit_colliders(&mut self, surfaces: &Surfaces, motion: Motion<'_>) {
        self.colliders.refit(Fit { surfaces, motion, part: 1.0 });
    }

    /// All pairs whose boxes meet and that `keep` wants, in an order that is always the same.
    pub(crate) fn pairs(
        &self,
        surfaces: &Surfaces,
        with_self: bool,
        keep: impl Fn(&mut Pair) -> bool + Sync,
    ) -> Vec<Pair> {
        let mut found = Vec::new();
        let consider = |mut pair: Pair, found: &mut Vec<Pair>| {
            if keep(&mut pair) {
                found.push(pair);
            }
        };
        let faces =
            |first: &Ranges, second: &Ranges| (first.vertices.start, second.triangles.start);
        let vertex_face = |(vertex, triangle): (usize, usize), found: &mut Vec<Pair>| {
            let (vertex, triangle) = (vertex as u32, triangle as u32);
            let corners = &surfaces.triangles[triangle as usize];
            if !corners.contains(&vertex) && !surfaces.never_meet(&[vertex], corners) {
                consider(Pair::vertex_face(surfaces, vertex, triangle), found);
            }
        };
        let edge_edge = |(first, second): (usize, usize), found: &mut Vec<Pair>| {
            let ends = surfaces.edges[second];
            let starts = &surfaces.edges[first];
            if !starts.iter().any(|vertex| ends.contains(vertex))
                && !surfaces.never_meet(starts, &ends)
            {
                consider(Pair::edge_edge(surfaces, first as u32, second as u32), found);
            }
        };
        let (cloths, colliders) = (&self.cloths, &self.colliders);
        let meet_faces = |one: &Trees, other: &Trees, found: &mut Vec<Pair>| {
            let (first, second) = faces(&one.ranges, &other.ranges);
            one.vertices.pairs(
                &other.triangles,
                |a, b, out| vertex_face((first + a as usize, second + b as usize), out),
                found,
            );
        };
        meet_faces(cloths, colliders, &mut found);
        meet_faces(colliders, cloths, &mut found);
        let first_edge = colliders.ranges.edges.start;
        cloths.edges.pairs(
            &colliders.edges,
            |a, b, out| edge_edge((a as usize, first_edge + b as usize), out),
            &mut found,
        );
        if with_self {
            meet_faces(cloths, cloths, &mut found);
            cloths
                .edges
                .self_pairs(|a, b, out| edge_edge((a as usize, b as usize), out), &mut found);
        }
        found
    }
}

impl BroadPhase {
    /// All edges that go through triangles, of those whose boxes meet.
    pub(crate) fn crossings(
        &self,
        with_self: bool,
        crosses: impl Fn(Crossing) -> bool + Sync,
    ) -> Vec<Crossing> {
        let mut found = Vec::new();
        let mut meet = |one: &Trees, other: &Trees| {
            let (first, second) = (one.ranges.edges.start, other.ranges.triangles.start);
            let visit = |a: u32, b: u32, found: &mut Vec<Crossing>| {
                let crossing = Crossing { edge: first as u32 + a, triangle: second as u32 + b };
                if crosses(crossing) {
                    found.push(crossing);
                }
            };
            one.edges.pairs(&other.triangles, visit, &mut found);
        };
        meet(&self.cloths, &self.colliders);
        meet(&self.colliders, &self.cloths);
        if with_self {
            meet(&self.cloths, &self.cloths);
        }
        found
    }
}

impl Trees {
    fn new(ranges: Ranges, surfaces: &Surfaces, motion: Motion<'_>) -> Self {
        let fit = Fit { surfaces, motion, part: 1.0 };
        let of = |range: &Range<usize>, one: &(dyn Fn(usize) -> MovingBox + Sync)| {
            MovingTree::of(range.len(), |index| one(range.start + index as usize))
        };
        Self {
            vertices: of(&ranges.vertices, &|index| fit.around(&[index as u32])),
            edges: of(&ranges.edges, &|index| fit.around(&surfaces.edges[index])),
            triangles: of(&ranges.triangles, &|index| fit.around(&surfaces.triangles[index])),
            ranges,
        }
    }

    fn refit(&mut self, fit: Fit<'_>) {
        let Self { vertices, edges, triangles, ranges } = self;
        let index = |range: &Range<usize>, index: u32| range.start + index as usize;
        let surfaces = fit.surfaces;
        vertices.refit_with(|one| fit.around(&[index(&ranges.vertices, one) as u32]));
        edges.refit_with(|one| fit.around(&surfaces.edges[index(&ranges.edges, one)]));
        triangles.refit_with(|one| fit.around(&surfaces.triangles[index(&ranges.triangles, one)]));
    }
}

/// What boxes are made of.
#[derive(Clone, Copy)]
struct Fit<'a> {
    surfaces: &'a Surfaces,
    motion: Motion<'a>,
    /// Room around, as a part of the thickness.
    part: f64,
}

impl Fit<'_> {
    /// The box around points, grown by a part of the thickness there, so that two boxes apart mean surfaces
    /// apart by more than that part of both.
    fn around(&self, vertices: &[u32]) -> MovingBox {
        let margin = self.part * self.surfaces.kinds[vertices[0] as usize].thickness;
        let Motion { starts, ends } = self.motion;
        let points = vertices.iter().map(|v| (&starts[*v as usize], &ends[*v as usize]));
        MovingBox::around(points).grown(margin)
    }
}
