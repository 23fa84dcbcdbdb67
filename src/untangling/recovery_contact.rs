// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recovery contacts: contacts that displace intersected cloth by a given vector.

use super::UNTANGLING;
use crate::{
    collision::{Contact, Intersection, LinearisedContact, PrimitivePair},
    surface::{CollisionMesh, Configuration},
    vec3::Vec3,
};

/// Context of the recovery contacts of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecoveryContext<'a> {
    /// At the start of the step.
    pub(crate) configuration: Configuration<'a>,
    /// Duration of the step, in s.
    pub(crate) duration: f64,
    /// Time for which surfaces have intersected, in s.
    pub(crate) intersection_time: f64,
}

/// Displacement of a vertex relative to a triangle by a recovery contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Displacement {
    /// In m.
    pub(super) vector: Vec3,
    /// Compression that determines the force, from 0 to 1.
    pub(super) compression: f64,
}

impl RecoveryContext<'_> {
    /// Contact that displaces a vertex relative to the triangle of an intersection, at most as far
    /// as the length of its edge allows. Its compression is at least the initial one of
    /// `displacement`, grown by the intersection time.
    pub(super) fn edge_recovery_contact(
        &self,
        intersection: Intersection,
        vertex: u32,
        displacement: Displacement,
    ) -> Option<Contact> {
        let Self { configuration, duration, intersection_time } = *self;
        let Configuration { mesh, positions } = configuration;
        let [start, end] = mesh.edges[intersection.edge as usize];
        let edge_length = (positions[end as usize] - positions[start as usize]).norm();
        let max_fraction = (UNTANGLING.max_edge_rate * duration).min(UNTANGLING.max_edge_fraction);
        let max_length = (edge_length * max_fraction).min(UNTANGLING.max_speed * duration);
        let vector = displacement.vector.cap_magnitude(max_length);
        let min_compression = grown_compression(displacement.compression, intersection_time);
        let acceleration_term =
            UNTANGLING.compression_per_acceleration * vector.norm() / (duration * duration);
        let compression = acceleration_term.clamp(min_compression, 1.0);
        let pair = PrimitivePair::vertex_face(mesh, vertex, intersection.triangle);
        recovery_contact(configuration, pair, Displacement { vector, compression })
    }
}

/// Compression that starts at `initial` and doubles during an intersection, up to 1.
pub(super) fn grown_compression(initial: f64, intersection_time: f64) -> f64 {
    (initial * (intersection_time / UNTANGLING.compression_doubling_time).exp2()).min(1.0)
}

/// Sum of the thicknesses of a vertex and of a triangle, in m.
pub(super) fn combined_thickness(mesh: &CollisionMesh, vertex: u32, triangle: u32) -> f64 {
    let [corner, ..] = mesh.triangles[triangle as usize];
    mesh.surface_properties[vertex as usize].thickness
        + mesh.surface_properties[corner as usize].thickness
}

/// Contact that displaces a vertex relative to a triangle.
pub(super) fn recovery_contact(
    Configuration { mesh, positions }: Configuration<'_>,
    pair: PrimitivePair,
    Displacement { vector, compression }: Displacement,
) -> Option<Contact> {
    let length = vector.norm();
    let normal = vector.try_normalize(f64::MIN_POSITIVE)?;
    let weights = pair.closest_point_weights(positions);
    let area = pair.contact_area(mesh, &weights);
    let linearised = LinearisedContact { weights, normal, gap: 0.0, has_penetrated: true };
    let mut contact = Contact::new(pair, linearised, length / compression, area);
    contact.initial_relative_position = contact.relative_position(positions);
    contact.linearised.gap = contact.initial_relative_position.dot(&normal);
    contact.set_target_distance(contact.linearised.gap + length);
    contact.set_compression(compression);
    Some(contact)
}
