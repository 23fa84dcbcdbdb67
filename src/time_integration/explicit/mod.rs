// SPDX-License-Identifier: MIT OR Apache-2.0
//! Explicit schemes: the next state from accelerations at known ones.
//!
//! All take accelerations that depend on positions and velocities, and keep their order there. They are as the
//! textbooks have them; what the documents print of them is partly wrong (ERRATA on Cords 2004: E2).

mod euler;
mod midpoint;
mod rk4;
mod symplectic_euler;
mod verlet;

use crate::{Vec3, scene::Integrator};

/// Positions in m and velocities in m/s of all vertices.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KinematicState {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) velocities: Vec<Vec3>,
}

impl KinematicState {
    /// The motion changed by `positions` in m/s and `velocities` in m/s² over `time` in s.
    fn advanced(&self, positions: &[Vec3], velocities: &[Vec3], time: f64) -> Self {
        let add = |values: &[Vec3], rates: &[Vec3]| {
            values.iter().zip(rates).map(|(value, rate)| value + rate * time).collect()
        };
        Self {
            positions: add(&self.positions, positions),
            velocities: add(&self.velocities, velocities),
        }
    }
}

/// Accelerations of a motion so many seconds after the start of the step, in m/s².
pub(crate) type AccelerationFunction<'a> = &'a mut dyn FnMut(&KinematicState, f64) -> Vec<Vec3>;

/// One step of so many seconds.
pub(crate) type ExplicitScheme =
    fn(&KinematicState, f64, AccelerationFunction<'_>) -> KinematicState;

/// The scheme of an integrator, where it is an explicit one.
pub(crate) fn explicit_scheme(integrator: Integrator) -> Option<ExplicitScheme> {
    match integrator {
        Integrator::Euler => Some(euler::step),
        Integrator::SymplecticEuler => Some(symplectic_euler::step),
        Integrator::Midpoint => Some(midpoint::step),
        Integrator::Rk4 => Some(rk4::step),
        Integrator::Verlet => Some(verlet::step),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions of a damped oscillator at 1 s against the exact one, with so many steps.
    fn error(scheme: ExplicitScheme, steps: u32) -> f64 {
        let (rate, damping) = (3.0_f64, 0.4);
        let mut motion = KinematicState {
            positions: vec![Vec3::new(1.0, 0.0, 0.0)],
            velocities: vec![Vec3::new(-damping, 0.0, 0.0)],
        };
        for _ in 0..steps {
            motion = scheme(&motion, 1.0 / f64::from(steps), &mut |now, _| {
                let (x, v) = (now.positions[0], now.velocities[0]);
                vec![x * -(rate * rate + damping * damping) - v * (2.0 * damping)]
            });
        }
        (motion.positions[0].x - (-damping).exp() * rate.cos()).abs()
    }

    /// Of ẍ = 6t, where the time alone counts.
    #[test]
    fn accelerations_are_those_of_the_time_they_are_asked_for() {
        for integrator in [Integrator::Midpoint, Integrator::Verlet, Integrator::Rk4] {
            let none =
                KinematicState { positions: vec![Vec3::zeros()], velocities: vec![Vec3::zeros()] };
            let scheme = explicit_scheme(integrator).unwrap();
            let end = scheme(&none, 0.5, &mut |_, time| vec![Vec3::x() * 6.0 * time]);
            assert!((end.velocities[0].x - 0.75).abs() < 1e-12, "{integrator:?}: {end:?}");
        }
    }

    #[test]
    fn errors_fall_with_the_order_of_each_scheme() {
        let orders = [
            (Integrator::Euler, 1),
            (Integrator::SymplecticEuler, 1),
            (Integrator::Midpoint, 2),
            (Integrator::Verlet, 2),
            (Integrator::Rk4, 4),
        ];
        for (integrator, order) in orders {
            let scheme = explicit_scheme(integrator).unwrap();
            let found = (error(scheme, 200) / error(scheme, 400)).log2();
            assert!((found - f64::from(order)).abs() < 0.1, "{integrator:?}: {found}");
        }
    }
}
