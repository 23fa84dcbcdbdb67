// SPDX-License-Identifier: MIT OR Apache-2.0
//! Coarse correction of a preconditioner by the rigid motions of bodies: z + W (WᵀAW)⁻¹Wᵀ(r − Az), z = P⁻¹r.
//!
//! The method A-DEF2 of Tang, Nabben, Vuik and Erlangga, "Comparison of two-level preconditioners derived from
//! deflation, domain decomposition and multigrid methods" (2009), after Mandel, "Balancing domain decomposition" (1993):
//! deflation that bears an inexact AW, which here leaves out matrix-free terms. What slides, rolls or falls as a whole
//! moves along rigid motions, and a preconditioner whose coarse vectors are translations of aggregates sees them
//! late: its norm of the residual hardly counts them. Bodies do not interact, so that six products with the matrix
//! serve all of them.

use crate::{parallel::reductions, simd::Row3};
use nalgebra::{SMatrix, SVector};
use rayon::prelude::*;

/// Rigid motions of a body: three translations and three rotations.
const MOTIONS: usize = 6;

/// Row that belongs to no body.
pub const NO_BODY: u32 = u32::MAX;

/// Values of the motions of a body.
type MotionVector = SVector<f64, MOTIONS>;

/// Matrix between the motions of a body.
type MotionMatrix = SMatrix<f64, MOTIONS, MOTIONS>;

/// Heuristic parameters of the coarse correction.
struct CoarseCorrectionParameters {
    /// Smallest eigenvalue of WᵀAW of a body, its diagonal scaled to 1, that counts as independent (1). Effect: larger
    /// leaves motions to the preconditioner; smaller amplifies the rounding of single precision. Evidence: none:
    /// rounding.
    min_eigenvalue: f64,
}

impl CoarseCorrectionParameters {
    const DEFAULT: Self = Self { min_eigenvalue: 1.0e-4 };
}

/// Displacements of a row by all motions of its body.
pub type MotionRow = [Row3; MOTIONS];

/// Rigid motions of bodies, which no entry of the matrix connects. Turned into a correction, WᵀAW = I.
#[derive(Clone, Debug, Default)]
pub struct RigidMotions {
    /// Body of each row, or [`NO_BODY`].
    pub body_of_row: Vec<u32>,
    /// Number of bodies.
    pub body_count: usize,
    /// W.
    pub rows: Vec<MotionRow>,
    /// AW; filled by `orthonormalise()`.
    pub images: Vec<MotionRow>,
}

impl RigidMotions {
    /// Combines the motions of each body such that WᵀAW = I. `product` writes the product of the matrix with a filtered
    /// vector to another one.
    pub(super) fn orthonormalise(&mut self, mut product: impl FnMut(&[Row3], &mut [Row3])) {
        let mut products = vec![MotionMatrix::zeros(); self.body_count];
        let mut image = vec![[0.0; 4]; self.rows.len()];
        self.images.clear();
        self.images.resize(self.rows.len(), MotionRow::default());
        for column in 0..MOTIONS {
            let motion: Vec<Row3> = self.rows.iter().map(|row| row[column]).collect();
            product(&motion, &mut image);
            for (product, components) in
                products.iter_mut().zip(self.components(&self.rows, &image))
            {
                product.set_column(column, &components);
            }
            for (row, value) in self.images.iter_mut().zip(&image) {
                row[column] = *value;
            }
        }
        let transforms: Vec<MotionMatrix> = products.iter().map(orthonormalising_matrix).collect();
        let Self { rows, images, body_of_row, .. } = self;
        for list in [rows, images] {
            let rows = list.par_iter_mut().zip(&*body_of_row);
            rows.with_min_len(reductions::MIN_VERTICES_PER_TASK).for_each(|(row, body)| {
                let Some(transform) = transforms.get(*body as usize) else { return };
                let vectors = *row;
                *row = std::array::from_fn(|column| {
                    combination(&vectors, |motion| transform[(motion, column)] as f32)
                });
            });
        }
    }

    /// Product of the transpose of `motions` with a vector, body by body, summed in an order that does not depend on threads.
    fn components(&self, motions: &[MotionRow], vector: &[Row3]) -> Vec<MotionVector> {
        let length = 4 * reductions::MIN_VERTICES_PER_TASK;
        let rows = motions.par_chunks(length).zip(vector.par_chunks(length));
        let chunks =
            rows.zip(self.body_of_row.par_chunks(length)).map(|((rows, vector), bodies)| {
                let mut sums: Vec<(u32, AxisSums)> = Vec::new();
                let mut start = 0;
                for run in bodies.chunk_by(|one, other| one == other) {
                    let range = start..start + run.len();
                    start = range.end;
                    sums.push((run[0], axis_sums(&rows[range.clone()], &vector[range])));
                }
                sums
            });
        let mut sums = vec![MotionVector::zeros(); self.body_count];
        for (body, products) in chunks.collect::<Vec<_>>().into_iter().flatten() {
            if let Some(sum) = sums.get_mut(body as usize) {
                *sum += MotionVector::from_fn(|motion, _| products[motion].iter().sum());
            }
        }
        sums
    }

