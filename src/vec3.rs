// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vectors of space.

/// A point or vector in space, in metres unless stated otherwise.
pub type Vec3 = nalgebra::Vector3<f64>;
