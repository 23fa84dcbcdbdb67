// SPDX-License-Identifier: MIT OR Apache-2.0
//! The constant matrices K and D of Etzmuss 2002, section 3.3: one number for every pair of vertices.
//!
//! There (eq. 3.18) K is the sum of k/l² over the tension springs of a pair, whatever their directions. In general the
//! stiffness between two vertices is a 3×3 block; its **trace in the shape at rest** is k/l² for a spring, the
//! Laplacian with the tension and shear moduli for triangles, and defined for every model. It does not change when the
//! cloth turns, so the matrices change with the material alone.
//!
//! It is stiff enough: for a tension the block is a product n nᵀ, and the trace times the identity is no less in any
//! direction; for a shear it is at least half. Twice the matrix is no less than the tangent of elastic forces, which is
//! what semi-implicit schemes need to be stable and the fixed-point iteration of section 3.4.3 to contract.

use super::{equations_of_motion::EquationsOfMotion, tangent_matrix::TangentMatrix};
use crate::{parallel::reductions, simd::Block, vec3::Vec3};
use nalgebra::Vector2;
use rayon::prelude::*;
use sprs::{CsMatI, TriMatI};
use std::sync::Arc;

/// 1/β in 1/s at which the viscosity is read off the tangent: high, so that it dominates the stiffness.
pub(crate) const VISCOSITY_PROBE_RATE: f64 = 1.0e3;

/// K in N/m and D in N·s/m, by vertices, without diagonals: each row sums to 0.
#[derive(Clone, Debug)]
pub(crate) struct ConstantStiffness {
    /// Of elements with blocks in the tangent matrix.
    blocks: Entries,
    /// Of elements with a scalar stiffness, whose couplings reach farther.
    scalars: Entries,
}

/// Entries of K and D.
type Entries = CsMatI<Vector2<f64>, u32>;

/// Constant stiffness with the revision of the materials that it was computed for.
#[derive(Clone, Debug, Default)]
pub(crate) struct RevisedStiffness {
    /// Revision of materials and seams; 0 before the first computation.
    pub(crate) revision: u64,
    pub(crate) matrix: ConstantStiffness,
}

impl ConstantStiffness {
    /// Matrices of all cloths at rest, with the highest stiffness within the next `seconds`.
    pub(crate) fn new(
        dynamics: &mut EquationsOfMotion,
        tangent: &mut TangentMatrix,
        seconds: f64,
    ) -> Self {
        let mesh = Arc::clone(&dynamics.mesh);
        let memories = dynamics.elements.reset_internal_variables(&mesh);
        let rest = &mesh.rest.positions;
        let ordering = Arc::clone(&tangent.ordering);
        let (elastic, viscous) = dynamics.with_stiffest_tangents(seconds, |dynamics| {
            let elastic = tangent.element_matrix(dynamics, rest, 0.0).clone();
            (elastic, tangent.element_matrix(dynamics, rest, VISCOSITY_PROBE_RATE))
        });
        dynamics.elements.set_internal_variables(&mesh, &memories);
        let mut entries = TriMatI::new((rest.len(), rest.len()));
        for ((), (row, column)) in &elastic.pattern().lower_triangle() {
            let [row, column] = [row, column].map(|row| row as usize);
            let stiffness = scalar_stiffness(&elastic.block(row, column));
            let viscosity =
                (scalar_stiffness(&viscous.block(row, column)) - stiffness) / VISCOSITY_PROBE_RATE;
            let [vertex, other] = [row, column].map(|row| ordering.vertex(row));
            for (vertex, other) in [(vertex, other), (other, vertex)] {
                entries.add_triplet(vertex, other, Vector2::new(stiffness, viscosity));
            }
        }
        Self { blocks: entries.to_csr(), scalars: scalar_entries(dynamics) }
    }

    /// Twice these matrices.
    pub(crate) fn doubled(&self) -> Self {
        let doubled = |entries: &Entries| entries.map(|entry| entry * 2.0);
        Self { blocks: doubled(&self.blocks), scalars: doubled(&self.scalars) }
    }

    /// The entries of a row at the factors a and b: columns and values of aK + bD.
    fn row(&self, row: usize, factors: [f64; 2]) -> impl Iterator<Item = (usize, f64)> {
        [&self.blocks, &self.scalars].into_iter().flat_map(move |matrix| {
            let slots = matrix.indptr().outer_inds_sz(row);
            let entries = matrix.indices()[slots.clone()].iter().zip(&matrix.data()[slots]);
            entries.map(move |(column, entry)| (*column as usize, at(factors, entry)))
        })
    }

    /// Product of aK + bD and a field, with the factors a and b: the negative linear force of Etzmuss 2002, eq. 3.19.
    /// Each entry acts on a difference, so that the product with a uniform field is exactly 0.
    pub(crate) fn multiply(&self, factors: [f64; 2], field: &[Vec3]) -> Vec<Vec3> {
        let rows = (0..field.len()).into_par_iter().with_min_len(reductions::MIN_VERTICES_PER_TASK);
        rows.map(|row| {
            let entries = self.row(row, factors);
            entries.map(|(column, value)| (field[column] - field[row]) * value).sum()
        })
        .collect()
    }

