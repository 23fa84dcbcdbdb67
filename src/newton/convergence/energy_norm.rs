// SPDX-License-Identifier: MIT OR Apache-2.0
//! Energy norm of a Newton step, as an equivalent rigid displacement of each cloth.
//!
//! The squared norm dᵀAd of a step d, with the matrix A of the linear system, is expressed as the displacement δ of all
//! vertices of a cloth with the same energy of inertia: dᵀAd = Mδ²/β². The mass M is that of the cloth itself: with the
//! mass of all cloths a heavy one would hide the error of a light one.

use crate::{
    linear_solver::Ordering,
    parallel::reductions,
    response::Multiplier,
    simd::{Row3, dot},
    system::EquationsOfMotion,
    time_integration::Stage,
    vec3::Vec3,
};

/// Conversion of squared energy norms to displacements, for the cloths of a stage.
pub(crate) struct EnergyNorm<'a> {
    /// First vertex of each cloth, followed by the number of vertices.
    cloth_starts: &'a [usize],
    /// Mass of each cloth, in kg.
    cloth_masses: &'a [f64],
    /// β of the stage, in s.
    beta: f64,
}

impl<'a> EnergyNorm<'a> {
    pub(crate) fn new(dynamics: &'a EquationsOfMotion, stage: &Stage) -> Self {
        let EquationsOfMotion { masses, mesh, .. } = dynamics;
        Self { cloth_starts: &mesh.cloth_starts, cloth_masses: &masses.cloths, beta: stage.beta }
    }

    /// Equivalent rigid displacement of a cloth in m for a squared norm in J.
    pub(crate) fn equivalent_displacement(&self, cloth: usize, squared_norm: f64) -> f64 {
        self.beta * (squared_norm / self.cloth_masses[cloth]).sqrt()
    }

    /// Equivalent rigid displacements of all cloths in m for the absolute values of their squared norms in J.
    pub(crate) fn equivalent_displacements(&self, squared_norms: &[f64]) -> Vec<f64> {
        let each = squared_norms.iter().enumerate();
        each.map(|(cloth, square)| self.equivalent_displacement(cloth, square.abs())).collect()
    }

    /// Compliance β²/M of a cloth against a rigid displacement, in m/N.
    pub(crate) fn rigid_compliance(&self, cloth: usize) -> f64 {
        self.beta.powi(2) / self.cloth_masses[cloth]
    }

    /// Cloth of a row of the linear system.
    pub(crate) fn cloth_of_row(&self, ordering: &Ordering, row: usize) -> usize {
        let vertex = ordering.vertex(row);
        self.cloth_starts.partition_point(|start| *start <= vertex) - 1
    }

    /// Root mean square of a vector over the vertices of each cloth.
    pub(crate) fn root_mean_squares(&self, ordering: &Ordering, vector: &[Row3]) -> Vec<f64> {
        let squares = self.products_per_cloth(ordering, vector, vector);
        let counts = self.cloth_starts.windows(2).map(|ends| ends[1] - ends[0]);
        squares.iter().zip(counts).map(|(square, count)| (square / count as f64).sqrt()).collect()
    }

    /// Scalar product of two vectors over the rows of each cloth.
    pub(crate) fn products_per_cloth(
        &self,
        ordering: &Ordering,
        left: &[Row3],
        right: &[Row3],
    ) -> Vec<f64> {
        if self.cloth_masses.len() == 1 {
            return vec![dot(left, right)];
        }
        let product = |vertex: usize| -> f64 {
            let row = ordering.row(vertex);
            (0..3).map(|k| f64::from(left[row][k]) * f64::from(right[row][k])).sum()
        };
        let of_cloth = |ends: &[usize]| {
            let count = ends[1] - ends[0];
            reductions::sum_blocked(count, reductions::MIN_LIGHT_VERTICES_PER_TASK, |vertex| {
                product(ends[0] + vertex)
            })
        };
        self.cloth_starts.windows(2).map(of_cloth).collect()
    }
}

/// Decrease of the objective that a Newton step predicts.
#[derive(Clone, Debug)]
pub(crate) struct PredictedDecrease {
    /// Directional derivative of the potential along the step, in J.
    pub(crate) slope: f64,
    /// Squared energy norm of the step of each cloth, with that of the further step that constraints under tension
    /// imply, in J.
    pub(crate) squared_norms: Vec<f64>,
    /// Potential of contacts at the start of the step with the new multipliers of active constraints, in J.
    pub(crate) contact_potential: f64,
}

impl PredictedDecrease {
    /// The decrease with the squared norms of active constraints, and of the net tension of those of each cloth.
    pub(crate) fn with_multipliers(
        mut self,
        multipliers: &[Multiplier],
        norm: &EnergyNorm<'_>,
        ordering: &Ordering,
    ) -> Self {
        if multipliers.is_empty() {
            return self;
        }
        let mut tensions = vec![Vec3::zeros(); self.squared_norms.len()];
        for multiplier in multipliers {
            let cloth = norm.cloth_of_row(ordering, multiplier.row);
            self.squared_norms[cloth] += multiplier.square;
            tensions[cloth] += multiplier.pull;
        }
        for (cloth, tension) in tensions.iter().enumerate() {
            self.squared_norms[cloth] += tension.norm_squared() * norm.rigid_compliance(cloth);
        }
        self
    }

    /// Cloth with the largest squared norm.
    pub(crate) fn dominant_cloth(&self) -> usize {
        let norm = |cloth: usize| self.squared_norms[cloth].abs();
        let larger =
            |best: usize, other: usize| if norm(other) > norm(best) { other } else { best };
        (0..self.squared_norms.len()).fold(0, larger)
    }
}

/// Largest of the displacements of all cloths, in m.
pub(crate) fn largest_displacement(displacements: &[f64]) -> f64 {
    displacements.iter().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOTHS: EnergyNorm<'static> =
        EnergyNorm { cloth_starts: &[0, 2, 3], cloth_masses: &[4.0, 0.01], beta: 0.1 };

    #[test]
    fn equivalent_displacements_depend_on_the_mass_of_the_cloth() {
        let [heavy, light] = CLOTHS.equivalent_displacements(&[1.0, -1.0])[..] else {
            panic!("two cloths")
        };
        assert!((heavy - 0.05).abs() < 1e-15 && (light - 1.0).abs() < 1e-15);
    }

    #[test]
    fn products_per_cloth_sum_over_the_rows_of_the_cloth() {
        // One coupled pair makes the order of rows differ from that of vertices.
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
