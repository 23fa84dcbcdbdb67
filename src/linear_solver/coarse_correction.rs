// SPDX-License-Identifier: MIT OR Apache-2.0
//! Coarse correction of a preconditioner by the rigid motions of bodies: z + W (WᵀAW)⁻¹Wᵀ(r − Az), z = P⁻¹r.
//!
//! The method A-DEF2 of Tang, Nabben, Vuik and Erlangga, "Comparison of two-level preconditioners derived from
//! deflation, domain decomposition and multigrid methods" (2009), after Mandel, "Balancing domain decomposition" (1993):
//! deflation that bears an inexact AW, which here leaves out matrix-free terms. What slides, rolls or falls as a whole
//! moves along rigid motions, and a preconditioner whose coarse vectors are translations of aggregates sees them
//! late: its norm of the residual hardly counts them. Bodies do not interact, so that six products with the matrix
//! serve all of them.

use super::{
    block_matrix::{BlockMatrix, BlockPair},
    contact_blocks::OffGroupBlocks,
    filter::Filter,
    group_product::LowerGroupBlocks,
    motion_product::MotionProduct,
    pattern::GROUP,
    rank_one_term::RankOneTerm,
};
use crate::{
    parallel::reductions,
    simd::{Kernel, Lanes, Row3, cross, dispatch},
};
use nalgebra::{SMatrix, SVector};
use rayon::prelude::*;
use std::ops::Range;

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

/// Rigid motions of bodies, which no entry of the matrix connects.
#[derive(Clone, Debug, Default)]
pub struct RigidMotions {
    /// Body of each row, or [`NO_BODY`].
    pub body_of_row: Vec<u32>,
    /// Number of bodies.
    pub body_count: usize,
    /// Arm of each row from the centre of its body in m, and 1 in the last lane; 0 in all without a body.
    pub arms: Vec<Row3>,
    /// AW of each row, translations and rotations side by side; filled by `prepare()`.
    images: Vec<BlockPair>,
    /// (WᵀAW)⁻¹ of each body.
    inverses: Vec<MotionMatrix>,
}

impl RigidMotions {
    /// Motions of bodies, given by their number and the body and arm of each row.
    #[must_use]
    pub fn new(body_count: usize, body_of_row: Vec<u32>, arms: Vec<Row3>) -> Self {
        Self { body_of_row, body_count, arms, images: Vec::new(), inverses: Vec::new() }
    }

    /// Prepares for a matrix with additional terms and a filter.
    pub(super) fn prepare(&mut self, matrix: &BlockMatrix, terms: &[RankOneTerm], filter: &Filter) {
        for (row, _) in filter.projectors() {
            self.arms[row as usize][3] = 0.0;
        }
        self.images.resize(self.arms.len(), BlockPair::default());
        let arms = &self.arms;
        let groups = self.images.par_chunks_mut(GROUP).enumerate();
        groups.for_each(|(group, images)| {
            let rows = group * GROUP..group * GROUP + images.len();
            dispatch(MotionImages { matrix, filter, arms, rows, images });
        });
        for term in terms {
            self.add_term(term);
        }
        for (row, projector) in filter.projectors() {
            let image = &mut self.images[row as usize];
            for half in 0..2 {
                image.set(half, &projector.product(&image.get(half)));
            }
        }
        let mut products = vec![MotionMatrix::zeros(); self.body_count];
        for motion in 0..MOTIONS {
            let column = |image: &BlockPair| image.get(motion / 3).0[motion % 3];
            let column: Vec<Row3> = self.images.iter().map(column).collect();
            for (product, components) in products.iter_mut().zip(self.components(&column)) {
                product.set_column(motion, &components);
            }
        }
        self.inverses = products.iter().map(inverse).collect();
    }

    /// Adds f u uᵀW to the images.
    fn add_term(&mut self, RankOneTerm { factor, vector }: &RankOneTerm) {
        let components = self.components(vector);
        let rows = self.images.iter_mut().zip(vector).zip(&self.body_of_row);
        for ((image, value), body) in rows {
            let Some(own) = components.get(*body as usize) else { continue };
            for motion in 0..MOTIONS {
                let multiple = (factor * own[motion]) as f32;
                for (axis, value) in value.iter().enumerate() {
                    image.0[motion % 3][4 * (motion / 3) + axis] += multiple * value;
                }
            }
        }
    }

    /// Product of the transpose of W with a filtered vector, body by body, summed in an order that does not depend on
    /// threads.
    fn components(&self, vector: &[Row3]) -> Vec<MotionVector> {
        let length = 4 * reductions::MIN_VERTICES_PER_TASK;
        let rows = self.arms.par_chunks(length).zip(vector.par_chunks(length));
        let chunks =
            rows.zip(self.body_of_row.par_chunks(length)).map(|((arms, vector), bodies)| {
                let mut sums: Vec<(u32, MotionVector)> = Vec::new();
                let mut start = 0;
                for run in bodies.chunk_by(|one, other| one == other) {
                    let range = start..start + run.len();
                    start = range.end;
                    sums.push((run[0], force_and_torque(&arms[range.clone()], &vector[range])));
                }
                sums
            });
        let mut sums = vec![MotionVector::zeros(); self.body_count];
        for (body, products) in chunks.collect::<Vec<_>>().into_iter().flatten() {
            if let Some(sum) = sums.get_mut(body as usize) {
                *sum += products;
            }
        }
        sums
    }

