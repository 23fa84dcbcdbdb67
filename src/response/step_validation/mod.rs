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

use super::{CollisionResponse, SLACK};
use crate::{
    Vec3,
    collision::{
        CandidateQuery, DetectionRange, DisplacementBound, FeatureSubset, PrimitivePair,
        Trajectories,
    },
    parallel::reductions,
    surface::CollisionMesh,
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
const ROUNDING_GUARD: f64 = 1.0 - 1.0e-6;

/// What is known of the pairs that are near along certain ways.
#[derive(Clone, Debug, Default)]
pub(crate) struct VerletList {
    /// Those of them that others keep apart, in order. The rest are among the ones that are looked at after each correction,
    /// as are idle ones that have been rescued.
    redundant_edge_pairs: Vec<PrimitivePair>,
    /// How far vertices are from where these ways end.
    pub(crate) displacement_bound: DisplacementBound,
    /// Whether the trees hold these ways.
    is_bvh_current: bool,
    /// Pairs that are as near, not idle, but let go.
    filtered_pair_count: u64,
}

impl VerletList {
    /// The vertices of cloths, `count` in all, of which other pairs may come too close than those that are known; `None`
    /// where nothing is known.
    fn vertices_beyond_skin(&self, count: usize, surfaces: &CollisionMesh) -> Option<Vec<u32>> {
        self.displacement_bound.vertices_exceeding(count, |vertex| {
            ROUNDING_GUARD * skin_radius(surfaces, vertex as u32)
        })
    }

    /// Whether all pairs that may come too close are known where the vertices of cloths are.
    fn is_valid(&self, count: usize, surfaces: &CollisionMesh) -> bool {
        self.vertices_beyond_skin(count, surfaces).is_some_and(|strays| strays.is_empty())
    }
}

impl CollisionResponse {
    /// Checks the ways to `positions` against all pairs. Says whether any would come too close; those are
    /// rescued.
    pub(crate) fn validate_step(&mut self, positions: &[Vec3]) -> bool {
        let violations = self.violations(positions);
        if violations.is_empty() {
            return true;
        }
        let are_few = violations.len() as f64 <= FEW * self.candidate_pairs.len() as f64;
        if !are_few && !self.verlet_list.is_valid(positions.len(), &self.mesh) {
            self.extend_verlet_list();
        }
        self.stiffen_contacts(&violations);
        false
    }

    /// Looks for all pairs that are near along the ways there are, to which the trees have been fitted. Gives those that
    /// no others keep apart, in order, in the room of other ones.
    pub(crate) fn build_verlet_list(
        &mut self,
        mut pairs: Vec<PrimitivePair>,
    ) -> Vec<PrimitivePair> {
        let mut idle = std::mem::take(&mut self.verlet_list.redundant_edge_pairs);
        let [count, idle_count] = [pairs.len() + idle.len(), idle.len()];
        clear_buffer(&mut pairs, count);
        clear_buffer(&mut idle, idle_count);
        self.verlet_list.filtered_pair_count = self.find_near_pairs(&mut pairs);
        self.has_kinematic_intersection =
            pairs.extract_if(.., |pair| self.is_kinematic_pair(pair)).count() > 0;
        idle.extend(pairs.extract_if(.., |pair| self.is_redundant_edge_pair(pair)));
        self.verlet_list.redundant_edge_pairs = idle;
        self.verlet_list
            .displacement_bound
            .set_predicted_positions(&self.end_positions[..self.mesh.cloth_vertex_count]);
        self.verlet_list.is_bvh_current = true;
        pairs
    }

    /// All pairs that are near, as far as they are known; idle ones are not counted.
    pub(crate) fn near_pair_count(&self) -> u64 {
        self.candidate_pairs.len() as u64 + self.verlet_list.filtered_pair_count
    }

    /// Finds the pairs that may meet on the ways there are, those that others keep apart among them, in order; and those
    /// that will, as nothing in them gives way. Gives how many are let go.
    fn find_near_pairs(&self, found: &mut Vec<PrimitivePair>) -> u64 {
        let (surfaces, motion) = (&self.mesh, self.trajectories());
        let near = |pair: &PrimitivePair, thickness: f64| {
            verlet_radius(thickness, pair_skin_radius(pair, surfaces))
        };
        let range = DetectionRange { thickness_factor: 1.0 + SLACK, distance: near };
        let let_go = AtomicU64::new(0);
        let keep = |pair: &mut PrimitivePair| {
            let leads_across = |pair: &PrimitivePair| {
                self.is_kinematic_pair(pair) && is_violated(&mut pair.clone(), surfaces, motion)
            };
            if !pair.passes_narrow_phase(surfaces, motion, &range) {
                return false;
            }
            if self.has_free_vertex(pair) && self.is_filtered_pair(pair) {
                let_go.fetch_add(u64::from(!self.is_redundant_edge_pair(pair)), Relaxed);
                return false;
            }
            self.has_free_vertex(pair) || leads_across(pair)
        };
        let query = CandidateQuery {
            mesh: surfaces,
            has_self_collision: self.has_self_collision,
            range,
            accept: keep,
        };
        self.broad_phase.candidate_pairs(&query, found);
        found.par_sort_unstable_by_key(PrimitivePair::key);
        let_go.into_inner()
    }

    /// Takes in the pairs along the ways that corrections have led to.
    fn extend_verlet_list(&mut self) {
        let motion = Trajectories { starts: &self.start_positions, ends: &self.end_positions };
        self.broad_phase.set_trajectories(motion);
        self.broad_phase.refit_cloths(&self.mesh, 1.0 + SLACK);
        let near = self.build_verlet_list(Vec::new());
        let known = self.candidate_pairs.len();
        for pair in &mut self.candidate_pairs {
            // They were measured on other ways.
            pair.clearance = 0.0;
        }
        for pair in near {
            match self.candidate_pairs[..known]
                .binary_search_by_key(&pair.key(), PrimitivePair::key)
            {
                Ok(place) => self.candidate_pairs[place].clearance = pair.clearance,
                Err(_) => self.candidate_pairs.push(pair),
            }
        }
        self.candidate_pairs.sort_unstable_by_key(PrimitivePair::key);
    }

    /// The pairs that come too close on the ways to `positions`, in order.
    pub(crate) fn violations(&mut self, positions: &[Vec3]) -> Vec<PrimitivePair> {
        self.set_trial_positions(positions);
        if self.is_collision_disabled() {
            return Vec::new();
        }
        let strays = self.verlet_list.vertices_beyond_skin(positions.len(), &self.mesh);
        let are_few = |strays: &Vec<u32>| strays.len() as f64 <= STRAYING * positions.len() as f64;
        match strays {
            Some(strays) if strays.is_empty() => self.verlet_list_violations(),
            Some(strays) if self.verlet_list.is_bvh_current && are_few(&strays) => {
                let mut found = self.verlet_list_violations();
                found.extend(self.violations_of_vertices(strays));
                sorted_unique(found)
            }
            _ => self.all_violations(),
        }
    }

    /// The watched pairs that come too close on the ways there are, in order.
    fn verlet_list_violations(&self) -> Vec<PrimitivePair> {
        let (surfaces, motion) = (&self.mesh, self.trajectories());
        let each = self.verlet_list.redundant_edge_pairs.par_iter().chain(&self.candidate_pairs);
        let violated =
            each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK / 4).filter_map(|pair| {
                if self
                    .verlet_list
                    .displacement_bound
                    .certifies_separation(pair, LEAST_GAP * pair.thickness)
                {
                    return None;
                }
                let mut pair = PrimitivePair { stiffening_count: 0, ..*pair };
                is_violated(&mut pair, surfaces, motion).then_some(pair)
            });
        sorted_unique(violated.collect())
    }

    /// The same of all pairs that these vertices are part of, some of them twice and in any order.
    fn violations_of_vertices(&mut self, vertices: Vec<u32>) -> Vec<PrimitivePair> {
        let strays = FeatureSubset::new(&self.mesh, vertices);
        let motion = Trajectories { starts: &self.start_positions, ends: &self.end_positions };
        self.broad_phase.set_trajectories(motion);
        self.broad_phase.expand_cloth_trees(&strays, &self.mesh, LEAST_GAP);
        self.broad_phase.candidate_pairs_of_subset(&strays, &self.violation_query())
    }

    /// The same of all pairs there are, in order.
    fn all_violations(&mut self) -> Vec<PrimitivePair> {
        self.verlet_list.is_bvh_current = false;
        let motion = Trajectories { starts: &self.start_positions, ends: &self.end_positions };
        self.broad_phase.set_trajectories(motion);
        self.broad_phase.refit_cloths(&self.mesh, LEAST_GAP);
        let mut found = Vec::new();
        self.broad_phase.candidate_pairs(&self.violation_query(), &mut found);
        found.sort_unstable_by_key(PrimitivePair::key);
        found
    }

    /// Query for all active pairs that violate the minimal gap.
    fn violation_query(
        &self,
    ) -> CandidateQuery<
        '_,
        impl Fn(&PrimitivePair, f64) -> f64 + Sync,
        impl Fn(&mut PrimitivePair) -> bool + Sync,
    > {
        CandidateQuery {
            mesh: &self.mesh,
            has_self_collision: self.has_self_collision,
            range: min_gap_range(),
            accept: |pair: &mut PrimitivePair| self.is_active_violation(pair),
        }
    }

    fn is_active_violation(&self, pair: &mut PrimitivePair) -> bool {
        let (surfaces, motion) = (&self.mesh, self.trajectories());
        pair.passes_narrow_phase(surfaces, motion, &min_gap_range())
            && self.is_active_pair(pair)
            && is_violated(pair, surfaces, motion)
    }
}

