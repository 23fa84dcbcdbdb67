// SPDX-License-Identifier: MIT OR Apache-2.0
//! A step that has begun, and which pairs count in it.

use super::{recovery::Recovery, step_geometry::StepGeometry};
use crate::{
    collision::{ContactHistory, PairKind, PrimitivePair},
    surface::CollisionMesh,
};

/// A step that has begun: what no iteration changes, but for the trial point.
#[derive(Clone, Copy)]
pub(super) struct BegunStep<'a> {
    pub(super) mesh: &'a CollisionMesh,
    pub(super) geometry: &'a StepGeometry,
    pub(super) recovery: &'a Recovery,
    /// Contact history at the end of the last step.
    pub(super) history: &'a ContactHistory,
}

impl BegunStep<'_> {
    /// Whether contacts of other pairs already separate the surfaces: vertex–face pairs at two edges,
    /// or those of the triangles in use at an alternative. A pair that pressed in the last step is not
    /// redundant: without its contact the surfaces would bend until they press again, in a cycle.
    pub(super) fn is_redundant_pair(&self, pair: &PrimitivePair) -> bool {
        let [first, second] = pair.features.map(|feature| feature as usize);
        let convexities = &self.geometry.edge_convexities;
        let are_redundant_edges = || {
            pair.kind == PairKind::EdgeEdge
                && convexities[first].is_redundant_with(&convexities[second])
        };
        (pair.is_alternative(self.mesh) || are_redundant_edges())
            && !self.history.prior_contact(pair).existed
    }

    /// Whether a pair must keep its minimum gap: it has a free vertex and is not filtered.
    pub(super) fn is_guaranteed_pair(&self, pair: &PrimitivePair) -> bool {
        self.geometry.has_free_vertex(pair) && !self.is_filtered_pair(pair)
    }

    /// Whether a pair has neither contact nor guarantee, as it is at an intersection, overstretched,
    /// or pinched.
    pub(super) fn is_filtered_pair(&self, pair: &PrimitivePair) -> bool {
        self.recovery.filters(self.mesh, self.geometry, pair)
    }
}
