// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::solver::{Filter, Workspace, conjugate_gradients, dot};

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
        let outcome = conjugate_gradients(
            &matrix,
            &side,
            &Filter::new(side.len()),
            &mut multigrid,
            (1e-4, 200),
            (&mut Workspace::default(), &mut solution),
        );
        outcome.iterations
    });
    assert!(counts[0] <= 12 && counts[1] <= counts[0] + 6, "{counts:?}");
}

#[test]
fn the_cycle_is_symmetric_and_positive() {
    let (matrix, edges) = grid(20);
    let mut multigrid = Multigrid::new(matrix.pattern(), &edges);
    multigrid.update(&matrix);
    let vector = |seed: u32| -> Vec<Row3> {
        let value = |k: u32| ((k * 2_654_435 + seed * 97) % 1000) as f32 / 500.0 - 1.0;
        (0..400).map(|i| [value(3 * i), value(3 * i + 1), value(3 * i + 2), 0.0]).collect()
    };
    let (a, b) = (vector(1), vector(2));
    let (mut image_a, mut image_b) = (a.clone(), b.clone());
    multigrid.apply(&matrix, &a, &mut image_a);
    multigrid.apply(&matrix, &b, &mut image_b);
    let scale = dot(&a, &image_a);
    assert!(scale > 0.0);
    assert!((dot(&a, &image_b) - dot(&b, &image_a)).abs() < 1e-4 * scale);
}
