// SPDX-License-Identifier: MIT OR Apache-2.0
//! Velocities at contacts for the implicit midpoint rule.
//!
//! It turns a velocity that a contact has taken away into its opposite, so that what rests would swing to and fro. Where a
//! contact presses, the sides move relative to each other as they have moved over the step: along the normal, and
//! where friction holds them across it, too. Impacts are ended after that.

use super::{CollisionResponse, impact_impulses::effective_inverse_mass};
use crate::Vec3;

/// Rounds over all contacts; those that share vertices need some.
const ROUNDS: usize = 8;
/// Friction below this part of what the normal force allows holds.
const HOLDS: f64 = 0.95;

/// What a contact asks of velocities.
struct MidpointContact {
    /// Vertices of cloths with their weights.
    weights: Vec<(usize, f64)>,
    normal: Vec3,
    sticks: bool,
    /// Of the relative motion, in 1/kg.
    effective_inverse_mass: f64,
}

/// Changes `velocities` in m/s at the end of a step `from` positions `to` others.
pub(crate) fn apply_midpoint_contact_velocities(
    response: &CollisionResponse,
    (from, to): (&[Vec3], &[Vec3]),
    duration: f64,
    velocities: &mut [Vec3],
    inverse_masses: impl Fn(usize) -> f64,
) {
    let landings = midpoint_contacts(response, to, &inverse_masses);
    for _ in 0..ROUNDS {
        for landing in &landings {
            let parts = landing.weights.iter();
            // Colliders take part in both velocities alike.
            let lag: Vec3 = parts
                .map(|(vertex, weight)| {
                    ((to[*vertex] - from[*vertex]) / duration - velocities[*vertex]) * *weight
                })
                .sum();
            let change =
                if landing.sticks { lag } else { landing.normal * lag.dot(&landing.normal) };
            for (vertex, weight) in &landing.weights {
                velocities[*vertex] +=
                    change * (weight * inverse_masses(*vertex) / landing.effective_inverse_mass);
            }
        }
    }
}

/// The contacts that press with the cloths at `positions`.
fn midpoint_contacts(
    response: &CollisionResponse,
    positions: &[Vec3],
    inverse_masses: impl Fn(usize) -> f64,
) -> Vec<MidpointContact> {
    let each = response.contacts().iter().filter_map(|contact| {
        let normal = contact.linearised.normal;
        let force = contact.contact_force(&response.relative_position(contact, positions)).force;
        let pressing = force.dot(&normal);
        let friction = (force - normal * pressing).norm();
        let parts = contact.pair.vertices.iter().zip(&contact.linearised.weights);
        let parts: Vec<(usize, f64)> = parts
            .filter(|(vertex, _)| response.is_cloth(**vertex))
            .map(|(vertex, weight)| (*vertex as usize, *weight))
            .collect();
        let masses = parts.iter().map(|(vertex, weight)| (*weight, inverse_masses(*vertex)));
        let inverse_mass = effective_inverse_mass(masses);
        let holds = contact.friction > 0.0 && friction < HOLDS * contact.friction * pressing;
        (pressing > 0.0 && inverse_mass > 0.0).then_some(MidpointContact {
            weights: parts,
            normal,
            sticks: holds,
            effective_inverse_mass: inverse_mass,
        })
    });
    each.collect()
}
