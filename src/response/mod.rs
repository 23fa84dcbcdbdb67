// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contacts of a scene through the corrections of a step.
//!
//! [`Response::begin`] finds the pairs that may meet on the way that is expected, [`Response::refreshed`] looks before every
//! correction which of them touch, [`Response::verify`] checks the way that came out against all
//! pairs there are, and [`Response::retreat`] (in `retreat`) keeps the promise where nothing else has.
//!
//! **What is promised.** No step hands on a state in which surfaces have crossed that had not before. Every
//! step moves all vertices on straight ways, from the state it was given to the one it hands on. Two surfaces of
//! triangles that do not cross at the start can only come to do so at a moment at which a vertex
//! meets a triangle or an edge an edge. [`Response::verify`] passes a step only if continuous detection excludes both for
//! every pair whose boxes come together, and the boxes of all others are apart at every
//! time; both are proved conservative under rounding where they are computed (see `time_of_impact` and
//! `moving_tree`). It even asks for a distance: a part of the thickness, or half of the distance
//! there was if that is less, or nearly all of one that is hardly there, so the next step never starts from a touch. But
//! surfaces that had crossed may be left with less than rounding can tell from none when they come apart, or be given so.
//! Between such only this is promised, that a vertex which ends over a face is on the side that it belongs on (see `pair`);
//! and nothing between parts of cloths that are crushed (see `tangle`).

mod active_set;
mod collider_motion;
mod contact_forces;
mod driving;
mod fallback;
mod impact_impulses;
pub(crate) mod landing;
mod sliding;
mod step_validation;
mod stiffening;
mod untangling_pass;

pub(crate) use active_set::{ActiveSet, Multiplier};
pub(crate) use collider_motion::ColliderMotion;
pub(crate) use fallback::TruncationResult;

use crate::{
    Vec3,
    collision::{
        BroadPhase, Contact, ContactHistory, DetectionBounds, PairKind, PrimitivePair,
        PriorContact, Trajectories,
    },
    mesh::NO_INDEX,
    parallel::{BufferPool, reductions},
    surface::{CollisionMesh, Configuration, EdgeConvexity, SurfaceProperties},
    untangling::{IntersectionState, OverstretchRelease, find_enclosed_cloths},
};
use rayon::prelude::*;
use step_validation::{VerletList, clear_buffer};

/// Surfaces that start nearer than their thickness are moved apart by the thickness in this time, in s.
pub(crate) const PARTING_TIME: f64 = 0.1;
/// Contacts are looked for this part of the thickness farther away than they are felt.
const SLACK: f64 = 0.5;
/// Sine of the angle by which the direction of a contact may lean over a neighbouring face, and of one that presses.
/// Surfaces are polygons, and what presses bends them: were both the same, contacts at edges would press themselves
/// away, and come back, for ever.
const LEANING: [f64; 2] = [1.0e-3, 0.1];
/// When contacts settle, pairs are taken in that keep less than this part of their distance: what were left out longer
/// would sink in, and be thrown out again by the next step.
const CLOSE: f64 = 0.98;

/// The contacts of a scene.
#[derive(Clone, Debug)]
pub(crate) struct CollisionResponse {
    mesh: CollisionMesh,
    collider_motions: Vec<ColliderMotion>,
    broad_phase: BroadPhase,
    /// Where all vertices are when the step begins, and where they have come to; of none where there is nothing to meet.
    start_positions: Vec<Vec3>,
    end_positions: Vec<Vec3>,
    /// Vertices whose motion is given.
    is_pinned: Vec<bool>,
    /// For every edge.
    edge_convexities: Vec<EdgeConvexity>,
    /// Those that are looked at after each correction, in order. What is not idle of the watched ones is among them, with
    /// clearances on the ways that these were looked for along, or 0.
    candidate_pairs: Vec<PrimitivePair>,
    contacts: Vec<Contact>,
    buffers: BufferPool<Vec<Contact>>,
    /// For every pair its place among the contacts, or [`NONE`].
    contact_of_pair: Vec<u32>,
    /// What crosses at the start of the step, what draws its edges, and what draws whole pieces.
    intersection_state: Option<IntersectionState>,
    recovery_contacts: Vec<Contact>,
    layer_recovery_contacts: Vec<Contact>,
    /// What other cloth lets go in the step.
    overstretch_release: OverstretchRelease,
    contact_history: ContactHistory,
    verlet_list: VerletList,
    /// Whether something held is led through something else whose motion is given.
    has_kinematic_intersection: bool,
    /// Whether a collider has got another surface since the trees were fitted to where it is.
    has_changed_collider_surface: bool,
    duration: f64,
    has_self_collision: bool,
}

