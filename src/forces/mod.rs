// SPDX-License-Identifier: MIT OR Apache-2.0
//! Internal and external forces, each the exact gradient of an energy or a dissipation potential.

mod air;
pub mod bending;
mod elements;
mod fem;
mod inelastic;
mod membrane;
mod model_input;
mod pairs;
mod pressure;
mod reference;
mod strain_history;

pub use air::Air;
pub use bending::{Bending, BendingLaw};
pub use elements::{
    BlockCode, BlockColumns, BlockContributions, ElasticEnergy, Elements, ScalarStiffness,
    Tangents, block_code,
};
pub use fem::fem;
pub use inelastic::MaterialHistory;
pub use membrane::{Membrane, MembraneEnergy, Tension, TriangleTangent, largest_stretch, stretch};
pub use model_input::{ModelInput, edge_scale, scaled_gradients};
pub use pairs::{sewing, springs};
pub use pressure::PressureLaw;
pub(crate) use pressure::{PressureLoads, enclosed_volume};
pub use reference::{
    BendingKind, baraff_witkin, choi_ko, fem_bridson, fem_corotational, fem_linear, fem_volino,
    mass_spring, particles,
};
pub use strain_history::{Strain, StrainHistory};

pub use crate::scene::{Sewing, Springs};
