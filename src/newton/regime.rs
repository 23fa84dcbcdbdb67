// SPDX-License-Identifier: MIT OR Apache-2.0
//! Regimes of a solve: what kind of equations an iteration solves, found once and asked by all that depend on it.
//!
//! | depends on it | free | on solids | layered | untangling | quadratic |
//! | --- | --- | --- | --- | --- | --- |
//! | threshold of the Newton step (`criteria`) | multiple of the tolerance | fraction of the first | smaller fraction | by contacts | smaller fraction or tolerance |
//! | iterations that relax it (`NewtonSolve`) | | since stiffening | since stiffening | all | as without the model |
//! | error of the acceleration (`acceleration_error`) | yes | yes | yes | no | no |
//! | force balance (`force_balance`) | no | yes | more closely | no | no |
//! | stagnation (`NewtonSolve`) | no | yes | yes | in contact | in contact |
//! | last step taken without its residuals (`NewtonSolve`) | yes | no | no | without contact | without contact |
//! | predicted stresses (`NewtonSolve`) | yes | yes | yes | yes | no |

use super::objective::Objective;

/// What the contacts of a solve couple cloth with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coupling {
    /// Solids alone.
    Solids,
    /// Other layers of cloth.
    Layers,
}

/// Kind of the equations of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Regime {
    /// No contacts.
    Free,
    /// Contacts with solids.
    OnSolids,
    /// Contacts that couple layers of cloth.
    Layered,
    /// Intersections, or contacts at distance zero, whose forces are not physical.
    Untangling(Option<Coupling>),
    /// A quadratic model in place of the potential of the stage, of schemes and solvers for comparison.
    Quadratic(Option<Coupling>),
}

impl Regime {
    /// Regime at an iterate.
    pub(crate) fn new(objective: &Objective<'_>, is_untangling: bool) -> Self {
        let coupling = match objective.response.contact_set.detected[..] {
            [] => None,
            _ if objective.response.couples_layers() => Some(Coupling::Layers),
            _ => Some(Coupling::Solids),
        };
        match coupling {
            _ if objective.quadratic_model.is_some() => Self::Quadratic(coupling),
            _ if is_untangling => Self::Untangling(coupling),
            None => Self::Free,
            Some(Coupling::Solids) => Self::OnSolids,
            Some(Coupling::Layers) => Self::Layered,
        }
    }

    /// Whether there are contacts.
    pub(crate) fn has_contacts(self) -> bool {
        !matches!(self, Self::Free | Self::Untangling(None) | Self::Quadratic(None))
    }

    /// Whether a quadratic model takes the place of the potential of the stage.
    pub(crate) fn is_quadratic(self) -> bool {
        matches!(self, Self::Quadratic(_))
    }
}
