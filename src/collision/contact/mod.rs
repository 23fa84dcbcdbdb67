// SPDX-License-Identifier: MIT OR Apache-2.0
//! One contact of a pair: what pushes its sides apart, and their friction.
//!
//! **Normal force.** Cloth resists being pressed: fabric testers find a pressure that rises with the
//! compression of its thickness, gently at first and steeply towards the end (1 kPa here is a soft fabric
//! at a tenth, cf. Kawabata's compression test). With the compression σ, the part of the thickness that is lacking,
//!
//! p(σ) = P (σ + H σ³),   σ > 0,
//!
//! over the area of cloth that the contact stands for. It is convex, it is independent of the resolution, and
//! a sheet that lies under its own weight keeps 99.8 % of its distance. Beyond σ = 1, where the sides have met, it goes
//! on linearly so that corrections find back from anywhere in one.
//!
//! A **constraint** takes the place of the law where a particle meets a solid (see `response::constraints`): its distance is
//! exactly the one wanted, and its force is what the equations find for it.
//!
//! **Friction** is Coulomb's with stiction, after Baraff and Witkin 1998, section 5.4, and Etzmuss 2002,
//! section 4.4: what holds is an anchor that the contact may leave elastically, as stiff as the normal force, until
//! friction is used up; pulled farther, the anchor comes along against just that force. What friction can take
//! up displaces the contact once, by micrometres, and nothing creeps. Corrections take a contact to hold until its anchor
//! would give way, and to slide until it would turn back; so they do not swing to and fro across the
//! edge between both.

#[cfg(test)]
mod tests;

use super::primitive_pair::{LinearisedContact, PrimitivePair};
use crate::Vec3;
use nalgebra::Matrix3;

/// Pressure at full compression but for the hardening, in Pa.
const PRESSURE: f64 = 1.0e3;
/// H of the law.
const HARDENING: f64 = 20.0;
/// A constraint presses while its force outweighs its gap times this part of the stiffness. It decides what is released
/// and what is met again, and nothing else; much more, and what has just been released is met again for the rounding
/// of its gap.
const RELEASE: f64 = 0.01;
/// What is open by no more than this part of the thickness, by as much as cloth is compressed by its own weight, is as stiff
/// as what touches. With nothing to hold it there, a correction would lead it deep into what it is about to touch again,
/// the next one out of it, and so on.
const BARELY_OPEN: f64 = 0.002;
/// Each rescue but the first, which makes a contact of what was none, multiplies the stiffness by this.
const RESCUE: f64 = 8.0;

/// A contact at the shape where it was last looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    pub(crate) pair: PrimitivePair,
    pub(crate) linearised: LinearisedContact,
    /// Distances that are kept by the law and as a constraint, in m.
    target_distances: [f64; 2],
    /// Force that it goes on pressing with, in N.
    preload: f64,
    /// Thickness of both sides, in m.
    pub(crate) thickness: f64,
    /// Slope of the normal force at no compression, in N/m.
    pub(crate) stiffness: f64,
    /// Coulomb coefficient of both surfaces.
    pub(crate) friction: f64,
    /// Whether it is met as a constraint, and not by the law.
    is_active_constraint: bool,
    /// Normal force that corrections have come to, in N; negative where a constraint pulls.
    current_normal_force: f64,
    /// Compression at which the law gives this force, and its slope there in N/m; none and [`RELEASE`] of a constraint.
    compression: f64,
    tangent_stiffness: f64,
    /// Largest friction, in N.
    pub(crate) coulomb_bound: f64,
    /// The direction in which it slides; zero where it holds.
    pub(crate) slip_direction: Vec3,
    /// Way from the anchor when the step began, in m.
    pub(crate) initial_tangential_displacement: Vec3,
    /// Σ weight · position when the step began, in m.
    pub(crate) initial_relative_position: Vec3,
    /// Whether the pair did not touch in the last step.
    pub(crate) is_new: bool,
}

/// Force and stiffness between the sides of a contact.
pub(crate) struct ContactForce {
    /// On the first feature, in N.
    pub(crate) force: Vec3,
    /// Symmetric, positive semidefinite, in N/m.
    pub(crate) stiffness: Matrix3<f64>,
    /// In J.
    pub(crate) potential: f64,
}

/// Compression σ at which the law gives a force, in terms of stiffness · thickness.
fn dimensionless_compression(force: f64) -> f64 {
    let most = 1.0 + HARDENING;
    if force >= most {
        return 1.0 + (force - most) / (1.0 + 3.0 * HARDENING);
    }
    // The real root of σ³ + σ/H = f/H.
    let scale = 2.0 / (3.0 * HARDENING).sqrt();
    scale * ((force / HARDENING * 4.0 / scale.powi(3)).asinh() / 3.0).sinh()
}

