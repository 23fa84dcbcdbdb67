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
    pub(super) fn add_block<L: Lanes>(&mut self, lanes: L, [x, y, z, _]: &Row3, block: &Block) {
        let [a, b, c] = &block.0;
        let cross = |y: &f32, c: &Row3, z: &f32, b: &Row3| {
            lanes.plus_multiple(&lanes.plus_multiple(&[0.0; 4], *y, c), -z, b)
        };
        let turned = [cross(y, c, z, b), cross(z, a, x, c), cross(x, b, y, a)];
        for ((sum, own), turned) in self.blocks.0.iter_mut().zip(&block.0).zip(&turned) {
            *sum = lanes.to_array(lanes.sum(lanes.load(sum), lanes.join(own, turned)));
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
    pub(super) fn add_scalar<L: Lanes>(&mut self, lanes: L, arm: &Row3, value: f32) {
        self.scalars = lanes.plus_multiple(&self.scalars, value, arm);
    }

    /// Adds k S [I, R] for a scalar k whose column has a projector S; nothing without one.
    #[inline(always)]
    pub(super) fn add_constrained_scalar<L: Lanes>(
        &mut self,
        lanes: L,
        arm: &Row3,
        projector: Option<&Block>,
        value: f32,
    ) {
        if let Some(projector) = projector {
            let mut block = *projector;
            block.scale(value);
            self.add_block(lanes, arm, &block);
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
