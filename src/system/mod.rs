// SPDX-License-Identifier: MIT OR Apache-2.0
//! The discrete system: equations of motion, boundary conditions, tangent matrix, and the models that it is made of.

mod boundary_conditions;
mod constant_stiffness;
mod equations_of_motion;
mod explicit_forces;
pub(crate) mod model_factory;
mod stable_step;
mod tangent_matrix;

pub(crate) use boundary_conditions::{BoundaryConditions, PrescribedDisplacement, SpringTarget};
pub(crate) use constant_stiffness::ConstantStiffness;
pub use equations_of_motion::Energy;
pub(crate) use equations_of_motion::EquationsOfMotion;
pub(crate) use model_factory::{check_cloths, concatenated, contact_exclusions};
pub(crate) use stable_step::max_stable_step;
pub(crate) use tangent_matrix::TangentMatrix;
