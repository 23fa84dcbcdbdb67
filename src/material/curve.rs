// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measured curves of stress over strain: branches for loading and unloading, piecewise linear.
//!
//! These are the lists of Eberhardt (Etzmuss 2002, section 2.1.3): every piece is a slope C and an offset h, with the
//! stress C(ε − h), and which branch holds follows from the largest and smallest strain so far. A virgin curve is
//! followed where the strain goes beyond them; below, the branches of the first cycle whose range contains them.
//! Between the branches, after a reversal, the stress changes with the modulus of the material, or with the
//! steepest slope of the curve where that is more. Internal variables are the offset of that line and the largest and
//! smallest offset so far.
//!
//! Beyond its points a branch is continued with its last slope. If the branches cross there, they coincide from then
//! on.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Strain, without unit (curvature, in 1/m), and stress, in N/m (moment per width, in N).
pub type CurvePoint = [f64; 2];

/// Branches of stress over strain, each by two points or more. Where `load` and `unload` are the same, nothing is
/// dissipated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hysteresis {
    /// The upper branch, on which the strain grows.
    pub load: Vec<CurvePoint>,
    /// The lower branch, on which the strain falls.
    pub unload: Vec<CurvePoint>,
    /// Virgin curve, followed beyond the largest and the smallest strain so far where it exceeds the branch.
    #[serde(default)]
    pub virgin: Option<Vec<CurvePoint>>,
    /// Branches in place of `load` and `unload` while the strain has not left a range, from the smallest range on.
    #[serde(default)]
    pub cycles: Vec<HysteresisCycle>,
}

/// Branches that hold while all strains so far are in a range.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HysteresisCycle {
    /// Largest strain of the range; `None`: no bound.
    pub largest: Option<f64>,
    /// Smallest strain of the range; `None`: no bound.
    pub smallest: Option<f64>,
    /// The upper branch, on which the strain grows.
    pub load: Vec<CurvePoint>,
    /// The lower branch, on which the strain falls.
    pub unload: Vec<CurvePoint>,
}

/// Measured curves in place of the moduli that they are named for; `None`: the modulus alone.
///
/// Strain and stress are those of the linear law: ½(λ² − 1) for a stretch by λ, with the force per width over λ (an
/// elongation e under a force F per width is the point e + ½e², F/(1 + e)), the scalar product of both yarns, and
/// curvature.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Curves {
    /// Stress in N/m over strain of a strip along the warp.
    pub stretch_warp: Option<Hysteresis>,
    /// Stress in N/m over strain of a strip along the weft.
    pub stretch_weft: Option<Hysteresis>,
    /// Stress in N/m over shear strain.
    pub shear: Option<Hysteresis>,
    /// Moment per width in N over curvature in 1/m of a strip along the warp.
    pub bend_warp: Option<Hysteresis>,
    /// Moment per width in N over curvature in 1/m of a strip along the weft.
    pub bend_weft: Option<Hysteresis>,
}

impl Curves {
    /// Without any curve.
    pub const NONE: Self = Self {
        stretch_warp: None,
        stretch_weft: None,
        shear: None,
        bend_warp: None,
        bend_weft: None,
    };

    /// All curves by name.
    #[must_use]
    pub fn by_name(&self) -> [(&'static str, Option<&Hysteresis>); 5] {
        [
            ("stretch_warp_curve", self.stretch_warp.as_ref()),
            ("stretch_weft_curve", self.stretch_weft.as_ref()),
            ("shear_curve", self.shear.as_ref()),
            ("bend_warp_curve", self.bend_warp.as_ref()),
            ("bend_weft_curve", self.bend_weft.as_ref()),
        ]
    }

    /// The place of a curve by its name.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Option<Hysteresis>> {
        Some(match name {
            "stretch_warp_curve" => &mut self.stretch_warp,
            "stretch_weft_curve" => &mut self.stretch_weft,
            "shear_curve" => &mut self.shear,
            "bend_warp_curve" => &mut self.bend_warp,
            "bend_weft_curve" => &mut self.bend_weft,
            _ => return None,
        })
    }
}

/// Most points of a branch.
const MAX_POINTS: usize = 256;
/// Relative difference of stresses that is taken for rounding.
const ROUNDING: f64 = 1.0e-9;

impl Hysteresis {
    /// A curve that is followed up and down alike.
    #[must_use]
    pub fn elastic(points: Vec<CurvePoint>) -> Self {
        Self { unload: points.clone(), load: points, ..Self::default() }
    }

    /// Branches of all cycles in effect, `load` and `unload` last: if those of one cross beyond their points, they
    /// coincide from then on.
    #[must_use]
    pub fn joined(&self) -> Vec<HysteresisCycle> {
        let mut cycles = self.cycles.clone();
        cycles.push(HysteresisCycle {
            load: self.load.clone(),
            unload: self.unload.clone(),
            ..HysteresisCycle::default()
        });
        for cycle in &mut cycles {
            cycle.unload = limited(&cycle.unload, &cycle.load);
            cycle.load = mirrored(&limited(&mirrored(&cycle.load), &mirrored(&cycle.unload)));
        }
        cycles
    }

