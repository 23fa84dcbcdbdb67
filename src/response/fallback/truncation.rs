// SPDX-License-Identifier: MIT OR Apache-2.0
//! The last resort: vertices whose way would still cross something go only a part of it.
//!
//! A vertex that stays where the step began crosses nothing that stays as well, so shortening ways ends. Where a
//! collider or a held vertex pushes, what it meets goes along with it in the end, and takes along what it meets in turn.
//! Between two that push against each other it shares the room that they leave (see `carry`). Only where they leave none
//! there is no way out; what they cross is counted.

use super::distribution::Carry;
use crate::{Vec3, collision::Pair, response::Response};
use std::collections::BTreeMap;

/// Times that a way is halved before its vertex stays, or is carried.
const MOST_HALVINGS: u8 = 3;
/// Rounds over all that would cross.
const MOST_ROUNDS: usize = 32;

/// How a vertex goes back.
#[derive(Clone, Copy, Default)]
struct Retreat {
    halvings: u8,
    /// Where it was first pushed, and where it is carried instead, in m from where the step began.
    pushed: Option<Vec3>,
    carried: Option<Vec3>,
}

/// What became of a step that had to be cut short.
#[derive(Clone, Debug, Default)]
pub(crate) struct Retreated {
    /// The vertices that did not go where they should have, in order.
    pub(crate) vertices: Vec<u32>,
    /// How many of them went nowhere.
    pub(crate) stopped: usize,
    /// Pairs that cross even so.
    pub(crate) crossing: usize,
}

impl Response {
    /// Shortens ways to `positions` in m until they cross nothing.
    pub(crate) fn retreat(&mut self, positions: &mut [Vec3]) -> Retreated {
        let targets = positions.to_vec();
        let mut retreats: BTreeMap<u32, Retreat> = BTreeMap::new();
        let mut carry = Carry::default();
        let mut violations = self.violations(positions);
        for _ in 0..MOST_ROUNDS {
            if violations.is_empty() {
                break;
            }
            self.shorten(&violations, &mut retreats, &mut carry);
            self.share(&carry, &mut retreats);
            for (vertex, retreat) in &retreats {
                let index = *vertex as usize;
                let start = self.starts()[index];
                positions[index] = if retreat.halvings > MOST_HALVINGS {
                    start + retreat.carried.unwrap_or_else(Vec3::zeros)
                } else {
                    start + (targets[index] - start) * 0.5_f64.powi(i32::from(retreat.halvings))
                };
            }
            violations = self.violations(positions);
        }
        Retreated {
            stopped: retreats
                .values()
                .filter(|retreat| retreat.halvings > MOST_HALVINGS && retreat.carried.is_none())
                .count(),
            vertices: retreats.into_keys().collect(),
            crossing: violations.len(),
        }
    }

    /// Halves the ways of all vertices in pairs that would cross, each once, but of those that something carries.
    fn shorten(
        &self,
        violations: &[Pair],
        retreats: &mut BTreeMap<u32, Retreat>,
        carry: &mut Carry,
    ) {
        let mut shortened: BTreeMap<u32, Option<Vec3>> = BTreeMap::new();
        for pair in violations {
            let pushed = self.push(pair, retreats);
            if pushed.is_some() {
                carry.add(pair, self.starts(), self.farthest(pair));
            }
            for vertex in pair.vertices.iter().filter(|vertex| self.is_free(**vertex)) {
                let push = shortened.entry(*vertex).or_default();
                *push = push.or(pushed);
            }
        }
        for (vertex, push) in shortened {
            let retreat = retreats.entry(vertex).or_default();
            retreat.pushed = retreat.pushed.or(push);
            retreat.carried = retreat.carried.or(push);
            // Going less far does not help against what comes after it.
            let step = if retreat.carried.is_some() { MOST_HALVINGS + 1 } else { 1 };
            retreat.halvings = retreat.halvings.saturating_add(step);
        }
    }

    /// The way of what pushes in a pair, in m: of what one of these carries, or of a collider or held vertex.
    fn push(&self, pair: &Pair, retreats: &BTreeMap<u32, Retreat>) -> Option<Vec3> {
        let mut retreating = pair.vertices.iter().filter_map(|vertex| retreats.get(vertex));
        let carried = retreating.find_map(|retreat| retreat.carried);
        let given = pair.vertices.iter().filter(|vertex| !self.is_free(**vertex));
        let ways: Vec<Vec3> = given.map(|vertex| self.way(*vertex)).collect();
        let mean = ways.iter().sum::<Vec3>() / ways.len().max(1) as f64;
        Some(mean).filter(|mean| *mean != Vec3::zeros()).or(carried)
    }

    /// The longest way of a collider's or held vertex in a pair, in m.
    fn farthest(&self, pair: &Pair) -> f64 {
        let given = pair.vertices.iter().filter(|vertex| !self.is_free(**vertex));
        given.map(|vertex| self.way(*vertex).norm()).fold(0.0, f64::max)
    }

    /// Finds the ways of all vertices that are carried.
    fn share(&self, carry: &Carry, retreats: &mut BTreeMap<u32, Retreat>) {
        let each = retreats.iter();
        let ways = each.filter_map(|(vertex, retreat)| Some((*vertex, retreat.pushed?))).collect();
        let shared = carry.share(&ways, |vertex| self.way(vertex));
        let carried = retreats.values_mut().filter_map(|retreat| retreat.carried.as_mut());
        for (carried, way) in carried.zip(shared) {
            *carried = way;
        }
    }

    fn is_free(&self, vertex: u32) -> bool {
        self.is_cloth(vertex) && !self.is_held(vertex as usize)
    }
}
