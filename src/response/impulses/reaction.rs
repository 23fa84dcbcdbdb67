// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reaction constraints of explicit schemes (Etzmuss 2002, section 4.3, after Platt and Barr 1988).
//!
//! A contact with the collision direction D replaces the component of the force F⁻ along D (eq. 4.1):
//!
//! F⁺ = F⁻ − ⟨F⁻, D⟩D + k⟨x̄ − x, D⟩D + d⟨v̄ − v, D⟩D.
//!
//! Here x and v are those of one side of the contact relative to the other, so that the reaction acts on both, and F⁺ is
//! told by the relative acceleration (x̄ − x)/τ² − 2v/τ along D: with the effective mass m of the contact k is m/τ² and d
//! is 2m/τ, critically damped, so that x comes to x̄ and does not pass it. x̄ is the distance at which the contact law
//! bears the present reaction. A force ΔF that is added later, the reaction of another contact of the same vertices, is
//! projected (eq. 4.2): Gauss-Seidel sweeps remove its component along D.
//!
//! **Off** where ⟨F⁻, D⟩ > 0, the force before the response drags the sides apart, or x stays beyond the collision
//! distance. The document knows no velocity: cloth that approaches while a force drags it away would pass through, and
//! cloth whose support stops would stay on it. So a reaction that is off still pushes, but does not pull, and it is off,
//! too, where the sides separate faster than k and d let them. One that is on pulls by no more than it takes to end the
//! motion towards x̄.
//!
//! **Friction** is the same constraint along the surface, with x̄ = x, and a force of at most the Coulomb bound: it
//! cancels the force before the response, and the velocity within the step of the scheme.
//!
//! **Impacts** are jumps, no forces: before each step of the scheme impulses and their friction leave the relative
//! velocity along D at which x̄ is reached at its end, so that cloth does not rebound.

use super::sweep;
use crate::{
    collision::Contact,
    response::{contact_set::ContactSet, step_geometry::StepGeometry},
    time_integration::KinematicState,
    vec3::Vec3,
};
use nalgebra::Matrix3;

/// Parameters of the reaction constraints.
pub(crate) struct ReactionParameters {
    /// Time constant τ of the stabilisation, at least two steps of the scheme (s). Effect: larger leaves contacts
    /// compressed after an impact for longer; smaller separates them at a visible speed. Evidence:
    /// `a_loaded_contact_returns_to_its_distance_as_a_critically_damped_oscillator`.
    pub(crate) stabilisation_time: f64,
}

impl ReactionParameters {
    pub(crate) const DEFAULT: Self = Self { stabilisation_time: 0.02 };
}

/// Reaction constraints of a step, with the reactions of the last evaluation of the forces.
pub(crate) struct ReactionConstraints {
    constraints: Vec<ReactionConstraint>,
    reactions: Vec<Reaction>,
    /// Length of a step of the scheme, in s.
    substep: f64,
}

/// Constraint of one contact.
struct ReactionConstraint {
    contact: Contact,
    /// Index of the contact.
    index: usize,
    vertices: Vec<ConstrainedVertex>,
    /// Share of the collider in the relative position at the start of the step, in m.
    collider_position: Vec3,
    /// Share of the collider in the relative velocity, in m/s.
    collider_velocity: Vec3,
    /// Velocity in m/s that the turning lever of the contact adds to that of the collider.
    lever_velocity: Vec3,
    /// Distance to which the contact returns, without the compression by the reaction, in m.
    unloaded_distance: f64,
    /// Inverse effective mass along the normal, in 1/kg.
    normal_inverse_mass: f64,
    /// Upper bound of the inverse effective mass along the surface, in 1/kg.
    tangential_inverse_mass: f64,
}

/// Cloth vertex of a contact.
struct ConstrainedVertex {
    vertex: usize,
    weight: f64,
    /// Inverse mass along the free directions, in 1/kg.
    mobility: Matrix3<f64>,
}

/// Reaction of a contact in N, or its impulse in N s.
#[derive(Clone, Copy, Default)]
struct Reaction {
    normal: f64,
    friction: Vec3,
}

/// What a reaction leads to: a relative acceleration in m/s² or velocity in m/s, less the share of the collider.
struct Condition {
    wanted: Vec3,
    /// Least normal reaction.
    min_normal: f64,
}

/// Whether the stabilisation returns a contact to its distance, from rest: its load, as an acceleration in m/s², is at
/// least the largest by which the critically damped return slows down, e⁻² of the first, and so keeps it from flying
/// on. Others recover their gap without a velocity.
pub(in crate::response) fn returns_by_reaction(contact: &Contact, load: f64) -> bool {
    let tau = ReactionParameters::DEFAULT.stabilisation_time;
    let lacking = (contact.thickness - contact.pair.start_distance).max(0.0);
    load > 0.0 && load >= lacking / (tau * tau) * (-2.0_f64).exp()
}

