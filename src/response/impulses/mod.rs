// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contact velocities at the end of a step, by projected Gauss-Seidel.
//!
//! A second-order time scheme takes velocities from the positions of several steps. Across an
//! impact that is wrong: the contact forces that stop a vertex leave it with up to half of its
//! speed, in either direction. Cloth does not rebound, so an impulse is added that cancels the
//! relative velocity along the normal, together with its Coulomb friction, so that friction acts on
//! the whole change of normal velocity. The multistep history of the contact is reset along these
//! directions (see `motion_history`).
//!
//! A compressed contact keeps its preload over the steps. When the compressing load vanishes, the
//! preload would accelerate the cloth like a spring; cloth does not do that, so an impulse is
//! removed where the sides separate faster than a recovering initial gap does.
//!
//! Recovery contacts displace the cloth and must leave it no speed: their relative velocity is
//! cancelled as well.
//!
//! **Implicit midpoint rule.** It inverts a velocity that a contact has removed, so that cloth at
//! rest would oscillate. Before the impact impulses the relative velocity of pressing contacts is
//! set to its mean over the step: along the normal, and in all directions where friction sticks.

mod motion_history;
mod reaction;
#[cfg(test)]
mod tests;

pub(crate) use motion_history::{MotionDeviation, VelocityJump};
pub(crate) use reaction::ReactionConstraints;
pub(super) use reaction::returns_by_reaction;

use super::{
    contact_set::{ContactPositions, ContactSet},
    detection::DETECTION,
    step_geometry::StepGeometry,
};
use crate::{
    collision::{Contact, Trajectories},
    vec3::Vec3,
};
use nalgebra::Matrix3;

/// Parameters of the contact velocities.
struct ContactVelocityParameters {
    /// Gauss-Seidel sweeps over all contacts. Effect: more take time; fewer leave relative
    /// velocities where contacts share vertices. Evidence:
    /// `guided_vertices_follow_a_slope_in_the_directions_left_to_them` and the rest scene
    /// `friction_on_cloth` (both fail at 0).
    sweeps: usize,
    /// Friction of a midpoint contact below which it sticks (Coulomb bounds). Effect: larger stops
    /// contacts at the end of their slip; smaller lets sticking contacts oscillate. Evidence:
    /// `contacts_hold_with_every_integrator` covers the rule; at 1 the implicit midpoint scenes take
    /// 30 % fewer Newton iterations.
    stick_fraction: f64,
}

impl ContactVelocityParameters {
    const DEFAULT: Self = Self { sweeps: 8, stick_fraction: 0.95 };
}

const CONTACT_VELOCITY: ContactVelocityParameters = ContactVelocityParameters::DEFAULT;

/// Contacts of a step that change velocities.
pub(crate) struct ContactVelocities<'a, InverseMasses> {
    pub(crate) contacts: &'a ContactSet,
    pub(crate) step: &'a StepGeometry,
    /// Inverse mass of each cloth vertex in 1/kg; 0 if it is pinned.
    pub(crate) inverse_masses: InverseMasses,
}

