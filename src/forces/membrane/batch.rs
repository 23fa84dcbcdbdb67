// SPDX-License-Identifier: MIT OR Apache-2.0
//! Strains and forces of triangles, four at a time.

use super::{CornerForces, Strain, Tension};
use crate::{
    mesh::ShapeGradients,
    parallel::reductions,
    simd::{Kernel, Lanes, dispatch, lane_indices},
    vec3::Vec3,
};
use rayon::prelude::*;

/// Triangles that are worth a task of their own.
const MIN_PER_TASK: usize = reductions::MIN_ELEMENTS_PER_TASK;

/// A law for triangles.
pub(super) trait StressLaw {
    /// Stress of a triangle in N/m, and its potential per area in J/m².
    fn respond(&self, triangle: usize, strain: &Strain) -> (Strain, f64);
}

/// Triangles at rest.
#[derive(Clone, Copy)]
pub(super) struct TriangleBatch<'a> {
    pub(super) triangles: &'a [[u32; 3]],
    pub(super) gradients: &'a [ShapeGradients],
    pub(super) areas: &'a [f64],
}

impl TriangleBatch<'_> {
    /// Computes stresses, and forces at the second and third corners. Returns the potential, in J.
    pub(super) fn evaluate(
        &self,
        positions: &[Vec3],
        stresses: &mut [Strain],
        corner_forces: &mut [CornerForces],
        law: &(impl StressLaw + Sync),
    ) -> f64 {
        let chunks =
            stresses.par_chunks_mut(MIN_PER_TASK).zip(corner_forces.par_chunks_mut(MIN_PER_TASK));
        let potentials: Vec<f64> = chunks
            .enumerate()
            .map(|(chunk, (results, corner_forces))| {
                let (batch, first) = (*self, chunk * MIN_PER_TASK);
                dispatch(EvaluateTriangles { batch, positions, first, results, corner_forces, law })
            })
            .collect();
        potentials.iter().sum()
    }

    /// Writes `one(triangle, strain, strain rate)` to `results` for every triangle; the strain rate is the first-order
    /// change of the strain by a displacement from a shape.
    pub(super) fn strain_rates(
        &self,
        shape: &[Vec3],
        direction: &[Vec3],
        results: &mut [Tension],
        one: impl Fn(usize, &Strain, &Strain) -> Tension + Sync,
    ) {
        results.par_chunks_mut(MIN_PER_TASK).enumerate().for_each(|(chunk, results)| {
            let (batch, first, one) = (*self, chunk * MIN_PER_TASK, &one);
            dispatch(StrainRates { batch, shape, direction, first, results, one });
        });
    }
}

/// Evaluates triangles from the first on; the output is their potential in J.
struct EvaluateTriangles<'a, Law> {
    batch: TriangleBatch<'a>,
    positions: &'a [Vec3],
    first: usize,
    results: &'a mut [Strain],
    corner_forces: &'a mut [CornerForces],
    law: &'a Law,
}

impl<Law: StressLaw> Kernel for EvaluateTriangles<'_, Law> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> f64 {
        let Self { batch, positions, first, results, corner_forces, law } = self;
        let mut sum = 0.0;
        let fours = results.chunks_mut(4).zip(corner_forces.chunks_mut(4)).enumerate();
        for (four, (results, corner_forces)) in fours {
            let own = lane_indices(first + 4 * four, batch.triangles.len());
            let current = FourTriangles::new(lanes, &batch, &own, positions);
            let strains = current.strains(lanes);
            let mut stresses = [[0.0; 4]; 3];
            for k in 0..results.len() {
                let strain = [strains[0][k], strains[1][k], strains[2][k]];
                let (stress, potential) = law.respond(own[k], &strain);
                sum += batch.areas[own[k]] * potential;
                for (stresses, stress) in stresses.iter_mut().zip(stress) {
                    stresses[k] = stress;
                }
            }
            let areas = lanes.gather_four(&own, batch.areas);
            let [second, third] = current.forces(lanes, &stresses, areas);
            for (k, (stress, forces)) in results.iter_mut().zip(corner_forces).enumerate() {
                *stress = [stresses[0][k], stresses[1][k], stresses[2][k]];
                *forces = [second[k].into(), third[k].into()];
            }
        }
        sum
    }
}

/// Computes strain rates of triangles from the first on.
struct StrainRates<'a, One> {
    batch: TriangleBatch<'a>,
    /// Positions, in m.
    shape: &'a [Vec3],
    /// Displacement from the shape, in m.
    direction: &'a [Vec3],
    first: usize,
    results: &'a mut [Tension],
    one: &'a One,
}

