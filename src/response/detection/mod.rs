// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contact detection in the candidate pairs, once per Newton iteration.
//!
//! In some iterations contacts get new normals ([`BegunStep::contacts`]); in the others they keep
//! those of the last one ([`BegunStep::contacts_with_frozen_normals`]), so that Newton's method
//! converges.

mod position_alteration;
#[cfg(test)]
mod tests;

use super::{
    begun_step::BegunStep,
    candidates::{Candidates, STEP_VALIDATION},
    contact_set::{ContactSet, choose_active_set},
};
use crate::{
    collision::{Contact, DetectionBounds, PrimitivePair, PriorContact, turned_with_partner},
    parallel::reductions,
};

/// Parameters of contact detection.
pub(super) struct DetectionParameters {
    /// Time in which surfaces that start closer than their thickness recover it (s). Effect: larger
    /// leaves them compressed for longer; smaller separates them at a visible speed. Evidence:
    /// `a_sheet_that_starts_too_close_is_moved_out_gradually` (fails at 1e-9 and at 1e9),
    /// `test_sheets_in_one_place_come_apart_by_their_thickness`.
    pub(super) gap_recovery_time: f64,
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
        new_normal_tilt: 1.0e-3,
        loaded_normal_tilt: 0.1,
        new_contact_gap: 0.98,
    };
}

pub(super) const DETECTION: DetectionParameters = DetectionParameters::DEFAULT;

impl BegunStep<'_> {
    /// Contacts at the initial guess, with the forces and slip directions of the last step.
    pub(super) fn initial_contacts(
        self,
        candidates: &Candidates,
        current: &ContactSet,
    ) -> Vec<Contact> {
        self.collect_contacts(candidates, current, 1.0 + STEP_VALIDATION.skin, |pair, _| {
            let PriorContact { normal_force, slip_direction, .. } =
                self.history.prior_contact(pair);
            let mut contact = self.unloaded_contact(pair, normal_force > 0.0)?;
            contact.set_normal_force(normal_force);
            contact.slip_direction = slip_direction;
            contact.keep_closed(self.geometry.inertial_compliance(&contact));
            Some(contact)
        })
    }

    /// Contacts at the trial point, with new normals.
    pub(super) fn contacts(self, candidates: &Candidates, current: &ContactSet) -> Vec<Contact> {
        self.collect_contacts(candidates, current, 1.0, |pair, current| {
            self.detect_contact(pair, current).or_else(|| self.separated_contact(current))
        })
    }

    /// Contacts at the trial point, with the normals of the last iteration so that Newton iterations
    /// converge. New contacts are added only below [`DetectionParameters::new_contact_gap`].
    pub(super) fn contacts_with_frozen_normals(
        self,
        candidates: &Candidates,
        current: &ContactSet,
    ) -> Vec<Contact> {
        self.collect_contacts(candidates, current, 1.0, |pair, current| match current {
            Some(current) if pair.stiffening_count == 0 && !current.linearised.has_penetrated => {
                Some(self.with_updated_forces(*current))
            }
            Some(_) => self.detect_contact(pair, current),
            None => self.detect_contact(pair, None).filter(|new| {
                new.linearised.gap < DETECTION.new_contact_gap * new.target_distance()
            }),
        })
    }

    /// Contacts that `one` makes of the candidate pairs and their present contacts, in the order of
    /// the pairs, with the active set chosen. Pairs that are certified separated by `reach`
    /// thicknesses are skipped.
    fn collect_contacts(
        self,
        candidates: &Candidates,
        current: &ContactSet,
        reach: f64,
        one: impl Fn(&PrimitivePair, Option<&Contact>) -> Option<Contact> + Sync,
    ) -> Vec<Contact> {
        let Candidates { pairs, contact_of_pair, displacement_bound, .. } = candidates;
        let contact = |index: usize| {
            let pair = &pairs[index];
            let current = current.detected.get(contact_of_pair[index] as usize);
            if current.is_none()
                && displacement_bound.certifies_separation(pair, reach * pair.thickness)
            {
                return None;
            }
            one(pair, current)
        };
        let buffer = current.buffers.take();
        let grain = reductions::MIN_ELEMENTS_PER_TASK / 4;
        let mut contacts = reductions::collect(pairs.len(), grain, buffer, contact);
        choose_active_set(&mut contacts, |vertex| self.geometry.is_cloth(vertex));
        contacts
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
        contact.update_force_and_slip(&contact.relative_position(&self.geometry.end_positions));
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
        let mesh = self.mesh;
        let [first, second] =
            pair.representative_vertices().map(|vertex| mesh.surface_properties[vertex as usize]);
        let (distance_factor, max_normal_tilt) = if has_pressed {
            (1.0 + STEP_VALIDATION.skin, DETECTION.loaded_normal_tilt)
        } else {
            (1.0, DETECTION.new_normal_tilt)
        };
        let thickness = pair.thickness * mesh.thickness_fraction(&pair.vertices);
        let detection_distance = distance_factor * thickness;
        let bounds = DetectionBounds { detection_distance, max_normal_tilt };
        let linearised = pair.linearised_contact(mesh, self.geometry.trajectories(), bounds)?;
        if linearised.gap >= thickness && !has_pressed {
            return None;
        }
        let prior = self.history.prior_contact(pair);
        let area = pair.contact_area(mesh, &linearised.weights);
        let mut contact = Contact::new(*pair, linearised, thickness, area);
        contact.recover_gap(
            thickness * self.geometry.duration / DETECTION.gap_recovery_time,
            prior.preload,
        );
        if linearised.gap >= contact.target_distance() && !has_pressed {
            return None;
        }
        let bodies = pair.representative_vertices().map(|vertex| mesh.bodies[vertex as usize]);
        contact.friction = if self.recovery.is_frictionless(bodies) {
            0.0
        } else {
            (first.friction * second.friction).sqrt()
        };
        contact.is_new = !prior.existed;
        let start = contact.relative_position(&self.geometry.start_positions);
        contact.set_start(prior.tangential_displacement, start, |lever| {
            turned_with_partner(pair, mesh, self.geometry.trajectories(), lever)
        });
        Some(contact)
    }
}
