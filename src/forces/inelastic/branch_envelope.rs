// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stress bounds of a measured curve as functions of the plastic strain.
//!
//! With the modulus k of small reversals, the strain is ε = p + σ/k. A branch σ(ε) without pieces steeper than k is then a
//! monotone σ(p), that p grows along where the branch for loading is reached, and falls along where that for
//! unloading is. Pieces as steep as k leave p where it is: jumps of σ(p). k is the modulus or the steepest slope.
//!
//! The largest and smallest p so far choose the branches (Etzmuss 2002, section 2.1.3). Beyond them p follows the
//! virgin curve where it is the greater; up to there the branches of the first cycle whose range they are in. In a step
//! both bounds are therefore fixed monotone functions of p, and the potential of the step is convex.
//!
//! In every cycle of p the upper branch is followed while p grows and the lower one while it falls, so that ∮σ dp ≥ 0. A
//! wider cycle returns no more from the same p than a smaller one ([`Hysteresis`] is checked), so that its choice gives
//! no energy either.

use crate::material::{Hysteresis, HysteresisCycle, mirrored, stress_at, upper_envelope};

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

/// Pieces that p grows along.
type Pieces = Vec<BranchSegment>;

/// A branch, and what is followed beyond the largest p so far.
#[derive(Clone, Debug)]
struct Branch {
    within: Pieces,
    /// Empty without a virgin curve.
    beyond: Pieces,
}

/// Branches of one cycle; that for unloading with both signs changed.
#[derive(Clone, Debug)]
struct CycleEnvelope {
    load: Branch,
    unload: Branch,
    /// Largest p and largest −p of the range.
    range: [f64; 2],
}

/// Branches of all cycles, from the smallest range on; the last holds for any.
#[derive(Clone, Debug)]
pub(super) struct BranchEnvelope(Vec<CycleEnvelope>);

/// Plastic strain with its extremes so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlasticPast {
    pub(super) plastic: f64,
    pub(super) largest: f64,
    pub(super) smallest: f64,
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

/// Excess of an extreme over the end of a range that is taken for rounding, relative to the range.
const ROUNDING: f64 = 1.0e-9;

impl BranchEnvelope {
    pub(super) fn new(curve: &Hysteresis, modulus: f64) -> Self {
        let virgin = curve.virgin.as_deref();
        let cycle = |cycle: &HysteresisCycle| CycleEnvelope::new(cycle, virgin, modulus);
        Self(curve.joined().iter().map(cycle).collect())
    }

    /// The cycle in effect.
    fn cycle(&self, past: &PlasticPast) -> &CycleEnvelope {
        let last = self.0.len() - 1;
        let contains = |cycle: &CycleEnvelope| {
            past.largest <= cycle.range[0] && -past.smallest <= cycle.range[1]
        };
        let first = self.0[..last].iter().position(contains);
        &self.0[first.unwrap_or(last)]
    }

    /// p from its value before, where the stress is `modulus`·(`strain` − p).
    pub(super) fn flow(&self, past: &PlasticPast, strain: f64, modulus: f64) -> PlasticFlow {
        let cycle = self.cycle(past);
        let up = cycle.load.flow(past.plastic, past.largest, strain, modulus);
        if up.hardening.is_finite() || up.plastic > past.plastic {
            return up;
        }
        let down = cycle.unload.flow(-past.plastic, -past.smallest, -strain, modulus);
        PlasticFlow { plastic: -down.plastic, ..down }
    }

    /// Plastic work that unloading from p returns, in J/m².
    pub(super) fn stored_energy(&self, past: &PlasticPast) -> f64 {
        let cycle = self.cycle(past);
        if past.plastic > 0.0 {
            work_below_zero(&cycle.unload.within, -past.plastic)
        } else {
            work_below_zero(&cycle.load.within, past.plastic)
        }
    }
}

impl CycleEnvelope {
    fn new(cycle: &HysteresisCycle, virgin: Option<&[[f64; 2]]>, modulus: f64) -> Self {
        let unload = mirrored(&cycle.unload);
        let falling = virgin.map(mirrored);
        let end = |bound: Option<f64>, virgin: Option<&[[f64; 2]]>| {
            let Some((strain, points)) = bound.zip(virgin) else { return f64::INFINITY };
            (strain - stress_at(points, strain) / modulus) + ROUNDING * strain
        };
        Self {
            range: [
                end(cycle.largest, virgin),
                end(cycle.smallest.map(|strain| -strain), falling.as_deref()),
            ],
            load: Branch::new(&cycle.load, virgin, modulus),
            unload: Branch::new(&unload, falling.as_deref(), modulus),
        }
    }
}

impl Branch {
    fn new(points: &[[f64; 2]], virgin: Option<&[[f64; 2]]>, modulus: f64) -> Self {
        let beyond = virgin.map(|virgin| pieces(&upper_envelope(points, virgin), modulus));
        Self { within: pieces(points, modulus), beyond: beyond.unwrap_or_default() }
    }

    /// p from `before` on, `largest` its largest value so far.
    fn flow(&self, before: f64, largest: f64, strain: f64, modulus: f64) -> PlasticFlow {
        let start = PlasticFlow { plastic: before, hardening: f64::INFINITY, work: 0.0 };
        if self.beyond.is_empty() {
            return flow_along(&self.within, start, f64::INFINITY, strain, modulus);
        }
        let flow = flow_along(&self.within, start, largest, strain, modulus);
        if flow.plastic < largest {
            return flow;
        }
        // Stuck at the largest p until the virgin curve is reached.
        let stuck = PlasticFlow { hardening: f64::INFINITY, ..flow };
        flow_along(&self.beyond, stuck, f64::INFINITY, strain, modulus)
    }
}

