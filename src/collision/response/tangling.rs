// SPDX-License-Identifier: MIT OR Apache-2.0
//! What crosses when a step begins, what draws it apart, and what is let go.

use super::Response;
use crate::collision::{
    loose::Loose,
    tangle::{Tangle, crosses},
};

impl Response {
    /// Finds what crosses, what draws it apart, and what is let go.
    pub(super) fn untangle(&mut self) {
        self.tangle = self.memory.crossed_for.and_then(|_| self.find_tangle());
        self.loose = if self.memory.was_led_across {
            Loose::new(&self.surfaces, &self.starts)
        } else {
            Loose::default()
        };
        self.draw_apart();
    }

    fn find_tangle(&self) -> Option<Tangle> {
        let (surfaces, starts) = (&self.surfaces, &self.starts);
        let mut crossings = self
            .broad_phase
            .crossings(self.with_self, |crossing| crosses(surfaces, starts, crossing));
        crossings.sort_unstable();
        let may_be = !crossings.is_empty() || !surfaces.insiders.is_empty();
        may_be.then(|| Tangle::new(surfaces, starts, crossings)).filter(|tangle| !tangle.is_empty())
    }

    fn draw_apart(&mut self) {
        self.pulls.clear();
        self.returns.clear();
        let Some(tangle) = &self.tangle else { return };
        let times = [self.duration, self.memory.crossed_for.unwrap_or_default()];
        self.pulls = tangle.pulls(&self.surfaces, &self.starts, times);
        self.returns = tangle.returns(&self.surfaces, &self.starts, self.duration);
        for drawn in [&mut self.pulls, &mut self.returns] {
            drawn.retain(|contact| !self.loose.frees(&self.surfaces, &contact.pair));
        }
    }

    /// Edges that go through triangles when the step begins.
    pub(crate) fn crossing_count(&self) -> usize {
        self.tangle.as_ref().map_or(0, |tangle| tangle.crossings.len())
    }
}