impl CollisionResponse {
    /// `positions` are those of the cloths, in m.
    pub(crate) fn new(
        mut mesh: CollisionMesh,
        collider_motions: Vec<ColliderMotion>,
        positions: &[Vec3],
        has_self_collision: bool,
    ) -> Self {
        let is_alone = collider_motions.is_empty() && !has_self_collision;
        let mut start_positions = if is_alone { Vec::new() } else { positions.to_vec() };
        start_positions
            .extend(collider_motions.iter().flat_map(|obstacle| obstacle.positions_at(0.0)));
        mesh.enclosed_cloths = find_enclosed_cloths(&mesh, &start_positions);
        let motion = Trajectories { starts: &start_positions, ends: &start_positions };
        let mut edge_convexities = vec![EdgeConvexity::default(); mesh.edges.len()];
        update_edge_convexities(&mesh, &start_positions, &mut edge_convexities);
        Self {
            edge_convexities,
            broad_phase: BroadPhase::new(&mesh, motion),
            end_positions: start_positions.clone(),
            start_positions,
            is_pinned: vec![false; positions.len()],
            candidate_pairs: Vec::new(),
            contacts: Vec::new(),
            buffers: BufferPool::new(1),
            contact_of_pair: Vec::new(),
            intersection_state: None,
            recovery_contacts: Vec::new(),
            layer_recovery_contacts: Vec::new(),
            overstretch_release: OverstretchRelease::default(),
            // What crosses at the start is not known before it has been looked for.
            contact_history: ContactHistory::unexamined(),
            verlet_list: VerletList::default(),
            has_kinematic_intersection: false,
            has_changed_collider_surface: false,
            duration: 0.0,
            has_self_collision,
            mesh,
            collider_motions,
        }
    }

    pub(crate) fn collider_motions(&self) -> &[ColliderMotion] {
        &self.collider_motions
    }

    pub(crate) fn collider_motions_mut(&mut self) -> &mut [ColliderMotion] {
        &mut self.collider_motions
    }

    /// The smallest thickness of a cloth, in m.
    pub(crate) fn min_cloth_thickness(&self) -> f64 {
        let cloths = &self.mesh.surface_properties[..self.cloth_vertex_count()];
        cloths.iter().map(|surface| surface.thickness).fold(f64::INFINITY, f64::min)
    }

    /// Numbers of vertices, edges and triangles.
    pub(crate) fn feature_counts(&self) -> [usize; 3] {
        let surfaces = &self.mesh;
        [surfaces.surface_properties.len(), surfaces.edges.len(), surfaces.triangles.len()]
    }

    pub(crate) fn set_surface_properties(
        &mut self,
        vertices: std::ops::Range<usize>,
        surface: &SurfaceProperties,
    ) {
        self.mesh.set_surface_properties(vertices, surface);
    }

    pub(crate) fn set_collider_surface_properties(
        &mut self,
        collider: usize,
        surface: SurfaceProperties,
    ) {
        let vertices = self.mesh.vertices_of_collider(collider);
        self.mesh.surface_properties[vertices].fill(surface);
        self.has_changed_collider_surface = true;
    }

    pub(crate) fn collider_surface_properties(&self, collider: usize) -> SurfaceProperties {
        self.mesh.surface_properties[self.mesh.vertices_of_collider(collider).start]
    }

    /// Contacts when the last step ended.
    pub(crate) fn contact_history(&self) -> &ContactHistory {
        &self.contact_history
    }

    pub(crate) fn set_contact_history(&mut self, memory: ContactHistory) {
        self.contact_history = memory;
    }

