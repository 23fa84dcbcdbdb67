// SPDX-License-Identifier: MIT OR Apache-2.0
//! Corrections as lengths, cloth by cloth.
//!
//! The square dᵀAd of a correction d in the norm of the equations is told as the way that all vertices of a cloth would have
//! to move together for the same. By itself for each cloth: by the mass of all, a heavy cloth would hide what a light one
//! lacks, wherever they are.

use crate::{
    Vec3,
    linear_solver::Ordering,
    parallel::reductions,
    response::Multiplier,
    simd::{Row3, dot},
    system::EquationsOfMotion,
    time_integration::Stage,
};

/// The cloths of a stage, as far as lengths depend on them.
pub(crate) struct EnergyNorm<'a> {
    /// First vertex of each, and the number of all vertices last.
    cloth_starts: &'a [usize],
    /// Of each, in kg.
    cloth_masses: &'a [f64],
    /// β, in s.
    beta: f64,
}

impl<'a> EnergyNorm<'a> {
    pub(crate) fn new(dynamics: &'a EquationsOfMotion, stage: &Stage) -> Self {
        let EquationsOfMotion { cloth_masses, mesh, .. } = dynamics;
        Self { cloth_starts: &mesh.cloth_starts, cloth_masses, beta: stage.beta }
    }

    pub(crate) fn cloth_count(&self) -> usize {
        self.cloth_masses.len()
    }

    /// The way of a cloth in m for a square in J.
    pub(crate) fn equivalent_displacement(&self, cloth: usize, square: f64) -> f64 {
        self.beta * (square / self.cloth_masses[cloth]).sqrt()
    }

    /// The ways of all for the absolute values of these squares.
    pub(crate) fn equivalent_displacements(&self, squares: &[f64]) -> Vec<f64> {
        let each = squares.iter().enumerate();
        each.map(|(cloth, square)| self.equivalent_displacement(cloth, square.abs())).collect()
    }

    /// The least square in J of ways in m, one of each cloth, times a part.
    pub(crate) fn min_squared_norm(&self, part: f64, lengths: &[f64]) -> f64 {
        let each = self.cloth_masses.iter().zip(lengths);
        let squares = each.map(|(mass, length)| mass * (part * length / self.beta).powi(2));
        squares.fold(f64::INFINITY, f64::min)
    }

    /// β²/M of a cloth with the mass M, in m/N.
    pub(crate) fn rigid_compliance(&self, cloth: usize) -> f64 {
        self.beta.powi(2) / self.cloth_masses[cloth]
    }

    /// The cloth that a row belongs to.
    pub(crate) fn cloth_of_row(&self, ordering: &Ordering, row: usize) -> usize {
        let vertex = ordering.vertex(row);
        self.cloth_starts.partition_point(|start| *start <= vertex) - 1
    }

    /// The scalar products of the parts of two vectors that belong to each cloth.
    pub(crate) fn products_per_cloth(
        &self,
        ordering: &Ordering,
        left: &[Row3],
        right: &[Row3],
    ) -> Vec<f64> {
        if self.cloth_count() == 1 {
            return vec![dot(left, right)];
        }
        let one = |vertex: usize| -> f64 {
            let row = ordering.row(vertex);
            (0..3).map(|k| f64::from(left[row][k]) * f64::from(right[row][k])).sum()
        };
        let parts = self.cloth_starts.windows(2);
        parts
            .map(|ends| {
                let count = ends[1] - ends[0];
                reductions::sum_blocked(count, reductions::MIN_LIGHT_VERTICES_PER_TASK, |vertex| {
                    one(ends[0] + vertex)
                })
            })
            .collect()
    }
}

/// What a correction promises.
#[derive(Clone, Debug)]
pub(crate) struct PredictedDecrease {
    /// Slope of the potential along it, in J.
    pub(crate) slope: f64,
    /// Of each cloth, square of its length in the norm of the equations, with that of what it is known to leave, in J.
    pub(crate) squared_norms: Vec<f64>,
    /// The potential of the contacts where it starts, with the forces found for constraints, in J.
    pub(crate) contact_potential: f64,
}

impl PredictedDecrease {
    /// The promise with the squares of constraints, and of what pulls in each cloth.
    pub(crate) fn with(
        mut self,
        multipliers: &[Multiplier],
        (cloths, ordering): (&EnergyNorm<'_>, &Ordering),
    ) -> Self {
        if multipliers.is_empty() {
            return self;
        }
        let mut pulls = vec![Vec3::zeros(); self.squared_norms.len()];
        for multiplier in multipliers {
            let cloth = cloths.cloth_of_row(ordering, multiplier.row);
            self.squared_norms[cloth] += multiplier.square;
            pulls[cloth] += multiplier.pull;
        }
        for (cloth, pull) in pulls.iter().enumerate() {
            self.squared_norms[cloth] += pull.norm_squared() * cloths.rigid_compliance(cloth);
        }
        self
    }

    /// The cloth with the largest square.
    pub(crate) fn dominant_cloth(&self) -> usize {
        let largest = |best: usize, other: usize| {
            if self.squared_norms[other].abs() > self.squared_norms[best].abs() {
                other
            } else {
                best
            }
        };
        (0..self.squared_norms.len()).fold(0, largest)
    }
}

/// The longest of the lengths of all cloths.
pub(crate) fn largest_displacement(lengths: &[f64]) -> f64 {
    lengths.iter().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOTHS: EnergyNorm<'static> =
        EnergyNorm { cloth_starts: &[0, 2, 3], cloth_masses: &[4.0, 0.01], beta: 0.1 };

    #[test]
    fn a_square_is_as_long_as_the_mass_of_its_cloth_makes_it() {
        let [heavy, light] = CLOTHS.equivalent_displacements(&[1.0, -1.0])[..] else {
            panic!("two cloths")
        };
        assert!((heavy - 0.05).abs() < 1e-15 && (light - 1.0).abs() < 1e-15);
        // What both may leave is what the light one may.
        let least = CLOTHS.min_squared_norm(0.5, &[2.0 * heavy, 2.0 * light]);
        assert!((least - 1.0).abs() < 1e-12);
        assert!((CLOTHS.min_squared_norm(1.0, &[heavy, 1.0e6]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn products_of_cloths_add_up_to_that_of_all() {
        // One joint keeps rows from being in the order of the vertices.
        let ordering = Ordering::new(3, &[[0, 2]]);
        let [left, right]: [Vec<Row3>; 2] = [1.0_f32, -0.5].map(|factor| {
            (0..3).map(|row| [1.0, 2.0, 3.0, 0.0].map(|k: f32| factor * k + row as f32)).collect()
        });
        let own = |vertex: usize| -> f64 {
            let row = ordering.row(vertex);
            (0..3).map(|k| f64::from(left[row][k]) * f64::from(right[row][k])).sum()
        };
        let products = CLOTHS.products_per_cloth(&ordering, &left, &right);
        assert!((products[0] - own(0) - own(1)).abs() < 1e-6);
        assert!((products[1] - own(2)).abs() < 1e-6);
        let of = |row| CLOTHS.cloth_of_row(&ordering, row);
        assert_eq!((of(ordering.row(1)), of(ordering.row(2))), (0, 1));
    }
}
