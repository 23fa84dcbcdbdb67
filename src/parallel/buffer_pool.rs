// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pool of reusable buffers: buffers allocated and freed in every step fragment the heaps of all threads.

use std::sync::{Arc, Mutex, PoisonError};

/// Buffers that are taken and returned; clones of a pool share them.
#[derive(Clone, Debug)]
pub struct BufferPool<Buffer> {
    buffers: Arc<Mutex<Vec<Buffer>>>,
    /// Largest number of idle buffers.
    capacity: usize,
}

impl<Buffer: Default> BufferPool<Buffer> {
    /// An empty pool that keeps at most `capacity` idle buffers.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { buffers: Arc::default(), capacity }
    }

    /// The buffer that was given back last, with its contents, or an empty one if all are in use.
    pub(crate) fn take(&self) -> Buffer {
        self.idle(|buffers| buffers.pop().unwrap_or_default())
    }

    /// Returns a buffer. If the pool is full, the one that has been idle longest is freed.
    pub(crate) fn give(&self, buffer: Buffer) {
        self.idle(|buffers| {
            if buffers.len() == self.capacity {
                buffers.remove(0);
            }
            buffers.push(buffer);
        });
    }

    fn idle<Value>(&self, change: impl FnOnce(&mut Vec<Buffer>) -> Value) -> Value {
        change(&mut self.buffers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl BufferPool<Vec<f64>> {
    /// A buffer of `count` numbers or more, whatever they are.
    pub(crate) fn take_numbers(&self, count: usize) -> Vec<f64> {
        let mut numbers = self.take();
        if numbers.len() < count {
            drop(numbers);
            numbers = vec![0.0; count];
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_given_back_last_is_reused_first() {
        let pool = BufferPool::new(2);
        assert_eq!(pool.take(), Vec::<u32>::new());
        for number in 0..3 {
            pool.give(vec![number]);
        }
        let other = pool.clone();
        assert_eq!([pool.take(), other.take(), pool.take()], [vec![2], vec![1], vec![]]);
    }

    #[test]
    fn numbers_are_allocated_anew_only_where_there_are_too_few() {
        let pool = BufferPool::new(1);
        pool.give(vec![1.0; 5]);
        let numbers = pool.take_numbers(3);
        assert_eq!(numbers, [1.0; 5]);
        pool.give(numbers);
        assert_eq!(pool.take_numbers(6), [0.0; 6]);
    }
}
