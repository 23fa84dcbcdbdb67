// SPDX-License-Identifier: MIT OR Apache-2.0
//! Product of a vector and BᵀSB without the diagonal of S: the part of the tangent that is not assembled.
//!
//! The factors of S and those of the stabilisation take the same passes over the hinges. Numbers of hinges have double
//! precision: in single precision the stiffness of small displacements is denormal, which takes many times as long.

use crate::{
    forces::bending::{hinge_angles::HingeAngles, hinges::Hinges, stabilisation::Stabilisation},
    parallel::reductions,
    simd::Row3,
};
use rayon::prelude::*;

use super::Stiffness;

/// Vectors between the passes. Those of hinges are one longer, with a 0 for boundary edges.
#[derive(Clone, Debug, Default)]
pub(in crate::forces::bending) struct ProductBuffers {
    /// Rate of each edge of a triangle, times its length.
    edge_rates: Vec<[f64; 3]>,
    /// Rates at which hinges fold; at last the moments over l.
    rates: Vec<f64>,
    /// φ on both sides.
    sides: Vec<[f64; 2]>,
    /// Deviations of the patches.
    deviations: Vec<[f64; 2]>,
    moments: Vec<HingeMoments>,
    /// 𝓜 without the stabilisation.
    loads: Vec<f64>,
}

/// Moments of a hinge between the passes.
#[derive(Clone, Copy, Debug, Default)]
struct HingeMoments {
    /// m₁ − m₂.
    difference: f64,
    /// a(m₁ + m₂).
    load: f64,
    /// Moment of the deviation of the stabilisation.
    deviation: f64,
}

impl ProductBuffers {
    /// Gives the vectors their lengths; the values past the last hinge stay 0.
    fn resize(&mut self, triangles: usize, hinges: usize) {
        self.edge_rates.resize(triangles, [0.0; 3]);
        self.rates.resize(hinges + 1, 0.0);
        self.sides.resize(hinges + 1, [0.0; 2]);
        self.deviations.resize(hinges + 1, [0.0; 2]);
        self.moments.resize(hinges + 1, HingeMoments::default());
        self.loads.resize(hinges + 1, 0.0);
    }
}

/// The factors of the product at the shape last evaluated.
pub(in crate::forces::bending) struct OffDiagonalProduct<'a, Viscosity, Diagonal> {
    pub(in crate::forces::bending) hinges: &'a Hinges,
    pub(in crate::forces::bending) stiffness: &'a Stiffness,
    pub(in crate::forces::bending) stabilisation: Option<&'a Stabilisation>,
    pub(in crate::forces::bending) shape: &'a HingeAngles,
    /// Viscosity over stiffness of each hinge.
    pub(in crate::forces::bending) viscosity: Viscosity,
    /// Diagonal entry of each hinge, in N·m.
    pub(in crate::forces::bending) diagonal: Diagonal,
}

impl<Viscosity, Diagonal> OffDiagonalProduct<'_, Viscosity, Diagonal>
where
    Viscosity: Fn(usize) -> f64 + Sync,
    Diagonal: Fn(usize) -> f64 + Sync,
{
    /// Adds the product with `direction` to `out`; both for each vertex.
    pub(in crate::forces::bending) fn add(
        &self,
        direction: &[Row3],
        buffers: &mut ProductBuffers,
        out: &mut [Row3],
    ) {
        let count = self.hinges.count();
        buffers.resize(self.shape.triangle_count(), count);
        let ProductBuffers { edge_rates, rates, sides, deviations, moments, loads } = buffers;
        self.shape.rates_of_edges(direction, edge_rates);
        let edge_rates = edge_rates.as_flattened();
        each(&mut rates[..count], |hinge| self.shape.rate(self.hinges, edge_rates, hinge));
        each(&mut sides[..count], |hinge| self.divided(rates, hinge));
        self.deviate(&mut deviations[..count], |hinge| rates[hinge]);
        each(&mut moments[..count], |hinge| self.moments(sides, deviations, hinge));
        self.deviate(&mut deviations[..count], |hinge| moments[hinge].deviation);
        each(&mut loads[..count], |hinge| self.load(moments, hinge));
        let subtracted = |hinge: usize, rate: f64| (self.diagonal)(hinge) * rate;
        let lengths = self.shape.inverse_lengths();
        update_each(&mut rates[..count], |hinge, rate| {
            let moment = loads[hinge] + self.gathered(deviations, hinge);
            (moment - subtracted(hinge, rate)) * lengths[hinge]
        });
        self.shape.gather_rows(rates, self.hinges, out);
    }

    /// φ of a hinge on both sides.
    #[inline(always)]
    fn divided(&self, rates: &[f64], hinge: usize) -> [f64; 2] {
        let near = &self.hinges.neighbours[hinge];
        let [shift] = self.stiffness.geometric_correction.row(hinge, near, |f| [rates[f]]);
        let own = self.hinges.share(hinge) * rates[hinge];
        [own + shift, own - shift]
    }

    /// Moments of a hinge for given φ and deviations.
    #[inline(always)]
    fn moments(&self, sides: &[[f64; 2]], deviations: &[[f64; 2]], hinge: usize) -> HingeMoments {
        let halves = sides.as_flattened();
        let near = self.hinges.neighbours[hinge].map(|half| halves[half as usize]);
        let rows = &self.stiffness.rows[hinge];
        let factor = 1.0 + (self.viscosity)(hinge);
        let moment = |side: usize| {
            let [own, next, last] = rows[side].map(|entry| entry);
            let sum = next * near[2 * side] + last * near[2 * side + 1];
            factor * (own * sides[hinge][side] + sum)
        };
        let (left, right) = (moment(0), moment(1));
        let stiffness = self.stabilisation.map_or(0.0, |own| own.stiffness(hinge));
        HingeMoments {
            difference: left - right,
            load: self.hinges.share(hinge) * (left + right),
            deviation: stiffness * self.gathered(deviations, hinge),
        }
    }

    /// 𝓜 of a hinge without the stabilisation.
    #[inline(always)]
    fn load(&self, moments: &[HingeMoments], hinge: usize) -> f64 {
        let near = &self.hinges.neighbours[hinge];
        let correction = &self.stiffness.geometric_correction;
        let [shifted] = correction.column(hinge, near, |f| [moments[f].difference]);
        moments[hinge].load + shifted
    }

    /// Deviations of the patches for values of the hinges.
    fn deviate(&self, deviations: &mut [[f64; 2]], value: impl Fn(usize) -> f64 + Sync) {
        if let Some(stabilisation) = self.stabilisation {
            each(deviations, |hinge| stabilisation.deviation(self.hinges, hinge, &value));
        }
    }

    /// V times deviations, at a hinge.
    #[inline(always)]
    fn gathered(&self, deviations: &[[f64; 2]], hinge: usize) -> f64 {
        let gathered = |own: &Stabilisation| own.gathered(self.hinges, hinge, |f| deviations[f]);
        self.stabilisation.map_or(0.0, gathered)
    }
}

/// Sets each of some values of hinges.
fn each<Value: Send>(values: &mut [Value], value: impl Fn(usize) -> Value + Sync) {
    let each = values.par_iter_mut().enumerate();
    each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK)
        .for_each(|(hinge, own)| *own = value(hinge));
}

/// Replaces each of some values of hinges.
fn update_each(values: &mut [f64], value: impl Fn(usize, f64) -> f64 + Sync) {
    let each = values.par_iter_mut().enumerate();
    each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK)
        .for_each(|(hinge, own)| *own = value(hinge, *own));
}
