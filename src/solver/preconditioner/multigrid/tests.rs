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

fn sheet(n: u32) -> (BlockMatrix, Vec<[u32; 2]>) {
    let mut edges = Vec::new();
    let mut hinges: Vec<[u32; 4]> = Vec::new();
    let at = |x: u32, y: u32| x + n * y;
    for y in 0..n {
        for x in 0..n {
            for (r, u) in [(1, 0), (0, 1), (1, 1)] {
                if x + r < n && y + u < n {
                    edges.push([at(x, y), at(x + r, y + u)]);
                }
            }
            if x + 1 < n && y + 1 < n {
                hinges.push([at(x, y), at(x + 1, y + 1), at(x + 1, y), at(x, y + 1)]);
            }
            if x + 2 < n && y + 1 < n {
                hinges.push([at(x + 1, y), at(x + 1, y + 1), at(x, y), at(x + 2, y + 1)]);
            }
            if x + 1 < n && y + 2 < n {
                hinges.push([at(x, y + 1), at(x + 1, y + 1), at(x, y), at(x + 1, y + 2)]);
            }
        }
    }
    let order = crate::solver::patches((n * n) as usize, &edges);
    let mut place = vec![0; order.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old as usize] = new as u32;
    }
    for v in edges.iter_mut().flatten().chain(hinges.iter_mut().flatten()) {
        *v = place[*v as usize];
    }
    for e in &mut edges {
        e.sort();
    }
    let elements: Vec<&[u32]> = hinges.iter().map(<[u32; 4]>::as_slice).collect();
    let pattern = Arc::new(Pattern::of_elements((n * n) as usize, &elements));
    let mut matrix = BlockMatrix::new(pattern);
    let mut degree = vec![0.0; (n * n) as usize];
    for [a, b] in &edges {
        degree[*a as usize] += 1.0;
        degree[*b as usize] += 1.0;
    }
    let set: std::collections::HashSet<[u32; 2]> = edges.iter().copied().collect();
    matrix.fill_by(|i, j| {
        if i == j {
            return Block::scaled_identity(degree[i] + 0.1);
        }
        let e = [i.min(j) as u32, i.max(j) as u32];
        Block::scaled_identity(if set.contains(&e) { -1.0 } else { 0.0 })
    });
    (matrix, edges)
}

fn best(mut f: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..300 {
        let t = std::time::Instant::now();
        f();
        best = best.min(t.elapsed().as_secs_f64());
    }
    best * 1e3
}

#[test]
#[ignore]
fn measure() {
    for n in [50, 100, 200] {
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (matrix, edges) = sheet(n);
                let mut mg = Multigrid::new(matrix.pattern(), &edges);
                let count = (n * n) as usize;
                let v: Vec<Row3> = (0..count)
                    .map(|i| [(i as f32).sin(), (i as f32 * 0.7).cos(), 0.3, 0.0])
                    .collect();
                let mut r = v.clone();
                let mut res = v.clone();
                eprintln!("n {n} threads {threads}");
                eprintln!(
                    "  times {:.4}",
                    best(|| {
                        matrix.times(&v, &mut r);
                    })
                );
                eprintln!(
                    "  update {:.4}",
                    best(|| {
                        mg.update(&matrix);
                    })
                );
                eprintln!(
                    "  apply {:.4}",
                    best(|| {
                        mg.apply(&matrix, &v, &mut r);
                    })
                );
                let level = &mut mg.levels[0];
                eprintln!("   smoother.update {:.4}", best(|| level.smoother.update(&matrix)));
                eprintln!(
                    "   project {:.4}",
                    best(|| level.galerkin.project(&matrix, &mut level.coarse_matrix))
                );
                eprintln!("   half {:.4}", best(|| level.galerkin.multiply(&matrix)));
                eprintln!(
                    "   forward {:.4}",
                    best(|| level.smoother.forward(&matrix, &v, &mut r, &mut res))
                );
                eprintln!(
                    "   restrict {:.4}",
                    best(|| level.galerkin.restrict(&res, &mut level.coarse_side))
                );
                let weights = level.galerkin.interpolation.weights();
                let correction = Correction { weights, coarse: &level.coarse_side };
                eprintln!(
                    "   backward {:.4}",
                    best(|| level.smoother.backward(&matrix, correction, &mut r, &mut res))
                );
                eprintln!(
                    "  dot {:.4}",
                    best(|| {
                        std::hint::black_box(dot(&r, &v));
                    })
                );
                let far = matrix.outer()[0].blocks.len();
                eprintln!(
                    "  rows {:?} far {far} pairs {}",
                    mg.levels.iter().map(|l| l.coarse_side.len()).collect::<Vec<_>>(),
                    matrix.pattern().pair_count()
                );
            });
        }
    }
}
