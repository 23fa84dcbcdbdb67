// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast layers of cloth slide on each other.

use super::Response;

impl Response {
    /// Speed in m/s with which layers that press on each other slide in this step, the mean by the forces that press.
    pub(crate) fn sliding_speed(&self) -> f64 {
        let pressing = self.contacts.iter().filter(|contact| {
            contact.force() > 0.0 && contact.pair.ends().iter().all(|end| self.is_cloth(*end))
        });
        let (mut ways, mut forces) = (0.0, 0.0);
        for contact in pressing {
            let way = contact.between(&self.ends) - contact.origin;
            let normal = contact.touch.normal;
            ways += contact.force() * (way - normal * way.dot(&normal)).norm();
            forces += contact.force();
        }
        if forces > 0.0 { ways / forces / self.duration } else { 0.0 }
    }
}