impl<One: Fn(usize, &Strain, &Strain) -> Tension> Kernel for StrainRates<'_, One> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { batch, shape, direction, first, results, one } = self;
        for (four, results) in results.chunks_mut(4).enumerate() {
            let own = lane_indices(first + 4 * four, batch.triangles.len());
            let [now, change] =
                [shape, direction].map(|field| FourTriangles::new(lanes, &batch, &own, field));
            let (strains, rates) = (now.strains(lanes), now.strain_rates(lanes, &change));
            for (k, result) in results.iter_mut().enumerate() {
                let [strain, rate] = [&strains, &rates].map(|of| [of[0][k], of[1][k], of[2][k]]);
                *result = one(own[k], &strain, &rate);
            }
        }
    }
}

/// Four triangles.
struct FourTriangles<L: Lanes> {
    /// Gradients of the second and third corner along warp and weft, in 1/m.
    gradients: [[L::Four; 2]; 2],
    /// Derivatives of the position along warp and weft.
    derivatives: [[L::Four; 3]; 2],
}

impl<L: Lanes> FourTriangles<L> {
    #[inline(always)]
    fn new(lanes: L, batch: &TriangleBatch<'_>, own: &[usize; 4], positions: &[Vec3]) -> Self {
        let rest = |corner: usize, axis: usize| {
            let one = |k: usize| batch.gradients[own[k]][corner][axis];
            lanes.load_four(&[one(0), one(1), one(2), one(3)])
        };
        let gradients = [[rest(0, 0), rest(0, 1)], [rest(1, 0), rest(1, 1)]];
        let corner = |c: usize| lanes.vectors(|k| &positions[batch.triangles[own[k]][c] as usize]);
        let (x, y, z) = (corner(0), corner(1), corner(2));
        let derivative = |axis: usize, k: usize| {
            let second = lanes.product(lanes.minus(y[k], x[k]), gradients[0][axis]);
            let third = lanes.product(lanes.minus(z[k], x[k]), gradients[1][axis]);
            lanes.plus(second, third)
        };
        let derivatives = [
            [derivative(0, 0), derivative(0, 1), derivative(0, 2)],
            [derivative(1, 0), derivative(1, 1), derivative(1, 2)],
        ];
        Self { gradients, derivatives }
    }

    /// Green strains.
    #[inline(always)]
    fn strains(&self, lanes: L) -> [[f64; 4]; 3] {
        let [su, sv] = &self.derivatives;
        let half = |square: L::Four| {
            lanes.to_numbers(
                lanes.product(lanes.splat_four(0.5), lanes.minus(square, lanes.splat_four(1.0))),
            )
        };
        [half(lanes.dot(su, su)), half(lanes.dot(sv, sv)), lanes.to_numbers(lanes.dot(su, sv))]
    }

    /// Changes of strain to first order, with these changes of the position.
    #[inline(always)]
    fn strain_rates(&self, lanes: L, change: &Self) -> [[f64; 4]; 3] {
        let ([su, sv], [du, dv]) = (&self.derivatives, &change.derivatives);
        let shear = lanes.plus(lanes.dot(su, dv), lanes.dot(sv, du));
        [lanes.dot(su, du), lanes.dot(sv, dv), shear].map(|rate| lanes.to_numbers(rate))
    }

    /// Forces at the second and third corner.
    #[inline(always)]
    fn forces(&self, lanes: L, stresses: &[[f64; 4]; 3], areas: L::Four) -> [[Vec3; 4]; 2] {
        let [su, sv] = &self.derivatives;
        let against = lanes.minus(lanes.splat_four(0.0), areas);
        let scaled = |stress: &[f64; 4]| lanes.product(lanes.load_four(stress), against);
        let (s11, s22, s12) = (scaled(&stresses[0]), scaled(&stresses[1]), scaled(&stresses[2]));
        let sum = |a: L::Four, x: L::Four, b: L::Four, y: L::Four| {
            lanes.plus(lanes.product(a, x), lanes.product(b, y))
        };
        let along_warp = |k: usize| sum(su[k], s11, sv[k], s12);
        let along_weft = |k: usize| sum(sv[k], s22, su[k], s12);
        let warp = [along_warp(0), along_warp(1), along_warp(2)];
        let weft = [along_weft(0), along_weft(1), along_weft(2)];
        let force = |[a, b]: [L::Four; 2]| {
            let component = |k: usize| sum(warp[k], a, weft[k], b);
            lanes.split_vectors(&[component(0), component(1), component(2)])
        };
        [force(self.gradients[0]), force(self.gradients[1])]
    }
}