    /// Start of a solve: the solution WWᵀb, b being the right side.
    pub(super) fn initial_solution(&self, right_side: &[Row3], solution: &mut [Row3]) {
        let components = self.components(&self.rows, right_side);
        self.add_combination(&self.rows, &components, solution);
    }

    /// Corrects the preconditioned residual and its product with the matrix.
    pub(super) fn correct(&self, residual: &[Row3], [preconditioned, product]: [&mut [Row3]; 2]) {
        let mut components = self.components(&self.rows, residual);
        let known = self.components(&self.rows, product);
        components.iter_mut().zip(known).for_each(|(component, known)| *component -= known);
        self.add_combination(&self.rows, &components, preconditioned);
        self.add_combination(&self.images, &components, product);
    }

    /// Adds the combination of `motions` with the components of each body.
    fn add_combination(
        &self,
        motions: &[MotionRow],
        components: &[MotionVector],
        sums: &mut [Row3],
    ) {
        let rows = sums.par_iter_mut().zip(motions).zip(&self.body_of_row);
        rows.with_min_len(reductions::MIN_VERTICES_PER_TASK).for_each(|((sum, row), body)| {
            let Some(own) = components.get(*body as usize) else { return };
            let added = combination(row, |motion| own[motion] as f32);
            *sum = std::array::from_fn(|axis| sum[axis] + added[axis]);
        });
    }
}

/// Products of motions with a vector, by axes.
type AxisSums = [[f64; 4]; MOTIONS];

/// Products of the motions of some rows with a vector.
#[inline(always)]
fn axis_sums(rows: &[MotionRow], vector: &[Row3]) -> AxisSums {
    let mut sums = AxisSums::default();
    for (row, value) in rows.iter().zip(vector) {
        for (sum, motion) in sums.iter_mut().zip(row) {
            for axis in 0..4 {
                sum[axis] += f64::from(motion[axis]) * f64::from(value[axis]);
            }
        }
    }
    sums
}

/// T with TᵀGT = I for the independent motions of G = WᵀAW, and 0 for the others.
fn orthonormalising_matrix(product: &MotionMatrix) -> MotionMatrix {
    let inverse_root =
        |value: f64, least: f64| if value > least { value.sqrt().recip() } else { 0.0 };
    let scale = product.diagonal().map(|square| inverse_root(square, 0.0));
    let scaled = product.component_mul(&(scale * scale.transpose()));
    let eigen = (0.5 * (scaled + scaled.transpose())).symmetric_eigen();
    let least = CoarseCorrectionParameters::DEFAULT.min_eigenvalue;
    let roots = eigen.eigenvalues.map(|value| inverse_root(value, least));
    MotionMatrix::from_diagonal(&scale) * eigen.eigenvectors * MotionMatrix::from_diagonal(&roots)
}

