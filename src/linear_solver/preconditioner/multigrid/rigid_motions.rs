// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prolongation by the rigid motions of aggregates: u = t + ω × r, r being the arm from the aggregate's centre.
//!
//! A coarse level has two rows for each node, t and ω. A node of a coarser one moves them by t + ω × r and ω.

use crate::{
    linear_solver::{filter::Filter, pattern::GROUP},
    parallel::reductions,
    simd::{Block, Row3, cross},
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
    /// Arm of each row from the centre of its aggregate in m, and 1 in the last lane; 0 in the last lane of constrained
    /// rows, and 0 in all for rotations.
    pub(super) arms: Vec<Row3>,
    /// Constrained rows in ascending order, each with its projector.
    projectors: Vec<(u32, Block)>,
    /// Place among the projectors plus 1 for every row, or 0; empty if no row is constrained.
    places: Vec<u32>,
    /// Projectors onto the translations of aggregates in ascending order that their constraints leave nothing of.
    blocked: Vec<(u32, Block)>,
    /// Centre of each aggregate, in m.
    pub(super) centers: Vec<Vec3>,
}

/// Heuristic parameters of the rigid motions.
struct RigidMotionParameters {
    /// Part of a translation that constraints must leave for it to count as possible (mean square). Effect: larger
    /// takes what an aggregate can do; smaller divides by rounding errors of single precision. Evidence: none: rounding
    /// (10⁻⁷).
    min_free_part: f64,
}

impl RigidMotionParameters {
    const DEFAULT: Self = Self { min_free_part: 1.0e-5 };
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
            arms: vec![[0.0; 4]; aggregates.len()],
            projectors: Vec::new(),
            places: Vec::new(),
            blocked: Vec::new(),
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
        let each = self.arms.par_iter_mut().enumerate();
        each.with_min_len(reductions::MIN_VERTICES_PER_TASK).for_each(|(row, arm)| {
            if row % per_node == 0 {
                let own = positions[row / per_node] - centers[aggregates[row] as usize];
                // As of blocks, subnormal products cost time.
                let least = own.amax() * f64::from(f32::EPSILON);
                let own = own.map(|value| if value.abs() < least { 0.0 } else { value });
                *arm = [own.x as f32, own.y as f32, own.z as f32, 1.0];
            }
        });
        self.projectors.clear();
        self.projectors.extend(filter.iter().flat_map(|filter| filter.projectors()));
        self.places.clear();
        if !self.projectors.is_empty() {
            self.places.resize(self.arms.len(), 0);
        }
        for (place, (row, _)) in self.projectors.iter().enumerate() {
            self.arms[*row as usize][3] = 0.0;
            self.places[*row as usize] = place as u32 + 1;
        }
        self.update_blocked();
    }

    /// Finds what no row of an aggregate is free to do: on a plane, to leave it. The coarse matrix is singular there.
    fn update_blocked(&mut self) {
        let mut blocked = std::mem::take(&mut self.blocked);
        blocked.clear();
        let mut touched: Vec<u32> =
            self.projectors.iter().map(|(row, _)| self.aggregates[*row as usize]).collect();
        touched.sort_unstable();
        touched.dedup();
        blocked.extend(touched.into_iter().filter_map(|own| {
            let members = self.members_of(own as usize);
            let projectors: Option<Vec<&Block>> =
                members.iter().map(|row| self.projector(*row as usize)).collect();
            let sum: Matrix3<f64> = projectors?.iter().map(|block| block.to_matrix()).sum();
            let free = (sum / members.len() as f64).symmetric_eigen();
            let least = RigidMotionParameters::DEFAULT.min_free_part;
            let parts = free.eigenvalues.map(|part| f64::from(u8::from(part < least)));
            let vectors = free.eigenvectors;
            let projector = vectors * Matrix3::from_diagonal(&parts) * vectors.transpose();
            (parts.sum() > 0.0).then(|| (own, Block::from_matrix(&projector)))
        }));
        self.blocked = blocked;
    }

    /// Projector onto the translations of an aggregate that are blocked; `None` if none is.
    pub(super) fn blocked(&self, aggregate: usize) -> Option<&Block> {
        let place = self.blocked.binary_search_by_key(&(aggregate as u32), |(own, _)| *own).ok()?;
        Some(&self.blocked[place].1)
    }

    /// Whether a row is a rotation.
    #[inline(always)]
    pub(super) fn is_rotation(&self, row: usize) -> bool {
        self.rows_per_node == 2 && row % 2 == 1
    }

    /// Projector of a row that has no 1 in its arm; `None` for rotations.
    pub(super) fn projector(&self, row: usize) -> Option<&Block> {
        let place = self.places.get(row)?.checked_sub(1)?;
        Some(&self.projectors[place as usize].1)
    }

    /// Motions of a row.
    pub(super) fn of_row(&self, row: usize) -> RowMotions {
        let identity = Block::scaled_identity(1.0);
        if self.is_rotation(row) {
            return [Block::default(), identity];
        }
        let turning = turning(&self.arms[row]);
        match self.projector(row) {
            Some(projector) => [*projector, projector.product(&turning)],
            None => [identity, turning],
        }
    }

    /// Writes the motion of all rows.
    pub(super) fn prolong(&self, coarse: &[Row3], fine: &mut [Row3]) {
        let each = fine.par_iter_mut().enumerate();
        each.with_min_len(reductions::MIN_LIGHT_VERTICES_PER_TASK).for_each(|(row, fine)| {
            let own = 2 * self.aggregates[row] as usize;
            let turn = coarse[own + 1];
            *fine = if self.is_rotation(row) {
                turn
            } else {
                let turned = cross(&turn, &self.arms[row]);
                std::array::from_fn(|k| coarse[own][k] + turned[k])
            };
        });
        self.project(fine);
    }

    /// The transposed of [`Self::prolong`]: force and torque on each aggregate. Projects `fine` onto what is free.
    pub(super) fn restrict(&self, fine: &mut [Row3], coarse: &mut [Row3]) {
        self.project(fine);
        let fine = &*fine;
        let each = coarse.as_chunks_mut::<2>().0.par_iter_mut().enumerate();
        each.with_min_len(GROUP / 4).for_each(|(aggregate, [force, torque])| {
            (*force, *torque) = ([0.0; 4], [0.0; 4]);
            for row in self.members_of(aggregate) {
                let value = fine[*row as usize];
                if self.is_rotation(*row as usize) {
                    add(torque, &value);
                } else {
                    add(force, &value);
                    add(torque, &cross(&self.arms[*row as usize], &value));
                }
            }
        });
    }

    /// Projects a vector onto what is free.
    fn project(&self, vector: &mut [Row3]) {
        for (row, projector) in &self.projectors {
            let entry = &mut vector[*row as usize];
            *entry = projector.times(entry);
        }
    }
}

#[inline(always)]
fn add(sum: &mut Row3, other: &Row3) {
    for k in 0..4 {
        sum[k] += other[k];
    }
}

/// The matrix R with R ω = ω × r.
fn turning([x, y, z, _]: &Row3) -> Block {
    Block([[0.0, -z, *y, 0.0], [*z, 0.0, -x, 0.0], [-y, *x, 0.0, 0.0]])
}
