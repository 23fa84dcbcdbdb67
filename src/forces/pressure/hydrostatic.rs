// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hydrostatic pressure of a fluid at rest: it grows along gravity g by the density ρ of the fluid inside less that of
//! the fluid outside.
//!
//! The pressure ρg·(x − x₀) is integrated exactly over each triangle with the shape functions: the corner a gets
//! n (2pₐ + p_b + p_c)/24 with the doubled area n. On a closed surface the forces sum to the weight ρVg of the fluid
//! whatever x₀, by the divergence theorem, and their potential is −∫ρg·(x − x₀) dV.
//!
//! x₀, where the pressure is that of the law, is the mean of the rim, or of a surface that has none, weighted by lengths
//! and areas at rest. It is constant along the path of a stage, so that the forces of a closed surface have a
//! potential there, and moves with the cloth from stage to stage: a ball that rises has the same pressure everywhere on
//! its way, a vessel that is carried is filled to its rim, and an envelope open below has the pressure outside at its
//! mouth. With a point fixed in space the pressure would depend on the height of the scene. The fluid has no inertia.

use super::surface::{Surface, doubled_area, integral_along_path};
use crate::{mesh::Mesh, vec3::Vec3};
use nalgebra::Matrix3;

/// Hydrostatic pressure on one surface.
#[derive(Clone, Debug)]
pub(super) struct HydrostaticPressure {
    /// Weights of the vertices in x₀.
    mean_weights: Vec<f64>,
    /// x₀, in m.
    reference: Vec3,
    /// Change of the pressure with the position, ρg, in Pa/m.
    gradient: Vec3,
}

impl HydrostaticPressure {
    /// None, on a surface.
    pub(super) fn new(mesh: &Mesh, surface: &Surface) -> Self {
        Self {
            mean_weights: surface.mean_weights(mesh),
            reference: Vec3::zeros(),
            gradient: Vec3::zeros(),
        }
    }

    /// Begins the path of a stage at `positions` of the cloth in m, with ρg in Pa/m.
    pub(super) fn begin_path(&mut self, positions: &[Vec3], gradient: Vec3) {
        let weighted = positions.iter().zip(&self.mean_weights);
        self.reference = weighted.map(|(position, weight)| position * *weight).sum();
        self.gradient = gradient;
    }

    /// Whether there is any pressure.
    fn is_present(&self) -> bool {
        self.gradient != Vec3::zeros()
    }

    /// Sums 2pₐ + p_b + p_c of the pressures at the corners a of a triangle, in Pa.
    fn corner_sums(&self, corners: &[Vec3; 3]) -> [f64; 3] {
        let pressures = corners.map(|corner| self.gradient.dot(&(corner - self.reference)));
        let sum: f64 = pressures.iter().sum();
        pressures.map(|pressure| sum + pressure)
    }

    /// Forces on the corners of a triangle, in N.
    fn triangle_forces(&self, corners: &[Vec3; 3]) -> [Vec3; 3] {
        let area = doubled_area(corners) / 24.0;
        self.corner_sums(corners).map(|sum| area * sum)
    }

    /// Work on straight paths from `start` to `end` in m, vertices of the cloth, in J.
    pub(super) fn work(&self, surface: &Surface, start: &[Vec3], end: &[Vec3]) -> f64 {
        if !self.is_present() {
            return 0.0;
        }
        let work = |(corners, weight): (&[u32; 3], f64)| {
            let [start, end] =
                [start, end].map(|positions| corners.map(|vertex| positions[vertex as usize]));
            let power = |corners: &[Vec3; 3]| {
                let forces = self.triangle_forces(corners);
                (0..3).map(|corner| forces[corner].dot(&(end[corner] - start[corner]))).sum::<f64>()
            };
            weight * integral_along_path(&start, &end, power)
        };
        surface.weighted_triangles().map(work).sum()
    }

    /// Adds the forces at `positions` in m to `forces` in N, both of the vertices of the cloth.
    pub(super) fn add_forces(&self, surface: &Surface, positions: &[Vec3], forces: &mut [Vec3]) {
        if !self.is_present() {
            return;
        }
        for (corners, weight) in surface.weighted_triangles() {
            let found = self.triangle_forces(&corners.map(|vertex| positions[vertex as usize]));
            for (vertex, force) in corners.iter().zip(found) {
                forces[*vertex as usize] += force * weight;
            }
        }
    }

    /// Visits the blocks on and above the diagonal of the Hessian at `positions` of the cloth in m: two vertices
    /// numbered within the cloth and a block in N/m.
    pub(super) fn for_each_block(
        &self,
        surface: &Surface,
        positions: &[Vec3],
        mut visit: impl FnMut([usize; 2], Matrix3<f64>),
    ) {
        if !self.is_present() {
            return;
        }
        for (corners, weight) in surface.weighted_triangles() {
            let places = corners.map(|vertex| positions[vertex as usize]);
            let sums = self.corner_sums(&places);
            let product = doubled_area(&places) * self.gradient.transpose();
            let change = product + product.transpose();
            for a in 0..3 {
                let [b, c] = [(a + 1) % 3, (a + 2) % 3];
                // The doubled area changes with a corner by the cross product with the opposite edge.
                let turn = (places[a] - places[c]) * sums[a] - (places[c] - places[b]) * sums[b];
                let [one, other] = [a, b].map(|corner| corners[corner] as usize);
                visit([one, one], change * (weight / -24.0));
                visit([one, other], (turn.cross_matrix() + change) * (weight / -48.0));
            }
        }
    }
}
