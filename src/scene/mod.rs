// SPDX-License-Identifier: MIT OR Apache-2.0
//! Input and output of a simulation: cloths, colliders, settings and report.

mod cloth;
mod collider;
mod report;
mod settings;
mod springs;

pub(crate) use cloth::check_factors;
pub use cloth::{Cloth, Sewing};
pub use collider::Collider;
pub use report::{ClothVertex, RejectionReason, Report, Task};
pub use settings::{Integrator, Model, Preconditioning, Settings, Solver};
pub(crate) use settings::{check_duration, check_vector};
pub use springs::Springs;
