// SPDX-License-Identifier: MIT OR Apache-2.0
//! Potentials that are quadratic but for contacts: Φ(x) = ½⟨x − x̄, H(x − x̄)⟩ − ⟨r, x − x̄⟩.
//!
//! What explicit schemes, schemes with one solve and iterations with a fixed matrix find without contacts is the
//! minimum of such a potential. With the potentials of contacts added, [`crate::newton`] finds the minimum of both: the
//! least change to what the scheme wants, in the norm of its own matrix, that keeps what the response promises.

use super::objective::Objective;
use crate::{
    Vec3,
    linear_solver::{BlockMatrix, Ordering},
    parallel::reductions,
    simd::Block,
    system::{ConstantStiffness, SpringTarget, TangentMatrix},
    time_integration::Stage,
};

/// H of a quadratic potential.
pub(crate) enum ModelHessian<'a> {
    /// M/β².
    Inertia,
    /// M/β² + K + D/β, and the springs of pins.
    Constant(&'a ConstantStiffness),
    /// Any other, with the inertia in it, and the order of its rows.
    Matrix(&'a BlockMatrix, &'a Ordering),
}

/// A quadratic potential.
pub(crate) struct QuadraticModel<'a> {
    pub(crate) hessian: ModelHessian<'a>,
    /// Factors of K and D.
    factors: [f64; 2],
    /// Diagonal of M/β² with the springs of pins, in kg/s².
    diagonal: Vec<f64>,
    /// x̄, in m.
    pub(crate) expansion_point: &'a [Vec3],
    /// r, in N.
    pub(crate) expansion_residuals: &'a [Vec3],
    /// Potentials with the same number have the same matrix.
    pub(crate) matrix_id: Option<[u64; 3]>,
}

impl<'a> QuadraticModel<'a> {
    /// The potential around `reference`, with the coefficients of a stage.
    pub(crate) fn new(
        hessian: ModelHessian<'a>,
        stage: &Stage,
        masses: &[f64],
        (expansion_point, expansion_residuals): (&'a [Vec3], &'a [Vec3]),
    ) -> Self {
        let Stage { beta, extrapolation_factor: reach, .. } = *stage;
        Self {
            hessian,
            factors: [1.0 / reach, 1.0 / (beta * reach)],
            diagonal: masses.iter().map(|mass| mass / (beta * beta * reach)).collect(),
            expansion_point,
            expansion_residuals,
            matrix_id: None,
        }
    }

    /// The same with springs that draw vertices.
    pub(crate) fn with_spring_targets(
        mut self,
        reach: f64,
        goals: &[Option<SpringTarget>],
    ) -> Self {
        for (diagonal, goal) in self.diagonal.iter_mut().zip(goals) {
            *diagonal += goal.map_or(0.0, |goal| goal.stiffness / reach);
        }
        self
    }

    /// Φ at `positions` in J, and −∇Φ in N as `residuals`.
    pub(crate) fn evaluate(&self, positions: &[Vec3], residuals: &mut [Vec3]) -> f64 {
        let moved: Vec<Vec3> = positions
            .iter()
            .zip(self.expansion_point)
            .map(|(x, reference)| x - reference)
            .collect();
        let images = self.hessian_product(&moved);
        for ((residual, start), image) in
            residuals.iter_mut().zip(self.expansion_residuals).zip(&images)
        {
            *residual = start - image;
        }
        reductions::sum_blocked(positions.len(), reductions::MIN_VERTICES_PER_TASK, |vertex| {
            moved[vertex].dot(&(images[vertex] * 0.5 - self.expansion_residuals[vertex]))
        })
    }

    /// H times a field.
    pub(crate) fn hessian_product(&self, field: &[Vec3]) -> Vec<Vec3> {
        let mut images = match self.hessian {
            ModelHessian::Inertia => vec![Vec3::zeros(); field.len()],
            ModelHessian::Constant(matrix) => matrix.multiply(self.factors, field),
            ModelHessian::Matrix(matrix, ordering) => {
                return matrix_product(matrix, ordering, field);
            }
        };
        for ((image, part), inertia) in images.iter_mut().zip(field).zip(&self.diagonal) {
            *image += part * *inertia;
        }
        images
    }

    /// Fills the matrix of `tangent` with H.
    pub(crate) fn fill_tangent(&self, tangent: &mut TangentMatrix) {
        match self.hessian {
            ModelHessian::Inertia => tangent.fill_with(|vertex, other| {
                let value = if vertex == other { self.diagonal[vertex] } else { 0.0 };
                Block::scaled_identity(value as f32)
            }),
            ModelHessian::Constant(constant) => {
                constant.fill_tangent(self.factors, &self.diagonal, tangent)
            }
            ModelHessian::Matrix(own, _) => tangent.matrix.clone_from(own),
        }
    }
}

fn matrix_product(matrix: &BlockMatrix, ordering: &Ordering, field: &[Vec3]) -> Vec<Vec3> {
    let mut rounded = vec![[0.0; 4]; field.len()];
    ordering.gather(field, &mut rounded);
    let mut products = rounded.clone();
    matrix.times(&rounded, &mut products);
    let mut images = field.to_vec();
    ordering.scatter_with(&products, &mut images, |_, image| image);
    images
}

/// The potential around a place with forces in N, with the constant matrix of a revision and springs that draw vertices.
pub(crate) fn constant_quadratic_model<'a>(
    problem: &Objective<'_>,
    (matrix, revision): (&'a ConstantStiffness, u64),
    around: (&'a [Vec3], &'a [Vec3]),
) -> QuadraticModel<'a> {
    let (stage, goals) = (problem.stage, &problem.dynamics.spring_targets);
    let masses = &problem.dynamics.masses;
    let quadratic = QuadraticModel::new(ModelHessian::Constant(matrix), stage, masses, around);
    let mut quadratic = quadratic.with_spring_targets(stage.extrapolation_factor, goals);
    quadratic.matrix_id = Some(matrix_id(stage, revision, goals));
    quadratic
}

/// Numbers the matrix of such a potential.
fn matrix_id(stage: &Stage, revision: u64, goals: &[Option<SpringTarget>]) -> [u64; 3] {
    // The offset and the factor of the 64-bit FNV-1a hash.
    let mixed = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x0100_0000_01b3);
    let mut hash = mixed(0xcbf2_9ce4_8422_2325, revision);
    for (vertex, goal) in goals.iter().enumerate() {
        if let Some(goal) = goal {
            hash = mixed(mixed(hash, vertex as u64), goal.stiffness.to_bits());
        }
    }
    [hash, stage.beta.to_bits(), stage.extrapolation_factor.to_bits()]
}
