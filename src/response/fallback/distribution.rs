// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where vertices go that colliders push: so that what is squeezed between two of them is shared out.
//!
//! Layers between two walls that close by less than the room there is stay apart if each gap gives up the same part of
//! itself. So do nodes of an electric circuit between two voltages, with gaps for resistors: the ways of all carried
//! vertices together minimise Σ |way of one side − way of the other|² / gap. A pair that would cross even so resists more
//! and more firmly.

use crate::{
    Vec3,
    collision::{PairKind, PrimitivePair},
};
use std::collections::BTreeMap;

/// By so much a pair resists more each time that it would cross again.
const FIRMER: f64 = 4.0;
/// Smallest gap that is told from none, in m.
const SMALLEST_GAP: f64 = 1.0e-9;
/// The part of the firmness of what it is in with which a vertex keeps to the way that it was first pushed. Without it
/// a vertex that hardly takes part in a contact would go any way to make up for others.
const INERTIA: f64 = 0.01;
/// Bounds on the conjugate gradients: their number, and what is left of the squared residual.
const MOST_ITERATIONS: usize = 200;
const ENOUGH: f64 = 1.0e-16;

/// No vertex is carried farther than so many times the longest way of what pushes.
const FARTHEST: f64 = 4.0;

/// A pair that carried vertices are to respect.
#[derive(Clone, Debug)]
struct GapLink {
    vertices: [u32; 4],
    weights: [f64; 4],
    /// 1 / gap, in 1/m, and the same with what it has gained.
    conductances: [f64; 2],
}

/// The pairs between carried vertices and what pushes them.
#[derive(Clone, Debug, Default)]
pub(crate) struct DisplacementDistribution {
    links: BTreeMap<(PairKind, [u32; 2]), GapLink>,
    /// The longest way of what pushes and is not carried itself, in m.
    max_prescribed_displacement: f64,
}

/// The least squares, by numbers of the vertices sought.
struct LaplacianSystem<'a> {
    distribution: &'a DisplacementDistribution,
    unknown_of_vertex: BTreeMap<u32, usize>,
    regularization: Vec<f64>,
    diagonal: Vec<f64>,
}

impl DisplacementDistribution {
    /// Takes in a pair that would cross, with all vertices at `starts` in m when the step began, of which those whose
    /// motion is given go no farther than `farthest` in m.
    pub(crate) fn add_pair(&mut self, pair: &PrimitivePair, starts: &[Vec3], farthest: f64) {
        self.max_prescribed_displacement = self.max_prescribed_displacement.max(farthest);
        let link = self.links.entry(pair.key()).or_insert_with(|| GapLink {
            vertices: pair.vertices,
            weights: pair.closest_point_weights(starts),
            conductances: [1.0, 1.0 / FIRMER]
                .map(|part| part / pair.start_distance.max(SMALLEST_GAP)),
        });
        link.conductances[1] *= FIRMER;
    }

    /// The ways of the carried vertices, from those they have, in m; `given` are those of all others.
    pub(crate) fn solve(
        &self,
        ways: &BTreeMap<u32, Vec3>,
        given: impl Fn(u32) -> Vec3,
    ) -> Vec<Vec3> {
        let equations = LaplacianSystem::new(self, ways);
        let mut found: Vec<Vec3> = ways.values().copied().collect();
        let mut residual = equations.residual(&found, given);
        let mut direction = equations.jacobi_preconditioned(&residual);
        let mut size = dot(&residual, &direction);
        let enough = ENOUGH * size;
        for _ in 0..MOST_ITERATIONS {
            if size <= enough {
                break;
            }
            let change = equations.multiply(&direction);
            let length = size / dot(&direction, &change);
            for (index, along) in direction.iter().enumerate() {
                found[index] += along * length;
                residual[index] -= change[index] * length;
            }
            let next = equations.jacobi_preconditioned(&residual);
            let before = std::mem::replace(&mut size, dot(&residual, &next));
            for (along, new) in direction.iter_mut().zip(next) {
                *along = new + *along * (size / before);
            }
        }
        // Where hardly any room is left, levers would throw vertices away.
        let most = FARTHEST * self.max_prescribed_displacement;
        found.into_iter().map(|way| way.cap_magnitude(most)).collect()
    }
}

