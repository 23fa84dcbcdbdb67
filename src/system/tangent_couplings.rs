// SPDX-License-Identifier: MIT OR Apache-2.0
//! The exact tangent of elements with a scalar stiffness as blocks, from products with vectors: vertices whose columns
//! have no row in common share one (Curtis, Powell and Reid, "On the estimation of sparse Jacobian matrices", 1974).

use super::equations_of_motion::EquationsOfMotion;
use crate::{mesh::Topology, vec3::Vec3};
use nalgebra::Matrix3;

/// Edges between a vertex and the farthest one that moves with it. A hinge takes part in the moments of hinges up to four
/// triangles away (the stabilisation of bending; its stiffness proper, three), and has one edge more at each end.
const RADIUS: usize = 6;

/// Calls `add(vertex, other, block)` for the couplings of two vertices in the tangent of the elements with a scalar
/// stiffness where they were last evaluated, in N/m. The tangent is symmetric: one of both orders is given.
pub(super) fn tangent_couplings(
    dynamics: &mut EquationsOfMotion,
    mut add: impl FnMut(usize, usize, &Matrix3<f64>),
) {
    if !dynamics.elements.kinds.iter().any(|one| one.scalar_stiffness().is_some()) {
        return;
    }
    let mut surroundings = Surroundings::new(&dynamics.mesh.topology);
    for sources in surroundings.independent_vertices() {
        let columns = [0, 1, 2].map(|axis| product_with_units(dynamics, &sources, axis));
        for source in &sources {
            for vertex in surroundings.within(*source, RADIUS) {
                let vertex = vertex as usize;
                if vertex > *source {
                    let block = Matrix3::from_columns(&columns.each_ref().map(|own| own[vertex]));
                    add(vertex, *source, &block);
                }
            }
        }
    }
}

/// Product of the tangent with the sum of the unit vectors of some vertices.
fn product_with_units(
    dynamics: &mut EquationsOfMotion,
    sources: &[usize],
    axis: usize,
) -> Vec<Vec3> {
    let mut direction = vec![Vec3::zeros(); dynamics.vertex_count()];
    for source in sources {
        direction[*source][axis] = 1.0;
    }
    let mut forces = vec![Vec3::zeros(); direction.len()];
    for one in &mut dynamics.elements.kinds {
        one.add_tangent_product(&direction, &mut forces);
    }
    forces
}

/// Vertices by their number of edges from each other.
struct Surroundings {
    neighbours: Vec<Vec<u32>>,
    /// The last search that reached each vertex.
    visits: Vec<usize>,
    searches: usize,
}

impl Surroundings {
    fn new(topology: &Topology) -> Self {
        let mut neighbours = vec![Vec::new(); topology.vertex_count];
        for edge in topology.edges.as_slice() {
            let [a, b] = edge.vertices;
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
        Self { visits: vec![0; neighbours.len()], neighbours, searches: 0 }
    }

    /// Vertices up to some edges away, with the vertex itself.
    fn within(&mut self, vertex: usize, edges: usize) -> Vec<u32> {
        self.searches += 1;
        self.visits[vertex] = self.searches;
        let (mut found, mut first) = (vec![vertex as u32], 0);
        for _ in 0..edges {
            let last = found.len();
            for index in first..last {
                for neighbour in &self.neighbours[found[index] as usize] {
                    let visit = &mut self.visits[*neighbour as usize];
                    if *visit != self.searches {
                        *visit = self.searches;
                        found.push(*neighbour);
                    }
                }
            }
            first = last;
        }
        found
    }

    /// All vertices in lists of vertices that are more than 2 · [`RADIUS`] edges apart.
    fn independent_vertices(&mut self) -> Vec<Vec<usize>> {
        let count = self.neighbours.len();
        let mut colours = vec![usize::MAX; count];
        let mut lists: Vec<Vec<usize>> = Vec::new();
        for vertex in 0..count {
            let around = self.within(vertex, 2 * RADIUS);
            let mut is_taken = vec![false; lists.len() + 1];
            for other in around {
                if let Some(taken) = is_taken.get_mut(colours[other as usize]) {
                    *taken = true;
                }
            }
            let colour = is_taken.iter().position(|taken| !taken).unwrap_or(lists.len());
            colours[vertex] = colour;
            if colour == lists.len() {
                lists.push(Vec::new());
            }
            lists[colour].push(vertex);
        }
        lists
    }
}