impl Contact {
    /// A contact on which nothing presses yet, that keeps a thickness in m.
    pub(crate) fn new(
        pair: PrimitivePair,
        linearised: LinearisedContact,
        thickness: f64,
        area: f64,
    ) -> Self {
        let stiffness = PRESSURE * area / thickness
            * RESCUE.powi(i32::from(pair.stiffening_count) - 1).max(1.0);
        Self {
            pair,
            linearised,
            target_distances: [thickness; 2],
            preload: 0.0,
            thickness,
            stiffness,
            friction: 0.0,
            is_active_constraint: false,
            current_normal_force: 0.0,
            compression: 0.0,
            tangent_stiffness: stiffness,
            coulomb_bound: 0.0,
            slip_direction: Vec3::zeros(),
            initial_tangential_displacement: Vec3::zeros(),
            initial_relative_position: Vec3::zeros(),
            is_new: false,
        }
    }

    /// Moves sides that began nearer than their thickness apart by a way in m. By the law what has pressed with a `load` in N
    /// goes on doing so where it has come to: else it would sink in as far again with every step.
    pub(crate) fn recover_gap(&mut self, way: f64, load: f64) {
        let held = self.thickness * self.compression_at_force(load);
        self.target_distances = [way.max(held), way]
            .map(|further| self.thickness.min(self.pair.start_distance + further));
        self.preload = if held > way { load } else { 0.0 };
    }

    /// Force in N with which it goes on pressing where it has come to; 0 where it is only moved apart.
    pub(crate) fn preload(&self) -> f64 {
        if self.is_active_constraint { 0.0 } else { self.preload }
    }

    /// Keeps a distance in m.
    pub(crate) fn set_target_distance(&mut self, distance: f64) {
        self.target_distances = [distance; 2];
    }

    /// Distance that is kept, in m; less than the thickness while a pair that began nearer is moved apart.
    pub(crate) fn target_distance(&self) -> f64 {
        self.target_distances[usize::from(self.is_active_constraint)]
    }

    /// Whether its sides began nearer than their thickness, and are moved apart.
    pub(crate) fn is_recovering_gap(&self) -> bool {
        self.target_distance() < self.thickness
    }

    /// Compression σ at which the law gives a force in N.
    fn compression_at_force(&self, force: f64) -> f64 {
        dimensionless_compression(force / (self.stiffness * self.thickness))
    }

    /// Σ weight · position, in m.
    pub(crate) fn relative_position(&self, positions: &[Vec3]) -> Vec3 {
        let parts = self.pair.vertices.iter().zip(&self.linearised.weights);
        parts.map(|(vertex, weight)| positions[*vertex as usize] * *weight).sum()
    }

    /// Takes a normal force in N to be the one that corrections have come to.
    pub(crate) fn set_normal_force(&mut self, force: f64) {
        self.current_normal_force = force;
        if self.is_active_constraint {
            self.compression = 0.0;
            self.tangent_stiffness = RELEASE * self.stiffness;
            return;
        }
        self.compression = self.compression_at_force(force);
        let inside = self.compression.min(1.0);
        self.tangent_stiffness = self.stiffness * (1.0 + 3.0 * HARDENING * inside * inside);
        self.coulomb_bound = self.friction * force;
    }

    /// Meets the contact as a constraint or by the law from now on, with a normal force in N.
    pub(crate) fn set_active_constraint(&mut self, is_constraint: bool, force: f64) {
        self.is_active_constraint = is_constraint;
        self.set_normal_force(if is_constraint { force } else { force.max(0.0) });
        self.coulomb_bound = self.friction * self.current_normal_force.max(0.0);
    }

    pub(crate) fn is_active_constraint(&self) -> bool {
        self.is_active_constraint
    }

    /// Takes the force at a compression from 0 to 1.
    pub(crate) fn set_compression(&mut self, compression: f64) {
        let scale = self.stiffness * self.thickness;
        self.set_normal_force(scale * compression * (1.0 + HARDENING * compression * compression));
    }

    /// Normal force that corrections have come to, in N.
    pub(crate) fn current_normal_force(&self) -> f64 {
        self.current_normal_force
    }

    /// Normal force in N at a gap in m: along the tangent of the law at the force that corrections have come to.
    pub(crate) fn normal_force_at(&self, gap: f64) -> f64 {
        self.signed_normal_force_at(gap).max(0.0)
    }

