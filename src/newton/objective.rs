// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objective of a stage: the potential without contacts plus that of contacts, whose minimum Newton's method finds.

use super::parameters::NewtonParameters;
use crate::{
    collision::Contact,
    response::CollisionResponse,
    scene::{Report, Task},
    system::{EquationsOfMotion, PrescribedDisplacement, TangentMatrix},
    time_integration::{Stage, State},
    vec3::Vec3,
};

const PARAMETERS: NewtonParameters = NewtonParameters::DEFAULT;

/// Quadratic model in place of the potential without contacts of a stage. By it schemes and solvers for comparison
/// reach Newton's method.
pub(crate) trait QuadraticPotential: Sync {
    /// Potential at `positions` in J, and its negative gradient in N as `residuals`.
    fn evaluate(&self, positions: &[Vec3], residuals: &mut [Vec3]) -> f64;

    /// Fills the matrix of `tangent` with the Hessian.
    fn fill_tangent(&self, tangent: &mut TangentMatrix);

    /// Identifier of the Hessian: models with equal identifiers have the same; `None` if it is of this model alone.
    fn matrix_id(&self) -> Option<[u64; 3]>;
}

/// Objective of a stage, with what it is evaluated from.
pub(crate) struct Objective<'a> {
    pub(crate) dynamics: &'a mut EquationsOfMotion,
    pub(crate) response: &'a mut CollisionResponse,
    pub(crate) stage: &'a Stage,
    /// State at the start of the step.
    pub(crate) state: &'a State,
    /// Dirichlet conditions of the step, in order of vertices.
    pub(crate) prescribed_displacements: &'a [PrescribedDisplacement],
    /// Potential without contacts where it is not that of the stage.
    pub(crate) quadratic_model: Option<&'a dyn QuadraticPotential>,
}

/// Value of an objective, in J.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Potential {
    /// Potential without contacts.
    without_contacts: f64,
    /// Potential of contacts.
    pub(crate) contact: f64,
}

impl Potential {
    pub(crate) fn total(&self) -> f64 {
        self.without_contacts + self.contact
    }
}

impl Objective<'_> {
    /// This objective with a quadratic model as its potential without contacts.
    pub(crate) fn with_quadratic_model<'b>(
        &'b mut self,
        quadratic_model: &'b dyn QuadraticPotential,
    ) -> Objective<'b> {
        let Self { stage, state, prescribed_displacements, .. } = *self;
        Objective {
            dynamics: &mut *self.dynamics,
            response: &mut *self.response,
            stage,
            state,
            prescribed_displacements,
            quadratic_model: Some(quadratic_model),
        }
    }

    /// Moves vertices with Dirichlet conditions to where these place them.
    pub(crate) fn apply_prescribed_displacements(&self, positions: &mut [Vec3]) {
        for prescribed in self.prescribed_displacements {
            let position = &mut positions[prescribed.vertex];
            let start = &self.state.positions[prescribed.vertex];
            *position = prescribed.constrained_end(start, position);
        }
    }

    /// Evaluates the potential at `positions`, and the residuals (forces) without contacts, in N.
    pub(crate) fn evaluate(
        &mut self,
        positions: &[Vec3],
        residuals: &mut [Vec3],
        report: &mut Report,
    ) -> Potential {
        let without_contacts = match self.quadratic_model {
            Some(model) => model.evaluate(positions, residuals),
            None => self.dynamics.evaluate(self.stage, positions, residuals, report),
        };
        Potential { without_contacts, contact: self.response.contact_potential(positions) }
    }

    /// Detects contacts at `positions`. Normals are updated in the first iterations and frozen then, so that Newton's
    /// method converges.
    pub(crate) fn detect_contacts(
        &mut self,
        positions: &[Vec3],
        iteration: usize,
        report: &mut Report,
    ) -> Vec<Contact> {
        let response = &mut *self.response;
        report.time(Task::Contact, || {
            if iteration < PARAMETERS.normal_updates {
                response.detect_contacts(positions)
            } else {
                response.detect_contacts_with_frozen_normals(positions)
            }
        })
    }
}
