// SPDX-License-Identifier: MIT OR Apache-2.0
//! The moments of given hinge angles: 𝓜 = Sθ, in factors that are never multiplied out.
//!
//! ψ = Pθ divides each angle into φ = aθ ± ψ, M of each triangle gives m = Mφ, and
//! 𝓜_e = a(m₁ + m₂)_e + Σ_f P_fe (m₁ − m₂)_f, with a = ½ save at clamps. The energy is ½ Σ φ·m.

use super::{
    correction,
    coupling::{Coupling, transposed},
    hinges::{Hinges, range_of_cloth},
    plate::{EdgeMatrix, PlateFactor, UNIT_PLATE, edge_matrix},
};
use crate::{material::PlateRigidity, mesh::Mesh, parallel};
use rayon::prelude::*;
use std::ops::Range;

/// S of all cloths.
#[derive(Clone, Debug)]
pub(super) struct Stiffness {
    /// P and its transpose.
    correction: Coupling,
    transposed: Coupling,
    /// The row of M that gives m on each side of a hinge: for its own φ and those of the neighbours.
    rows: Vec<[[f64; 3]; 2]>,
    /// S_ee.
    diagonal: Vec<f64>,
}

impl Stiffness {
    /// The factors that depend on geometry alone; without rigidity as yet.
    pub(super) fn new(mesh: &Mesh, hinges: &Hinges) -> Self {
        let matrices = edge_matrices(mesh, hinges, 0..hinges.of_triangle.len(), &UNIT_PLATE);
        let rows = correction::correction(mesh, hinges, &matrices);
        Self {
            correction: Coupling::new(hinges, &rows),
            transposed: Coupling::new(hinges, &transposed(&rows)),
            rows: vec![[[0.0; 3]; 2]; hinges.count()],
            diagonal: vec![0.0; hinges.count()],
        }
    }

    /// Gives a cloth its rigidity, multiplied by the factors of its triangles if there are any.
    pub(super) fn set_plate(
        &mut self,
        mesh: &Mesh,
        hinges: &Hinges,
        cloth: usize,
        (plate, scales): (&PlateRigidity, &[f64]),
    ) {
        let triangles = range_of_cloth(&mesh.cloth_of_triangle, |member| *member, cloth);
        let own = hinges.of_cloth(mesh, cloth);
        let matrices = edge_matrices(mesh, hinges, triangles.clone(), plate);
        self.rows[own.clone()].par_iter_mut().enumerate().for_each(|(offset, rows)| {
            *rows = hinges.slots[own.start + offset].map(|slot| {
                let (triangle, corner) = (slot as usize / 3, slot as usize % 3);
                let row = &matrices[triangle - triangles.start][corner];
                let scale = scales.get(triangle).copied().unwrap_or(1.0);
                [row[corner], row[(corner + 1) % 3], row[(corner + 2) % 3]].map(|m| scale * m)
            });
        });
        let mut diagonal = std::mem::take(&mut self.diagonal);
        let each = diagonal[own.clone()].par_iter_mut().enumerate();
        each.for_each_init(Vec::new, |divided, (offset, entry)| {
            *entry = self.diagonal_entry(hinges, own.start + offset, divided);
        });
        self.diagonal = diagonal;
    }

    /// S_ee: twice the energy when this hinge alone has an angle of 1. `divided` is for its φ.
    fn diagonal_entry(&self, hinges: &Hinges, hinge: usize, divided: &mut Vec<(u32, f64)>) -> f64 {
        let share = hinges.shares[hinge];
        divided.clear();
        divided.extend([(2 * hinge as u32, share), (2 * hinge as u32 + 1, share)]);
        for (f, value) in self.transposed.entries(hinge, &hinges.neighbours[hinge]) {
            if value != 0.0 {
                divided.extend([(2 * f, value), (2 * f + 1, -value)]);
            }
        }
        let phi = |half: u32| -> f64 {
            divided.iter().filter(|(member, _)| *member == half).map(|(_, value)| value).sum()
        };
        let moment = |half: u32| -> f64 {
            let (f, side) = (half as usize / 2, half as usize % 2);
            let near = &hinges.neighbours[f][2 * side..];
            let row = &self.rows[f][side];
            row[0] * phi(half) + row[1] * phi(near[0]) + row[2] * phi(near[1])
        };
        divided.iter().map(|(half, value)| value * moment(*half)).sum()
    }

    #[cfg(test)]
    pub(super) fn row(&self, hinge: usize, side: usize) -> [f64; 3] {
        self.rows[hinge][side]
    }

    pub(super) fn diagonal(&self, hinge: usize) -> f64 {
        self.diagonal[hinge]
    }

