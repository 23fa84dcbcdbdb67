// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which contacts are met as constraints: those of particles with solids, after Etzmuss 2002, section 4.4.
//!
//! The collision direction of a vertex of cloth in the collision area of a solid is the normal of its contact. In every correction
//! its displacement along that direction is the one that leads to the target position, at the distance wanted, and
//! is taken out of the equations by a filter. What is left of them along the direction is the force of the
//! constraint. It is carried to the next correction, and where it pulls, the vertex is released.
//!
//! A vertex has one constraint. What else it meets, it meets by the law of [`Contact`]: other faces of solids, as in a corner,
//! all solids where two of them press on it from opposite sides and no displacement would do, and
//! what would have been crossed even so. Contacts of several particles go by the law as well.

use super::Response;
use crate::{
    Vec3,
    collision::{contact::Contact, pair::Kind},
};

impl Response {
    /// Decides which of `contacts` are constraints.
    pub(super) fn choose_constraints(&self, contacts: &mut [Contact]) {
        let of_one_vertex = |a: &Contact, b: &Contact| {
            let are_of_vertices =
                a.pair.kind == Kind::VertexFace && b.pair.kind == Kind::VertexFace;
            are_of_vertices && a.pair.features[0] == b.pair.features[0]
        };
        for contacts in contacts.chunk_by_mut(of_one_vertex) {
            let chosen = self.chosen(contacts);
            for (place, contact) in contacts.iter_mut().enumerate() {
                let is_chosen = chosen == Some(place);
                if is_chosen != contact.is_constraint() {
                    contact.meet(is_chosen, contact.force());
                }
            }
        }
    }

    /// Which of the contacts of a vertex is its constraint: the one that is, or the one that presses most.
    fn chosen(&self, contacts: &[Contact]) -> Option<usize> {
        let mut chosen: Option<(usize, f64)> = None;
        for (place, contact) in contacts.iter().enumerate() {
            if !self.is_with_solid(contact) {
                continue;
            }
            let normal = contact.touch.normal;
            let opposes = |other: &Contact| other.touch.normal.dot(&normal) < 0.0;
            let mut before = contacts[..place].iter().filter(|other| self.is_with_solid(other));
            if before.any(opposes) {
                return None;
            }
            let presses = contact.normal_force(contact.touch.gap);
            let rank = if contact.is_constraint() { f64::INFINITY } else { presses };
            if contact.pair.rescues == 0 && chosen.is_none_or(|(_, most)| rank > most) {
                chosen = Some((place, rank));
            }
        }
        chosen.map(|(place, _)| place)
    }

    /// Whether a contact is one of a cloth's vertex with a solid.
    fn is_with_solid(&self, contact: &Contact) -> bool {
        let [vertex, corner, ..] = contact.pair.vertices;
        contact.pair.kind == Kind::VertexFace && self.is_cloth(vertex) && !self.is_cloth(corner)
    }

    /// The constraints that press with the cloths at `positions`, in order of their vertices: their places among the
    /// contacts, their vertices and normals, and how far they have to be lifted along these, in m.
    pub(crate) fn constraints(
        &self,
        positions: &[Vec3],
    ) -> impl Iterator<Item = (usize, usize, Vec3, f64)> {
        self.contacts.iter().enumerate().filter_map(|(place, contact)| {
            let lift = contact.lift(&self.between(contact, positions))?;
            Some((place, contact.pair.vertices[0] as usize, contact.touch.normal, lift))
        })
    }

    /// Takes the forces in N that the equations have found for constraints, by their places among the contacts. What pulled
    /// and has been released is free from now on.
    pub(crate) fn balance(&mut self, forces: impl Iterator<Item = (usize, f64)>) {
        for contact in self.contacts.iter_mut().filter(|contact| contact.force() < 0.0) {
            contact.carry(0.0);
        }
        for (place, force) in forces {
            self.contacts[place].carry(force);
        }
    }
}
