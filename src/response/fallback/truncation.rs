// SPDX-License-Identifier: MIT OR Apache-2.0
//! Displacement truncation, the fallback of a step whose iterations have not led to a valid
//! solution.
//!
//! The displacements of vertices in violating pairs are halved, and at last set to zero: vertices
//! that stay at their start positions keep their gaps, so truncation terminates. Where a collider
//! or a pinned vertex pushes, the vertices that it meets take over its displacement instead, and so
//! do the vertices that those meet. Between two that push against each other the remaining gap is
//! distributed (see `distribution`). Only where no gap remains there is no solution; the violating
//! pairs are then counted.

use super::{TRUNCATION, distribution::DisplacementDistribution};
use crate::{
    collision::PrimitivePair,
    response::{CollisionResponse, TruncationResult},
    vec3::Vec3,
};
use std::collections::BTreeMap;

/// Truncation of one vertex.
#[derive(Clone, Copy, Default)]
struct VertexTruncation {
    halvings: u8,
    /// Displacement of the kinematic feature that first pushed it, in m.
    initial_push: Option<Vec3>,
    distributed_displacement: Option<Vec3>,
}

impl CollisionResponse {
    /// Truncates the displacements to `positions` in m until no pair violates its gap.
    pub(crate) fn truncate_displacements(&mut self, positions: &mut [Vec3]) -> TruncationResult {
        let targets = positions.to_vec();
        let mut truncations: BTreeMap<u32, VertexTruncation> = BTreeMap::new();
        let mut distribution = DisplacementDistribution::default();
        let mut violations = self.violations(positions);
        for _ in 0..TRUNCATION.max_rounds {
            if violations.is_empty() {
                break;
            }
            self.backtrack(&violations, &mut truncations, &mut distribution);
            self.distribute_prescribed_displacements(&distribution, &mut truncations);
            for (vertex, truncation) in &truncations {
                let index = *vertex as usize;
                let start = self.start_positions()[index];
                positions[index] = if truncation.halvings > TRUNCATION.max_halvings {
                    start + truncation.distributed_displacement.unwrap_or_else(Vec3::zeros)
                } else {
                    start + (targets[index] - start) * 0.5_f64.powi(i32::from(truncation.halvings))
                };
            }
            violations = self.violations(positions);
        }
        TruncationResult {
            frozen_vertex_count: truncations
                .values()
                .filter(|truncation| {
                    truncation.halvings > TRUNCATION.max_halvings
                        && truncation.distributed_displacement.is_none()
                })
                .count(),
            truncated_vertices: truncations.into_keys().collect(),
            violating_pair_count: violations.len(),
        }
    }

    /// Halves the displacements of all free vertices in violating pairs, each once per round;
    /// vertices that a kinematic feature pushes follow it instead.
    fn backtrack(
        &self,
        violations: &[PrimitivePair],
        truncations: &mut BTreeMap<u32, VertexTruncation>,
        distribution: &mut DisplacementDistribution,
    ) {
        let mut backtracked: BTreeMap<u32, Option<Vec3>> = BTreeMap::new();
        for pair in violations {
            let push_of_pair = self.pushing_displacement(pair, truncations);
            if push_of_pair.is_some() {
                distribution.add_pair(
                    pair,
                    self.start_positions(),
                    self.max_prescribed_displacement(pair),
                );
            }
            for vertex in pair.vertices.iter().filter(|vertex| self.is_free_vertex(**vertex)) {
                let push = backtracked.entry(*vertex).or_default();
                *push = push.or(push_of_pair);
            }
        }
        for (vertex, push) in backtracked {
            let truncation = truncations.entry(vertex).or_default();
            truncation.initial_push = truncation.initial_push.or(push);
            truncation.distributed_displacement = truncation.distributed_displacement.or(push);
            // A shorter displacement does not help against a pushing feature.
            let step = if truncation.distributed_displacement.is_some() {
                TRUNCATION.max_halvings + 1
            } else {
                1
            };
            truncation.halvings = truncation.halvings.saturating_add(step);
        }
    }

    /// Displacement in m of the pushing features of a pair: the mean of its prescribed vertices, or
    /// else that of a vertex that follows another one.
    fn pushing_displacement(
        &self,
        pair: &PrimitivePair,
        truncations: &BTreeMap<u32, VertexTruncation>,
    ) -> Option<Vec3> {
        let mut truncated = pair.vertices.iter().filter_map(|vertex| truncations.get(vertex));
        let distributed = truncated.find_map(|truncation| truncation.distributed_displacement);
        let prescribed = pair.vertices.iter().filter(|vertex| !self.is_free_vertex(**vertex));
        let displacements: Vec<Vec3> =
            prescribed.map(|vertex| self.displacement(*vertex)).collect();
        let mean = displacements.iter().sum::<Vec3>() / displacements.len().max(1) as f64;
        Some(mean).filter(|mean| *mean != Vec3::zeros()).or(distributed)
    }

    /// Longest displacement of a prescribed vertex in a pair, in m.
    fn max_prescribed_displacement(&self, pair: &PrimitivePair) -> f64 {
        let prescribed = pair.vertices.iter().filter(|vertex| !self.is_free_vertex(**vertex));
        prescribed.map(|vertex| self.displacement(*vertex).norm()).fold(0.0, f64::max)
    }

    /// Distributes the prescribed displacements to the vertices that follow them.
    fn distribute_prescribed_displacements(
        &self,
        distribution: &DisplacementDistribution,
        truncations: &mut BTreeMap<u32, VertexTruncation>,
    ) {
        let truncated = truncations.iter();
        let displacements = truncated
            .filter_map(|(vertex, truncation)| Some((*vertex, truncation.initial_push?)))
            .collect();
        let solution = distribution.solve(&displacements, |vertex| self.displacement(vertex));
        let distributed = truncations
            .values_mut()
            .filter_map(|truncation| truncation.distributed_displacement.as_mut());
        for (distributed, displacement) in distributed.zip(solution) {
            *distributed = displacement;
        }
    }

    fn is_free_vertex(&self, vertex: u32) -> bool {
        self.is_cloth(vertex) && !self.is_pinned(vertex as usize)
    }
}
