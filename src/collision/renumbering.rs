// SPDX-License-Identifier: MIT OR Apache-2.0
//! New numbers of vertices, edges, triangles and bodies where cloths are grouped anew.

use crate::surface::CollisionMesh;
use std::collections::HashMap;

/// Numbers of the edges and triangles of a collision mesh.
pub(crate) struct FeatureNumbers {
    edges: HashMap<[u32; 2], u32>,
    triangles: HashMap<[u32; 3], u32>,
}

impl FeatureNumbers {
    pub(crate) fn new(mesh: &CollisionMesh) -> Self {
        Self {
            edges: mesh.edges.iter().copied().zip(0..).collect(),
            triangles: mesh.triangles.iter().copied().zip(0..).collect(),
        }
    }
}

/// New numbers of the features of a collision mesh in another one, which has some of its cloths and all of its colliders;
/// `None` for what the other one does not have.
pub(crate) struct Renumbering<'a> {
    mesh: &'a CollisionMesh,
    features: &'a FeatureNumbers,
    /// Of each of its cloths.
    cloths: Vec<Option<u32>>,
    /// Of each vertex of cloth and colliders.
    vertices: Vec<Option<u32>>,
    /// Number of cloths of the other mesh.
    cloth_count: usize,
}

impl<'a> Renumbering<'a> {
    /// Renumbering of what a mesh has into that of a target, given the new number of each cloth.
    pub(crate) fn new(
        mesh: &'a CollisionMesh,
        cloths: Vec<Option<u32>>,
        target: &CollisionMesh,
        features: &'a FeatureNumbers,
    ) -> Self {
        let mut vertices = Vec::with_capacity(mesh.bodies.len());
        for (cloth, new) in cloths.iter().enumerate() {
            let start = new.map(|new| target.vertices_of_body(new).start as u32);
            let numbers = 0..mesh.vertices_of_body(cloth as u32).len() as u32;
            vertices.extend(numbers.map(|vertex| start.map(|start| start + vertex)));
        }
        let colliders = 0..(mesh.bodies.len() - vertices.len()) as u32;
        vertices.extend(colliders.map(|vertex| Some(target.cloth_vertex_count as u32 + vertex)));
        Self { mesh, features, cloths, vertices, cloth_count: target.cloth_count }
    }

    /// New number of a vertex of cloth or of a collider.
    pub(crate) fn vertex(&self, vertex: u32) -> Option<u32> {
        self.vertices[vertex as usize]
    }

    /// New number of an edge.
    pub(crate) fn edge(&self, edge: u32) -> Option<u32> {
        let [a, b] = *self.mesh.edges.get(edge as usize)?;
        self.features.edges.get(&[self.vertex(a)?, self.vertex(b)?]).copied()
    }

    /// New number of a triangle.
    pub(crate) fn triangle(&self, triangle: u32) -> Option<u32> {
        let [a, b, c] = *self.mesh.triangles.get(triangle as usize)?;
        let corners = [self.vertex(a)?, self.vertex(b)?, self.vertex(c)?];
        self.features.triangles.get(&corners).copied()
    }

    /// New number of a body: a cloth, or a collider after all cloths.
    pub(crate) fn body(&self, body: u32) -> Option<u32> {
        match (body as usize).checked_sub(self.cloths.len()) {
            None => self.cloths[body as usize],
            Some(collider) => Some((self.cloth_count + collider) as u32),
        }
    }
}
