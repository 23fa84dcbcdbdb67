// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps of three triangles: two of cloth, one above the other, over one of a collider.

use super::*;
use crate::{scene::Collider, surface::SurfaceProperties};

/// Sum of the thicknesses of two triangles, in m.
pub(super) const THICKNESS: f64 = 2.0e-3;
/// Duration of a step, in s.
pub(super) const DURATION: f64 = 0.01;
/// Vertices of the lower and of the upper cloth.
pub(super) const LOWER: std::ops::Range<usize> = 0..3;
pub(super) const UPPER: std::ops::Range<usize> = 3..6;

/// Cloth vertices with both triangles level at heights over the collider, in m. The upper one is
/// turned, so that all its corners lie over the lower one, and no edges are parallel.
pub(super) fn at_heights([lower, upper]: [f64; 2]) -> Vec<Vec3> {
    let below = [[-0.1, -0.1], [0.12, -0.09], [-0.08, 0.12]];
    let above = [[0.03, 0.0], [-0.04, 0.04], [-0.03, -0.05]];
    let below = below.map(|[x, y]| Vec3::new(x, y, lower));
    below.into_iter().chain(above.map(|[x, y]| Vec3::new(x, y, upper))).collect()
}

/// Response with the cloths at `positions` in m, before the first step.
pub(super) fn response(positions: &[Vec3], friction: f64) -> CollisionResponse {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]];
    let corners = corners.map(|[x, y]| Vec3::new(x, y, 0.0)).to_vec();
    let collider = Collider::new(corners, &[[0, 1, 2]], friction, 1.0e-3).unwrap();
    let (triangles, colliders) = ([[0, 1, 2], [3, 4, 5]], [collider]);
    let rest = positions.to_vec();
    let mut mesh = CollisionMesh::of_thin_cloths(&triangles, &[0, 3, 6], rest, &colliders);
    mesh.set_surface_properties(0..6, &SurfaceProperties { friction, thickness: 1.0e-3 });
    CollisionResponse::new(mesh, vec![ColliderMotion::new(&colliders[0])], positions, true)
}

/// Begins a step with given trajectories of the cloths.
pub(super) fn begin(
    response: &mut CollisionResponse,
    [starts, ends]: [&[Vec3]; 2],
    is_pinned: [bool; 6],
) {
    response.begin_step(StepStart {
        start_positions: starts,
        predicted_positions: ends,
        is_pinned: &is_pinned,
        frame_fractions: [0.0, 1.0],
        duration: DURATION,
        vertex_compliances: vec![DURATION * DURATION / 0.001; 6],
    });
}

/// Response in the first step of free cloths that moves from given heights to others.
pub(super) fn step_between(heights: [[f64; 2]; 2], friction: f64) -> CollisionResponse {
    let [starts, ends] = heights.map(at_heights);
    let mut response = response(&starts, friction);
    begin(&mut response, [&starts, &ends], [false; 6]);
    response
}

/// Whether a contact is one of cloth with the collider.
pub(super) fn is_on_collider(contact: &Contact) -> bool {
    contact.pair.vertices.iter().any(|vertex| *vertex >= 6)
}
