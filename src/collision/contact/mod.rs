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

use super::primitive_pair::{Pair, Touch};
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
    pub(crate) pair: Pair,
    pub(crate) touch: Touch,
    /// Distances that are kept by the law and as a constraint, in m.
    distances: [f64; 2],
    /// Force that it goes on pressing with, in N.
    load: f64,
    /// Thickness of both sides, in m.
    pub(crate) thickness: f64,
    /// Slope of the normal force at no compression, in N/m.
    pub(crate) stiffness: f64,
    /// Coulomb coefficient of both surfaces.
    pub(crate) friction: f64,
    /// Whether it is met as a constraint, and not by the law.
    is_constraint: bool,
    /// Normal force that corrections have come to, in N; negative where a constraint pulls.
    force: f64,
    /// Compression at which the law gives this force, and its slope there in N/m; none and [`RELEASE`] of a constraint.
    compression: f64,
    slope: f64,
    /// Largest friction, in N.
    pub(crate) limit: f64,
    /// The direction in which it slides; zero where it holds.
    pub(crate) sliding: Vec3,
    /// Way from the anchor when the step began, in m.
    pub(crate) shear: Vec3,
    /// Σ weight · position when the step began, in m.
    pub(crate) origin: Vec3,
    /// Whether the pair did not touch in the last step.
    pub(crate) is_new: bool,
}

/// Force and stiffness between the sides of a contact.
pub(crate) struct Reaction {
    /// On the first feature, in N.
    pub(crate) force: Vec3,
    /// Symmetric, positive semidefinite, in N/m.
    pub(crate) stiffness: Matrix3<f64>,
    /// In J.
    pub(crate) potential: f64,
}

