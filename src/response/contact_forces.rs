// SPDX-License-Identifier: MIT OR Apache-2.0
//! What contacts do with the cloths where they are: forces, stiffness and potential.

use super::Response;
use crate::{
    Vec3,
    collision::{Contact, Reaction},
    parallel::reductions,
};
use rayon::prelude::*;

impl Response {
    /// The contacts, and what draws crossings apart.
    pub(crate) fn reactions(&self) -> impl Iterator<Item = &Contact> {
        self.contacts.iter().chain(&self.returns).chain(&self.pulls)
    }

    /// What all of these do with the cloths at `positions`, in the same order.
    pub(crate) fn react(&self, positions: &[Vec3]) -> Vec<Reaction> {
        let drawing = self.returns.par_iter().chain(&self.pulls);
        let each = self.contacts.par_iter().chain(drawing).with_min_len(reductions::ELEMENTS / 4);
        let one = |contact: &Contact| contact.reaction(&self.between(contact, positions));
        each.map(one).collect()
    }

    /// Σ weight · position of a contact, with the cloths at `positions`.
    pub(crate) fn between(&self, contact: &Contact, positions: &[Vec3]) -> Vec3 {
        let parts = contact.pair.vertices.iter().zip(&contact.touch.weights);
        parts
            .map(|(vertex, weight)| {
                let index = *vertex as usize;
                positions.get(index).unwrap_or_else(|| &self.ends[index]) * *weight
            })
            .sum()
    }

    /// Potential of all contacts with the cloths at `positions`, in J.
    pub(crate) fn potential(&self, positions: &[Vec3]) -> f64 {
        let of = |contact: &Contact| contact.reaction(&self.between(contact, positions)).potential;
        let contacts = &self.contacts;
        let touching =
            reductions::sum(contacts.len(), reductions::ELEMENTS, |place| of(&contacts[place]));
        touching + self.returns.iter().chain(&self.pulls).map(of).sum::<f64>()
    }

    /// By how much `contacts` with the cloths at `positions` have another potential than those there are, in J, for
    /// what has come and what has gone.
    pub(crate) fn exchange(&self, contacts: &[Contact], positions: &[Vec3]) -> f64 {
        let of = |contact: &Contact| contact.reaction(&self.between(contact, positions)).potential;
        let come = missing(contacts, &self.contacts).map(of);
        let gone = missing(&self.contacts, contacts).map(of);
        come.sum::<f64>() - gone.sum::<f64>()
    }
}

/// The contacts of pairs that `others` do not have; both are in order.
fn missing<'a>(
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