    /// Corrects a solution and its product with the matrix for the remaining part of the right side. The product is
    /// filtered before; both are to be filtered after.
    pub(super) fn correct(&self, side: &[Row3], [solution, product]: [&mut [Row3]; 2]) {
        let left = side.iter().zip(&*product);
        let left: Vec<Row3> = left.map(|(a, b)| std::array::from_fn(|k| a[k] - b[k])).collect();
        let components = self.components(&left);
        let motions = components.iter().zip(&self.inverses);
        let motions: Vec<[[f32; 4]; 2]> = motions
            .map(|(components, inverse)| {
                let motion = (inverse * components).map(|value| value as f32);
                [[motion[0], motion[1], motion[2], 0.0], [motion[3], motion[4], motion[5], 0.0]]
            })
            .collect();
        let Self { arms, images, body_of_row, .. } = self;
        let rows = (solution, product, arms, images, body_of_row).into_par_iter();
        rows.with_min_len(reductions::MIN_VERTICES_PER_TASK).for_each(
            |(solution, product, arm, image, body)| {
                let Some([shift, turn]) = motions.get(*body as usize) else { return };
                let turned = cross(turn, arm);
                let [translations, rotations] = [0, 1].map(|half| image.get(half));
                for k in 0..4 {
                    solution[k] += shift[k] + turned[k];
                }
                translations.accumulate(shift, product);
                rotations.accumulate(turn, product);
            },
        );
    }
}

/// Computes AW of a group of rows.
struct MotionImages<'a> {
    matrix: &'a BlockMatrix,
    filter: &'a Filter,
    arms: &'a [Row3],
    rows: Range<usize>,
    images: &'a mut [BlockPair],
}

impl Kernel for MotionImages<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { matrix, filter, arms, rows, images } = self;
        let first = rows.start;
        let near: LowerGroupBlocks<'_> = matrix.lower_group_blocks(&rows);
        let outer: [OffGroupBlocks<'_>; 2] = matrix.off_group_blocks();
        let mut sums = [MotionProduct::default(); GROUP];
        let add_scalar = |sum: &mut MotionProduct, column: usize, value: f32| {
            let arm = &arms[column];
            if arm[3] == 0.0 {
                sum.add_constrained_scalar(arm, filter.projector(column), value);
            } else {
                sum.add_scalar(arm, value);
            }
        };
        for row in rows.clone() {
            let local = row - first;
            // Of the entries in this row alone.
            let mut own = sums[local];
            let mut diagonal = matrix.diagonals()[row];
            // The diagonal block of a constrained row also acts on what is not free.
            if let Some(projector) = filter.projector(row) {
                diagonal = diagonal.product(projector);
            }
            own.add_block(&arms[row], &diagonal);
            for (columns, pair) in near.row(local) {
                let [left, right] = [pair.get(0), pair.get(1)];
                let transposed = lanes.transposed(&left, &right);
                // The second block of a single one is 0.
                for ((column, block), transposed) in
                    columns.iter().zip([left, right]).zip(transposed)
                {
                    let column = usize::from(*column) % GROUP;
                    own.add_block(&arms[first + column], &block);
                    sums[column].add_block(&arms[row], &transposed);
                }
            }
            for (column, value) in near.scalars.row(local) {
                add_scalar(&mut own, first + column, value);
                add_scalar(&mut sums[column % GROUP], row, value);
            }
            for (columns, values) in [matrix.scalars().far(row), matrix.scalars().weak(row)] {
                for (column, value) in columns.iter().zip(values) {
                    add_scalar(&mut own, *column as usize, *value);
                }
            }
            sums[local] = own;
        }
        for outer in outer {
            outer.visit(&rows, |row, column, block| {
                sums[row - first].add_block(&arms[column], block);
            });
        }
        for (image, sum) in images.iter_mut().zip(&sums) {
            *image = sum.with_scalars(lanes);
        }
    }
}

/// Sums of some vectors, and of their products with arms.
fn force_and_torque(arms: &[Row3], vectors: &[Row3]) -> MotionVector {
    let (mut force, mut torque) = ([0.0; 4], [0.0; 4]);
    for (arm, vector) in arms.iter().zip(vectors) {
        let (arm, vector) = (arm.map(f64::from), vector.map(f64::from));
        let own = [
            arm[1] * vector[2] - arm[2] * vector[1],
            arm[2] * vector[0] - arm[0] * vector[2],
            arm[0] * vector[1] - arm[1] * vector[0],
            0.0,
        ];
        for k in 0..4 {
            force[k] += vector[k];
            torque[k] += own[k];
        }
    }
    MotionVector::new(force[0], force[1], force[2], torque[0], torque[1], torque[2])
}

