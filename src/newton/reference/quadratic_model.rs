// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quadratic model of the potential without contacts: Φ(x) = ½⟨x − x̄, H(x − x̄)⟩ − ⟨r, x − x̄⟩.
//!
//! Without contacts the result of an explicit scheme, of a semi-implicit scheme and of an update of the fixed-point
//! iteration is the minimum of such a model. With the potential of contacts added, [`crate::newton`] finds the minimum
//! of the sum: the smallest change of that result, in the norm of H, that satisfies the contacts.

use crate::{
    linear_solver::{BlockMatrix, Ordering},
    newton::objective::QuadraticPotential,
    parallel::reductions,
    simd::Block,
    system::{ConstantStiffness, EquationsOfMotion, RevisedStiffness, SpringTarget, TangentMatrix},
    time_integration::Stage,
    vec3::Vec3,
};

/// Hessian H of a quadratic model.
pub(crate) enum ModelHessian<'a> {
    /// M/β².
    Inertia,
    /// M/β² + K + D/β, plus the stiffness of spring targets.
    Constant(&'a ConstantStiffness),
    /// Any matrix that includes inertia, with the order of its rows.
    Matrix(&'a BlockMatrix, &'a Ordering),
}

/// Point around which an objective is expanded.
#[derive(Clone, Copy)]
pub(crate) struct Expansion<'a> {
    /// Expansion point x̄, in m.
    pub(crate) point: &'a [Vec3],
    /// Residuals r = −∇Φ(x̄), in N.
    pub(crate) residuals: &'a [Vec3],
}

/// Quadratic potential of a stage.
pub(crate) struct QuadraticModel<'a> {
    hessian: ModelHessian<'a>,
    /// Factors of K and D.
    factors: [f64; 2],
    /// Diagonal of H without K and D: M/β² and the stiffness of spring targets, in kg/s².
    diagonal: Vec<f64>,
    expansion: Expansion<'a>,
    /// Identifier of the matrix: models with equal identifiers have the same H.
    matrix_id: Option<[u64; 3]>,
}

impl<'a> QuadraticModel<'a> {
    /// Quadratic model around an expansion, with the coefficients of a stage.
    pub(crate) fn new(
        hessian: ModelHessian<'a>,
        stage: &Stage,
        masses: &[f64],
        expansion: Expansion<'a>,
    ) -> Self {
        let Stage { beta, extrapolation_factor, .. } = *stage;
        Self {
            hessian,
            factors: [1.0 / extrapolation_factor, 1.0 / (beta * extrapolation_factor)],
            diagonal: masses
                .iter()
                .map(|mass| mass / (beta * beta * extrapolation_factor))
                .collect(),
            expansion,
            matrix_id: None,
        }
    }

    /// Quadratic model with K and D, the spring targets of the stage included.
    pub(crate) fn with_constant_stiffness(
        dynamics: &EquationsOfMotion,
        stage: &Stage,
        stiffness: &'a RevisedStiffness,
        expansion: Expansion<'a>,
    ) -> Self {
        let hessian = ModelHessian::Constant(&stiffness.matrix);
        let targets = &dynamics.spring_targets;
        let mut model = Self::new(hessian, stage, &dynamics.masses.vertices, expansion);
        for (diagonal, target) in model.diagonal.iter_mut().zip(targets) {
            let stiffness = target.map_or(0.0, |target| target.stiffness);
            *diagonal += stiffness / stage.extrapolation_factor;
        }
        model.matrix_id = Some(matrix_id(stage, stiffness.revision, targets));
        model
    }

    /// Product of H and a field.
    pub(crate) fn hessian_product(&self, field: &[Vec3]) -> Vec<Vec3> {
        let mut products = match self.hessian {
            ModelHessian::Inertia => vec![Vec3::zeros(); field.len()],
            ModelHessian::Constant(matrix) => matrix.multiply(self.factors, field),
            ModelHessian::Matrix(matrix, ordering) => {
                return matrix_product(matrix, ordering, field);
            }
        };
        for ((product, value), diagonal) in products.iter_mut().zip(field).zip(&self.diagonal) {
            *product += value * *diagonal;
        }
        products
    }
}

impl QuadraticPotential for QuadraticModel<'_> {
    fn evaluate(&self, positions: &[Vec3], residuals: &mut [Vec3]) -> f64 {
        let Expansion { point, residuals: expansion_residuals } = self.expansion;
        let displacements: Vec<Vec3> =
            positions.iter().zip(point).map(|(x, origin)| x - origin).collect();
        let products = self.hessian_product(&displacements);
        let pairs = expansion_residuals.iter().zip(&products);
        for (residual, (at_point, product)) in residuals.iter_mut().zip(pairs) {
            *residual = at_point - product;
        }
        reductions::sum_blocked(positions.len(), reductions::MIN_VERTICES_PER_TASK, |vertex| {
            displacements[vertex].dot(&(products[vertex] * 0.5 - expansion_residuals[vertex]))
        })
    }

    fn fill_tangent(&self, tangent: &mut TangentMatrix) {
        match self.hessian {
            ModelHessian::Inertia => {
                tangent.fill_with(|vertex, other| {
                    let value = if vertex == other { self.diagonal[vertex] } else { 0.0 };
                    Block::scaled_identity(value as f32)
                });
                tangent.clear_scalars();
            }
            ModelHessian::Constant(constant) => {
                constant.fill_tangent(self.factors, &self.diagonal, tangent);
            }
            ModelHessian::Matrix(matrix, _) => tangent.replace(matrix),
        }
    }

    fn matrix_id(&self) -> Option<[u64; 3]> {
        self.matrix_id
    }
}

/// Product of a matrix and a field, in single precision.
fn matrix_product(matrix: &BlockMatrix, ordering: &Ordering, field: &[Vec3]) -> Vec<Vec3> {
    let mut rounded = vec![[0.0; 4]; field.len()];
    ordering.gather(field, &mut rounded);
    let mut products = rounded.clone();
    matrix.times(&rounded, &mut products);
    let mut images = field.to_vec();
    ordering.scatter_with(&products, &mut images, |_, image| image);
    images
}

/// Identifier of the matrix of a model with a revision of K and D and these spring targets, in a stage.
fn matrix_id(stage: &Stage, revision: u64, targets: &[Option<SpringTarget>]) -> [u64; 3] {
    // Offset and factor of the 64-bit FNV-1a hash.
    let mixed = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x0100_0000_01b3);
    let mut hash = mixed(0xcbf2_9ce4_8422_2325, revision);
    for (vertex, target) in targets.iter().enumerate() {
        if let Some(target) = target {
            hash = mixed(mixed(hash, vertex as u64), target.stiffness.to_bits());
        }
    }
    [hash, stage.beta.to_bits(), stage.extrapolation_factor.to_bits()]
}
