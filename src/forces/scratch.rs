// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that are needed only while forces are found.

use std::sync::{Arc, Mutex, PoisonError};

/// Room for numbers, shared by all who need it one after the other. Who comes while it is taken gets room of his own.
#[derive(Clone, Debug, Default)]
pub struct Scratch(Arc<Mutex<Vec<f64>>>);

impl Scratch {
    /// Room for so many numbers or more, whatever they are.
    pub(crate) fn take(&self, count: usize) -> Vec<f64> {
        let mut numbers =
            std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if numbers.len() < count {
            drop(numbers);
            numbers = vec![0.0; count];
        }
        numbers
    }

    /// Gives it back.
    pub(crate) fn give(&self, numbers: Vec<f64>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = numbers;
    }
}