    /// Largest diagonal entry of aK + bD over the mass in kg of its vertex.
    pub(crate) fn max_diagonal_over_mass(&self, factors: [f64; 2], masses: &[f64]) -> f64 {
        let each = masses.iter().enumerate();
        let ratios = each
            .map(|(row, mass)| -self.row(row, factors).map(|(_, value)| value).sum::<f64>() / mass);
        ratios.fold(0.0, f64::max)
    }

    /// Fills the matrix of `tangent` with aK + bD and a diagonal.
    pub(crate) fn fill_tangent(
        &self,
        factors: [f64; 2],
        diagonal: &[f64],
        tangent: &mut TangentMatrix,
    ) {
        tangent.fill_with(|row, column| {
            let value = if row == column {
                diagonal[row] - self.row(row, factors).map(|(_, value)| value).sum::<f64>()
            } else {
                self.blocks.get(row, column).map_or(0.0, |value| at(factors, value))
            };
            Block::scaled_identity(value as f32)
        });
        tangent.set_scalars(&self.scalars.map(|entry| at(factors, entry)));
    }
}

impl Default for ConstantStiffness {
    fn default() -> Self {
        Self { blocks: CsMatI::zero((0, 0)), scalars: CsMatI::zero((0, 0)) }
    }
}

/// Entries of the elements with a scalar stiffness, without diagonals.
fn scalar_entries(dynamics: &EquationsOfMotion) -> Entries {
    let count = dynamics.vertex_count();
    let mut entries = TriMatI::new((count, count));
    for stiffness in dynamics.elements.kinds.iter().filter_map(|one| one.scalar_stiffness()) {
        let each = stiffness.entries.iter();
        for (value, (row, column)) in each.filter(|(_, (row, column))| row != column) {
            entries.add_triplet(row as usize, column as usize, value.cast());
        }
    }
    entries.to_csr()
}

/// Entry of aK + bD.
fn at([a, b]: [f64; 2], entry: &Vector2<f64>) -> f64 {
    entry.x * a + entry.y * b
}

/// Trace of a block; of an isotropic block, as that of a seam, its stiffness in each direction.
fn scalar_stiffness(block: &Block) -> f64 {
    let [a, b, c] = [0, 1, 2].map(|k| block.0[k][k]);
    if *block == Block::scaled_identity(a) {
        return f64::from(a);
    }
    f64::from(a) + f64::from(b) + f64::from(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        material::Material,
        mesh::Polygons,
        scene::{Cloth, Model, Settings},
    };

    /// K and D of two squares of springs.
    fn stiffness() -> ConstantStiffness {
        let corners = [[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [0.1, 0.1], [0.2, 0.0], [0.2, 0.1]];
        let positions = corners.map(|[x, y]| Vec3::new(x, y, 0.0)).to_vec();
        let polygons = Polygons::new(&[4, 4], &[0, 1, 3, 2, 1, 4, 5, 3], 6).unwrap();
        let material = Material { stretch_damping: 0.02, ..Material::default() };
        let cloth = Cloth::new(positions, &polygons, material, None, None).unwrap();
        let settings = Settings { model: Model::MassSpring, ..Settings::default() };
        let mut dynamics = EquationsOfMotion::new(&[cloth], &settings);
        let mut tangent = TangentMatrix::new(&dynamics);
        ConstantStiffness::new(&mut dynamics, &mut tangent, 0.01)
    }

    #[test]
    fn a_uniform_field_has_no_image_and_an_edge_one_along_itself() {
        let matrix = stiffness();
        assert_eq!(matrix.multiply([1.0, 1.0], &[Vec3::new(1.0, 2.0, 3.0); 6]), [Vec3::zeros(); 6]);
        let mut field = vec![Vec3::zeros(); 6];
        field[4] = Vec3::x();
        let image = matrix.multiply([1.0, 0.0], &field);
        // Vertices pull each other with the same force, whatever its direction.
        assert!((image.iter().sum::<Vec3>()).norm() < 1e-3 * image[4].norm());
        assert!(image[4].x > 0.0 && image[1].x < 0.0);
    }

    #[test]
    fn the_viscosity_of_a_spring_is_its_stiffness_times_its_damping_time() {
        let matrix = stiffness();
        let [elastic, viscous] = [[1.0, 0.0], [0.0, 1.0]].map(|factors| {
            let row: Vec<(usize, f64)> = matrix.row(0, factors).collect();
            row.into_iter().find(|(column, _)| *column == 1).unwrap().1
        });
        assert!(elastic < 0.0 && (viscous / (0.02 * elastic) - 1.0).abs() < 1e-3, "{viscous}");
        let masses = [2.0; 6];
        let ratio = matrix.max_diagonal_over_mass([1.0, 0.0], &masses);
        let doubled = matrix.doubled().max_diagonal_over_mass([1.0, 0.0], &masses);
        assert!(ratio > 0.0 && (doubled / ratio - 2.0).abs() < 1e-12);
    }
}
