// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sparse matrices of the equations of motion for callers, in the place of the Matrix Template Library of Etzmuss 2002,
//! section 6.1.1.

use super::{
    constant_stiffness::VISCOSITY_PROBE_RATE, equations_of_motion::EquationsOfMotion,
    tangent_couplings::tangent_couplings, tangent_matrix::TangentMatrix,
};
use crate::{linear_solver::BlockMatrix, vec3::Vec3};
use nalgebra::Matrix3;
use sprs::{CsMatI, TriMatI};

/// Matrices of M·ẍ + D·ẋ + K·x = f in compressed rows, in the order of the vertices: row 3i + k is coordinate k of
/// vertex i. Air and contacts are left out; pinned vertices are not eliminated.
#[derive(Clone, Debug)]
pub struct LinearisedMatrices {
    /// K of elements and spring targets, positive semidefinite, in N/m.
    pub stiffness: CsMatI<f64, i64>,
    /// D of the elements and of drag on vertices, in N·s/m.
    pub damping: CsMatI<f64, i64>,
    /// A = M/h² + D/h + K of an implicit Euler step, in N/m.
    pub system: CsMatI<f64, i64>,
    /// Masses of the vertices, in kg.
    pub masses: Vec<f64>,
    /// Shape at rest, in m.
    pub rest_positions: Vec<Vec3>,
    /// Positions at which K and D hold, in m.
    pub positions: Vec<Vec3>,
}

impl LinearisedMatrices {
    /// Matrices at `positions`, with A of a step of `duration` in s.
    pub(crate) fn new(
        dynamics: &mut EquationsOfMotion,
        tangent: &mut TangentMatrix,
        positions: &[Vec3],
        duration: f64,
    ) -> Self {
        for elements in &mut dynamics.elements.kinds {
            elements.begin_stage(duration);
        }
        let elastic = tangent.element_matrix(dynamics, positions, 0.0).clone();
        let (mut stiffness, mut damping) = (Triplets::new(positions), Triplets::new(positions));
        tangent_couplings(dynamics, |vertex, other, elastic| {
            stiffness.add_coupling(vertex, other, elastic);
            damping.add_coupling(vertex, other, &(-elastic / VISCOSITY_PROBE_RATE));
        });
        let viscous = tangent.element_matrix(dynamics, positions, VISCOSITY_PROBE_RATE).clone();
        tangent_couplings(dynamics, |vertex, other, viscous| {
            damping.add_coupling(vertex, other, &(viscous / VISCOSITY_PROBE_RATE));
        });
        for ((), (row, column)) in &elastic.pattern().lower_triangle() {
            let [row, column] = [row, column].map(|row| row as usize);
            let k = block(&elastic, row, column);
            let d = (block(&viscous, row, column) - k) / VISCOSITY_PROBE_RATE;
            let [vertex, other] = [row, column].map(|row| tangent.ordering.vertex(row));
            stiffness.add_coupling(vertex, other, &k);
            damping.add_coupling(vertex, other, &d);
        }
        for vertex in 0..positions.len() {
            let spring = dynamics.spring_target(vertex).map_or(0.0, |target| target.stiffness);
            stiffness.diagonals[vertex] += Matrix3::identity() * spring;
            let drag = dynamics.point_damping.coefficient(dynamics.masses.vertices[vertex]);
            damping.diagonals[vertex] += Matrix3::identity() * drag;
        }
        let (stiffness, damping) = (stiffness.into_matrix(), damping.into_matrix());
        let mut inertia = Triplets::new(positions);
        for (diagonal, mass) in inertia.diagonals.iter_mut().zip(&dynamics.masses.vertices) {
            *diagonal = Matrix3::identity() * (mass / (duration * duration));
        }
        let viscous_term = damping.map(|value| value / duration);
        let system = &(&inertia.into_matrix() + &viscous_term) + &stiffness;
        Self {
            stiffness,
            damping,
            system,
            masses: dynamics.masses.vertices.clone(),
            rest_positions: dynamics.mesh.rest.positions.to_vec(),
            positions: positions.to_vec(),
        }
    }
}

fn block(matrix: &BlockMatrix, row: usize, column: usize) -> Matrix3<f64> {
    let block = matrix.block(row, column);
    Matrix3::from_fn(|i, j| f64::from(block.0[j][i]))
}

/// Entries of a symmetric matrix of 3×3 blocks.
struct Triplets {
    entries: TriMatI<f64, i64>,
    diagonals: Vec<Matrix3<f64>>,
}

impl Triplets {
    /// No entries, for vertices at these positions.
    fn new(positions: &[Vec3]) -> Self {
        let size = 3 * positions.len();
        let diagonals = vec![Matrix3::zeros(); positions.len()];
        Self { entries: TriMatI::new((size, size)), diagonals }
    }

    /// Adds the coupling of two vertices, which resists no translation: the diagonal blocks take minus the sum of each
    /// row, in double precision.
    fn add_coupling(&mut self, vertex: usize, other: usize, block: &Matrix3<f64>) {
        self.add_block(vertex, other, block);
        self.add_block(other, vertex, &block.transpose());
        self.diagonals[vertex] -= block;
        self.diagonals[other] -= block.transpose();
    }

    fn add_block(&mut self, vertex: usize, other: usize, block: &Matrix3<f64>) {
        for row in 0..3 {
            for column in 0..3 {
                let place = (3 * vertex + row, 3 * other + column);
                self.entries.add_triplet(place.0, place.1, block[(row, column)]);
            }
        }
    }

    fn into_matrix(mut self) -> CsMatI<f64, i64> {
        for (vertex, diagonal) in std::mem::take(&mut self.diagonals).iter().enumerate() {
            self.add_block(vertex, vertex, diagonal);
        }
        let mut matrix: CsMatI<f64, i64> = self.entries.to_csr();
        // Sums of entries and of their transposes differ by rounding; both have the same places.
        let transposed: CsMatI<f64, i64> = matrix.transpose_view().to_csr();
        for (own, other) in matrix.data_mut().iter_mut().zip(transposed.data()) {
            *own = 0.5 * (*own + other);
        }
        matrix
    }
}
