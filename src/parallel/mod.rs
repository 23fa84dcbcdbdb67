// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deterministic reductions, the thread pool, and pooled buffers.

mod buffer_pool;
pub(crate) mod reductions;
mod thread_pool;

pub(crate) use buffer_pool::BufferPool;
pub(crate) use thread_pool::SimulationThreads;
