// SPDX-License-Identifier: MIT OR Apache-2.0
//! Candidate pairs of a step: the Verlet list, found by the broad phase.
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

mod step_validation;
mod stiffening;
#[cfg(test)]
mod tests;

pub(super) use step_validation::STEP_VALIDATION;

use super::{begun_step::BegunStep, step_geometry::StepGeometry};
use crate::{
    collision::{
        BroadPhase, CandidateQuery, Contact, DetectionRange, DisplacementBound, PrimitivePair,
    },
    mesh::NO_INDEX,
    surface::CollisionMesh,
};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use step_validation::is_violated;

/// Factor on the skin radius that covers rounding of displacement lengths.
const ROUNDING_GUARD: f64 = 1.0 - 1.0e-6;

/// Pairs that may come too close in a step: those that are near along the trajectories that the list
/// was built for, and those that have come too close elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Candidates {
    pub(super) broad_phase: BroadPhase,
    /// Pairs that are evaluated in each Newton iteration, sorted by key; all but the redundant ones
    /// that were never stiffened. Their clearances hold for the trajectories of the list, or are 0.
    pub(super) pairs: Vec<PrimitivePair>,
    /// For each of them the index of its contact, or [`NO_INDEX`].
    pub(super) contact_of_pair: Vec<u32>,
    /// Redundant pairs of the list, sorted by key.
    redundant_pairs: Vec<PrimitivePair>,
    /// Distances of the vertices from the ends of these trajectories.
    pub(super) displacement_bound: DisplacementBound,
    /// Whether the trees are fitted to these trajectories.
    is_bvh_current: bool,
    /// Number of filtered pairs as near as those of the list, without redundant ones.
    filtered_pair_count: u64,
    /// Whether a pair of pinned or collider features intersects on its prescribed trajectories.
    pub(super) has_kinematic_intersection: bool,
}

impl Candidates {
    /// No pairs, before the first step.
    pub(super) fn new(broad_phase: BroadPhase) -> Self {
        Self {
            broad_phase,
            pairs: Vec::new(),
            contact_of_pair: Vec::new(),
            redundant_pairs: Vec::new(),
            displacement_bound: DisplacementBound::default(),
            is_bvh_current: false,
            filtered_pair_count: 0,
            has_kinematic_intersection: false,
        }
    }

    /// Refits the trees to the predicted trajectories of a step.
    pub(super) fn refit(
        &mut self,
        mesh: &CollisionMesh,
        step: &StepGeometry,
        have_colliders_moved: bool,
    ) {
        self.broad_phase.set_trajectories(step.trajectories());
        if have_colliders_moved {
            self.broad_phase.refit_colliders(mesh);
        }
        self.broad_phase.refit_cloths(mesh, 1.0 + STEP_VALIDATION.skin);
    }

    /// Finds the pairs that are near along the trajectories to which the trees are fitted.
    pub(super) fn search(&mut self, step: BegunStep<'_>) {
        let mut pairs = std::mem::take(&mut self.pairs);
        let mut redundant = std::mem::take(&mut self.redundant_pairs);
        let [count, redundant_count] = [pairs.len() + redundant.len(), redundant.len()];
        clear_buffer(&mut pairs, count);
        clear_buffer(&mut redundant, redundant_count);
        self.filtered_pair_count = self.find_near_pairs(step, &mut pairs);
        self.has_kinematic_intersection =
            pairs.extract_if(.., |pair| step.geometry.is_kinematic_pair(pair)).count() > 0;
        redundant.extend(pairs.extract_if(.., |pair| step.is_redundant_pair(pair)));
        self.redundant_pairs = redundant;
        self.displacement_bound
            .set_predicted_positions(&step.geometry.end_positions[..step.mesh.cloth_vertex_count]);
        self.is_bvh_current = true;
        self.pairs = pairs;
    }

    /// Number of near pairs, filtered ones included and redundant ones excluded.
    pub(crate) fn near_pair_count(&self) -> u64 {
        self.pairs.len() as u64 + self.filtered_pair_count
    }

