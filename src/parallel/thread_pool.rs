// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads of a simulation.
//!
//! A step is hundreds of loops of ten to a hundred microseconds. Waking a thread between two of them takes as long as
//! the loop, so idle threads spin while a frame is computed, and yield to other processes.

use super::reductions;
use crate::error::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder, Yield};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

/// Time without work after which a thread goes to sleep: the loops of such a phase are so long that waking it does not
/// matter.
const IDLE_TIMEOUT: Duration = Duration::from_millis(10);

/// Thread pool of one simulation.
#[derive(Clone)]
pub(crate) struct SimulationThreads {
    pool: Arc<ThreadPool>,
    /// Number of threads that are kept awake: those with enough work.
    active_count: usize,
}

impl SimulationThreads {
    /// A pool of `threads` threads, one per core if 0, for a simulation of `vertices` vertices.
    ///
    /// # Errors
    /// The system refuses them.
    pub(crate) fn new(threads: usize, vertices: usize) -> Result<Self> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| Error::System { reason: error.to_string() })?;
        let awake =
            pool.current_num_threads().min(vertices.div_ceil(reductions::MIN_VERTICES_PER_TASK));
        Ok(Self { pool: Arc::new(pool), active_count: awake })
    }

    /// Runs `work` in the pool; idle threads spin meanwhile.
    pub(crate) fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(|| {
            let _end = self.stay_awake();
            work()
        })
    }

    /// Keeps the other threads awake until the returned guard is dropped.
    fn stay_awake(&self) -> SpinGuard {
        let end = SpinGuard(Arc::default());
        let (threads, awake) = (self.pool.current_num_threads(), self.active_count);
        if let Some(own) = self.pool.current_thread_index()
            && awake > 1
        {
            let is_over = Arc::clone(&end.0);
            // Nothing waits for them, so a core that is in use by another process delays nothing.
            self.pool.spawn_broadcast(move |context| {
                let place = (context.index() + threads - own) % threads;
                if (1..awake).contains(&place) {
                    spin_for_work(&is_over);
                }
            });
        }
        end
    }
}

/// Ends the spinning when it is dropped, by a panic too.
struct SpinGuard(Arc<AtomicBool>);

impl Drop for SpinGuard {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Runs available tasks. The timeout ends it where a task that waits for another one runs this meanwhile and would be
/// delayed for ever.
fn spin_for_work(is_over: &AtomicBool) {
    let mut idle_since = Instant::now();
    while !is_over.load(Relaxed) {
        match rayon::yield_now() {
            Some(Yield::Executed) => idle_since = Instant::now(),
            _ if idle_since.elapsed() > IDLE_TIMEOUT => return,
            _ => thread::yield_now(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const THREADS: usize = 3;

    fn workers() -> SimulationThreads {
        SimulationThreads::new(THREADS, THREADS * reductions::MIN_VERTICES_PER_TASK).unwrap()
    }

    /// In many tasks.
    fn all_is_done() -> bool {
        (0..1_000_usize).into_par_iter().with_max_len(8).sum::<usize>() == 499_500
    }

    fn single() -> ThreadPool {
        ThreadPoolBuilder::new().num_threads(1).build().unwrap()
    }

    #[test]
    fn few_vertices_keep_no_thread_awake() {
        for (vertices, awake) in [(1, 1), (2, 2), (1_000, THREADS)] {
            let workers =
                SimulationThreads::new(THREADS, vertices * reductions::MIN_VERTICES_PER_TASK)
                    .unwrap();
            assert_eq!(workers.active_count, awake);
            // The guard ends the spinning.
            let end = workers.pool.install(|| workers.stay_awake());
            assert_eq!(Arc::strong_count(&end.0) > 1, awake > 1, "{awake} awake");
        }
    }

    #[test]
    fn who_looks_for_work_does_it_until_it_is_over() {
        // No other thread can end this.
        let is_over = Arc::new(AtomicBool::new(false));
        let ending = Arc::clone(&is_over);
        single().install(|| {
            rayon::spawn(move || ending.store(true, Relaxed));
            spin_for_work(&is_over);
            assert!(is_over.load(Relaxed));
        });
    }

    #[test]
    fn who_finds_no_work_gives_up() {
        single().install(|| spin_for_work(&AtomicBool::new(false)));
    }

    #[test]
    fn a_panic_ends_it() {
        let workers = workers();
        let mut is_over = Arc::default();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            workers.pool.install(|| {
                let end = workers.stay_awake();
                is_over = Arc::clone(&end.0);
                panic!("as wanted")
            })
        }));
        assert!(outcome.is_err() && is_over.load(Relaxed));
        assert!(workers.run(all_is_done));
    }

    #[test]
    fn work_from_several_sides_at_once_ends() {
        let workers = workers();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        assert!(workers.run(all_is_done));
                    }
                });
            }
        });
    }
}
