// SPDX-License-Identifier: MIT OR Apache-2.0
//! Masses of vertices and cloths.

use crate::{material::Material, mesh::Mesh};
use std::{ops::Range, sync::Arc};

/// Lumped masses, in kg.
pub(crate) struct Masses {
    /// Mass of each vertex.
    pub(crate) vertices: Vec<f64>,
    /// Mass of each cloth.
    pub(crate) cloths: Vec<f64>,
    /// Mass of all vertices.
    pub(crate) total: f64,
    /// Lumped area of each vertex, in m².
    vertex_areas: Arc<Vec<f64>>,
    /// Factors on the masses of vertices; empty if all are 1.
    scales: Vec<f64>,
}

impl Masses {
    /// Masses of cloths of some materials, with the lumped area of each vertex in m² and factors, empty if all are 1.
    pub(super) fn new(
        mesh: &Mesh,
        materials: &[Material],
        vertex_areas: Arc<Vec<f64>>,
        scales: Vec<f64>,
    ) -> Self {
        let (vertices, cloths) = (vec![0.0; vertex_areas.len()], vec![0.0; materials.len()]);
        let mut masses = Self { vertices, cloths, total: 0.0, vertex_areas, scales };
        masses.update(mesh, materials, 0..materials.len());
        masses
    }

    /// Computes the masses of the vertices of some cloths, and the sums.
    pub(super) fn update(&mut self, mesh: &Mesh, materials: &[Material], cloths: Range<usize>) {
        for cloth in cloths {
            let density = materials[cloth].density;
            for vertex in mesh.vertices_of(cloth) {
                let scale = self.scales.get(vertex).unwrap_or(&1.0);
                self.vertices[vertex] = density * self.vertex_areas[vertex] * scale;
            }
            self.cloths[cloth] = self.vertices[mesh.vertices_of(cloth)].iter().sum();
        }
        self.total = self.vertices.iter().sum();
    }
}
