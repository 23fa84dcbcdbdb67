// SPDX-License-Identifier: MIT OR Apache-2.0
//! The last resort: vertices whose way would still cross something go only a part of it.
//!
//! A vertex that stays where the step began crosses nothing that stays as well, so shortening ways ends. Where a
//! collider or a held vertex pushes, what it meets goes along with it in the end, and takes along what it meets in turn.
//! Only between two that push against each other there is no way out; what they cross is counted.

use super::{pair::Pair, response::Response};
use crate::Vec3;
use std::collections::BTreeMap;

/// Times that a way is halved before its vertex stays, or is carried.
const MOST_HALVINGS: u8 = 3;
/// Rounds over all that would cross.
const MOST_ROUNDS: usize = 32;

/// How a vertex goes back.
#[derive(Clone, Copy, Default)]
struct Retreat {
    halvings: u8,
    /// Where it is carried instead, in m from where the step began.
    carried: Option<Vec3>,
}

/// What became of a step that had to be cut short.
#[derive(Clone, Debug, Default)]
pub(crate) struct Retreated {
    /// The vertices that did not go where they should have, in order.
    pub(crate) vertices: Vec<u32>,
    /// Whether one of them went nowhere.
    pub(crate) has_stopped: bool,
    /// Pairs that cross even so.
    pub(crate) crossing: usize,
}

impl Response {
    /// Shortens ways to `positions` in m until they cross nothing.
    pub(crate) fn retreat(&mut self, positions: &mut [Vec3]) -> Retreated {
        let targets = positions.to_vec();
        let mut retreats: BTreeMap<u32, Retreat> = BTreeMap::new();
        let mut violations = self.violations(positions);
        for _ in 0..MOST_ROUNDS {
            if violations.is_empty() {
                break;
            }
            self.shorten(&violations, &mut retreats);
            for (vertex, retreat) in &retreats {
                let index = *vertex as usize;
                let start = self.start_of(*vertex);
                positions[index] = if retreat.halvings > MOST_HALVINGS {
                    start + retreat.carried.unwrap_or_else(Vec3::zeros)
                } else {
                    start + (targets[index] - start) * 0.5_f64.powi(i32::from(retreat.halvings))
                };
            }
            violations = self.violations(positions);
        }
        Retreated {
            has_stopped: retreats
                .values()
                .any(|retreat| retreat.halvings > MOST_HALVINGS && retreat.carried.is_none()),
            vertices: retreats.into_keys().collect(),
            crossing: violations.len(),
        }
    }

    /// Halves the ways of all vertices in pairs that would cross, each once.
    fn shorten(&self, violations: &[Pair], retreats: &mut BTreeMap<u32, Retreat>) {
        let mut shortened: BTreeMap<u32, Option<Vec3>> = BTreeMap::new();
        for pair in violations {
            let pushed = self.push(pair, retreats);
            for vertex in pair.vertices.iter().filter(|vertex| self.is_free(**vertex)) {
                let push = shortened.entry(*vertex).or_default();
                *push = push.or(pushed);
            }
        }
        for (vertex, push) in shortened {
            let retreat = retreats.entry(vertex).or_default();
            retreat.carried = retreat.carried.or(push);
            // Going less far does not help against what comes after it.
            let step = if retreat.carried.is_some() { MOST_HALVINGS + 1 } else { 1 };
            retreat.halvings = retreat.halvings.saturating_add(step);
        }
    }

    /// The way of what pushes in a pair, in m: of a collider or held vertex, or of what one of these carries.
    fn push(&self, pair: &Pair, retreats: &BTreeMap<u32, Retreat>) -> Option<Vec3> {
        let given = pair.vertices.iter().filter(|vertex| !self.is_free(**vertex));
        let ways: Vec<Vec3> = given.map(|vertex| self.way(*vertex)).collect();
        if !ways.is_empty() {
            let mean = ways.iter().sum::<Vec3>() / ways.len() as f64;
            return Some(mean).filter(|mean| *mean != Vec3::zeros());
        }
        let carried = pair.vertices.iter().filter_map(|vertex| retreats.get(vertex));
        carried
            .filter(|retreat| retreat.halvings > MOST_HALVINGS)
            .find_map(|retreat| retreat.carried)
    }

    fn is_free(&self, vertex: u32) -> bool {
        self.is_cloth(vertex) && !self.is_held(vertex as usize)
    }
}