#[inline(always)]
fn combination(vectors: &MotionRow, factor: impl Fn(usize) -> f32) -> Row3 {
    let mut sum = [0.0; 4];
    for (motion, vector) in vectors.iter().enumerate() {
        let factor = factor(motion);
        sum = std::array::from_fn(|axis| sum[axis] + factor * vector[axis]);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        linear_solver::{
            BlockJacobi, BlockMatrix, FilteredMatrix, FilteredSystem, Pattern, Preconditioner,
            StoppingCriterion, Workspace, conjugate_gradients, filter::Filter,
        },
        simd::Block,
    };
    use nalgebra::{Matrix3, Vector3};
    use std::sync::Arc;

    /// Vertices of a body: a chain of stiff springs, bent so that none of its rigid motions vanishes.
    const LENGTH: usize = 12;

    /// Inertia of every vertex, against springs of stiffness 1.
    const INERTIA: f32 = 1.0e-5;

    fn place(vertex: usize) -> Vector3<f64> {
        let x = (vertex % LENGTH) as f64;
        Vector3::new(x, 0.1 * x * x, (x - 3.0).abs())
    }

    /// `bodies` chains of springs along edges and across them.
    fn chains(bodies: usize) -> BlockMatrix {
        let edges: Vec<[u32; 2]> = (0..bodies * LENGTH)
            .flat_map(|a| [1, 2, 3].map(|next| [a, a + next]))
            .filter(|[a, b]| a / LENGTH == b / LENGTH && *b < bodies * LENGTH)
            .map(|edge| edge.map(|vertex| vertex as u32))
            .collect();
        let elements: Vec<&[u32]> = edges.iter().map(<[u32; 2]>::as_slice).collect();
        let pattern = Pattern::of_elements(bodies * LENGTH, &elements);
        let mut matrix = BlockMatrix::new(Arc::new(pattern));
        for row in 0..bodies * LENGTH {
            matrix.add_diagonal(row, &Block::scaled_identity(INERTIA));
        }
        for [a, b] in edges.iter().map(|edge| edge.map(|vertex| vertex as usize)) {
            let along = (place(b) - place(a)).normalize();
            let stiffness: Matrix3<f64> = along * along.transpose();
            matrix.add_diagonal(a, &Block::from_matrix(&stiffness));
            matrix.add_diagonal(b, &Block::from_matrix(&stiffness));
            matrix.add_pair(a, b, &Block::from_matrix(&-stiffness));
        }
        matrix
    }

    fn motions(bodies: usize) -> RigidMotions {
        let row = |vertex: usize| {
            std::array::from_fn(|motion| {
                let axis = Vector3::ith(motion % 3, 1.0);
                let [x, y, z] = if motion < 3 { axis } else { axis.cross(&place(vertex)) }.into();
                [x as f32, y as f32, z as f32, 0.0]
            })
        };
        RigidMotions {
            body_of_row: (0..bodies * LENGTH).map(|row| (row / LENGTH) as u32).collect(),
            body_count: bodies,
            rows: (0..bodies * LENGTH).map(row).collect(),
            images: Vec::new(),
        }
    }

    /// Solution for given loads, and the iterations that it took.
    fn solve(bodies: usize, loads: &[Row3], has_motions: bool) -> (Vec<Row3>, usize) {
        let matrix = chains(bodies);
        let mut preconditioner = BlockJacobi::default();
        let filter = &Filter::new(loads.len());
        preconditioner.update(FilteredMatrix { matrix: &matrix, filter, positions: &[] });
        let mut system = FilteredSystem::assembled(&matrix, loads, filter);
        system.rigid_motions = has_motions.then(|| motions(bodies));
        let stopping = StoppingCriterion {
            relative_tolerance: 1.0e-3,
            min_iterations: 0,
            max_iterations: 500,
            update: None,
        };
        let mut solution = vec![[0.0; 4]; loads.len()];
        let workspace = &mut Workspace::default();
        let outcome =
            conjugate_gradients(system, &mut preconditioner, stopping, workspace, &mut solution);
        (solution, outcome.iterations)
    }

    fn noise(seed: usize) -> Row3 {
        let value = |axis: usize| ((seed * 37 + axis * 101) * 7919 % 211) as f32 / 105.0 - 1.0;
        [value(0), value(1), value(2), 0.0]
    }

    #[test]
    fn motions_become_orthonormal_in_the_norm_of_the_matrix() {
        let matrix = chains(2);
        let mut motions = motions(2);
        motions.orthonormalise(|motion, image| {
            matrix.times_and_dot(motion, image);
        });
        for column in 0..MOTIONS {
            let image: Vec<Row3> = motions.images.iter().map(|row| row[column]).collect();
            for own in motions.components(&motions.rows, &image) {
                let expected = MotionVector::ith(column, 1.0);
                assert!((own - expected).norm() < 1.0e-2, "{column}: {own}");
            }
        }
    }

    /// A load that accelerates a body rigidly: M times a rigid motion.
    #[test]
    fn rigid_accelerations_need_no_iterations() {
        let motions = motions(2);
        let load = |(vertex, row): (usize, &MotionRow)| -> Row3 {
            let factors: [f32; MOTIONS] =
                if vertex < LENGTH { [1.0, 0.0, 0.5, 0.1, 0.0, -0.2] } else { [0.3; MOTIONS] };
            combination(row, |motion| factors[motion] * INERTIA)
        };
        let loads: Vec<Row3> = motions.rows.iter().enumerate().map(load).collect();
        let (solution, _) = solve(2, &loads, true);
        for (found, load) in solution.iter().zip(&loads) {
            for axis in 0..3 {
                let expected = load[axis] / INERTIA;
                assert!((found[axis] - expected).abs() < 0.02 * (1.0 + expected.abs()));
            }
        }
    }

    #[test]
    fn a_body_alone_and_beside_others_moves_alike_in_fewer_iterations_than_without() {
        let loads: Vec<Row3> = (0..3 * LENGTH).map(noise).collect();
        let (all, with) = solve(3, &loads, true);
        let (_, without) = solve(3, &loads, false);
        assert!(with < without, "{with} against {without}");
        let (alone, _) = solve(1, &loads[..LENGTH], true);
        let size = alone.iter().map(|row| row[0].abs()).fold(0.0, f32::max);
        for (one, other) in all.iter().zip(&alone) {
            for axis in 0..3 {
                assert!((one[axis] - other[axis]).abs() < 0.02 * size, "{one:?} {other:?}");
            }
        }
    }
}
