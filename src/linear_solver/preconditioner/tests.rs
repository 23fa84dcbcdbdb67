// SPDX-License-Identifier: MIT OR Apache-2.0
//! Preconditioners of sheets whose layers are coupled by contacts.

use super::*;
use crate::{
    linear_solver::{
        conjugate_gradients::{
            FilteredSystem, SolveOutcome, StoppingCriterion, Workspace, conjugate_gradients,
        },
        filter::Filter,
        pattern::Pattern,
    },
    simd::{Block, dot},
};
use nalgebra::Matrix3;
use proptest::prelude::*;
use std::sync::Arc;

/// Sheets of springs with room for contacts between them.
struct Sheets {
    edges: Vec<[u32; 2]>,
    positions: Vec<Vec3>,
    matrix: BlockMatrix,
    coupling: Vec<(u32, u32, Block)>,
}

/// Part of the stiffness of a spring that acts across it, and that every vertex is tied to the ground with.
const ACROSS: f64 = 1e-2;
const GROUND: f64 = 1e-4;

impl Sheets {
    /// Sheets of `side`² vertices one above the other, with a spring of stiffness 1 along every edge.
    fn new(count: u32, side: u32) -> Self {
        let mut edges = Vec::new();
        let mut springs: Vec<([u32; 2], Vec3)> = Vec::new();
        for vertex in 0..count * side * side {
            let (x, y) = (vertex % side, vertex / side % side);
            for (right, up) in [(1, 0), (0, 1), (1, 1)] {
                if x + right < side && y + up < side {
                    let edge = [vertex, vertex + right + side * up];
                    edges.push(edge);
                    springs.push((edge, Vec3::new(f64::from(right), f64::from(up), 0.0)));
                }
            }
        }
        let elements: Vec<&[u32]> = edges.iter().map(<[u32; 2]>::as_slice).collect();
        let pattern = Pattern::of_elements((count * side * side) as usize, &elements);
        let mut matrix = BlockMatrix::new(Arc::new(pattern));
        for row in 0..matrix.pattern().row_count() {
            matrix.add_diagonal(row, &Block::scaled_identity(GROUND as f32));
        }
        let height = |vertex: u32| 0.2 * f64::from(vertex / side / side);
        let position = |vertex: u32| [vertex % side, vertex / side % side].map(f64::from);
        let positions = (0..count * side * side)
            .map(|vertex| Vec3::new(position(vertex)[0], position(vertex)[1], height(vertex)));
        let positions = positions.collect();
        let mut sheets = Self { edges, positions, matrix, coupling: Vec::new() };
        for (edge, along) in springs {
            let along = along.normalize();
            let stiffness = along * along.transpose() + Matrix3::identity() * ACROSS;
            sheets.add(&edge, &[1.0, -1.0], &stiffness);
        }
        sheets
    }

    fn count(&self) -> usize {
        self.matrix.pattern().row_count()
    }

    /// Adds (w⊗w)⊗stiffness.
    fn add(&mut self, vertices: &[u32], weights: &[f64], stiffness: &Matrix3<f64>) {
        for (i, a) in vertices.iter().zip(weights) {
            for (j, b) in vertices.iter().zip(weights) {
                let block = Block::from_matrix(&(stiffness * (a * b)));
                if i == j {
                    self.matrix.add_diagonal(*i as usize, &block);
                } else if i < j && !self.matrix.add_pair(*i as usize, *j as usize, &block) {
                    self.coupling.push((*i, *j, block));
                }
            }
        }
    }

    /// Ties the second sheet to the first: every vertex to a triangle below it, in the direction of the normal.
    fn tie(&mut self, side: u32, stiffness: f64) {
        let normal = Vec3::new(0.1, -0.2, 1.0).normalize();
        for y in 0..side - 1 {
            for x in 0..side - 1 {
                let below = x + side * y;
                let vertices = [below + side * side, below, below + 1, below + 1 + side];
                self.add(
                    &vertices,
                    &[-1.0, 0.5, 0.2, 0.3],
                    &(normal * normal.transpose() * stiffness),
                );
            }
        }
    }

    /// All preconditioners, and how symmetric they are: the coarse levels of multigrid are solved by a few conjugate
    /// gradients, which are linear only as far as they converge; the others but for rounding.
    fn preconditioners(&self) -> [(Box<dyn Preconditioner>, f64); 3] {
        let pattern = self.matrix.pattern();
        [
            (Box::new(Multigrid::new(pattern, &self.edges)), 0.1),
            (Box::new(IncompleteCholesky::new(pattern)), 1e-3),
            (Box::new(BlockJacobi::default()), 1e-3),
        ]
    }

    /// Updates a preconditioner to the matrix without constraints.
    fn update(&self, preconditioner: &mut dyn Preconditioner) {
        let filter = &Filter::new(self.count());
        let Self { matrix, positions, .. } = self;
        preconditioner.update(FilteredMatrix { matrix, filter, positions });
    }

