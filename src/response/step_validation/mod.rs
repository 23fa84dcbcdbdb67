// SPDX-License-Identifier: MIT OR Apache-2.0
//! The check of a step: what would come too close on the ways that it takes.
//!
//! All pairs along the ways that are expected are looked for when the step begins, with room to spare. Where the ways
//! that come out end elsewhere, but not far from there, these are all that need to be checked. Where a few vertices have
//! strayed farther, the pairs that these are part of are looked for as well, in trees that still hold the ways of the
//! others; where many have, all pairs are, and are watched if the step does not pass and has to be corrected. What is kept
//! R apart on
//! ways that end elsewhere by δ₁ and δ₂ at most is still R − δ₁ − δ₂ apart, since straight ways from the same starts
//! are never farther from each other than at their ends. Every vertex has a margin m. A pair that keeps the distance
//! τ is watched if it comes within R = LEAST_GAP τ + m₁ + m₂, with the largest margins of its sides, or within
//! (1 + SLACK) τ if that is more; so no other pair can come within LEAST_GAP τ as long as δ ≤ m for every vertex. With
//! m = (1 + SLACK − LEAST_GAP) t, where t is the thickness of the vertex, both are the same for all pairs but those
//! of one cloth that are near each other at rest, and keep less than both thicknesses. And as the boxes of the trees have
//! (1 + SLACK) t around the ways that were expected, those of features whose vertices all have δ ≤ m still hold their ways
//! with LEAST_GAP t around.

#[cfg(test)]
mod tests;

use super::{Response, SLACK};
use crate::{
    Vec3,
    collision::{Deviations, Motion, Pair, Strays},
    parallel::reductions,
    surface::Surfaces,
};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The part of the thickness that a step leaves at least.
const LEAST_GAP: f64 = 0.01;
/// What is nearer than this part of the thickness hardly comes nearer at all, however many steps press on it: results are
/// kept in single precision, which must still tell it from none.
const FINEST_GAP: f64 = 0.001;
const HARDLY: f64 = 0.999;
/// The part of the edges there that margins are measured by where cloth is finer than thick. In a regular mesh features
/// without a common vertex are 0.6 edges from each other at rest, or more; two margins are less, so that what is all around
/// a vertex is not near.
const EDGE_PART: f64 = 0.15;
/// Where no more than this part of the pairs that are looked at would cross, corrections go on with these and the ones
/// that there are: to look for all others that may meet costs as much as a correction.
const FEW: f64 = 1.0e-3;
/// Where no more than this part of all vertices has strayed, the pairs of these are looked for alone. From a sixteenth to a
/// quarter of them both ways take equally long.
const STRAYING: f64 = 1.0 / 8.0;
/// Room for rounding in comparisons of ways.
const CAUTION: f64 = 1.0 - 1.0e-6;

/// What is known of the pairs that are near along certain ways.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    /// Those of them that others keep apart, in order. The rest are among the ones that are looked at after each correction,
    /// as are idle ones that have been rescued.
    idle: Vec<Pair>,
    /// How far vertices are from where these ways end.
    pub(crate) deviations: Deviations,
    /// Whether the trees hold these ways.
    is_in_trees: bool,
    /// Pairs that are as near, not idle, but let go.
    let_go: u64,
}

impl Watch {
    /// The vertices of cloths, `count` in all, of which other pairs may come too close than those that are known; `None`
    /// where nothing is known.
    fn strays(&self, count: usize, surfaces: &Surfaces) -> Option<Vec<u32>> {
        self.deviations.beyond(count, |vertex| CAUTION * margin(surfaces, vertex as u32))
    }

    /// Whether all pairs that may come too close are known where the vertices of cloths are.
    fn covers(&self, count: usize, surfaces: &Surfaces) -> bool {
        self.strays(count, surfaces).is_some_and(|strays| strays.is_empty())
    }
}

impl Response {
    /// Checks the ways to `positions` against all pairs. Says whether any would come too close; those are
    /// rescued.
    pub(crate) fn verify(&mut self, positions: &[Vec3]) -> bool {
        let violations = self.violations(positions);
        if violations.is_empty() {
            return true;
        }
        let are_few = violations.len() as f64 <= FEW * self.pairs.len() as f64;
        if !are_few && !self.watch.covers(positions.len(), &self.surfaces) {
            self.widen_pairs();
        }
        self.rescue(&violations);
        false
    }

