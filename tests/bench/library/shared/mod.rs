// SPDX-License-Identifier: MIT OR Apache-2.0
//! Meshes and kernels of several benches, the work of the kernels, and the limits of the machine.
#![allow(dead_code, reason = "every bench uses a part")]

pub(crate) mod folded;
pub(crate) mod kernels;
pub(crate) mod machine;
pub(crate) mod scene;
pub(crate) mod sheet;
pub(crate) mod work;

/// Threads that everything is measured with.
pub(crate) const THREADS: [usize; 2] = [1, 2];

/// Threads of their own.
pub(crate) fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}
