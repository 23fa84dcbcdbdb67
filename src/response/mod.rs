// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collision response of a scene within a time step: detection, active set, validation.
//!
//! [`CollisionResponse::begin_step`] leads predicted cloth along its supports, and builds the Verlet list of the pairs that may meet along the
//! predicted trajectories. [`CollisionResponse::detect_contacts`] finds the contacts of a Newton
//! iteration. [`CollisionResponse::validate_step`] checks the trajectories of the solution against
//! all pairs by CCD. [`CollisionResponse::truncate_displacements`] (in `fallback`) shortens
//! displacements where no iteration has led to a valid step.
//!
//! **Guarantee.** No accepted step contains an intersection that its start did not have. A step
//! moves all vertices on straight trajectories from its start positions to its end positions. Two
//! triangle surfaces that do not intersect at the start can only come to do so at a time at which a
//! vertex meets a triangle or an edge meets an edge. [`CollisionResponse::validate_step`] accepts a
//! step only if CCD excludes both for every pair whose swept boxes overlap, and the boxes of all
//! other pairs are disjoint at every time; both are proved conservative under rounding where they
//! are computed (see `geometry::ccd` and `geometry::swept_bvh`). It requires a remaining gap as
//! well: a fraction of the thickness, or half of the initial gap if that is less, or nearly all of
//! a very small initial gap. So no step starts at distance zero.
//!
//! **Exceptions.** Surfaces that had intersected may end up closer than rounding resolves, or be
//! given so. Between these only this is guaranteed: a vertex that ends over a face is on the side
//! where it belongs (see `primitive_pair`). Filtered pairs have no guarantee: features at an
//! intersection, cloth above the limit of intersections (see `untangling::intersection_analysis`),
//! overstretched cloth (see `untangling::overstretch_release`), and cloth that colliders pinch (see `flypapering`).

mod begun_step;
mod candidates;
mod collision_scene;
mod contact_set;
mod detection;
mod fallback;
mod flypapering;
mod impulses;
mod recovery;
mod step_geometry;
#[cfg(test)]
mod tests;

pub(crate) use candidates::candidate_margin;
pub(crate) use collision_scene::ColliderMotion;
pub(crate) use contact_set::{
    ActiveSet, ContactPositions, ContactSet, Multiplier, PrescribedVertex,
};
pub(crate) use fallback::TruncationResult;
pub(crate) use flypapering::PinchedVertex;
pub(crate) use impulses::{ContactVelocities, MotionDeviation, ReactionConstraints, VelocityJump};
pub(crate) use step_geometry::StepStart;

use crate::{
    collision::{BroadPhase, Contact, ContactHistory, PrimitivePair},
    surface::CollisionMesh,
    untangling::find_enclosed_cloths,
    vec3::Vec3,
};
use begun_step::BegunStep;
use candidates::{Candidates, STEP_VALIDATION, clear_buffer};
use collision_scene::CollisionScene;
use fallback::Truncation;
use recovery::{Recovery, guard_seam_strips};
use std::collections::BTreeMap;
use step_geometry::StepGeometry;

/// Collision response of all cloths and colliders.
#[derive(Clone, Debug)]
pub(crate) struct CollisionResponse {
    /// Lasts over the simulation.
    pub(crate) scene: CollisionScene,
    /// Fixed when a step begins, but for the trial point.
    pub(crate) step: StepGeometry,
    /// Fixed when a step begins.
    pub(crate) recovery: Recovery,
    /// At the end of the last step.
    pub(crate) contact_history: ContactHistory,
    /// Found when a step begins, and extended by its validation.
    pub(crate) candidates: Candidates,
    /// Of the current iterate.
    pub(crate) contact_set: ContactSet,
}

impl CollisionResponse {
    /// Response at the start of a simulation, with the cloths' vertices at `positions` in m.
    pub(crate) fn new(
        mesh: CollisionMesh,
        collider_motions: Vec<ColliderMotion>,
        positions: &[Vec3],
        has_self_collision: bool,
    ) -> Self {
        let is_disabled = collider_motions.is_empty() && !has_self_collision;
        let mut scene = CollisionScene {
            mesh,
            collider_motions,
            has_changed_collider_surface: false,
            is_disabled,
        };
        let step = StepGeometry::at_rest(&scene, positions);
        let enclosed_cloths = find_enclosed_cloths(step.start(&scene.mesh));
        scene.mesh.enclosed_cloths = enclosed_cloths;
        let broad_phase = BroadPhase::new(&scene.mesh, step.trajectories(), has_self_collision);
        Self {
            scene,
            step,
            recovery: Recovery::default(),
            // Intersections at the start are unknown before the first step.
            contact_history: ContactHistory::unexamined(),
            candidates: Candidates::new(broad_phase),
            contact_set: ContactSet::empty(),
        }
    }

