// SPDX-License-Identifier: MIT OR Apache-2.0
//! Culling of pairs with overlapping boxes: a separating-axis test of full batches rejects most of
//! them before the narrow phase. The first test distance is the thickness of both sides; pairs
//! within one cloth are tested again at the smaller distance that their rest separation allows.

use super::{PrimitivePair, SweptAabbBuilder};
use crate::collision::{
    primitive_pair::{DetectionRange, PairKind},
    trajectory_culling::{PAIRS_PER_BATCH, SeparationQuery},
};

/// Pairs of one kind found by a task of the tree traversal.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Pairs with overlapping boxes.
    overlapping: PairBatch,
    /// Pairs within one cloth that are not separated by the thickness of both sides.
    within_one_cloth: PairBatch,
    accepted: Vec<PrimitivePair>,
}

/// Pairs that wait for the separation test.
#[derive(Debug, Default)]
struct PairBatch {
    features: [[u32; 2]; PAIRS_PER_BATCH],
    queries: [SeparationQuery; PAIRS_PER_BATCH],
    count: usize,
}

impl PairBatch {
    /// Adds a pair, and returns whether the batch is full.
    #[inline(always)]
    fn push(&mut self, pair: &PrimitivePair, distance: f64) -> bool {
        let index = self.count % PAIRS_PER_BATCH;
        self.features[index] = pair.features;
        self.queries[index] = SeparationQuery { vertices: pair.vertices, distance };
        self.count = index + 1;
        self.count == PAIRS_PER_BATCH
    }
}

/// Criteria of a candidate search.
pub(super) struct CandidateSearch<'a, Distance, Accept> {
    pub(super) builder: SweptAabbBuilder<'a>,
    /// Detection distance of pairs. Its thickness factor is the margin of the boxes as well.
    pub(super) range: &'a DetectionRange<Distance>,
    /// Narrow-phase predicate.
    pub(super) accept: &'a Accept,
}

impl<Distance, Accept> CandidateSearch<'_, Distance, Accept>
where
    Distance: Fn(&PrimitivePair, f64) -> f64 + Sync,
    Accept: Fn(&mut PrimitivePair) -> bool + Sync,
{
    #[inline]
    pub(super) fn add_vertex_face(&self, vertex: u32, triangle: u32, candidates: &mut Candidates) {
        let [a, b, c] = self.builder.mesh.triangles[triangle as usize];
        if vertex != a && vertex != b && vertex != c {
            let pair =
                PrimitivePair::new(PairKind::VertexFace, [vertex, triangle], [vertex, a, b, c]);
            self.enqueue(&pair, candidates);
        }
    }

    #[inline]
    pub(super) fn add_edge_edge(&self, first: u32, second: u32, candidates: &mut Candidates) {
        let edges = &self.builder.mesh.edges;
        let ([a, b], [c, d]) = (edges[first as usize], edges[second as usize]);
        if a != c && a != d && b != c && b != d {
            let pair = PrimitivePair::new(PairKind::EdgeEdge, [first, second], [a, b, c, d]);
            self.enqueue(&pair, candidates);
        }
    }

    #[inline(always)]
    fn enqueue(&self, pair: &PrimitivePair, candidates: &mut Candidates) {
        let distance = self.range.thickness_factor * pair.combined_thickness(self.builder.mesh);
        if candidates.overlapping.push(pair, distance) {
            self.cull_overlapping(pair.kind, candidates);
        }
    }

    /// Whether two features without a common vertex never are in contact. Fewer pairs are left to ask
    /// this of once the distant ones have been culled.
    fn is_excluded(&self, pair: &PrimitivePair) -> bool {
        let mesh = self.builder.mesh;
        let ([first, second], [vertex, ..]) = (pair.features, pair.vertices);
        let is_excluded_by_kind = match pair.kind {
            PairKind::VertexFace => {
                !(mesh.is_cloth(vertex) || mesh.has_triangles(vertex))
                    || mesh.is_ear_tip(vertex, second)
                    || mesh.strips_exclude_vertex_face(vertex, second)
            }
            PairKind::EdgeEdge => {
                mesh.are_crossing_diagonals(first, second)
                    || mesh.strips_exclude_edges(first, second)
            }
        };
        let (one, other) = pair.vertices_by_feature();
        is_excluded_by_kind || mesh.excludes_pair(one, other)
    }

    /// Tests the batch of pairs with overlapping boxes.
    fn cull_overlapping(&self, kind: PairKind, candidates: &mut Candidates) {
        let Candidates { overlapping, within_one_cloth, accepted } = candidates;
        for (mut pair, distance) in self.drain_unseparated(kind, overlapping) {
            if self.is_excluded(&pair) {
                continue;
            }
            if pair.is_within_one_cloth(self.builder.mesh) {
                if within_one_cloth.push(&pair, distance) {
                    self.cull_within_one_cloth(kind, within_one_cloth, accepted);
                }
            } else if (self.accept)(&mut pair) {
                accepted.push(pair);
            }
        }
    }

    /// Tests the batch of pairs within one cloth.
    fn cull_within_one_cloth(
        &self,
        kind: PairKind,
        batch: &mut PairBatch,
        accepted: &mut Vec<PrimitivePair>,
    ) {
        self.reduce_to_rest_separation(kind, batch);
        let pairs = self.drain_unseparated(kind, batch).map(|(pair, _)| pair);
        accepted.extend(pairs.filter_map(|mut pair| (self.accept)(&mut pair).then_some(pair)));
    }

    /// Reduces the test distances of pairs within one cloth to those that their rest separation
    /// allows.
    fn reduce_to_rest_separation(&self, kind: PairKind, batch: &mut PairBatch) {
        let PairBatch { features, queries, count } = batch;
        let queries = &mut queries[..*count];
        if queries.is_empty() {
            return;
        }
        let trajectories = self.builder.trajectories;
        let rest_distances = trajectories.rest_distance_upper_bounds(kind, queries);
        for ((rest_distance, features), query) in rest_distances.iter().zip(features).zip(queries) {
            let pair = PrimitivePair::new(kind, *features, query.vertices);
            let thickness =
                pair.thickness_at_rest_distance(self.builder.mesh, f64::from(*rest_distance));
            query.distance = query.distance.min((self.range.distance)(&pair, thickness));
        }
    }

    /// Empties the batch, and gives the pairs without a separating axis and their test distances in
    /// m.
    fn drain_unseparated<'b>(
        &self,
        kind: PairKind,
        batch: &'b mut PairBatch,
    ) -> impl Iterator<Item = (PrimitivePair, f64)> + use<'b, Distance, Accept> {
        let PairBatch { features, queries, count } = batch;
        let queries = &queries[..std::mem::take(count)];
        let separated = if queries.is_empty() {
            0
        } else {
            self.builder.trajectories.separated_mask(kind, queries)
        };
        let all = features.iter().zip(queries).enumerate();
        all.filter(move |(index, _)| separated >> index & 1 == 0).map(
            move |(_, (features, query))| {
                (PrimitivePair::new(kind, *features, query.vertices), query.distance)
            },
        )
    }

    /// Tests the remaining batches, and gives all accepted pairs.
    pub(super) fn finish(&self, kind: PairKind, mut candidates: Candidates) -> Vec<PrimitivePair> {
        self.cull_overlapping(kind, &mut candidates);
        let Candidates { mut within_one_cloth, mut accepted, .. } = candidates;
        self.cull_within_one_cloth(kind, &mut within_one_cloth, &mut accepted);
        accepted
    }
}