    /// First half of the moments of `passes.angles`: adds (or, without `ADD`, takes anew) `scale` times the
    /// m of each hinge. Returns Σ scale·φ·m, twice an energy.
    pub(super) fn side_moments<const ADD: bool>(
        &self,
        hinges: &Hinges,
        passes: &mut Passes,
        scale: impl Fn(usize) -> f64 + Sync,
    ) -> f64 {
        let count = hinges.count();
        let Passes { angles, divided, differences, loads } = passes;
        let each = divided[..count].par_iter_mut().enumerate().with_min_len(parallel::ELEMENTS);
        each.for_each(|(hinge, sides)| {
            let shift = self.correction.row(hinge, &hinges.neighbours[hinge], |f| angles[f]);
            let share = hinges.shares[hinge] * angles[hinge];
            *sides = [share + shift, share - shift];
        });
        let one = |hinge: usize, difference: &mut f64, load: &mut f64| {
            let [left, right] = self.moments_of_sides(hinges, divided, hinge);
            let scale = scale(hinge);
            let (across, along) = (scale * (left - right), scale * (left + right));
            let own = hinges.shares[hinge] * along;
            (*difference, *load) =
                if ADD { (*difference + across, *load + own) } else { (across, own) };
            let sides = divided[hinge];
            scale * (sides[0] * left + sides[1] * right)
        };
        parallel::sum2(&mut differences[..count], &mut loads[..count], parallel::ELEMENTS, one)
    }

    /// Second half: 𝓜 of each hinge times `factor`, and a 0 past the last hinge.
    pub(super) fn hinge_moments<'a>(
        &self,
        hinges: &Hinges,
        passes: &'a mut Passes,
        factor: impl Fn(usize) -> f64 + Sync,
    ) -> &'a [f64] {
        let Passes { differences, loads, .. } = passes;
        let each = loads[..hinges.count()].par_iter_mut().enumerate();
        each.with_min_len(parallel::ELEMENTS).for_each(|(hinge, load)| {
            let near = &hinges.neighbours[hinge];
            let shifted = self.transposed.row(hinge, near, |f| differences[f]);
            *load = (*load + shifted) * factor(hinge);
        });
        loads
    }

    /// m on both sides of a hinge.
    #[inline]
    fn moments_of_sides(&self, hinges: &Hinges, divided: &[[f64; 2]], hinge: usize) -> [f64; 2] {
        let halves = divided.as_flattened();
        let phi = hinges.neighbours[hinge].map(|half| halves[half as usize]);
        let [own_left, own_right] = divided[hinge];
        let [left, right] = &self.rows[hinge];
        [
            left[0] * own_left + left[1] * phi[0] + left[2] * phi[1],
            right[0] * own_right + right[1] * phi[2] + right[2] * phi[3],
        ]
    }
}

/// Arrays between the passes. They are one longer than there are hinges, with a 0 for boundary edges.
#[derive(Clone, Debug)]
pub(super) struct Passes {
    angles: Vec<f64>,
    /// φ on both sides.
    divided: Vec<[f64; 2]>,
    /// m₁ − m₂.
    differences: Vec<f64>,
    /// a(m₁ + m₂), and at last 𝓜.
    loads: Vec<f64>,
}

impl Passes {
    pub(super) fn new(count: usize) -> Self {
        Self {
            angles: vec![0.0; count + 1],
            divided: vec![[0.0; 2]; count + 1],
            differences: vec![0.0; count + 1],
            loads: vec![0.0; count + 1],
        }
    }

    /// Angles of the hinges.
    pub(super) fn angles_mut(&mut self) -> &mut [f64] {
        let count = self.angles.len() - 1;
        &mut self.angles[..count]
    }

    /// φ on both sides of every hinge, and a 0 past the last.
    pub(super) fn divided(&self) -> &[f64] {
        self.divided.as_flattened()
    }

    /// Adds to the moments of the first half: `moment(slot)` is m of a side more than there is.
    pub(super) fn add_moments(&mut self, hinges: &Hinges, moment: impl Fn(usize) -> f64 + Sync) {
        let Self { differences, loads, .. } = self;
        let each = (differences, loads).into_par_iter().zip(&hinges.slots).enumerate();
        each.with_min_len(parallel::ELEMENTS).for_each(|(hinge, ((difference, load), slots))| {
            let [left, right] = slots.map(|slot| moment(slot as usize));
            *difference += left - right;
            *load += hinges.shares[hinge] * (left + right);
        });
    }
}

/// M of some triangles; 0 where a triangle is held.
fn edge_matrices(
    mesh: &Mesh,
    hinges: &Hinges,
    triangles: Range<usize>,
    plate: &PlateRigidity,
) -> Vec<EdgeMatrix> {
    let factor = PlateFactor::new(plate);
    let matrix = |triangle: usize| {
        if hinges.is_held[triangle] {
            return EdgeMatrix::default();
        }
        edge_matrix(mesh, triangle, hinges.free_edges(triangle), &factor)
    };
    triangles.map(matrix).collect()
}
