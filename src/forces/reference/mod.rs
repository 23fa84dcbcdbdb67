// SPDX-License-Identifier: MIT OR Apache-2.0
//! The models of the documents beside the default one (`fem`), for comparison: particle system, Baraff-Witkin triangles,
//! springs, triangles with linear and with co-rotational strain, bending elements of
//! Volino and of Bridson.

mod baraff_witkin;
mod bend_hinges;
mod particles;
mod springs;
mod strain_triangles;

pub use baraff_witkin::baraff_witkin;
pub use bend_hinges::{fem_bridson, fem_volino};
pub use particles::{BendingKind, particles};
pub use springs::{choi_ko, mass_spring};
pub use strain_triangles::{fem_corotational, fem_linear};
