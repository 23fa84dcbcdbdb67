// SPDX-License-Identifier: MIT OR Apache-2.0
//! The active set: constrained contacts, and the directions that these and prescribed motion
//! eliminate from the equations of a Newton step. Constraints are contacts of particles with
//! colliders, after Etzmuss 2002, section 4.4.
//!
//! The collision direction of a cloth vertex in the collision area of a collider is the normal of its
//! contact. In every Newton iteration its displacement along that direction is prescribed: it leads
//! to the target position, at the target gap, and is eliminated from the equations by a filter. The
//! remaining residual along the direction is the constraint force (the multiplier). It is carried
//! to the next iteration; where it pulls, the constraint is deactivated.
//!
//! A vertex has at most one constraint. All its other contacts follow the penalty law of
//! [`Contact`]: other faces of colliders, as in a corner; all colliders if two of them press from
//! opposite sides, where no displacement is admissible; and contacts that were stiffened after a
//! CCD hit. Contacts of several particles follow the law as well.
//!
//! **Descent.** With the forces λ that the equations A d = b + λn have found, and the violation c =
//! n·d of a constraint, the slope of Φ + ½ max(0, λ + kc)²/k along d is −dᵀA d − kc² where it
//! presses: a Newton step that meets the constraints is a descent direction, whatever it does to
//! the gaps. (This is the augmented Lagrangian, with the new multipliers.)
//!
//! **Convergence.** A Newton step leaves the gaps of all constraints right, so it would be short
//! even if all multipliers were negative. A pulling constraint therefore counts at least as the
//! Newton step that its deactivation will cause: λ²/a of each alone, with the entry a of the
//! matrix, and of all together with their inertia.

use super::{ContactPositions, ContactSet};
use crate::{
    collision::{Contact, PairKind},
    linear_solver::{Direction, Filter, Ordering, Prescribed},
    simd::Row3,
    vec3::Vec3,
};
use nalgebra::Matrix3;

/// Smallest length of the component of a normal that prescribed motion leaves free. Below it the
/// contact is not constrained: its vertex does not move along the normal.
const MIN_FREE_LENGTH: f64 = 1.0e-3;

/// Constraint of the active set: the displacement of a vertex along a direction is prescribed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActiveConstraint {
    /// Index of its contact.
    contact: usize,
    /// Cloth vertex.
    pub(crate) vertex: usize,
    /// Unit normal from the collider to the vertex.
    pub(crate) normal: Vec3,
    /// Displacement along the normal to the target position, in m.
    pub(super) violation: f64,
}

/// Vertex with prescribed motion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrescribedVertex {
    pub(crate) vertex: usize,
    /// Projector onto its free directions.
    pub(crate) projector: Matrix3<f64>,
}

/// Constraint as an eliminated direction.
#[derive(Clone, Copy, Debug)]
struct EliminatedConstraint {
    /// Index of its contact.
    contact: usize,
    /// Length of the component of the normal that prescribed motion leaves free.
    free_length: f64,
    direction: Direction,
}

/// Directions that are eliminated from the equations of a Newton step.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveSet {
    /// Sorted by row.
    constraints: Vec<EliminatedConstraint>,
    /// Projectors of rows, while they are collected.
    projectors: Vec<(usize, Matrix3<f64>)>,
    pub(crate) prescribed: Prescribed,
}

/// New multiplier of a constraint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Multiplier {
    /// Row of its vertex.
    pub(crate) row: usize,
    /// Squared energy norm that the constraint adds to that of the Newton step, in J.
    pub(crate) square: f64,
    /// Force by which it pulls, in N.
    pub(crate) pull: Vec3,
}

impl ActiveSet {
    /// Eliminates the active constraints of the cloths at `positions` in m and all prescribed
    /// vertices, in ascending order, and sets the filter of the rows in an ordering.
    pub(crate) fn set(
        &mut self,
        prescribed: impl Iterator<Item = PrescribedVertex>,
        constraints: impl Iterator<Item = ActiveConstraint>,
        ordering: &Ordering,
        filter: &mut Filter,
    ) {
        self.constraints.clear();
        self.projectors.clear();
        let row_of = |one: PrescribedVertex| (ordering.row(one.vertex), one.projector);
        let mut prescribed = prescribed.peekable();
        for constraint in constraints {
            let vertex = constraint.vertex;
            while let Some(previous) = prescribed.next_if(|other| other.vertex < vertex) {
                self.projectors.push(row_of(previous));
            }
            let same = prescribed.next_if(|other| other.vertex == vertex);
            let free = same.map_or_else(Matrix3::identity, |one| one.projector);
            self.eliminate(&constraint, &free, ordering.row(vertex));
        }
        self.projectors.extend(prescribed.map(row_of));
        self.constraints.sort_unstable_by_key(|one| one.direction.row);
        self.projectors.sort_unstable_by_key(|(row, _)| *row);
        filter.clear();
        for (row, projector) in &self.projectors {
            filter.constrain(*row, projector);
        }
        self.prescribed.set(self.constraints.iter().map(|one| one.direction));
    }

    /// Eliminates the component of a normal that a projector leaves free.
    fn eliminate(&mut self, constraint: &ActiveConstraint, free: &Matrix3<f64>, row: usize) {
        let ActiveConstraint { contact, normal, violation, .. } = *constraint;
        let component = free * normal;
        let free_length = component.norm();
        if free_length < MIN_FREE_LENGTH {
            self.projectors.push((row, *free));
            return;
        }
        let unit = component / free_length;
        self.projectors.push((row, free - unit * unit.transpose()));
        let direction = Direction { row, unit, displacement: violation / free_length };
        self.constraints.push(EliminatedConstraint { contact, free_length, direction });
    }

