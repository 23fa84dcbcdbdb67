// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inelastic stress: measured curves with hysteresis, and memory of strain rates.
//!
//! For three strains ε with the linear law C, the stress is C(e + Σ w_k q_k) with e = ε − p. p is what stays after unloading,
//! bounded by curves (see `branch_envelope`); q̇_k + q_k/T_k = ė is the memory (see [`crate::material::ConstantQ`]), integrated exactly for a strain
//! that changes evenly in a step, as in Etzmuss 2002, eq. 2.33: q becomes αq + γΔe with α = exp(−h/T), γ = (1 − α)T/h.
//! Then the stress of a step is C(1 + Σ wγ)(x − p) with x = ε plus a constant.
//!
//! p is where ½(x − p)ᵀC(x − p)(1 + Σ wγ) + ∫σ dp is least, in which σ(p) is one branch upwards and the other downwards.
//! This least value is the potential of the step: convex in ε, with the stress as its derivative.

use super::branch_envelope::{BranchEnvelope, PlasticFlow, PlasticPast};
use crate::{
    forces::Strain,
    material::{BRANCHES, Hysteresis, Material},
};

/// Internal variables of one element.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct InternalVariables {
    /// p.
    pub(crate) plastic: Strain,
    /// Largest p so far.
    pub(crate) largest: Strain,
    /// Smallest p so far.
    pub(crate) smallest: Strain,
    /// e at the end of the last step.
    pub(crate) strain: Strain,
    /// q_k.
    pub(crate) delayed: [Strain; BRANCHES],
}

impl InternalVariables {
    /// Numbers that it consists of.
    pub(crate) const COUNT: usize = 3 * (4 + BRANCHES);

    pub(crate) fn write(&self, values: &mut Vec<f64>) {
        let strains = [self.plastic, self.largest, self.smallest, self.strain];
        values.extend(strains.as_flattened().iter().chain(self.delayed.as_flattened()));
    }

    pub(crate) fn read(values: &[f64]) -> Self {
        let mut variables = Self::default();
        let Self { plastic, largest, smallest, strain, delayed } = &mut variables;
        let places = [plastic, largest, smallest, strain].into_iter().flatten();
        let places = places.chain(delayed.as_flattened_mut());
        for (place, value) in places.zip(values) {
            *place = *value;
        }
        variables
    }

    fn plastic_past(&self, k: usize) -> PlasticPast {
        PlasticPast {
            plastic: self.plastic[k],
            largest: self.largest[k],
            smallest: self.smallest[k],
        }
    }
}

/// Deformation that a law resists, and the moduli and curves of the material for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeformationMode {
    /// Stretch with transverse contraction, and shear.
    Membrane,
    /// Stretch with transverse contraction, no shear.
    Tension,
    /// Shear alone.
    Shear,
    /// Stretch of strips along both yarns, and shear.
    Strips,
    /// Bending with transverse contraction, and twist.
    Plate,
    /// Bending of strips along both yarns.
    BentStrips,
}

impl DeformationMode {
    /// C₁₁, C₂₂, C₁₂, C₃₃.
    pub(crate) fn moduli(self, material: &Material) -> [f64; 4] {
        let [c11, c22, c12, c33] = material.membrane_moduli();
        let plate = material.plate_rigidity();
        match self {
            Self::Membrane => [c11, c22, c12, c33],
            Self::Tension => [c11, c22, c12, 0.0],
            Self::Shear => [0.0, 0.0, 0.0, c33],
            Self::Strips => [material.stretch_warp, material.stretch_weft, 0.0, c33],
            Self::Plate => [plate.d11, plate.d22, plate.d12, plate.d66],
            Self::BentStrips => [material.bend_warp, material.bend_weft, 0.0, 0.0],
        }
    }

