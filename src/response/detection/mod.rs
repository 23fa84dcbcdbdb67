// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contact detection in the candidate pairs, once per Newton iteration.
//!
//! In some iterations contacts get new normals ([`CollisionResponse::detect_contacts`]); in the
//! others they keep those of the last one
//! ([`CollisionResponse::detect_contacts_with_frozen_normals`]), so that Newton's method converges.

mod position_alteration;

use super::CollisionResponse;
use crate::{
    collision::{Contact, DetectionBounds, PrimitivePair, PriorContact, turned_with_partner},
    mesh::NO_INDEX,
    parallel::reductions,
    vec3::Vec3,
};

/// Parameters of contact detection.
pub(super) struct DetectionParameters {
    /// Time in which surfaces that start closer than their thickness recover it (s). Effect: larger
    /// leaves them compressed for longer; smaller separates them at a visible speed. Evidence:
    /// `a_sheet_that_starts_too_close_is_moved_out_gradually` (fails at 1e-9 and at 1e9),
    /// `test_sheets_in_one_place_come_apart_by_their_thickness`.
    pub(super) gap_recovery_time: f64,
    /// Skin of the Verlet list, and distance beyond the thickness at which a loaded contact is kept
    /// (thicknesses). Effect: larger adds pairs to the list; smaller invalidates the list more often
    /// and drops loaded contacts. Evidence:
    /// `ground_that_is_pulled_away_drags_a_sheet_with_its_friction`,
    /// `a_constraint_that_would_pull_lets_go` (both fail at 0), Newton iterations of the bench (+11
    /// % at 0).
    pub(super) skin: f64,
    /// Sine of the tilt out of the normal cone of the closest feature that is allowed for a new
    /// contact (1). Effect: larger adds contacts with inclined normals at edges; smaller loses
    /// contacts to rounding. Evidence: accuracy of the bench sheets on a ball and on themselves
    /// (worse at 0).
    pub(super) new_normal_tilt: f64,
    /// Sine of the tilt out of the normal cone of the closest feature that is allowed for a loaded
    /// contact (1). Effect: larger keeps contacts with inclined normals; smaller makes contacts
    /// chatter at edges of a mesh that bends under their pressure. Evidence: rest scene
    /// `ten_layers_at_rest` (does not come to rest at 1e-3, the tilt of new contacts).
    pub(super) loaded_normal_tilt: f64,
    /// Gap below which new contacts are added while normals are frozen (target distances). Effect:
    /// larger hinders the convergence of Newton's method by barely touching contacts; smaller lets
    /// pairs sink in, which the next step then throws out. Evidence: accuracy of the rest scene
    /// `friction_on_cloth` (worse at 1).
    pub(super) new_contact_gap: f64,
}

impl DetectionParameters {
    pub(super) const DEFAULT: Self = Self {
        gap_recovery_time: 0.1,
        skin: 0.5,
        new_normal_tilt: 1.0e-3,
        loaded_normal_tilt: 0.1,
        new_contact_gap: 0.98,
    };
}

pub(super) const DETECTION: DetectionParameters = DetectionParameters::DEFAULT;

impl CollisionResponse {
    /// Detects the contacts at the initial guess `positions` in m, with the forces and slip
    /// directions of the last step.
    pub(crate) fn detect_initial_contacts(&mut self, positions: &[Vec3]) {
        self.set_trial_positions(positions);
        let mut contacts = self.collect_contacts(1.0 + DETECTION.skin, |pair, _| {
            let PriorContact { normal_force, slip_direction, .. } =
                self.contact_history.prior_contact(pair);
            let mut contact = self.unloaded_contact(pair, normal_force > 0.0)?;
            contact.set_normal_force(normal_force);
            contact.slip_direction = slip_direction;
            contact.keep_closed(self.inertial_compliance(&contact));
            Some(contact)
        });
        self.choose_active_set(&mut contacts);
        self.accept_contacts(contacts);
    }

    /// Compliance β²Σw²/m of a contact against its normal force by the inertia of its vertices, in m/N.
    fn inertial_compliance(&self, contact: &Contact) -> f64 {
        let terms = contact.pair.vertices.iter().zip(&contact.linearised.weights);
        let compliance = |vertex: u32| self.vertex_compliances.get(vertex as usize);
        terms.filter_map(|(vertex, weight)| Some(compliance(*vertex)? * weight * weight)).sum()
    }

    /// Contacts with the cloths at `positions` in m, with new normals.
    pub(crate) fn detect_contacts(&mut self, positions: &[Vec3]) -> Vec<Contact> {
        self.set_trial_positions(positions);
        let mut contacts = self.collect_contacts(1.0, |pair, current| {
            self.detect_contact(pair, current).or_else(|| self.separated_contact(current))
        });
        self.choose_active_set(&mut contacts);
        contacts
    }

    /// Contacts with the cloths at `positions` in m, with the normals of the last iteration so that
    /// Newton iterations converge. New contacts are added only below
    /// [`DetectionParameters::new_contact_gap`].
    pub(crate) fn detect_contacts_with_frozen_normals(
        &mut self,
        positions: &[Vec3],
    ) -> Vec<Contact> {
        self.set_trial_positions(positions);
        let mut contacts = self.collect_contacts(1.0, |pair, current| match current {
            Some(current) if pair.stiffening_count == 0 && !current.linearised.has_penetrated => {
                Some(self.with_updated_forces(*current))
            }
            Some(_) => self.detect_contact(pair, current),
            None => self.detect_contact(pair, None).filter(|new| {
                new.linearised.gap < DETECTION.new_contact_gap * new.target_distance()
            }),
        });
        self.choose_active_set(&mut contacts);
        contacts
    }

