// SPDX-License-Identifier: MIT OR Apache-2.0
//! Position alteration: surfaces that start closer than their thickness come apart without a velocity.
//!
//! Baraff and Witkin 1998, section 6.2, add a displacement y to a step, Δx = h(v₀ + Δv) + y (eq. 17). Carried through
//! the derivation of the implicit step it enters the forces, which are those of the altered positions (eq. 18), but not
//! the velocity. For all stages x = x̂ + βv here it is a displacement of x̂: v = (x − x̂ − y)/β. The previous state of a
//! multistep scheme is displaced with it ([`Stage::alter`](crate::time_integration::Stage::alter)).
//!
//! Etzmuss 2002, eq. 4.4, approaches the target position x̄ gradually: ω(x̄ − x)/h is *prescribed as the velocity*, which
//! the particle keeps once its constraint is released (a sheet that hangs 4 mm from a wall with a collision distance of 10
//! mm swung 46 mm off it). Here ω(x̄ − x) is the displacement y, with ω = h/[`gap_recovery_time`] of the thickness, so
//! that the recovery does not depend on the step. Contacts of explicit schemes whose load takes the speed back are left
//! to their reactions (`impulses::reaction`).
//!
//! [`gap_recovery_time`]: super::DetectionParameters::gap_recovery_time

use crate::{
    collision::{Contact, PrimitivePair},
    parallel::reductions,
    response::{
        begun_step::BegunStep,
        impulses::{returns_by_reaction, sweep},
    },
    vec3::Vec3,
};
use std::collections::BTreeMap;

/// Contact that recovers its gap.
struct GapRecovery {
    contact: Contact,
    /// In 1/kg.
    effective_inverse_mass: f64,
    /// Increase of the gap that is wanted, in m.
    wanted: f64,
    /// Increase of the gap by the alterations of this contact alone, in m: at least 0 and at most the wanted one, so that
    /// contacts that oppose each other do not outbid each other.
    own: f64,
}

impl BegunStep<'_> {
    /// Position alteration y of cloth vertices in m, for the predicted positions: the smallest
    /// displacement by mass that leads the gaps of candidate pairs to their targets. With reactions
    /// those that return by them are left out. `inverse_masses` in 1/kg are 0 for pinned vertices.
    pub(in crate::response) fn position_alterations(
        self,
        pairs: &[PrimitivePair],
        has_reactions: bool,
        inverse_masses: impl Fn(usize) -> f64 + Sync,
    ) -> BTreeMap<usize, Vec3> {
        let recovery =
            |index: usize| self.gap_recovery(&pairs[index], has_reactions, &inverse_masses);
        let grain = reductions::MIN_ELEMENTS_PER_TASK / 4;
        let mut recoveries = reductions::collect(pairs.len(), grain, Vec::new(), recovery);
        let mut alterations = BTreeMap::new();
        for recovery in &recoveries {
            let vertices = self.geometry.cloth_weights(&recovery.contact);
            alterations.extend(vertices.map(|(vertex, _)| (vertex, Vec3::zeros())));
        }
        sweep(&mut recoveries, |recovery| {
            let GapRecovery { contact, effective_inverse_mass, wanted, own } = recovery;
            let normal = contact.linearised.normal;
            let weights = self.geometry.cloth_weights(contact);
            let gained: Vec3 = weights.map(|(vertex, weight)| alterations[&vertex] * weight).sum();
            let lacking = *wanted - gained.dot(&normal);
            let before = std::mem::replace(own, (*own + lacking).clamp(0.0, *wanted));
            for (vertex, weight) in self.geometry.cloth_weights(contact) {
                let share = weight * inverse_masses(vertex) / *effective_inverse_mass;
                let change = normal * (share * (*own - before));
                alterations.entry(vertex).and_modify(|alteration| *alteration += change);
            }
        });
        alterations
    }

    /// Recovery of the gap of a candidate pair that started closer than its thickness; `None` if its motion or the
    /// force that compresses it accounts for the gap, or its reaction recovers it.
    fn gap_recovery(
        &self,
        pair: &PrimitivePair,
        has_reactions: bool,
        inverse_masses: impl Fn(usize) -> f64,
    ) -> Option<GapRecovery> {
        if pair.start_distance >= pair.thickness {
            return None;
        }
        let prior_force = self.history.prior_contact(pair).normal_force;
        let contact = self.unloaded_contact(pair, prior_force > 0.0)?;
        let wanted = contact.gap_to_recover(prior_force);
        let effective_inverse_mass = self.geometry.effective_inverse_mass(&contact, inverse_masses);
        let load = prior_force * effective_inverse_mass;
        let is_left_out = has_reactions && returns_by_reaction(&contact, load);
        (wanted > 0.0 && effective_inverse_mass > 0.0 && !is_left_out).then_some(GapRecovery {
            contact,
            effective_inverse_mass,
            wanted,
            own: 0.0,
        })
    }
}
