// SPDX-License-Identifier: MIT OR Apache-2.0
//! Input of all cloth models: mesh, materials and factors of the vertices.

use crate::{
    material::Material,
    mesh::{Mesh, ShapeGradients},
};
use std::sync::Arc;

/// All cloths of a scene as one mesh, with their materials and the factors of their vertices.
#[derive(Clone, Copy, Debug)]
pub struct ModelInput<'a> {
    /// All cloths, joined.
    pub mesh: &'a Mesh,
    /// One material for each cloth.
    pub materials: &'a [Material],
    /// Factors b_u, b_v on the lengths at rest along warp and weft, one pair for each vertex; empty where nothing is
    /// shrunk or lengthened.
    pub rest_scale: &'a [[f64; 2]],
    /// Factor on the stiffness of the springs at each vertex; empty where all are 1.
    pub stiffness_scale: &'a [f64],
    /// Factors on the stiffness against stretch, shear and bending at each vertex; empty where all are 1.
    pub property_scale: &'a [[f64; 3]],
}

impl ModelInput<'_> {
    /// Mean of the scales of lengths at some vertices.
    pub(super) fn mean_rest_scale(&self, vertices: &[u32]) -> [f64; 2] {
        mean_scale(self.rest_scale, vertices)
    }

    /// Mean of the factors on stretch, shear and bending at some vertices.
    pub(super) fn mean_property_scale(&self, vertices: &[u32]) -> [f64; 3] {
        if self.property_scale.is_empty() {
            return [1.0; 3];
        }
        [0, 1, 2].map(|kind| mean(vertices, |vertex| self.property_scale[vertex][kind]))
    }

    /// Mean of the factors on stiffness at some vertices.
    pub(super) fn mean_stiffness_scale(&self, vertices: &[u32]) -> f64 {
        if self.stiffness_scale.is_empty() {
            return 1.0;
        }
        mean(vertices, |vertex| self.stiffness_scale[vertex])
    }
}

/// Gradients of the shape functions of all triangles over scaled lengths at rest, in 1/m: over b_u and b_v.
#[must_use]
pub fn scaled_gradients(mesh: &Mesh, rest_scale: &[[f64; 2]]) -> Arc<Vec<ShapeGradients>> {
    if rest_scale.is_empty() {
        return Arc::clone(&mesh.rest.gradients);
    }
    let triangles = mesh.topology.triangles.iter().zip(mesh.rest.gradients.as_slice());
    let one = |(vertices, gradients): (&[u32; 3], &ShapeGradients)| {
        let [u, v] = mean_scale(rest_scale, vertices);
        gradients.map(|[a, b]| [a / u, b / v])
    };
    Arc::new(triangles.map(one).collect())
}

/// Factor on the length at rest of an edge of a triangle.
#[must_use]
pub fn edge_scale(mesh: &Mesh, rest_scale: &[[f64; 2]], ends: [u32; 2], triangle: usize) -> f64 {
    let [a, b] = ends.map(|vertex| mesh.rest.positions[vertex as usize]);
    let along_warp = ((b - a).dot(&mesh.warp(triangle)) / (b - a).norm()).powi(2).min(1.0);
    scale_along(along_warp, mean_scale(rest_scale, &ends))
}

/// Factor on the length at rest in a direction, with the square of its cosine with the warp.
pub(super) fn scale_along(along_warp: f64, [u, v]: [f64; 2]) -> f64 {
    (along_warp * u * u + (1.0 - along_warp) * v * v).sqrt()
}

/// Mean of the factors b_u, b_v at some vertices; 1 where there are none.
pub(super) fn mean_scale(rest_scale: &[[f64; 2]], vertices: &[u32]) -> [f64; 2] {
    if rest_scale.is_empty() {
        return [1.0; 2];
    }
    [0, 1].map(|axis| mean(vertices, |vertex| rest_scale[vertex][axis]))
}

fn mean(vertices: &[u32], value: impl Fn(usize) -> f64) -> f64 {
    vertices.iter().map(|vertex| value(*vertex as usize)).sum::<f64>() / vertices.len() as f64
}
