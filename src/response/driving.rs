// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which contacts do more than stop a cloth: they bring energy, or forces that are none of nature.

use super::Response;
use crate::collision::Contact;

impl Response {
    /// Whether the step draws apart what crossed or was in one place when it began.
    pub(crate) fn untangles(&self) -> bool {
        self.crossing_count() > 0
            || self.contacts.iter().any(|contact| contact.pair.is_undecided(self.motion()))
    }

    /// Whether contacts may give energy to the cloth: where colliders move, or what is too close is moved apart.
    pub(crate) fn is_driving(&self) -> bool {
        let count = self.cloth_vertices().min(self.starts.len());
        self.starts[count..] != self.ends[count..]
            || self.crossing_count() > 0
            || self.contacts.iter().any(Contact::is_parting)
    }
}
