// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contact forces, stiffness matrices and potential at given positions.

mod reaction;

pub(crate) use reaction::ReactionConstraints;
pub(super) use reaction::returns_by_reaction;

use super::CollisionResponse;
use crate::{
    collision::{Contact, ContactForce},
    parallel::reductions,
    vec3::Vec3,
};
use rayon::prelude::*;

impl CollisionResponse {
    /// All contacts: those detected, then those of layer recovery, then those of edge recovery.
    pub(crate) fn all_contacts(&self) -> impl Iterator<Item = &Contact> {
        self.contacts.iter().chain(&self.layer_recovery_contacts).chain(&self.recovery_contacts)
    }

    /// Forces and stiffness of all contacts with the cloths at `positions` in m, in the order of
    /// [`Self::all_contacts`].
    pub(crate) fn contact_forces(&self, positions: &[Vec3]) -> Vec<ContactForce> {
        let recovery = self.layer_recovery_contacts.par_iter().chain(&self.recovery_contacts);
        let each = self
            .contacts
            .par_iter()
            .chain(recovery)
            .with_min_len(reductions::MIN_ELEMENTS_PER_TASK / 4);
        let one =
            |contact: &Contact| contact.contact_force(&self.relative_position(contact, positions));
        each.map(one).collect()
    }

    /// Relative position Σ weight · position of a contact in m, with the cloths at `positions` in m
    /// and the colliders at their end positions.
    pub(crate) fn relative_position(&self, contact: &Contact, positions: &[Vec3]) -> Vec3 {
        let weighted_vertices = contact.pair.vertices.iter().zip(&contact.linearised.weights);
        weighted_vertices
            .map(|(vertex, weight)| {
                let index = *vertex as usize;
                positions.get(index).unwrap_or_else(|| &self.end_positions[index]) * *weight
            })
            .sum()
    }

    /// Potential of all contacts in J, with the cloths at `positions` in m.
    pub(crate) fn contact_potential(&self, positions: &[Vec3]) -> f64 {
        let potential = |contact: &Contact| {
            contact.contact_force(&self.relative_position(contact, positions)).potential
        };
        let contacts = &self.contacts;
        let detected =
            reductions::sum_blocked(contacts.len(), reductions::MIN_ELEMENTS_PER_TASK, |index| {
                potential(&contacts[index])
            });
        detected
            + self
                .layer_recovery_contacts
                .iter()
                .chain(&self.recovery_contacts)
                .map(potential)
                .sum::<f64>()
    }

    /// Change of the contact potential in J if `contacts` replace the current ones, from added and
    /// removed pairs only, with the cloths at `positions` in m.
    pub(crate) fn active_set_potential_change(
        &self,
        contacts: &[Contact],
        positions: &[Vec3],
    ) -> f64 {
        let potential = |contact: &Contact| {
            contact.contact_force(&self.relative_position(contact, positions)).potential
        };
        let added = contacts_absent_from(contacts, &self.contacts).map(potential);
        let removed = contacts_absent_from(&self.contacts, contacts).map(potential);
        added.sum::<f64>() - removed.sum::<f64>()
    }
}

/// The contacts of pairs that are absent from `others`; both are sorted by key.
fn contacts_absent_from<'a>(
    contacts: &'a [Contact],
    others: &'a [Contact],
) -> impl Iterator<Item = &'a Contact> {
    let mut others = others.iter().map(|contact| contact.pair.key()).peekable();
    contacts.iter().filter(move |contact| {
        let key = contact.pair.key();
        while others.next_if(|other| *other < key).is_some() {}
        others.peek() != Some(&key)
    })
}
