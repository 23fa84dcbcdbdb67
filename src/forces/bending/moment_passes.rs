// SPDX-License-Identifier: MIT OR Apache-2.0
//! The moments of given hinge angles, 𝓜 = Sθ, and those of the stabilisation, in four passes over the hinges.
//!
//! ψ = Pθ divides each angle into φ = aθ ± ψ, M of each triangle gives m = Mφ, and
//! 𝓜_e = a(m₁ + m₂)_e + Σ_f P_fe (m₁ − m₂)_f, with a = ½ save at clamps. The energy is ½ Σ φ·m. The stabilisation adds
//! VVᵀ k VVᵀθ with the energy ½ Σ k (VVᵀθ)². Each factor reaches the four neighbours of a hinge alone (and seldom
//! farther): a pass gathers two numbers of each, and applies a factor of both. The first halves the angles and finds Vᵀθ,
//! the second m and k VVᵀθ, the third Pᵀ and Vᵀ of those, the fourth V of the last.

use super::{
    four_hinges::{FourHinges, Pair},
    hinges::Hinges,
    stabilisation::Stabilisation,
    stiffness::Stiffness,
};
use crate::{
    parallel::reductions,
    simd::{Kernel, Lanes, dispatch, four_from, write_lanes},
};
use rayon::prelude::*;

/// Hinges that are worth a task of their own; a multiple of four.
const MIN_PER_TASK: usize = reductions::MIN_ELEMENTS_PER_TASK;

/// Arrays between the passes. They are one longer than there are hinges, with a 0 for boundary edges.
#[derive(Clone, Debug)]
pub(super) struct MomentPasses {
    count: usize,
    numbers: Vec<f64>,
}

/// Parts of the arrays.
struct Parts<'a> {
    /// An [`AngleAndChange`](super::angle::AngleAndChange) of each hinge; from the second pass on m₁ − m₂ and k VVᵀθ.
    pairs: &'a mut [Pair],
    /// φ of the angle and of its change on both sides of each hinge.
    sides: &'a mut [Pair],
    /// Vᵀθ of each patch; from the third pass on Vᵀ k VVᵀθ.
    deviations: &'a mut [Pair],
    /// a(m₁ + m₂), which at last becomes 𝓜.
    loads: &'a mut [f64],
}

impl MomentPasses {
    pub(super) fn new(count: usize) -> Self {
        Self::from_buffer(vec![0.0; Self::length(count)], count)
    }

    /// Length of the buffer for the hinges of some triangles.
    pub(super) fn length_for(hinges: &Hinges) -> usize {
        // Of triangles without neighbours there are more than hinges.
        Self::length(hinges.count()).max(hinges.count() + 1 + 3 * hinges.of_triangle.len())
    }

    fn length(count: usize) -> usize {
        9 * (count + 1)
    }

    /// Arrays in a buffer of at least the length for `count` hinges; its values are overwritten.
    pub(super) fn from_buffer(numbers: Vec<f64>, count: usize) -> Self {
        let mut passes = Self { count, numbers };
        let Parts { pairs, sides, deviations, loads } = passes.parts();
        sides[2 * count..].fill([0.0; 2]);
        (pairs[count], deviations[count], loads[count]) = ([0.0; 2], [0.0; 2], 0.0);
        passes
    }

    pub(super) fn into_buffer(self) -> Vec<f64> {
        self.numbers
    }

    fn parts(&mut self) -> Parts<'_> {
        let count = self.count + 1;
        let numbers = &mut self.numbers[..Self::length(self.count)];
        let (loads, pairs) = numbers.split_at_mut(count);
        let (pairs, others) = pairs.as_chunks_mut().0.split_at_mut(count);
        let (sides, deviations) = others.split_at_mut(2 * count);
        Parts { pairs, sides, deviations, loads }
    }

    /// The moments, a 0 past the last, and room for three numbers of each triangle.
    pub(super) fn loads_and_room(&mut self) -> (&[f64], &mut [[f64; 3]]) {
        let (loads, room) = self.numbers.split_at_mut(self.count + 1);
        (loads, room.as_chunks_mut().0)
    }

    /// Angles of the hinges, and their changes.
    pub(super) fn angles_mut(&mut self) -> &mut [Pair] {
        let count = self.count;
        &mut self.parts().pairs[..count]
    }

    /// Angles without any change.
    pub(super) fn set_angles(&mut self, angles: &[f64]) {
        for (own, angle) in self.angles_mut().iter_mut().zip(angles) {
            *own = [*angle, 0.0];
        }
    }

    /// φ on both sides of every hinge, and a 0 past the last.
    pub(super) fn split_angles_of_sides(&self) -> &[Pair] {
        let count = self.count + 1;
        self.numbers[3 * count..7 * count].as_chunks().0
    }

    /// Adds to the moments of the first half: `moment(slot)` is m of a side more than there is.
    pub(super) fn add_moments(&mut self, hinges: &Hinges, moment: impl Fn(usize) -> f64 + Sync) {
        let Parts { pairs, loads, .. } = self.parts();
        let each = (pairs, loads).into_par_iter().zip(&hinges.slots).enumerate();
        each.with_min_len(MIN_PER_TASK).for_each(|(hinge, ((pair, load), slots))| {
            let [left, right] = slots.map(|slot| moment(slot as usize));
            pair[0] += left - right;
            *load += hinges.share(hinge) * (left + right);
        });
    }
}

