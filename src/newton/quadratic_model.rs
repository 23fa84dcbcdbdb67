// SPDX-License-Identifier: MIT OR Apache-2.0
//! Potentials that are quadratic but for contacts: Φ(x) = ½⟨x − x̄, H(x − x̄)⟩ − ⟨r, x − x̄⟩.
//!
//! What explicit schemes, schemes with one solve and iterations with a fixed matrix find without contacts is the
//! minimum of such a potential. With the potentials of contacts added, [`crate::newton`] finds the minimum of both: the
//! least change to what the scheme wants, in the norm of its own matrix, that keeps what the response promises.

use super::objective::Problem;
use crate::{
    Vec3,
    linear_solver::{BlockMatrix, Ordering},
    parallel::reductions,
    simd::Block,
    system::{ConstantMatrix, Goal, Tangent},
    time_integration::Stage,
};

/// H of a quadratic potential.
pub(crate) enum Metric<'a> {
    /// M/β².
    Inertia,
    /// M/β² + K + D/β, and the springs of pins.
    Constant(&'a ConstantMatrix),
    /// Any other, with the inertia in it, and the order of its rows.
    Matrix(&'a BlockMatrix, &'a Ordering),
}

/// A quadratic potential.
pub(crate) struct Quadratic<'a> {
    pub(crate) metric: Metric<'a>,
    /// Factors of K and D.
    factors: [f64; 2],
    /// Diagonal of M/β² with the springs of pins, in kg/s².
    inertia: Vec<f64>,
    /// x̄, in m.
    pub(crate) reference: &'a [Vec3],
    /// r, in N.
    pub(crate) residuals: &'a [Vec3],
    /// Potentials with the same number have the same matrix.
    pub(crate) number: Option<[u64; 3]>,
}

impl<'a> Quadratic<'a> {
    /// The potential around `reference`, with the coefficients of a stage.
    pub(crate) fn new(
        metric: Metric<'a>,
        stage: &Stage,
        masses: &[f64],
        (reference, residuals): (&'a [Vec3], &'a [Vec3]),
    ) -> Self {
        let Stage { beta, reach, .. } = *stage;
        Self {
            metric,
            factors: [1.0 / reach, 1.0 / (beta * reach)],
            inertia: masses.iter().map(|mass| mass / (beta * beta * reach)).collect(),
            reference,
            residuals,
            number: None,
        }
    }

    /// The same with springs that draw vertices.
    pub(crate) fn with_goals(mut self, reach: f64, goals: &[Option<Goal>]) -> Self {
        for (diagonal, goal) in self.inertia.iter_mut().zip(goals) {
            *diagonal += goal.map_or(0.0, |goal| goal.stiffness / reach);
        }
        self
    }

    /// Φ at `positions` in J, and −∇Φ in N as `residuals`.
    pub(crate) fn evaluate(&self, positions: &[Vec3], residuals: &mut [Vec3]) -> f64 {
        let moved: Vec<Vec3> =
            positions.iter().zip(self.reference).map(|(x, reference)| x - reference).collect();
        let images = self.times(&moved);
        for ((residual, start), image) in residuals.iter_mut().zip(self.residuals).zip(&images) {
            *residual = start - image;
        }
        reductions::sum(positions.len(), reductions::VERTICES, |vertex| {
            moved[vertex].dot(&(images[vertex] * 0.5 - self.residuals[vertex]))
        })
    }

    /// H times a field.
    pub(crate) fn times(&self, field: &[Vec3]) -> Vec<Vec3> {
        let mut images = match self.metric {
            Metric::Inertia => vec![Vec3::zeros(); field.len()],
            Metric::Constant(matrix) => matrix.times(self.factors, field),
            Metric::Matrix(matrix, ordering) => return times(matrix, ordering, field),
        };
        for ((image, part), inertia) in images.iter_mut().zip(field).zip(&self.inertia) {
            *image += part * *inertia;
        }
        images
    }

    /// Fills the matrix of `tangent` with H.
    pub(crate) fn fill(&self, tangent: &mut Tangent) {
        match self.metric {
            Metric::Inertia => tangent.fill_by(|vertex, other| {
                let value = if vertex == other { self.inertia[vertex] } else { 0.0 };
                Block::scaled_identity(value as f32)
            }),
            Metric::Constant(constant) => constant.fill(self.factors, &self.inertia, tangent),
            Metric::Matrix(own, _) => tangent.matrix.clone_from(own),
        }
    }
}

fn times(matrix: &BlockMatrix, ordering: &Ordering, field: &[Vec3]) -> Vec<Vec3> {
    let mut rounded = vec![[0.0; 4]; field.len()];
    ordering.gather(field, &mut rounded);
    let mut products = rounded.clone();
    matrix.times(&rounded, &mut products);
    let mut images = field.to_vec();
    ordering.scatter(&products, &mut images, |_, image| image);
    images
}

/// The potential around a place with forces in N, with the constant matrix of a revision and springs that draw vertices.
pub(crate) fn constant_quadratic<'a>(
    problem: &Problem<'_>,
    (matrix, revision): (&'a ConstantMatrix, u64),
    around: (&'a [Vec3], &'a [Vec3]),
) -> Quadratic<'a> {
    let (stage, goals) = (problem.stage, &problem.dynamics.goals);
    let masses = &problem.dynamics.masses;
    let quadratic = Quadratic::new(Metric::Constant(matrix), stage, masses, around);
    let mut quadratic = quadratic.with_goals(stage.reach, goals);
    quadratic.number = Some(number(stage, revision, goals));
    quadratic
}

/// Numbers the matrix of such a potential.
fn number(stage: &Stage, revision: u64, goals: &[Option<Goal>]) -> [u64; 3] {
    // The offset and the factor of the 64-bit FNV-1a hash.
    let mixed = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x0100_0000_01b3);
    let mut hash = mixed(0xcbf2_9ce4_8422_2325, revision);
    for (vertex, goal) in goals.iter().enumerate() {
        if let Some(goal) = goal {
            hash = mixed(mixed(hash, vertex as u64), goal.stiffness.to_bits());
        }
    }
    [hash, stage.beta.to_bits(), stage.reach.to_bits()]
}