    /// Measured curve of each strain and the modulus that it replaces, in N/m.
    fn curves(self, material: &Material) -> [Option<(&Hysteresis, f64)>; 3] {
        let curves = &material.curves;
        let stretches = [
            curves.stretch_warp.as_ref().map(|curve| (curve, material.stretch_warp)),
            curves.stretch_weft.as_ref().map(|curve| (curve, material.stretch_weft)),
        ];
        let bends = [
            curves.bend_warp.as_ref().map(|curve| (curve, material.bend_warp)),
            curves.bend_weft.as_ref().map(|curve| (curve, material.bend_weft)),
        ];
        let shear = curves.shear.as_ref().map(|curve| (curve, material.shear));
        match self {
            Self::Membrane | Self::Strips => [stretches[0], stretches[1], shear],
            Self::Tension => [stretches[0], stretches[1], None],
            Self::Shear => [None, None, shear],
            Self::Plate | Self::BentStrips => [bends[0], bends[1], None],
        }
    }
}

/// The law of one cloth.
#[derive(Clone, Debug)]
pub(crate) struct InelasticLaw {
    /// C₁₁, C₂₂, C₁₂, C₃₃ of the material.
    linear: [f64; 4],
    /// C₁₁, C₂₂, C₁₂, C₃₃ of slow reversals.
    moduli: [f64; 4],
    envelopes: [Option<BranchEnvelope>; 3],
    /// w and T of each branch; the first `count` of them act.
    branches: [[f64; 2]; BRANCHES],
    count: usize,
    /// α and γ of each branch for the step at hand.
    factors: [[f64; 2]; BRANCHES],
    /// 1 + Σ wγ.
    stiffening: f64,
    /// Whether moduli are given without flow.
    is_stiffest: bool,
}

/// Stress of an element in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StressResponse {
    /// Stress, in N/m.
    pub(crate) stress: Strain,
    /// Potential per area of each strain, in J/m².
    pub(crate) potentials: Strain,
    /// Derivatives of the stress, as C₁₁, C₂₂, C₁₂, C₃₃.
    pub(crate) moduli: [f64; 4],
    plastic: Strain,
}

impl StressResponse {
    /// Potential per area, in J/m².
    pub(crate) fn potential(&self) -> f64 {
        self.potentials.iter().sum()
    }

    /// Response of a fabric with its stiffness multiplied by `plane` for the first two strains and by `third` for the
    /// third. Curves and memory are multiplied as well, so that plastic strains do not change.
    pub(crate) fn scaled(mut self, [plane, third]: [f64; 2]) -> Self {
        for (k, factor) in [plane, plane, third].into_iter().enumerate() {
            self.stress[k] *= factor;
            self.potentials[k] *= factor;
        }
        let [c11, c22, c12, c33] = self.moduli;
        self.moduli = [plane * c11, plane * c22, plane * c12, third * c33];
        self
    }
}

/// Iterations for the coupled plastic strains of both yarns; each reduces the error by ν². Evidence:
/// `stress_is_the_derivative_of_the_potential_and_moduli_that_of_stress` (fails with 5, passes with 30).
const MAX_FLOW_ITERATIONS: usize = 60;

impl InelasticLaw {
    pub(crate) fn new(material: &Material, mode: DeformationMode) -> Self {
        let mut branches = [[0.0; 2]; BRANCHES];
        let mut count = 0;
        for branch in material.quality.iter().flat_map(crate::material::ConstantQ::branches) {
            if branch.weight > 0.0 {
                branches[count] = [branch.weight, branch.time];
                count += 1;
            }
        }
        let curves = mode.curves(material);
        let factors = curves.map(|curve| {
            curve.map_or(1.0, |(curve, modulus)| (curve.steepest_slope() / modulus).max(1.0))
        });
        let envelope = |k: usize| {
            curves[k].map(|(curve, modulus)| BranchEnvelope::new(curve, factors[k] * modulus))
        };
        let linear = mode.moduli(material);
        let mut law = Self {
            linear,
            moduli: raised(linear, factors),
            envelopes: [0, 1, 2].map(envelope),
            branches,
            count,
            factors: [[1.0; 2]; BRANCHES],
            stiffening: 1.0,
            is_stiffest: false,
        };
        law.begin_step(0.0);
        law
    }