    /// Separates coincident surfaces before the first step, with the cloth vertices at `positions`
    /// in m.
    pub(crate) fn separate_coincident_cloth(&mut self, positions: &mut [Vec3]) {
        let Self { scene, step, recovery, candidates, .. } = self;
        if !scene.is_disabled
            && recovery.separate_coincident_cloth(step, &scene.mesh, &candidates.broad_phase)
        {
            positions.copy_from_slice(&step.start_positions[..positions.len()]);
        }
    }

    /// Begins a step: moves the colliders, refits the trees to the predicted trajectories, and finds
    /// the intersections and the candidate pairs.
    pub(crate) fn begin_step(&mut self, start: StepStart<'_>) {
        let have_colliders_moved = self.step.begin(&mut self.scene, start);
        if self.scene.is_disabled {
            return;
        }
        let Self { scene, step, recovery, contact_history: history, candidates, contact_set } =
            self;
        let mesh = &mut scene.mesh;
        step.predict_along_supports(mesh, history);
        candidates.refit(mesh, step, have_colliders_moved);
        step.update_edge_convexities(mesh, have_colliders_moved);
        let broad_phase = &candidates.broad_phase;
        if recovery.flypapering.hold_pinched_vertices(step, mesh, broad_phase, history) {
            candidates.refit(mesh, step, false);
        }
        let broad_phase = &candidates.broad_phase;
        recovery.begin(step, mesh, broad_phase, history, contact_set);
        guard_seam_strips(step, mesh, broad_phase, STEP_VALIDATION.min_gap, contact_set);
        let (step, candidates) = self.begun_step_and_candidates();
        candidates.search(step);
        // While surfaces intersect stiffened pairs could block the recovery.
        if step.recovery.intersection_state.is_none() {
            candidates.restore_stiffened_edge_pairs(step.history);
        }
        let mut buffer = self.contact_set.buffers.take();
        clear_buffer(&mut buffer, self.contact_set.detected.len());
        self.accept_contacts(buffer);
    }

