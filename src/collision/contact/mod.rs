// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contact law of one pair: normal force and friction.
//!
//! **Normal force.** Cloth resists compression: fabric testers find a pressure that rises with the
//! compression of the thickness, gently at first and steeply towards the end (1 kPa here is a soft
//! fabric at a tenth, cf. Kawabata's compression test). With the compression σ, the missing
//! fraction of the thickness,
//!
//! p(σ) = P (σ + H σ³),   σ > 0,
//!
//! over the contact area. The law is convex and independent of the resolution, and a sheet that
//! lies under its own weight keeps 99.8 % of its distance. Beyond σ = 1, where the sides touch, it
//! continues linearly, so that Newton steps return from any penetration.
//!
//! An **active constraint** replaces the law where a particle meets a solid (see
//! `response::contact_set`): its gap equals the target distance exactly, and its force is the
//! multiplier of the equations.
//!
//! **Friction** is Coulomb's with stiction, after Baraff and Witkin 1998, section 5.4, and Etzmuss
//! 2002, section 4.4: a stick anchor acts as an elastic spring, a tenth as stiff as the normal force, up
//! to the Coulomb bound; beyond it the anchor moves along at just that force. Stiction displaces a
//! contact once, by some micrometres, and nothing creeps. Newton iterations keep a contact sticking
//! until its anchor would give way, and slipping until the slip would reverse, so that they do not
//! oscillate between both states.
//!
//! Sides are a gap apart, so what sticks to a partner follows its motion at the end of a lever: over a
//! step with the start offset r₀, the end offset r₁ and the rotation R of the partner the
//! displacement is r₁ − R r₀ (with r₁ − r₀ cloth would fall behind a turning solid by gap/(R + gap)).
//! R is that of the triangles around the partner's feature, found with the normal and frozen with
//! it, and turns the anchor as well.

#[cfg(test)]
mod tests;

use super::primitive_pair::{LinearisedContact, PrimitivePair};
use crate::vec3::Vec3;
use nalgebra::Matrix3;

/// Parameters of the contact law.
pub(crate) struct ContactLawParameters {
    /// Pressure P at full compression without hardening (Pa); that of a soft fabric. Effect: larger
    /// keeps cloth farther apart under load and makes the equations stiffer; smaller lets loads
    /// compress it. Evidence: bench scenes `ball16_solve` and `self16_solve` (errors of 16.9 and
    /// 23.9 mm become 13.6 and 19.1 mm, Newton iterations +17 % at 2000).
    pressure: f64,
    /// Hardening H of the law (1). Effect: larger makes the law steeper towards full compression;
    /// smaller lets heavy loads compress cloth completely. Evidence: none; without hardening Newton
    /// iterations of bench and hostile scenes fall by 7 %.
    hardening: f64,
    /// Weight of the gap of an active constraint against its force (contact stiffnesses): a
    /// constraint is deactivated when its force is less than its gap times this. Effect: larger
    /// reactivates constraints for the rounding of their gap; with 0 constraints pull. Evidence:
    /// `a_constraint_that_would_pull_lets_go`, `the_distance_is_the_thickness_whatever_the_weight`
    /// and five more fail at 0; hostile scene `random_soup` gains energy.
    deactivation_stiffness: f64,
    /// Largest open gap with the stiffness of a closed one (thicknesses): the compression of cloth
    /// by its own weight. Effect: larger makes open contacts stiff; with 0 a Newton step leads such
    /// a contact deep into penetration, and the next one out of it. Evidence:
    /// `a_barely_open_contact_is_stiff_but_has_no_force`; rest scene `friction_on_cloth`
    /// (acceleration 3.12 instead of 3.14 to 3.27 m/s² at 0).
    open_stiffness_gap: f64,
    /// Stiffness of the stick anchor (fraction of the slope of the normal law at the force of the last step). Fibres give way by
    /// tenths of a millimetre before fabric slides; this is less. Effect: larger lets contacts change between stick and
    /// slip by micrometres of the iterations; smaller lets what sticks give way visibly. Evidence: a sheet of 2 500
    /// vertices on a ball (1: 9.0 instead of 8.1 Newton iterations a frame); a strip round a capstan at 1.1, 1.3 and 2
    /// times its limit (1: misses its way by 41, 34 and 20 %; here 6, 12 and 9 %).
    anchor_stiffness: f64,
    /// Factor on the stiffness for each stiffening after a CCD hit but the first, which turns the
    /// pair into a contact (1). Effect: larger needs fewer repetitions of a step and makes the
    /// equations stiffer; smaller needs more. Evidence: hostile scenes `jump_through_a_held_sheet`,
    /// `plates_close_and_open` and `armpit` (Newton iterations +99 % at 1).
    stiffening_factor: f64,
}

