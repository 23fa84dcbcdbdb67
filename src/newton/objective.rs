// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the equations of a stage are made of, and their potential.

use super::quadratic_model::QuadraticModel;
use crate::{
    Vec3,
    collision::Contact,
    response::CollisionResponse,
    scene::{Report, Task},
    system::{EquationsOfMotion, PrescribedDisplacement},
    time_integration::{Stage, State},
};

/// The first corrections of each so many look anew at the directions of contacts; in the others these settle.
const SETTLING: usize = 3;
const RENEWAL: usize = 8;

/// What a stage is made of.
pub(crate) struct Objective<'a> {
    pub(crate) dynamics: &'a mut EquationsOfMotion,
    pub(crate) response: &'a mut CollisionResponse,
    pub(crate) stage: &'a Stage,
    pub(crate) state: &'a State,
    pub(crate) prescribed_displacements: &'a [PrescribedDisplacement],
    /// The potential without contacts, where it is not that of the stage.
    pub(crate) quadratic_model: Option<&'a QuadraticModel<'a>>,
}

/// In J.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Potential {
    /// Without contacts.
    without_contacts: f64,
    /// Of contacts.
    pub(crate) contact: f64,
}

impl Potential {
    pub(crate) fn total(&self) -> f64 {
        self.without_contacts + self.contact
    }
}

impl Objective<'_> {
    /// The same problem with another potential without contacts.
    pub(crate) fn with_quadratic_model<'b>(
        &'b mut self,
        quadratic: &'b QuadraticModel<'b>,
    ) -> Objective<'b> {
        let Self { stage, state, prescribed_displacements: guidance, .. } = *self;
        let (dynamics, response) = (&mut *self.dynamics, &mut *self.response);
        Objective {
            dynamics,
            response,
            stage,
            state,
            prescribed_displacements: guidance,
            quadratic_model: Some(quadratic),
        }
    }

    /// Puts what is guided where it is to be.
    pub(crate) fn apply_prescribed_displacements(&self, positions: &mut [Vec3]) {
        for guide in self.prescribed_displacements {
            let position = &mut positions[guide.vertex];
            *position = guide.constrained_end(&self.state.positions[guide.vertex], position);
        }
    }

    /// The potential at `positions`, and the residuals without contacts in N.
    pub(crate) fn evaluate(
        &mut self,
        positions: &[Vec3],
        residuals: &mut [Vec3],
        report: &mut Report,
    ) -> Potential {
        let inside = match self.quadratic_model {
            Some(quadratic) => quadratic.evaluate(positions, residuals),
            None => self.dynamics.evaluate(self.stage, positions, residuals, report),
        };
        Potential { without_contacts: inside, contact: self.response.contact_potential(positions) }
    }

    /// Which surfaces touch after so many corrections.
    pub(crate) fn detect_contacts(
        &mut self,
        positions: &[Vec3],
        iterations: usize,
        report: &mut Report,
    ) -> Vec<Contact> {
        let response = &mut *self.response;
        report.time(Task::Contact, || {
            if iterations % RENEWAL < SETTLING {
                response.detect_contacts(positions)
            } else {
                response.detect_contacts_with_frozen_normals(positions)
            }
        })
    }
}