    fn trajectories(&self) -> Trajectories<'_> {
        Trajectories { starts: &self.start_positions, ends: &self.end_positions }
    }

    fn cloth_vertex_count(&self) -> usize {
        self.mesh.cloth_vertex_count
    }

    /// Begins a step from `starts`, on which the cloths' vertices are expected to come to `expected`, over a part of
    /// the frame that takes `duration` in s.
    pub(crate) fn begin_step(
        &mut self,
        (starts, expected): (&[Vec3], &[Vec3]),
        is_held: &[bool],
        (part, duration): ([f64; 2], f64),
    ) {
        let count = self.cloth_vertex_count();
        self.duration = duration;
        self.is_pinned.copy_from_slice(is_held);
        if self.is_collision_disabled() {
            return;
        }
        self.start_positions[..count].copy_from_slice(starts);
        self.end_positions[..count].copy_from_slice(expected);
        let mut has_moved = std::mem::take(&mut self.has_changed_collider_surface);
        for (side, part) in
            [(&mut self.start_positions, part[0]), (&mut self.end_positions, part[1])]
        {
            let positions =
                self.collider_motions.iter().flat_map(|obstacle| obstacle.positions_at(part));
            for (position, new) in side[count..].iter_mut().zip(positions) {
                has_moved |= *position != new;
                *position = new;
            }
        }
        let (surfaces, motion) =
            (&self.mesh, Trajectories { starts: &self.start_positions, ends: &self.end_positions });
        self.broad_phase.set_trajectories(motion);
        if has_moved {
            self.broad_phase.refit_colliders(surfaces);
        }
        self.broad_phase.refit_cloths(surfaces, 1.0 + SLACK);
        let changed =
            if has_moved { self.edge_convexities.len() } else { surfaces.cloth_edge_count };
        update_edge_convexities(
            surfaces,
            &self.start_positions,
            &mut self.edge_convexities[..changed],
        );
        self.prepare_untangling();
        let pairs = std::mem::take(&mut self.candidate_pairs);
        self.candidate_pairs = self.build_verlet_list(pairs);
        self.restore_stiffened_edge_pairs();
        let mut none = self.buffers.take();
        clear_buffer(&mut none, self.contacts.len());
        self.accept_contacts(none);
    }

    /// Whether there is nothing to meet.
    fn is_collision_disabled(&self) -> bool {
        self.collider_motions.is_empty() && !self.has_self_collision
    }

    /// Whether vertices and triangles keep two edges apart. Not edges that pressed in the last step: pressed flat they would
    /// let go of each other, and without each other bend until they press again, for ever.
    fn is_redundant_edge_pair(&self, pair: &PrimitivePair) -> bool {
        let [first, second] = pair.features.map(|feature| feature as usize);
        pair.kind == PairKind::EdgeEdge
            && self.edge_convexities[first].is_redundant_with(&self.edge_convexities[second])
            && !self.contact_history.prior_contact(pair).existed
    }

    /// Whether a pair is kept apart: some vertex of it is free to give way, and it is not tangled already, nor let go.
    fn is_active_pair(&self, pair: &PrimitivePair) -> bool {
        self.has_free_vertex(pair) && !self.is_filtered_pair(pair)
    }

    /// Whether some vertex of a pair is free.
    fn has_free_vertex(&self, pair: &PrimitivePair) -> bool {
        pair.vertices.iter().any(|vertex| self.is_pinned.get(*vertex as usize) == Some(&false))
    }

    /// Whether a pair is without contact and promise for what crosses.
    fn is_filtered_pair(&self, pair: &PrimitivePair) -> bool {
        self.intersection_state.as_ref().is_some_and(|tangle| tangle.filters(&self.mesh, pair))
            || self.overstretch_release.filters(&self.mesh, pair)
    }

    /// Whether some vertex of a pair is held and none is free to give way.
    fn is_kinematic_pair(&self, pair: &PrimitivePair) -> bool {
        let mut held = pair.vertices.iter().map(|vertex| self.is_pinned.get(*vertex as usize));
        held.clone().any(|held| held == Some(&true)) && held.all(|held| held != Some(&false))
    }

    /// Looks which pairs touch with the cloths at `positions`, the start of the search. Friction is that of the last step.
    pub(crate) fn detect_initial_contacts(&mut self, positions: &[Vec3]) {
        self.set_trial_positions(positions);
        let mut contacts = self.collect_contacts(|pair, _| {
            let PriorContact { normal_force: force, slip_direction: sliding, .. } =
                self.contact_history.prior_contact(pair);
            let mut contact = self.unloaded_contact(pair, force > 0.0)?;
            contact.set_normal_force(force);
            contact.slip_direction = sliding;
            Some(contact)
        });
        self.choose_active_set(&mut contacts);
        self.accept_contacts(contacts);
    }

    /// Which pairs touch with the cloths at `positions`, and in which direction.
    pub(crate) fn detect_contacts(&mut self, positions: &[Vec3]) -> Vec<Contact> {
        self.set_trial_positions(positions);
        let mut contacts = self.collect_contacts(|pair, known| {
            self.detect_contact(pair, known).or_else(|| self.separated_contact(known))
        });
        self.choose_active_set(&mut contacts);
        contacts
    }

    /// The contacts there are with the cloths at `positions`, with their directions, so that corrections can settle, and
    /// of others only those that have come close.
    pub(crate) fn detect_contacts_with_frozen_normals(
        &mut self,
        positions: &[Vec3],
    ) -> Vec<Contact> {
        self.set_trial_positions(positions);
        let mut contacts = self.collect_contacts(|pair, known| match known {
            Some(known) if pair.stiffening_count == 0 && !known.linearised.has_penetrated => {
                Some(self.with_updated_forces(*known))
            }
            Some(_) => self.detect_contact(pair, known),
            None => self
                .detect_contact(pair, None)
                .filter(|new| new.linearised.gap < CLOSE * new.target_distance()),
        });
        self.choose_active_set(&mut contacts);
        contacts
    }

    /// Goes on with contacts that have been found, in order.
    pub(crate) fn accept_contacts(&mut self, contacts: Vec<Contact>) {
        self.buffers.give(std::mem::replace(&mut self.contacts, contacts));
        self.index_contacts();
    }

    /// Finds the contact of each pair.
    pub(crate) fn index_contacts(&mut self) {
        let mut place = 0;
        // Both are in order.
        let places = self.candidate_pairs.iter().map(|pair| match self.contacts.get(place) {
            Some(contact) if contact.pair.key() == pair.key() => {
                place += 1;
                place as u32 - 1
            }
            _ => NO_INDEX,
        });
        self.contact_of_pair.clear();
        self.contact_of_pair.extend(places);
    }

    fn set_trial_positions(&mut self, positions: &[Vec3]) {
        if self.is_collision_disabled() {
            return;
        }
        let count = self.cloth_vertex_count();
        self.end_positions[..count].copy_from_slice(positions);
        self.verlet_list.displacement_bound.update(positions);
    }

    /// What `one` makes of pairs and the contacts that they were, in their order; of those that are far apart nothing.
    fn collect_contacts(
        &self,
        one: impl Fn(&PrimitivePair, Option<&Contact>) -> Option<Contact> + Sync,
    ) -> Vec<Contact> {
        let contact = |place: usize| {
            let pair = &self.candidate_pairs[place];
            let known = self.contacts.get(self.contact_of_pair[place] as usize);
            if known.is_none()
                && self.verlet_list.displacement_bound.certifies_separation(pair, pair.thickness)
            {
                return None;
            }
            one(pair, known)
        };
        let buffer = self.buffers.take();
        reductions::collect(
            self.candidate_pairs.len(),
            reductions::MIN_ELEMENTS_PER_TASK / 4,
            buffer,
            contact,
        )
    }

    /// The contact of a pair that has let go, which the next correction must not go through unseen.
    fn separated_contact(&self, known: Option<&Contact>) -> Option<Contact> {
        let mut contact = self.with_updated_forces(*known?);
        contact.linearised.has_penetrated = false;
        (contact.current_normal_force() <= 0.0).then_some(contact)
    }

    /// A contact with the forces it has now.
    fn with_updated_forces(&self, mut contact: Contact) -> Contact {
        contact.update_force_and_slip(&contact.relative_position(&self.end_positions));
        contact
    }

    /// The contact of a pair that touches, with the forces it has now.
    fn detect_contact(&self, pair: &PrimitivePair, known: Option<&Contact>) -> Option<Contact> {
        let mut contact = self.unloaded_contact(
            pair,
            known.is_some_and(|known| known.current_normal_force() > 0.0),
        )?;
        if let Some(known) = known {
            contact.slip_direction = known.slip_direction;
            contact
                .set_active_constraint(known.is_active_constraint(), known.current_normal_force());
        }
        Some(self.with_updated_forces(contact))
    }

    /// The contact of a pair that touches, or that has pressed and is still near, without forces.
    fn unloaded_contact(&self, pair: &PrimitivePair, has_pressed: bool) -> Option<Contact> {
        let surfaces = &self.mesh;
        let [first, second] = pair
            .representative_vertices()
            .map(|vertex| surfaces.surface_properties[vertex as usize]);
        let room = if has_pressed { 1.0 + SLACK } else { 1.0 };
        let leaning = LEANING[usize::from(has_pressed)];
        let bounds =
            DetectionBounds { detection_distance: room * pair.thickness, max_normal_tilt: leaning };
        let touch = pair.linearised_contact(surfaces, self.trajectories(), bounds)?;
        let thickness = pair.thickness;
        if touch.gap >= thickness && !has_pressed {
            return None;
        }
        let remembered = self.contact_history.prior_contact(pair);
        let area = pair.contact_area(surfaces, &touch.weights);
        let mut contact = Contact::new(*pair, touch, thickness, area);
        contact.recover_gap(thickness * self.duration / PARTING_TIME, remembered.preload);
        if touch.gap >= contact.target_distance() && !has_pressed {
            return None;
        }
        let bodies = pair.representative_vertices().map(|vertex| surfaces.bodies[vertex as usize]);
        let is_smooth =
            self.intersection_state.as_ref().is_some_and(|tangle| tangle.is_frictionless(bodies));
        contact.friction = if is_smooth { 0.0 } else { (first.friction * second.friction).sqrt() };
        contact.initial_tangential_displacement = remembered.tangential_displacement;
        contact.is_new = !remembered.existed;
        contact.initial_relative_position = contact.relative_position(&self.start_positions);
        Some(contact)
    }

    /// The contacts as they were last looked at.
    pub(crate) fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// What draws the edges of crossings.
    pub(crate) fn recovery_contacts(&self) -> &[Contact] {
        &self.recovery_contacts
    }

    /// Whether the motion of a vertex is sought, not given.
    pub(crate) fn is_cloth(&self, vertex: u32) -> bool {
        self.mesh.is_cloth(vertex)
    }

    /// Whether the motion of a cloth's vertex is given.
    pub(crate) fn is_pinned(&self, vertex: usize) -> bool {
        self.is_pinned[vertex]
    }

    /// What is to be remembered of a step whose ways have been checked, and of which so many pairs are `crossing`.
    pub(crate) fn new_contact_history(&self, crossing: usize) -> ContactHistory {
        // What began in a touch may have gone to either side.
        let is_undecided = || {
            self.candidate_pairs.iter().any(|pair| pair.is_coincident_at_start(self.trajectories()))
        };
        let crosses =
            crossing > 0 || self.has_kinematic_intersection || !self.overstretch_release.is_empty();
        let is_tangled = crosses || self.intersection_state.is_some() || is_undecided();
        let before =
            self.contact_history.intersection_time.filter(|_| self.intersection_state.is_some());
        let crossed_for = is_tangled.then(|| before.map_or(0.0, |time| time + self.duration));
        let was_led_across =
            self.contact_history.had_kinematic_intersection || self.has_kinematic_intersection;
        ContactHistory::new(self.contacts.iter(), &self.end_positions, crossed_for, was_led_across)
    }

    /// Length of the step, in s.
    pub(crate) fn duration(&self) -> f64 {
        self.duration
    }

    /// Velocity of a collider's vertex, in m/s.
    pub(crate) fn collider_velocity(&self, vertex: u32) -> Vec3 {
        self.displacement(vertex) / self.duration
    }

    /// The way of a vertex in the step, in m.
    pub(crate) fn displacement(&self, vertex: u32) -> Vec3 {
        self.end_positions[vertex as usize] - self.start_positions[vertex as usize]
    }

    /// Where all vertices were when the step began, in m.
    pub(crate) fn start_positions(&self) -> &[Vec3] {
        &self.start_positions
    }
}

/// Measures the first edges.
fn update_edge_convexities(
    surfaces: &CollisionMesh,
    positions: &[Vec3],
    ridges: &mut [EdgeConvexity],
) {
    let configuration = Configuration { mesh: surfaces, positions };
    let each = ridges.par_iter_mut().enumerate().with_min_len(reductions::MIN_ELEMENTS_PER_TASK);
    each.for_each(|(edge, ridge)| *ridge = configuration.edge_convexity(edge as u32));
}
