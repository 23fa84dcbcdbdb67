// SPDX-License-Identifier: MIT OR Apache-2.0
//! The last resort: vertices whose way would still cross something go only a part of it.
//!
//! A vertex that stays where the step began crosses nothing that stays as well, so shortening ways ends. Where a
//! collider or a held vertex pushes, what it meets goes along with it in the end, and takes along what it meets in turn.
//! Between two that push against each other it shares the room that they leave (see `carry`). Only where they leave none
//! there is no way out; what they cross is counted.

use super::distribution::DisplacementDistribution;
use crate::{Vec3, collision::PrimitivePair, response::CollisionResponse};
use std::collections::BTreeMap;

/// Times that a way is halved before its vertex stays, or is carried.
const MOST_HALVINGS: u8 = 3;
/// Rounds over all that would cross.
const MOST_ROUNDS: usize = 32;

/// How a vertex goes back.
#[derive(Clone, Copy, Default)]
struct VertexTruncation {
    halvings: u8,
    /// Where it was first pushed, and where it is carried instead, in m from where the step began.
    initial_push: Option<Vec3>,
    distributed_displacement: Option<Vec3>,
}

/// What became of a step that had to be cut short.
#[derive(Clone, Debug, Default)]
pub(crate) struct TruncationResult {
    /// The vertices that did not go where they should have, in order.
    pub(crate) truncated_vertices: Vec<u32>,
    /// How many of them went nowhere.
    pub(crate) frozen_vertex_count: usize,
    /// Pairs that cross even so.
    pub(crate) violating_pair_count: usize,
}

impl CollisionResponse {
    /// Shortens ways to `positions` in m until they cross nothing.
    pub(crate) fn truncate_displacements(&mut self, positions: &mut [Vec3]) -> TruncationResult {
        let targets = positions.to_vec();
        let mut retreats: BTreeMap<u32, VertexTruncation> = BTreeMap::new();
        let mut carry = DisplacementDistribution::default();
        let mut violations = self.violations(positions);
        for _ in 0..MOST_ROUNDS {
            if violations.is_empty() {
                break;
            }
            self.backtrack(&violations, &mut retreats, &mut carry);
            self.distribute_prescribed_displacements(&carry, &mut retreats);
            for (vertex, retreat) in &retreats {
                let index = *vertex as usize;
                let start = self.start_positions()[index];
                positions[index] = if retreat.halvings > MOST_HALVINGS {
                    start + retreat.distributed_displacement.unwrap_or_else(Vec3::zeros)
                } else {
                    start + (targets[index] - start) * 0.5_f64.powi(i32::from(retreat.halvings))
                };
            }
            violations = self.violations(positions);
        }
        TruncationResult {
            frozen_vertex_count: retreats
                .values()
                .filter(|retreat| {
                    retreat.halvings > MOST_HALVINGS && retreat.distributed_displacement.is_none()
                })
                .count(),
            truncated_vertices: retreats.into_keys().collect(),
            violating_pair_count: violations.len(),
        }
    }

    /// Halves the ways of all vertices in pairs that would cross, each once, but of those that something carries.
    fn backtrack(
        &self,
        violations: &[PrimitivePair],
        retreats: &mut BTreeMap<u32, VertexTruncation>,
        carry: &mut DisplacementDistribution,
    ) {
        let mut shortened: BTreeMap<u32, Option<Vec3>> = BTreeMap::new();
        for pair in violations {
            let pushed = self.pushing_displacement(pair, retreats);
            if pushed.is_some() {
                carry.add_pair(
                    pair,
                    self.start_positions(),
                    self.max_prescribed_displacement(pair),
                );
            }
            for vertex in pair.vertices.iter().filter(|vertex| self.is_free_vertex(**vertex)) {
                let push = shortened.entry(*vertex).or_default();
                *push = push.or(pushed);
            }
        }
        for (vertex, push) in shortened {
            let retreat = retreats.entry(vertex).or_default();
            retreat.initial_push = retreat.initial_push.or(push);
            retreat.distributed_displacement = retreat.distributed_displacement.or(push);
            // Going less far does not help against what comes after it.
            let step =
                if retreat.distributed_displacement.is_some() { MOST_HALVINGS + 1 } else { 1 };
            retreat.halvings = retreat.halvings.saturating_add(step);
        }
    }

    /// The way of what pushes in a pair, in m: of what one of these carries, or of a collider or held vertex.
    fn pushing_displacement(
        &self,
        pair: &PrimitivePair,
        retreats: &BTreeMap<u32, VertexTruncation>,
    ) -> Option<Vec3> {
        let mut retreating = pair.vertices.iter().filter_map(|vertex| retreats.get(vertex));
        let carried = retreating.find_map(|retreat| retreat.distributed_displacement);
        let given = pair.vertices.iter().filter(|vertex| !self.is_free_vertex(**vertex));
        let ways: Vec<Vec3> = given.map(|vertex| self.displacement(*vertex)).collect();
        let mean = ways.iter().sum::<Vec3>() / ways.len().max(1) as f64;
        Some(mean).filter(|mean| *mean != Vec3::zeros()).or(carried)
    }

    /// The longest way of a collider's or held vertex in a pair, in m.
    fn max_prescribed_displacement(&self, pair: &PrimitivePair) -> f64 {
        let given = pair.vertices.iter().filter(|vertex| !self.is_free_vertex(**vertex));
        given.map(|vertex| self.displacement(*vertex).norm()).fold(0.0, f64::max)
    }

    /// Finds the ways of all vertices that are carried.
    fn distribute_prescribed_displacements(
        &self,
        carry: &DisplacementDistribution,
        retreats: &mut BTreeMap<u32, VertexTruncation>,
    ) {
        let each = retreats.iter();
        let ways =
            each.filter_map(|(vertex, retreat)| Some((*vertex, retreat.initial_push?))).collect();
        let shared = carry.solve(&ways, |vertex| self.displacement(vertex));
        let carried =
            retreats.values_mut().filter_map(|retreat| retreat.distributed_displacement.as_mut());
        for (carried, way) in carried.zip(shared) {
            *carried = way;
        }
    }

    fn is_free_vertex(&self, vertex: u32) -> bool {
        self.is_cloth(vertex) && !self.is_pinned(vertex as usize)
    }
}
