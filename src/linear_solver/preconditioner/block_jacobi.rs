// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inverse of the diagonal blocks.

use super::{FilteredMatrix, Preconditioner};
use crate::{
    linear_solver::block_matrix::BlockMatrix,
    parallel::reductions,
    simd::{Block, Row3},
};
use rayon::prelude::*;

/// Inverted diagonal blocks: cheap, and enough where the mass rules.
#[derive(Clone, Debug, Default)]
pub struct BlockJacobi {
    inverses: Vec<Block>,
}

impl Preconditioner for BlockJacobi {
    fn update(&mut self, FilteredMatrix { matrix, .. }: FilteredMatrix<'_>) {
        let each = matrix.diagonals().par_iter().with_min_len(reductions::MIN_VERTICES_PER_TASK);
        each.map(Block::inverse).collect_into_vec(&mut self.inverses);
    }

    fn apply(&mut self, _matrix: &BlockMatrix, vector: &[Row3], result: &mut [Row3]) {
        let each = (result, vector, &self.inverses).into_par_iter();
        each.with_min_len(reductions::MIN_VERTICES_PER_TASK)
            .for_each(|(result, vector, inverse)| *result = inverse.times(vector));
    }
}
