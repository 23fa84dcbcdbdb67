// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::{
    linear_solver::{
        conjugate_gradients::{FilteredSystem, StoppingCriterion, Workspace, conjugate_gradients},
        filter::Filter,
    },
    simd::dot,
};

/// A membrane-like matrix on a grid of n × n: springs along the edges, a little mass.
fn grid(n: u32) -> (BlockMatrix, Vec<[u32; 2]>) {
    let mut edges = Vec::new();
    for i in 0..n * n {
        edges.extend((i % n + 1 < n).then_some([i, i + 1]));
        edges.extend((i / n + 1 < n).then_some([i, i + n]));
    }
    let elements: Vec<&[u32]> = edges.iter().map(<[u32; 2]>::as_slice).collect();
    let pattern = Arc::new(Pattern::of_elements((n * n) as usize, &elements));
    let mut matrix = BlockMatrix::new(Arc::clone(&pattern));
    let mut degrees = vec![0; (n * n) as usize];
    for vertex in edges.iter().flatten() {
        degrees[*vertex as usize] += 1;
    }
    matrix.fill_by(|row, column| {
        let degree = degrees[row] as f32;
        Block::scaled_identity(if row == column { degree + 1e-4 } else { -1.0 })
    });
    (matrix, edges)
}

#[test]
fn iterations_hardly_grow_with_the_mesh() {
    let counts = [16_u32, 64].map(|n| {
        let (matrix, edges) = grid(n);
        let side: Vec<Row3> =
            (0..n * n).map(|i| [((i * 7919) % 101) as f32 - 50.0, 1.0, 0.0, 0.0]).collect();
        let mut multigrid = Multigrid::new(matrix.pattern(), &edges);
        multigrid.update(&matrix);
        let mut solution = vec![[0.0; 4]; side.len()];
        let filter = &Filter::new(side.len());
        let system = FilteredSystem::assembled(&matrix, &side, filter);
        let stopping = StoppingCriterion {
            relative_tolerance: 1e-4,
            min_iterations: 0,
            max_iterations: 200,
            update: None,
        };
        let mut workspace = Workspace::default();
        conjugate_gradients(system, &mut multigrid, stopping, &mut workspace, &mut solution)
            .iterations
    });
    assert!(counts[0] <= 12 && counts[1] <= counts[0] + 6, "{counts:?}");
}

#[test]
fn the_cycle_and_its_sweeps_are_symmetric_and_positive() {
    let (matrix, edges) = grid(20);
    let mut multigrid = Multigrid::new(matrix.pattern(), &edges);
    multigrid.update(&matrix);
    let vector = |seed: u32| -> Vec<Row3> {
        let value = |k: u32| ((k * 2_654_435 + seed * 97) % 1000) as f32 / 500.0 - 1.0;
        (0..400).map(|i| [value(3 * i), value(3 * i + 1), value(3 * i + 2), 0.0]).collect()
    };
    let (a, b) = (vector(1), vector(2));
    for apply in [Multigrid::apply, Multigrid::smooth] {
        let (mut image_a, mut image_b) = (a.clone(), b.clone());
        apply(&mut multigrid, &matrix, &a, &mut image_a);
        apply(&mut multigrid, &matrix, &b, &mut image_b);
        let scale = dot(&a, &image_a);
        assert!(scale > 0.0);
        assert!((dot(&a, &image_b) - dot(&b, &image_a)).abs() < 1e-4 * scale);
    }
}

/// Any symmetric matrix on the pattern of a grid: a block for each pair, and its transpose for the pair turned round.
fn any_matrix(n: u32) -> (BlockMatrix, Vec<[u32; 2]>) {
    let (mut matrix, edges) = grid(n);
    let entry = |k: usize| ((k * 2_654_435) % 1000) as f32 / 500.0 - 1.0;
    matrix.fill_by(|row, column| {
        let (low, high) = (row.min(column), row.max(column));
        let block = Block([0, 1, 2].map(|k| {
            let first = 9 * (low * 7919 + high) + 3 * k;
            [entry(first), entry(first + 1), entry(first + 2), 0.0]
        }));
        let turned = block.transposed();
        match row.cmp(&column) {
            std::cmp::Ordering::Less => block,
            std::cmp::Ordering::Greater => turned,
            std::cmp::Ordering::Equal => {
                let mut sum = block;
                sum.add(&turned);
                sum
            }
        }
    });
    (matrix, edges)
}

#[test]
fn the_coarse_matrix_is_what_interpolation_makes_of_the_fine_one() {
    let (matrix, edges) = any_matrix(30);
    let mut multigrid = Multigrid::new(matrix.pattern(), &edges);
    multigrid.coarsen(&matrix);
    let level = &mut multigrid.levels[0];
    let coarse: Vec<Row3> = (0..level.coarse_right_side.len())
        .map(|i| [(i as f32).sin(), (0.7 * i as f32).cos(), 0.3, 0.0])
        .collect();
    let (mut fine, mut image) = (level.correction.clone(), level.residual.clone());
    level.galerkin.prolongation.prolong(&coarse, &mut fine);
    matrix.times(&fine, &mut image);
    let (mut wanted, mut found) = (coarse.clone(), coarse.clone());
    level.galerkin.prolongation.restrict(&image, &mut wanted);
    level.coarse_matrix.times(&coarse, &mut found);
    let scale = dot(&wanted, &wanted).sqrt();
    for (found, wanted) in found.iter().zip(&wanted) {
        for k in 0..3 {
            assert!(f64::from((found[k] - wanted[k]).abs()) < 1e-5 * scale, "{found:?} {wanted:?}");
        }
    }
}
