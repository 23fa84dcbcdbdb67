// SPDX-License-Identifier: MIT OR Apache-2.0
//! What impacts make of the velocities at the end of a step.
//!
//! A time scheme of second order reads velocities from the positions of several steps. Across an impact that
//! is wrong: the forces that stop a vertex where it should be leave it with up to half its speed, in one direction
//! or the other. Cloth does not rebound, so the impulse is added that ends the relative motion along
//! the normal, and with it the friction that the impulse brings: friction of the whole impulse is then
//! that of the whole change of velocity. The past of the vertices ends along these directions.
//!
//! What is squeezed goes on pressing as it does, step after step. Once what has squeezed it lets go, it would fly away like
//! from a spring; cloth does not, so the impulse is taken back that makes it part faster than what began too near.
//!
//! What draws the edges of crossings apart moves them, and is to leave them no speed: where it does, this ends as well.

use super::{CollisionResponse, PARTING_TIME};
use crate::{Vec3, collision::Contact, geometry::OrthonormalBasis};
use nalgebra::Matrix3;
use std::collections::BTreeMap;

/// A vertex whose velocity has jumped.
pub(crate) struct VelocityJump {
    pub(crate) vertex: usize,
    /// Projector onto the directions along which it has not.
    pub(crate) continuity_projector: Matrix3<f64>,
}

/// Rounds over all impacts; those that share vertices need some.
const ROUNDS: usize = 8;
/// A vertex that takes a smaller part in an impact keeps its past.
const SMALLEST_PART: f64 = 0.05;

/// Of the relative motion of parts with these weights and inverse masses, in 1/kg: as the impulse that ends it has to
/// move them, but never so small that any of them would change its velocity by more than the relative one. Where most of
/// a face is held, a corner with next to no part in the impact would fly away to end it.
pub(crate) fn effective_inverse_mass(parts: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (together, largest) = parts.fold((0.0, 0.0_f64), |(sum, largest), (weight, inverse)| {
        (sum + weight * weight * inverse, largest.max(weight.abs() * inverse))
    });
    largest.max(together)
}

impl CollisionResponse {
    /// Ends the impacts of a step at `positions`: changes `velocities` in m/s, and gives the vertices whose
    /// velocity has jumped, in order. `inverse_masses` in 1/kg are 0 for vertices that are held.
    pub(crate) fn apply_impact_impulses(
        &self,
        positions: &[Vec3],
        velocities: &mut [Vec3],
        inverse_masses: impl Fn(usize) -> f64,
    ) -> Vec<VelocityJump> {
        let contacts = self.contacts().iter();
        let mut impacts: Vec<ContactImpulse<'_>> = contacts
            .filter_map(|contact| self.impact_impulse(contact, positions, &inverse_masses))
            .collect();
        let pulls = self.recovery_contacts().iter();
        impacts.extend(pulls.filter_map(|pull| self.recovery_impulse(pull, &inverse_masses)));
        let contacts = self.contacts().iter();
        impacts
            .extend(contacts.filter_map(|contact| self.release_impulse(contact, &inverse_masses)));
        for _ in 0..ROUNDS {
            for impact in &mut impacts {
                self.apply_impulse(impact, velocities, &inverse_masses);
            }
        }
        impacts.retain(ContactImpulse::has_changed_velocities);
        self.velocity_jumps(&impacts)
    }