/// What turns angles into moments.
#[derive(Clone, Copy)]
pub(super) struct MomentFactors<'a> {
    pub(super) hinges: &'a Hinges,
    pub(super) stiffness: &'a Stiffness,
    /// `None` if nothing is stiffened.
    pub(super) stabilisation: Option<&'a Stabilisation>,
}

impl MomentFactors<'_> {
    /// First half of the moments of the angles: m of each hinge for the angles, plus `viscosity` times the same for the
    /// changes. Returns Σ φ·m of the angles plus `viscosity` times that of the changes, and what the stabilisation adds,
    /// twice a potential. `viscosity` has that of four hinges.
    pub(super) fn side_moments(
        self,
        passes: &mut MomentPasses,
        viscosity: impl Fn(&[usize; 4]) -> [f64; 4] + Sync,
    ) -> f64 {
        let count = passes.count;
        let Parts { pairs, sides, deviations, loads } = passes.parts();
        let angles = &*pairs;
        sides.as_chunks_mut().0[..count]
            .par_chunks_mut(MIN_PER_TASK)
            .zip(deviations[..count].par_chunks_mut(MIN_PER_TASK))
            .enumerate()
            .for_each(|(chunk, (sides, deviations))| {
                let first = chunk * MIN_PER_TASK;
                dispatch(DivideAngles { factors: self, angles, first, sides, deviations });
            });
        let (sides, deviations, viscosity) = (&*sides, &*deviations, &viscosity);
        let work: Vec<f64> = pairs[..count]
            .par_chunks_mut(MIN_PER_TASK)
            .zip(loads[..count].par_chunks_mut(MIN_PER_TASK))
            .enumerate()
            .map(|(chunk, results)| {
                let first = chunk * MIN_PER_TASK;
                let factors = self;
                dispatch(SideMoments { factors, sides, deviations, viscosity, first, results })
            })
            .collect();
        work.iter().sum()
    }

    /// Second half: the moment of each hinge times a scale, in the loads of the passes.
    pub(super) fn hinge_moments(self, passes: &mut MomentPasses, scales: &[f64]) {
        let count = passes.count;
        let Parts { pairs, deviations, loads, .. } = passes.parts();
        let pairs = &*pairs;
        loads[..count]
            .par_chunks_mut(MIN_PER_TASK)
            .zip(deviations[..count].par_chunks_mut(MIN_PER_TASK))
            .enumerate()
            .for_each(|(chunk, results)| {
                let first = chunk * MIN_PER_TASK;
                dispatch(ShiftMoments { factors: self, pairs, first, results });
            });
        let deviations = &*deviations;
        loads[..count].par_chunks_mut(MIN_PER_TASK).enumerate().for_each(|(chunk, loads)| {
            let first = chunk * MIN_PER_TASK;
            dispatch(AddStabilisation { factors: self, deviations, scales, first, loads });
        });
    }
}

/// First pass, over the hinges from the first on.
struct DivideAngles<'a> {
    factors: MomentFactors<'a>,
    angles: &'a [Pair],
    first: usize,
    sides: &'a mut [[Pair; 2]],
    deviations: &'a mut [Pair],
}

impl Kernel for DivideAngles<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { factors, angles, first, sides, deviations } = self;
        let MomentFactors { hinges, stiffness, stabilisation } = factors;
        let correction = &stiffness.geometric_correction;
        let batches = sides.chunks_mut(4).zip(deviations.chunks_mut(4)).enumerate();
        for (batch, (sides, deviations)) in batches {
            let four = FourHinges::new(hinges, first + 4 * batch);
            let near = four.near(lanes, angles);
            let share = lanes.widened(&stiffness.shares[four.batch]);
            let shifts = [
                correction.rows(lanes, four.batch, &near[0], |f| angles[f][0]),
                correction.rows(lanes, four.batch, &near[1], |f| angles[f][1]),
            ];
            let own = [lanes.product(share, near[0][0]), lanes.product(share, near[1][0])];
            let left = [lanes.plus(own[0], shifts[0]), lanes.plus(own[1], shifts[1])];
            let right = [lanes.minus(own[0], shifts[0]), lanes.minus(own[1], shifts[1])];
            let (left, right) = (lanes.split_pairs(&left), lanes.split_pairs(&right));
            write_lanes(sides, &std::array::from_fn(|k| [left[k], right[k]]));
            if let Some(own) = stabilisation {
                let found = own.deviations(lanes, four.batch, &near[0], |f| angles[f][0]);
                write_lanes(deviations, &lanes.split_pairs(&found));
            }
        }
    }
}

