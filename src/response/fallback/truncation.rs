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
use crate::{collision::PrimitivePair, response::step_geometry::StepGeometry, vec3::Vec3};
use std::collections::BTreeMap;

/// Outcome of a displacement truncation.
#[derive(Clone, Debug, Default)]
pub(crate) struct TruncationResult {
    /// Vertices with a changed displacement, in ascending order.
    pub(crate) truncated_vertices: Vec<u32>,
    /// Number of vertices left at their start positions.
    pub(crate) frozen_vertex_count: usize,
    /// Number of pairs that violate their gap nevertheless.
    pub(crate) violating_pair_count: usize,
}

/// Truncation of one vertex.
#[derive(Clone, Copy, Default)]
struct VertexTruncation {
    halvings: u8,
    /// Displacement of the kinematic feature that first pushed it, in m.
    initial_push: Option<Vec3>,
    distributed_displacement: Option<Vec3>,
}

impl VertexTruncation {
    /// Whether no further halving is allowed.
    fn is_exhausted(&self) -> bool {
        self.halvings > TRUNCATION.max_halvings
    }
}

/// Displacements that are being truncated.
pub(in crate::response) struct Truncation {
    /// Positions that the displacements were to lead to, in m.
    targets: Vec<Vec3>,
    /// Truncation of each vertex in violating pairs.
    vertices: BTreeMap<u32, VertexTruncation>,
    distribution: DisplacementDistribution,
    round_count: usize,
}

impl Truncation {
    /// Displacements to `positions` in m, not truncated yet.
    pub(in crate::response) fn new(positions: &[Vec3]) -> Self {
        Self {
            targets: positions.to_vec(),
            vertices: BTreeMap::new(),
            distribution: DisplacementDistribution::default(),
            round_count: 0,
        }
    }

    /// Truncates the displacements to `positions` in m for the pairs that violate their gap there.
    /// Returns whether there were any, and rounds are left.
    pub(in crate::response) fn truncate(
        &mut self,
        step: &StepGeometry,
        violations: &[PrimitivePair],
        positions: &mut [Vec3],
    ) -> bool {
        if violations.is_empty() || self.round_count == TRUNCATION.max_rounds {
            return false;
        }
        self.round_count += 1;
        self.backtrack(step, violations);
        self.distribute_prescribed_displacements(step);
        self.set_positions(step, positions);
        true
    }

    /// Outcome with a number of pairs that still violate their gap.
    pub(in crate::response) fn result(self, violating_pair_count: usize) -> TruncationResult {
        let is_frozen =
            |one: &&VertexTruncation| one.is_exhausted() && one.distributed_displacement.is_none();
        TruncationResult {
            frozen_vertex_count: self.vertices.values().filter(is_frozen).count(),
            truncated_vertices: self.vertices.into_keys().collect(),
            violating_pair_count,
        }
    }

    /// Sets the positions of the truncated vertices.
    fn set_positions(&self, step: &StepGeometry, positions: &mut [Vec3]) {
        for (vertex, truncation) in &self.vertices {
            let index = *vertex as usize;
            let start = step.start_positions[index];
            positions[index] = if truncation.is_exhausted() {
                start + truncation.distributed_displacement.unwrap_or_else(Vec3::zeros)
            } else {
                start + (self.targets[index] - start) * 0.5_f64.powi(i32::from(truncation.halvings))
            };
        }
    }

    /// Halves the displacements of all free vertices in violating pairs, each once per round;
    /// vertices that a kinematic feature pushes follow it instead.
    fn backtrack(&mut self, step: &StepGeometry, violations: &[PrimitivePair]) {
        let mut backtracked: BTreeMap<u32, Option<Vec3>> = BTreeMap::new();
        for pair in violations {
            let push_of_pair = self.pushing_displacement(step, pair);
            if push_of_pair.is_some() {
                let max_displacement = max_prescribed_displacement(step, pair);
                self.distribution.add_pair(pair, &step.start_positions, max_displacement);
            }
            for vertex in pair.vertices.iter().filter(|vertex| step.is_free(**vertex)) {
                let push = backtracked.entry(*vertex).or_default();
                *push = push.or(push_of_pair);
            }
        }
        for (vertex, push) in backtracked {
            let truncation = self.vertices.entry(vertex).or_default();
            truncation.initial_push = truncation.initial_push.or(push);
            truncation.distributed_displacement = truncation.distributed_displacement.or(push);
            // A shorter displacement does not help against a pushing feature.
            let halvings = if truncation.distributed_displacement.is_some() {
                TRUNCATION.max_halvings + 1
            } else {
                1
            };
            truncation.halvings = truncation.halvings.saturating_add(halvings);
        }
    }

    /// Displacement in m of the pushing features of a pair: the mean of its prescribed vertices, or
    /// else that of a vertex that follows another one.
    fn pushing_displacement(&self, step: &StepGeometry, pair: &PrimitivePair) -> Option<Vec3> {
        let mut truncated = pair.vertices.iter().filter_map(|vertex| self.vertices.get(vertex));
        let distributed = truncated.find_map(|truncation| truncation.distributed_displacement);
        let displacements: Vec<Vec3> = prescribed_displacements(step, pair).collect();
        let mean = displacements.iter().sum::<Vec3>() / displacements.len().max(1) as f64;
        Some(mean).filter(|mean| *mean != Vec3::zeros()).or(distributed)
    }

    /// Distributes the prescribed displacements to the vertices that follow them.
    fn distribute_prescribed_displacements(&mut self, step: &StepGeometry) {
        let truncated = self.vertices.iter();
        let displacements = truncated
            .filter_map(|(vertex, truncation)| Some((*vertex, truncation.initial_push?)))
            .collect();
        let solution = self.distribution.solve(&displacements, |vertex| step.displacement(vertex));
        let distributed = self
            .vertices
            .values_mut()
            .filter_map(|truncation| truncation.distributed_displacement.as_mut());
        for (distributed, displacement) in distributed.zip(solution) {
            *distributed = displacement;
        }
    }
}

/// Displacements of the prescribed vertices in a pair, in m.
fn prescribed_displacements(
    step: &StepGeometry,
    pair: &PrimitivePair,
) -> impl Iterator<Item = Vec3> {
    let prescribed = pair.vertices.into_iter().filter(|vertex| !step.is_free(*vertex));
    prescribed.map(|vertex| step.displacement(vertex))
}

/// Longest displacement of a prescribed vertex in a pair, in m.
fn max_prescribed_displacement(step: &StepGeometry, pair: &PrimitivePair) -> f64 {
    prescribed_displacements(step, pair).map(|one| one.norm()).fold(0.0, f64::max)
}
