// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hot kernels, each with the fraction of the limits of the machine that it reaches.
//!
//! `cargo bench --bench kernels -- product` picks some. `--names` lists all, and `--count product` runs
//! one of them once inside `counted_region`, for valgrind: see counts.py.
#![allow(clippy::print_stdout, reason = "results")]

mod shared;

use criterion::Criterion;
use shared::{
    THREADS,
    kernels::{ALL, Kernel},
    machine::Machine,
    pool,
};
use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// Vertices of the sheets that are timed, and of those whose instructions are counted.
const TIMED: usize = 40_000;
const COUNTED: usize = 2_500;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let after = |word: &str| words.iter().position(|other| other == word);
    if after("--names").is_some() {
        println!("{COUNTED} {}", ALL.map(|(name, _)| name).join(" "));
    } else if let Some(name) = after("--count").and_then(|place| words.get(place + 1)) {
        count(name);
    } else {
        time_all();
    }
}

fn time_all() {
    let machine = Machine::measure();
    println!("{}", machine.table());
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    for (name, make) in ALL {
        let mut kernel = make(TIMED);
        for threads in THREADS {
            time(&mut criterion, name, &mut kernel, threads, &machine);
        }
    }
    criterion.final_summary();
}

/// Times a kernel, and prints the fraction of both limits that its best run reaches.
fn time(
    criterion: &mut Criterion,
    name: &str,
    kernel: &mut Kernel,
    threads: usize,
    machine: &Machine,
) {
    let (pool, best) = (pool(threads), Cell::new(f64::INFINITY));
    let Kernel { work, run } = kernel;
    criterion.bench_function(&format!("{name}, {threads} threads"), |bencher| {
        bencher.iter_custom(|times| {
            let elapsed = pool.install(|| {
                let start = Instant::now();
                (0..times).for_each(|_| run());
                start.elapsed()
            });
            best.set(best.get().min(elapsed.as_secs_f64() / times as f64));
            elapsed
        });
    });
    if best.get().is_finite() {
        let [bytes, operations] = work.floors(machine, threads).map(|floor| floor / best.get());
        println!(
            "{name}, {threads} threads: {:.2} ms, {:.1} GB/s = {:.0} % of the bandwidth, {:.1} Gflop/s = {:.0} % of \
             the multiply-adds\n",
            1e3 * best.get(),
            1e-9 * work.bytes / best.get(),
            100.0 * bytes,
            1e-9 * work.operations.iter().sum::<f64>() / best.get(),
            100.0 * operations,
        );
    }
}

/// Runs a kernel twice on one thread: to warm up, and counted.
fn count(name: &str) {
    let Some((_, make)) = ALL.iter().find(|(known, _)| *known == name) else {
        println!("no kernel {name}");
        return;
    };
    pool(1).install(|| {
        let mut kernel = make(COUNTED);
        (kernel.run)();
        counted_region(kernel.run.as_mut());
    });
}

/// Where valgrind counts.
#[inline(never)]
fn counted_region(run: &mut dyn FnMut()) {
    run();
    // Something after the call, or it would be a jump that valgrind takes for another function's.
    std::hint::black_box(());
}