/// Compression σ at which the law gives a force, in terms of stiffness · thickness.
fn compression(force: f64) -> f64 {
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
    pub(crate) fn new(pair: Pair, touch: Touch, thickness: f64, area: f64) -> Self {
        let stiffness =
            PRESSURE * area / thickness * RESCUE.powi(i32::from(pair.rescues) - 1).max(1.0);
        Self {
            pair,
            touch,
            distances: [thickness; 2],
            load: 0.0,
            thickness,
            stiffness,
            friction: 0.0,
            is_constraint: false,
            force: 0.0,
            compression: 0.0,
            slope: stiffness,
            limit: 0.0,
            sliding: Vec3::zeros(),
            shear: Vec3::zeros(),
            origin: Vec3::zeros(),
            is_new: false,
        }
    }

    /// Moves sides that began nearer than their thickness apart by a way in m. By the law what has pressed with a `load` in N
    /// goes on doing so where it has come to: else it would sink in as far again with every step.
    pub(crate) fn part(&mut self, way: f64, load: f64) {
        let held = self.thickness * self.compression_at(load);
        self.distances =
            [way.max(held), way].map(|further| self.thickness.min(self.pair.start + further));
        self.load = if held > way { load } else { 0.0 };
    }

    /// Force in N with which it goes on pressing where it has come to; 0 where it is only moved apart.
    pub(crate) fn load(&self) -> f64 {
        if self.is_constraint { 0.0 } else { self.load }
    }

    /// Keeps a distance in m.
    pub(crate) fn keep(&mut self, distance: f64) {
        self.distances = [distance; 2];
    }

    /// Distance that is kept, in m; less than the thickness while a pair that began nearer is moved apart.
    pub(crate) fn wanted(&self) -> f64 {
        self.distances[usize::from(self.is_constraint)]
    }

    /// Whether its sides began nearer than their thickness, and are moved apart.
    pub(crate) fn is_parting(&self) -> bool {
        self.wanted() < self.thickness
    }

    /// Compression σ at which the law gives a force in N.
    fn compression_at(&self, force: f64) -> f64 {
        compression(force / (self.stiffness * self.thickness))
    }

    /// Σ weight · position, in m.
    pub(crate) fn between(&self, positions: &[Vec3]) -> Vec3 {
        let parts = self.pair.vertices.iter().zip(&self.touch.weights);
        parts.map(|(vertex, weight)| positions[*vertex as usize] * *weight).sum()
    }

    /// Takes a normal force in N to be the one that corrections have come to.
    pub(crate) fn carry(&mut self, force: f64) {
        self.force = force;
        if self.is_constraint {
            self.compression = 0.0;
            self.slope = RELEASE * self.stiffness;
            return;
        }
        self.compression = self.compression_at(force);
        let inside = self.compression.min(1.0);
        self.slope = self.stiffness * (1.0 + 3.0 * HARDENING * inside * inside);
        self.limit = self.friction * force;
    }

    /// Meets the contact as a constraint or by the law from now on, with a normal force in N.
    pub(crate) fn meet(&mut self, is_constraint: bool, force: f64) {
        self.is_constraint = is_constraint;
        self.carry(if is_constraint { force } else { force.max(0.0) });
        self.limit = self.friction * self.force.max(0.0);
    }

    pub(crate) fn is_constraint(&self) -> bool {
        self.is_constraint
    }

    /// Takes the force at a compression from 0 to 1.
    pub(crate) fn compress(&mut self, compression: f64) {
        let scale = self.stiffness * self.thickness;
        self.carry(scale * compression * (1.0 + HARDENING * compression * compression));
    }

    /// Normal force that corrections have come to, in N.
    pub(crate) fn force(&self) -> f64 {
        self.force
    }

    /// Normal force in N at a gap in m: along the tangent of the law at the force that corrections have come to.
    pub(crate) fn normal_force(&self, gap: f64) -> f64 {
        self.tangent_force(gap).max(0.0)
    }

    /// The same, negative where the contact is open.
    fn tangent_force(&self, gap: f64) -> f64 {
        let lacking = self.wanted() - gap - self.compression * self.thickness;
        self.force + self.slope * lacking
    }

    /// Way from the anchor along the surface, with the sides `between` apart, before the anchor gives way.
    pub(crate) fn reach(&self, between: &Vec3) -> Vec3 {
        let way = self.shear + between - self.origin;
        way - self.touch.normal * way.dot(&self.touch.normal)
    }

    /// Largest elastic tangential displacement in m, at which friction reaches the Coulomb bound.
    pub(crate) fn slip_length(&self) -> f64 {
        self.slip_length_at(self.limit)
    }

    /// The elastic tangential displacement in m at which friction reaches a Coulomb bound in N.
    fn slip_length_at(&self, limit: f64) -> f64 {
        limit / self.stiffness
    }

    /// Direction in which the contact slips with the sides `between` apart under a normal force in N; `None` where it
    /// sticks.
    pub(crate) fn slip(&self, between: &Vec3, force: f64) -> Option<Vec3> {
        let (reach, slip_length) =
            (self.reach(between), self.slip_length_at(self.friction * force));
        let slips = slip_length > 0.0 && reach.norm() > slip_length;
        reach.try_normalize(f64::MIN_POSITIVE).filter(|_| slips)
    }

    /// How far a constraint that presses has to be lifted along its normal, in m, with the sides `between` apart.
    pub(crate) fn lift(&self, between: &Vec3) -> Option<f64> {
        let gap = between.dot(&self.touch.normal);
        (self.is_constraint && self.normal_force(gap) > 0.0).then_some(self.wanted() - gap)
    }

    /// Force, stiffness and potential with the sides `between` apart; without the stiffness of a constraint, which
    /// has none.
    pub(crate) fn reaction(&self, between: &Vec3) -> Reaction {
        let normal = self.touch.normal;
        let pressing = self.tangent_force(between.dot(&normal));
        let force = pressing.max(0.0);
        let is_near = pressing > -BARELY_OPEN * self.slope * self.thickness;
        let slope = if is_near && !self.is_constraint { self.slope } else { 0.0 };
        let mut reaction = Reaction {
            force: normal * force,
            stiffness: normal * normal.transpose() * slope,
            potential: 0.5 * force * force / self.slope,
        };
        if self.limit > 0.0 {
            self.add_friction(&self.reach(between), &mut reaction);
        }
        reaction
    }

    /// Takes the normal force of the shape with the sides `between` apart, but of a constraint, which keeps its own, and
    /// decides whether the contact slides there: not while it stays within reach of its anchor, nor when it comes back
    /// from where it slid.
    pub(crate) fn press(&mut self, between: &Vec3) {
        if self.is_constraint {
            self.limit = self.friction * self.force.max(0.0);
        } else {
            self.carry(self.normal_force(between.dot(&self.touch.normal)));
        }
        let reach = self.reach(between);
        let way = reach.norm();
        let slides = way > self.slip_length() && reach.dot(&self.sliding) >= 0.0;
        self.sliding = if slides { reach / way } else { Vec3::zeros() };
    }

    fn add_friction(&self, reach: &Vec3, reaction: &mut Reaction) {
        let (way, slip_length) = (reach.norm(), self.slip_length());
        let tangent = Matrix3::identity() - self.touch.normal * self.touch.normal.transpose();
        let holds = self.sliding == Vec3::zeros();
        if holds || way < slip_length {
            reaction.force -= reach * self.stiffness;
            reaction.stiffness += tangent * self.stiffness;
            reaction.potential += 0.5 * self.stiffness * way * way;
        } else {
            let direction = reach / way;
            reaction.force -= direction * self.limit;
            // Along the way friction stays the same however far it goes.
            reaction.stiffness +=
                (tangent - direction * direction.transpose()) * (self.limit / way);
            reaction.potential += self.limit * (way - 0.5 * slip_length);
        }
    }
}
