// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]

mod error;
pub mod forces;
mod material;
pub mod mesh;

pub use error::{Error, Result};
pub use material::{Material, PlateRigidity, preset_names};

/// A point or vector in space, in metres unless said otherwise.
pub type Vec3 = nalgebra::Vector3<f64>;