    /// Looks for all pairs that are near along the ways there are, to which the trees have been fitted. Gives those that
    /// no others keep apart, in order, in the room of other ones.
    pub(crate) fn watch(&mut self, mut pairs: Vec<Pair>) -> Vec<Pair> {
        let mut idle = std::mem::take(&mut self.watch.idle);
        let [count, idle_count] = [pairs.len() + idle.len(), idle.len()];
        empty(&mut pairs, count);
        empty(&mut idle, idle_count);
        self.watch.let_go = self.find_near_pairs(&mut pairs);
        self.is_led_across = pairs.extract_if(.., |pair| self.is_given(pair)).count() > 0;
        idle.extend(pairs.extract_if(.., |pair| self.is_idle(pair)));
        self.watch.idle = idle;
        self.watch.deviations.expect(&self.ends[..self.surfaces.cloth_vertices]);
        self.watch.is_in_trees = true;
        pairs
    }

    /// All pairs that are near, as far as they are known; idle ones are not counted.
    pub(crate) fn near_count(&self) -> u64 {
        self.pairs.len() as u64 + self.watch.let_go
    }

    /// Finds the pairs that may meet on the ways there are, those that others keep apart among them, in order; and those
    /// that will, as nothing in them gives way. Gives how many are let go.
    fn find_near_pairs(&self, found: &mut Vec<Pair>) -> u64 {
        let (surfaces, motion) = (&self.surfaces, self.motion());
        let near = |pair: &Pair, thickness: f64| reach(thickness, margins(pair, surfaces));
        let sought = (surfaces, 1.0 + SLACK, near);
        let let_go = AtomicU64::new(0);
        let keep = |pair: &mut Pair| {
            let leads_across = |pair: &Pair| {
                self.is_given(pair) && is_violated(&mut pair.clone(), surfaces, motion)
            };
            if !pair.comes_near(surfaces, motion, (1.0 + SLACK, near)) {
                return false;
            }
            if self.gives_way(pair) && self.is_let_go(pair) {
                let_go.fetch_add(u64::from(!self.is_idle(pair)), Relaxed);
                return false;
            }
            self.gives_way(pair) || leads_across(pair)
        };
        self.broad_phase.pairs(sought, (self.with_self, keep), found);
        found.par_sort_unstable_by_key(Pair::key);
        let_go.into_inner()
    }

    /// Takes in the pairs along the ways that corrections have led to.
    fn widen_pairs(&mut self) {
        let motion = Motion { starts: &self.starts, ends: &self.ends };
        self.broad_phase.follow(motion);
        self.broad_phase.refit_cloths(&self.surfaces, 1.0 + SLACK);
        let near = self.watch(Vec::new());
        let known = self.pairs.len();
        for pair in &mut self.pairs {
            // They were measured on other ways.
            pair.clearance = 0.0;
        }
        for pair in near {
            match self.pairs[..known].binary_search_by_key(&pair.key(), Pair::key) {
                Ok(place) => self.pairs[place].clearance = pair.clearance,
                Err(_) => self.pairs.push(pair),
            }
        }
        self.pairs.sort_unstable_by_key(Pair::key);
    }

    /// The pairs that come too close on the ways to `positions`, in order.
    pub(crate) fn violations(&mut self, positions: &[Vec3]) -> Vec<Pair> {
        self.move_to(positions);
        if self.is_alone() {
            return Vec::new();
        }
        let strays = self.watch.strays(positions.len(), &self.surfaces);
        let are_few = |strays: &Vec<u32>| strays.len() as f64 <= STRAYING * positions.len() as f64;
        match strays {
            Some(strays) if strays.is_empty() => self.watched_violations(),
            Some(strays) if self.watch.is_in_trees && are_few(&strays) => {
                let mut found = self.watched_violations();
                found.extend(self.violations_of(strays));
                in_order(found)
            }
            _ => self.all_violations(),
        }
    }

    /// The watched pairs that come too close on the ways there are, in order.
    fn watched_violations(&self) -> Vec<Pair> {
        let (surfaces, motion) = (&self.surfaces, self.motion());
        let each = self.watch.idle.par_iter().chain(&self.pairs);
        let violated = each.with_min_len(reductions::ELEMENTS / 4).filter_map(|pair| {
            if self.watch.deviations.leave_apart(pair, LEAST_GAP * pair.thickness) {
                return None;
            }
            let mut pair = Pair { rescues: 0, ..*pair };
            is_violated(&mut pair, surfaces, motion).then_some(pair)
        });
        in_order(violated.collect())
    }

