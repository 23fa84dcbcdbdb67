// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures of contact activity that control tolerances and the step size: untangling, energy
//! input, slip speed.

use super::CollisionResponse;
use crate::collision::Contact;

impl CollisionResponse {
    /// Whether the step starts with intersections, or with contacts at distance zero.
    pub(crate) fn is_untangling(&self) -> bool {
        self.intersection_count() > 0
            || self
                .contacts
                .iter()
                .any(|contact| contact.pair.is_coincident_at_start(self.trajectories()))
    }

    /// Whether contacts may do positive work on the cloths: colliders move, intersections are being
    /// resolved, or an initial gap is being recovered.
    pub(crate) fn may_add_energy(&self) -> bool {
        self.do_colliders_move()
            || self.intersection_count() > 0
            || self.contacts.iter().any(Contact::is_recovering_gap)
    }

    /// Whether any collider moves in the step.
    pub(super) fn do_colliders_move(&self) -> bool {
        let count = self.cloth_vertex_count().min(self.start_positions.len());
        self.start_positions[count..] != self.end_positions[count..]
    }

    /// Mean slip speed in m/s of cloth–cloth contacts in this step, weighted by normal force.
    pub(crate) fn mean_slip_speed(&self) -> f64 {
        let loaded = self.contacts.iter().filter(|contact| {
            contact.current_normal_force() > 0.0
                && contact
                    .pair
                    .representative_vertices()
                    .iter()
                    .all(|vertex| self.is_cloth(*vertex))
        });
        let (mut weighted_slip_sum, mut force_sum) = (0.0, 0.0);
        for contact in loaded {
            let relative_displacement =
                contact.relative_displacement(&contact.relative_position(&self.end_positions));
            let normal = contact.linearised.normal;
            weighted_slip_sum += contact.current_normal_force()
                * (relative_displacement - normal * relative_displacement.dot(&normal)).norm();
            force_sum += contact.current_normal_force();
        }
        if force_sum > 0.0 { weighted_slip_sum / force_sum / self.duration } else { 0.0 }
    }
}
