// SPDX-License-Identifier: MIT OR Apache-2.0
//! The constant matrices K and D of Etzmuss 2002, section 3.3: one number for every pair of vertices.
//!
//! There (eq. 3.18) K is the sum of k/l² over the tension springs of a pair, whatever their directions. In general the
//! stiffness between two vertices is a 3×3 block; its **trace in the shape at rest** is k/l² for a spring, the Laplacian
//! with the tension and shear moduli for triangles, and defined for every model. It does not change when the
//! cloth turns, so the matrices change with the material alone.
//!
//! It is stiff enough: for a tension the block is a product n nᵀ, and the trace times the identity is no less in any
//! direction; for a shear it is at least half. Twice the matrix being no less than the tangent of elastic forces is what
//! the schemes with one solve need to be stable and the iteration of section 3.4.3 to contract.

use super::{dynamics::Dynamics, tangent::Tangent};
use crate::{Vec3, parallel, solver::Block};
use rayon::prelude::*;
use std::sync::Arc;

/// 1/β in 1/s at which the viscosity is read off the tangent: high, so that it stands out from the stiffness.
const INVERSE_BETA: f64 = 1.0e3;

/// K and D, by vertices, without diagonals: each row sums to 0.
#[derive(Clone, Debug, Default)]
pub(super) struct ConstantMatrix {
    starts: Vec<u32>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    column: u32,
    /// In N/m.
    stiffness: f64,
    /// In N·s/m.
    viscosity: f64,
}

impl ConstantMatrix {
    /// The matrices of all cloths at rest, as stiff as they will be in the next seconds.
    pub(super) fn new(dynamics: &mut Dynamics, tangent: &mut Tangent, seconds: f64) -> Self {
        let memories = dynamics.forget();
        let mesh = Arc::clone(&dynamics.mesh);
        let rest = &mesh.rest.positions;
        let ordering = Arc::clone(&tangent.ordering);
        let (elastic, viscous) = dynamics.with_steepest(seconds, |dynamics| {
            let elastic = tangent.of_elements(dynamics, rest, 0.0).clone();
            (elastic, tangent.of_elements(dynamics, rest, INVERSE_BETA))
        });
        dynamics.set_memories(&memories);
        let pattern = elastic.pattern();
        let mut rows: Vec<Vec<Entry>> = vec![Vec::new(); pattern.row_count()];
        for (row, column) in pattern.below_diagonal() {
            let stiffness = scalar(&elastic.block(row, column));
            let viscosity = (scalar(&viscous.block(row, column)) - stiffness) / INVERSE_BETA;
            let [vertex, other] = [row, column].map(|row| ordering.vertex(row));
            rows[vertex].push(Entry { column: other as u32, stiffness, viscosity });
            rows[other].push(Entry { column: vertex as u32, stiffness, viscosity });
        }
        let mut matrix = Self { starts: vec![0], entries: Vec::new() };
        for mut row in rows {
            row.sort_unstable_by_key(|entry| entry.column);
            matrix.entries.append(&mut row);
            matrix.starts.push(matrix.entries.len() as u32);
        }
        matrix
    }

    fn row(&self, row: usize) -> &[Entry] {
        &self.entries[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// (aK + bD) times a field, with the factors a and b; minus the linear force of Etzmuss 2002, eq. 3.19. Each entry
    /// acts on a difference, so that moving all alike gives exactly 0.
    pub(super) fn times(&self, factors: [f64; 2], field: &[Vec3]) -> Vec<Vec3> {
        let rows = (0..field.len()).into_par_iter().with_min_len(parallel::VERTICES);
        rows.map(|row| {
            let entries = self.row(row).iter();
            let parts = entries
                .map(|entry| (field[entry.column as usize] - field[row]) * entry.value(factors));
            parts.sum()
        })
        .collect()
    }

    /// Fills the matrix of `tangent` with aK + bD and a diagonal.
    pub(super) fn fill(&self, factors: [f64; 2], diagonal: &[f64], tangent: &mut Tangent) {
        tangent.fill_by(|row, column| {
            let entries = self.row(row);
            let value = if row == column {
                diagonal[row] - entries.iter().map(|entry| entry.value(factors)).sum::<f64>()
            } else {
                let place = entries.binary_search_by_key(&(column as u32), |entry| entry.column);
                place.map_or(0.0, |place| entries[place].value(factors))
            };
            Block::scaled_identity(value as f32)
        });
    }
}

impl Entry {
    fn value(&self, [stiffness, viscosity]: [f64; 2]) -> f64 {
        self.stiffness * stiffness + self.viscosity * viscosity
    }
}

/// The trace, but of what is alike in all directions, as seams are, what it is in each.
fn scalar(block: &Block) -> f64 {
    let [a, b, c] = [0, 1, 2].map(|k| block.0[k][k]);
    if *block == Block::scaled_identity(a) {
        return f64::from(a);
    }
    f64::from(a) + f64::from(b) + f64::from(c)
}
