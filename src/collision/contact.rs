// SPDX-License-Identifier: MIT OR Apache-2.0
//! One vertex in contact: what it is held by, and whether it grips or slides.
//!
//! Baraff and Witkin 1998, section 5.4: a vertex is locked to the surface; the force that holds it is watched,
//! and when its tangential part exceeds friction times its normal part the vertex slides, against a force of just
//! that size; when it would slide backwards it is locked again. A contact ends when its force would pull.

use super::plane::Planes;
use crate::Vec3;
use nalgebra::Matrix3;
use serde::{Deserialize, Serialize};

/// How a vertex holds on to the surface below it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Grip {
    /// It moves with the surface.
    Stick,
    /// It slides the way of this unit vector, relative to the surface.
    Slide(Vec3),
}

/// A vertex in contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    pub(crate) vertex: u32,
    pub(crate) planes: Planes,
    pub(crate) grip: Grip,
    /// Normal force when it was last looked at, in N.
    pub(crate) force: f64,
    /// Sliding friction on the vertex, in N.
    pub(crate) friction: Vec3,
    /// What may be lacking to the thickness at the end of the step, in m.
    pub(crate) allowance: f64,
    /// How often a plane has been replaced by that of a neighbouring face in this step.
    pub(crate) replacements: u8,
    /// Whether it was in contact before this step.
    pub(crate) is_old: bool,
}

/// Directions that make an angle with less than this sine to the others add nothing.
const INDEPENDENT: f64 = 0.1;

/// The push of the planes on a vertex.
pub(crate) struct Push {
    /// Multipliers of the planes, in N.
    pub(crate) multipliers: [f64; 3],
    /// Sum of the normal forces, in N.
    pub(crate) normal: Vec3,
    /// What is left of the force that holds the vertex, in N.
    pub(crate) tangential: Vec3,
}

/// Orthonormal directions spanned by up to three normals, in order.
pub(crate) struct Basis {
    directions: [Option<Vec3>; 3],
}

impl Basis {
    pub(crate) fn new(normals: impl Iterator<Item = Vec3>) -> Self {
        let mut directions = [None; 3];
        for (slot, normal) in normals.take(3).enumerate() {
            let known = directions[..slot].iter().flatten();
            let rest = known.fold(normal, |rest, q: &Vec3| rest - q * rest.dot(q));
            directions[slot] = rest.try_normalize(INDEPENDENT);
        }
        Self { directions }
    }

    /// Projector onto what the directions leave free.
    pub(crate) fn projector(&self) -> Matrix3<f64> {
        let spanned = self.directions.iter().flatten();
        spanned.fold(Matrix3::identity(), |left, q| left - q * q.transpose())
    }

    /// The shortest displacement with the given components along the normals the basis was made of.
    pub(crate) fn displacement(&self, components: impl Iterator<Item = (Vec3, f64)>) -> Vec3 {
        let mut sum = Vec3::zeros();
        for (q, (normal, component)) in self.directions.iter().zip(components) {
            if let Some(q) = q {
                sum += q * ((component - normal.dot(&sum)) / normal.dot(q));
            }
        }
        sum
    }
}

impl Contact {
    fn basis(&self) -> Basis {
        Basis::new(self.planes.iter().map(|plane| plane.normal))
    }

    /// The displacement that puts a vertex at `position` onto its planes, and in grip back to where the
    /// surface has taken it from `start`.
    pub(crate) fn prescribed(&self, position: &Vec3, start: &Vec3) -> Vec3 {
        let basis = self.basis();
        let missing = self
            .planes
            .iter()
            .map(|plane| (plane.normal, plane.thickness - self.allowance - plane.gap(position)));
        let out = basis.displacement(missing);
        match (self.grip, self.planes.first()) {
            (Grip::Stick, Some(plane)) => {
                out + basis.projector() * (start + plane.motion - position)
            }
            _ => out,
        }
    }

    /// Projector onto the directions in which the vertex is free.
    pub(crate) fn projector(&self) -> Matrix3<f64> {
        match self.grip {
            Grip::Stick => Matrix3::zeros(),
            Grip::Slide(_) => self.basis().projector(),
        }
    }

    /// Splits the force that holds the vertex, in N, into the pushes of its planes and the rest.
    pub(crate) fn push(&self, holding: &Vec3) -> Push {
        let basis = self.basis();
        let tangential = basis.projector() * holding;
        let normal = holding - tangential;
        let mut multipliers = [0.0; 3];
        let mut rest = normal;
        let normals: Vec<Vec3> = self.planes.iter().map(|plane| plane.normal).collect();
        for (slot, n) in normals.iter().enumerate().rev() {
            if let Some(q) = basis.directions[slot] {
                multipliers[slot] = rest.dot(&q) / n.dot(&q);
                rest -= n * multipliers[slot];
            }
        }
        Push { multipliers, normal, tangential }
    }

    /// Decides between grip and slide from the force that holds the vertex and from its way relative to
    /// the surface. A force in excess by less than `slack` in N is let be. Says whether it has changed
    /// from one to the other.
    pub(crate) fn decide_grip(
        &mut self,
        push: &Push,
        slip: &Vec3,
        (coefficient, slack): (f64, f64),
    ) -> bool {
        let limit = coefficient * push.normal.norm() + slack;
        match self.grip {
            Grip::Stick if push.tangential.norm() > limit => {
                // Sliding sets in against the force that held the vertex.
                let direction = push.tangential.try_normalize(f64::MIN_POSITIVE);
                self.grip = direction.map_or(Grip::Stick, |direction| Grip::Slide(-direction));
                direction.is_some()
            }
            Grip::Slide(direction) if coefficient > 0.0 && slip.dot(&direction) < 0.0 => {
                self.grip = Grip::Stick;
                true
            }
            Grip::Slide(_) => {
                if let Some(direction) = slip.try_normalize(f64::MIN_POSITIVE) {
                    self.grip = Grip::Slide(direction);
                }
                false
            }
            Grip::Stick => false,
        }
    }

    /// Takes the sliding friction from the normal force.
    pub(crate) fn rub(&mut self, coefficient: f64) {
        self.friction = match self.grip {
            Grip::Stick => Vec3::zeros(),
            Grip::Slide(direction) => direction * (-coefficient * self.force),
        };
    }

    /// How the vertex holds on when it first touches: as an inelastic impact of this relative velocity
    /// would leave it, gripping where friction can take up the tangential part.
    pub(crate) fn first_grip(normal: &Vec3, velocity: &Vec3, coefficient: f64) -> Grip {
        let approach = -velocity.dot(normal);
        let tangential = velocity + normal * approach;
        if tangential.norm() <= coefficient * approach.max(0.0) {
            return Grip::Stick;
        }
        tangential.try_normalize(f64::MIN_POSITIVE).map_or(Grip::Stick, Grip::Slide)
    }
}
