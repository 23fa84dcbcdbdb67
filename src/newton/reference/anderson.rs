// SPDX-License-Identifier: MIT OR Apache-2.0
//! Anderson's acceleration of a fixed-point iteration x ← G(x) (Anderson, "Iterative procedures for nonlinear integral
//! equations", 1965): the next point is the combination of the last images G(x) whose updates G(x) − x nearly cancel.
//!
//! "Nearly" is in the norm of the matrix of the iteration, in which the update is as long as the error that the matrix
//! sees in it.

use crate::{Vec3, parallel::reductions};
use nalgebra::{DMatrix, DVector};

/// Points that are remembered.
const DEPTH: usize = 5;
/// The history is forgotten when an update is so much longer than the one before.
const GROWTH: f64 = 4.0;
/// Part of the diagonal that keeps the least squares away from differences that are all alike.
const REGULAR: f64 = 1.0e-10;

/// One step of the iteration.
#[derive(Clone, Debug)]
struct FixedPointIterate {
    image: Vec<Vec3>,
    /// G(x) − x, and the matrix times that.
    update: Vec<Vec3>,
    weighted_update: Vec<Vec3>,
    /// Square of the length of the way.
    squared_norm: f64,
}

/// The last steps of an iteration.
#[derive(Clone, Debug, Default)]
pub(crate) struct AndersonAcceleration {
    history: Vec<FixedPointIterate>,
}

impl AndersonAcceleration {
    /// Takes in that `point` led to `image`; `times` is the matrix times a field.
    pub(crate) fn record(
        &mut self,
        point: &[Vec3],
        image: &[Vec3],
        times: impl Fn(&[Vec3]) -> Vec<Vec3>,
    ) {
        let way = difference(image, point);
        let weighed = times(&way);
        let square = dot(&way, &weighed);
        if self.history.last().is_some_and(|last| square > GROWTH * GROWTH * last.squared_norm) {
            self.history.clear();
        }
        if self.history.len() > DEPTH {
            self.history.remove(0);
        }
        self.history.push(FixedPointIterate {
            image: image.to_vec(),
            update: way,
            weighted_update: weighed,
            squared_norm: square,
        });
    }

    /// Adds to the forces at the last image what contacts do there: the matrix times the last way, less the forces
    /// at the last point.
    pub(crate) fn add_contact_forces(&self, forces_at_point: &[Vec3], forces: &mut [Vec3]) {
        let Some(last) = self.history.last() else { return };
        for ((force, before), weighed) in
            forces.iter_mut().zip(forces_at_point).zip(&last.weighted_update)
        {
            *force += weighed - before;
        }
    }

    /// Squares of the lengths of the parts of the last update from each of the `starts` to the next.
    pub(crate) fn last_squared_norms(&self, starts: &[usize]) -> Vec<f64> {
        let square = |ends: &[usize]| {
            let last = self.history.last();
            last.map_or(f64::INFINITY, |last| {
                let [way, weighed] =
                    [&last.update, &last.weighted_update].map(|all| &all[ends[0]..ends[1]]);
                dot(way, weighed)
            })
        };
        starts.windows(2).map(square).collect()
    }

    /// Writes the next point.
    pub(crate) fn mix(&self, point: &mut [Vec3]) {
        let Some((last, others)) = self.history.split_last() else { return };
        point.copy_from_slice(&last.image);
        let ways: Vec<Vec<Vec3>> =
            others.iter().map(|other| difference(&last.update, &other.update)).collect();
        let count = others.len();
        // Row i of the products is that with H(way_i): from the weighed ways, which are at hand.
        let weighed: Vec<Vec<Vec3>> = others
            .iter()
            .map(|other| difference(&last.weighted_update, &other.weighted_update))
            .collect();
        let mut products = DMatrix::from_fn(count, count, |i, j| dot(&ways[i], &weighed[j]));
        for k in 0..count {
            products[(k, k)] *= 1.0 + REGULAR;
        }
        let right = DVector::from_fn(count, |k, _| dot(&ways[k], &last.weighted_update));
        let Some(factors) = products.cholesky() else { return };
        let weights = factors.solve(&right);
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
