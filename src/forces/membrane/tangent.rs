// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tangent stiffness of a triangle, BᵀCB + G(σ), by its 3×3 blocks.
//!
//! With the gradients (a, b) and (c, d) of two corners the block that couples them is
//! uu·s_u s_uᵀ + uv·s_u s_vᵀ + vu·s_v s_uᵀ + vv·s_v s_vᵀ + g·I, where uu = C₁₁ac + C₃₃bd, uv = C₁₂ad + C₃₃bc,
//! vu = C₁₂bc + C₃₃ad, vv = C₂₂bd + C₃₃ac and g = σ₁₁ac + σ₂₂bd + σ₁₂(ad + bc).

use crate::{
    mesh::{ShapeGradients, gradients_of_all_corners},
    vec3::Vec3,
};
use wide::f32x4;

/// The tangent stiffness of one triangle, ready to be asked for its 3×3 blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct TriangleTangent {
    s: [[f32; 4]; 2],
    /// uu, uv, vu, vv and g of each corner and the next one; the fourth number is padding.
    factors: [[f32; 4]; 5],
}

impl TriangleTangent {
    /// From the derivatives of the position, area times C₁₁, C₂₂, C₁₂, C₃₃ and times the stress, and the gradients of
    /// the second and third corner.
    #[inline(always)]
    pub(super) fn new(
        s: &[Vec3; 2],
        [c11, c22, c12, c33]: [f32; 4],
        [s11, s22, s12]: [f32; 3],
        gradients: &ShapeGradients,
    ) -> Self {
        let gradients = gradients_of_all_corners(gradients);
        let axis = |axis: usize, order: [usize; 3]| {
            let one = |corner: usize| gradients[order[corner]][axis] as f32;
            f32x4::new([one(0), one(1), one(2), 0.0])
        };
        let (a, b) = (axis(0, [0, 1, 2]), axis(1, [0, 1, 2]));
        let (c, d) = (axis(0, [1, 2, 0]), axis(1, [1, 2, 0]));
        let (ac, ad, bc, bd) = (a * c, a * d, b * c, b * d);
        let factors = [
            ac * c11 + bd * c33,
            ad * c12 + bc * c33,
            bc * c12 + ad * c33,
            bd * c22 + ac * c33,
            ac * s11 + bd * s22 + (ad + bc) * s12,
        ];
        let row = |s: &Vec3| [s.x as f32, s.y as f32, s.z as f32, 0.0];
        let [uu, uv, vu, vv, g] = factors;
        let factors = [uu.to_array(), uv.to_array(), vu.to_array(), vv.to_array(), g.to_array()];
        Self { s: [row(&s[0]), row(&s[1])], factors }
    }

    /// Columns of the block that couples corners `i` and `j`, in N/m; the fourth row is padding.
    #[must_use]
    #[inline(always)]
    pub fn block(&self, i: usize, j: usize) -> [[f32; 4]; 3] {
        let [uu, uv, vu, vv, g] = self.factors(i, j);
        let [su, sv] = &self.s;
        let along_u: [f32; 4] = std::array::from_fn(|row| su[row] * uu + sv[row] * vu);
        let along_v: [f32; 4] = std::array::from_fn(|row| su[row] * uv + sv[row] * vv);
        let column = |k: usize, diagonal: [f32; 4]| -> [f32; 4] {
            std::array::from_fn(|row| along_u[row] * su[k] + along_v[row] * sv[k] + diagonal[row])
        };
        [
            column(0, [g, 0.0, 0.0, 0.0]),
            column(1, [0.0, g, 0.0, 0.0]),
            column(2, [0.0, 0.0, g, 0.0]),
        ]
    }

    #[inline(always)]
    fn factors(&self, i: usize, j: usize) -> [f32; 5] {
        if i == j {
            // All corners moved alike resist nothing.
            let (a, b) = (self.corner_factors(i, 0), self.corner_factors([2, 0, 1][i], 1));
            return std::array::from_fn(|k| -a[k] - b[k]);
        }
        let is_next = j == [1, 2, 0][i];
        self.corner_factors(if is_next { i } else { j }, usize::from(!is_next))
    }

    /// The factors of a corner and the next one; if `turned` is 1, of the next one and the corner.
    #[inline(always)]
    fn corner_factors(&self, corner: usize, turned: usize) -> [f32; 5] {
        let factor = |k: usize| self.factors[k][corner];
        [factor(0), factor(1 + turned), factor(2 - turned), factor(3), factor(4)]
    }
}
