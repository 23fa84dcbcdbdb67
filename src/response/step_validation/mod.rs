// SPDX-License-Identifier: MIT OR Apache-2.0
//! Step validation: which pairs would come too close on the trajectories of a solution.
//!
//! All pairs along the predicted trajectories are searched for when the step begins, with a skin
//! around them (a Verlet list). Where the resulting trajectories end elsewhere, but not far from
//! there, these are all that need to be checked. Where a few vertices have moved beyond the skin,
//! the pairs that these belong to are searched for as well, in trees that still hold the
//! trajectories of the others; where many have, all pairs are, and form the new list if the step is
//! not accepted and has to be solved again. A pair that is R apart on trajectories that end
//! elsewhere by δ₁ and δ₂ at most is still R − δ₁ − δ₂ apart, since straight trajectories from the
//! same starts are never farther from each other than at their ends. Every vertex has a skin radius
//! m. A pair with the contact thickness τ is in the list if it comes within R = min_gap τ + m₁ +
//! m₂, with the largest skin radii of its sides, or within (1 + skin) τ if that is more; so no
//! other pair can come within min_gap τ as long as δ ≤ m for every vertex. With m = (1 + skin −
//! min_gap) t, where t is the thickness of the vertex, both are the same for all pairs but those of
//! one cloth that are near each other at rest, and keep less than both thicknesses. And as the
//! boxes of the trees have (1 + skin) t around the predicted trajectories, those of features whose
//! vertices all have δ ≤ m still contain their trajectories with min_gap t around.

mod stiffening;
#[cfg(test)]
mod tests;

use super::{CollisionResponse, detection::DETECTION};
use crate::{
    collision::{
        CandidateQuery, DetectionRange, DisplacementBound, FeatureSubset, PrimitivePair,
        Trajectories,
    },
    parallel::reductions,
    surface::CollisionMesh,
    vec3::Vec3,
};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Parameters of the step validation.
pub(super) struct StepValidationParameters {
    /// Minimum gap that a step leaves (thicknesses). Effect: larger rejects more solutions; smaller
    /// allows gaps that the next step cannot open. Evidence: none; at 1e-6 Newton iterations of the
    /// bench rise by 3 %.
    pub(super) min_gap: f64,
    /// Gap below which the retained fraction is `small_gap_retention` (thicknesses). Effect:
    /// larger makes small gaps rigid; smaller lets a gap under pressure vanish in the single
    /// precision of results. Evidence: `a_gap_under_pressure_stays_positive_in_single_precision`; no
    /// scene of the hostile suite at 0.
    small_gap: f64,
    /// Fraction of a gap below `small_gap` that a step must retain (1). Effect: larger
    /// rejects more solutions; smaller lets the gap vanish within seconds. Evidence:
    /// `a_gap_under_pressure_stays_positive_in_single_precision`; hostile scene `crossed_layers`
    /// keeps its bits at 0.5.
    small_gap_retention: f64,
    /// Fraction of an initial gap above `small_gap` that a step must retain if that is less than the
    /// minimum gap (1). Effect: larger rejects more solutions; smaller consumes gaps in fewer steps.
    /// Evidence: none.
    gap_retention: f64,
    /// Skin radius of a vertex as a fraction of its rest edges, where these are short (1). In a
    /// regular mesh features without a common vertex are at least 0.6 edges apart at rest; two skin
    /// radii must be less, or all neighbours are in the list. Effect: larger lengthens the list of
    /// fine cloth; smaller invalidates it more often; results keep their bits. Evidence:
    /// `every_pair_within_its_verlet_radius_is_in_the_list` covers fine cloth.
    skin_per_edge: f64,
    /// Violations, as a fraction of the candidate pairs, above which a new Verlet list is built
    /// before the stage is solved again (1). A search costs as much as a Newton iteration. Effect:
    /// larger solves more often without pairs that are about to meet; smaller searches more often.
    /// Evidence: none; at 0 the hostile suite keeps its bits.
    requery_above: f64,
    /// Vertices beyond the skin, as a fraction of all, below which only their pairs are searched for
    /// (1). Effect: speed only; both searches take equally long between a sixteenth and a quarter.
    /// Evidence: `a_verlet_list_finds_the_violations_of_an_exhaustive_search` (same violations).
    partial_query_below: f64,
    /// Bound of the stiffening count of a pair, which each CCD hit increments. Effect: larger makes
    /// equations that cannot be solved, as the fixed-point solver detects contacts hundreds of
    /// times; smaller truncates displacements. Evidence: `repeated_stiffening_is_bounded`; hostile
    /// scenes `jump_through_a_held_sheet` and `plates_close_and_open` (Newton iterations +184 % at
    /// 1).
    pub(super) max_stiffenings_per_pair: u8,
}

