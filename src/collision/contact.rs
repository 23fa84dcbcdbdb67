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
//! **Friction** is Coulomb's with stiction, after Baraff and Witkin 1998, section 5.4, and Etzmuss 2002,
//! section 4.4: what holds is an anchor that the contact may leave elastically, as stiff as the normal force, until
//! friction is used up; pulled farther, the anchor comes along against just that force. What friction can take
//! up displaces the contact once, by micrometres, and nothing creeps. Corrections take a contact to hold until its anchor
//! would give way, and to slide until it would turn back; so they do not swing to and fro across the
//! edge between both.

use super::pair::{Pair, Touch};
use crate::Vec3;
use nalgebra::Matrix3;

/// Pressure at full compression but for the hardening, in Pa.
const PRESSURE: f64 = 1.0e3;
/// H of the law.
const HARDENING: f64 = 20.0;
/// Friction grows by no more than this factor from one correction to the next, unless it is light: that of a
/// force at this compression.
const GROWTH: f64 = 4.0;
const LIGHT: f64 = 0.02;
/// Each rescue multiplies the stiffness by this.
const RESCUE: f64 = 8.0;

/// A contact at the shape where it was last looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    pub(crate) pair: Pair,
    pub(crate) touch: Touch,
    /// Distance that is kept, in m; less than the thickness while a pair that began nearer is moved apart.
    pub(crate) wanted: f64,
    /// Thickness of both sides, in m.
    pub(crate) thickness: f64,
    /// Slope of the normal force at no compression, in N/m.
    pub(crate) stiffness: f64,
    /// Coulomb coefficient of both surfaces.
    pub(crate) friction: f64,
    /// Normal force where it was last looked at, in N.
    pub(crate) force: f64,
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

/// Stiffness in N/m of a contact of `area` in m².
pub(crate) fn stiffness(area: f64, thickness: f64, rescues: u8) -> f64 {
    PRESSURE * area / thickness * RESCUE.powi(i32::from(rescues))
}

impl Contact {
    /// Σ weight · position, in m.
    pub(crate) fn between(&self, positions: &[Vec3]) -> Vec3 {
        let parts = self.pair.vertices.iter().zip(&self.touch.weights);
        parts.map(|(vertex, weight)| positions[*vertex as usize] * *weight).sum()
    }

    /// Normal force in N, its slope in N/m and its potential in J at a gap in m.
    pub(crate) fn normal_force(&self, gap: f64) -> (f64, f64, f64) {
        let compression = (self.wanted - gap) / self.thickness;
        if compression <= 0.0 {
            return (0.0, 0.0, 0.0);
        }
        let inside = compression.min(1.0);
        let beyond = compression - inside;
        let square = inside * inside;
        let slope = 1.0 + 3.0 * HARDENING * square;
        let force = inside + HARDENING * inside * square;
        let potential = square * (0.5 + 0.25 * HARDENING * square);
        let scale = self.stiffness * self.thickness;
        (
            scale * (force + slope * beyond),
            self.stiffness * slope,
            scale * self.thickness * (potential + beyond * (force + 0.5 * slope * beyond)),
        )
    }

    /// Way from the anchor along the surface, with the sides `between` apart, before the anchor gives way.
    pub(crate) fn reach(&self, between: &Vec3) -> Vec3 {
        let way = self.shear + between - self.origin;
        way - self.touch.normal * way.dot(&self.touch.normal)
    }

    /// Farthest way from the anchor, in m.
    pub(crate) fn slip_length(&self) -> f64 {
        self.limit / self.stiffness
    }

    /// Force, stiffness and potential with the sides `between` apart.
    pub(crate) fn reaction(&self, between: &Vec3) -> Reaction {
        let normal = self.touch.normal;
        let (force, slope, potential) = self.normal_force(between.dot(&normal));
        let mut reaction = Reaction {
            force: normal * force,
            stiffness: normal * normal.transpose() * slope,
            potential,
        };
        if self.limit > 0.0 {
            self.add_friction(&self.reach(between), &mut reaction);
        }
        reaction
    }

    /// Takes the normal force of the shape with the sides `between` apart, and decides whether the contact slides
    /// there: not while it stays within reach of its anchor, nor when it comes back from where it slid.
    pub(crate) fn press(&mut self, between: &Vec3) {
        self.force = self.normal_force(between.dot(&self.touch.normal)).0;
        // A force that is far from settled would make friction that is, too.
        let most =
            (GROWTH * self.limit).max(self.friction * LIGHT * self.stiffness * self.thickness);
        self.limit = (self.friction * self.force).min(most);
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