/// Pieces of a branch as functions of p.
fn pieces(points: &[[f64; 2]], modulus: f64) -> Pieces {
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
    pieces
}

/// Plastic flow along pieces up to `limit`.
fn flow_along(
    pieces: &[BranchSegment],
    start: PlasticFlow,
    limit: f64,
    strain: f64,
    modulus: f64,
) -> PlasticFlow {
    let mut flow = start;
    let first = pieces.partition_point(|piece| piece.end <= flow.plastic);
    for piece in &pieces[first..] {
        let bound = piece.stress(flow.plastic);
        let excess = modulus * (strain - flow.plastic) - bound;
        if excess <= 0.0 || flow.plastic >= limit {
            return flow;
        }
        let reached = flow.plastic + excess / (modulus + piece.slope);
        let end = reached.min(piece.end).min(limit);
        flow.work += 0.5 * (bound + piece.stress(end)) * (end - flow.plastic);
        flow.plastic = end;
        if reached <= end {
            return PlasticFlow { hardening: piece.slope, ..flow };
        }
    }
    flow
}

/// ∫max(−σ, 0) dp from `start` to 0.
fn work_below_zero(pieces: &[BranchSegment], start: f64) -> f64 {
    let (mut place, mut sum) = (start, 0.0);
    for piece in &pieces[pieces.partition_point(|piece| piece.end <= start)..] {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn curve() -> Hysteresis {
        Hysteresis {
            load: vec![[-0.2, -8.0], [0.0, 1.0], [0.1, 3.0], [0.3, 9.0]],
            unload: vec![[-0.2, -8.0], [-0.1, -3.0], [0.0, -1.0], [0.3, 9.0]],
            ..Hysteresis::default()
        }
    }

    /// Goes to a strain and gives the stress there.
    fn go(envelope: &BranchEnvelope, past: &mut PlasticPast, strain: f64, modulus: f64) -> f64 {
        past.plastic = envelope.flow(past, strain, modulus).plastic;
        past.largest = past.largest.max(past.plastic);
        past.smallest = past.smallest.min(past.plastic);
        modulus * (strain - past.plastic)
    }

    #[test]
    fn a_branch_is_followed_up_and_the_other_down() {
        let modulus = 100.0;
        let envelope = BranchEnvelope::new(&curve(), modulus);
        let mut past = PlasticPast::default();
        let mut to = |strain: f64| go(&envelope, &mut past, strain, modulus);
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
        assert!(
            (envelope.stored_energy(&PlasticPast { plastic: 0.2, ..PlasticPast::default() })
                - wanted)
                .abs()
                < 1.0e-6,
            "{wanted}"
        );
    }

    /// A test of tension: a first loading, cycles up to 0.1 and 0.3, and a first compression.
    fn stretched() -> Hysteresis {
        Hysteresis {
            virgin: Some(vec![[-0.2, -2.0], [0.0, 0.0], [0.1, 4.0], [0.3, 20.0]]),
            load: vec![[-0.2, -2.0], [0.04, 0.4], [0.1, 2.0], [0.3, 19.0]],
            unload: vec![[-0.2, -2.0], [0.1, 0.0], [0.3, 16.0]],
            cycles: vec![HysteresisCycle {
                largest: Some(0.1),
                load: vec![[-0.2, -2.0], [0.01, 0.1], [0.05, 1.5], [0.1, 3.5]],
                unload: vec![[-0.2, -2.0], [0.02, 0.0], [0.1, 3.0]],
                ..HysteresisCycle::default()
            }],
        }
    }

    #[test]
    fn the_largest_strain_so_far_chooses_virgin_curve_and_branches() {
        let (curve, modulus) = (stretched(), 200.0);
        let envelope = BranchEnvelope::new(&curve, modulus);
        let mut past = PlasticPast::default();
        let at = |points: &[[f64; 2]], strain: f64| stress_at(points, strain);
        let virgin = curve.virgin.clone().unwrap();
        let inner = &curve.cycles[0];
        let mut check = |strain: f64, points: &[[f64; 2]]| {
            let (found, wanted) = (go(&envelope, &mut past, strain, modulus), at(points, strain));
            assert!((found - wanted).abs() < 1.0e-12, "{found} for {wanted} at {strain}");
        };
        check(0.05, &virgin);
        check(0.1, &virgin);
        check(0.06, &inner.unload);
        check(0.02, &inner.unload);
        check(0.05, &inner.load);
        check(0.09, &inner.load);
        // Up to the virgin curve, along it, and from there on the wider cycle.
        check(0.12, &virgin);
        check(0.3, &virgin);
        check(0.2, &curve.unload);
        check(0.05, &curve.unload);
        check(0.1, &curve.load);
        check(0.29, &curve.load);
        check(0.4, &virgin);
    }

    #[test]
    fn the_virgin_curve_is_reached_with_the_modulus() {
        let (curve, modulus) = (stretched(), 200.0);
        let envelope = BranchEnvelope::new(&curve, modulus);
        let mut past = PlasticPast::default();
        go(&envelope, &mut past, 0.1, modulus);
        go(&envelope, &mut past, 0.0, modulus);
        // The largest p is that of the strain 0.1 with the stress 4, where the branch has less than 3.5.
        let largest = 0.1 - 4.0 / modulus;
        let stress = go(&envelope, &mut past, 0.0985, modulus);
        assert!((stress - modulus * (0.0985 - largest)).abs() < 1.0e-12, "{stress}");
    }
}
