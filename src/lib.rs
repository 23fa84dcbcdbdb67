// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]

mod collision;
mod dressing;
mod error;
pub mod forces;
pub mod geometry;
mod island;
pub mod linear_solver;
mod material;
pub mod mesh;
mod newton;
mod parallel;
pub mod pattern;
#[cfg(feature = "python")]
mod python;
mod response;
mod scene;
pub mod simd;
mod simulation;
mod surface;
mod system;
mod time_integration;
mod untangling;
mod vec3;

pub use dressing::{Dressing, DressingPhase, OpenPair, lift, open_pairs};
pub use error::{Error, Result};
pub use material::{
    ChainElement, ConstantQ, CurvePoint, Curves, Hysteresis, HysteresisCycle, Material,
    MemoryBranch, PlateRigidity, preset_names,
};
pub use scene::{
    Cloth, ClothVertex, Collider, Integrator, Model, Preconditioning, RejectionReason, Report,
    Settings, Solver, Springs, Task,
};
pub use simulation::Simulation;
pub use surface::{InternalSprings, internal_springs};
pub use system::{Energy, LinearisedMatrices};
pub use vec3::Vec3;