    /// Accepts `contacts`, sorted by key, as those of the current iterate.
    pub(crate) fn accept_contacts(&mut self, contacts: Vec<Contact>) {
        self.buffers.give(std::mem::replace(&mut self.contacts, contacts));
        self.index_contacts();
    }

    /// Updates the contact index of each candidate pair.
    pub(super) fn index_contacts(&mut self) {
        let mut index = 0;
        // Both lists are sorted by key.
        let indices = self.candidate_pairs.iter().map(|pair| match self.contacts.get(index) {
            Some(contact) if contact.pair.key() == pair.key() => {
                index += 1;
                index as u32 - 1
            }
            _ => NO_INDEX,
        });
        self.contact_of_pair.clear();
        self.contact_of_pair.extend(indices);
    }

    /// Sets the cloths' end positions, in m, and their distances from the predicted ones.
    pub(super) fn set_trial_positions(&mut self, positions: &[Vec3]) {
        if self.is_collision_disabled() {
            return;
        }
        let count = self.cloth_vertex_count();
        self.end_positions[..count].copy_from_slice(positions);
        self.verlet_list.displacement_bound.update(positions);
    }

    /// Contacts that `one` makes of the candidate pairs and their present contacts, in the order of
    /// the pairs. Pairs that are certified separated by `reach` thicknesses are skipped.
    fn collect_contacts(
        &self,
        reach: f64,
        one: impl Fn(&PrimitivePair, Option<&Contact>) -> Option<Contact> + Sync,
    ) -> Vec<Contact> {
        let contact = |index: usize| {
            let pair = &self.candidate_pairs[index];
            let current = self.contacts.get(self.contact_of_pair[index] as usize);
            if current.is_none()
                && self
                    .verlet_list
                    .displacement_bound
                    .certifies_separation(pair, reach * pair.thickness)
            {
                return None;
            }
            one(pair, current)
        };
        let buffer = self.buffers.take();
        reductions::collect(
            self.candidate_pairs.len(),
            reductions::MIN_ELEMENTS_PER_TASK / 4,
            buffer,
            contact,
        )
    }

    /// Present contact of a pair that has separated, if it carries no force. It stays in the model
    /// so that the next Newton step does not pass through it.
    fn separated_contact(&self, current: Option<&Contact>) -> Option<Contact> {
        let mut contact = self.with_updated_forces(*current?);
        contact.linearised.has_penetrated = false;
        (contact.current_normal_force() <= 0.0).then_some(contact)
    }

    /// A contact with its forces updated to the present positions.
    fn with_updated_forces(&self, mut contact: Contact) -> Contact {
        contact.update_force_and_slip(&contact.relative_position(&self.end_positions));
        contact
    }

    /// Contact of a pair within its thickness, with forces at the present positions; the constraint
    /// state and the slip direction of the contact `current` are kept.
    fn detect_contact(&self, pair: &PrimitivePair, current: Option<&Contact>) -> Option<Contact> {
        let mut contact = self.unloaded_contact(
            pair,
            current.is_some_and(|current| current.current_normal_force() > 0.0),
        )?;
        if let Some(current) = current {
            contact.slip_direction = current.slip_direction;
            contact.set_active_constraint(
                current.is_active_constraint(),
                current.current_normal_force(),
            );
        }
        Some(self.with_updated_forces(contact))
    }

    /// Contact of a pair within its thickness, without forces. A pair that has pressed is kept up
    /// to the search distance.
    fn unloaded_contact(&self, pair: &PrimitivePair, has_pressed: bool) -> Option<Contact> {
        let mesh = &self.mesh;
        let [first, second] =
            pair.representative_vertices().map(|vertex| mesh.surface_properties[vertex as usize]);
        let (distance_factor, max_normal_tilt) = if has_pressed {
            (1.0 + DETECTION.skin, DETECTION.loaded_normal_tilt)
        } else {
            (1.0, DETECTION.new_normal_tilt)
        };
        let thickness = pair.thickness * mesh.thickness_fraction(&pair.vertices);
        let detection_distance = distance_factor * thickness;
        let bounds = DetectionBounds { detection_distance, max_normal_tilt };
        let linearised = pair.linearised_contact(mesh, self.trajectories(), bounds)?;
        if linearised.gap >= thickness && !has_pressed {
            return None;
        }
        let prior = self.contact_history.prior_contact(pair);
        let area = pair.contact_area(mesh, &linearised.weights);
        let mut contact = Contact::new(*pair, linearised, thickness, area);
        contact.recover_gap(thickness * self.duration / DETECTION.gap_recovery_time, prior.preload);
        if linearised.gap >= contact.target_distance() && !has_pressed {
            return None;
        }
        let bodies = pair.representative_vertices().map(|vertex| mesh.bodies[vertex as usize]);
        let is_frictionless =
            self.intersection_state.as_ref().is_some_and(|state| state.is_frictionless(bodies));
        contact.friction =
            if is_frictionless { 0.0 } else { (first.friction * second.friction).sqrt() };
        contact.is_new = !prior.existed;
        let start = contact.relative_position(&self.start_positions);
        contact.set_start(prior.tangential_displacement, start, |lever| {
            turned_with_partner(pair, mesh, self.trajectories(), lever)
        });
        Some(contact)
    }
}
