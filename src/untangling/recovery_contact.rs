// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contacts that draw apart what has crossed.

use crate::{
    Vec3,
    collision::{Contact, Intersection, LinearisedContact, PrimitivePair},
    surface::CollisionMesh,
};

/// Lengths of the edge by which its ends are drawn back in a second.
const EDGES_PER_SECOND: f64 = 24.0;
/// They are never drawn faster, in m/s.
const FASTEST: f64 = 2.0;
/// Compression at which an end is drawn, by its way over the square of the duration of the step, in s²/m: three times
/// what moves cloth of .2 kg/m² there within the step. Many ends are drawn at once, and what stiff contacts ask of
/// large triangles they get by turning these by far.
const HASTE: f64 = 6.0e-4;
/// Time in s in which the least compression doubles, as long as something crosses.
const DOUBLING_TIME: f64 = 0.1;

/// How vertices are drawn in a step of a `duration`, where something has crossed for a time already, both in s, with
/// all vertices at `positions` in m.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecoveryContext<'a> {
    pub(crate) mesh: &'a CollisionMesh,
    pub(crate) positions: &'a [Vec3],
    pub(crate) duration: f64,
    pub(crate) intersection_time: f64,
}

impl RecoveryContext<'_> {
    /// Draws a vertex a `way` in m relative to the triangle of a crossing, but no further than the length of its edge
    /// allows, with the force at a compression or more: at first `least`, and twice that again and again.
    pub(crate) fn edge_recovery_contact(
        &self,
        crossing: Intersection,
        vertex: u32,
        (way, least): (Vec3, f64),
    ) -> Option<Contact> {
        let Self { mesh: surfaces, positions, duration, intersection_time: crossed_for } = *self;
        let [start, end] = surfaces.edges[crossing.edge as usize];
        let length = (positions[end as usize] - positions[start as usize]).norm();
        let most = (length * (EDGES_PER_SECOND * duration).min(0.5)).min(FASTEST * duration);
        let way = way.cap_magnitude(most);
        let least = grown_compression(least, crossed_for);
        let compression = (HASTE * way.norm() / (duration * duration)).clamp(least, 1.0);
        let pair = PrimitivePair::vertex_face(surfaces, vertex, crossing.triangle);
        recovery_contact(surfaces, positions, pair, (way, compression))
    }
}

/// A compression that was the `least` at first, after a time in s.
pub(crate) fn grown_compression(least: f64, crossed_for: f64) -> f64 {
    (least * (crossed_for / DOUBLING_TIME).exp2()).min(1.0)
}

/// A contact that draws a vertex a `way` in m, relative to a triangle, with the force at a compression.
pub(crate) fn recovery_contact(
    surfaces: &CollisionMesh,
    positions: &[Vec3],
    pair: PrimitivePair,
    (way, compression): (Vec3, f64),
) -> Option<Contact> {
    let length = way.norm();
    let normal = way.try_normalize(f64::MIN_POSITIVE)?;
    let weights = pair.closest_point_weights(positions);
    let area = pair.contact_area(surfaces, &weights);
    let touch = LinearisedContact { weights, normal, gap: 0.0, has_penetrated: true };
    let mut contact = Contact::new(pair, touch, length / compression, area);
    contact.initial_relative_position = contact.relative_position(positions);
    contact.linearised.gap = contact.initial_relative_position.dot(&normal);
    contact.set_target_distance(contact.linearised.gap + length);
    contact.set_compression(compression);
    Some(contact)
}
