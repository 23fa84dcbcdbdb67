// SPDX-License-Identifier: MIT OR Apache-2.0
//! Layer recovery: whole components of cloth return through the cloth that they have penetrated, or
//! into the solid that they have left.

use super::{
    IntersectionState, UNTANGLING,
    recovery_contact::{
        Displacement, RecoveryContext, combined_thickness, grown_compression, recovery_contact,
    },
};
use crate::{
    collision::{Contact, PrimitivePair},
    geometry::{Aabb, AabbTree, TriangleFeature, closest_point_on_triangle},
    mesh::NO_INDEX,
    surface::{CollisionMesh, Configuration},
    vec3::Vec3,
};
use std::collections::BTreeSet;

impl IntersectionState {
    /// Recovery contacts of whole components, towards the closest point of the cloth that they have
    /// penetrated, or of the solid that they have left.
    pub(crate) fn layer_recovery_contacts(&self, context: &RecoveryContext<'_>) -> Vec<Contact> {
        let Configuration { mesh, .. } = context.configuration;
        let cloths = 0..mesh.cloth_count as u32;
        let enclosing = mesh.enclosed_cloths.iter().map(|[_, body]| *body);
        let bodies: BTreeSet<u32> = cloths.chain(enclosing).collect();
        let mut contacts = Vec::new();
        for body in bodies {
            let vertices = self.vertices_to_recover(mesh, body);
            if vertices.is_empty() {
                continue;
            }
            let triangles = BodyTriangles::new(context.configuration, body);
            let contact = |(vertex, side)| layer_contact(context, &triangles, vertex, side);
            contacts.extend(vertices.into_iter().filter_map(contact));
        }
        contacts
    }

    /// Cloth vertices in components that have penetrated a body, each with its right side, if known.
    fn vertices_to_recover(&self, mesh: &CollisionMesh, body: u32) -> Vec<(u32, f64)> {
        let right_side = |vertex: u32| {
            let cloth = mesh.bodies[vertex as usize];
            let leaves_solid =
                mesh.is_solid(body) && !mesh.enclosed_cloths.contains(&[cloth, body]);
            self.layer_order.side(mesh, cloth, body).filter(|_| !leaves_solid)
        };
        let vertices = 0..mesh.cloth_vertex_count as u32;
        let penetrated = vertices.filter(|vertex| self.has_penetrated(&[*vertex], body));
        penetrated.filter_map(|vertex| Some((vertex, right_side(vertex)?))).collect()
    }
}

/// Recovery contact of a vertex on the wrong side of the closest triangle of a body.
fn layer_contact(
    context: &RecoveryContext<'_>,
    triangles: &BodyTriangles,
    vertex: u32,
    side: f64,
) -> Option<Contact> {
    let RecoveryContext { configuration, duration, intersection_time } = *context;
    let mesh = configuration.mesh;
    let (triangle, offset) = triangles.closest_triangle(configuration, vertex)?;
    let distance = offset.norm();
    if side * configuration.signed_height(triangle, vertex) >= 0.0 || distance == 0.0 {
        return None;
    }
    let length = (distance + combined_thickness(mesh, vertex, triangle))
        * (duration / UNTANGLING.layer_recovery_time).min(1.0);
    let displacement = Displacement {
        vector: offset * (-length / distance),
        compression: grown_compression(UNTANGLING.initial_compression, intersection_time),
    };
    let pair = PrimitivePair::vertex_face(mesh, vertex, triangle);
    recovery_contact(configuration, pair, displacement)
}

/// Triangles of a body, for closest-point queries.
struct BodyTriangles {
    triangles: Vec<u32>,
    tree: AabbTree,
}

impl BodyTriangles {
    fn new(Configuration { mesh, positions }: Configuration<'_>, body: u32) -> Self {
        let triangles: Vec<u32> = mesh
            .triangles_in_use()
            .filter(|triangle| mesh.body_of_triangle(*triangle) == body)
            .collect();
        let aabb = |triangle: &u32| {
            let corners = mesh.triangles[*triangle as usize];
            Aabb::from_points(corners.iter().map(|vertex| &positions[*vertex as usize]))
        };
        let boxes: Vec<Aabb> = triangles.iter().map(aabb).collect();
        Self { triangles, tree: AabbTree::new(&boxes) }
    }

    /// Closest triangle, and the offset from it to a vertex in m; `None` if the closest point is on
    /// a border.
    fn closest_triangle(
        &self,
        Configuration { mesh, positions }: Configuration<'_>,
        vertex: u32,
    ) -> Option<(u32, Vec3)> {
        let point = positions[vertex as usize];
        let found = self.tree.nearest(&point, f64::INFINITY, |index| {
            let corners = mesh.triangles[self.triangles[index] as usize];
            let closest = closest_point_on_triangle(
                &point,
                &corners.map(|vertex| positions[vertex as usize]),
            );
            (closest.distance_squared, closest)
        })?;
        let triangle = self.triangles[found.primitive];
        let is_border =
            |edge: u32| mesh.edge_adjacency[edge as usize].opposite_vertices[1] == NO_INDEX;
        let edges = mesh.triangle_edges[triangle as usize];
        let is_at_border = match found.payload.feature {
            TriangleFeature::Face => false,
            TriangleFeature::Edge(corner) => is_border(edges[usize::from(corner)]),
            TriangleFeature::Vertex(corner) => {
                (0..3).any(|k| k != usize::from(corner) && is_border(edges[k]))
            }
        };
        (!is_at_border).then_some((triangle, found.payload.offset))
    }
}