    /// The step that has begun.
    fn begun_step(&self) -> BegunStep<'_> {
        let Self { scene, step, recovery, contact_history, .. } = self;
        BegunStep { mesh: &scene.mesh, geometry: step, recovery, history: contact_history }
    }

    /// The step that has begun, with its candidate pairs.
    fn begun_step_and_candidates(&mut self) -> (BegunStep<'_>, &mut Candidates) {
        let Self { scene, step, recovery, contact_history, candidates, .. } = self;
        let mesh = &scene.mesh;
        let step = BegunStep { mesh, geometry: step, recovery, history: contact_history };
        (step, candidates)
    }

    /// Predicted positions of the cloths in the step that has begun, in m: those given, or as supports and pinching
    /// colliders lead them. Empty without collisions.
    pub(crate) fn predicted_positions(&self) -> &[Vec3] {
        let count = if self.scene.is_disabled { 0 } else { self.scene.mesh.cloth_vertex_count };
        &self.step.end_positions[..count]
    }

    /// Sets the cloths' end positions, in m, and their distances from the predicted ones.
    fn set_trial_positions(&mut self, positions: &[Vec3]) {
        if !self.scene.is_disabled {
            self.step.end_positions[..positions.len()].copy_from_slice(positions);
            self.candidates.displacement_bound.update(positions);
        }
    }

    /// Detects the contacts at the initial guess `positions` in m, with the forces and slip
    /// directions of the last step.
    pub(crate) fn detect_initial_contacts(&mut self, positions: &[Vec3]) {
        self.set_trial_positions(positions);
        let contacts = self.begun_step().initial_contacts(&self.candidates, &self.contact_set);
        self.accept_contacts(contacts);
    }

    /// Contacts with the cloths at `positions` in m, with new normals.
    pub(crate) fn detect_contacts(&mut self, positions: &[Vec3]) -> Vec<Contact> {
        self.set_trial_positions(positions);
        self.begun_step().contacts(&self.candidates, &self.contact_set)
    }

    /// Contacts with the cloths at `positions` in m, with the normals of the last iteration so that
    /// Newton iterations converge.
    pub(crate) fn detect_contacts_with_frozen_normals(
        &mut self,
        positions: &[Vec3],
    ) -> Vec<Contact> {
        self.set_trial_positions(positions);
        self.begun_step().contacts_with_frozen_normals(&self.candidates, &self.contact_set)
    }

    /// Accepts `contacts`, sorted by key, as those of the current iterate.
    pub(crate) fn accept_contacts(&mut self, contacts: Vec<Contact>) {
        self.contact_set.accept(contacts);
        self.candidates.index_contacts(&self.contact_set.detected);
    }

    /// Positions at which contacts are evaluated, with the cloths at `cloths` in m.
    pub(crate) fn contact_positions<'a>(&'a self, cloths: &'a [Vec3]) -> ContactPositions<'a> {
        ContactPositions { cloths, colliders: &self.step.end_positions }
    }

    /// Potential of all contacts in J, with the cloths at `positions` in m.
    pub(crate) fn contact_potential(&self, positions: &[Vec3]) -> f64 {
        self.contact_set.potential(self.contact_positions(positions))
    }

    /// Position alteration y of cloth vertices in m, for the predicted positions. With reactions
    /// contacts that return by them are left out. `inverse_masses` in 1/kg are 0 for pinned vertices.
    pub(crate) fn position_alterations(
        &self,
        has_reactions: bool,
        inverse_masses: impl Fn(usize) -> f64 + Sync,
    ) -> BTreeMap<usize, Vec3> {
        let pairs = &self.candidates.pairs;
        self.begun_step().position_alterations(pairs, has_reactions, inverse_masses)
    }

    /// Checks the trajectories to `positions` in m against all pairs by CCD. Returns whether none
    /// comes too close; the contacts of those that do are stiffened.
    pub(crate) fn validate_step(&mut self, positions: &[Vec3]) -> bool {
        let violations = self.violations(positions);
        if !violations.is_empty() {
            let (step, candidates) = self.begun_step_and_candidates();
            candidates.accept_violations(step, &violations);
            self.candidates.index_contacts(&self.contact_set.detected);
        }
        violations.is_empty()
    }

    /// Whether the trajectories to `positions` in m come too close to others, or intersections are
    /// left to be resolved.
    pub(crate) fn is_step_invalid(&mut self, positions: &[Vec3]) -> bool {
        let is_violated = !self.violations(positions).is_empty();
        is_violated || self.contact_set.has_recovery()
    }

    /// Pairs that come too close on the trajectories to `positions` in m, sorted by key.
    fn violations(&mut self, positions: &[Vec3]) -> Vec<PrimitivePair> {
        self.set_trial_positions(positions);
        if self.scene.is_disabled {
            return Vec::new();
        }
        let (step, candidates) = self.begun_step_and_candidates();
        candidates.violations(step)
    }

    /// Truncates the displacements to `positions` in m until no pair violates its gap.
    pub(crate) fn truncate_displacements(&mut self, positions: &mut [Vec3]) -> TruncationResult {
        let mut truncation = Truncation::new(positions);
        let mut violations = self.violations(positions);
        while truncation.truncate(&self.step, &violations, positions) {
            violations = self.violations(positions);
        }
        truncation.result(violations.len())
    }

    /// Whether contacts, or the recovery of intersections, couple layers of cloth.
    pub(crate) fn couples_layers(&self) -> bool {
        self.contact_set.all().any(|contact| {
            contact.pair.representative_vertices().iter().all(|v| self.step.is_cloth(*v))
        })
    }

    /// Whether the step starts with intersections, or with contacts at distance zero.
    pub(crate) fn is_untangling(&self) -> bool {
        let trajectories = self.step.trajectories();
        let mut contacts = self.contact_set.detected.iter();
        self.recovery.intersection_count() > 0
            || contacts.any(|contact| contact.pair.is_coincident_at_start(trajectories))
    }

    /// Whether contacts may do positive work on the cloths: colliders move, intersections are being
    /// resolved, or an initial gap is being recovered.
    pub(crate) fn may_add_energy(&self) -> bool {
        self.step.do_colliders_move()
            || self.recovery.intersection_count() > 0
            || self.contact_set.detected.iter().any(Contact::is_recovering_gap)
    }

    /// Contact history at the end of a validated step, in which `violating_pair_count` pairs intersect.
    pub(crate) fn new_contact_history(&self, violating_pair_count: usize) -> ContactHistory {
        let Self { step, recovery, contact_history: history, candidates, .. } = self;
        // The side of a pair that began at distance zero is unknown.
        let has_unknown_side = || {
            let mut pairs = candidates.pairs.iter();
            pairs.any(|pair| pair.is_coincident_at_start(step.trajectories()))
        };
        let is_intersecting = violating_pair_count > 0
            || candidates.has_kinematic_intersection
            || !recovery.overstretch_release.is_empty()
            || recovery.flypapering.is_pinching()
            || recovery.intersection_state.is_some()
            || has_unknown_side();
        let before = history.intersection_time.filter(|_| recovery.intersection_state.is_some());
        let intersection_time =
            is_intersecting.then(|| before.map_or(0.0, |time| time + step.duration));
        let had_kinematic_intersection =
            history.had_kinematic_intersection || candidates.has_kinematic_intersection;
        ContactHistory::new(
            self.contact_set.detected.iter(),
            &step.end_positions,
            intersection_time,
            had_kinematic_intersection,
        )
    }
}