impl ContactLawParameters {
    const DEFAULT: Self = Self {
        pressure: 1.0e3,
        hardening: 20.0,
        deactivation_stiffness: 0.01,
        open_stiffness_gap: 0.002,
        anchor_stiffness: 0.1,
        stiffening_factor: 8.0,
    };
}

const PARAMETERS: ContactLawParameters = ContactLawParameters::DEFAULT;

/// Contact at the positions of its last detection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    pub(crate) pair: PrimitivePair,
    pub(crate) linearised: LinearisedContact,
    /// Target distances of the contact law and of the active constraint, in m.
    target_distances: [f64; 2],
    /// Preload, in N.
    preload: f64,
    /// Contact thickness of the pair, in m.
    pub(crate) thickness: f64,
    /// Stiffness of the normal force at no compression, in N/m.
    pub(crate) stiffness: f64,
    /// Coulomb coefficient of both surfaces.
    pub(crate) friction: f64,
    /// Whether an active constraint replaces the contact law.
    is_active_constraint: bool,
    /// Normal force of the current iterate, in N; negative where a constraint pulls.
    current_normal_force: f64,
    /// Compression at which the law gives this force; 0 for a constraint.
    compression: f64,
    /// Slope of the law at that compression, in N/m.
    tangent_stiffness: f64,
    /// Largest friction force, in N.
    pub(crate) coulomb_bound: f64,
    /// Unit slip direction; zero while the contact sticks.
    pub(crate) slip_direction: Vec3,
    /// Tangential displacement from the stick anchor at the start of the step, in m.
    pub(crate) initial_tangential_displacement: Vec3,
    /// Relative position Σ weight · position at the start of the step, in m.
    pub(crate) initial_relative_position: Vec3,
    /// Displacement of the lever from the partner to the stick anchor as it turns with the partner, in m.
    pub(crate) lever_displacement: Vec3,
    /// Whether the pair was not in contact in the last step.
    pub(crate) is_new: bool,
    /// Stiffness of the stick anchor, in N/m.
    anchor_stiffness: f64,
}

/// Force, stiffness and potential of a contact.
pub(crate) struct ContactForce {
    /// Force on the first feature, in N.
    pub(crate) force: Vec3,
    /// Stiffness, symmetric and positive semidefinite, in N/m.
    pub(crate) stiffness: Matrix3<f64>,
    /// Potential, in J.
    pub(crate) potential: f64,
}

/// Compression σ at which the law gives a force in units of stiffness · thickness.
fn dimensionless_compression(force: f64) -> f64 {
    let hardening = PARAMETERS.hardening;
    let full_force = 1.0 + hardening;
    if force >= full_force {
        return 1.0 + (force - full_force) / (1.0 + 3.0 * hardening);
    }
    // The real root of σ³ + σ/H = f/H.
    let scale = 2.0 / (3.0 * hardening).sqrt();
    scale * ((force / hardening * 4.0 / scale.powi(3)).asinh() / 3.0).sinh()
}

