// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loops over all cores whose results do not depend on how many there are.
//!
//! Sums are computed over blocks of fixed size and the blocks added in order, so that rounding does not depend on the
//! number of threads.

use rayon::prelude::*;

/// Smallest number of elements of a task.
pub(crate) const MIN_ELEMENTS_PER_TASK: usize = 512;
/// Smallest number of vertices of a task.
pub(crate) const MIN_VERTICES_PER_TASK: usize = 512;
/// Smallest number of vertices of a task with very little work per vertex.
pub(crate) const MIN_LIGHT_VERTICES_PER_TASK: usize = 1024;

/// Sum of `one(index, a, b)` over the members of two lists.
pub(crate) fn sum_zipped<A: Send, B: Send>(
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

/// Values of `one(index)` over `0..count` that are not `None`, in order, in the buffer `room`.
pub(crate) fn collect<T: Send>(
    count: usize,
    block: usize,
    mut room: Vec<T>,
    one: impl Fn(usize) -> Option<T> + Sync,
) -> Vec<T> {
    /// Blocks whose members are in separate lists at a time: all together may be many.
    const BATCH: usize = 256;
    room.clear();
    for first in (0..count).step_by(BATCH * block) {
        let starts = (first..count.min(first + BATCH * block)).into_par_iter().step_by(block);
        let members = |start: usize| (start..count.min(start + block)).filter_map(&one).collect();
        append(starts.map(members).collect(), &mut room);
    }
    room
}

/// Moves the members of `lists` to the end of a list. It grows by a quarter if necessary: doubling leaves it half
/// empty.
pub(crate) fn append<T>(lists: Vec<Vec<T>>, list: &mut Vec<T>) {
    let count: usize = lists.iter().map(Vec::len).sum();
    if list.len() + count > list.capacity() {
        list.reserve_exact(count.max(list.len() / 4));
    }
    for mut members in lists {
        list.append(&mut members);
    }
}

/// Sum of `one(index)` over `0..count`.
pub(crate) fn sum_blocked(count: usize, block: usize, one: impl Fn(usize) -> f64 + Sync) -> f64 {
    let sums: Vec<f64> = (0..count.div_ceil(block))
        .into_par_iter()
        .map(|number| {
            let start = number * block;
            (start..(start + block).min(count)).map(&one).sum()
        })
        .collect();
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_collected_is_in_order_and_nothing_of_before_is_left() {
        for count in [0, 1, 7, 5000] {
            let found = collect(count, 3, vec![9; 4], |index| (index % 3 > 0).then_some(index));
            let wanted: Vec<usize> = (0..count).filter(|index| index % 3 > 0).collect();
            assert_eq!(found, wanted);
        }
    }

    #[test]
    fn what_is_appended_follows_without_much_room_to_spare() {
        let mut list: Vec<u32> = (0..1000).collect();
        append(vec![vec![1000, 1001], Vec::new(), vec![1002]], &mut list);
        assert_eq!(list, (0..1003).collect::<Vec<_>>());
        assert!(list.capacity() <= 1250);
    }
}