impl<'a, InverseMasses: Fn(usize) -> f64> ContactVelocities<'a, InverseMasses> {
    /// Applies the impact impulses of a step with the cloths at `positions` in m to `velocities` in
    /// m/s. Returns the velocity jumps.
    pub(crate) fn apply_impacts(
        &self,
        positions: &[Vec3],
        velocities: &mut [Vec3],
    ) -> Vec<VelocityJump<'a>> {
        let contacts = self.contacts.detected.iter();
        let mut impulses: Vec<ContactImpulse<'a>> =
            contacts.filter_map(|contact| self.impact_impulse(contact, positions)).collect();
        let recovery = self.contacts.edge_recovery.iter();
        impulses
            .extend(recovery.filter_map(|contact| self.impulse(contact, ImpulseKind::Recovery)));
        let contacts = self.contacts.detected.iter();
        impulses.extend(contacts.filter_map(|contact| self.release_impulse(contact)));
        sweep(&mut impulses, |impulse| self.apply_impulse(impulse, velocities));
        impulses.retain(ContactImpulse::has_changed_velocities);
        impulses.iter().map(ContactImpulse::velocity_jump).collect()
    }

    /// Projects `velocities` in m/s at the end of a step of the implicit midpoint rule with the
    /// given trajectories of the cloths, over a duration in s.
    pub(crate) fn apply_midpoint_rule(
        &self,
        cloths: Trajectories<'_>,
        duration: f64,
        velocities: &mut [Vec3],
    ) {
        let contacts = self.contacts.detected.iter();
        let mut conditions: Vec<MidpointCondition<'_>> =
            contacts.filter_map(|contact| self.midpoint_condition(contact, cloths.ends)).collect();
        sweep(&mut conditions, |MidpointCondition { contact, sticks, effective_inverse_mass }| {
            // Colliders contribute equally to both velocities.
            let lag: Vec3 = self
                .step
                .cloth_weights(contact)
                .map(|(vertex, weight)| {
                    let mean = (cloths.ends[vertex] - cloths.starts[vertex]) / duration;
                    (mean - velocities[vertex]) * weight
                })
                .sum();
            let normal = contact.linearised.normal;
            let change = if *sticks { lag } else { normal * lag.dot(&normal) };
            for (vertex, weight) in self.step.cloth_weights(contact) {
                velocities[vertex] +=
                    change * (weight * (self.inverse_masses)(vertex) / *effective_inverse_mass);
            }
        });
    }

    /// Velocity condition of a contact that presses with the cloths at `positions` in m.
    fn midpoint_condition(
        &self,
        contact: &'a Contact,
        positions: &[Vec3],
    ) -> Option<MidpointCondition<'a>> {
        let normal = contact.linearised.normal;
        let force = contact.contact_force(&self.relative_position(contact, positions)).force;
        let normal_force = force.dot(&normal);
        let friction = (force - normal * normal_force).norm();
        let effective_inverse_mass = self.effective_inverse_mass(contact);
        let sticks = contact.friction > 0.0
            && friction < CONTACT_VELOCITY.stick_fraction * contact.friction * normal_force;
        (normal_force > 0.0 && effective_inverse_mass > 0.0).then_some(MidpointCondition {
            contact,
            sticks,
            effective_inverse_mass,
        })
    }

    /// Impact impulse of a contact that presses and was absent in the last step.
    fn impact_impulse(
        &self,
        contact: &'a Contact,
        positions: &[Vec3],
    ) -> Option<ContactImpulse<'a>> {
        let relative_position = self.relative_position(contact, positions);
        let normal_force =
            contact.normal_force_at(relative_position.dot(&contact.linearised.normal));
        if !(contact.is_new && normal_force > 0.0) {
            return None;
        }
        let slip_direction = contact.slip(&relative_position, normal_force);
        let normal_impulse = normal_force * self.step.duration;
        self.impulse(contact, ImpulseKind::Impact { slip_direction, normal_impulse })
    }

    /// Release impulse of a preloaded contact, bounded by that of its preload over the step.
    fn release_impulse(&self, contact: &'a Contact) -> Option<ContactImpulse<'a>> {
        let max_impulse = contact.preload() * self.step.duration;
        if max_impulse == 0.0 {
            return None;
        }
        self.impulse(contact, ImpulseKind::Release { remaining: max_impulse, max_impulse })
    }

    /// Impulse of a contact, none where all of its vertices are pinned.
    fn impulse(&self, contact: &'a Contact, kind: ImpulseKind) -> Option<ContactImpulse<'a>> {
        let effective_inverse_mass = self.effective_inverse_mass(contact);
        let is_movable = effective_inverse_mass > 0.0;
        is_movable.then_some(ContactImpulse { contact, effective_inverse_mass, kind })
    }

    fn apply_impulse(&self, impulse: &mut ContactImpulse<'_>, velocities: &mut [Vec3]) {
        let ContactImpulse { contact, effective_inverse_mass, kind } = impulse;
        let relative_velocity = self.relative_velocity(contact, velocities);
        let normal = contact.linearised.normal;
        let normal_velocity = relative_velocity.dot(&normal);
        let vector = match kind {
            ImpulseKind::Recovery if normal_velocity <= 0.0 => return,
            ImpulseKind::Release { remaining, .. } => {
                let max_velocity = contact.thickness / DETECTION.gap_recovery_time;
                let excess = (normal_velocity - max_velocity) / *effective_inverse_mass;
                // A remaining impulse of overflown forces is not a number.
                let removed = excess.max(0.0).min(*remaining);
                *remaining -= removed;
                normal * -removed
            }
            ImpulseKind::Impact { slip_direction: Some(slip_direction), normal_impulse } => {
                let added = (-normal_velocity / *effective_inverse_mass).max(-*normal_impulse);
                *normal_impulse += added;
                let max_friction =
                    relative_velocity.dot(slip_direction).max(0.0) / *effective_inverse_mass;
                normal * added - *slip_direction * (contact.friction * added).min(max_friction)
            }
            // Sticking contact.
            _ if contact.coulomb_bound > 0.0 => -relative_velocity / *effective_inverse_mass,
            _ => normal * (-normal_velocity / *effective_inverse_mass),
        };
        for (vertex, weight) in self.step.cloth_weights(contact) {
            velocities[vertex] += vector * (weight * (self.inverse_masses)(vertex));
        }
    }

    /// Velocity of the first side relative to the second, which moves and turns, in m/s.
    fn relative_velocity(&self, contact: &Contact, velocities: &[Vec3]) -> Vec3 {
        let weighted_vertices = contact.pair.vertices.iter().zip(&contact.linearised.weights);
        let of_points: Vec3 = weighted_vertices
            .map(|(vertex, weight)| {
                let velocity = velocities.get(*vertex as usize);
                velocity.copied().unwrap_or_else(|| self.step.collider_velocity(*vertex)) * *weight
            })
            .sum();
        of_points - contact.lever_displacement / self.step.duration
    }

    /// Relative position of a contact with the cloths at `positions`, in m.
    fn relative_position(&self, contact: &Contact, positions: &[Vec3]) -> Vec3 {
        let colliders = &self.step.end_positions;
        ContactPositions { cloths: positions, colliders }.relative_position(contact)
    }

    /// Effective inverse mass of the relative velocity at a contact, in 1/kg.
    fn effective_inverse_mass(&self, contact: &Contact) -> f64 {
        self.step.effective_inverse_mass(contact, &self.inverse_masses)
    }
}

/// Projects velocities onto each condition in turn, in several Gauss-Seidel sweeps.
pub(super) fn sweep<Condition>(
    conditions: &mut [Condition],
    mut project: impl FnMut(&mut Condition),
) {
    for _ in 0..CONTACT_VELOCITY.sweeps {
        conditions.iter_mut().for_each(&mut project);
    }
}

/// Velocity condition of a pressing contact in the implicit midpoint rule.
struct MidpointCondition<'a> {
    contact: &'a Contact,
    sticks: bool,
    /// In 1/kg.
    effective_inverse_mass: f64,
}