impl Contact {
    /// Contact without force, with a contact thickness in m and an area in m².
    pub(crate) fn new(
        pair: PrimitivePair,
        linearised: LinearisedContact,
        thickness: f64,
        area: f64,
    ) -> Self {
        let stiffenings = i32::from(pair.stiffening_count) - 1;
        let stiffness = PARAMETERS.pressure * area / thickness
            * PARAMETERS.stiffening_factor.powi(stiffenings).max(1.0);
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
            lever_displacement: Vec3::zeros(),
            is_new: false,
            anchor_stiffness: PARAMETERS.anchor_stiffness * stiffness,
        }
    }

    /// Lets a pair that starts closer than its thickness recover at most a distance in m in this
    /// step. Under the law, a `preload` in N persists at the present gap; without it the contact
    /// would sink in by the same compression again in every step.
    pub(crate) fn recover_gap(&mut self, recovery: f64, preload: f64) {
        let compression = self.thickness * self.compression_at_force(preload);
        self.target_distances = [recovery.max(compression), recovery]
            .map(|increase| self.thickness.min(self.pair.start_distance + increase));
        self.preload = if compression > recovery { preload } else { 0.0 };
    }

    /// Preload in N; 0 for a constraint, and where the gap is only recovered.
    pub(crate) fn preload(&self) -> f64 {
        if self.is_active_constraint { 0.0 } else { self.preload }
    }

    /// Sets the target distance, in m.
    pub(crate) fn set_target_distance(&mut self, distance: f64) {
        self.target_distances = [distance; 2];
    }

    /// Target distance in m; less than the thickness while an initial overlap is recovered.
    pub(crate) fn target_distance(&self) -> f64 {
        self.target_distances[usize::from(self.is_active_constraint)]
    }

    /// Whether the pair started closer than its thickness and is being separated.
    pub(crate) fn is_recovering_gap(&self) -> bool {
        self.target_distance() < self.thickness
    }

    /// Increase of the gap of the current linearisation by which this step recovers it, in m: to the target distance
    /// without the compression by a normal force in N, and from the gap at the start at most.
    pub(crate) fn gap_to_recover(&self, normal_force: f64) -> f64 {
        let target =
            self.recovered_distance() - self.thickness * self.compression_at_force(normal_force);
        let start = self.pair.start_distance.max(self.linearised.gap);
        (target - start).max(0.0)
    }

    /// Distance in m to which this step recovers the gap of a pair that started closer than its thickness; else the
    /// thickness.
    pub(crate) fn recovered_distance(&self) -> f64 {
        let [_, distance] = self.target_distances;
        distance
    }

    /// Compression σ at which the law gives a force in N.
    pub(crate) fn compression_at_force(&self, force: f64) -> f64 {
        dimensionless_compression(force / (self.stiffness * self.thickness))
    }

    /// Relative position of both sides, Σ weight · position, in m.
    pub(crate) fn relative_position(&self, positions: &[Vec3]) -> Vec3 {
        let terms = self.pair.vertices.iter().zip(&self.linearised.weights);
        terms.map(|(vertex, weight)| positions[*vertex as usize] * *weight).sum()
    }

    /// Sets the normal force of the current iterate in N, and linearises the law there.
    pub(crate) fn set_normal_force(&mut self, force: f64) {
        self.current_normal_force = force;
        if self.is_active_constraint {
            self.compression = 0.0;
            self.tangent_stiffness = PARAMETERS.deactivation_stiffness * self.stiffness;
            return;
        }
        self.compression = self.compression_at_force(force);
        self.tangent_stiffness = self.slope_at(self.compression);
        self.coulomb_bound = self.friction * force;
    }

    /// Slope of the law at a compression, in N/m.
    fn slope_at(&self, compression: f64) -> f64 {
        let cubic_range = compression.min(1.0);
        self.stiffness * (1.0 + 3.0 * PARAMETERS.hardening * cubic_range * cubic_range)
    }

    /// Activates or deactivates the constraint, with a normal force in N.
    pub(crate) fn set_active_constraint(&mut self, is_active: bool, force: f64) {
        self.is_active_constraint = is_active;
        self.set_normal_force(if is_active { force } else { force.max(0.0) });
        self.coulomb_bound = self.friction * self.current_normal_force.max(0.0);
    }

    /// Whether an active constraint replaces the contact law.
    pub(crate) fn is_active_constraint(&self) -> bool {
        self.is_active_constraint
    }

    /// Sets the normal force of a compression from 0 to 1.
    pub(crate) fn set_compression(&mut self, compression: f64) {
        let scale = self.stiffness * self.thickness;
        let hardening = PARAMETERS.hardening;
        self.set_normal_force(scale * compression * (1.0 + hardening * compression * compression));
    }

    /// Normal force of the current iterate, in N.
    pub(crate) fn current_normal_force(&self) -> f64 {
        self.current_normal_force
    }

    /// Normal force in N at a gap in m, on the tangent of the law at the current iterate; 0 where
    /// the contact is open.
    pub(crate) fn normal_force_at(&self, gap: f64) -> f64 {
        self.signed_normal_force_at(gap).max(0.0)
    }

    /// Normal force in N at a gap in m, on the tangent of the law at the current iterate; negative
    /// where the contact is open.
    fn signed_normal_force_at(&self, gap: f64) -> f64 {
        let increment = self.target_distance() - gap - self.compression * self.thickness;
        self.current_normal_force + self.tangent_stiffness * increment
    }

    /// Sets the start of the step: the normal force in N, the displacement from the stick anchor and the relative
    /// position, in m, and the lever between them as the partner turns it.
    pub(crate) fn set_start(
        &mut self,
        normal_force: f64,
        tangential_displacement: Vec3,
        relative_position: Vec3,
        turned: impl FnOnce(Vec3) -> Vec3,
    ) {
        let slope = self.slope_at(self.compression_at_force(normal_force));
        self.anchor_stiffness = PARAMETERS.anchor_stiffness * slope;
        let lever = relative_position - tangential_displacement;
        self.initial_tangential_displacement = tangential_displacement;
        self.initial_relative_position = relative_position;
        self.lever_displacement = turned(lever) - lever;
    }

    /// Displacement in the step relative to the partner, which moves and turns, in m.
    pub(crate) fn relative_displacement(&self, relative_position: &Vec3) -> Vec3 {
        relative_position - self.initial_relative_position - self.lever_displacement
    }

    /// Tangential displacement from the stick anchor in m, before any slip of the anchor.
    pub(crate) fn elastic_tangential_displacement(&self, relative_position: &Vec3) -> Vec3 {
        let displacement =
            self.initial_tangential_displacement + self.relative_displacement(relative_position);
        displacement - self.linearised.normal * displacement.dot(&self.linearised.normal)
    }

    /// Elastic tangential displacement at the Coulomb bound, in m.
    pub(crate) fn slip_length(&self) -> f64 {
        self.slip_length_at(self.coulomb_bound)
    }

    /// Elastic tangential displacement in m at which friction reaches a Coulomb bound in N.
    fn slip_length_at(&self, coulomb_bound: f64) -> f64 {
        coulomb_bound / self.anchor_stiffness
    }

    /// Unit slip direction at a relative position under a normal force in N; `None` for a sticking
    /// contact.
    pub(crate) fn slip(&self, relative_position: &Vec3, normal_force: f64) -> Option<Vec3> {
        let displacement = self.elastic_tangential_displacement(relative_position);
        let slip_length = self.slip_length_at(self.friction * normal_force);
        let slips = slip_length > 0.0 && displacement.norm() > slip_length;
        displacement.try_normalize(f64::MIN_POSITIVE).filter(|_| slips)
    }

    /// Distance along the normal, in m, from the relative position to the target distance of a
    /// constraint that presses.
    pub(crate) fn constraint_violation(&self, relative_position: &Vec3) -> Option<f64> {
        let gap = relative_position.dot(&self.linearised.normal);
        let presses = self.is_active_constraint && self.normal_force_at(gap) > 0.0;
        presses.then_some(self.target_distance() - gap)
    }

    /// Force, stiffness and potential at a relative position; a constraint has no normal stiffness.
    pub(crate) fn contact_force(&self, relative_position: &Vec3) -> ContactForce {
        let normal = self.linearised.normal;
        let signed_force = self.signed_normal_force_at(relative_position.dot(&normal));
        let force = signed_force.max(0.0);
        let is_stiff =
            signed_force > -PARAMETERS.open_stiffness_gap * self.tangent_stiffness * self.thickness;
        let normal_stiffness =
            if is_stiff && !self.is_active_constraint { self.tangent_stiffness } else { 0.0 };
        let mut contact_force = ContactForce {
            force: normal * force,
            stiffness: normal * normal.transpose() * normal_stiffness,
            potential: 0.5 * force * force / self.tangent_stiffness,
        };
        if self.coulomb_bound > 0.0 {
            let displacement = self.elastic_tangential_displacement(relative_position);
            self.add_friction(&displacement, &mut contact_force);
        }
        contact_force
    }

    /// Sets the normal force at a relative position, except for a constraint, whose multiplier
    /// stays, and decides between stick and slip: a contact slips beyond the Coulomb bound, unless
    /// its tangential displacement reverses the former slip direction.
    pub(crate) fn update_force_and_slip(&mut self, relative_position: &Vec3) {
        if self.is_active_constraint {
            self.coulomb_bound = self.friction * self.current_normal_force.max(0.0);
        } else {
            let gap = relative_position.dot(&self.linearised.normal);
            self.set_normal_force(self.normal_force_at(gap));
        }
        let displacement = self.elastic_tangential_displacement(relative_position);
        let length = displacement.norm();
        let slips = length > self.slip_length() && displacement.dot(&self.slip_direction) >= 0.0;
        self.slip_direction = if slips { displacement / length } else { Vec3::zeros() };
    }

    fn add_friction(&self, displacement: &Vec3, contact_force: &mut ContactForce) {
        let (length, slip_length) = (displacement.norm(), self.slip_length());
        let normal = self.linearised.normal;
        let tangential_projector = Matrix3::identity() - normal * normal.transpose();
        let sticks = self.slip_direction == Vec3::zeros();
        if sticks || length < slip_length {
            contact_force.force -= displacement * self.anchor_stiffness;
            contact_force.stiffness += tangential_projector * self.anchor_stiffness;
            contact_force.potential += 0.5 * self.anchor_stiffness * length * length;
        } else {
            let direction = displacement / length;
            contact_force.force -= direction * self.coulomb_bound;
            // Along the slip direction friction does not change with the slip.
            contact_force.stiffness += (tangential_projector - direction * direction.transpose())
                * (self.coulomb_bound / length);
            contact_force.potential += self.coulomb_bound * (length - 0.5 * slip_length);
        }
    }
}
