// SPDX-License-Identifier: MIT OR Apache-2.0
//! Distribution of prescribed displacements over the layers between pushing colliders, by a
//! weighted graph Laplacian.
//!
//! Layers between two walls that close by less than their total gap stay apart if each gap shrinks
//! by the same fraction. Nodes of an electric circuit between two voltages behave so, with gaps as
//! resistances: the displacements of all following vertices minimise Σ |relative displacement|² /
//! gap over the pairs. The conductance of a pair that violates its gap nevertheless grows with
//! every round.

use super::TRUNCATION;
use crate::collision::{PairKind, PrimitivePair};
use crate::vec3::Vec3;
use std::collections::BTreeMap;

/// Gap below which conductances do not grow further, in m.
const MIN_GAP: f64 = 1.0e-9;

/// A pair that following vertices must not violate: an edge of the graph.
#[derive(Clone, Debug)]
struct GapLink {
    vertices: [u32; 4],
    weights: [f64; 4],
    /// Initial conductance 1/gap, and the present one, in 1/m.
    conductances: [f64; 2],
}

/// Graph of the pairs between following vertices and the features that push them.
#[derive(Clone, Debug, Default)]
pub(crate) struct DisplacementDistribution {
    links: BTreeMap<(PairKind, [u32; 2]), GapLink>,
    /// Longest prescribed displacement of a pushing vertex, in m.
    max_prescribed_displacement: f64,
}

/// Normal equations of the least squares, by index of the unknown vertices.
struct LaplacianSystem<'a> {
    distribution: &'a DisplacementDistribution,
    unknown_of_vertex: BTreeMap<u32, usize>,
    regularization: Vec<f64>,
    diagonal: Vec<f64>,
}

impl DisplacementDistribution {
    /// Adds a violating pair, with all vertices at `start_positions` in m at the start of the step. The
    /// displacements of its prescribed vertices are at most `max_displacement` in m.
    pub(crate) fn add_pair(
        &mut self,
        pair: &PrimitivePair,
        start_positions: &[Vec3],
        max_displacement: f64,
    ) {
        self.max_prescribed_displacement = self.max_prescribed_displacement.max(max_displacement);
        let link = self.links.entry(pair.key()).or_insert_with(|| GapLink {
            vertices: pair.vertices,
            weights: pair.closest_point_weights(start_positions),
            conductances: [1.0, 1.0 / TRUNCATION.conductance_growth]
                .map(|factor| factor / pair.start_distance.max(MIN_GAP)),
        });
        link.conductances[1] *= TRUNCATION.conductance_growth;
    }

    /// Displacements of the following vertices in m by conjugate gradients, from the initial guess
    /// `displacements`; `prescribed` are the displacements of all other vertices.
    pub(crate) fn solve(
        &self,
        displacements: &BTreeMap<u32, Vec3>,
        prescribed: impl Fn(u32) -> Vec3,
    ) -> Vec<Vec3> {
        let system = LaplacianSystem::new(self, displacements);
        let mut solution: Vec<Vec3> = displacements.values().copied().collect();
        let mut residual = system.residual(&solution, prescribed);
        let mut direction = system.jacobi_preconditioned(&residual);
        let mut squared_norm = dot(&residual, &direction);
        let threshold = TRUNCATION.relative_tolerance * squared_norm;
        for _ in 0..TRUNCATION.max_iterations {
            if squared_norm <= threshold {
                break;
            }
            let product = system.multiply(&direction);
            let step_length = squared_norm / dot(&direction, &product);
            for (index, search) in direction.iter().enumerate() {
                solution[index] += search * step_length;
                residual[index] -= product[index] * step_length;
            }
            let preconditioned_residual = system.jacobi_preconditioned(&residual);
            let previous =
                std::mem::replace(&mut squared_norm, dot(&residual, &preconditioned_residual));
            for (search, preconditioned) in direction.iter_mut().zip(preconditioned_residual) {
                *search = preconditioned + *search * (squared_norm / previous);
            }
        }
        // Small weights amplify displacements where hardly any gap remains.
        let max_displacement = TRUNCATION.max_amplification * self.max_prescribed_displacement;
        solution
            .into_iter()
            .map(|displacement| displacement.cap_magnitude(max_displacement))
            .collect()
    }
}

impl<'a> LaplacianSystem<'a> {
    fn new(
        distribution: &'a DisplacementDistribution,
        displacements: &BTreeMap<u32, Vec3>,
    ) -> Self {
        let unknown_of_vertex: BTreeMap<u32, usize> =
            displacements.keys().enumerate().map(|(index, vertex)| (*vertex, index)).collect();
        let mut regularization: Vec<f64> = vec![0.0; unknown_of_vertex.len()];
        let mut diagonal = vec![0.0; unknown_of_vertex.len()];
        for GapLink { vertices, weights, conductances: [first, conductance] } in
            distribution.links.values()
        {
            for (vertex, weight) in vertices.iter().zip(weights) {
                if let Some(index) = unknown_of_vertex.get(vertex) {
                    regularization[*index] =
                        regularization[*index].max(TRUNCATION.regularization * first);
                    diagonal[*index] += conductance * weight * weight;
                }
            }
        }
        for (diagonal_entry, regularization_entry) in diagonal.iter_mut().zip(&regularization) {
            *diagonal_entry += regularization_entry;
        }
        Self { distribution, unknown_of_vertex, regularization, diagonal }
    }