    /// Stress over strain of all branches, with the name of each.
    fn branches(&self) -> Vec<(String, &Vec<CurvePoint>)> {
        let mut branches =
            vec![("load".to_owned(), &self.load), ("unload".to_owned(), &self.unload)];
        branches.extend(self.virgin.iter().map(|points| ("virgin".to_owned(), points)));
        for (index, cycle) in self.cycles.iter().enumerate() {
            branches.push((format!("cycles[{index}].load"), &cycle.load));
            branches.push((format!("cycles[{index}].unload"), &cycle.unload));
        }
        branches
    }

    /// Steepest slope of all branches, in N/m.
    #[must_use]
    pub fn steepest_slope(&self) -> f64 {
        let branches = self.branches();
        let slopes = branches.iter().flat_map(|(_, points)| points.windows(2).map(slope));
        slopes.fold(0.0, f64::max)
    }

    /// Refuses lists that are no valid curve of a material with this modulus.
    pub(super) fn check(&self, name: &str, modulus: f64) -> Result<()> {
        if modulus <= 0.0 {
            return Err(Error::value(
                name,
                "a modulus of 0",
                "a modulus more than 0 for reversals",
            ));
        }
        for (branch, points) in self.branches() {
            check_branch(&format!("{name}.{branch}"), points)?;
        }
        let joined = self.joined();
        for (index, cycle) in joined.iter().enumerate() {
            let is_last = index == self.cycles.len();
            let name = if is_last { name.to_owned() } else { format!("{name}.cycles[{index}]") };
            check_cycle(&name, cycle)?;
        }
        self.check_virgin(name)?;
        for (index, cycles) in joined.windows(2).enumerate() {
            check_order(&format!("{name}.cycles[{index}]"), &cycles[0], &cycles[1])?;
        }
        Ok(())
    }

    fn check_virgin(&self, name: &str) -> Result<()> {
        let Some(virgin) = &self.virgin else {
            let wanted = "a virgin curve beside cycles, which is followed beyond their ranges";
            return if self.cycles.is_empty() {
                Ok(())
            } else {
                Err(Error::value(name, "cycles alone", wanted))
            };
        };
        let stress = stress_at(virgin, 0.0);
        if stress.abs() > rounding_of(virgin) {
            let found = format!("{stress:?} without strain");
            return Err(Error::value(format!("{name}.virgin"), found, "0 without strain"));
        }
        Ok(())
    }
}

fn slope(ends: &[CurvePoint]) -> f64 {
    (ends[1][1] - ends[0][1]) / (ends[1][0] - ends[0][0])
}

/// Stress in N/m that is taken for rounding.
fn rounding_of(points: &[CurvePoint]) -> f64 {
    ROUNDING * points.iter().map(|point| point[1].abs()).fold(0.0, f64::max)
}

/// Refuses branches that cross, or that have no stress of 0 between them without strain.
fn check_cycle(name: &str, HysteresisCycle { load, unload, .. }: &HysteresisCycle) -> Result<()> {
    for strain in load.iter().chain(unload).map(|point| point[0]) {
        let (upper, lower) = (stress_at(load, strain), stress_at(unload, strain));
        if upper < lower - ROUNDING * (upper.abs() + lower.abs()) {
            let found = format!("{lower:?} of unload above {upper:?} of load at {strain:?}");
            return Err(Error::value(name, found, "unload nowhere above load"));
        }
    }
    let (upper, lower) = (stress_at(load, 0.0), stress_at(unload, 0.0));
    let rounding = rounding_of(load).max(rounding_of(unload));
    if upper < -rounding || lower > rounding {
        let found = format!("from {lower:?} to {upper:?} without strain");
        return Err(Error::value(name, found, "0 between both branches without strain"));
    }
    Ok(())
}

