// SPDX-License-Identifier: MIT OR Apache-2.0
//! The active set: which contacts are met as constraints, and the directions that these and prescribed motion eliminate from
//! the equations of a Newton step. Constraints are contacts of particles with solids, after Etzmuss 2002, section 4.4.
//!
//! The collision direction of a vertex of cloth in the collision area of a solid is the normal of its contact. In every correction
//! its displacement along that direction is the one that leads to the target position, at the distance wanted, and
//! is taken out of the equations by a filter. What is left of them along the direction is the force of the
//! constraint. It is carried to the next correction, and where it pulls, the vertex is released.
//!
//! A vertex has one constraint. What else it meets, it meets by the law of [`Contact`]: other faces of solids, as in a corner,
//! all solids where two of them press on it from opposite sides and no displacement would do, and
//! what would have been crossed even so. Contacts of several particles go by the law as well.
//!
//! **Descent.** With the forces λ that the equations A d = b + λn have found, and the lift c = n·d of a constraint, the slope
//! of Φ + ½ max(0, λ + kc)²/k along d is −dᵀA d − kc² where it presses: a Newton step that meets the
//! constraints goes down, whatever it does to the gaps. (This is the augmented Lagrangian, with the new multipliers.)
//!
//! **When constraints are solved.** A Newton step leaves the gaps of all constraints right, so it would be short even if they
//! all pulled. What pulls therefore counts as the Newton step that its release will take, at least: λ²/a of
//! each alone, with the entry a of the matrix, and of all together with their inertia.

use super::CollisionResponse;
use crate::{
    Vec3,
    collision::{Contact, PairKind},
    linear_solver::{Direction, Filter, Ordering, Prescribed},
    simd::Row3,
};
use nalgebra::Matrix3;

/// A normal of which prescribed motion leaves less than this free is not constrained: nothing moves along it.
const SMALLEST_FREE: f64 = 1.0e-3;

/// An active constraint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constraint {
    /// Place among the contacts.
    contact: usize,
    pub(crate) vertex: usize,
    pub(crate) normal: Vec3,
    /// Displacement along the normal that leads to the distance wanted, in m.
    lift: f64,
}

/// A constraint as an eliminated direction.
#[derive(Clone, Copy, Debug)]
struct Eliminated {
    /// Place of the contact.
    contact: usize,
    /// Component of the normal that prescribed motion leaves free: its length.
    length: f64,
    direction: Direction,
}

/// Vertex with prescribed motion, and the projector onto its free directions.
pub(crate) type Given = (usize, Matrix3<f64>);

/// Directions that are eliminated from the equations of a Newton step.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveSet {
    /// In order of their rows.
    constraints: Vec<Eliminated>,
    /// Projectors of rows, while they are found.
    projectors: Vec<(usize, Matrix3<f64>)>,
    pub(crate) prescribed: Prescribed,
}

/// New multiplier of a constraint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Multiplier {
    pub(crate) row: usize,
    /// Square that the constraint adds to that of the Newton step in the norm of the equations, in J.
    pub(crate) square: f64,
    /// Force by which it pulls, in N.
    pub(crate) pull: Vec3,
}

impl ActiveSet {
    /// Finds the directions with the cloths at `positions`, and sets the filter. Prescribed motion comes in order of its
    /// vertices.
    pub(crate) fn find(
        &mut self,
        given: impl Iterator<Item = Given>,
        (response, positions): (&CollisionResponse, &[Vec3]),
        (ordering, filter): (&Ordering, &mut Filter),
    ) {
        self.constraints.clear();
        self.projectors.clear();
        let mut given = given.peekable();
        for constraint in response.active_constraints(positions) {
            let vertex = constraint.vertex;
            while let Some(before) = given.next_if(|(other, _)| *other < vertex) {
                self.projectors.push((ordering.row(before.0), before.1));
            }
            let own = given.next_if(|(other, _)| *other == vertex);
            let free = own.map_or_else(Matrix3::identity, |(_, projector)| projector);
            self.eliminate(&constraint, &free, ordering.row(vertex));
        }
        self.projectors.extend(given.map(|(vertex, projector)| (ordering.row(vertex), projector)));
        self.constraints.sort_unstable_by_key(|one| one.direction.row);
        self.projectors.sort_unstable_by_key(|(row, _)| *row);
        filter.clear();
        for (row, projector) in &self.projectors {
            filter.constrain(*row, projector);
        }
        self.prescribed.set(self.constraints.iter().map(|one| one.direction));
    }

    /// Eliminates the component of a normal that a projector leaves free.
    fn eliminate(&mut self, constraint: &Constraint, free: &Matrix3<f64>, row: usize) {
        let Constraint { contact, normal, lift, .. } = *constraint;
        let along = free * normal;
        let length = along.norm();
        if length < SMALLEST_FREE {
            self.projectors.push((row, *free));
            return;
        }
        let unit = along / length;
        self.projectors.push((row, free - unit * unit.transpose()));
        let direction = Direction { row, unit, displacement: lift / length };
        self.constraints.push(Eliminated { contact, length, direction });
    }

