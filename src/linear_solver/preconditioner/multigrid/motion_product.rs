// SPDX-License-Identifier: MIT OR Apache-2.0
//! Product of a row of a matrix and the rigid motions of a body: Σ_j B_ij [I, R_j] with R_j ω = ω × r_j.
//!
//! Scalar entries k need no more than Σ k and Σ k r_j.

use crate::{
    linear_solver::block_matrix::BlockPair,
    simd::{Block, Lanes, Row3},
};

/// The product, while it is summed.
#[derive(Clone, Copy, Default)]
pub(super) struct MotionProduct {
    /// Products with translations and with rotations, side by side.
    blocks: BlockPair,
    /// Σ k r_j of scalar entries k, and Σ k.
    scalars: Row3,
}

impl MotionProduct {
    /// Adds B [I, R] for a block B whose column has an arm.
    #[inline(always)]
    pub(super) fn add_block(&mut self, [x, y, z, _]: &Row3, block: &Block) {
        let sums = &mut self.blocks.0;
        let [a, b, c] = &block.0;
        for k in 0..4 {
            sums[0][k] += a[k];
            sums[1][k] += b[k];
            sums[2][k] += c[k];
        }
        for k in 0..4 {
            sums[0][4 + k] += y * c[k] - z * b[k];
            sums[1][4 + k] += z * a[k] - x * c[k];
            sums[2][4 + k] += x * b[k] - y * a[k];
        }
    }

    /// Adds B [0, I] for a block B whose column is a rotation.
    #[inline(always)]
    pub(super) fn add_rotation(&mut self, block: &Block) {
        for (sum, column) in self.blocks.0.iter_mut().zip(&block.0) {
            for k in 0..4 {
                sum[4 + k] += column[k];
            }
        }
    }

    /// Adds k [I, R] for a scalar k whose column has an arm with 1 in the last lane.
    #[inline(always)]
    pub(super) fn add_scalar(&mut self, arm: &Row3, value: f32) {
        for (sum, own) in self.scalars.iter_mut().zip(arm) {
            *sum += value * own;
        }
    }

    /// Adds k S [I, R] for a scalar k whose column has a projector S; nothing without one.
    #[cold]
    pub(super) fn add_constrained_scalar(
        &mut self,
        arm: &Row3,
        projector: Option<&Block>,
        value: f32,
    ) {
        if let Some(projector) = projector {
            let mut block = *projector;
            block.scale(value);
            self.add_block(arm, &block);
        }
    }

    /// The sum: products with translations and with rotations, side by side.
    #[inline(always)]
    pub(super) fn with_scalars<L: Lanes>(&self, lanes: L) -> BlockPair {
        let [x, y, z, sum] = self.scalars;
        let scalars = [
            [sum, 0.0, 0.0, 0.0, 0.0, -z, y, 0.0],
            [0.0, sum, 0.0, 0.0, z, 0.0, -x, 0.0],
            [0.0, 0.0, sum, 0.0, -y, x, 0.0, 0.0],
        ];
        let column = |k: usize| lanes.sum(lanes.load(&self.blocks.0[k]), lanes.load(&scalars[k]));
        BlockPair([0, 1, 2].map(|k| lanes.to_array(column(k))))
    }
}
