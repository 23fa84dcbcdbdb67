// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is remembered of the contacts from one step to the next.

use super::{
    contact::Contact,
    primitive_pair::{PairKind, PrimitivePair},
};
use crate::Vec3;
use serde::{Deserialize, Serialize};

/// A contact as a step has left it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct ContactRecord {
    is_vertex_face: bool,
    features: [u32; 2],
    /// Way from the anchor, in m.
    tangential_displacement: Vec3,
    /// Normal force, in N.
    normal_force: f64,
    /// Direction in which it slid; zero where it held.
    slip_direction: Vec3,
    /// Whether it is one of two edges that would have crossed without it.
    is_stiffened: bool,
}

/// The contacts at the end of the last step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ContactHistory {
    /// In order of their features, those of vertices first.
    records: Vec<ContactRecord>,
    /// Time for which surfaces have crossed, in s; `None` where none have.
    pub(crate) intersection_time: Option<f64>,
    /// Whether something held has ever been led through something else whose motion is given.
    pub(crate) had_kinematic_intersection: bool,
}

/// What a contact takes over from the last step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PriorContact {
    pub(crate) tangential_displacement: Vec3,
    pub(crate) normal_force: f64,
    pub(crate) slip_direction: Vec3,
    /// Force in N that it goes on pressing with: only of the very pair, or a vertex would press on all triangles around.
    pub(crate) preload: f64,
    /// Whether it was there.
    pub(crate) existed: bool,
}

impl ContactRecord {
    /// A contact at the end of a step; `None` where nothing presses.
    fn from_contact(mut contact: Contact, positions: &[Vec3]) -> Option<Self> {
        let between = contact.relative_position(positions);
        contact.update_force_and_slip(&between);
        let reach = contact.elastic_tangential_displacement(&between);
        let way = reach.norm();
        let part = if way > contact.slip_length() { contact.slip_length() / way } else { 1.0 };
        let PrimitivePair { kind, features, .. } = contact.pair;
        (contact.current_normal_force() > 0.0).then_some(Self {
            is_vertex_face: kind == PairKind::VertexFace,
            features,
            tangential_displacement: reach * part,
            normal_force: contact.current_normal_force(),
            slip_direction: contact.slip_direction,
            is_stiffened: kind == PairKind::EdgeEdge && contact.pair.stiffening_count > 0,
        })
    }

    fn sort_key(&self) -> (bool, [u32; 2]) {
        (!self.is_vertex_face, self.features)
    }
}

impl ContactHistory {
    /// Before the first step, when nobody has looked yet for what crosses.
    pub(crate) fn unexamined() -> Self {
        Self {
            records: Vec::new(),
            intersection_time: Some(0.0),
            had_kinematic_intersection: false,
        }
    }

    /// Remembers those contacts that press with all vertices at `positions`, in m.
    pub(crate) fn new<'a>(
        contacts: impl Iterator<Item = &'a Contact>,
        positions: &[Vec3],
        (intersection_time, had_kinematic_intersection): (Option<f64>, bool),
    ) -> Self {
        let mut records: Vec<ContactRecord> = contacts
            .filter_map(|contact| ContactRecord::from_contact(*contact, positions))
            .collect();
        records.sort_unstable_by_key(ContactRecord::sort_key);
        Self { records, intersection_time, had_kinematic_intersection }
    }

    /// Number of contacts.
    pub(crate) fn contact_count(&self) -> usize {
        self.records.len()
    }

    /// Whether all features are among so many vertices, edges and triangles.
    pub(crate) fn has_valid_features(&self, [vertices, edges, triangles]: [usize; 3]) -> bool {
        self.records.iter().all(|held| {
            let limits = if held.is_vertex_face { [vertices, triangles] } else { [edges; 2] };
            held.features.iter().zip(limits).all(|(feature, limit)| (*feature as usize) < limit)
        })
    }

    /// Names of the pairs of edges that would have crossed without their contact.
    pub(crate) fn stiffened_edge_pairs(&self) -> impl Iterator<Item = (PairKind, [u32; 2])> {
        let rescued = self.records.iter().filter(|held| held.is_stiffened);
        rescued.map(|held| (PairKind::EdgeEdge, held.features))
    }

    /// What there was of a pair; a vertex that has gone over to another triangle brings its anchor along.
    pub(crate) fn prior_contact(&self, pair: &PrimitivePair) -> PriorContact {
        let order = (pair.kind != PairKind::VertexFace, pair.features);
        let place = self.records.partition_point(|held| held.sort_key() < order);
        let exact = self.records.get(place).filter(|held| held.sort_key() == order);
        let found = exact.or_else(|| {
            let near = [place.checked_sub(1), Some(place)].into_iter().flatten();
            near.filter_map(|place| self.records.get(place)).find(|held| {
                held.is_vertex_face
                    && pair.kind == PairKind::VertexFace
                    && held.features[0] == pair.features[0]
            })
        });
        found.map_or_else(PriorContact::default, |held| PriorContact {
            tangential_displacement: held.tangential_displacement,
            normal_force: held.normal_force,
            slip_direction: held.slip_direction,
            preload: if exact.is_none() { 0.0 } else { held.normal_force },
            existed: true,
        })
    }
}
