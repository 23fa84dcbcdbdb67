// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that one seed decides.

use weft::Vec3;

/// Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A whole number from 0 to below `count`.
    pub(crate) fn below(&mut self, count: u64) -> usize {
        (self.bits() % count) as usize
    }

    /// A whole number from `low` to `high`, both included.
    pub(crate) fn whole(&mut self, low: i32, high: i32) -> i32 {
        low + i32::try_from(self.below(u64::from(high.abs_diff(low)) + 1)).unwrap_or(0)
    }

    /// From −1 to 1.
    pub(crate) fn real(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(crate) fn is_one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64)]
    }

    pub(crate) fn vector(&mut self) -> Vec3 {
        Vec3::new(self.real(), self.real(), self.real())
    }

    /// Whole coordinates, none of them larger than `limit`.
    pub(crate) fn whole_vector(&mut self, limit: i32) -> Vec3 {
        Vec3::from([(); 3].map(|()| f64::from(self.whole(-limit, limit))))
    }
}
