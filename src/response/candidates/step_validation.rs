// SPDX-License-Identifier: MIT OR Apache-2.0
//! Step validation: which pairs would come too close on the trajectories of a solution.

use super::Candidates;
use crate::{
    collision::{CandidateQuery, DetectionRange, FeatureSubset, PrimitivePair, Trajectories},
    parallel::reductions,
    response::begun_step::BegunStep,
    surface::CollisionMesh,
};
use rayon::prelude::*;

/// Parameters of the step validation.
pub(in crate::response) struct StepValidationParameters {
    /// Minimum gap that a step leaves (thicknesses). Effect: larger rejects more solutions; smaller
    /// allows gaps that the next step cannot open. Evidence: none; at 1e-6 Newton iterations of the
    /// bench rise by 3 %.
    pub(in crate::response) min_gap: f64,
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
    /// Skin of the Verlet list, and distance beyond the thickness at which a loaded contact is kept
    /// (thicknesses). Effect: larger adds pairs to the list; smaller invalidates the list more often
    /// and drops loaded contacts. Evidence:
    /// `ground_that_is_pulled_away_drags_a_sheet_with_its_friction`,
    /// `a_constraint_that_would_pull_lets_go` (both fail at 0), Newton iterations of the bench (+11
    /// % at 0).
    pub(in crate::response) skin: f64,
    /// Skin radius of a vertex as a fraction of its rest edges, where these are short (1). In a
    /// regular mesh features without a common vertex are at least 0.6 edges apart at rest; two skin
    /// radii must be less, or all neighbours are in the list. Effect: larger lengthens the list of
    /// fine cloth; smaller invalidates it more often; results keep their bits. Evidence:
    /// `every_pair_within_its_verlet_radius_is_in_the_list` covers fine cloth.
    pub(super) skin_per_edge: f64,
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
        skin: 0.5,
        skin_per_edge: 0.15,
        requery_above: 1.0e-3,
        partial_query_below: 1.0 / 8.0,
        max_stiffenings_per_pair: 8,
    };
}

pub(in crate::response) const STEP_VALIDATION: StepValidationParameters =
    StepValidationParameters::DEFAULT;

impl Candidates {
    /// Adds violating pairs, sorted by key, and stiffens their contacts. If there are many, the list
    /// is extended to the trial point before the stage is solved again.
    pub(in crate::response) fn accept_violations(
        &mut self,
        step: BegunStep<'_>,
        violations: &[PrimitivePair],
    ) {
        let are_few =
            violations.len() as f64 <= STEP_VALIDATION.requery_above * self.pairs.len() as f64;
        if !are_few && !self.is_valid(step.mesh.cloth_vertex_count, step.mesh) {
            self.extend(step);
        }
        self.stiffen_contacts(violations);
    }

    /// Pairs that come too close on the trajectories to the trial point, sorted by key.
    pub(in crate::response) fn violations(&mut self, step: BegunStep<'_>) -> Vec<PrimitivePair> {
        let count = step.mesh.cloth_vertex_count;
        let outliers = self.vertices_beyond_skin(count, step.mesh);
        let are_few = |outliers: &Vec<u32>| {
            outliers.len() as f64 <= STEP_VALIDATION.partial_query_below * count as f64
        };
        match outliers {
            Some(outliers) if outliers.is_empty() => self.listed_violations(step),
            Some(outliers) if self.is_bvh_current && are_few(&outliers) => {
                let mut found = self.listed_violations(step);
                found.extend(self.violations_of_vertices(step, outliers));
                sorted_unique(found)
            }
            _ => self.all_violations(step),
        }
    }

    /// Pairs of the Verlet list that come too close on the present trajectories, sorted by key.
    fn listed_violations(&self, step: BegunStep<'_>) -> Vec<PrimitivePair> {
        let (mesh, trajectories) = (step.mesh, step.geometry.trajectories());
        let each = self.redundant_pairs.par_iter().chain(&self.pairs);
        let violations =
            each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK / 4).filter_map(|pair| {
                if self
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
    fn violations_of_vertices(
        &mut self,
        step: BegunStep<'_>,
        vertices: Vec<u32>,
    ) -> Vec<PrimitivePair> {
        let outliers = FeatureSubset::new(step.mesh, vertices);
        self.broad_phase.set_trajectories(step.geometry.trajectories());
        self.broad_phase.expand_cloth_trees(&outliers, step.mesh, STEP_VALIDATION.min_gap);
        self.broad_phase.candidate_pairs_of_subset(&outliers, &violation_query(step))
    }

    /// All pairs that come too close on the present trajectories, sorted by key.
    fn all_violations(&mut self, step: BegunStep<'_>) -> Vec<PrimitivePair> {
        self.is_bvh_current = false;
        self.broad_phase.set_trajectories(step.geometry.trajectories());
        self.broad_phase.refit_cloths(step.mesh, STEP_VALIDATION.min_gap);
        let mut found = Vec::new();
        self.broad_phase.candidate_pairs(&violation_query(step), &mut found);
        found.sort_unstable_by_key(PrimitivePair::key);
        found
    }
}

/// Query for all guaranteed pairs that violate the minimum gap.
fn violation_query(
    step: BegunStep<'_>,
) -> CandidateQuery<
    '_,
    impl Fn(&PrimitivePair, f64) -> f64 + Sync,
    impl Fn(&mut PrimitivePair) -> bool + Sync,
> {
    let (mesh, trajectories) = (step.mesh, step.geometry.trajectories());
    let accept = move |pair: &mut PrimitivePair| {
        pair.passes_narrow_phase(mesh, trajectories, &min_gap_range())
            && step.is_guaranteed_pair(pair)
            && is_violated(pair, mesh, trajectories)
    };
    CandidateQuery { mesh, range: min_gap_range(), accept }
}

/// Pairs sorted by key, without duplicates.
fn sorted_unique(mut pairs: Vec<PrimitivePair>) -> Vec<PrimitivePair> {
    pairs.sort_unstable_by_key(PrimitivePair::key);
    pairs.dedup_by_key(|pair| pair.key());
    pairs
}

/// Detection of the pairs that come within the minimum gap.
fn min_gap_range() -> DetectionRange<impl Fn(&PrimitivePair, f64) -> f64 + Sync> {
    DetectionRange { thickness_factor: STEP_VALIDATION.min_gap, distance: min_pair_gap }
}

/// Minimum gap after a step in m, for a pair with a `thickness` in m.
fn min_pair_gap(_: &PrimitivePair, thickness: f64) -> f64 {
    STEP_VALIDATION.min_gap * thickness
}

/// Whether a pair comes closer than its minimum allowed gap.
pub(super) fn is_violated(
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
pub(super) fn min_allowed_gap(start: f64, thickness: f64) -> f64 {
    let retention = if start > STEP_VALIDATION.small_gap * thickness {
        STEP_VALIDATION.gap_retention
    } else {
        STEP_VALIDATION.small_gap_retention
    };
    (STEP_VALIDATION.min_gap * thickness).min(retention * start)
}
