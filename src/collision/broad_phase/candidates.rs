// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pairs whose boxes meet: as soon as there are enough, those that certainly stay apart are told from the others, all at
//! once. First by the thickness of both sides; then, where cloth is finer than thick, by the little that neighbours keep.

use super::SweptAabbBuilder;
use crate::collision::{
    primitive_pair::{PairKind, PrimitivePair},
    trajectory_culling::{PAIRS_PER_BATCH, SeparationQuery},
};

/// Pairs of one kind that a task comes upon.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    overlapping: PairBatch,
    /// Those of them of one cloth that are not told apart by the thickness of both sides.
    within_one_cloth: PairBatch,
    accepted: Vec<PrimitivePair>,
}

/// Pairs that wait to be told apart.
#[derive(Debug, Default)]
struct PairBatch {
    /// Features, with their vertices and the distance that they are to be told apart by.
    features: [[u32; 2]; PAIRS_PER_BATCH],
    queries: [SeparationQuery; PAIRS_PER_BATCH],
    count: usize,
}

impl PairBatch {
    /// Whether no other can wait after this one.
    #[inline(always)]
    fn push(&mut self, pair: &PrimitivePair, distance: f64) -> bool {
        let place = self.count % PAIRS_PER_BATCH;
        self.features[place] = pair.features;
        self.queries[place] = (pair.vertices, distance);
        self.count = place + 1;
        self.count == PAIRS_PER_BATCH
    }
}

/// What is made of features whose boxes meet.
pub(crate) struct CandidateSearch<'a, Reach, Keep> {
    pub(crate) builder: SweptAabbBuilder<'a>,
    /// What a pair that keeps a thickness has to come within to be wanted, both in m: no more than a part of the thickness of
    /// both sides, and never less where it keeps more.
    pub(crate) detection_distance: Reach,
    /// Which pairs are wanted.
    pub(crate) accept: Keep,
}

impl<Reach, Keep> CandidateSearch<'_, Reach, Keep>
where
    Reach: Fn(&PrimitivePair, f64) -> f64 + Sync,
    Keep: Fn(&mut PrimitivePair) -> bool + Sync,
{
    pub(crate) fn add_vertex_face(&self, vertex: u32, triangle: u32, candidates: &mut Candidates) {
        let SweptAabbBuilder { mesh: surfaces, .. } = self.builder;
        let corners = &surfaces.triangles[triangle as usize];
        let is_part = surfaces.is_cloth(vertex) || surfaces.has_triangles(vertex);
        if is_part && !corners.contains(&vertex) && !surfaces.excludes_pair(&[vertex], corners) {
            self.enqueue(&PrimitivePair::vertex_face(surfaces, vertex, triangle), candidates);
        }
    }

    pub(crate) fn add_edge_edge(&self, first: u32, second: u32, candidates: &mut Candidates) {
        let SweptAabbBuilder { mesh: surfaces, .. } = self.builder;
        let [one, other] = [first, second].map(|edge| &surfaces.edges[edge as usize]);
        let share = one.iter().any(|vertex| other.contains(vertex));
        if !share && !surfaces.excludes_pair(one, other) {
            self.enqueue(&PrimitivePair::edge_edge(surfaces, first, second), candidates);
        }
    }

    #[inline(always)]
    fn enqueue(&self, pair: &PrimitivePair, candidates: &mut Candidates) {
        let SweptAabbBuilder { mesh: surfaces, thickness_factor: part, .. } = self.builder;
        if candidates.overlapping.push(pair, part * pair.combined_thickness(surfaces)) {
            self.cull_overlapping(pair.kind, candidates);
        }
    }

    /// Goes through what boxes have met.
    fn cull_overlapping(&self, kind: PairKind, candidates: &mut Candidates) {
        let Candidates { overlapping: met, within_one_cloth: close, accepted: found } = candidates;
        for (mut pair, distance) in self.drain_unseparated(kind, met) {
            if pair.is_within_one_cloth(self.builder.mesh) {
                if close.push(&pair, distance) {
                    self.cull_within_one_cloth(kind, close, found);
                }
            } else if (self.accept)(&mut pair) {
                found.push(pair);
            }
        }
    }

    /// Goes through what is of one cloth and within the thickness of both sides.
    fn cull_within_one_cloth(
        &self,
        kind: PairKind,
        close: &mut PairBatch,
        found: &mut Vec<PrimitivePair>,
    ) {
        self.reduce_to_rest_separation(kind, close);
        let near = self.drain_unseparated(kind, close).map(|(pair, _)| pair);
        found.extend(near.filter_map(|mut pair| (self.accept)(&mut pair).then_some(pair)));
    }

    /// Shortens the distances that pairs of one cloth are to be told apart by to what they keep.
    fn reduce_to_rest_separation(&self, kind: PairKind, waiting: &mut PairBatch) {
        let PairBatch { features, queries: spaced, count } = waiting;
        let spaced = &mut spaced[..*count];
        if spaced.is_empty() {
            return;
        }
        let rests = self.builder.trajectories.rest_distance_upper_bounds(kind, spaced);
        for ((rest, features), (vertices, distance)) in rests.iter().zip(features).zip(spaced) {
            let pair = PrimitivePair::new(kind, *features, *vertices);
            let thickness = pair.thickness_at_rest_distance(self.builder.mesh, f64::from(*rest));
            *distance = distance.min((self.detection_distance)(&pair, thickness));
        }
    }

    /// The pairs that wait and may come within their distance, with it; none waits any more.
    fn drain_unseparated<'b>(
        &self,
        kind: PairKind,
        waiting: &'b mut PairBatch,
    ) -> impl Iterator<Item = (PrimitivePair, f64)> + use<'b, Reach, Keep> {
        let PairBatch { features, queries: spaced, count } = waiting;
        let spaced = &spaced[..std::mem::take(count)];
        let apart = if spaced.is_empty() {
            0
        } else {
            self.builder.trajectories.separated_mask(kind, spaced)
        };
        let all = features.iter().zip(spaced).enumerate();
        all.filter(move |(place, _)| apart >> place & 1 == 0).map(
            move |(_, (own, (vertices, distance)))| {
                (PrimitivePair::new(kind, *own, *vertices), *distance)
            },
        )
    }

    /// The pairs that are wanted, of all.
    pub(crate) fn finish(&self, kind: PairKind, mut candidates: Candidates) -> Vec<PrimitivePair> {
        self.cull_overlapping(kind, &mut candidates);
        let Candidates { within_one_cloth: mut close, accepted: mut found, .. } = candidates;
        self.cull_within_one_cloth(kind, &mut close, &mut found);
        found
    }
}
