// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contact set: the contacts of an iterate, with their forces, stiffness matrices and potential at
//! given positions.

mod active_set;
#[cfg(test)]
mod tests;

pub(super) use active_set::choose_active_set;
pub(crate) use active_set::{ActiveSet, Multiplier, PrescribedVertex};

use super::step_geometry::StepGeometry;
use crate::{
    collision::{Contact, ContactForce},
    parallel::{BufferPool, reductions},
    vec3::Vec3,
};
use rayon::prelude::*;

/// Contacts of an iterate.
#[derive(Clone, Debug)]
pub(crate) struct ContactSet {
    /// Detected contacts, sorted by key.
    pub(crate) detected: Vec<Contact>,
    /// Recovery contacts of whole components.
    pub(super) layer_recovery: Vec<Contact>,
    /// Recovery contacts of intersected edges.
    pub(super) edge_recovery: Vec<Contact>,
    pub(super) buffers: BufferPool<Vec<Contact>>,
}

/// Positions at which contacts are evaluated.
#[derive(Clone, Copy)]
pub(crate) struct ContactPositions<'a> {
    /// Positions of the cloths, in m.
    pub(crate) cloths: &'a [Vec3],
    /// Positions of all vertices in m, of which those of colliders are used.
    pub(crate) colliders: &'a [Vec3],
}

impl ContactPositions<'_> {
    /// Relative position Σ weight · position of a contact, in m.
    pub(crate) fn relative_position(self, contact: &Contact) -> Vec3 {
        let weighted_vertices = contact.pair.vertices.iter().zip(&contact.linearised.weights);
        weighted_vertices
            .map(|(vertex, weight)| {
                let index = *vertex as usize;
                self.cloths.get(index).unwrap_or_else(|| &self.colliders[index]) * *weight
            })
            .sum()
    }

    /// Force, stiffness and potential of a contact.
    pub(crate) fn force(self, contact: &Contact) -> ContactForce {
        contact.contact_force(&self.relative_position(contact))
    }
}

impl ContactSet {
    /// Set without contacts.
    pub(super) fn empty() -> Self {
        Self {
            detected: Vec::new(),
            layer_recovery: Vec::new(),
            edge_recovery: Vec::new(),
            buffers: BufferPool::new(1),
        }
    }

    /// Replaces the detected contacts by others, sorted by key.
    pub(super) fn accept(&mut self, contacts: Vec<Contact>) {
        self.buffers.give(std::mem::replace(&mut self.detected, contacts));
    }

    /// Whether intersections are left to be resolved.
    pub(super) fn has_recovery(&self) -> bool {
        !(self.layer_recovery.is_empty() && self.edge_recovery.is_empty())
    }

    /// All contacts: those detected, then those of layer recovery, then those of edge recovery.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Contact> {
        self.detected.iter().chain(&self.layer_recovery).chain(&self.edge_recovery)
    }

    /// Forces and stiffness of all contacts, in the order of [`Self::all`].
    pub(crate) fn forces(&self, positions: ContactPositions<'_>) -> Vec<ContactForce> {
        let recovery = self.layer_recovery.par_iter().chain(&self.edge_recovery);
        let each = self
            .detected
            .par_iter()
            .chain(recovery)
            .with_min_len(reductions::MIN_ELEMENTS_PER_TASK / 4);
        each.map(|contact| positions.force(contact)).collect()
    }

    /// Potential of all contacts, in J.
    pub(crate) fn potential(&self, positions: ContactPositions<'_>) -> f64 {
        let potential = |contact: &Contact| positions.force(contact).potential;
        let contacts = &self.detected;
        let detected =
            reductions::sum_blocked(contacts.len(), reductions::MIN_ELEMENTS_PER_TASK, |index| {
                potential(&contacts[index])
            });
        let recovery = self.layer_recovery.iter().chain(&self.edge_recovery);
        detected + recovery.map(potential).sum::<f64>()
    }

    /// Change of the potential in J if `contacts` replace those detected, from added and removed
    /// pairs only.
    pub(crate) fn active_set_potential_change(
        &self,
        contacts: &[Contact],
        positions: ContactPositions<'_>,
    ) -> f64 {
        let potential = |contact: &Contact| positions.force(contact).potential;
        let added = contacts_absent_from(contacts, &self.detected).map(potential);
        let removed = contacts_absent_from(&self.detected, contacts).map(potential);
        added.sum::<f64>() - removed.sum::<f64>()
    }

    /// Mean slip speed in m/s of cloth–cloth contacts in a step, weighted by normal force.
    pub(crate) fn mean_slip_speed(&self, step: &StepGeometry) -> f64 {
        let loaded = self.detected.iter().filter(|contact| {
            let [first, second] = contact.pair.representative_vertices();
            contact.current_normal_force() > 0.0 && step.is_cloth(first) && step.is_cloth(second)
        });
        let (mut weighted_slip_sum, mut force_sum) = (0.0, 0.0);
        for contact in loaded {
            let relative_displacement =
                contact.relative_displacement(&contact.relative_position(&step.end_positions));
            let normal = contact.linearised.normal;
            weighted_slip_sum += contact.current_normal_force()
                * (relative_displacement - normal * relative_displacement.dot(&normal)).norm();
            force_sum += contact.current_normal_force();
        }
        if force_sum > 0.0 { weighted_slip_sum / force_sum / step.duration } else { 0.0 }
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