impl StepValidationParameters {
    const DEFAULT: Self = Self {
        min_gap: 0.01,
        small_gap: 0.001,
        small_gap_retention: 0.999,
        gap_retention: 0.5,
        skin_per_edge: 0.15,
        requery_above: 1.0e-3,
        partial_query_below: 1.0 / 8.0,
        max_stiffenings_per_pair: 8,
    };
}

pub(super) const STEP_VALIDATION: StepValidationParameters = StepValidationParameters::DEFAULT;

/// Factor on the skin radius that covers rounding of displacement lengths.
const ROUNDING_GUARD: f64 = 1.0 - 1.0e-6;

/// Verlet list: the pairs that are near along the trajectories that it was built for.
#[derive(Clone, Debug, Default)]
pub(crate) struct VerletList {
    /// Redundant pairs of the list, sorted by key. The other pairs are the candidates of the
    /// response, which also contain redundant pairs that were stiffened.
    redundant_pairs: Vec<PrimitivePair>,
    /// Distances of the vertices from the ends of these trajectories.
    pub(crate) displacement_bound: DisplacementBound,
    /// Whether the trees are fitted to these trajectories.
    is_bvh_current: bool,
    /// Number of filtered pairs as near as those of the list, without redundant ones.
    filtered_pair_count: u64,
}

impl VerletList {
    /// Cloth vertices beyond their skin radius, `count` vertices in all; `None` before the first
    /// list.
    fn vertices_beyond_skin(&self, count: usize, mesh: &CollisionMesh) -> Option<Vec<u32>> {
        self.displacement_bound
            .vertices_exceeding(count, |vertex| ROUNDING_GUARD * skin_radius(mesh, vertex as u32))
    }

    /// Whether the list contains all pairs that may come too close at the measured positions.
    fn is_valid(&self, count: usize, mesh: &CollisionMesh) -> bool {
        self.vertices_beyond_skin(count, mesh).is_some_and(|outliers| outliers.is_empty())
    }
}

impl CollisionResponse {
    /// Checks the trajectories to `positions` in m against all pairs by CCD. Returns whether none
    /// comes too close; the contacts of those that do are stiffened.
    pub(crate) fn validate_step(&mut self, positions: &[Vec3]) -> bool {
        let violations = self.violations(positions);
        if violations.is_empty() {
            return true;
        }
        let are_few = violations.len() as f64
            <= STEP_VALIDATION.requery_above * self.candidate_pairs.len() as f64;
        if !are_few && !self.verlet_list.is_valid(positions.len(), &self.mesh) {
            self.extend_verlet_list();
        }
        self.stiffen_contacts(&violations);
        false
    }

    /// Builds the Verlet list for the trajectories to which the trees are fitted. Returns its pairs
    /// without the redundant ones, sorted by key, in the buffer `pairs`.
    pub(super) fn build_verlet_list(
        &mut self,
        mut pairs: Vec<PrimitivePair>,
    ) -> Vec<PrimitivePair> {
        let mut redundant = std::mem::take(&mut self.verlet_list.redundant_pairs);
        let [count, redundant_count] = [pairs.len() + redundant.len(), redundant.len()];
        clear_buffer(&mut pairs, count);
        clear_buffer(&mut redundant, redundant_count);
        self.verlet_list.filtered_pair_count = self.find_near_pairs(&mut pairs);
        self.has_kinematic_intersection =
            pairs.extract_if(.., |pair| self.is_kinematic_pair(pair)).count() > 0;
        redundant.extend(pairs.extract_if(.., |pair| self.is_redundant_pair(pair)));
        self.verlet_list.redundant_pairs = redundant;
        self.verlet_list
            .displacement_bound
            .set_predicted_positions(&self.end_positions[..self.mesh.cloth_vertex_count]);
        self.verlet_list.is_bvh_current = true;
        pairs
    }

    /// Number of near pairs, filtered ones included and redundant ones excluded.
    pub(crate) fn near_pair_count(&self) -> u64 {
        self.candidate_pairs.len() as u64 + self.verlet_list.filtered_pair_count
    }

