// SPDX-License-Identifier: MIT OR Apache-2.0
//! Internal and external forces, each the exact gradient of an energy or a dissipation potential.

mod air;
mod baraff_witkin;
pub mod bending;
mod elements;
mod fem;
mod inelastic;
mod membrane;
mod particles;
mod sewing;
mod sheets;
mod springs;
mod strain_history;

pub use air::Air;
pub use baraff_witkin::baraff_witkin;
pub use elements::{
    BlockCode, BlockColumns, BlockParts, ElasticEnergy, Elements, Tangents, block_code,
};
pub use fem::fem;
pub use inelastic::Past;
pub use membrane::{
    Membrane, MembraneEnergy, Strain, Tension, TriangleTangent, largest_stretch, stretch,
};
pub use particles::{BendingKind, particles};
pub use sewing::{Sewing, sewing};
pub use sheets::{Sheets, edge_scale, scaled_gradients};
pub use springs::{choi_ko, mass_spring};
pub use strain_history::StrainHistory;
