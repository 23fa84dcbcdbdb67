// SPDX-License-Identifier: MIT OR Apache-2.0
//! Explicit schemes: the next state from accelerations at known states.
//!
//! All accept accelerations that depend on positions and velocities, and keep their order of accuracy then. They follow
//! the textbooks; some of the documents misprint them (Cords 2004).

mod cromer;
mod euler;
mod heun;
mod midpoint;
mod rk4;
mod symplectic_euler;
mod verlet;

use crate::{scene::Integrator, vec3::Vec3};

/// Positions in m and velocities in m/s of all vertices.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KinematicState {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) velocities: Vec<Vec3>,
}

impl KinematicState {
    /// State after `time` in s at constant velocities in m/s and accelerations in m/s².
    fn advanced(&self, velocities: &[Vec3], accelerations: &[Vec3], time: f64) -> Self {
        let add = |values: &[Vec3], rates: &[Vec3]| {
            values.iter().zip(rates).map(|(value, rate)| value + rate * time).collect()
        };
        Self {
            positions: add(&self.positions, velocities),
            velocities: add(&self.velocities, accelerations),
        }
    }

    /// State after `time` in s at constant accelerations in m/s², with positions advanced by the new velocities.
    fn advanced_semi_implicitly(&self, accelerations: &[Vec3], time: f64) -> Self {
        let mut end = self.advanced(&self.velocities, accelerations, time);
        let pairs = end.positions.iter_mut().zip(&self.positions);
        for ((position, start), velocity) in pairs.zip(&end.velocities) {
            *position = start + velocity * time;
        }
        end
    }
}

/// Accelerations in m/s² of a state at a time in s after the start of the step.
pub(crate) type AccelerationFunction<'a> = &'a mut dyn FnMut(&KinematicState, f64) -> Vec<Vec3>;

/// Step of an explicit scheme, of a duration in s.
pub(crate) type ExplicitScheme =
    fn(&KinematicState, f64, AccelerationFunction<'_>) -> KinematicState;

/// Explicit scheme of an integrator; `None` for an implicit one.
pub(crate) fn explicit_scheme(integrator: Integrator) -> Option<ExplicitScheme> {
    match integrator {
        Integrator::Euler => Some(euler::step),
        Integrator::SymplecticEuler => Some(symplectic_euler::step),
        Integrator::Midpoint => Some(midpoint::step),
        Integrator::Rk4 => Some(rk4::step),
        Integrator::Verlet => Some(verlet::step),
        Integrator::Heun => Some(heun::step),
        Integrator::MidpointCromer => Some(cromer::midpoint),
        Integrator::HeunCromer => Some(cromer::heun),
        Integrator::Rk4Cromer => Some(cromer::rk4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Error of the position of a damped oscillator at 1 s with a number of steps.
    fn error(scheme: ExplicitScheme, steps: u32) -> f64 {
        let (rate, damping) = (3.0_f64, 0.4);
        let mut state = KinematicState {
            positions: vec![Vec3::new(1.0, 0.0, 0.0)],
            velocities: vec![Vec3::new(-damping, 0.0, 0.0)],
        };
        for _ in 0..steps {
            state = scheme(&state, 1.0 / f64::from(steps), &mut |now, _| {
                let (x, v) = (now.positions[0], now.velocities[0]);
                vec![x * -(rate * rate + damping * damping) - v * (2.0 * damping)]
            });
        }
        (state.positions[0].x - (-damping).exp() * rate.cos()).abs()
    }

    /// Of ẍ = 6t, where the time alone counts.
    #[test]
    fn accelerations_are_those_of_the_time_they_are_asked_for() {
        for integrator in
            [Integrator::Midpoint, Integrator::Heun, Integrator::Verlet, Integrator::Rk4]
        {
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
            (Integrator::Heun, 2),
            (Integrator::MidpointCromer, 1),
            (Integrator::HeunCromer, 1),
            (Integrator::Rk4Cromer, 1),
        ];
        for (integrator, order) in orders {
            let scheme = explicit_scheme(integrator).unwrap();
            let found = (error(scheme, 200) / error(scheme, 400)).log2();
            assert!((found - f64::from(order)).abs() < 0.1, "{integrator:?}: {found}");
        }
    }
}
