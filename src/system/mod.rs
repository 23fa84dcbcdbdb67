// SPDX-License-Identifier: MIT OR Apache-2.0
//! The discrete system: equations of motion, boundary conditions, tangent matrix, and the models that it is made of.

mod boundary_conditions;
mod constant_stiffness;
mod equations_of_motion;
mod explicit_forces;
pub(crate) mod model_factory;
mod stable_step;
mod tangent_matrix;

pub(crate) use boundary_conditions::{Goal, Guidance, Guides};
pub(crate) use constant_stiffness::ConstantMatrix;
pub(crate) use equations_of_motion::Dynamics;
pub use equations_of_motion::Energy;
pub(crate) use model_factory::{check, exclusions, joined};
pub(crate) use stable_step::longest_step;
pub(crate) use tangent_matrix::Tangent;