/// Inverse of WᵀAW for its independent motions, and 0 for the others.
fn inverse(product: &MotionMatrix) -> MotionMatrix {
    let inverse_root =
        |value: f64, least: f64| if value > least { value.sqrt().recip() } else { 0.0 };
    let scale = product.diagonal().map(|square| inverse_root(square, 0.0));
    let scaled = product.component_mul(&(scale * scale.transpose()));
    let eigen = (0.5 * (scaled + scaled.transpose())).symmetric_eigen();
    let least = CoarseCorrectionParameters::DEFAULT.min_eigenvalue;
    let roots = eigen.eigenvalues.map(|value| inverse_root(value, least));
    let half = MotionMatrix::from_diagonal(&scale)
        * eigen.eigenvectors
        * MotionMatrix::from_diagonal(&roots);
    half * half.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        linear_solver::{
            BlockJacobi, BlockMatrix, FilteredMatrix, FilteredSystem, Pattern, Preconditioner,
            ScalarCouplings, ScalarPattern, StoppingCriterion, Workspace, conjugate_gradients,
            filter::Filter, scalar_couplings::Coupling,
        },
        simd::Block,
    };
    use nalgebra::{Matrix3, Vector3};
    use sprs::{CsMatI, TriMatI};
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

    fn arms(bodies: usize) -> Vec<Row3> {
        let arm = |vertex: usize| place(vertex).map(|value| value as f32);
        let arms = (0..bodies * LENGTH).map(arm);
        arms.map(|arm| [arm.x, arm.y, arm.z, 1.0]).collect()
    }

    fn motions(bodies: usize) -> RigidMotions {
        let body_of_row = (0..bodies * LENGTH).map(|row| (row / LENGTH) as u32).collect();
        RigidMotions::new(bodies, body_of_row, arms(bodies))
    }

    /// Displacement of a row by all motions times factors.
    fn moved(arm: &Row3, factors: &[f32; MOTIONS]) -> Row3 {
        let [a, b, c, d, e, f] = *factors;
        let turned = cross(&[d, e, f, 0.0], arm);
        std::array::from_fn(|k| [a, b, c, 0.0][k] + turned[k])
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

    /// Of a matrix with all kinds of entries and constraints, between bodies that are not connected.
    #[test]
    fn images_are_products_with_the_matrix() {
        let mut matrix = chains(2);
        let mut entries = TriMatI::new((2 * LENGTH, 2 * LENGTH));
        for row in 0..LENGTH - 5 {
            for (i, j) in [(row, row + 5), (row + 5, row)] {
                entries.add_triplet(i, j, -0.1 - row as f64);
            }
        }
        let entries: CsMatI<f64, u32> = entries.to_csr();
        let coupling = |i: usize, j: usize| match (i + j) % 4 {
            1 => Coupling::Weak,
            _ => Coupling::Strong,
        };
        let pattern = ScalarPattern::of(&entries, coupling);
        let (scalars, _) = ScalarCouplings::of(&entries, Arc::new(pattern));
        matrix.set_scalars(Arc::new(scalars));
        let mut filter = Filter::new(2 * LENGTH);
        let normal = Vector3::new(0.6, 0.0, 0.8);
        for row in [3, 8, LENGTH + 2] {
            filter.constrain(row, &(Matrix3::identity() - normal * normal.transpose()));
        }
        filter.apply_to(&mut matrix);
        let mut term = RankOneTerm { factor: 0.3, vector: vec![[0.0; 4]; 2 * LENGTH] };
        for (row, value) in term.vector[..LENGTH].iter_mut().enumerate() {
            *value = noise(row);
        }
        filter.apply(&mut term.vector);
        let mut motions = motions(2);
        motions.prepare(&matrix, std::slice::from_ref(&term), &filter);
        for motion in 0..MOTIONS {
            let mut factors = [0.0; MOTIONS];
            factors[motion] = 1.0;
            let mut vector: Vec<Row3> = arms(2).iter().map(|arm| moved(arm, &factors)).collect();
            filter.apply(&mut vector);
            let mut wanted = vector.clone();
            matrix.times(&vector, &mut wanted);
            term.add_product(&vector, &mut wanted);
            filter.apply(&mut wanted);
            for (image, wanted) in motions.images.iter().zip(&wanted) {
                let found = image.get(motion / 3).0[motion % 3];
                assert!(
                    (0..3).all(|k| (found[k] - wanted[k]).abs() < 1e-3),
                    "{found:?} {wanted:?}"
                );
            }
        }
    }

    /// A load that accelerates a body rigidly: M times a rigid motion.
    #[test]
    fn rigid_accelerations_need_no_iterations() {
        let load = |(vertex, arm): (usize, &Row3)| -> Row3 {
            let factors: [f32; MOTIONS] =
                if vertex < LENGTH { [1.0, 0.0, 0.5, 0.1, 0.0, -0.2] } else { [0.3; MOTIONS] };
            moved(arm, &factors).map(|value| value * INERTIA)
        };
        let loads: Vec<Row3> = arms(2).iter().enumerate().map(load).collect();
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
