// SPDX-License-Identifier: MIT OR Apache-2.0
//! Discrete system: equations of motion, boundary conditions, tangent matrix, constant stiffness, sparse matrices for
//! callers, and the factory of models.

mod boundary_conditions;
mod constant_stiffness;
mod equations_of_motion;
mod linearised_matrices;
pub(crate) mod model_factory;
mod stable_step;
mod tangent_couplings;
mod tangent_matrix;

pub(crate) use boundary_conditions::{BoundaryConditions, PrescribedDisplacement, SpringTarget};
pub(crate) use constant_stiffness::{ConstantStiffness, RevisedStiffness};
pub use equations_of_motion::Energy;
pub(crate) use equations_of_motion::EquationsOfMotion;
pub use linearised_matrices::LinearisedMatrices;
pub(crate) use model_factory::{check_cloths, concatenated, contact_exclusions};
pub(crate) use stable_step::{ExplicitSteppingParameters, StabilityProblem};
pub(crate) use tangent_matrix::TangentMatrix;
