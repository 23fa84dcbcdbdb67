// SPDX-License-Identifier: MIT OR Apache-2.0
//! What contacts do with the cloths where they are: forces, stiffness and potential.

use super::CollisionResponse;
use crate::{
    Vec3,
    collision::{Contact, ContactForce},
    parallel::reductions,
};
use rayon::prelude::*;

impl CollisionResponse {
    /// The contacts, and what draws crossings apart.
    pub(crate) fn all_contacts(&self) -> impl Iterator<Item = &Contact> {
        self.contacts.iter().chain(&self.layer_recovery_contacts).chain(&self.recovery_contacts)
    }

    /// What all of these do with the cloths at `positions`, in the same order.
    pub(crate) fn contact_forces(&self, positions: &[Vec3]) -> Vec<ContactForce> {
        let drawing = self.layer_recovery_contacts.par_iter().chain(&self.recovery_contacts);
        let each = self
            .contacts
            .par_iter()
            .chain(drawing)
            .with_min_len(reductions::MIN_ELEMENTS_PER_TASK / 4);
        let one =
            |contact: &Contact| contact.contact_force(&self.relative_position(contact, positions));
        each.map(one).collect()
    }

    /// Σ weight · position of a contact, with the cloths at `positions`.
    pub(crate) fn relative_position(&self, contact: &Contact, positions: &[Vec3]) -> Vec3 {
        let parts = contact.pair.vertices.iter().zip(&contact.linearised.weights);
        parts
            .map(|(vertex, weight)| {
                let index = *vertex as usize;
                positions.get(index).unwrap_or_else(|| &self.end_positions[index]) * *weight
            })
            .sum()
    }

    /// Potential of all contacts with the cloths at `positions`, in J.
    pub(crate) fn contact_potential(&self, positions: &[Vec3]) -> f64 {
        let of = |contact: &Contact| {
            contact.contact_force(&self.relative_position(contact, positions)).potential
        };
        let contacts = &self.contacts;
        let touching =
            reductions::sum_blocked(contacts.len(), reductions::MIN_ELEMENTS_PER_TASK, |place| {
                of(&contacts[place])
            });
        touching
            + self
                .layer_recovery_contacts
                .iter()
                .chain(&self.recovery_contacts)
                .map(of)
                .sum::<f64>()
    }

    /// By how much `contacts` with the cloths at `positions` have another potential than those there are, in J, for
    /// what has come and what has gone.
    pub(crate) fn active_set_potential_change(
        &self,
        contacts: &[Contact],
        positions: &[Vec3],
    ) -> f64 {
        let of = |contact: &Contact| {
            contact.contact_force(&self.relative_position(contact, positions)).potential
        };
        let come = contacts_absent_from(contacts, &self.contacts).map(of);
        let gone = contacts_absent_from(&self.contacts, contacts).map(of);
        come.sum::<f64>() - gone.sum::<f64>()
    }
}

/// The contacts of pairs that `others` do not have; both are in order.
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
