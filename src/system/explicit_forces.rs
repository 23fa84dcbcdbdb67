// SPDX-License-Identifier: MIT OR Apache-2.0
//! Explicit forces: all forces at known positions and velocities, for explicit and semi-implicit schemes.

use super::equations_of_motion::EquationsOfMotion;
use crate::{
    forces::StrainHistory,
    material::Material,
    time_integration::{KinematicState, Measures},
    vec3::Vec3,
};
use std::sync::Arc;

/// Half interval of the central difference of strains for their rate, in s. Strains are smooth over it, and their
/// rounding errors divided by it are far below any rate.
const STRAIN_RATE_INTERVAL: f64 = 1.0e-6;

impl EquationsOfMotion {
    /// Forces at a kinematic state `seconds` after the last step, in N, without contacts and spring targets.
    pub(crate) fn forces(&mut self, state: &KinematicState, seconds: f64) -> Vec<Vec3> {
        let KinematicState { positions, velocities } = state;
        let (references, inverse_beta) = if self.is_viscous() {
            (self.strain_rate_references(state), 1.0 / STRAIN_RATE_INTERVAL)
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
        self.pressures.evaluate(positions, &mut forces);
        let (has_air, has_drag) = (self.air.is_active(), self.point_damping.has_drag());
        for (vertex, force) in forces.iter_mut().enumerate() {
            *force += self.gravity * self.masses[vertex] + self.vertex_force(vertex);
            if has_air {
                *force += self.air.force(vertex, &velocities[vertex]);
            }
            if has_drag {
                let (mass, velocity) = (self.masses[vertex], &velocities[vertex]);
                *force += self.point_damping.dissipation_and_force(mass, velocity).1;
            }
        }
        forces
    }

    /// Adds the forces of spring targets, in N.
    pub(crate) fn add_spring_target_forces(&self, positions: &[Vec3], forces: &mut [Vec3]) {
        for (vertex, target) in self.spring_targets.iter().enumerate() {
            if let Some(target) = target {
                forces[vertex] += target.force(&positions[vertex]);
            }
        }
    }

    /// Whether forces depend on strain rates: by damping of materials or springs, or in closing seams.
    pub(crate) fn is_viscous(&self) -> bool {
        let is_damped = |material: &Material| {
            let times = [material.stretch_damping, material.shear_damping, material.bend_damping];
            times.iter().any(|time| *time > 0.0)
        };
        let is_rayleigh = self.point_damping.is_viscous();
        let mut springs = self.springs.iter().flatten();
        let has_damped_spring = springs.any(|own| own.damping.iter().any(|one| *one > 0.0));
        is_rayleigh
            || has_damped_spring
            || self.has_time_dependent_stiffness()
            || self.materials.iter().any(is_damped)
    }

    /// ε̂ for which (ε − ε̂)/[`STRAIN_RATE_INTERVAL`] is the strain rate.
    fn strain_rate_references(&self, state: &KinematicState) -> Measures {
        let now = self.measure(&state.positions);
        let [before, after] = [-STRAIN_RATE_INTERVAL, STRAIN_RATE_INTERVAL]
            .map(|time| self.measure_extrapolated(state, time));
        let changes = self.measure_difference(&after, before);
        let kinds = now.into_iter().zip(changes);
        kinds
            .map(|(now, changes)| {
                let pairs = now.iter().zip(changes.iter());
                Arc::new(pairs.map(|(now, change)| now - 0.5 * change).collect())
            })
            .collect()
    }

    /// Measures at the positions extrapolated by the velocities over a time in s.
    pub(crate) fn measure_extrapolated(&self, state: &KinematicState, time: f64) -> Measures {
        let pairs = state.positions.iter().zip(&state.velocities);
        self.measure(&pairs.map(|(x, v)| x + v * time).collect::<Vec<_>>())
    }

    /// Difference of measures, first minus second.
    pub(crate) fn measure_difference(&self, first: &Measures, second: Measures) -> Measures {
        let mut differences = self.extrapolate_measures(first, second, 1.0);
        for (differences, first) in differences.iter_mut().zip(first) {
            for (difference, first) in Arc::make_mut(differences).iter_mut().zip(first.iter()) {
                *difference -= first;
            }
        }
        differences
    }
}
