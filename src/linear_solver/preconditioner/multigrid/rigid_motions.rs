// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prolongation by the rigid motions of aggregates: u = t + ω × r, r being the arm from the aggregate's centre.
//!
//! A coarse level has two rows for each node, t and ω. A node of a coarser one moves them by t + ω × r and ω.

use crate::{
    linear_solver::{filter::Filter, pattern::GROUP},
    parallel::reductions,
    simd::{Block, Row3},
    vec3::Vec3,
};
use nalgebra::Matrix3;
use rayon::prelude::*;

/// Displacement of a row by the translation and the rotation of its aggregate: both factors of u = G t + R ω.
pub(super) type RowMotions = [Block; 2];

/// Rigid motions of the aggregates of a level.
pub(super) struct RigidMotions {
    /// Aggregate of each row.
    pub(super) aggregates: Vec<u32>,
    /// Rows of a node of the level: 1 on the finest level, then 2.
    rows_per_node: usize,
    /// First row of each aggregate in the list, and end of the last.
    starts: Vec<u32>,
    /// Rows, aggregate by aggregate.
    members: Vec<u32>,
    pub(super) rows: Vec<RowMotions>,
    /// Centre of each aggregate, in m.
    pub(super) centers: Vec<Vec3>,
}

impl RigidMotions {
    /// Motions for the aggregate of each node, `count` aggregates in all.
    pub(super) fn new(of_nodes: &[u32], count: usize, rows_per_node: usize) -> Self {
        let each = of_nodes.iter().flat_map(|own| std::iter::repeat_n(*own, rows_per_node));
        let aggregates: Vec<u32> = each.collect();
        let mut members: Vec<u32> = (0..aggregates.len() as u32).collect();
        members.sort_by_key(|row| aggregates[*row as usize]);
        let start = |own: usize| {
            members.partition_point(|row| (aggregates[*row as usize] as usize) < own) as u32
        };
        Self {
            starts: (0..=count).map(start).collect(),
            rows: vec![RowMotions::default(); aggregates.len()],
            centers: vec![Vec3::zeros(); count],
            aggregates,
            rows_per_node,
            members,
        }
    }

    /// Rows of an aggregate, in ascending order.
    fn members_of(&self, aggregate: usize) -> &[u32] {
        &self.members[self.starts[aggregate] as usize..self.starts[aggregate + 1] as usize]
    }

    /// Number of rows of the coarse level.
    pub(super) fn coarse_row_count(&self) -> usize {
        2 * self.centers.len()
    }

    /// Updates the motions to `positions` of the nodes in m; those of constrained rows are projected onto what is free.
    pub(super) fn update(&mut self, positions: &[Vec3], filter: Option<&Filter>) {
        let per_node = self.rows_per_node;
        let mut centers = std::mem::take(&mut self.centers);
        let each = centers.par_iter_mut().enumerate().with_min_len(GROUP);
        each.for_each(|(aggregate, center)| {
            let own = self.members_of(aggregate);
            let sum: Vec3 = own.iter().map(|row| positions[*row as usize / per_node]).sum();
            *center = sum / own.len() as f64;
        });
        self.centers = centers;
        let (centers, aggregates) = (&self.centers, &self.aggregates);
        let each = self.rows.par_iter_mut().enumerate();
        each.with_min_len(reductions::MIN_VERTICES_PER_TASK).for_each(|(row, motions)| {
            let identity = Block::scaled_identity(1.0);
            if row % per_node == 1 {
                *motions = [Block::default(), identity];
                return;
            }
            let arm = positions[row / per_node] - centers[aggregates[row] as usize];
            *motions = [identity, turning(&arm)];
            if let Some(projector) = filter.and_then(|filter| filter.projector(row)) {
                *motions = [*projector, projector.product(&motions[1])];
            }
        });
    }

    /// Writes the motion of all rows.
    pub(super) fn prolong(&self, coarse: &[Row3], fine: &mut [Row3]) {
        let each = fine.par_iter_mut().enumerate();
        each.with_min_len(reductions::MIN_LIGHT_VERTICES_PER_TASK).for_each(|(row, fine)| {
            let [translation, rotation] = &self.rows[row];
            let own = 2 * self.aggregates[row] as usize;
            *fine = translation.times(&coarse[own]);
            rotation.accumulate(&coarse[own + 1], fine);
        });
    }

    /// The transposed of [`Self::prolong`]: force and torque on each aggregate.
    pub(super) fn restrict(&self, fine: &[Row3], coarse: &mut [Row3]) {
        let each = coarse.as_chunks_mut::<2>().0.par_iter_mut().enumerate();
        each.with_min_len(GROUP / 4).for_each(|(aggregate, coarse)| {
            *coarse = [[0.0; 4]; 2];
            for row in self.members_of(aggregate) {
                let value = fine[*row as usize].map(|value| -value);
                for (sum, motion) in coarse.iter_mut().zip(&self.rows[*row as usize]) {
                    motion.subtract_transposed(&value, sum);
                }
            }
        });
    }
}

/// The matrix R with R ω = ω × r.
fn turning(arm: &Vec3) -> Block {
    Block::from_matrix(&-Matrix3::new(
        0.0, -arm.z, arm.y, //
        arm.z, 0.0, -arm.x, //
        -arm.y, arm.x, 0.0,
    ))
}
