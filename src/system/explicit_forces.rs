// SPDX-License-Identifier: MIT OR Apache-2.0
//! All forces of a motion as it is, for schemes that take them from known states.

use super::equations_of_motion::EquationsOfMotion;
use crate::{
    Vec3,
    forces::StrainHistory,
    material::Material,
    time_integration::{KinematicState, Measures},
};
use std::sync::Arc;

/// Strain rates are measured as differences over so many seconds before and after: strains are smooth over such times, and
/// their rounding over them is far below any rate.
const STRAIN_RATE_INTERVAL: f64 = 1.0e-6;

impl EquationsOfMotion {
    /// Forces of a motion so many seconds after the last step, in N, without contacts and the springs of pins.
    pub(crate) fn forces(&mut self, motion: &KinematicState, seconds: f64) -> Vec<Vec3> {
        let KinematicState { positions, velocities } = motion;
        let (references, inverse_beta) = if self.is_viscous() {
            (self.strain_rate_references(motion), 1.0 / STRAIN_RATE_INTERVAL)
        } else {
            (self.measure(positions), 0.0)
        };
        let mut forces = vec![Vec3::zeros(); positions.len()];
        for (elements, reference) in self.elements.iter_mut().zip(&references) {
            let history = StrainHistory { reference: reference.as_slice(), inverse_beta };
            elements.begin_stage(seconds);
            elements.evaluate(positions, history, &mut forces);
        }
        self.predict_air(positions, velocities);
        let has_air = self.air.is_active();
        for (vertex, force) in forces.iter_mut().enumerate() {
            *force += self.gravity * self.masses[vertex] + self.vertex_force(vertex);
            if has_air {
                *force += self.air.force(vertex, &velocities[vertex]);
            }
        }
        forces
    }

    /// Adds what springs draw vertices to their pins with, in N.
    pub(crate) fn add_spring_target_forces(&self, positions: &[Vec3], forces: &mut [Vec3]) {
        for (vertex, goal) in self.spring_targets.iter().enumerate() {
            if let Some(goal) = goal {
                forces[vertex] += goal.force(&positions[vertex]);
            }
        }
    }

    /// Whether anything resists the rate of its strains: cloth, or seams that are drawn together.
    pub(crate) fn is_viscous(&self) -> bool {
        let resists = |material: &Material| {
            let times = [material.stretch_damping, material.shear_damping, material.bend_damping];
            times.iter().any(|time| *time > 0.0)
        };
        self.has_time_dependent_stiffness() || self.materials.iter().any(resists)
    }

    /// ε̂ for which (ε − ε̂)/[`RATE_TIME`] is the strain rate.
    fn strain_rate_references(&self, motion: &KinematicState) -> Measures {
        let now = self.measure(&motion.positions);
        let [before, after] = [-STRAIN_RATE_INTERVAL, STRAIN_RATE_INTERVAL]
            .map(|time| self.measure_extrapolated(motion, time));
        let changes = self.measure_difference(&after, before);
        let kinds = now.into_iter().zip(changes);
        kinds
            .map(|(now, changes)| {
                let pairs = now.iter().zip(changes.iter());
                Arc::new(pairs.map(|(now, change)| now - 0.5 * change).collect())
            })
            .collect()
    }

    /// What the elements measure where the velocities lead in a time in s.
    pub(crate) fn measure_extrapolated(&self, motion: &KinematicState, time: f64) -> Measures {
        let pairs = motion.positions.iter().zip(&motion.velocities);
        self.measure(&pairs.map(|(x, v)| x + v * time).collect::<Vec<_>>())
    }

    /// The way of the measures from the second to the first.
    pub(crate) fn measure_difference(&self, first: &Measures, second: Measures) -> Measures {
        let mut ways = self.extrapolate_measures(first, second, 1.0);
        for (ways, first) in ways.iter_mut().zip(first) {
            for (way, first) in Arc::make_mut(ways).iter_mut().zip(first.iter()) {
                *way -= first;
            }
        }
        ways
    }
}
