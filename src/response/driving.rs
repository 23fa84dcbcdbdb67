// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which contacts do more than stop a cloth: they bring energy, or forces that are none of nature.

use super::CollisionResponse;
use crate::collision::Contact;

impl CollisionResponse {
    /// Whether the step draws apart what crossed or was in one place when it began.
    pub(crate) fn is_untangling(&self) -> bool {
        self.intersection_count() > 0
            || self
                .contacts
                .iter()
                .any(|contact| contact.pair.is_coincident_at_start(self.trajectories()))
    }

    /// Whether contacts may give energy to the cloth: where colliders move, or what is too close is moved apart.
    pub(crate) fn may_add_energy(&self) -> bool {
        let count = self.cloth_vertex_count().min(self.start_positions.len());
        self.start_positions[count..] != self.end_positions[count..]
            || self.intersection_count() > 0
            || self.contacts.iter().any(Contact::is_recovering_gap)
    }
}
