// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pairs whose boxes meet: as soon as there are enough, those that certainly stay apart are told from the others, all at
//! once. First by the thickness of both sides; then, where cloth is finer than thick, by the little that neighbours keep.

use super::Fit;
use crate::collision::{
    primitive_pair::{Kind, Pair},
    trajectory_culling::{AT_ONCE, Spaced},
};

/// Pairs of one kind that a task comes upon.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    met: Waiting,
    /// Those of them of one cloth that are not told apart by the thickness of both sides.
    close: Waiting,
    found: Vec<Pair>,
}

/// Pairs that wait to be told apart.
#[derive(Debug, Default)]
struct Waiting {
    /// Features, with their vertices and the distance that they are to be told apart by.
    features: [[u32; 2]; AT_ONCE],
    spaced: [Spaced; AT_ONCE],
    count: usize,
}

impl Waiting {
    /// Whether no other can wait after this one.
    #[inline(always)]
    fn push(&mut self, pair: &Pair, distance: f64) -> bool {
        let place = self.count % AT_ONCE;
        self.features[place] = pair.features;
        self.spaced[place] = (pair.vertices, distance);
        self.count = place + 1;
        self.count == AT_ONCE
    }
}

/// What is made of features whose boxes meet.
pub(crate) struct Search<'a, Reach, Keep> {
    pub(crate) fit: Fit<'a>,
    /// What a pair that keeps a thickness has to come within to be wanted, both in m: no more than a part of the thickness of
    /// both sides, and never less where it keeps more.
    pub(crate) reach: Reach,
    /// Which pairs are wanted.
    pub(crate) keep: Keep,
}

impl<Reach, Keep> Search<'_, Reach, Keep>
where
    Reach: Fn(&Pair, f64) -> f64 + Sync,
    Keep: Fn(&mut Pair) -> bool + Sync,
{
    pub(crate) fn vertex_face(&self, vertex: u32, triangle: u32, candidates: &mut Candidates) {
        let Fit { surfaces, .. } = self.fit;
        let corners = &surfaces.triangles[triangle as usize];
        let is_part = surfaces.is_cloth(vertex) || surfaces.has_triangles(vertex);
        if is_part && !corners.contains(&vertex) && !surfaces.never_meet(&[vertex], corners) {
            self.consider(&Pair::vertex_face(surfaces, vertex, triangle), candidates);
        }
    }

    pub(crate) fn edge_edge(&self, first: u32, second: u32, candidates: &mut Candidates) {
        let Fit { surfaces, .. } = self.fit;
        let [one, other] = [first, second].map(|edge| &surfaces.edges[edge as usize]);
        let share = one.iter().any(|vertex| other.contains(vertex));
        if !share && !surfaces.never_meet(one, other) {
            self.consider(&Pair::edge_edge(surfaces, first, second), candidates);
        }
    }

    #[inline(always)]
    fn consider(&self, pair: &Pair, candidates: &mut Candidates) {
        let Fit { surfaces, part, .. } = self.fit;
        if candidates.met.push(pair, part * pair.both_thicknesses(surfaces)) {
            self.sift(pair.kind, candidates);
        }
    }

    /// Goes through what boxes have met.
    fn sift(&self, kind: Kind, candidates: &mut Candidates) {
        let Candidates { met, close, found } = candidates;
        for (mut pair, distance) in self.not_apart(kind, met) {
            if pair.is_of_one_cloth(self.fit.surfaces) {
                if close.push(&pair, distance) {
                    self.sift_close(kind, close, found);
                }
            } else if (self.keep)(&mut pair) {
                found.push(pair);
            }
        }
    }

    /// Goes through what is of one cloth and within the thickness of both sides.
    fn sift_close(&self, kind: Kind, close: &mut Waiting, found: &mut Vec<Pair>) {
        self.shorten(kind, close);
        let near = self.not_apart(kind, close).map(|(pair, _)| pair);
        found.extend(near.filter_map(|mut pair| (self.keep)(&mut pair).then_some(pair)));
    }

    /// Shortens the distances that pairs of one cloth are to be told apart by to what they keep.
    fn shorten(&self, kind: Kind, waiting: &mut Waiting) {
        let Waiting { features, spaced, count } = waiting;
        let spaced = &mut spaced[..*count];
        if spaced.is_empty() {
            return;
        }
        let rests = self.fit.ways.rest_distances(kind, spaced);
        for ((rest, features), (vertices, distance)) in rests.iter().zip(features).zip(spaced) {
            let pair = Pair::new(kind, *features, *vertices);
            let thickness = pair.within_rest(self.fit.surfaces, f64::from(*rest));
            *distance = distance.min((self.reach)(&pair, thickness));
        }
    }

    /// The pairs that wait and may come within their distance, with it; none waits any more.
    fn not_apart<'b>(
        &self,
        kind: Kind,
        waiting: &'b mut Waiting,
    ) -> impl Iterator<Item = (Pair, f64)> + use<'b, Reach, Keep> {
        let Waiting { features, spaced, count } = waiting;
        let spaced = &spaced[..std::mem::take(count)];
        let apart = if spaced.is_empty() { 0 } else { self.fit.ways.tell_apart(kind, spaced) };
        let all = features.iter().zip(spaced).enumerate();
        all.filter(move |(place, _)| apart >> place & 1 == 0).map(
            move |(_, (own, (vertices, distance)))| (Pair::new(kind, *own, *vertices), *distance),
        )
    }

    /// The pairs that are wanted, of all.
    pub(crate) fn sifted(&self, kind: Kind, mut candidates: Candidates) -> Vec<Pair> {
        self.sift(kind, &mut candidates);
        let Candidates { mut close, mut found, .. } = candidates;
        self.sift_close(kind, &mut close, &mut found);
        found
    }
}
