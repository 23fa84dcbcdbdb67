// SPDX-License-Identifier: MIT OR Apache-2.0
//! Directions in which a vertex is constrained, and what they leave free.

use crate::Vec3;
use nalgebra::Matrix3;

/// Directions that make an angle with less than this sine to the others add nothing.
const MIN_INDEPENDENT_SINE: f64 = 0.1;

/// Orthonormal directions spanned by up to three normals, in order.
pub(crate) struct OrthonormalBasis {
    directions: [Option<Vec3>; 3],
}

impl OrthonormalBasis {
    pub(crate) fn new(normals: impl Iterator<Item = Vec3>) -> Self {
        let mut directions = [None; 3];
        for (slot, normal) in normals.take(3).enumerate() {
            directions[slot] = orthogonal_remainder(&directions[..slot], normal);
        }
        Self { directions }
    }

    /// Of any number of directions those that are independent, at most three.
    pub(crate) fn from_spanning_set(normals: impl Iterator<Item = Vec3>) -> Self {
        let mut directions = [None; 3];
        let mut count = 0;
        for normal in normals {
            if let Some(rest) = orthogonal_remainder(&directions[..count], normal) {
                directions[count] = Some(rest);
                count += 1;
            }
            if count == 3 {
                break;
            }
        }
        Self { directions }
    }

    /// Projector onto what the directions leave free.
    pub(crate) fn complement_projector(&self) -> Matrix3<f64> {
        let spanned = self.directions.iter().flatten();
        spanned.fold(Matrix3::identity(), |left, q| left - q * q.transpose())
    }

    /// The shortest displacement with the given components along the normals the basis was made of.
    pub(crate) fn min_norm_displacement(
        &self,
        components: impl Iterator<Item = (Vec3, f64)>,
    ) -> Vec3 {
        let mut sum = Vec3::zeros();
        for (q, (normal, component)) in self.directions.iter().zip(components) {
            if let Some(q) = q {
                sum += q * ((component - normal.dot(&sum)) / normal.dot(q));
            }
        }
        sum
    }
}

/// What a unit vector adds to orthonormal directions, as a unit vector.
fn orthogonal_remainder(directions: &[Option<Vec3>], normal: Vec3) -> Option<Vec3> {
    let known = directions.iter().flatten();
    known.fold(normal, |rest, q: &Vec3| rest - q * rest.dot(q)).try_normalize(MIN_INDEPENDENT_SINE)
}