impl ReactionConstraint {
    /// Constraint of the contact with an index; `None` if none of its vertices can move.
    fn new(
        step: &StepGeometry,
        index: usize,
        contact: &Contact,
        mobility: impl Fn(usize) -> Matrix3<f64>,
    ) -> Option<Self> {
        let normal = contact.linearised.normal;
        let vertices: Vec<ConstrainedVertex> = step
            .cloth_weights(contact)
            .map(|(vertex, weight)| ConstrainedVertex {
                vertex,
                weight,
                mobility: mobility(vertex),
            })
            .collect();
        // Each is bounded below by that of one vertex, so that none of them gets more than the relative velocity.
        let inverse_mass = |along: &dyn Fn(&Matrix3<f64>) -> f64| {
            let each = vertices.iter().map(|one| (one.weight.abs(), along(&one.mobility)));
            each.fold([0.0, 0.0_f64], |[sum, max], (weight, mobility)| {
                [sum + weight * weight * mobility, max.max(weight * mobility)]
            })
            .into_iter()
            .fold(0.0, f64::max)
        };
        let normal_inverse_mass = inverse_mass(&|mobility| normal.dot(&(mobility * normal)));
        let tangential_inverse_mass = inverse_mass(&|mobility| {
            mobility.row_iter().map(|row| row.lp_norm(1)).fold(0.0, f64::max)
        });
        let load = contact.current_normal_force() * normal_inverse_mass;
        let weights = contact.pair.vertices.into_iter().zip(contact.linearised.weights);
        let collider = weights.filter(|(vertex, _)| !step.is_cloth(*vertex));
        let [mut collider_position, mut collider_velocity] = [Vec3::zeros(); 2];
        for (vertex, weight) in collider {
            collider_position += step.start_positions[vertex as usize] * weight;
            collider_velocity += step.collider_velocity(vertex) * weight;
        }
        (normal_inverse_mass > 0.0).then(|| Self {
            contact: *contact,
            index,
            vertices,
            collider_position,
            collider_velocity,
            lever_velocity: contact.lever_displacement / step.duration,
            unloaded_distance: if returns_by_reaction(contact, load) {
                contact.thickness
            } else {
                contact.recovered_distance()
            },
            normal_inverse_mass,
            tangential_inverse_mass,
        })
    }

    /// Share of the cloths in the relative value of a field.
    fn relative(&self, field: &[Vec3]) -> Vec3 {
        self.vertices.iter().map(|one| field[one.vertex] * one.weight).sum()
    }

    /// Gap in m, `time` in s after the start of the step.
    fn gap(&self, state: &KinematicState, time: f64) -> f64 {
        let collider = self.collider_position + self.collider_velocity * time;
        (self.relative(&state.positions) + collider).dot(&self.normal())
    }

    /// Relative velocity, in m/s.
    fn velocity(&self, state: &KinematicState) -> Vec3 {
        self.relative(&state.velocities) + self.surface_velocity()
    }

    fn surface_velocity(&self) -> Vec3 {
        self.collider_velocity - self.lever_velocity
    }

    fn normal(&self) -> Vec3 {
        self.contact.linearised.normal
    }

    /// Target distance x̄ under a reaction, in m.
    fn target_distance(&self, reaction: &Reaction) -> f64 {
        let compression = self.contact.compression_at_force(reaction.normal.max(0.0));
        self.unloaded_distance - self.contact.thickness * compression
    }

    /// Condition of an impulse before a step of the scheme, and whether it is violated.
    fn impact_condition(
        &self,
        state: &KinematicState,
        time: f64,
        reaction: &Reaction,
        substep: f64,
    ) -> (Condition, bool) {
        let excess = (self.gap(state, time) - self.target_distance(reaction)).max(0.0);
        let least = -excess / substep;
        let is_violated = self.velocity(state).dot(&self.normal()) < least;
        let wanted = self.normal() * least - self.surface_velocity();
        (Condition { wanted, min_normal: 0.0 }, is_violated)
    }

    /// Condition of the reaction force at given accelerations before the response; `None` outside the collision
    /// distance, unless they lead into it within the step of the scheme.
    fn reaction_condition(
        &self,
        state: &KinematicState,
        accelerations: &[Vec3],
        time: f64,
        reaction: &Reaction,
        substep: f64,
    ) -> Option<Condition> {
        let (normal, velocity) = (self.normal(), self.velocity(state));
        let (gap, separation) = (self.gap(state, time), velocity.dot(&normal));
        let dragged = self.relative(accelerations).dot(&normal);
        if gap + (separation + dragged * substep) * substep >= self.contact.thickness {
            return None;
        }
        let tau = ReactionParameters::DEFAULT.stabilisation_time.max(2.0 * substep);
        let lacking = self.target_distance(reaction) - gap;
        let stabilised = lacking / (tau * tau) - 2.0 * separation / tau;
        let is_off = dragged > 0.0 || separation > 2.0 * lacking.max(0.0) / tau;
        let min_normal = if is_off { 0.0 } else { stabilised.min(0.0) / self.normal_inverse_mass };
        let tangential = velocity - normal * separation;
        Some(Condition { wanted: normal * stabilised - tangential / substep, min_normal })
    }

