// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pairs whose boxes meet: as soon as there are enough, those that certainly stay apart are told from the others, all at once.

use super::{Fit, Pair};
use crate::collision::{
    pair::Kind,
    ways::{AT_ONCE, Spaced},
};

/// Pairs of one kind that a task comes upon.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Features of those that are waiting, with their vertices and the distance that they are to be told apart by.
    features: [[u32; 2]; AT_ONCE],
    spaced: [Spaced; AT_ONCE],
    waiting: usize,
    found: Vec<Pair>,
}

/// What is made of features whose boxes meet.
pub(super) struct Search<'a, Keep> {
    pub(super) fit: Fit<'a>,
    /// Which pairs are wanted.
    pub(super) keep: Keep,
}

impl<Keep: Fn(&mut Pair) -> bool + Sync> Search<'_, Keep> {
    pub(super) fn vertex_face(&self, vertex: u32, triangle: u32, candidates: &mut Candidates) {
        let Fit { surfaces, .. } = self.fit;
        let corners = &surfaces.triangles[triangle as usize];
        if !corners.contains(&vertex) && !surfaces.never_meet(&[vertex], corners) {
            self.consider(&Pair::vertex_face(surfaces, vertex, triangle), candidates);
        }
    }

    pub(super) fn edge_edge(&self, first: u32, second: u32, candidates: &mut Candidates) {
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
        let place = candidates.waiting % AT_ONCE;
        candidates.features[place] = pair.features;
        candidates.spaced[place] = (pair.vertices, part * pair.both_thicknesses(surfaces));
        candidates.waiting = place + 1;
        if candidates.waiting == AT_ONCE {
            self.sift(pair.kind, candidates);
        }
    }

    /// Goes through what is waiting.
    fn sift(&self, kind: Kind, candidates: &mut Candidates) {
        let Candidates { features, spaced, waiting, found } = candidates;
        let spaced = &spaced[..std::mem::take(waiting)];
        if spaced.is_empty() {
            return;
        }
        let apart = self.fit.ways.tell_apart(kind, spaced);
        for (place, (features, (vertices, _))) in features.iter().zip(spaced).enumerate() {
            if apart >> place & 1 == 0 {
                let mut pair = Pair::new(kind, *features, *vertices);
                if (self.keep)(&mut pair) {
                    found.push(pair);
                }
            }
        }
    }

    /// The pairs that are wanted, of all.
    pub(super) fn sifted(&self, kind: Kind, mut candidates: Candidates) -> Vec<Pair> {
        self.sift(kind, &mut candidates);
        candidates.found
    }
}
