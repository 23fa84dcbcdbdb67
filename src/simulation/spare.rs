// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists that steps have done with, for the next ones: what every step asks for anew and gives back scatters over the
//! heaps of all threads.

use crate::Vec3;

/// Lists of vectors.
#[derive(Debug, Default)]
pub(super) struct Spare(Vec<Vec<Vec3>>);

/// Lists that are kept: as many as a step gives back.
const MOST: usize = 4;

impl Spare {
    /// An empty list.
    pub(super) fn take(&mut self) -> Vec<Vec3> {
        self.0.pop().unwrap_or_default()
    }

    /// Keeps a list for whoever asks next.
    pub(super) fn give(&mut self, mut list: Vec<Vec3>) {
        if self.0.len() < MOST {
            list.clear();
            self.0.push(list);
        }
    }
}
