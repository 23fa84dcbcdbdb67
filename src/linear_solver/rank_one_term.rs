// SPDX-License-Identifier: MIT OR Apache-2.0
//! Terms of a matrix that couple all rows.

use crate::simd::{Row3, dot};

/// Term f u uᵀ of a matrix.
#[derive(Clone, Debug)]
pub struct RankOneTerm {
    /// f.
    pub factor: f64,
    /// u.
    pub vector: Vec<Row3>,
}

impl RankOneTerm {
    /// Adds the product with a vector to `image`.
    pub(super) fn add_product(&self, vector: &[Row3], image: &mut [Row3]) {
        self.add_to(self.factor * dot(&self.vector, vector), image);
    }

    /// Adds a multiple of u to a vector.
    pub(crate) fn add_to(&self, multiple: f64, sum: &mut [Row3]) {
        for (sum, own) in sum.iter_mut().zip(&self.vector) {
            *sum = std::array::from_fn(|k| sum[k] + multiple as f32 * own[k]);
        }
    }
}
