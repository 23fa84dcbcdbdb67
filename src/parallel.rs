// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loops over all cores whose results do not depend on how many there are.
//!
//! Sums are taken over blocks of fixed size and the blocks added in order, so that every thread count
//! rounds alike.

use rayon::prelude::*;

/// Elements that are worth a task of their own.
pub(crate) const ELEMENTS: usize = 512;
/// Vertices that are worth a task of their own.
pub(crate) const VERTICES: usize = 512;
/// The same where next to nothing is done for each of them.
pub(crate) const LIGHT_VERTICES: usize = 1024;

/// Calls `one(index, a, b)` for the members of two lists and sums what it gives.
pub(crate) fn sum2<A: Send, B: Send>(
    first: &mut [A],
    second: &mut [B],
    block: usize,
    one: impl Fn(usize, &mut A, &mut B) -> f64 + Sync,
) -> f64 {
    let blocks = first.par_chunks_mut(block).zip(second.par_chunks_mut(block)).enumerate();
    let sums: Vec<f64> = blocks
        .map(|(number, (a, b))| {
            let members = a.iter_mut().zip(b).enumerate();
            members.map(|(index, (a, b))| one(number * block + index, a, b)).sum()
        })
        .collect();
    sums.iter().sum()
}

/// Cuts the entries of compressed rows into groups of `count` rows: the rows, and their entries.
pub(crate) fn split_rows<'a, T>(
    mut entries: &'a mut [T],
    starts: &[u32],
    count: usize,
) -> Vec<(std::ops::Range<usize>, &'a mut [T])> {
    let row_count = starts.len() - 1;
    let mut groups = Vec::with_capacity(row_count.div_ceil(count));
    for first in (0..row_count).step_by(count) {
        let end = (first + count).min(row_count);
        let (group, rest) = entries.split_at_mut((starts[end] - starts[first]) as usize);
        groups.push((first..end, group));
        entries = rest;
    }
    groups
}

/// Sum of `one(index)` over `0..count`.
pub(crate) fn sum(count: usize, block: usize, one: impl Fn(usize) -> f64 + Sync) -> f64 {
    let sums: Vec<f64> = (0..count.div_ceil(block))
        .into_par_iter()
        .map(|number| {
            let start = number * block;
            (start..(start + block).min(count)).map(&one).sum()
        })
        .collect();
    sums.iter().sum()
}
