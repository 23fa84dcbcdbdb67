// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is remembered of the contacts from one step to the next.

use super::{
    contact::Contact,
    primitive_pair::{Kind, Pair},
};
use crate::Vec3;
use serde::{Deserialize, Serialize};

/// A contact as a step has left it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Held {
    is_vertex: bool,
    features: [u32; 2],
    /// Way from the anchor, in m.
    shear: Vec3,
    /// Normal force, in N.
    force: f64,
    /// Direction in which it slid; zero where it held.
    sliding: Vec3,
    /// Whether it is one of two edges that would have crossed without it.
    is_rescued: bool,
}

/// The contacts at the end of the last step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// In order of their features, those of vertices first.
    held: Vec<Held>,
    /// Time for which surfaces have crossed, in s; `None` where none have.
    pub(crate) crossed_for: Option<f64>,
    /// Whether something held has ever been led through something else whose motion is given.
    pub(crate) was_led_across: bool,
}

/// What a contact takes over from the last step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Remembered {
    pub(crate) shear: Vec3,
    pub(crate) force: f64,
    pub(crate) sliding: Vec3,
    /// Force in N that it goes on pressing with: only of the very pair, or a vertex would press on all triangles around.
    pub(crate) load: f64,
    /// Whether it was there.
    pub(crate) is_known: bool,
}

impl Held {
    /// A contact at the end of a step; `None` where nothing presses.
    fn of(mut contact: Contact, positions: &[Vec3]) -> Option<Self> {
        let between = contact.between(positions);
        contact.press(&between);
        let reach = contact.reach(&between);
        let way = reach.norm();
        let part = if way > contact.slip_length() { contact.slip_length() / way } else { 1.0 };
        let Pair { kind, features, .. } = contact.pair;
        (contact.force() > 0.0).then_some(Self {
            is_vertex: kind == Kind::VertexFace,
            features,
            shear: reach * part,
            force: contact.force(),
            sliding: contact.sliding,
            is_rescued: kind == Kind::EdgeEdge && contact.pair.rescues > 0,
        })
    }

    fn order(&self) -> (bool, [u32; 2]) {
        (!self.is_vertex, self.features)
    }
}

impl Memory {
    /// Before the first step, when nobody has looked yet for what crosses.
    pub(crate) fn unknown() -> Self {
        Self { held: Vec::new(), crossed_for: Some(0.0), was_led_across: false }
    }

    /// Remembers those contacts that press with all vertices at `positions`, in m.
    pub(crate) fn new<'a>(
        contacts: impl Iterator<Item = &'a Contact>,
        positions: &[Vec3],
        (crossed_for, was_led_across): (Option<f64>, bool),
    ) -> Self {
        let mut held: Vec<Held> =
            contacts.filter_map(|contact| Held::of(*contact, positions)).collect();
        held.sort_unstable_by_key(Held::order);
        Self { held, crossed_for, was_led_across }
    }

    /// Number of contacts.
    pub(crate) fn contact_count(&self) -> usize {
        self.held.len()
    }

    /// Whether all features are among so many vertices, edges and triangles.
    pub(crate) fn fits(&self, [vertices, edges, triangles]: [usize; 3]) -> bool {
        self.held.iter().all(|held| {
            let limits = if held.is_vertex { [vertices, triangles] } else { [edges; 2] };
            held.features.iter().zip(limits).all(|(feature, limit)| (*feature as usize) < limit)
        })
    }

    /// Names of the pairs of edges that would have crossed without their contact.
    pub(crate) fn rescued(&self) -> impl Iterator<Item = (Kind, [u32; 2])> {
        let rescued = self.held.iter().filter(|held| held.is_rescued);
        rescued.map(|held| (Kind::EdgeEdge, held.features))
    }

    /// What there was of a pair; a vertex that has gone over to another triangle brings its anchor along.
    pub(crate) fn of(&self, pair: &Pair) -> Remembered {
        let order = (pair.kind != Kind::VertexFace, pair.features);
        let place = self.held.partition_point(|held| held.order() < order);
        let exact = self.held.get(place).filter(|held| held.order() == order);
        let found = exact.or_else(|| {
            let near = [place.checked_sub(1), Some(place)].into_iter().flatten();
            near.filter_map(|place| self.held.get(place)).find(|held| {
                held.is_vertex
                    && pair.kind == Kind::VertexFace
                    && held.features[0] == pair.features[0]
            })
        });
        found.map_or_else(Remembered::default, |held| Remembered {
            shear: held.shear,
            force: held.force,
            sliding: held.sliding,
            load: if exact.is_none() { 0.0 } else { held.force },
            is_known: true,
        })
    }
}
