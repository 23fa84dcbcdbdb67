// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reproducible disorder.

use weft::Vec3;

/// Numbers between −1 and 1 (Marsaglia's xorshift).
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Vectors with components between −`size` and `size`.
    pub(crate) fn vectors(&mut self, count: usize, size: f64) -> Vec<Vec3> {
        (0..count).map(|_| Vec3::new(self.next(), self.next(), self.next()) * size).collect()
    }
}
