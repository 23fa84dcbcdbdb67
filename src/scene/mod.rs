// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a caller gives, cloths, colliders and settings, and the report that comes back.

mod cloth;
mod collider;
mod report;
mod settings;

pub(crate) use cloth::check_factors;
pub use cloth::{Cloth, Sewing};
pub use collider::Collider;
pub use report::{RejectionReason, Report, Task};
pub use settings::{Integrator, Model, Preconditioning, Settings, Solver};
pub(crate) use settings::{check_duration, check_vector};