/// Refuses ranges that do not grow, and a wider cycle that returns more energy than a smaller one from the same strain,
/// which it could give without end.
fn check_order(name: &str, inner: &HysteresisCycle, outer: &HysteresisCycle) -> Result<()> {
    let largest = |cycle: &HysteresisCycle| cycle.largest.unwrap_or(f64::INFINITY);
    let smallest = |cycle: &HysteresisCycle| cycle.smallest.unwrap_or(f64::NEG_INFINITY);
    let ends = [smallest(inner), largest(inner)];
    let is_range = ends[0] <= 0.0 && ends[1] >= 0.0 && ends.iter().any(|end| end.is_finite());
    if !is_range || ends[0] < smallest(outer) || ends[1] > largest(outer) {
        let found = format!("the range from {:?} to {:?}", ends[0], ends[1]);
        let wanted = "a range with the strain 0 and a bound, within that of the next cycle";
        return Err(Error::value(name, found, wanted));
    }
    let branches = [&inner.load, &inner.unload, &outer.load, &outer.unload];
    let strains = branches.into_iter().flatten().map(|point| point[0]);
    for strain in strains.filter(|strain| (ends[0]..=ends[1]).contains(strain)) {
        let of = |cycle: &HysteresisCycle| {
            if strain > 0.0 {
                stress_at(&cycle.unload, strain).max(0.0)
            } else {
                -stress_at(&cycle.load, strain).min(0.0)
            }
        };
        let (here, beyond) = (of(inner), of(outer));
        if beyond > here * (1.0 + ROUNDING) + rounding_of(&outer.load) {
            let found = format!("{here:?} returned at {strain:?}, {beyond:?} by the next cycle");
            let wanted = "not less than the next cycle, which would return more than was stored";
            return Err(Error::value(name, found, wanted));
        }
    }
    Ok(())
}

fn check_branch(name: &str, points: &[CurvePoint]) -> Result<()> {
    if !(2..=MAX_POINTS).contains(&points.len()) {
        let found = format!("{} points", points.len());
        return Err(Error::value(name, found, format!("2 to {MAX_POINTS}")));
    }
    let refuse = |index: usize, wanted: String| {
        let [strain, stress] = points[index];
        Err(Error::element(name, "point", index, format!("({strain:?}, {stress:?})"), wanted))
    };
    for (index, point) in points.iter().enumerate() {
        if !point.iter().all(|value| value.is_finite()) {
            return refuse(index, "two finite numbers".to_owned());
        }
        let Some(before) = index.checked_sub(1).map(|before| points[before]) else { continue };
        let (wide, high) = (point[0] - before[0], point[1] - before[1]);
        if !(wide > 0.0 && high >= 0.0) {
            return refuse(
                index,
                "more strain and not less stress than the point before".to_owned(),
            );
        }
    }
    Ok(())
}

/// Stress of a branch at a strain.
#[must_use]
pub(crate) fn stress_at(points: &[CurvePoint], strain: f64) -> f64 {
    let last = points.len() - 1;
    let after = points.partition_point(|point| point[0] < strain).clamp(1, last);
    let ([left, low], [right, high]) = (points[after - 1], points[after]);
    // From the nearer end, to keep precision far beyond the points.
    if strain > right {
        high + (high - low) / (right - left) * (strain - right)
    } else {
        low + (high - low) / (right - left) * (strain - left)
    }
}

/// A branch, continued below `limit` beyond the last point of both.
fn limited(points: &[CurvePoint], limit: &[CurvePoint]) -> Vec<CurvePoint> {
    let mut limited = points.to_vec();
    let end = limit[limit.len() - 1][0].max(points[points.len() - 1][0]);
    let (own, above) = (last_slope(points), last_slope(limit));
    if own <= above {
        return limited;
    }
    let gap = (stress_at(limit, end) - stress_at(points, end)).max(0.0);
    let crossing = end + gap / (own - above);
    if crossing > points[points.len() - 1][0] {
        limited.push([crossing, stress_at(limit, crossing)]);
    }
    limited.push([crossing + 1.0, stress_at(limit, crossing + 1.0)]);
    limited
}

fn last_slope(points: &[CurvePoint]) -> f64 {
    slope(&points[points.len() - 2..])
}

/// The branch seen from the other side: both signs changed.
#[must_use]
pub(crate) fn mirrored(points: &[CurvePoint]) -> Vec<CurvePoint> {
    points.iter().rev().map(|[strain, stress]| [-strain, -stress]).collect()
}

/// The greater of two branches at every strain.
#[must_use]
pub(crate) fn upper_envelope(one: &[CurvePoint], other: &[CurvePoint]) -> Vec<CurvePoint> {
    let mut strains: Vec<f64> = one.iter().chain(other).map(|point| point[0]).collect();
    strains.sort_by(f64::total_cmp);
    let (first, last) = (strains[0], strains[strains.len() - 1]);
    let width = last - first;
    // Beyond the last points, which the slopes there are continued from.
    strains.splice(..0, [first - width]);
    strains.push(last + width);
    let gap = |strain: f64| stress_at(one, strain) - stress_at(other, strain);
    let crossings: Vec<f64> = strains
        .windows(2)
        .filter_map(|ends| {
            let [left, right] = [gap(ends[0]), gap(ends[1])];
            (left * right < 0.0).then(|| ends[0] + left / (left - right) * (ends[1] - ends[0]))
        })
        .collect();
    strains.extend(crossings);
    strains.sort_by(f64::total_cmp);
    strains.dedup();
    strains.into_iter().map(|at| [at, stress_at(one, at).max(stress_at(other, at))]).collect()
}