    /// Gives constraints the forces that a `solution` has found. Returns their multipliers, in order of their rows, and the
    /// change of the potential's slope by them, in J.
    pub(crate) fn balance(
        &self,
        solution: &[Row3],
        response: &mut CollisionResponse,
    ) -> (Vec<Multiplier>, f64) {
        let pressing = |response: &CollisionResponse, one: &Eliminated| {
            let contact = &response.contacts()[one.contact];
            contact.normal_force_at(
                contact.target_distance() - one.direction.displacement * one.length,
            )
        };
        let mut gained = 0.0;
        let mut forces = Vec::with_capacity(self.constraints.len());
        let mut multipliers = Vec::with_capacity(self.constraints.len());
        let found = self.prescribed.forces(solution);
        for (one, (direction, stiffness, more)) in self.constraints.iter().zip(found) {
            let Direction { row, unit, displacement } = *direction;
            let old = pressing(response, one);
            let force = old + more / one.length;
            let left = force.min(0.0) * one.length;
            let square = more * displacement + left * left / stiffness;
            multipliers.push(Multiplier { row, square, pull: unit * left });
            gained -= old * displacement * one.length;
            forces.push((one.contact, force));
        }
        response.accept_multipliers(forces.into_iter());
        for one in &self.constraints {
            gained += pressing(response, one) * one.direction.displacement * one.length;
        }
        (multipliers, gained)
    }
}

impl CollisionResponse {
    /// Decides which of `contacts` are constraints.
    pub(crate) fn choose_active_set(&self, contacts: &mut [Contact]) {
        let of_one_vertex = |a: &Contact, b: &Contact| {
            let are_of_vertices =
                a.pair.kind == PairKind::VertexFace && b.pair.kind == PairKind::VertexFace;
            are_of_vertices && a.pair.features[0] == b.pair.features[0]
        };
        for contacts in contacts.chunk_by_mut(of_one_vertex) {
            let chosen = self.strongest_constraint(contacts);
            for (place, contact) in contacts.iter_mut().enumerate() {
                let is_chosen = chosen == Some(place);
                if is_chosen != contact.is_active_constraint() {
                    contact.set_active_constraint(is_chosen, contact.current_normal_force());
                }
            }
        }
    }

    /// Which of the contacts of a vertex is its constraint: the one that is, or the one that presses most.
    fn strongest_constraint(&self, contacts: &[Contact]) -> Option<usize> {
        let mut chosen: Option<(usize, f64)> = None;
        for (place, contact) in contacts.iter().enumerate() {
            if !self.is_vertex_collider_contact(contact) {
                continue;
            }
            let normal = contact.linearised.normal;
            let opposes = |other: &Contact| other.linearised.normal.dot(&normal) < 0.0;
            let mut before =
                contacts[..place].iter().filter(|other| self.is_vertex_collider_contact(other));
            if before.any(opposes) {
                return None;
            }
            let presses = contact.normal_force_at(contact.linearised.gap);
            let rank = if contact.is_active_constraint() { f64::INFINITY } else { presses };
            if contact.pair.stiffening_count == 0 && chosen.is_none_or(|(_, most)| rank > most) {
                chosen = Some((place, rank));
            }
        }
        chosen.map(|(place, _)| place)
    }

    /// Whether a contact is one of a cloth's vertex with a solid.
    fn is_vertex_collider_contact(&self, contact: &Contact) -> bool {
        let [vertex, corner, ..] = contact.pair.vertices;
        contact.pair.kind == PairKind::VertexFace && self.is_cloth(vertex) && !self.is_cloth(corner)
    }

    /// The constraints that press with the cloths at `positions`, in order of their vertices.
    pub(crate) fn active_constraints(
        &self,
        positions: &[Vec3],
    ) -> impl Iterator<Item = Constraint> {
        self.contacts.iter().enumerate().filter_map(|(place, contact)| {
            let lift = contact.constraint_violation(&self.relative_position(contact, positions))?;
            let vertex = contact.pair.vertices[0] as usize;
            Some(Constraint { contact: place, vertex, normal: contact.linearised.normal, lift })
        })
    }

    /// Takes the forces in N that the equations have found for constraints, by their places among the contacts. What pulled
    /// and has been released is free from now on.
    fn accept_multipliers(&mut self, forces: impl Iterator<Item = (usize, f64)>) {
        for contact in
            self.contacts.iter_mut().filter(|contact| contact.current_normal_force() < 0.0)
        {
            contact.set_normal_force(0.0);
        }
        for (place, force) in forces {
            self.contacts[place].set_normal_force(force);
        }
    }
}