    /// Updates the multipliers of a contact set from the `solution` of the linear system, and from its
    /// product in N with the matrix-free part of the matrix if there is one. Returns them, sorted by
    /// row, and the change of the potential's slope by them, in J.
    pub(crate) fn update_multipliers(
        &self,
        solution: &[Row3],
        scalar_loads: &[Row3],
        contacts: &mut ContactSet,
    ) -> (Vec<Multiplier>, f64) {
        let normal_force = |contacts: &ContactSet, one: &EliminatedConstraint| {
            let contact = &contacts.detected[one.contact];
            contact.normal_force_at(
                contact.target_distance() - one.direction.displacement * one.free_length,
            )
        };
        let mut slope_change = 0.0;
        let mut forces = Vec::with_capacity(self.constraints.len());
        let mut multipliers = Vec::with_capacity(self.constraints.len());
        let found = self.prescribed.forces(solution, scalar_loads);
        for (one, (direction, stiffness, increment)) in self.constraints.iter().zip(found) {
            let Direction { row, unit, displacement } = *direction;
            let previous = normal_force(contacts, one);
            let force = previous + increment / one.free_length;
            let pull = force.min(0.0) * one.free_length;
            let square = increment * displacement + pull * pull / stiffness;
            multipliers.push(Multiplier { row, square, pull: unit * pull });
            slope_change -= previous * displacement * one.free_length;
            forces.push((one.contact, force));
        }
        contacts.accept_multipliers(forces.into_iter());
        for one in &self.constraints {
            slope_change +=
                normal_force(contacts, one) * one.direction.displacement * one.free_length;
        }
        (multipliers, slope_change)
    }
}

/// Selects the constraints among `contacts`, which are sorted by key.
pub(in crate::response) fn choose_active_set(
    contacts: &mut [Contact],
    is_cloth: impl Fn(u32) -> bool,
) {
    let have_common_vertex = |a: &Contact, b: &Contact| {
        let are_vertex_face =
            a.pair.kind == PairKind::VertexFace && b.pair.kind == PairKind::VertexFace;
        are_vertex_face && a.pair.features[0] == b.pair.features[0]
    };
    for contacts in contacts.chunk_by_mut(have_common_vertex) {
        let constraint = strongest_constraint(contacts, &is_cloth);
        for (index, contact) in contacts.iter_mut().enumerate() {
            let is_constraint = constraint == Some(index);
            if is_constraint != contact.is_active_constraint() {
                contact.set_active_constraint(is_constraint, contact.current_normal_force());
            }
        }
    }
}

/// Index of the constraint among the contacts of one vertex: the active one, or else that with
/// the largest normal force; `None` where two colliders oppose each other.
fn strongest_constraint(contacts: &[Contact], is_cloth: impl Fn(u32) -> bool) -> Option<usize> {
    let is_candidate = |contact: &Contact| is_vertex_collider_contact(contact, &is_cloth);
    let mut constraint: Option<(usize, f64)> = None;
    for (index, contact) in contacts.iter().enumerate() {
        if !is_candidate(contact) {
            continue;
        }
        let normal = contact.linearised.normal;
        let opposes = |other: &Contact| other.linearised.normal.dot(&normal) < 0.0;
        let mut previous = contacts[..index].iter().filter(|other| is_candidate(other));
        if previous.any(opposes) {
            return None;
        }
        let normal_force = contact.normal_force_at(contact.linearised.gap);
        let rank = if contact.is_active_constraint() { f64::INFINITY } else { normal_force };
        if contact.pair.stiffening_count == 0
            && constraint.is_none_or(|(_, max_rank)| rank > max_rank)
        {
            constraint = Some((index, rank));
        }
    }
    constraint.map(|(index, _)| index)
}

/// Whether a contact is one of a cloth vertex with a collider face.
fn is_vertex_collider_contact(contact: &Contact, is_cloth: impl Fn(u32) -> bool) -> bool {
    let [vertex, face_vertex, ..] = contact.pair.vertices;
    contact.pair.kind == PairKind::VertexFace && is_cloth(vertex) && !is_cloth(face_vertex)
}

impl ContactSet {
    /// Active constraints at given positions, in the order of their vertices.
    pub(crate) fn active_constraints(
        &self,
        positions: ContactPositions<'_>,
    ) -> impl Iterator<Item = ActiveConstraint> {
        self.detected.iter().enumerate().filter_map(move |(index, contact)| {
            let violation = contact.constraint_violation(&positions.relative_position(contact))?;
            Some(ActiveConstraint {
                contact: index,
                vertex: contact.pair.vertices[0] as usize,
                normal: contact.linearised.normal,
                violation,
            })
        })
    }

    /// Accepts the multipliers in N that the linear solve has found, by index of the contact.
    /// Constraints that pulled are deactivated first.
    fn accept_multipliers(&mut self, forces: impl Iterator<Item = (usize, f64)>) {
        for contact in
            self.detected.iter_mut().filter(|contact| contact.current_normal_force() < 0.0)
        {
            contact.set_normal_force(0.0);
        }
        for (index, force) in forces {
            self.detected[index].set_normal_force(force);
        }
    }
}