/// Makes room for about `count` others, but not for many times as many.
pub(crate) fn clear_buffer<T>(list: &mut Vec<T>, count: usize) {
    const MAX_CAPACITY_RATIO: usize = 4;
    list.clear();
    if list.capacity() > MAX_CAPACITY_RATIO * count {
        list.shrink_to(2 * count);
    }
}

/// Pairs in order, each of them once.
fn sorted_unique(mut pairs: Vec<PrimitivePair>) -> Vec<PrimitivePair> {
    pairs.sort_unstable_by_key(PrimitivePair::key);
    pairs.dedup_by_key(|pair| pair.key());
    pairs
}

/// The distance within which a pair is watched that keeps `thickness`, all in m.
fn verlet_radius(thickness: f64, margins: f64) -> f64 {
    ((1.0 + SLACK) * thickness).max(LEAST_GAP * thickness + margins)
}

/// Detection of the pairs that come within the minimal gap.
fn min_gap_range() -> DetectionRange<impl Fn(&PrimitivePair, f64) -> f64 + Sync> {
    DetectionRange { thickness_factor: LEAST_GAP, distance: min_pair_gap }
}

/// The distance that a step leaves a pair at least that keeps `thickness`, all in m.
fn min_pair_gap(_: &PrimitivePair, thickness: f64) -> f64 {
    LEAST_GAP * thickness
}

