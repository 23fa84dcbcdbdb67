// SPDX-License-Identifier: MIT OR Apache-2.0
//! One vertex in contact: the planes it is held by, and its friction.
//!
//! Coulomb's law with stiction, after Baraff and Witkin 1998, section 5.4: hold the vertex where it touches, watch
//! the force, let it slide when that exceeds friction times the normal force. What holds it is an anchor in the surface
//! that it may leave by no more than a slip length; pulled farther, the anchor comes along, against just
//! that force. So nothing creeps: a force that friction can take up displaces the vertex once, by less than the slip
//! length. And whole patches can begin to slide within one solution of the equations, which locks that are opened
//! one by one cannot. A contact ends when its force would pull.

use super::plane::Planes;
use crate::Vec3;
use nalgebra::Matrix3;

/// A vertex in contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    pub(crate) vertex: u32,
    pub(crate) planes: Planes,
    /// Way from the anchor to the vertex when the step began, in m.
    pub(crate) shear: Vec3,
    /// Normal force when it was last looked at, in N.
    pub(crate) force: f64,
    /// Largest friction, in N.
    pub(crate) limit: f64,
    /// What may be lacking to the thickness at the end of the step, in m.
    pub(crate) allowance: f64,
    /// How often a plane has been replaced by that of a neighbouring face in this step.
    pub(crate) replacements: u8,
    /// Whether it was in contact before this step.
    pub(crate) is_old: bool,
}

/// The largest friction has settled when it changes by less than this part of itself.
const SETTLED_FRICTION: f64 = 0.05;
/// Directions that make an angle with less than this sine to the others add nothing.
const INDEPENDENT: f64 = 0.1;

/// Friction on a vertex.
pub(crate) struct Friction {
    /// In N.
    pub(crate) force: Vec3,
    /// Force per way, in N/m: symmetric and positive semidefinite.
    pub(crate) stiffness: Matrix3<f64>,
    /// Whose negative gradient the force is, in J.
    pub(crate) potential: f64,
}

/// The push of the planes on a vertex.
pub(crate) struct Push {
    /// Multipliers of the planes, in N.
    pub(crate) multipliers: [f64; 3],
    /// Sum of the normal forces, in N.
    pub(crate) normal: Vec3,
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

    /// The displacement that puts a vertex at `position` onto its planes.
    pub(crate) fn prescribed(&self, position: &Vec3) -> Vec3 {
        let missing = self
            .planes
            .iter()
            .map(|plane| (plane.normal, plane.thickness - self.allowance - plane.gap(position)));
        self.basis().displacement(missing)
    }

    /// Projector onto the directions in which the vertex is free.
    pub(crate) fn projector(&self) -> Matrix3<f64> {
        self.basis().projector()
    }

    /// The pushes of the planes in the force that holds the vertex, in N.
    pub(crate) fn push(&self, holding: &Vec3) -> Push {
        let basis = self.basis();
        let normal = holding - basis.projector() * holding;
        let mut multipliers = [0.0; 3];
        let mut rest = normal;
        let normals: Vec<Vec3> = self.planes.iter().map(|plane| plane.normal).collect();
        for (slot, n) in normals.iter().enumerate().rev() {
            if let Some(q) = basis.directions[slot] {
                multipliers[slot] = rest.dot(&q) / n.dot(&q);
                rest -= n * multipliers[slot];
            }
        }
        Push { multipliers, normal }
    }

    /// Takes the largest friction from the push, and from the `impulse` in N that an impact adds to it. Says whether it has changed by more than `slack` in N and by
    /// more than a little of itself.
    pub(crate) fn press(
        &mut self,
        push: &Push,
        impulse: f64,
        coefficient: f64,
        slack: f64,
    ) -> bool {
        self.force = (push.normal.norm() + impulse).max(0.0);
        let before = std::mem::replace(&mut self.limit, coefficient * self.force);
        (self.limit - before).abs() > slack + SETTLED_FRICTION * self.limit
    }

    /// Lets go of the planes that pull the vertex by more than `slack` in N. Says whether there are any.
    pub(crate) fn let_go(&mut self, push: &Push, slack: f64) -> bool {
        let mut forces = push.multipliers.iter();
        let count = self.planes.iter().count();
        self.planes.retain(|_| forces.next().is_some_and(|force| *force >= -slack));
        self.planes.iter().count() < count
    }

    /// Way from the anchor to a vertex that has come from `start` to `position`, in m: along the surface, and
    /// before the anchor gives way.
    pub(crate) fn reach(&self, position: &Vec3, start: &Vec3) -> Vec3 {
        let motion = self.planes.first().map_or_else(Vec3::zeros, |plane| plane.motion);
        self.projector() * (self.shear + position - start - motion)
    }

    /// Friction at a `reach` from the anchor; `None` where there is none.
    pub(crate) fn friction(&self, reach: &Vec3, slip_length: f64) -> Option<Friction> {
        if self.limit == 0.0 {
            return None;
        }
        let way = reach.norm();
        let secant = self.limit / way.max(slip_length);
        let potential = if way < slip_length {
            0.5 * secant * way * way
        } else {
            self.limit * (way - 0.5 * slip_length)
        };
        Some(Friction { force: reach * -secant, stiffness: self.projector() * secant, potential })
    }
}
