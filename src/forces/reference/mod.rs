// SPDX-License-Identifier: MIT OR Apache-2.0
//! The models of the documents beside the default one (`fem`), for comparison: particle system, Baraff-Witkin triangles,
//! springs.

mod baraff_witkin;
mod particles;
mod springs;

pub use baraff_witkin::baraff_witkin;
pub use particles::{BendingKind, particles};
pub use springs::{choi_ko, mass_spring};
