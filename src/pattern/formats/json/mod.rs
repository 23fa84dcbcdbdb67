// SPDX-License-Identifier: MIT OR Apache-2.0
//! JSON as GarmentCode writes it (`docs/template_spec_with_comments.json` of Garment-Pattern-Generator): lengths in
//! 1/`units_in_meter` m, y up in space, control points relative to their edge.
//!
//! Where that says too little there are fields of ours, which other readers pass over: `grain` (degrees from x), `notches`,
//! `cutouts`, `internal_lines`, `edge_length` and `fabric` of a panel; `edges` (a run), `cutout`, `reversed`, `ratio` and
//! `label` of a side of a stitch.

mod form;
mod reading;
mod writing;

pub(super) use reading::parse;
pub(super) use writing::text;

use nalgebra::UnitQuaternion;
use std::f64::consts::FRAC_PI_2;

/// From the axes of the file, y up, to ours, z up.
fn upright() -> UnitQuaternion<f64> {
    UnitQuaternion::from_euler_angles(FRAC_PI_2, 0.0, 0.0)
}

#[cfg(test)]
mod tests;