    /// Solves for a right side of noise.
    fn solve(&self, preconditioner: &mut dyn Preconditioner, tolerance: f64) -> SolveOutcome {
        let stopping = StoppingCriterion { relative_tolerance: tolerance, max_iterations: 2000 };
        self.solve_until(preconditioner, stopping)
    }

    fn solve_until(
        &self,
        preconditioner: &mut dyn Preconditioner,
        stopping: StoppingCriterion,
    ) -> SolveOutcome {
        let side = noise(self.count(), 1);
        let mut solution = vec![[0.0; 4]; self.count()];
        self.update(preconditioner);
        let filter = &Filter::new(self.count());
        let system = FilteredSystem::assembled(&self.matrix, &side, filter);
        let mut workspace = Workspace::default();
        conjugate_gradients(system, preconditioner, stopping, &mut workspace, &mut solution)
    }
}

/// At the tolerance, and after the most iterations in any case.
#[test]
fn a_solve_ends_at_its_tolerance_or_at_its_limit() {
    let sheets = Sheets::new(1, 9);
    let solve = |relative_tolerance: f64, max_iterations: usize| {
        let stopping = StoppingCriterion { relative_tolerance, max_iterations };
        sheets.solve_until(&mut BlockJacobi::default(), stopping)
    };
    let mut previous = 0;
    for tolerance in [0.3, 1.0e-2, 1.0e-4] {
        let SolveOutcome { iterations, residual, .. } = solve(tolerance, 2000);
        assert!(iterations > previous && residual <= tolerance, "{iterations} {residual}");
        // One iteration less is not enough.
        let shorter = solve(tolerance, iterations - 1);
        assert_eq!(shorter.iterations, iterations - 1);
        assert!(shorter.residual > tolerance, "{shorter:?}");
        previous = iterations;
    }
}

fn noise(count: usize, seed: u64) -> Vec<Row3> {
    let value = |k: u64| {
        let mixed = (k + 1000 * seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 40) as f32 / 8_388_608.0 - 1.0
    };
    (0..count as u64).map(|i| [value(3 * i), value(3 * i + 1), value(3 * i + 2), 0.0]).collect()
}

/// Corners, their weights, logarithm of the stiffness, and direction.
type Contact = (Vec<u32>, Vec<f64>, f64, [f64; 3]);

fn contacts(vertex_count: u32) -> impl Strategy<Value = Vec<Contact>> {
    let vertices = proptest::sample::subsequence((0..vertex_count).collect::<Vec<_>>(), 4);
    let parts = proptest::collection::vec(-1.0..1.0_f64, 4);
    let direction = proptest::array::uniform3(-1.0..1.0_f64);
    let contact = (vertices.prop_shuffle(), parts, -2.0..2.0_f64, direction);
    proptest::collection::vec(contact, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn contacts_leave_preconditioners_symmetric_and_positive(contacts in contacts(2 * 81)) {
        let mut sheets = Sheets::new(2, 9);
        for (vertices, weights, stiffness, direction) in &contacts {
            let direction = Vec3::from(*direction);
            let stiffness = direction * direction.transpose() * 10.0_f64.powf(*stiffness);
            sheets.add(vertices, weights, &stiffness);
        }
        sheets.matrix.set_contact_blocks(&sheets.coupling);
        let (a, b) = (noise(sheets.count(), 2), noise(sheets.count(), 3));
        for (mut preconditioner, tolerance) in sheets.preconditioners() {
            sheets.update(preconditioner.as_mut());
            let (mut image_a, mut image_b) = (a.clone(), b.clone());
            preconditioner.apply(&sheets.matrix, &a, &mut image_a);
            preconditioner.apply(&sheets.matrix, &b, &mut image_b);
            let scale = dot(&a, &image_a);
            prop_assert!(scale > 0.0);
            let asymmetry = dot(&a, &image_b) - dot(&b, &image_a);
            prop_assert!(asymmetry.abs() < tolerance * scale, "{asymmetry} of {scale}");
            let outcome = sheets.solve(preconditioner.as_mut(), 1e-3);
            prop_assert!(!outcome.indefinite && outcome.residual <= 1e-3, "{outcome:?}");
        }
    }
}

#[test]
fn the_order_of_coupling_entries_does_not_matter() {
    let mut sheets = Sheets::new(2, 5);
    sheets.tie(5, 1.0);
    let vector = noise(sheets.count(), 4);
    let (mut forward, mut backward) = (vector.clone(), vector.clone());
    sheets.matrix.set_contact_blocks(&sheets.coupling);
    sheets.matrix.times(&vector, &mut forward);
    sheets.coupling.reverse();
    sheets.matrix.set_contact_blocks(&sheets.coupling);
    sheets.matrix.times(&vector, &mut backward);
    assert_eq!(forward, backward);
    sheets.matrix.clear_contact_blocks();
    sheets.matrix.times(&vector, &mut backward);
    assert_ne!(forward, backward);
}
