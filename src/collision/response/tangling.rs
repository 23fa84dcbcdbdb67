// SPDX-License-Identifier: MIT OR Apache-2.0
//! What crosses when a step begins, what draws it apart, and what is let go.

use super::Response;
use crate::{
    Vec3,
    collision::{
        coincidence::{part, touches},
        loose::Loose,
        tangle::{Crossing, Tangle, crosses},
    },
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

    /// Parts what coincides before the first step, with the cloths' vertices at `positions` in m.
    pub(crate) fn part(&mut self, positions: &mut [Vec3]) {
        if self.is_alone() {
            return;
        }
        let touches = touches(&self.surfaces, &self.starts);
        let touching = self.broad_phase.touching(self.with_self, touches);
        let crossings = self.crossings();
        if !(touching.is_empty() && crossings.is_empty()) {
            part(&self.surfaces, &mut self.starts, (&crossings, &touching));
            positions.copy_from_slice(&self.starts[..positions.len()]);
        }
    }

    /// All edges that go through triangles where the step begins, in order.
    fn crossings(&self) -> Vec<Crossing> {
        let (surfaces, starts) = (&self.surfaces, &self.starts);
        let crosses = |crossing| crosses(surfaces, starts, crossing);
        let mut crossings = self.broad_phase.crossings(self.with_self, crosses);
        crossings.sort_unstable();
        crossings
    }

    fn find_tangle(&self) -> Option<Tangle> {
        let (surfaces, starts) = (&self.surfaces, &self.starts);
        let crossings = self.crossings();
        let may_be = !crossings.is_empty() || !surfaces.insiders.is_empty();
        may_be.then(|| Tangle::new(surfaces, starts, crossings)).filter(|tangle| !tangle.is_empty())
    }

    fn draw_apart(&mut self) {
        self.pulls.clear();
        self.returns.clear();
        let Some(tangle) = &self.tangle else { return };
        let times = [self.duration, self.memory.crossed_for.unwrap_or_default()];
        self.pulls = tangle.pulls(&self.surfaces, &self.starts, times);
        self.returns = tangle.returns(&self.surfaces, &self.starts, times);
        for drawn in [&mut self.pulls, &mut self.returns] {
            drawn.retain(|contact| !self.loose.frees(&self.surfaces, &contact.pair));
        }
    }

    /// Edges that go through triangles when the step begins.
    pub(crate) fn crossing_count(&self) -> usize {
        self.tangle.as_ref().map_or(0, |tangle| tangle.crossings.len())
    }
}
