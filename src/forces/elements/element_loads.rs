// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forces of elements on their vertices, summed in the order of the elements.

use crate::{mesh::Incidence, parallel::reductions, vec3::Vec3};
use rayon::prelude::*;

/// The vertices of elements, and the force of each element on each of them.
#[derive(Clone, Debug)]
pub(crate) struct ElementLoads<const N: usize> {
    /// Vertices of each element.
    pub(crate) vertices: Vec<[u32; N]>,
    /// Force of each element on its vertices, in N.
    pub(crate) forces: Vec<[Vec3; N]>,
    incidence: Incidence,
}

impl<const N: usize> ElementLoads<N> {
    /// Elements over `vertex_count` vertices.
    pub(crate) fn new(vertices: Vec<[u32; N]>, vertex_count: usize) -> Self {
        Self {
            incidence: Incidence::new(&vertices, vertex_count),
            forces: vec![[Vec3::zeros(); N]; vertices.len()],
            vertices,
        }
    }

    /// Adds the loads to the forces of the vertices.
    pub(crate) fn gather(&self, forces: &mut [Vec3]) {
        let each =
            forces.par_iter_mut().enumerate().with_min_len(reductions::MIN_VERTICES_PER_TASK);
        each.for_each(|(vertex, force)| {
            for (element, corner) in self.incidence.elements_of(vertex) {
                *force += self.forces[element as usize][usize::from(corner)];
            }
        });
    }
}
