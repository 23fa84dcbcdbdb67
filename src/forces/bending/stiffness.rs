// SPDX-License-Identifier: MIT OR Apache-2.0
//! The moments of given hinge angles: 𝓜 = Sθ, in factors that are never multiplied out.
//!
//! ψ = Pθ divides each angle into φ = aθ ± ψ, M of each triangle gives m = Mφ, and
//! 𝓜_e = a(m₁ + m₂)_e + Σ_f P_fe (m₁ − m₂)_f, with a = ½ save at clamps. The energy is ½ Σ φ·m.

use super::{
    angle::AngleAndChange,
    geometric_correction,
    hinge_matrix::HingeMatrix,
    hinges::{Hinges, range_of_cloth},
    plate::{EdgeMatrix, PlateFactor, UNIT_PLATE, edge_matrix},
};
use crate::{material::PlateRigidity, mesh::Mesh, parallel::reductions};
use rayon::prelude::*;
use std::ops::Range;

/// S of all cloths.
#[derive(Clone, Debug)]
pub(super) struct Stiffness {
    /// P.
    pub(super) geometric_correction: HingeMatrix,
    /// The row of M that gives m on each side of a hinge: for its own φ and those of the neighbours.
    pub(super) rows: Vec<[[f64; 3]; 2]>,
}

impl Stiffness {
    /// The factors that depend on geometry alone; without rigidity as yet.
    pub(super) fn new(mesh: &Mesh, hinges: &Hinges) -> Self {
        let matrices = edge_matrices(mesh, hinges, 0..hinges.of_triangle.len(), &UNIT_PLATE);
        let rows =
            geometric_correction::geometric_correction(mesh, hinges, &matrices.collect::<Vec<_>>());
        Self {
            geometric_correction: HingeMatrix::new(hinges, &rows),
            rows: vec![[[0.0; 3]; 2]; hinges.count()],
        }
    }

    /// Gives a cloth its rigidity, multiplied by the factors of its triangles if there are any.
    pub(super) fn set_plate(
        &mut self,
        mesh: &Mesh,
        hinges: &Hinges,
        cloth: usize,
        plate: &PlateRigidity,
        scales: &[f64],
    ) {
        let triangles = range_of_cloth(&mesh.cloth_of_triangle, |member| *member, cloth);
        let matrices = edge_matrices(mesh, hinges, triangles.clone(), plate);
        for (triangle, matrix) in triangles.zip(matrices) {
            let scale = scales.get(triangle).copied().unwrap_or(1.0);
            for (corner, hinge) in hinges.of_triangle[triangle].iter().enumerate() {
                let Some(slots) = hinges.slots.get(*hinge as usize) else { continue };
                let side = usize::from(slots[0] as usize != 3 * triangle + corner);
                let row = &matrix[corner];
                self.rows[*hinge as usize][side] =
                    [row[corner], row[(corner + 1) % 3], row[(corner + 2) % 3]].map(|m| scale * m);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn row(&self, hinge: usize, side: usize) -> [f64; 3] {
        self.rows[hinge][side]
    }

    /// First half of the moments of `passes.angles`: m of each hinge for the angles, plus `viscosity` times the
    /// same for the changes. Returns Σ φ·m of the angles plus `viscosity` times that of the changes, twice a potential.
    pub(super) fn side_moments(
        &self,
        hinges: &Hinges,
        passes: &mut MomentPasses,
        viscosity: impl Fn(usize) -> f64 + Sync,
    ) -> f64 {
        let count = hinges.count();
        let (pairs, divided) = passes.split_angles();
        let angles: &[AngleAndChange] = pairs.as_chunks().0;
        let each = divided[..count]
            .par_iter_mut()
            .enumerate()
            .with_min_len(reductions::MIN_ELEMENTS_PER_TASK);
        each.for_each(|(hinge, sides)| {
            let shift =
                self.geometric_correction.row(hinge, &hinges.neighbours[hinge], |f| angles[f]);
            let (share, [angle, change]) = (hinges.share(hinge), angles[hinge]);
            let own = [share * angle, share * change];
            *sides =
                [[own[0] + shift[0], own[1] + shift[1]], [own[0] - shift[0], own[1] - shift[1]]];
        });
        let (differences, loads) = sum_and_difference(pairs);
        (differences[count], loads[count]) = (0.0, 0.0);
        let divided = &*divided;
        let one = |hinge: usize, difference: &mut f64, load: &mut f64| {
            let sides = self.moments_of_sides(hinges, divided, hinge);
            let viscosity = viscosity(hinge);
            let (left, right) =
                (sides[0][0] + viscosity * sides[0][1], sides[1][0] + viscosity * sides[1][1]);
            *difference = left - right;
            *load = hinges.share(hinge) * (left + right);
            let work =
                |k: usize| divided[hinge][0][k] * sides[0][k] + divided[hinge][1][k] * sides[1][k];
            work(0) + viscosity * work(1)
        };
        reductions::sum_zipped(
            &mut differences[..count],
            &mut loads[..count],
            reductions::MIN_ELEMENTS_PER_TASK,
            one,
        )
    }

    /// Second half: `total(hinge, 𝓜)` of each hinge, and a 0 past the last hinge.
    pub(super) fn hinge_moments<'a>(
        &self,
        hinges: &Hinges,
        passes: &'a mut MomentPasses,
        total: impl Fn(usize, f64) -> f64 + Sync,
    ) -> &'a [f64] {
        let (differences, loads) = sum_and_difference(passes.split_angles().0);
        let each = loads[..hinges.count()].par_iter_mut().enumerate();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).for_each(|(hinge, load)| {
            let near = &hinges.neighbours[hinge];
            let [shifted] = self.geometric_correction.column(hinge, near, |f| [differences[f]]);
            *load = total(hinge, *load + shifted);
        });
        loads
    }

