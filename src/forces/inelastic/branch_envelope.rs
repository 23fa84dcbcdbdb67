// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stress bounds of a measured curve as functions of the plastic strain.
//!
//! With the modulus k of small reversals, the strain is ε = p + σ/k. A branch σ(ε) without pieces steeper than k is then a
//! monotone σ(p), that p grows along where the branch for loading is reached, and falls along where that for
//! unloading is. Pieces as steep as k leave p where it is: jumps of σ(p).
//!
//! In every cycle of p the upper branch is followed while p grows and the lower one while it falls, so that ∮σ dp ≥ 0.

use crate::material::{Hysteresis, mirrored};

/// A straight piece of a branch σ(p).
#[derive(Clone, Copy, Debug)]
struct BranchSegment {
    /// A point of it.
    anchor: [f64; 2],
    /// dσ/dp, in N/m.
    slope: f64,
    /// p at its end, where the next begins; infinite for the last.
    end: f64,
}

impl BranchSegment {
    fn stress(&self, plastic: f64) -> f64 {
        self.anchor[1] + self.slope * (plastic - self.anchor[0])
    }
}

/// A branch that p grows along.
#[derive(Clone, Debug)]
struct Branch(Vec<BranchSegment>);

/// Both branches; that for unloading with both signs changed.
#[derive(Clone, Debug)]
pub(super) struct BranchEnvelope {
    load: Branch,
    unload: Branch,
}

/// Plastic strain after a step, with hardening and work.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlasticFlow {
    pub(super) plastic: f64,
    /// dσ/dp there in N/m; infinite where p stays.
    pub(super) hardening: f64,
    /// Plastic work ∫σ dp of the step, in J/m².
    pub(super) work: f64,
}

impl BranchEnvelope {
    pub(super) fn new(curve: &Hysteresis, modulus: f64) -> Self {
        let Hysteresis { load, unload } = curve.joined();
        Self { load: Branch::new(&load, modulus), unload: Branch::new(&mirrored(&unload), modulus) }
    }

    /// p from its value `before`, where the stress is `modulus`·(`strain` − p).
    pub(super) fn flow(&self, before: f64, strain: f64, modulus: f64) -> PlasticFlow {
        let up = self.load.flow(before, strain, modulus);
        if up.hardening.is_finite() || up.plastic > before {
            return up;
        }
        let down = self.unload.flow(-before, -strain, modulus);
        PlasticFlow { plastic: -down.plastic, ..down }
    }

    /// Plastic work that unloading from p returns, in J/m².
    pub(super) fn stored_energy(&self, plastic: f64) -> f64 {
        if plastic > 0.0 {
            self.unload.work_below_zero(-plastic)
        } else {
            self.load.work_below_zero(plastic)
        }
    }
}

impl Branch {
    fn new(points: &[[f64; 2]], modulus: f64) -> Self {
        let converted: Vec<[f64; 2]> =
            points.iter().map(|[strain, stress]| [strain - stress / modulus, *stress]).collect();
        let mut pieces = Vec::new();
        for (index, ends) in converted.windows(2).enumerate() {
            let ([left, low], [right, high]) = (ends[0], ends[1]);
            let strains = points[index + 1][0] - points[index][0];
            // Rounding leaves something of a piece as steep as the modulus.
            if right - left > 1.0e-9 * strains {
                let slope = (high - low) / (right - left);
                let anchor = if index == 0 { ends[1] } else { ends[0] };
                let is_last = index + 2 == converted.len();
                pieces.push(BranchSegment {
                    anchor,
                    slope,
                    end: if is_last { f64::INFINITY } else { right },
                });
            }
        }
        Self(pieces)
    }

    fn flow(&self, before: f64, strain: f64, modulus: f64) -> PlasticFlow {
        let mut flow = PlasticFlow { plastic: before, hardening: f64::INFINITY, work: 0.0 };
        let first = self.0.partition_point(|piece| piece.end <= before);
        for piece in &self.0[first..] {
            let bound = piece.stress(flow.plastic);
            let excess = modulus * (strain - flow.plastic) - bound;
            if excess <= 0.0 {
                return flow;
            }
            let reached = flow.plastic + excess / (modulus + piece.slope);
            let end = reached.min(piece.end);
            flow.work += 0.5 * (bound + piece.stress(end)) * (end - flow.plastic);
            flow.plastic = end;
            if reached <= piece.end {
                return PlasticFlow { hardening: piece.slope, ..flow };
            }
        }
        flow
    }

    /// ∫max(−σ, 0) dp from `start` to 0.
    fn work_below_zero(&self, start: f64) -> f64 {
        let (mut place, mut sum) = (start, 0.0);
        for piece in &self.0[self.0.partition_point(|piece| piece.end <= start)..] {
            let end = piece.end.min(0.0);
            let [left, right] = [place, end].map(|p| (-piece.stress(p)).max(0.0));
            let (width, fall) = (end - place, left - right);
            // If the stress becomes 0 inside the segment, the area is a triangle.
            let zero = if right == 0.0 && fall > 0.0 && piece.slope > 0.0 {
                (left / piece.slope).min(width)
            } else {
                width
            };
            sum += 0.5 * (left + right) * zero;
            place = end;
            if end >= 0.0 {
                break;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve() -> Hysteresis {
        Hysteresis {
            load: vec![[-0.2, -8.0], [0.0, 1.0], [0.1, 3.0], [0.3, 9.0]],
            unload: vec![[-0.2, -8.0], [-0.1, -3.0], [0.0, -1.0], [0.3, 9.0]],
        }
    }

    #[test]
    fn a_branch_is_followed_up_and_the_other_down() {
        let modulus = 100.0;
        let envelope = BranchEnvelope::new(&curve(), modulus);
        let mut plastic = 0.0;
        let mut to = |strain: f64| {
            plastic = envelope.flow(plastic, strain, modulus).plastic;
            modulus * (strain - plastic)
        };
        assert!((to(0.005) - 0.5).abs() < 1.0e-12);
        assert!((to(0.1) - 3.0).abs() < 1.0e-12);
        assert!((to(0.2) - 6.0).abs() < 1.0e-12);
        assert!((to(0.195) - 5.5).abs() < 1.0e-12);
        assert!((to(0.12) - 3.0).abs() < 1.0e-12);
        assert!((to(-0.1) + 3.0).abs() < 1.0e-12);
        assert!((to(0.4) - 12.0).abs() < 1.0e-12);
    }

    #[test]
    fn what_is_stored_is_the_integral_of_the_branch_back() {
        let modulus = 100.0;
        let envelope = BranchEnvelope::new(&curve(), modulus);
        let lower = |p: f64| {
            let mut strain = p;
            for _ in 0..200 {
                strain = p + crate::material::stress_at(&curve().unload, strain) / modulus;
            }
            crate::material::stress_at(&curve().unload, strain)
        };
        let count = 20_000;
        let width = 0.2 / f64::from(count);
        let wanted: f64 =
            (0..count).map(|i| lower((f64::from(i) + 0.5) * width).max(0.0) * width).sum();
        assert!((envelope.stored_energy(0.2) - wanted).abs() < 1.0e-6, "{wanted}");
    }
}
