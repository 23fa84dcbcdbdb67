// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bending vector R = Σ a_i x_i of two triangles with a common edge, and its force −λ a_i R (Huber 2018, eq. 2.95, after Volino
//! and Magnenat-Thalmann 2006).
//!
//! The document does not print a_i. They are the coefficients, with Σ a_i = 0, for which R is 0 where both triangles lie in one
//! plane: a_c = h_d/(h_c + h_d), a_d = h_c/(h_c + h_d), and what the feet of both heights on the edge ask for at its ends, with
//! signs, so that a foot outside the edge is right as well. As R is a sum of the positions, −λ a_i R has neither a resultant nor
//! a moment. In inextensible cloth |R| is 2 sin(θ/2) h_c h_d/(h_c + h_d), and λ = 2Bl(h_c + h_d)/(h_c h_d)² has the rigidity B.
//!
//! Where the shape at rest is folded the document adds its bending vector R₀. A vector that is fixed in space is wrong as soon as
//! the cloth turns: here it is ρN, ρ the length of R₀ and N the unit normal in the middle of both triangles. The energy is
//! ½λ|R − ρN|².
//!
//! Viscosity and inelastic materials act on R·N, so that a rigid rotation of folded cloth is not resisted.

use crate::vec3::Vec3;
use nalgebra::Matrix3;

/// Length of the sum of both unit normals, at rest 2 cos(θ/2), below which N is shorter than 1: cloth folded onto itself. Evidence:
/// none; a guard against division by 0.
const MIN_NORMAL: f64 = 1.0e-3;

/// Coefficients of the shape at rest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BendingVector {
    /// a_i of the ends a, b of the edge and of the opposite corners c, d.
    pub(super) weights: [f64; 4],
    /// 1/(2A) of both triangles, in 1/m².
    inverse_areas: [f64; 2],
    /// Length of R over 2 sin(θ/2), in m.
    pub(super) height: f64,
    /// R·N at rest, in m.
    pub(super) rest: f64,
}

/// A bending vector at a shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct VectorShape {
    vector: Vec3,
    normal: Vec3,
    /// (1 − NNᵀ) over the length of the sum of normals.
    projector: Matrix3<f64>,
    /// The sum of normals changes by these times (×) the displacements of the corners.
    turns: [Vec3; 4],
}

impl BendingVector {
    /// Of an edge at rest with its ends a, b, the opposite corners c, d and the angle in rad.
    pub(super) fn new([a, b, c, d]: [Vec3; 4], angle: f64) -> Self {
        let edge = b - a;
        let square = edge.norm_squared();
        let doubled = [edge.cross(&(c - a)).norm(), edge.cross(&(d - a)).norm()];
        let [at_c, at_d] = doubled.map(|area| area / square.sqrt());
        let (c_weight, d_weight) = (at_d / (at_c + at_d), at_c / (at_c + at_d));
        let along = (c_weight * (c - a).dot(&edge) + d_weight * (d - a).dot(&edge)) / square;
        let height = at_c * at_d / (at_c + at_d);
        Self {
            weights: [along - 1.0, -along, c_weight, d_weight],
            inverse_areas: doubled.map(|area| 1.0 / area),
            height,
            rest: 2.0 * height * (0.5 * angle).sin(),
        }
    }

    pub(super) fn shape(&self, [a, b, c, d]: [Vec3; 4]) -> VectorShape {
        let (edge, to_c, to_d) = (b - a, c - a, d - a);
        let [left, right] = self.inverse_areas;
        let sum = edge.cross(&to_c) * left + to_d.cross(&edge) * right;
        let length = sum.norm();
        let normal = sum / length.max(MIN_NORMAL);
        let projector = if length < MIN_NORMAL {
            Matrix3::identity() / MIN_NORMAL
        } else {
            (Matrix3::identity() - normal * normal.transpose()) / length
        };
        let (at_c, at_d) = (edge * left, edge * -right);
        let at_b = to_d * right - to_c * left;
        VectorShape {
            vector: [a, b, c, d].iter().zip(self.weights).map(|(x, weight)| x * weight).sum(),
            normal,
            projector,
            turns: [-(at_b + at_c + at_d), at_b, at_c, at_d],
        }
    }

    /// Half of |R − ρN|², in m².
    pub(super) fn half_square(&self, shape: &VectorShape) -> f64 {
        0.5 * (shape.vector - shape.normal * self.rest).norm_squared()
    }

    /// Its gradient.
    pub(super) fn half_square_gradients(&self, shape: &VectorShape) -> [Vec3; 4] {
        let change = shape.vector - shape.normal * self.rest;
        let turned = shape.projector * change * self.rest;
        std::array::from_fn(|corner| {
            change * self.weights[corner] - turned.cross(&shape.turns[corner])
        })
    }

    /// Derivatives of R − ρN.
    pub(super) fn rates(&self, shape: &VectorShape) -> [Matrix3<f64>; 4] {
        std::array::from_fn(|corner| {
            let turn = shape.projector * shape.turns[corner].cross_matrix();
            Matrix3::identity() * self.weights[corner] - turn * self.rest
        })
    }
}

impl VectorShape {
    /// R·N, in m.
    pub(super) fn height(&self) -> f64 {
        self.vector.dot(&self.normal)
    }

    /// Its gradient.
    pub(super) fn height_gradients(&self, weights: &[f64; 4]) -> [Vec3; 4] {
        let turned = self.projector * self.vector;
        std::array::from_fn(|corner| {
            self.normal * weights[corner] + turned.cross(&self.turns[corner])
        })
    }
}
