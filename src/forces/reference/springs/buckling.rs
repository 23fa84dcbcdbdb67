// SPDX-License-Identifier: MIT OR Apache-2.0
//! Circular arc of a buckled beam (Hayler 2004, section 3.1.2, after Choi and Ko 2002).
//!
//! A beam of length L with its ends at the distance d has the curvature κ with sin(y)/y = d/L, y = κL/2 (eq. 3.4). Its
//! energy ½·k_b·κ²L gives the force of eq. 3.3, f_b = k_b κ²/(cos y − sin(y)/y). The document's polynomial for the
//! inverse of sin(y)/y has coefficients that cannot be right; here the equation is solved.

use std::f64::consts::PI;

/// A buckled beam, in units of k_b and L.
#[derive(Clone, Copy, Debug)]
pub(super) struct BucklingState {
    /// y², which is the energy over 2k_b/L.
    pub(super) energy: f64,
    /// The push over 4k_b/L².
    pub(super) force: f64,
    /// Derivative of the push by −d, over 4k_b/L³.
    pub(super) stiffness: f64,
}

/// y, between 0 and π, with sin(y)/y = `ratio`.
pub(super) fn half_angle(ratio: f64) -> f64 {
    let missing = 1.0 - ratio.clamp(0.0, 1.0);
    // Right at both ends.
    let mut y = (6.0 * missing).sqrt() * (1.0 + (PI / 6.0_f64.sqrt() - 1.0) * missing);
    for _ in 0..20 {
        if y <= 0.0 {
            return 0.0;
        }
        let step = (one_less_sinc(y) - missing) * y / sinc_less_cosine(y);
        y -= step;
        if step.abs() <= 1.0e-15 * y {
            break;
        }
    }
    y.min(PI)
}

/// The beam at an angle y.
pub(super) fn buckling_state(y: f64) -> BucklingState {
    let energy = y * y;
    // Below this y the leading terms are exact to rounding.
    if y < 1.0e-4 {
        return BucklingState { energy, force: 3.0 + 0.3 * energy, stiffness: 1.8 };
    }
    let q = sinc_less_cosine(y);
    let slope = 2.0 * y - y * y * (y.sin() / q - 1.0 / y);
    // Differences of nearly equal numbers up to here.
    let stiffness = if y < 0.02 { 1.8 } else { y * slope / (q * q) };
    BucklingState { energy, force: energy / q, stiffness }
}

/// 1 − sin(y)/y.
fn one_less_sinc(y: f64) -> f64 {
    if y > 1.0 {
        return 1.0 - y.sin() / y;
    }
    let square = y * y;
    let (mut term, mut sum) = (1.0, 0.0);
    for n in 1..9 {
        let n = f64::from(n);
        term *= -square / (2.0 * n * (2.0 * n + 1.0));
        sum -= term;
    }
    sum
}

/// sin(y)/y − cos(y).
fn sinc_less_cosine(y: f64) -> f64 {
    if y > 1.0 {
        return y.sin() / y - y.cos();
    }
    let square = y * y;
    let (mut term, mut sum) = (1.0, 0.0);
    for n in 1..10 {
        let n = f64::from(n);
        term *= -square / (2.0 * n * (2.0 * n + 1.0));
        sum -= 2.0 * n * term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_angle_of_a_chord_is_found_to_nine_digits() {
        for step in 0..=2000 {
            let y = PI * f64::from(step) / 2000.0;
            let ratio = if y > 0.0 { y.sin() / y } else { 1.0 };
            let found = half_angle(ratio);
            // The ratio itself is known to 1e-16, of which an angle near 0 is the root.
            assert!((found * found - y * y).abs() < 1.0e-9 * (y * y).max(1.0e-6), "{y}: {found}");
        }
    }

    #[test]
    fn a_beam_buckles_at_twelve_and_pushes_ever_more() {
        let mut before = buckling_state(0.0);
        assert!((4.0 * before.force - 12.0).abs() < 1.0e-12);
        for step in 1..=314 {
            let now = buckling_state(f64::from(step) * 0.01);
            assert!(now.force > before.force && now.stiffness > 0.0, "{step}");
            before = now;
        }
        assert!((buckling_state(PI).force - PI * PI).abs() < 1.0e-9);
    }
}
