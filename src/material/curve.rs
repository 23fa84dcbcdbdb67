// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measured curves of stress over strain: a branch for loading and one for unloading, piecewise linear.
//!
//! These are the lists of Eberhardt (Etzmuss 2002, section 2.1.3): every piece is a slope C and an offset h, with the
//! stress C(ε − h), and which branch holds follows from the history of the strain. Between the branches, after a
//! reversal, the stress changes with the modulus of the material, and the offset of that line is the only internal
//! variable.
//!
//! Beyond its points a branch is continued with its last slope. If the branches cross there, they coincide from then
//! on.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Strain, without unit (curvature, in 1/m), and stress, in N/m (moment per width, in N).
pub type CurvePoint = [f64; 2];

/// Two branches of stress over strain, each by two points or more. Where both are the same, nothing is dissipated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hysteresis {
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
/// Relative excess of a slope over the modulus that is taken for rounding.
const ROUNDING: f64 = 1.0e-9;

impl Hysteresis {
    /// A curve that is followed up and down alike.
    #[must_use]
    pub fn elastic(points: Vec<CurvePoint>) -> Self {
        Self { unload: points.clone(), load: points }
    }

    /// Both branches in effect: if they cross beyond their points, they coincide from then on.
    #[must_use]
    pub fn joined(&self) -> Self {
        let unload = limited(&self.unload, &self.load);
        let load = mirrored(&limited(&mirrored(&self.load), &mirrored(&unload)));
        Self { load, unload }
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
        for (branch, points) in [("load", &self.load), ("unload", &self.unload)] {
            check_branch(&format!("{name}.{branch}"), points, modulus)?;
        }
        let strains = self.load.iter().chain(&self.unload).map(|point| point[0]);
        for strain in strains.clone() {
            let (upper, lower) = (stress_at(&self.load, strain), stress_at(&self.unload, strain));
            if upper < lower - ROUNDING * (upper.abs() + lower.abs()) {
                let found = format!("{lower:?} of unload above {upper:?} of load at {strain:?}");
                return Err(Error::value(name, found, "unload nowhere above load"));
            }
        }
        let joined = self.joined();
        let (upper, lower) = (stress_at(&joined.load, 0.0), stress_at(&joined.unload, 0.0));
        let stresses = self.load.iter().chain(&self.unload).map(|point| point[1].abs());
        let rounding = ROUNDING * stresses.fold(0.0, f64::max);
        if upper < -rounding || lower > rounding {
            let found = format!("from {lower:?} to {upper:?} without strain");
            return Err(Error::value(name, found, "0 between both branches without strain"));
        }
        Ok(())
    }
}

fn check_branch(name: &str, points: &[CurvePoint], modulus: f64) -> Result<()> {
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
        if high > modulus * wide * (1.0 + ROUNDING) {
            let wanted = format!("a slope up to the modulus of the material, {modulus:?}");
            return refuse(index, wanted);
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
    let ([left, low], [right, high]) = (points[points.len() - 2], points[points.len() - 1]);
    (high - low) / (right - left)
}

/// The branch seen from the other side: both signs changed.
#[must_use]
pub(crate) fn mirrored(points: &[CurvePoint]) -> Vec<CurvePoint> {
    points.iter().rev().map(|[strain, stress]| [-strain, -stress]).collect()
}