    /// Finds the pairs with a free vertex that may meet on the present trajectories, and the pairs
    /// of prescribed motion that do meet, sorted by key. Returns the number of filtered pairs.
    fn find_near_pairs(&self, found: &mut Vec<PrimitivePair>) -> u64 {
        let (mesh, trajectories) = (&self.mesh, self.trajectories());
        let range = DetectionRange {
            thickness_factor: 1.0 + DETECTION.skin,
            distance: |pair: &PrimitivePair, thickness: f64| {
                verlet_radius(thickness, pair_skin_radius(pair, mesh))
            },
        };
        let filtered_count = AtomicU64::new(0);
        let accept = |pair: &mut PrimitivePair| {
            let is_kinematic_violation = |pair: &PrimitivePair| {
                self.is_kinematic_pair(pair) && is_violated(&mut pair.clone(), mesh, trajectories)
            };
            if !pair.passes_narrow_phase(mesh, trajectories, &range) {
                return false;
            }
            if self.has_free_vertex(pair) && self.is_filtered_pair(pair) {
                filtered_count.fetch_add(u64::from(!self.is_redundant_pair(pair)), Relaxed);
                return false;
            }
            self.has_free_vertex(pair) || is_kinematic_violation(pair)
        };
        let has_self_collision = self.has_self_collision;
        let query = CandidateQuery { mesh, has_self_collision, range, accept };
        self.broad_phase.candidate_pairs(&query, found);
        found.par_sort_unstable_by_key(PrimitivePair::key);
        filtered_count.into_inner()
    }

    /// Adds the pairs near the trajectories of the present iterate to the Verlet list.
    fn extend_verlet_list(&mut self) {
        let trajectories =
            Trajectories { starts: &self.start_positions, ends: &self.end_positions };
        self.broad_phase.set_trajectories(trajectories);
        self.broad_phase.refit_cloths(&self.mesh, 1.0 + DETECTION.skin);
        let near_pairs = self.build_verlet_list(Vec::new());
        let count = self.candidate_pairs.len();
        for pair in &mut self.candidate_pairs {
            // Their clearances hold for other trajectories.
            pair.clearance = 0.0;
        }
        for pair in near_pairs {
            match self.candidate_pairs[..count]
                .binary_search_by_key(&pair.key(), PrimitivePair::key)
            {
                Ok(index) => self.candidate_pairs[index].clearance = pair.clearance,
                Err(_) => self.candidate_pairs.push(pair),
            }
        }
        self.candidate_pairs.sort_unstable_by_key(PrimitivePair::key);
    }

    /// Pairs that come too close on the trajectories to `positions` in m, sorted by key.
    pub(crate) fn violations(&mut self, positions: &[Vec3]) -> Vec<PrimitivePair> {
        self.set_trial_positions(positions);
        if self.is_collision_disabled() {
            return Vec::new();
        }
        let outliers = self.verlet_list.vertices_beyond_skin(positions.len(), &self.mesh);
        let are_few = |outliers: &Vec<u32>| {
            outliers.len() as f64 <= STEP_VALIDATION.partial_query_below * positions.len() as f64
        };
        match outliers {
            Some(outliers) if outliers.is_empty() => self.verlet_list_violations(),
            Some(outliers) if self.verlet_list.is_bvh_current && are_few(&outliers) => {
                let mut found = self.verlet_list_violations();
                found.extend(self.violations_of_vertices(outliers));
                sorted_unique(found)
            }
            _ => self.all_violations(),
        }
    }

    /// Pairs of the Verlet list that come too close on the present trajectories, sorted by key.
    fn verlet_list_violations(&self) -> Vec<PrimitivePair> {
        let (mesh, trajectories) = (&self.mesh, self.trajectories());
        let each = self.verlet_list.redundant_pairs.par_iter().chain(&self.candidate_pairs);
        let violations =
            each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK / 4).filter_map(|pair| {
                if self
                    .verlet_list
                    .displacement_bound
                    .certifies_separation(pair, STEP_VALIDATION.min_gap * pair.thickness)
                {
                    return None;
                }
                let mut pair = PrimitivePair { stiffening_count: 0, ..*pair };
                is_violated(&mut pair, mesh, trajectories).then_some(pair)
            });
        sorted_unique(violations.collect())
    }

    /// Pairs of the given vertices that come too close, in any order and some of them twice.
    fn violations_of_vertices(&mut self, vertices: Vec<u32>) -> Vec<PrimitivePair> {
        let outliers = FeatureSubset::new(&self.mesh, vertices);
        let trajectories =
            Trajectories { starts: &self.start_positions, ends: &self.end_positions };
        self.broad_phase.set_trajectories(trajectories);
        self.broad_phase.expand_cloth_trees(&outliers, &self.mesh, STEP_VALIDATION.min_gap);
        self.broad_phase.candidate_pairs_of_subset(&outliers, &self.violation_query())
    }

    /// All pairs that come too close on the present trajectories, sorted by key.
    fn all_violations(&mut self) -> Vec<PrimitivePair> {
        self.verlet_list.is_bvh_current = false;
        let trajectories =
            Trajectories { starts: &self.start_positions, ends: &self.end_positions };
        self.broad_phase.set_trajectories(trajectories);
        self.broad_phase.refit_cloths(&self.mesh, STEP_VALIDATION.min_gap);
        let mut found = Vec::new();
        self.broad_phase.candidate_pairs(&self.violation_query(), &mut found);
        found.sort_unstable_by_key(PrimitivePair::key);
        found
    }

    /// Query for all active pairs that violate the minimum gap.
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
        let (mesh, trajectories) = (&self.mesh, self.trajectories());
        pair.passes_narrow_phase(mesh, trajectories, &min_gap_range())
            && self.is_guaranteed_pair(pair)
            && is_violated(pair, mesh, trajectories)
    }
}