    /// Prepares for a step of `duration` seconds.
    pub(crate) fn begin_step(&mut self, duration: f64) {
        self.stiffening = 1.0;
        for ([weight, time], factors) in self.branches[..self.count].iter().zip(&mut self.factors) {
            let ratio = duration / time;
            let gain = if ratio > 0.0 { -(-ratio).exp_m1() / ratio } else { 1.0 };
            *factors = [(-ratio).exp(), gain];
            self.stiffening += weight * gain;
        }
    }

    /// Switches between the moduli of sudden reversals, which are the stiffest, and the current ones.
    pub(crate) fn set_stiffest_tangent(&mut self, is_stiffest: bool) {
        self.is_stiffest = is_stiffest;
        self.begin_step(0.0);
    }

    /// Moduli without memory and curves.
    pub(crate) fn linear(&self) -> &[f64; 4] {
        &self.linear
    }

    pub(crate) fn respond(&self, strain: &Strain, variables: &InternalVariables) -> StressResponse {
        let moduli = self.moduli.map(|modulus| modulus * self.stiffening);
        let shifted = [0, 1, 2].map(|k| strain[k] + self.memory_strain(k, variables));
        let (plastic, flows) = self.plastic(&moduli, &shifted, variables);
        let elastic = [0, 1, 2].map(|k| shifted[k] - plastic[k]);
        let stress = apply(&moduli, &elastic);
        let work = flows.map(|flow| flow.map_or(0.0, |flow| flow.work));
        let potentials = [0, 1, 2].map(|k| 0.5 * elastic[k] * stress[k] + work[k]);
        let hardening = flows.map(|flow| flow.map_or(f64::INFINITY, |flow| flow.hardening));
        let moduli =
            if self.is_stiffest { moduli } else { elastoplastic_moduli(moduli, hardening) };
        StressResponse { stress, potentials, moduli, plastic }
    }

    /// The strain at which one of them is without stress, where it is coupled with no other, and the potential there
    /// per area in J/m².
    pub(crate) fn stress_free_strain(&self, k: usize, variables: &InternalVariables) -> [f64; 2] {
        // Without a modulus the strain moves to the point where the branches have no stress.
        let past = variables.plastic_past(k);
        let flow = |envelope: &BranchEnvelope| envelope.flow(&past, 0.0, 0.0);
        let flow = self.envelopes[k].as_ref().map(flow);
        let plastic = flow.map_or(variables.plastic[k], |flow| flow.plastic);
        [plastic - self.memory_strain(k, variables), flow.map_or(0.0, |flow| flow.work)]
    }

    /// Constant shift of the strain in a step by the delayed strains.
    fn memory_strain(&self, k: usize, variables: &InternalVariables) -> f64 {
        let mut offset = 0.0;
        for index in 0..self.count {
            let [decay, gain] = self.factors[index];
            let weight = self.branches[index][0];
            offset += weight * (decay * variables.delayed[index][k] - gain * variables.strain[k]);
        }
        offset / self.stiffening
    }

    /// Plastic strain p and the plastic flow of each component in the step.
    fn plastic(
        &self,
        moduli: &[f64; 4],
        strain: &Strain,
        variables: &InternalVariables,
    ) -> (Strain, [Option<PlasticFlow>; 3]) {
        let mut plastic = variables.plastic;
        let mut flows = [None; 3];
        let [c11, c22, c12, c33] = *moduli;
        if let Some(envelope) = &self.envelopes[2] {
            let flow = envelope.flow(&variables.plastic_past(2), strain[2], c33);
            plastic[2] = flow.plastic;
            flows[2] = Some(flow);
        }
        let own = [c11, c22];
        let is_coupled = self.envelopes[0].is_some() && self.envelopes[1].is_some() && c12 > 0.0;
        for _ in 0..if is_coupled { MAX_FLOW_ITERATIONS } else { 1 } {
            let before = plastic;
            for (k, other) in [(0, 1), (1, 0)] {
                let Some(envelope) = &self.envelopes[k] else { continue };
                let across = c12 / own[k] * (strain[other] - plastic[other]);
                let flow = envelope.flow(&variables.plastic_past(k), strain[k] + across, own[k]);
                plastic[k] = flow.plastic;
                flows[k] = Some(flow);
            }
            let moved = |k: usize| (plastic[k] - before[k]).abs();
            if moved(0) + moved(1) <= f64::EPSILON * (plastic[0].abs() + plastic[1].abs()) {
                break;
            }
        }
        (plastic, flows)
    }

