// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far velocities tell where the search for the next positions may start.
//!
//! What a step leaves unsolved is an error of its velocities, too. Along the soft modes of cloth that touches something
//! the few corrections of the next step go hardly farther than where its search starts. Started with
//! ways that are mostly errors, what should rest would tremble for ever. Errors of two steps do not agree, and
//! motion does; and long ways are no errors. The shortest do not show, and a stack of layers is calm only
//! where they are left as they are: with each vertex on a way of its own, layers that move together would not.

use crate::Vec3;

/// Ways are taken as they are where they are shorter than the first of these multiples of the tolerance or longer than the
/// second.
const BAND: [f64; 2] = [0.25, 20.0];

/// Which ways of a step are trusted where anything touches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VelocityTrust {
    /// Squares of the lengths between which ways are doubted, in m².
    squared_band: [f64; 2],
}

impl VelocityTrust {
    /// With this length of the tolerance, in m.
    pub(crate) fn new(tolerance: f64) -> Self {
        Self { squared_band: BAND.map(|multiple| (multiple * tolerance).powi(2)) }
    }

    /// The part of a way in m that is trusted after a step that ended with a velocity `before`: all where their directions
    /// are the same.
    pub(crate) fn factor(&self, way: &Vec3, before: &Vec3) -> f64 {
        let [shortest, longest] = self.squared_band;
        let square = way.norm_squared();
        let squares = square * before.norm_squared();
        if squares == 0.0 {
            return 1.0;
        }
        let cosine = way.dot(before).max(0.0) / squares.sqrt();
        let is_seen = square / (square + shortest);
        let is_short = longest / (square + longest);
        1.0 - (1.0 - cosine * cosine) * is_seen * is_short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCE: f64 = 1.0e-3;

    fn trusted(way: f64, angle: f64) -> f64 {
        let way = Vec3::new(way * angle.cos(), way * angle.sin(), 0.0);
        VelocityTrust::new(TOLERANCE).factor(&way, &Vec3::new(0.3, 0.0, 0.0))
    }

    #[test]
    fn ways_that_go_on_as_before_or_begin_are_trusted() {
        for way in [1.0e-6, 1.0e-3, 1.0] {
            assert!((trusted(way, 0.0) - 1.0).abs() < 1e-12);
            let begun = VelocityTrust::new(TOLERANCE).factor(&(Vec3::x() * way), &Vec3::zeros());
            assert!((begun - 1.0).abs() < 1e-12);
        }
        let still = VelocityTrust::new(TOLERANCE).factor(&Vec3::zeros(), &Vec3::x());
        assert!((still - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ways_that_turn_are_not_but_where_they_are_too_short_to_show_or_long() {
        assert!(trusted(2.0e-3, 3.0) < 0.03);
        assert!((trusted(2.0e-3, 0.785) - 0.5).abs() < 0.03);
        assert!(trusted(1.0e-5, 3.0) > 0.99);
        assert!(trusted(1.0, 3.0) > 0.99);
    }
}