/// How far a vertex may end from where it was expected to with all pairs known that may come too close, in m.
fn skin_radius(surfaces: &CollisionMesh, vertex: u32) -> f64 {
    let thickness = surfaces.surface_properties[vertex as usize].thickness;
    let most = surfaces
        .mean_edge_lengths
        .get(vertex as usize)
        .map_or(thickness, |length| thickness.min(EDGE_PART * length));
    (1.0 + SLACK - LEAST_GAP) * most
}

/// The same of two features together, in m.
fn pair_skin_radius(pair: &PrimitivePair, surfaces: &CollisionMesh) -> f64 {
    let most = |vertices: &[u32]| {
        vertices.iter().map(|vertex| skin_radius(surfaces, *vertex)).fold(0.0, f64::max)
    };
    let (first, second) = pair.vertices_by_feature();
    most(first) + most(second)
}

/// Whether a pair comes closer than a step may leave it.
fn is_violated(
    pair: &mut PrimitivePair,
    surfaces: &CollisionMesh,
    motion: Trajectories<'_>,
) -> bool {
    if !pair.update_clearance(motion, LEAST_GAP * pair.thickness) {
        return false;
    }
    if let Some(gap) = pair.gap_from_coincident_start(surfaces, motion) {
        return gap < 0.0;
    }
    pair.ccd_comes_within(motion, min_allowed_gap(pair.start_distance, pair.thickness))
}

/// The distance that a step leaves where there was one of `start`, in m.
fn min_allowed_gap(start: f64, thickness: f64) -> f64 {
    let part = if start > FINEST_GAP * thickness { 0.5 } else { HARDLY };
    (LEAST_GAP * thickness).min(part * start)
}
