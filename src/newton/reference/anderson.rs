// SPDX-License-Identifier: MIT OR Apache-2.0
//! Anderson acceleration of a fixed-point iteration x ← G(x) (Anderson, "Iterative procedures for nonlinear integral
//! equations", 1965): the next point is the affine combination of the last images G(x) with the smallest combined
//! update G(x) − x, in the norm of the matrix of the iteration.

use crate::{parallel::reductions, vec3::Vec3};
use nalgebra::{DMatrix, DVector};

/// Parameters of Anderson acceleration.
struct AndersonParameters {
    /// Updates in the history beside the last. Effect: larger costs time and memory; smaller converges more slowly.
    /// Evidence: none: not varied.
    depth: usize,
    /// Growth of the update at which the history is discarded (ratio to the previous length). Effect: larger keeps an
    /// outdated history; smaller discards a useful one. Evidence: none: no test or figure depends on it (no limit
    /// tried; bits of `sheet/ball10_bdf2_fixed_point` change).
    max_growth: f64,
    /// Relative regularization of the diagonal of the least-squares system against nearly dependent differences.
    /// Effect: larger weakens the acceleration; smaller amplifies rounding errors. Evidence: none: no test or figure
    /// depends on it (0 tried; bits of `sheet/pinned10_fixed` change).
    regularization: f64,
}

impl AndersonParameters {
    const DEFAULT: Self = Self { depth: 5, max_growth: 4.0, regularization: 1.0e-10 };
}

const PARAMETERS: AndersonParameters = AndersonParameters::DEFAULT;

/// Iterate of the fixed-point iteration.
#[derive(Clone, Debug)]
struct FixedPointIterate {
    /// G(x).
    image: Vec<Vec3>,
    /// Update G(x) − x.
    update: Vec<Vec3>,
    /// Product of the matrix and the update.
    weighted_update: Vec<Vec3>,
    /// Squared norm of the update.
    squared_norm: f64,
}

/// History of a fixed-point iteration.
#[derive(Clone, Debug, Default)]
pub(crate) struct AndersonAcceleration {
    history: Vec<FixedPointIterate>,
}

impl AndersonAcceleration {
    /// Records an image of the iteration. `product` is the product of the matrix and a field.
    pub(crate) fn record(
        &mut self,
        point: &[Vec3],
        image: &[Vec3],
        product: impl Fn(&[Vec3]) -> Vec<Vec3>,
    ) {
        let update = difference(image, point);
        let weighted_update = product(&update);
        let squared_norm = dot(&update, &weighted_update);
        let growth = PARAMETERS.max_growth;
        if self
            .history
            .last()
            .is_some_and(|last| squared_norm > growth * growth * last.squared_norm)
        {
            self.history.clear();
        }
        if self.history.len() > PARAMETERS.depth {
            self.history.remove(0);
        }
        self.history.push(FixedPointIterate {
            image: image.to_vec(),
            update,
            weighted_update,
            squared_norm,
        });
    }

    /// Adds the contact forces at the last image to the forces there, in N: the product of the matrix and the last
    /// update, minus the forces at the last point.
    pub(crate) fn add_contact_forces(&self, forces_at_point: &[Vec3], forces: &mut [Vec3]) {
        let Some(last) = self.history.last() else { return };
        let changes = forces_at_point.iter().zip(&last.weighted_update);
        for (force, (before, product)) in forces.iter_mut().zip(changes) {
            *force += product - before;
        }
    }

    /// Squared norm of the last update over the vertices of each cloth. `starts` are their first vertices and the
    /// vertex count.
    pub(crate) fn last_squared_norms(&self, starts: &[usize]) -> Vec<f64> {
        let square = |ends: &[usize]| {
            let last = self.history.last();
            last.map_or(f64::INFINITY, |last| {
                let vertices = ends[0]..ends[1];
                dot(&last.update[vertices.clone()], &last.weighted_update[vertices])
            })
        };
        starts.windows(2).map(square).collect()
    }

    /// Computes the next point by Anderson mixing.
    pub(crate) fn mix(&self, point: &mut [Vec3]) {
        let Some((last, others)) = self.history.split_last() else { return };
        point.copy_from_slice(&last.image);
        let differences: Vec<Vec<Vec3>> =
            others.iter().map(|other| difference(&last.update, &other.update)).collect();
        let count = others.len();
        // The matrix is symmetric, so that the recorded products suffice.
        let weighted: Vec<Vec<Vec3>> = others
            .iter()
            .map(|other| difference(&last.weighted_update, &other.weighted_update))
            .collect();
        let mut normal_matrix =
            DMatrix::from_fn(count, count, |i, j| dot(&differences[i], &weighted[j]));
        for k in 0..count {
            normal_matrix[(k, k)] *= 1.0 + PARAMETERS.regularization;
        }
        let right_hand_side =
            DVector::from_fn(count, |k, _| dot(&differences[k], &last.weighted_update));
        let Some(factors) = normal_matrix.cholesky() else { return };
        let weights = factors.solve(&right_hand_side);
        for (other, weight) in others.iter().zip(weights.iter()) {
            for ((point, image), other) in point.iter_mut().zip(&last.image).zip(&other.image) {
                *point -= (image - other) * *weight;
            }
        }
    }
}

fn difference(first: &[Vec3], second: &[Vec3]) -> Vec<Vec3> {
    first.iter().zip(second).map(|(first, second)| first - second).collect()
}

fn dot(first: &[Vec3], second: &[Vec3]) -> f64 {
    reductions::sum_blocked(first.len(), reductions::MIN_VERTICES_PER_TASK, |vertex| {
        first[vertex].dot(&second[vertex])
    })
}