    /// Negative gradient of the least squares at the initial guess, where the regularization
    /// vanishes.
    fn residual(&self, displacements: &[Vec3], prescribed: impl Fn(u32) -> Vec3) -> Vec<Vec3> {
        let mut residual = vec![Vec3::zeros(); displacements.len()];
        let displacement = |vertex: u32| {
            self.unknown_of_vertex
                .get(&vertex)
                .map_or_else(|| prescribed(vertex), |n| displacements[*n])
        };
        self.accumulate(displacement, -1.0, &mut residual);
        residual
    }

    fn multiply(&self, displacements: &[Vec3]) -> Vec<Vec3> {
        let displacement = |vertex: u32| {
            self.unknown_of_vertex.get(&vertex).map_or_else(Vec3::zeros, |n| displacements[*n])
        };
        let each = displacements.iter().zip(&self.regularization);
        let mut result: Vec<Vec3> = each
            .map(|(displacement, regularization_entry)| displacement * *regularization_entry)
            .collect();
        self.accumulate(displacement, 1.0, &mut result);
        result
    }

    fn accumulate(&self, displacement: impl Fn(u32) -> Vec3, factor: f64, result: &mut [Vec3]) {
        for link in self.distribution.links.values() {
            let weighted_vertices = || link.vertices.iter().zip(&link.weights);
            let relative_displacement: Vec3 =
                weighted_vertices().map(|(vertex, weight)| displacement(*vertex) * *weight).sum();
            for (vertex, weight) in weighted_vertices() {
                if let Some(index) = self.unknown_of_vertex.get(vertex) {
                    result[*index] +=
                        relative_displacement * (factor * link.conductances[1] * weight);
                }
            }
        }
    }

    fn jacobi_preconditioned(&self, residual: &[Vec3]) -> Vec<Vec3> {
        let each = residual.iter().zip(&self.diagonal);
        each.map(
            |(residual, diagonal_entry)| {
                if *diagonal_entry > 0.0 { residual / *diagonal_entry } else { Vec3::zeros() }
            },
        )
        .collect()
    }
}

fn dot(one: &[Vec3], other: &[Vec3]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a.dot(b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two layers between a fixed wall and one that descends by 3 mm, with gaps of 1, 2 and 3 mm.
    #[test]
    fn layers_share_the_remaining_gap() {
        let vertex_on = |vertex: u32, other: u32, gap: f64| {
            let link = GapLink {
                vertices: [vertex, other, other, other],
                weights: [1.0, -1.0, 0.0, 0.0],
                conductances: [1.0 / gap; 2],
            };
            ((PairKind::VertexFace, [vertex, other]), link)
        };
        let links = [vertex_on(0, 9, 1e-3), vertex_on(1, 0, 2e-3), vertex_on(8, 1, 3e-3)];
        let distribution = DisplacementDistribution {
            links: links.into_iter().collect(),
            max_prescribed_displacement: 3e-3,
        };
        let displacements = BTreeMap::from([(0, Vec3::zeros()), (1, Vec3::zeros())]);
        let downward = |displacement: f64| Vec3::new(0.0, 0.0, -displacement);
        let solution = distribution
            .solve(&displacements, |vertex| downward(if vertex == 8 { 3e-3 } else { 0.0 }));
        for (displacement, expected) in solution.iter().zip([0.5e-3, 1.5e-3]) {
            assert!((displacement - downward(expected)).norm() < 5e-5, "{displacement:?}");
        }
    }

    /// A vertex with weight 0.01 in the pushed pair would have to move a hundred times as far.
    #[test]
    fn small_weights_do_not_amplify_displacements() {
        let link = GapLink {
            vertices: [0, 9, 9, 9],
            weights: [0.01, -1.0, 0.0, 0.0],
            conductances: [1e3, 1e9],
        };
        let links = BTreeMap::from([((PairKind::VertexFace, [0, 9]), link)]);
        let distribution = DisplacementDistribution { links, max_prescribed_displacement: 1e-3 };
        let solution =
            distribution.solve(&BTreeMap::from([(0, Vec3::zeros())]), |_| Vec3::z() * 1e-3);
        assert!(
            (solution[0].norm() - TRUNCATION.max_amplification * 1e-3).abs() < 1e-9,
            "{solution:?}"
        );
    }
}