    /// Updates the internal variables after a step that ended at a strain.
    pub(crate) fn update_variables(&self, strain: &Strain, variables: &mut InternalVariables) {
        let plastic = self.respond(strain, variables).plastic;
        for k in 0..3 {
            let elastic = strain[k] - plastic[k];
            for index in 0..self.count {
                let [decay, gain] = self.factors[index];
                let delayed = &mut variables.delayed[index][k];
                *delayed = decay * *delayed + gain * (elastic - variables.strain[k]);
            }
            variables.strain[k] = elastic;
            variables.largest[k] = variables.largest[k].max(plastic[k]);
            variables.smallest[k] = variables.smallest[k].min(plastic[k]);
        }
        variables.plastic = plastic;
    }

    /// Recoverable energy of each strain component per area, in J/m².
    pub(crate) fn stored_energy(&self, strain: &Strain, variables: &InternalVariables) -> Strain {
        let mut stored = [0.0; 3];
        let elastic = [0, 1, 2].map(|k| strain[k] - variables.plastic[k]);
        let delayed = self.branches[..self.count].iter().zip(&variables.delayed);
        let strains = delayed.map(|(branch, delayed)| (branch[0], delayed));
        for (weight, strain) in strains.chain([(1.0, &elastic)]) {
            let stress = apply(&self.moduli, strain);
            for (k, stored) in stored.iter_mut().enumerate() {
                *stored += 0.5 * weight * strain[k] * stress[k];
            }
        }
        for (k, envelope) in self.envelopes.iter().enumerate() {
            let energy = envelope
                .as_ref()
                .map_or(0.0, |envelope| envelope.stored_energy(&variables.plastic_past(k)));
            stored[k] += energy;
        }
        stored
    }
}

/// Moduli of reversals for curves that are steeper than the moduli by factors: FCF with the roots of the factors, which
/// is positive definite as C is.
fn raised([c11, c22, c12, c33]: [f64; 4], [first, second, third]: [f64; 3]) -> [f64; 4] {
    [first * c11, second * c22, (first * second).sqrt() * c12, third * c33]
}

/// Moduli reduced by plastic flow along the curves; `hardening` is infinite for components that do not flow.
fn elastoplastic_moduli([c11, c22, c12, c33]: [f64; 4], hardening: Strain) -> [f64; 4] {
    let [first, second, third] = hardening;
    let (mut t11, mut t22, mut t12) = (c11, c22, c12);
    if first.is_finite() {
        let whole = c11 + first;
        (t11, t12, t22) = (c11 * first / whole, c12 * first / whole, c22 - c12 * c12 / whole);
    }
    if second.is_finite() {
        let whole = t22 + second;
        (t11, t12, t22) = (t11 - t12 * t12 / whole, t12 * second / whole, t22 * second / whole);
    }
    let t33 = if third.is_finite() { c33 * third / (c33 + third) } else { c33 };
    [t11, t22, t12, t33]
}

/// The stresses C₁₁e₁ + C₁₂e₂, C₁₂e₁ + C₂₂e₂ and C₃₃e₃.
#[inline(always)]
pub(crate) fn apply([c11, c22, c12, c33]: &[f64; 4], [e1, e2, e3]: &Strain) -> Strain {
    [c11 * e1 + c12 * e2, c12 * e1 + c22 * e2, c33 * e3]
}