/// Clears a buffer that is about to receive `count` elements, and returns memory of which it needs
/// but a fraction.
pub(super) fn clear_buffer<T>(list: &mut Vec<T>, count: usize) {
    const MAX_CAPACITY_RATIO: usize = 4;
    list.clear();
    if list.capacity() > MAX_CAPACITY_RATIO * count {
        list.shrink_to(2 * count);
    }
}

/// Pairs sorted by key, without duplicates.
fn sorted_unique(mut pairs: Vec<PrimitivePair>) -> Vec<PrimitivePair> {
    pairs.sort_unstable_by_key(PrimitivePair::key);
    pairs.dedup_by_key(|pair| pair.key());
    pairs
}

/// Radius of the Verlet list in m for a pair with a `thickness` and a sum of skin radii, in m.
fn verlet_radius(thickness: f64, skin_radii: f64) -> f64 {
    ((1.0 + DETECTION.skin) * thickness).max(STEP_VALIDATION.min_gap * thickness + skin_radii)
}

/// Detection of the pairs that come within the minimum gap.
fn min_gap_range() -> DetectionRange<impl Fn(&PrimitivePair, f64) -> f64 + Sync> {
    DetectionRange { thickness_factor: STEP_VALIDATION.min_gap, distance: min_pair_gap }
}

/// Minimum gap after a step in m, for a pair with a `thickness` in m.
fn min_pair_gap(_: &PrimitivePair, thickness: f64) -> f64 {
    STEP_VALIDATION.min_gap * thickness
}

/// Skin radius of a vertex in m: the distance from its predicted end position within which the
/// Verlet list stays valid.
fn skin_radius(mesh: &CollisionMesh, vertex: u32) -> f64 {
    let thickness = mesh.surface_properties[vertex as usize].thickness;
    let max_radius = mesh
        .mean_edge_lengths
        .get(vertex as usize)
        .map_or(thickness, |length| thickness.min(STEP_VALIDATION.skin_per_edge * length));
    (1.0 + DETECTION.skin - STEP_VALIDATION.min_gap) * max_radius
}

/// Sum of the largest skin radii of both features of a pair, in m.
fn pair_skin_radius(pair: &PrimitivePair, mesh: &CollisionMesh) -> f64 {
    let max_radius = |vertices: &[u32]| {
        vertices.iter().map(|vertex| skin_radius(mesh, *vertex)).fold(0.0, f64::max)
    };
    let (first, second) = pair.vertices_by_feature();
    max_radius(first) + max_radius(second)
}

/// Whether a pair comes closer than its minimum allowed gap.
fn is_violated(
    pair: &mut PrimitivePair,
    mesh: &CollisionMesh,
    trajectories: Trajectories<'_>,
) -> bool {
    if !pair.update_clearance(trajectories, STEP_VALIDATION.min_gap * pair.thickness) {
        return false;
    }
    if let Some(gap) = pair.gap_from_coincident_start(mesh, trajectories) {
        return gap < 0.0;
    }
    pair.ccd_comes_within(trajectories, min_allowed_gap(pair.start_distance, pair.thickness))
}

/// Minimum allowed gap in m at the end of a step, for an initial gap `start` and a `thickness`, in
/// m.
fn min_allowed_gap(start: f64, thickness: f64) -> f64 {
    let retention = if start > STEP_VALIDATION.small_gap * thickness {
        STEP_VALIDATION.gap_retention
    } else {
        STEP_VALIDATION.small_gap_retention
    };
    (STEP_VALIDATION.min_gap * thickness).min(retention * start)
}
