// SPDX-License-Identifier: MIT OR Apache-2.0
//! Internal and external forces, each the exact gradient of an energy or a dissipation potential.

mod air;
pub mod bending;
mod membrane;
mod strain_history;

pub use air::Air;
pub use membrane::{Membrane, MembraneEnergy, Strain, TriangleTangent};
pub use strain_history::StrainHistory;