    /// The same, negative where the contact is open.
    fn signed_normal_force_at(&self, gap: f64) -> f64 {
        let lacking = self.target_distance() - gap - self.compression * self.thickness;
        self.current_normal_force + self.tangent_stiffness * lacking
    }

    /// Way from the anchor along the surface, with the sides `between` apart, before the anchor gives way.
    pub(crate) fn elastic_tangential_displacement(&self, between: &Vec3) -> Vec3 {
        let way = self.initial_tangential_displacement + between - self.initial_relative_position;
        way - self.linearised.normal * way.dot(&self.linearised.normal)
    }

    /// Largest elastic tangential displacement in m, at which friction reaches the Coulomb bound.
    pub(crate) fn slip_length(&self) -> f64 {
        self.slip_length_at(self.coulomb_bound)
    }

    /// The elastic tangential displacement in m at which friction reaches a Coulomb bound in N.
    fn slip_length_at(&self, limit: f64) -> f64 {
        limit / self.stiffness
    }

    /// Direction in which the contact slips with the sides `between` apart under a normal force in N; `None` where it
    /// sticks.
    pub(crate) fn slip(&self, between: &Vec3, force: f64) -> Option<Vec3> {
        let (reach, slip_length) = (
            self.elastic_tangential_displacement(between),
            self.slip_length_at(self.friction * force),
        );
        let slips = slip_length > 0.0 && reach.norm() > slip_length;
        reach.try_normalize(f64::MIN_POSITIVE).filter(|_| slips)
    }

    /// How far a constraint that presses has to be lifted along its normal, in m, with the sides `between` apart.
    pub(crate) fn constraint_violation(&self, between: &Vec3) -> Option<f64> {
        let gap = between.dot(&self.linearised.normal);
        (self.is_active_constraint && self.normal_force_at(gap) > 0.0)
            .then_some(self.target_distance() - gap)
    }

    /// Force, stiffness and potential with the sides `between` apart; without the stiffness of a constraint, which
    /// has none.
    pub(crate) fn contact_force(&self, between: &Vec3) -> ContactForce {
        let normal = self.linearised.normal;
        let pressing = self.signed_normal_force_at(between.dot(&normal));
        let force = pressing.max(0.0);
        let is_near = pressing > -BARELY_OPEN * self.tangent_stiffness * self.thickness;
        let slope =
            if is_near && !self.is_active_constraint { self.tangent_stiffness } else { 0.0 };
        let mut reaction = ContactForce {
            force: normal * force,
            stiffness: normal * normal.transpose() * slope,
            potential: 0.5 * force * force / self.tangent_stiffness,
        };
        if self.coulomb_bound > 0.0 {
            self.add_friction(&self.elastic_tangential_displacement(between), &mut reaction);
        }
        reaction
    }

    /// Takes the normal force of the shape with the sides `between` apart, but of a constraint, which keeps its own, and
    /// decides whether the contact slides there: not while it stays within reach of its anchor, nor when it comes back
    /// from where it slid.
    pub(crate) fn update_force_and_slip(&mut self, between: &Vec3) {
        if self.is_active_constraint {
            self.coulomb_bound = self.friction * self.current_normal_force.max(0.0);
        } else {
            self.set_normal_force(self.normal_force_at(between.dot(&self.linearised.normal)));
        }
        let reach = self.elastic_tangential_displacement(between);
        let way = reach.norm();
        let slides = way > self.slip_length() && reach.dot(&self.slip_direction) >= 0.0;
        self.slip_direction = if slides { reach / way } else { Vec3::zeros() };
    }

    fn add_friction(&self, reach: &Vec3, reaction: &mut ContactForce) {
        let (way, slip_length) = (reach.norm(), self.slip_length());
        let tangent =
            Matrix3::identity() - self.linearised.normal * self.linearised.normal.transpose();
        let holds = self.slip_direction == Vec3::zeros();
        if holds || way < slip_length {
            reaction.force -= reach * self.stiffness;
            reaction.stiffness += tangent * self.stiffness;
            reaction.potential += 0.5 * self.stiffness * way * way;
        } else {
            let direction = reach / way;
            reaction.force -= direction * self.coulomb_bound;
            // Along the way friction stays the same however far it goes.
            reaction.stiffness +=
                (tangent - direction * direction.transpose()) * (self.coulomb_bound / way);
            reaction.potential += self.coulomb_bound * (way - 0.5 * slip_length);
        }
    }
}
