// SPDX-License-Identifier: MIT OR Apache-2.0
//! Multistep history across a velocity jump.
//!
//! A multistep scheme continues the motion from its past, which after an impact is not what the contact leaves. Along
//! the directions of a jump the past of a *contact* becomes one of uniform relative motion, with the velocity after the
//! jump. The past of its vertices is changed for that by a pair of opposite impulses, in inverse proportion to their
//! masses, as their velocities are: the scheme advances the sums Σ m x and Σ m v by the same linear recurrence as each
//! vertex, so that momentum is kept exactly if and only if those of the past are unchanged. (With the past of every
//! vertex changed by itself, forces within the cloth act on one side of a pair and not on the other: 0.7 to 4 % of the
//! momentum of two sheets that collide was lost.) A solid takes its impulse without a change of its motion.

use super::{ContactVelocities, sweep};
use crate::{collision::Contact, vec3::Vec3};
use nalgebra::Matrix3;
use std::collections::BTreeMap;

/// Jump of the relative velocity of a contact.
pub(crate) struct VelocityJump<'a> {
    pub(super) contact: &'a Contact,
    /// In 1/kg.
    pub(super) effective_inverse_mass: f64,
    /// Projector onto the directions of the jump.
    pub(super) jump_projector: Matrix3<f64>,
}

/// Deviation of the past state of a vertex from that of a uniform motion with its present velocity.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MotionDeviation {
    /// In m.
    pub(crate) position: Vec3,
    /// In m/s.
    pub(crate) velocity: Vec3,
}

impl MotionDeviation {
    /// Sum with `factor` times another.
    fn plus(self, other: Self, factor: f64) -> Self {
        Self {
            position: self.position + other.position * factor,
            velocity: self.velocity + other.velocity * factor,
        }
    }

    /// Projection of both.
    pub(crate) fn projected(self, projector: &Matrix3<f64>) -> Self {
        Self { position: projector * self.position, velocity: projector * self.velocity }
    }
}

impl<InverseMasses: Fn(usize) -> f64> ContactVelocities<'_, InverseMasses> {
    /// Vertices of velocity jumps.
    pub(crate) fn vertices_of_jumps(
        &self,
        jumps: &[VelocityJump<'_>],
    ) -> impl Iterator<Item = usize> {
        jumps
            .iter()
            .flat_map(|jump| self.step.cloth_weights(jump.contact))
            .map(|(vertex, _)| vertex)
    }

    /// Makes the past motion of contacts uniform along the directions of their jumps. `deviations` are those of all
    /// vertices of the jumps.
    pub(crate) fn make_past_uniform(
        &self,
        jumps: &mut [VelocityJump<'_>],
        deviations: &mut BTreeMap<usize, MotionDeviation>,
    ) {
        sweep(jumps, |VelocityJump { contact, effective_inverse_mass, jump_projector }| {
            let relative = self
                .step
                .cloth_weights(contact)
                .fold(MotionDeviation::default(), |sum, (vertex, weight)| {
                    sum.plus(deviations[&vertex], weight)
                })
                .projected(jump_projector);
            for (vertex, weight) in self.step.cloth_weights(contact) {
                let share = weight * (self.inverse_masses)(vertex) / *effective_inverse_mass;
                deviations.entry(vertex).and_modify(|own| *own = own.plus(relative, -share));
            }
        });
    }
}
