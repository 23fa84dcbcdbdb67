// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contact history: what the contacts of a step pass on to the next.

use super::{
    contact::Contact,
    primitive_pair::{PairKind, PrimitivePair},
    renumbering::Renumbering,
};
use crate::vec3::Vec3;
use serde::{Deserialize, Serialize};

/// Contact at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct ContactRecord {
    is_vertex_face: bool,
    features: [u32; 2],
    /// Tangential displacement from the stick anchor, in m.
    tangential_displacement: Vec3,
    /// Normal force, in N.
    normal_force: f64,
    /// Unit slip direction; zero for a sticking contact.
    slip_direction: Vec3,
    /// Whether it is an edge pair that was stiffened after a CCD hit.
    is_stiffened: bool,
}

/// Contacts at the end of the last step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ContactHistory {
    /// In order of their features, vertex–face contacts first.
    records: Vec<ContactRecord>,
    /// Time in s for which surfaces have intersected; `None` without intersections.
    pub(crate) intersection_time: Option<f64>,
    /// Whether a pinned feature has ever been moved through another kinematic one.
    pub(crate) had_kinematic_intersection: bool,
}

/// Quantities that a contact inherits from the last step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PriorContact {
    /// Tangential displacement from the stick anchor, in m.
    pub(crate) tangential_displacement: Vec3,
    /// Normal force, in N.
    pub(crate) normal_force: f64,
    /// Unit slip direction; zero for a sticking contact.
    pub(crate) slip_direction: Vec3,
    /// Preload in N: only of the same pair, or a vertex would press on all triangles around.
    pub(crate) preload: f64,
    /// Whether the contact existed in the last step.
    pub(crate) existed: bool,
}

impl ContactRecord {
    /// Record of a contact at the end of a step; `None` without a normal force.
    fn from_contact(mut contact: Contact, positions: &[Vec3]) -> Option<Self> {
        let relative_position = contact.relative_position(positions);
        contact.update_force_and_slip(&relative_position);
        let displacement = contact.elastic_tangential_displacement(&relative_position);
        let (length, slip_length) = (displacement.norm(), contact.slip_length());
        let elastic_fraction = if length > slip_length { slip_length / length } else { 1.0 };
        let PrimitivePair { kind, features, stiffening_count, .. } = contact.pair;
        (contact.current_normal_force() > 0.0).then_some(Self {
            is_vertex_face: kind == PairKind::VertexFace,
            features,
            tangential_displacement: displacement * elastic_fraction,
            normal_force: contact.current_normal_force(),
            slip_direction: contact.slip_direction,
            is_stiffened: kind == PairKind::EdgeEdge && stiffening_count > 0,
        })
    }

    /// Record with the new numbers of its features.
    fn renumbered(&self, new: &Renumbering<'_>) -> Option<Self> {
        let [first, second] = self.features;
        let features = if self.is_vertex_face {
            [new.vertex(first)?, new.triangle(second)?]
        } else {
            [new.edge(first)?, new.edge(second)?]
        };
        Some(Self { features, ..*self })
    }

    fn sort_key(&self) -> (bool, [u32; 2]) {
        (!self.is_vertex_face, self.features)
    }
}

impl ContactHistory {
    /// History before the first step, when no intersections have been looked for.
    pub(crate) fn unexamined() -> Self {
        Self {
            records: Vec::new(),
            intersection_time: Some(0.0),
            had_kinematic_intersection: false,
        }
    }

    /// History of the contacts with a normal force, with all vertices at `positions` in m.
    pub(crate) fn new<'a>(
        contacts: impl Iterator<Item = &'a Contact>,
        positions: &[Vec3],
        intersection_time: Option<f64>,
        had_kinematic_intersection: bool,
    ) -> Self {
        let mut records: Vec<ContactRecord> = contacts
            .filter_map(|contact| ContactRecord::from_contact(*contact, positions))
            .collect();
        records.sort_unstable_by_key(ContactRecord::sort_key);
        Self { records, intersection_time, had_kinematic_intersection }
    }

    /// Contacts of all parts with the new numbers of their features, where these have one.
    pub(crate) fn gathered<'a>(
        parts: impl Iterator<Item = (&'a Self, &'a Renumbering<'a>)>,
    ) -> Self {
        let mut gathered = Self::default();
        for (part, renumbering) in parts {
            gathered
                .records
                .extend(part.records.iter().filter_map(|one| one.renumbered(renumbering)));
            let times = [gathered.intersection_time, part.intersection_time];
            gathered.intersection_time = times.into_iter().flatten().reduce(f64::max);
            gathered.had_kinematic_intersection |= part.had_kinematic_intersection;
        }
        gathered.records.sort_unstable_by_key(ContactRecord::sort_key);
        gathered
    }

    /// Number of contacts.
    pub(crate) fn contact_count(&self) -> usize {
        self.records.len()
    }

    /// Whether all features exist in a mesh with these numbers of vertices, edges and triangles.
    pub(crate) fn has_valid_features(&self, [vertices, edges, triangles]: [usize; 3]) -> bool {
        self.records.iter().all(|record| {
            let counts = if record.is_vertex_face { [vertices, triangles] } else { [edges; 2] };
            record.features.iter().zip(counts).all(|(feature, count)| (*feature as usize) < count)
        })
    }

    /// Kind, features and normal force in N of each contact.
    pub(crate) fn pressing_pairs(&self) -> impl Iterator<Item = (PairKind, [u32; 2], f64)> {
        self.records.iter().map(|record| {
            let kind =
                if record.is_vertex_face { PairKind::VertexFace } else { PairKind::EdgeEdge };
            (kind, record.features, record.normal_force)
        })
    }

    /// Keys of the edge pairs that were stiffened after a CCD hit.
    pub(crate) fn stiffened_edge_pairs(&self) -> impl Iterator<Item = (PairKind, [u32; 2])> {
        let stiffened = self.records.iter().filter(|record| record.is_stiffened);
        stiffened.map(|record| (PairKind::EdgeEdge, record.features))
    }

    /// Prior state of a pair; a vertex that has moved on to another triangle brings its stick
    /// anchor along.
    pub(crate) fn prior_contact(&self, pair: &PrimitivePair) -> PriorContact {
        let key = (pair.kind != PairKind::VertexFace, pair.features);
        let index = self.records.partition_point(|record| record.sort_key() < key);
        let same_pair = self.records.get(index).filter(|record| record.sort_key() == key);
        let found = same_pair.or_else(|| {
            let neighbours = [index.checked_sub(1), Some(index)].into_iter().flatten();
            neighbours.filter_map(|index| self.records.get(index)).find(|record| {
                record.is_vertex_face
                    && pair.kind == PairKind::VertexFace
                    && record.features[0] == pair.features[0]
            })
        });
        found.map_or_else(PriorContact::default, |record| PriorContact {
            tangential_displacement: record.tangential_displacement,
            normal_force: record.normal_force,
            slip_direction: record.slip_direction,
            preload: if same_pair.is_none() { 0.0 } else { record.normal_force },
            existed: true,
        })
    }
}