    /// Finds the pairs with a free vertex that may meet on the present trajectories, and the pairs
    /// of prescribed motion that do meet, sorted by key. Returns the number of filtered pairs.
    fn find_near_pairs(&self, step: BegunStep<'_>, found: &mut Vec<PrimitivePair>) -> u64 {
        let (mesh, trajectories) = (step.mesh, step.geometry.trajectories());
        let range = DetectionRange {
            thickness_factor: 1.0 + STEP_VALIDATION.skin,
            distance: |pair: &PrimitivePair, thickness: f64| {
                verlet_radius(thickness, pair_skin_radius(pair, mesh))
            },
        };
        let filtered_count = AtomicU64::new(0);
        let accept = |pair: &mut PrimitivePair| {
            let is_kinematic_violation = |pair: &PrimitivePair| {
                step.geometry.is_kinematic_pair(pair)
                    && is_violated(&mut pair.clone(), mesh, trajectories)
            };
            if !pair.passes_narrow_phase(mesh, trajectories, &range) {
                return false;
            }
            if step.geometry.has_free_vertex(pair) && step.is_filtered_pair(pair) {
                filtered_count.fetch_add(u64::from(!step.is_redundant_pair(pair)), Relaxed);
                return false;
            }
            step.geometry.has_free_vertex(pair) || is_kinematic_violation(pair)
        };
        let query = CandidateQuery { mesh, range, accept };
        self.broad_phase.candidate_pairs(&query, found);
        found.sort_by_cached_key(PrimitivePair::packed_key);
        filtered_count.into_inner()
    }

    /// Adds the pairs near the trajectories of the present iterate to the Verlet list.
    fn extend(&mut self, step: BegunStep<'_>) {
        self.refit(step.mesh, step.geometry, false);
        let listed = std::mem::take(&mut self.pairs);
        self.search(step);
        let near_pairs = std::mem::replace(&mut self.pairs, listed);
        let count = self.pairs.len();
        for pair in &mut self.pairs {
            // Their clearances hold for other trajectories.
            pair.clearance = 0.0;
        }
        for pair in near_pairs {
            match self.pairs[..count].binary_search_by_key(&pair.key(), PrimitivePair::key) {
                Ok(index) => self.pairs[index].clearance = pair.clearance,
                Err(_) => self.pairs.push(pair),
            }
        }
        self.pairs.sort_unstable_by_key(PrimitivePair::key);
    }

    /// Updates the contact index of each pair for contacts sorted by key.
    pub(super) fn index_contacts(&mut self, contacts: &[Contact]) {
        let mut index = 0;
        // Both lists are sorted by key.
        let indices = self.pairs.iter().map(|pair| match contacts.get(index) {
            Some(contact) if contact.pair.key() == pair.key() => {
                index += 1;
                index as u32 - 1
            }
            _ => NO_INDEX,
        });
        self.contact_of_pair.clear();
        self.contact_of_pair.extend(indices);
    }

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

/// Clears a buffer that is about to receive `count` elements, and returns memory of which it needs
/// but a fraction.
pub(super) fn clear_buffer<T>(list: &mut Vec<T>, count: usize) {
    const MAX_CAPACITY_RATIO: usize = 4;
    list.clear();
    if list.capacity() > MAX_CAPACITY_RATIO * count {
        list.shrink_to(2 * count);
    }
}

/// Distance in m around cloth of a `thickness` in m in which pairs are searched for: surfaces whose boxes stay apart by
/// it on both sides have no contacts.
pub(crate) fn candidate_margin(thickness: f64) -> f64 {
    (1.0 + STEP_VALIDATION.skin) * thickness
}

/// Radius of the Verlet list in m for a pair with a `thickness` and a sum of skin radii, in m.
fn verlet_radius(thickness: f64, skin_radii: f64) -> f64 {
    ((1.0 + STEP_VALIDATION.skin) * thickness).max(STEP_VALIDATION.min_gap * thickness + skin_radii)
}

/// Skin radius of a vertex in m: the distance from its predicted end position within which the
/// Verlet list stays valid.
fn skin_radius(mesh: &CollisionMesh, vertex: u32) -> f64 {
    let thickness = mesh.surface_properties[vertex as usize].thickness;
    let max_radius = mesh
        .mean_edge_lengths
        .get(vertex as usize)
        .map_or(thickness, |length| thickness.min(STEP_VALIDATION.skin_per_edge * length));
    (1.0 + STEP_VALIDATION.skin - STEP_VALIDATION.min_gap) * max_radius
}

/// Sum of the largest skin radii of both features of a pair, in m.
fn pair_skin_radius(pair: &PrimitivePair, mesh: &CollisionMesh) -> f64 {
    let max_radius = |vertices: &[u32]| {
        vertices.iter().map(|vertex| skin_radius(mesh, *vertex)).fold(0.0, f64::max)
    };
    let (first, second) = pair.vertices_by_feature();
    max_radius(first) + max_radius(second)
}
