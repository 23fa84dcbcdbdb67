// SPDX-License-Identifier: MIT OR Apache-2.0
//! Newton iterations of hanging sheets, stage by stage.
//!
//! `cargo bench --bench solver -- 2500 10000 Rows` picks sizes, in vertices, and their orders.

mod shared;

use shared::{
    THREADS,
    scene::{Scene, cycles, newton_iterations},
    sheet::Order,
};

/// Vertices of the sheets unless said otherwise.
const SIZES: [usize; 4] = [2_500, 10_000, 40_000, 160_000];
/// Steps before and while timing.
const WARM_UP: usize = 2;
const STEPS: usize = 20;

/// Runs a sheet and prints a row of the table: milliseconds per Newton iteration by task.
fn run(count: usize, threads: usize, order: Order) {
    let mut scene = Scene::new(count, threads, order);
    scene.advance(WARM_UP);
    let steps = scene.advance(STEPS);
    let newton = steps.total(newton_iterations);
    let linear = steps.total(|report| report.linear_iterations);
    let per_iteration = |name| 1e3 * steps.task(name, newton_iterations);
    eprintln!(
        "{count:>8} {threads:>7} {:>8} {newton:>11} {:>6.2} {:>7.3} {:>8.3} {:>14.3} {:>6.3} {:>5.3} {:>7.3} {:>5.2}",
        format!("{order:?}"),
        linear as f64 / newton as f64,
        per_iteration("forces"),
        per_iteration("assembly"),
        per_iteration("preconditioner"),
        per_iteration("linear_solve"),
        1e3 * steps.task("linear_solve", cycles),
        1e3 * steps.best(|report| report.total_seconds / report.newton_iterations as f64),
        scene.built,
    );
}

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let all = [Order::Rows, Order::Patches, Order::Shuffled, Order::Pile];
    let named = |order: &Order| std::env::args().any(|word| word == format!("{order:?}"));
    let mut orders: Vec<Order> = all.into_iter().filter(named).collect();
    if orders.is_empty() {
        orders = all.to_vec();
    }
    let sizes = if numbers.is_empty() { SIZES.to_vec() } else { numbers };
    eprintln!(
        "vertices threads shuffled      newton linear/ms: forces assembly precond. linear (one) all build/s"
    );
    for count in sizes {
        for threads in THREADS {
            for order in &orders {
                run(count, threads, *order);
            }
        }
    }
}