/// Impulse of a contact.
struct ContactImpulse<'a> {
    contact: &'a Contact,
    /// In 1/kg.
    effective_inverse_mass: f64,
    kind: ImpulseKind,
}

/// Cause of an impulse, with its accumulated value.
enum ImpulseKind {
    /// A new contact. `slip_direction` is that of the first side over the second, `None` where it
    /// sticks. `normal_impulse` is the accumulated impulse along the normal in N s, at first an
    /// upper bound: the final force over the whole step. No more than that is taken back: the
    /// friction that goes with it drives a sliding contact, and two contacts that share vertices
    /// would undo each other's impulse with growing amplitude.
    Impact { slip_direction: Option<Vec3>, normal_impulse: f64 },
    /// A recovery contact of an intersected edge.
    Recovery,
    /// A preloaded contact whose sides separate. The bound of its impulse and the `remaining`
    /// amount, in N s.
    Release { remaining: f64, max_impulse: f64 },
}

impl<'a> ContactImpulse<'a> {
    /// Whether it may have changed a velocity.
    fn has_changed_velocities(&self) -> bool {
        !matches!(self.kind, ImpulseKind::Release { remaining, max_impulse } if remaining >= max_impulse)
    }

    /// Directions along which velocities jump.
    fn velocity_jump(&self) -> VelocityJump<'a> {
        let normal = self.contact.linearised.normal;
        let along_normal = normal * normal.transpose();
        let jump_projector = match self.kind {
            ImpulseKind::Impact { slip_direction: Some(slip), .. } => {
                along_normal + slip * slip.transpose()
            }
            ImpulseKind::Release { .. } => along_normal,
            _ if self.contact.coulomb_bound > 0.0 => Matrix3::identity(),
            _ => along_normal,
        };
        VelocityJump {
            contact: self.contact,
            effective_inverse_mass: self.effective_inverse_mass,
            jump_projector,
        }
    }
}