    /// Changes a reaction so that a field meets its condition.
    fn project(&self, condition: &Condition, reaction: &mut Reaction, field: &mut [Vec3]) {
        let lacking = condition.wanted - self.relative(field);
        let along = lacking.dot(&self.normal());
        let normal = (reaction.normal + along / self.normal_inverse_mass).max(condition.min_normal);
        let mut friction =
            reaction.friction + (lacking - self.normal() * along) / self.tangential_inverse_mass;
        let (length, bound) = (friction.norm(), self.contact.friction * normal.max(0.0));
        if length > bound {
            friction *= bound / length;
        }
        let change = self.normal() * (normal - reaction.normal) + friction - reaction.friction;
        *reaction = Reaction { normal, friction };
        self.apply(&change, field);
    }

    /// Adds what a load in N, or an impulse in N s, changes of a field.
    fn apply(&self, load: &Vec3, field: &mut [Vec3]) {
        for ConstrainedVertex { vertex, weight, mobility } in &self.vertices {
            field[*vertex] += mobility * load * *weight;
        }
    }
}

impl ReactionConstraints {
    /// Reaction constraints of the detected contacts for steps of a scheme of `substep` in s. `mobility` is the inverse
    /// mass of a vertex along its free directions, in 1/kg.
    pub(crate) fn new(
        contacts: &ContactSet,
        step: &StepGeometry,
        substep: f64,
        mobility: impl Fn(usize) -> Matrix3<f64>,
    ) -> Self {
        let contacts = contacts.detected.iter().enumerate();
        let constraints: Vec<ReactionConstraint> = contacts
            .filter_map(|(index, contact)| ReactionConstraint::new(step, index, contact, &mobility))
            .collect();
        let of_last_step = |one: &ReactionConstraint| Reaction {
            normal: one.contact.current_normal_force(),
            friction: Vec3::zeros(),
        };
        let reactions = constraints.iter().map(of_last_step).collect();
        Self { constraints, reactions, substep }
    }

    /// Sets the last reactions of a step as the forces of its contacts.
    pub(crate) fn set_contact_forces(&self, contacts: &mut ContactSet) {
        let mut forces = vec![0.0; contacts.detected.len()];
        for (constraint, reaction) in self.constraints.iter().zip(&self.reactions) {
            forces[constraint.index] = reaction.normal.max(0.0);
        }
        for (contact, force) in contacts.detected.iter_mut().zip(forces) {
            contact.set_active_constraint(true, force);
        }
    }

    /// Applies the impulses of impacts to the velocities of a state, `time` in s after the start of the step.
    pub(crate) fn apply_impacts(&self, state: &mut KinematicState, time: f64) {
        let pairs = self.constraints.iter().zip(&self.reactions);
        let mut has_impact = false;
        let mut impulses: Vec<_> = pairs
            .map(|(constraint, reaction)| {
                let (condition, is_violated) =
                    constraint.impact_condition(state, time, reaction, self.substep);
                has_impact |= is_violated;
                (constraint, condition, Reaction::default())
            })
            .collect();
        if has_impact {
            sweep(&mut impulses, |(constraint, condition, impulse)| {
                constraint.project(condition, impulse, &mut state.velocities);
            });
        }
    }

    /// Adds the reactions to the accelerations of a state in m/s², `time` in s after the start of the step.
    pub(crate) fn add_accelerations(
        &mut self,
        state: &KinematicState,
        time: f64,
        accelerations: &mut [Vec3],
    ) {
        let substep = self.substep;
        let pairs = self.constraints.iter().zip(&mut self.reactions);
        let mut forces: Vec<_> = pairs
            .filter_map(|(constraint, reaction)| {
                let condition =
                    constraint.reaction_condition(state, accelerations, time, reaction, substep);
                if condition.is_none() {
                    *reaction = Reaction::default();
                }
                Some((constraint, condition?, reaction))
            })
            .collect();
        for (constraint, _, reaction) in &forces {
            let load = constraint.normal() * reaction.normal + reaction.friction;
            constraint.apply(&load, accelerations);
        }
        sweep(&mut forces, |(constraint, condition, reaction)| {
            constraint.project(condition, reaction, accelerations);
        });
    }
}