    /// The same of all pairs that these vertices are part of, some of them twice and in any order.
    fn violations_of(&mut self, vertices: Vec<u32>) -> Vec<Pair> {
        let strays = Strays::new(&self.surfaces, vertices);
        let motion = Motion { starts: &self.starts, ends: &self.ends };
        self.broad_phase.follow(motion);
        self.broad_phase.widen(&strays, &self.surfaces, LEAST_GAP);
        let too_close = |pair: &mut Pair| self.comes_too_close(pair);
        let sought = (&self.surfaces, LEAST_GAP, least);
        self.broad_phase.pairs_of(&strays, sought, (self.with_self, too_close))
    }

    /// The same of all pairs there are, in order.
    fn all_violations(&mut self) -> Vec<Pair> {
        self.watch.is_in_trees = false;
        let motion = Motion { starts: &self.starts, ends: &self.ends };
        self.broad_phase.follow(motion);
        self.broad_phase.refit_cloths(&self.surfaces, LEAST_GAP);
        let too_close = |pair: &mut Pair| self.comes_too_close(pair);
        let sought = (&self.surfaces, LEAST_GAP, least);
        let mut found = Vec::new();
        self.broad_phase.pairs(sought, (self.with_self, too_close), &mut found);
        found.sort_unstable_by_key(Pair::key);
        found
    }

    fn comes_too_close(&self, pair: &mut Pair) -> bool {
        let (surfaces, motion) = (&self.surfaces, self.motion());
        pair.comes_near(surfaces, motion, (LEAST_GAP, least))
            && self.is_guarded(pair)
            && is_violated(pair, surfaces, motion)
    }
}

/// Makes room for about `count` others, but not for many times as many.
pub(crate) fn empty<T>(list: &mut Vec<T>, count: usize) {
    const MOST: usize = 4;
    list.clear();
    if list.capacity() > MOST * count {
        list.shrink_to(2 * count);
    }
}

/// Pairs in order, each of them once.
fn in_order(mut pairs: Vec<Pair>) -> Vec<Pair> {
    pairs.sort_unstable_by_key(Pair::key);
    pairs.dedup_by_key(|pair| pair.key());
    pairs
}

/// The distance within which a pair is watched that keeps `thickness`, all in m.
fn reach(thickness: f64, margins: f64) -> f64 {
    ((1.0 + SLACK) * thickness).max(LEAST_GAP * thickness + margins)
}

/// The distance that a step leaves a pair at least that keeps `thickness`, all in m.
fn least(_: &Pair, thickness: f64) -> f64 {
    LEAST_GAP * thickness
}

/// How far a vertex may end from where it was expected to with all pairs known that may come too close, in m.
fn margin(surfaces: &Surfaces, vertex: u32) -> f64 {
    let thickness = surfaces.kinds[vertex as usize].thickness;
    let most = surfaces
        .edge_lengths
        .get(vertex as usize)
        .map_or(thickness, |length| thickness.min(EDGE_PART * length));
    (1.0 + SLACK - LEAST_GAP) * most
}

/// The same of two features together, in m.
fn margins(pair: &Pair, surfaces: &Surfaces) -> f64 {
    let most = |vertices: &[u32]| {
        vertices.iter().map(|vertex| margin(surfaces, *vertex)).fold(0.0, f64::max)
    };
    let (first, second) = pair.sides();
    most(first) + most(second)
}

/// Whether a pair comes closer than a step may leave it.
fn is_violated(pair: &mut Pair, surfaces: &Surfaces, motion: Motion<'_>) -> bool {
    if !pair.measure(motion, LEAST_GAP * pair.thickness) {
        return false;
    }
    if let Some(gap) = pair.gap_from_touch(surfaces, motion) {
        return gap < 0.0;
    }
    pair.comes_within(motion, least_gap(pair.start, pair.thickness))
}

/// The distance that a step leaves where there was one of `start`, in m.
fn least_gap(start: f64, thickness: f64) -> f64 {
    let part = if start > FINEST_GAP * thickness { 0.5 } else { HARDLY };
    (LEAST_GAP * thickness).min(part * start)
}