    /// m on both sides of a hinge.
    #[inline(always)]
    fn moments_of_sides(
        &self,
        hinges: &Hinges,
        divided: &[[AngleAndChange; 2]],
        hinge: usize,
    ) -> [AngleAndChange; 2] {
        let halves = divided.as_flattened();
        let near = &hinges.neighbours[hinge];
        let moment = |side: usize| {
            let row = &self.rows[hinge][side];
            let own = divided[hinge][side];
            let (next, last) =
                (halves[near[2 * side] as usize], halves[near[2 * side + 1] as usize]);
            [
                row[0] * own[0] + row[1] * next[0] + row[2] * last[0],
                row[0] * own[1] + row[1] * next[1] + row[2] * last[1],
            ]
        };
        [moment(0), moment(1)]
    }
}

/// Arrays between the passes. They are one longer than there are hinges, with a 0 for boundary edges.
#[derive(Clone, Debug)]
pub(super) struct MomentPasses {
    count: usize,
    /// First a [`AngleAndChange`] for each hinge: the angle and its change, and when those are divided see [`sum_and_difference`]. Then two
    /// pairs for each: φ on both sides.
    numbers: Vec<f64>,
}

/// m₁ − m₂ of all hinges, and a(m₁ + m₂), which at last becomes 𝓜.
fn sum_and_difference(pairs: &mut [f64]) -> (&mut [f64], &mut [f64]) {
    pairs.split_at_mut(pairs.len() / 2)
}

impl MomentPasses {
    pub(super) fn new(count: usize) -> Self {
        Self::from_buffer(vec![0.0; Self::length(count)], count)
    }

    /// Length of the buffer for `count` hinges.
    pub(super) fn length(count: usize) -> usize {
        6 * (count + 1)
    }

    /// Arrays in a buffer of at least the length for `count` hinges; its values are overwritten.
    pub(super) fn from_buffer(numbers: Vec<f64>, count: usize) -> Self {
        let mut passes = Self { count, numbers };
        let (pairs, divided) = passes.split_angles();
        pairs[2 * count..].fill(0.0);
        divided[count] = [[0.0; 2]; 2];
        passes
    }

    pub(super) fn into_buffer(self) -> Vec<f64> {
        self.numbers
    }

    /// The first array, and φ on both sides.
    fn split_angles(&mut self) -> (&mut [f64], &mut [[AngleAndChange; 2]]) {
        let numbers = &mut self.numbers[..Self::length(self.count)];
        let (pairs, divided) = numbers.split_at_mut(2 * (self.count + 1));
        (pairs, divided.as_chunks_mut().0.as_chunks_mut().0)
    }

    /// Angles of the hinges, and their changes.
    pub(super) fn angles_mut(&mut self) -> &mut [AngleAndChange] {
        let count = self.count;
        &mut self.split_angles().0.as_chunks_mut().0[..count]
    }

    /// Angles of the hinges, and the room that [`Stiffness::side_moments`] fills: four numbers for each and as many
    /// more.
    pub(super) fn angles_and_room(&mut self) -> (&[AngleAndChange], &mut [f64]) {
        let count = self.count;
        let (pairs, divided) = self.split_angles();
        (&pairs.as_chunks().0[..count], divided.as_flattened_mut().as_flattened_mut())
    }

    /// Angles without any change.
    pub(super) fn set_angles(&mut self, angles: &[f64]) {
        for (own, angle) in self.angles_mut().iter_mut().zip(angles) {
            *own = [*angle, 0.0];
        }
    }

    /// φ on both sides of every hinge, and a 0 past the last.
    pub(super) fn split_angles_of_sides(&self) -> &[AngleAndChange] {
        self.numbers[2 * (self.count + 1)..Self::length(self.count)].as_chunks().0
    }

    /// Adds to the moments of the first half: `moment(slot)` is m of a side more than there is.
    pub(super) fn add_moments(&mut self, hinges: &Hinges, moment: impl Fn(usize) -> f64 + Sync) {
        let (differences, loads) = sum_and_difference(self.split_angles().0);
        let each = (differences, loads).into_par_iter().zip(&hinges.slots).enumerate();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).for_each(
            |(hinge, ((difference, load), slots))| {
                let [left, right] = slots.map(|slot| moment(slot as usize));
                *difference += left - right;
                *load += hinges.share(hinge) * (left + right);
            },
        );
    }
}

/// M of some triangles; 0 for pinned triangles.
fn edge_matrices(
    mesh: &Mesh,
    hinges: &Hinges,
    triangles: Range<usize>,
    plate: &PlateRigidity,
) -> impl Iterator<Item = EdgeMatrix> {
    let factor = PlateFactor::new(plate);
    let matrix = move |triangle: usize| {
        if hinges.is_pinned[triangle] {
            return EdgeMatrix::default();
        }
        edge_matrix(mesh, triangle, hinges.free_edges(triangle), &factor)
    };
    triangles.map(matrix)
}
