// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rotation of a triangle that may deform as well.

use crate::vec3::Vec3;
use nalgebra::{Matrix2, Matrix3};

/// Rotation that takes the plane of a triangle to its plane at the end and, within it, is that of the polar decomposition
/// of the deformation gradient. Identity where a triangle has no plane, or is too large for numbers.
pub(crate) fn triangle_rotation(starts: &[Vec3; 3], ends: &[Vec3; 3]) -> Matrix3<f64> {
    let is_finite = |rotation: &Matrix3<f64>| rotation.iter().all(|entry| entry.is_finite());
    rotation(starts, ends).filter(is_finite).unwrap_or_else(Matrix3::identity)
}

fn rotation(starts: &[Vec3; 3], ends: &[Vec3; 3]) -> Option<Matrix3<f64>> {
    let (start, end) = (frame(starts)?, frame(ends)?);
    let inverse = edges_in_plane(&start, starts).try_inverse()?;
    let gradient = edges_in_plane(&end, ends) * inverse;
    let (cosine, sine) = (gradient.trace(), gradient.m21 - gradient.m12);
    let length = cosine.hypot(sine);
    let (cosine, sine) = (cosine / length, sine / length);
    let spin = Matrix3::new(cosine, -sine, 0.0, sine, cosine, 0.0, 0.0, 0.0, 1.0);
    Some(end * spin * start.transpose())
}

/// Orthonormal axes along the first edge, in the plane of a triangle, and normal to it, as columns.
fn frame([a, b, c]: &[Vec3; 3]) -> Option<Matrix3<f64>> {
    let edge = (b - a).try_normalize(f64::MIN_POSITIVE)?;
    let normal = (b - a).cross(&(c - a)).try_normalize(f64::MIN_POSITIVE)?;
    Some(Matrix3::from_columns(&[edge, normal.cross(&edge), normal]))
}

/// Two edges of a triangle along the first two axes of its frame, as columns.
fn edges_in_plane(frame: &Matrix3<f64>, [a, b, c]: &[Vec3; 3]) -> Matrix2<f64> {
    Matrix2::from_columns(&[b - a, c - a].map(|edge| frame.tr_mul(&edge).xy()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Rotation3, Unit};

    const TRIANGLE: [Vec3; 3] =
        [Vec3::new(0.1, 0.0, 0.0), Vec3::new(1.0, 0.2, -0.3), Vec3::new(0.3, 0.9, 0.4)];

    #[test]
    fn a_rigid_motion_gives_its_rotation() {
        let axis = Unit::new_normalize(Vec3::new(0.3, -0.5, 0.8));
        for angle in [1.0e-9, 0.2, 1.5, 3.1] {
            let rotation = Rotation3::from_axis_angle(&axis, angle);
            let ends = TRIANGLE.map(|corner| rotation * corner + Vec3::new(3.0, -2.0, 1.0));
            let difference = triangle_rotation(&TRIANGLE, &ends) - rotation.matrix();
            assert!(difference.norm() < 1e-14, "{angle}: {}", difference.norm());
        }
    }

    #[test]
    fn a_stretch_in_the_plane_does_not_turn() {
        let [a, b, c] = TRIANGLE;
        let normal = (b - a).cross(&(c - a)).normalize();
        let axis = (b - a * 0.3).normalize();
        let tangent = axis - normal * axis.dot(&normal);
        let ends = TRIANGLE.map(|corner| corner + tangent * corner.dot(&tangent) * 0.4);
        assert!((triangle_rotation(&TRIANGLE, &ends) - Matrix3::identity()).norm() < 1e-14);
    }

    #[test]
    fn a_triangle_without_area_does_not_turn() {
        let [a, b, _] = TRIANGLE;
        assert_eq!(triangle_rotation(&TRIANGLE, &[a, b, b]), Matrix3::identity());
        let huge = TRIANGLE.map(|corner| corner * 1.0e200);
        assert_eq!(triangle_rotation(&TRIANGLE, &huge), Matrix3::identity());
    }
}
