// SPDX-License-Identifier: MIT OR Apache-2.0
//! The triangles that a pressure acts on, and the volume behind them.

use crate::{mesh::Mesh, vec3::Vec3};
use std::{
    collections::BTreeMap,
    ops::{Add, Mul, Range},
};

/// Surface of one cloth, with weights of the pressure.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    /// Vertices of the cloth.
    pub(super) vertices: Range<usize>,
    /// Corners of the triangles, numbered within the cloth.
    pub(super) triangles: Vec<[u32; 3]>,
    /// Weight of each triangle.
    weights: Vec<f64>,
    /// Edges that are not passed as often in one direction as in the other, with the excess.
    rim: Vec<([u32; 2], f64)>,
}

impl Surface {
    /// Surface of a cloth with a weight of each of its vertices; without any they are 1.
    pub(super) fn new(mesh: &Mesh, cloth: usize, vertex_weights: &[f64]) -> Self {
        let triangles = triangles_of(mesh, cloth);
        let corner_weight = |corner: &u32| vertex_weights.get(*corner as usize).unwrap_or(&1.0);
        let weight = |corners: &[u32; 3]| corners.iter().map(corner_weight).sum::<f64>() / 3.0;
        let weights = triangles.iter().map(weight).collect();
        Self { vertices: mesh.vertices_of(cloth), rim: rim(&triangles), triangles, weights }
    }

    /// Whether it has no rim.
    pub(super) fn is_closed(&self) -> bool {
        self.rim.is_empty()
    }

    /// Corners and weight of each triangle.
    pub(super) fn weighted_triangles(&self) -> impl Iterator<Item = (&[u32; 3], f64)> {
        self.triangles.iter().zip(self.weights.iter().copied())
    }

    /// Weights of the vertices, numbered within the cloth, in the mean position of the rim at rest; of the surface
    /// where there is no rim. Their sum is 1.
    pub(super) fn mean_weights(&self, mesh: &Mesh) -> Vec<f64> {
        let positions = &mesh.rest.positions[self.vertices.clone()];
        let mut weights = vec![0.0; self.vertices.len()];
        for (ends, excess) in &self.rim {
            let [from, to] = ends.map(|vertex| vertex as usize);
            let length = (positions[to] - positions[from]).norm() * excess;
            weights[from] += length;
            weights[to] += length;
        }
        for corners in self.triangles.iter().filter(|_| self.is_closed()) {
            let area = doubled_area(&corners.map(|vertex| positions[vertex as usize])).norm();
            for vertex in corners {
                weights[*vertex as usize] += area;
            }
        }
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }
}

/// Volume enclosed by a cloth with all cloths at `positions` in m, as seen from the mean of its vertices; positive if
/// the triangles turn around outward normals.
pub(crate) fn enclosed_volume(mesh: &Mesh, cloth: usize, positions: &[Vec3]) -> f64 {
    volume(&positions[mesh.vertices_of(cloth)], &triangles_of(mesh, cloth))
}

/// Volume in m³ of the cones from the mean of `positions` in m to triangles.
pub(super) fn volume(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let origin = positions.iter().sum::<Vec3>() / positions.len() as f64;
    let cone = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|vertex| positions[vertex as usize] - origin);
        a.dot(&b.cross(&c)) / 6.0
    };
    triangles.iter().map(cone).sum()
}

/// Normal of a triangle, as long as twice its area.
pub(super) fn doubled_area([a, b, c]: &[Vec3; 3]) -> Vec3 {
    (b - a).cross(&(c - a))
}

/// Integral over straight paths of the corners of a triangle of what is a cubic polynomial in time, by Simpson's rule.
pub(super) fn integral_along_path<T>(
    start: &[Vec3; 3],
    end: &[Vec3; 3],
    integrand: impl Fn(&[Vec3; 3]) -> T,
) -> T
where
    T: Add<Output = T> + Mul<f64, Output = T>,
{
    let middle = [0, 1, 2].map(|corner| (start[corner] + end[corner]) * 0.5);
    integrand(start) * (1.0 / 6.0) + integrand(&middle) * (2.0 / 3.0) + integrand(end) * (1.0 / 6.0)
}

/// Volume in m³ that a triangle sweeps on straight paths of its corners along its normal.
pub(super) fn swept_volume(start: &[Vec3; 3], end: &[Vec3; 3]) -> f64 {
    let displacements = [0, 1, 2].map(|corner| end[corner] - start[corner]);
    let mean = integral_along_path(start, end, doubled_area);
    mean.dot(&displacements.iter().sum::<Vec3>()) / 6.0
}

/// Corners of the triangles of a cloth, numbered within it.
fn triangles_of(mesh: &Mesh, cloth: usize) -> Vec<[u32; 3]> {
    let first = mesh.vertices_of(cloth).start as u32;
    let all = mesh.topology.triangles.iter().zip(mesh.cloth_of_triangle.iter());
    let own = all.filter(|(_, owner)| **owner as usize == cloth);
    own.map(|(corners, _)| corners.map(|vertex| vertex - first)).collect()
}

/// Edges that are not passed as often in one direction as in the other, with the excess.
fn rim(triangles: &[[u32; 3]]) -> Vec<([u32; 2], f64)> {
    let mut passes: BTreeMap<[u32; 2], i32> = BTreeMap::new();
    for [a, b, c] in triangles {
        for [from, to] in [[*a, *b], [*b, *c], [*c, *a]] {
            *passes.entry([from.min(to), from.max(to)]).or_default() +=
                if from < to { 1 } else { -1 };
        }
    }
    let uneven = passes.into_iter().filter(|(_, sum)| *sum != 0);
    uneven.map(|(edge, sum)| (edge, f64::from(sum.abs()))).collect()
}
