// SPDX-License-Identifier: MIT OR Apache-2.0
//! Limits of the machine: memory bandwidth by a triad, a = b + s·c, and fused multiply-adds; with the registers
//! that the library uses where it runs on x86-64, eight single numbers wide.

use super::THREADS;
use pulp::Simd;
use std::{hint::black_box, sync::Barrier, time::Instant};

/// Bytes of the three arrays of the triad, of all threads together: within the caches of a core, about that of the last
/// one, and well beyond.
pub(crate) const FOOTPRINTS: [usize; 4] = [384 << 10, 6 << 20, 24 << 20, 384 << 20];
/// How often each is measured; the best counts.
const TRIALS: usize = 20;
/// Bytes that a trial moves, at least.
const MOVED: usize = 256 << 20;
/// Multiply-adds that do not wait for each other, and how often each is done in a trial.
const CHAINS: usize = 12;
const ROUNDS: usize = 2_000_000;

/// Ceilings, each with one thread and with two.
pub(crate) struct Machine {
    /// By [`FOOTPRINTS`], in bytes/s.
    pub(crate) bandwidths: [[f64; 2]; 4],
    /// Multiplications and additions of single and of double precision, in 1/s.
    pub(crate) operations: [[f64; 2]; 2],
}

impl Machine {
    pub(crate) fn measure() -> Self {
        Self {
            bandwidths: FOOTPRINTS
                .map(|bytes| THREADS.map(|threads| best(threads, || Triad::new(bytes / threads)))),
            operations: [
                THREADS.map(|threads| best(threads, || Fused { is_single: true })),
                THREADS.map(|threads| best(threads, || Fused { is_single: false })),
            ],
        }
    }

    /// Bandwidth for a number of bytes: that of the smallest arrays which are no smaller.
    pub(crate) fn bandwidth(&self, footprint: f64, threads: usize) -> f64 {
        let fits = FOOTPRINTS.iter().position(|bytes| footprint <= *bytes as f64);
        self.bandwidths[fits.unwrap_or(FOOTPRINTS.len() - 1)][threads - 1]
    }

    /// All ceilings as a table.
    pub(crate) fn table(&self) -> String {
        let row = |name: String, rates: &[f64; 2]| {
            let [one, two] = rates.map(|rate| 1e-9 * rate);
            format!("| {name} | {one:.1} | {two:.1} |\n")
        };
        let size = |bytes: usize| bytes as f64 / f64::from(1 << 20);
        let triads = FOOTPRINTS
            .iter()
            .zip(&self.bandwidths)
            .map(|(bytes, rates)| row(format!("triad over {:.1} MiB, GB/s", size(*bytes)), rates));
        let precisions = ["single", "double"].iter().zip(&self.operations);
        let fused = precisions.map(|(name, rates)| {
            row(format!("fused multiply-adds, {name} precision, Gflop/s"), rates)
        });
        let header = "| | one thread | two threads |\n|---|--:|--:|\n";
        triads.chain(fused).fold(header.to_owned(), |table, row| table + &row)
    }
}

/// Something that a thread can do over and over, and how much of it is done.
trait Load {
    fn work(&mut self) -> f64;
}

/// The best sum of the rates of all threads, each with a load of its own, in 1/s.
fn best<L: Load>(threads: usize, load: impl Fn() -> L + Sync) -> f64 {
    let barrier = Barrier::new(threads);
    let rates = || -> Vec<f64> {
        let mut load = load();
        load.work();
        let trial = |_| {
            barrier.wait();
            let start = Instant::now();
            load.work() / start.elapsed().as_secs_f64()
        };
        (0..TRIALS).map(trial).collect()
    };
    let all: Vec<Vec<f64>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(rates)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a thread")).collect()
    });
    (0..TRIALS).map(|trial| all.iter().map(|rates| rates[trial]).sum()).fold(0.0, f64::max)
}

struct Triad {
    arrays: [Vec<f64>; 3],
    passes: usize,
}

impl Triad {
    fn new(bytes: usize) -> Self {
        let length = bytes / 3 / size_of::<f64>();
        let arrays = [0.0, 1.0, 2.0].map(|value| vec![value; length]);
        Self { arrays, passes: MOVED.div_ceil(bytes) }
    }
}

impl Load for Triad {
    fn work(&mut self) -> f64 {
        for _ in 0..self.passes {
            let [a, b, c] = &mut self.arrays;
            run(Pass { a, b, c });
            black_box(&mut self.arrays);
        }
        (self.passes * 3 * size_of_val(self.arrays[0].as_slice())) as f64
    }
}

struct Fused {
    is_single: bool,
}

impl Load for Fused {
    fn work(&mut self) -> f64 {
        let lanes = if self.is_single { run(Chains::<true>) } else { run(Chains::<false>) };
        (2 * CHAINS * ROUNDS * lanes) as f64
    }
}

/// A computation with any registers.
trait Task {
    type Output;
    fn with<S: Simd>(self, simd: S) -> Self::Output;
}

struct Adapter<T, S>(T, S);

impl<T: Task, S: Simd> pulp::NullaryFnOnce for Adapter<T, S> {
    type Output = T::Output;

    #[inline(always)]
    fn call(self) -> T::Output {
        self.0.with(self.1)
    }
}

/// Runs a task with the registers that the library would take.
fn run<T: Task>(task: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = pulp::x86::V3::try_new() {
        return wide.vectorize(Adapter(task, wide));
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(wide) = pulp::aarch64::Neon::try_new() {
        return wide.vectorize(Adapter(task, wide));
    }
    task.with(pulp::Scalar)
}

struct Pass<'a> {
    a: &'a mut [f64],
    b: &'a [f64],
    c: &'a [f64],
}

impl Task for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn with<S: Simd>(self, _: S) {
        for ((a, b), c) in self.a.iter_mut().zip(self.b).zip(self.c) {
            *a = b + 3.0 * c;
        }
    }
}

/// Chains of multiply-adds; gives the lanes of each.
struct Chains<const IS_SINGLE: bool>;

impl<const IS_SINGLE: bool> Task for Chains<IS_SINGLE> {
    type Output = usize;

    #[inline(always)]
    fn with<S: Simd>(self, simd: S) -> usize {
        if IS_SINGLE {
            let (factor, term) = (simd.splat_f32s(black_box(0.5)), simd.splat_f32s(black_box(1.0)));
            let mut sums = [term; CHAINS];
            for _ in 0..ROUNDS {
                for sum in &mut sums {
                    *sum = simd.mul_add_f32s(*sum, factor, term);
                }
            }
            black_box(sums.map(|sum| simd.reduce_sum_f32s(sum)));
            return S::F32_LANES;
        }
        let (factor, term) = (simd.splat_f64s(black_box(0.5)), simd.splat_f64s(black_box(1.0)));
        let mut sums = [term; CHAINS];
        for _ in 0..ROUNDS {
            for sum in &mut sums {
                *sum = simd.mul_add_f64s(*sum, factor, term);
            }
        }
        black_box(sums.map(|sum| simd.reduce_sum_f64s(sum)));
        S::F64_LANES
    }
}
