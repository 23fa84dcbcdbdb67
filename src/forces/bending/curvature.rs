// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rotations of the edges of a mesh at rest under constant curvature.
//!
//! Where the surface is bent to w = ½ xᵀKx, the normal at the middle of an edge has turned against the
//! normal of the triangle, about the edge, by
//!   φ(K) = (x_i − x_j)ᵀ K (x_i − x_k) / 2h,
//! i the corner opposite the edge jk and h its height. As φ is linear in K, it is kept as the three
//! coefficients of (κ₁₁, κ₂₂, 2κ₁₂) in some frame of the plane.

use crate::mesh::Mesh;
use nalgebra::Vector3;

/// A linear function of the curvatures (κ₁₁, κ₂₂, 2κ₁₂); in m, as it gives an angle.
pub(super) type CurvatureForm = Vector3<f64>;

/// φ(K) of the edge opposite `corner`, in the yarn frame of the triangle.
pub(super) fn edge_rotation(mesh: &Mesh, triangle: usize, corner: usize) -> CurvatureForm {
    let corners = mesh.rest.corners(triangle);
    let [i, j, k] = [0, 1, 2].map(|n| corners[(corner + n) % 3]);
    let (u, v) = ([i[0] - j[0], i[1] - j[1]], [i[0] - k[0], i[1] - k[1]]);
    let length = (k[0] - j[0]).hypot(k[1] - j[1]);
    let doubled_height = 4.0 * mesh.rest.areas[triangle] / length;
    CurvatureForm::new(u[0] * v[0], u[1] * v[1], 0.5 * (u[0] * v[1] + u[1] * v[0])) / doubled_height
}

/// A rotation of the plane: cosine and sine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rotation([f64; 2]);

impl Rotation {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0]);

    /// The rotation that turns `from` into the direction of `to`.
    pub(super) fn between(from: [f64; 2], to: [f64; 2]) -> Self {
        let dot = from[0] * to[0] + from[1] * to[1];
        let cross = from[0] * to[1] - from[1] * to[0];
        let length = dot.hypot(cross);
        Self([dot / length, cross / length])
    }

    pub(super) fn inverse(self) -> Self {
        Self([self.0[0], -self.0[1]])
    }

    /// First `first`, then this rotation.
    pub(super) fn after(self, first: Self) -> Self {
        let (Self([c, s]), Self([d, t])) = (self, first);
        Self([c * d - s * t, s * d + c * t])
    }

    /// The form of a turned frame: F(K) becomes F(RᵀKR).
    pub(super) fn apply(self, form: &CurvatureForm) -> CurvatureForm {
        let Self([c, s]) = self;
        let mixed = 2.0 * c * s * form.z;
        CurvatureForm::new(
            c * c * form.x + s * s * form.y - mixed,
            s * s * form.x + c * c * form.y + mixed,
            c * s * (form.x - form.y) + (c * c - s * s) * form.z,
        )
    }
}