impl<'a> LaplacianSystem<'a> {
    fn new(distribution: &'a DisplacementDistribution, ways: &BTreeMap<u32, Vec3>) -> Self {
        let unknown_of_vertex: BTreeMap<u32, usize> =
            ways.keys().enumerate().map(|(number, vertex)| (*vertex, number)).collect();
        let mut regularization: Vec<f64> = vec![0.0; unknown_of_vertex.len()];
        let mut diagonal = vec![0.0; unknown_of_vertex.len()];
        for GapLink { vertices, weights, conductances: [first, now] } in distribution.links.values()
        {
            for (vertex, weight) in vertices.iter().zip(weights) {
                if let Some(number) = unknown_of_vertex.get(vertex) {
                    regularization[*number] = regularization[*number].max(INERTIA * first);
                    diagonal[*number] += now * weight * weight;
                }
            }
        }
        for (own, inertia) in diagonal.iter_mut().zip(&regularization) {
            *own += inertia;
        }
        Self { distribution, unknown_of_vertex, regularization, diagonal }
    }

    /// What the ways leave open but for inertia, which holds them.
    fn residual(&self, ways: &[Vec3], given: impl Fn(u32) -> Vec3) -> Vec<Vec3> {
        let mut residual = vec![Vec3::zeros(); ways.len()];
        let way = |vertex: u32| {
            self.unknown_of_vertex.get(&vertex).map_or_else(|| given(vertex), |n| ways[*n])
        };
        self.accumulate(way, -1.0, &mut residual);
        residual
    }

    fn multiply(&self, ways: &[Vec3]) -> Vec<Vec3> {
        let way = |vertex: u32| {
            self.unknown_of_vertex.get(&vertex).map_or_else(Vec3::zeros, |n| ways[*n])
        };
        let each = ways.iter().zip(&self.regularization);
        let mut sums: Vec<Vec3> = each.map(|(way, inertia)| way * *inertia).collect();
        self.accumulate(way, 1.0, &mut sums);
        sums
    }

    fn accumulate(&self, way: impl Fn(u32) -> Vec3, factor: f64, sums: &mut [Vec3]) {
        for link in self.distribution.links.values() {
            let parts = || link.vertices.iter().zip(&link.weights);
            let apart: Vec3 = parts().map(|(vertex, weight)| way(*vertex) * *weight).sum();
            for (vertex, weight) in parts() {
                if let Some(number) = self.unknown_of_vertex.get(vertex) {
                    sums[*number] += apart * (factor * link.conductances[1] * weight);
                }
            }
        }
    }

    fn jacobi_preconditioned(&self, residual: &[Vec3]) -> Vec<Vec3> {
        let each = residual.iter().zip(&self.diagonal);
        each.map(|(left, own)| if *own > 0.0 { left / *own } else { Vec3::zeros() }).collect()
    }
}

fn dot(one: &[Vec3], other: &[Vec3]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a.dot(b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two layers between a wall that stands and one that comes down by 3 mm, with 1, 2 and 3 mm between them.
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
        let carry = DisplacementDistribution {
            links: links.into_iter().collect(),
            max_prescribed_displacement: 3e-3,
        };
        let ways = BTreeMap::from([(0, Vec3::zeros()), (1, Vec3::zeros())]);
        let down = |way: f64| Vec3::new(0.0, 0.0, -way);
        let found = carry.solve(&ways, |vertex| down(if vertex == 8 { 3e-3 } else { 0.0 }));
        for (way, wanted) in found.iter().zip([0.5e-3, 1.5e-3]) {
            assert!((way - down(wanted)).norm() < 5e-5, "{way:?}");
        }
    }

    /// A vertex that takes a hundredth part in what is pushed would have to go a hundred times as far.
    #[test]
    fn small_weights_do_not_amplify_displacements() {
        let link = GapLink {
            vertices: [0, 9, 9, 9],
            weights: [0.01, -1.0, 0.0, 0.0],
            conductances: [1e3, 1e9],
        };
        let links = BTreeMap::from([((PairKind::VertexFace, [0, 9]), link)]);
        let carry = DisplacementDistribution { links, max_prescribed_displacement: 1e-3 };
        let found = carry.solve(&BTreeMap::from([(0, Vec3::zeros())]), |_| Vec3::z() * 1e-3);
        assert!((found[0].norm() - FARTHEST * 1e-3).abs() < 1e-9, "{found:?}");
    }
}
