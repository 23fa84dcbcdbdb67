// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]

mod buffer_pool;
mod cloth;
pub mod collision;
mod eights;
mod error;
pub mod forces;
mod fours;
mod material;
pub mod mesh;
mod parallel;
#[cfg(feature = "python")]
mod python;
mod settings;
mod simulation;
pub mod solver;
mod workers;

pub use cloth::Cloth;
pub use collision::Collider;
pub use error::{Error, Result};
pub use material::{
    ChainElement, CurvePoint, Curves, Hysteresis, Material, MemoryBranch, PlateRigidity, Quality,
    preset_names,
};
pub use settings::{Integrator, Model, Preconditioning, Settings, Solver};
pub use simulation::{Energy, RejectionReason, Report, Simulation, Task};

/// A point or vector in space, in metres unless said otherwise.
pub type Vec3 = nalgebra::Vector3<f64>;
