// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rigid motions of the free bodies of a Newton step, for the coarse correction of its preconditioner.
//!
//! A body is a piece of cloth, with all that it touches. Sheets that slide, roll or fall as a whole are driven by forces
//! that are small against their stiffness; the error of a linear solve in these motions would be an acceleration.

use super::objective::Objective;
use crate::{
    linear_solver::{NO_BODY, Ordering, RigidMotions},
    mesh::UnionFind,
    vec3::Vec3,
};

impl Objective<'_> {
    /// Rigid motions of the bodies without prescribed vertices or spring targets, at `positions` in m; `None` if
    /// there are none, and for a quadratic model.
    pub(super) fn rigid_motions(
        &self,
        pieces: &UnionFind,
        positions: &[Vec3],
        ordering: &Ordering,
    ) -> Option<RigidMotions> {
        if self.quadratic_model.is_some() {
            return None;
        }
        let body_of_vertex = self.free_bodies(pieces);
        let body_count = body_of_vertex.iter().filter(|body| **body != NO_BODY).max()? + 1;
        let centers = centers(&body_of_vertex, body_count as usize, positions);
        let arm = |vertex: usize| {
            let Some(center) = centers.get(body_of_vertex[vertex] as usize) else {
                return [0.0; 4];
            };
            let [x, y, z] = (positions[vertex] - center).into();
            [x as f32, y as f32, z as f32, 1.0]
        };
        let vertices = || (0..positions.len()).map(|row| ordering.vertex(row));
        Some(RigidMotions::new(
            body_count as usize,
            vertices().map(|vertex| body_of_vertex[vertex]).collect(),
            vertices().map(arm).collect(),
        ))
    }

    /// Number of the free body of every vertex, or [`NO_BODY`].
    fn free_bodies(&self, pieces: &UnionFind) -> Vec<u32> {
        let mut bodies = self.bodies(pieces);
        for stiffness in self.dynamics.external_forces.pressures.volume_stiffness() {
            let vertices =
                stiffness.first_vertex..stiffness.first_vertex + stiffness.gradient.len();
            vertices.for_each(|v| bodies.union(stiffness.first_vertex as u32, v as u32));
        }
        let roots = bodies.roots();
        let mut numbers = vec![0; roots.len()];
        self.prescribed_vertices().for_each(|vertex| numbers[roots[vertex] as usize] = NO_BODY);
        let mut count = 0;
        for (vertex, root) in roots.iter().enumerate() {
            if *root as usize == vertex && numbers[vertex] != NO_BODY {
                numbers[vertex] = count;
                count += 1;
            }
        }
        roots.iter().map(|root| numbers[*root as usize]).collect()
    }
}

/// Mean position of the vertices of each body, in m.
fn centers(body_of_vertex: &[u32], body_count: usize, positions: &[Vec3]) -> Vec<Vec3> {
    let mut sums = vec![(Vec3::zeros(), 0_usize); body_count];
    for (body, position) in body_of_vertex.iter().zip(positions) {
        if let Some((sum, count)) = sums.get_mut(*body as usize) {
            *sum += position;
            *count += 1;
        }
    }
    sums.into_iter().map(|(sum, count)| sum / count.max(1) as f64).collect()
}