/// Second pass; the output is Σ φ·m.
struct SideMoments<'a, Viscosity> {
    factors: MomentFactors<'a>,
    sides: &'a [Pair],
    deviations: &'a [Pair],
    viscosity: &'a Viscosity,
    first: usize,
    results: (&'a mut [Pair], &'a mut [f64]),
}

impl<Viscosity: Fn(&[usize; 4]) -> [f64; 4]> Kernel for SideMoments<'_, Viscosity> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> f64 {
        let Self { factors, sides, deviations, viscosity, first, results } = self;
        let MomentFactors { hinges, stiffness, stabilisation } = factors;
        let mut work = lanes.splat_four(0.0);
        let batches = results.0.chunks_mut(4).zip(results.1.chunks_mut(4)).enumerate();
        for (batch, (pairs, loads)) in batches {
            let four = FourHinges::new(hinges, first + 4 * batch);
            let rows = &stiffness.rows[four.batch];
            let viscosity = lanes.load_four(&viscosity(&four.own));
            let (left, of_left) = moment(lanes, &rows[0], &four.halves(lanes, sides, 0), viscosity);
            let (right, of_right) =
                moment(lanes, &rows[1], &four.halves(lanes, sides, 1), viscosity);
            work = lanes.plus(work, lanes.plus(of_left, of_right));
            let mut stiffened = lanes.splat_four(0.0);
            if let Some(own) = stabilisation {
                let patches = four.near(lanes, deviations);
                let shared = own.gathered(lanes, four.batch, &patches, deviations);
                stiffened = lanes.product(lanes.load_four(&own.stiffness[four.batch]), shared);
                work = lanes.plus(work, lanes.product(stiffened, shared));
            }
            let share = lanes.widened(&stiffness.shares[four.batch]);
            write_lanes(pairs, &lanes.split_pairs(&[lanes.minus(left, right), stiffened]));
            let load = lanes.product(share, lanes.plus(left, right));
            write_lanes(loads, &lanes.to_numbers(load));
        }
        lanes.to_numbers(work).iter().sum()
    }
}

/// m on one side of four hinges, viscosity included, and φ·m.
#[inline(always)]
fn moment<L: Lanes>(
    lanes: L,
    rows: &[[f64; 4]; 3],
    angles: &[[L::Four; 2]; 3],
    viscosity: L::Four,
) -> (L::Four, L::Four) {
    let rows = [lanes.load_four(&rows[0]), lanes.load_four(&rows[1]), lanes.load_four(&rows[2])];
    let sum = |k: usize| {
        let first =
            lanes.plus(lanes.product(rows[0], angles[0][k]), lanes.product(rows[1], angles[1][k]));
        lanes.plus(first, lanes.product(rows[2], angles[2][k]))
    };
    let (elastic, viscous) = (sum(0), lanes.product(viscosity, sum(1)));
    let work =
        lanes.plus(lanes.product(angles[0][0], elastic), lanes.product(angles[0][1], viscous));
    (lanes.plus(elastic, viscous), work)
}

/// Third pass.
struct ShiftMoments<'a> {
    factors: MomentFactors<'a>,
    pairs: &'a [Pair],
    first: usize,
    results: (&'a mut [f64], &'a mut [Pair]),
}

impl Kernel for ShiftMoments<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { factors, pairs, first, results } = self;
        let MomentFactors { hinges, stiffness, stabilisation } = factors;
        let correction = &stiffness.geometric_correction;
        let batches = results.0.chunks_mut(4).zip(results.1.chunks_mut(4)).enumerate();
        for (batch, (loads, deviations)) in batches {
            let four = FourHinges::new(hinges, first + 4 * batch);
            let near = four.near(lanes, pairs);
            let shifted = correction.columns(lanes, four.batch, &near[0], |f| pairs[f][0]);
            let load = lanes.plus(lanes.load_four(&four_from(loads, 0)), shifted);
            write_lanes(loads, &lanes.to_numbers(load));
            if let Some(own) = stabilisation {
                let found = own.deviations(lanes, four.batch, &near[1], |f| pairs[f][1]);
                write_lanes(deviations, &lanes.split_pairs(&found));
            }
        }
    }
}

/// Fourth pass.
struct AddStabilisation<'a> {
    factors: MomentFactors<'a>,
    deviations: &'a [Pair],
    scales: &'a [f64],
    first: usize,
    loads: &'a mut [f64],
}

impl Kernel for AddStabilisation<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { factors, deviations, scales, first, loads } = self;
        for (batch, loads) in loads.chunks_mut(4).enumerate() {
            let four = FourHinges::new(factors.hinges, first + 4 * batch);
            let mut added = lanes.splat_four(0.0);
            if let Some(own) = factors.stabilisation {
                let patches = four.near(lanes, deviations);
                added = own.gathered(lanes, four.batch, &patches, deviations);
            }
            let load = lanes.plus(lanes.load_four(&four_from(loads, 0)), added);
            let scales = lanes.load_four(&four_from(scales, first + 4 * batch));
            write_lanes(loads, &lanes.to_numbers(lanes.product(load, scales)));
        }
    }
}
