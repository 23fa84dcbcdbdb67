// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the equations of a stage are made of, and their potential.

use super::quadratic_model::Quadratic;
use crate::{
    Vec3,
    collision::Contact,
    response::Response,
    scene::{Report, Task},
    system::{Dynamics, Guidance},
    time_integration::{Stage, State},
};

/// The first corrections of each so many look anew at the directions of contacts; in the others these settle.
const SETTLING: usize = 3;
const RENEWAL: usize = 8;

/// What a stage is made of.
pub(crate) struct Problem<'a> {
    pub(crate) dynamics: &'a mut Dynamics,
    pub(crate) response: &'a mut Response,
    pub(crate) stage: &'a Stage,
    pub(crate) state: &'a State,
    pub(crate) guidance: &'a [Guidance],
    /// The potential without contacts, where it is not that of the stage.
    pub(crate) quadratic: Option<&'a Quadratic<'a>>,
}

/// In J.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Potential {
    /// Without contacts.
    inside: f64,
    /// Of contacts.
    pub(crate) touching: f64,
}

impl Potential {
    pub(crate) fn whole(&self) -> f64 {
        self.inside + self.touching
    }
}

impl Problem<'_> {
    /// The same problem with another potential without contacts.
    pub(crate) fn with<'b>(&'b mut self, quadratic: &'b Quadratic<'b>) -> Problem<'b> {
        let Self { stage, state, guidance, .. } = *self;
        let (dynamics, response) = (&mut *self.dynamics, &mut *self.response);
        Problem { dynamics, response, stage, state, guidance, quadratic: Some(quadratic) }
    }

    /// Puts what is guided where it is to be.
    pub(crate) fn lead(&self, positions: &mut [Vec3]) {
        for guide in self.guidance {
            let position = &mut positions[guide.vertex];
            *position = guide.led(&self.state.positions[guide.vertex], position);
        }
    }

    /// The potential at `positions`, and the residuals without contacts in N.
    pub(crate) fn evaluate(
        &mut self,
        positions: &[Vec3],
        residuals: &mut [Vec3],
        report: &mut Report,
    ) -> Potential {
        let inside = match self.quadratic {
            Some(quadratic) => quadratic.evaluate(positions, residuals),
            None => self.dynamics.evaluate(self.stage, positions, residuals, report),
        };
        Potential { inside, touching: self.response.potential(positions) }
    }

    /// Which surfaces touch after so many corrections.
    pub(crate) fn look(
        &mut self,
        positions: &[Vec3],
        iterations: usize,
        report: &mut Report,
    ) -> Vec<Contact> {
        let response = &mut *self.response;
        report.time(Task::Contact, || {
            if iterations % RENEWAL < SETTLING {
                response.refreshed(positions)
            } else {
                response.settled(positions)
            }
        })
    }
}
