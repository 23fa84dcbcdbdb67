// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast layers of cloth slide on each other.

use super::CollisionResponse;

impl CollisionResponse {
    /// Speed in m/s with which layers that press on each other slide in this step, the mean by the forces that press.
    pub(crate) fn mean_slip_speed(&self) -> f64 {
        let pressing = self.contacts.iter().filter(|contact| {
            contact.current_normal_force() > 0.0
                && contact.pair.representative_vertices().iter().all(|end| self.is_cloth(*end))
        });
        let (mut ways, mut forces) = (0.0, 0.0);
        for contact in pressing {
            let way =
                contact.relative_position(&self.end_positions) - contact.initial_relative_position;
            let normal = contact.linearised.normal;
            ways += contact.current_normal_force() * (way - normal * way.dot(&normal)).norm();
            forces += contact.current_normal_force();
        }
        if forces > 0.0 { ways / forces / self.duration } else { 0.0 }
    }
}