    /// The impact of a contact that presses and did not before.
    fn impact_impulse<'a>(
        &self,
        contact: &'a Contact,
        positions: &[Vec3],
        inverse_masses: impl Fn(usize) -> f64,
    ) -> Option<ContactImpulse<'a>> {
        let between = self.relative_position(contact, positions);
        let force = contact.normal_force_at(between.dot(&contact.linearised.normal));
        let inverse_mass = self.effective_inverse_mass(contact, inverse_masses);
        let is_impact = contact.is_new && force > 0.0 && inverse_mass > 0.0;
        is_impact.then(|| ContactImpulse {
            contact,
            effective_inverse_mass: inverse_mass,
            kind: ImpulseKind::Impact {
                slip_direction: contact.slip(&between, force),
                normal_impulse: force * self.duration(),
            },
        })
    }

    /// What a contact that goes on pressing gives to sides that it has thrown apart.
    fn release_impulse<'a>(
        &self,
        contact: &'a Contact,
        inverse_masses: impl Fn(usize) -> f64,
    ) -> Option<ContactImpulse<'a>> {
        let most = contact.preload() * self.duration();
        if most == 0.0 {
            return None;
        }
        let inverse_mass = self.effective_inverse_mass(contact, inverse_masses);
        let motion = ImpulseKind::Release { left: most, most };
        (inverse_mass > 0.0).then_some(ContactImpulse {
            contact,
            effective_inverse_mass: inverse_mass,
            kind: motion,
        })
    }

    /// The end of the motion by which an edge of a crossing is drawn.
    fn recovery_impulse<'a>(
        &self,
        contact: &'a Contact,
        inverse_masses: impl Fn(usize) -> f64,
    ) -> Option<ContactImpulse<'a>> {
        let inverse_mass = self.effective_inverse_mass(contact, inverse_masses);
        (inverse_mass > 0.0).then_some(ContactImpulse {
            contact,
            effective_inverse_mass: inverse_mass,
            kind: ImpulseKind::Recovery,
        })
    }

    /// Of the relative motion at a contact, in 1/kg: see [`inverse_mass`].
    fn effective_inverse_mass(
        &self,
        contact: &Contact,
        inverse_masses: impl Fn(usize) -> f64,
    ) -> f64 {
        let parts = contact.pair.vertices.iter().zip(&contact.linearised.weights);
        let cloth = parts.filter(|(vertex, _)| self.is_cloth(**vertex));
        effective_inverse_mass(
            cloth.map(|(vertex, weight)| (*weight, inverse_masses(*vertex as usize))),
        )
    }

    fn apply_impulse(
        &self,
        impact: &mut ContactImpulse<'_>,
        velocities: &mut [Vec3],
        inverse_masses: impl Fn(usize) -> f64,
    ) {
        let ContactImpulse { contact, effective_inverse_mass: inverse_mass, kind: motion } = impact;
        let relative = self.relative_velocity(contact, velocities);
        let normal = contact.linearised.normal;
        let along = relative.dot(&normal);
        let impulse = match motion {
            ImpulseKind::Recovery if along <= 0.0 => return,
            ImpulseKind::Release { left, .. } => {
                let thrown = (along - contact.thickness / PARTING_TIME) / *inverse_mass;
                let taken = thrown.clamp(0.0, *left);
                *left -= taken;
                normal * -taken
            }
            ImpulseKind::Impact { slip_direction: Some(slip), normal_impulse: given } => {
                let pressed = (-along / *inverse_mass).max(-*given);
                *given += pressed;
                let most = relative.dot(slip).max(0.0) / *inverse_mass;
                normal * pressed - *slip * (contact.friction * pressed).min(most)
            }
            // It sticks.
            _ if contact.coulomb_bound > 0.0 => -relative / *inverse_mass,
            _ => normal * (-along / *inverse_mass),
        };
        for (vertex, weight) in contact.pair.vertices.iter().zip(&contact.linearised.weights) {
            if self.is_cloth(*vertex) {
                let index = *vertex as usize;
                velocities[index] += impulse * (*weight * inverse_masses(index));
            }
        }
    }

    fn relative_velocity(&self, contact: &Contact, velocities: &[Vec3]) -> Vec3 {
        let parts = contact.pair.vertices.iter().zip(&contact.linearised.weights);
        parts
            .map(|(vertex, weight)| {
                let velocity = velocities.get(*vertex as usize);
                velocity.copied().unwrap_or_else(|| self.collider_velocity(*vertex)) * *weight
            })
            .sum()
    }

    fn velocity_jumps(&self, impacts: &[ContactImpulse<'_>]) -> Vec<VelocityJump> {
        let mut directions: BTreeMap<usize, Vec<Vec3>> = BTreeMap::new();
        for impact in impacts {
            let contact = impact.contact;
            for (vertex, weight) in contact.pair.vertices.iter().zip(&contact.linearised.weights) {
                if self.is_cloth(*vertex) && weight.abs() > SMALLEST_PART {
                    let known = directions.entry(*vertex as usize).or_default();
                    known.push(contact.linearised.normal);
                    known.extend(impact.tangential_jump_directions());
                }
            }
        }
        let free = |directions: Vec<Vec3>| {
            OrthonormalBasis::from_spanning_set(directions.into_iter()).complement_projector()
        };
        directions
            .into_iter()
            .map(|(vertex, d)| VelocityJump { vertex, continuity_projector: free(d) })
            .collect()
    }
}

/// A contact that has just begun.
struct ContactImpulse<'a> {
    contact: &'a Contact,
    /// Of the relative motion, in 1/kg.
    effective_inverse_mass: f64,
    kind: ImpulseKind,
}

/// What it ends.
enum ImpulseKind {
    /// That of what has landed; the direction in which the first side slides over the second, `None` where it sticks, and
    /// the impulse along the normal that it has been given in all, in N s, or more: for that the force at the end is taken for
    /// the whole step. No more is taken back: the friction that goes with it drives what slides, and where two contacts share
    /// vertices each would undo the other's more and more.
    Impact { slip_direction: Option<Vec3>, normal_impulse: f64 },
    /// That of an edge of a crossing that has been drawn.
    Recovery,
    /// That of sides that have let go of each other, by no larger an impulse than they may have been given; what is left of
    /// that, and all of it, in N s.
    Release { left: f64, most: f64 },
}

impl ContactImpulse<'_> {
    /// Whether it has changed any velocity.
    fn has_changed_velocities(&self) -> bool {
        !matches!(self.kind, ImpulseKind::Release { left, most } if left >= most)
    }

    /// The directions across the normal along which velocities jump.
    fn tangential_jump_directions(&self) -> Vec<Vec3> {
        match self.kind {
            ImpulseKind::Impact { slip_direction: Some(slip), .. } => vec![slip],
            ImpulseKind::Release { .. } => Vec::new(),
            _ if self.contact.coulomb_bound > 0.0 => {
                let normal = self.contact.linearised.normal;
                let axis = Vec3::ith(normal.iamin(), 1.0);
                let one = normal.cross(&axis).normalize();
                vec![one, normal.cross(&one)]
            }
            _ => Vec::new(),
        }
    }
}
