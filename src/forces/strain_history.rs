// SPDX-License-Identifier: MIT OR Apache-2.0
//! Past strains of a time scheme, for viscous forces.
//!
//! Every implicit scheme here ends its step with a rate of the form (ε(x) − ε̂)/β: ε̂ combines past
//! strains, β is the step times a coefficient. A Kelvin-Voigt stress C·τ·ε̇ (Etzmuss 2002, section
//! 2.4.1) is then the gradient of ½·(τ/β)·(ε − ε̂)ᵀC(ε − ε̂), so that elastic and viscous force of a
//! step have one common potential.

/// Green strains along warp and weft, and the shear angle ⟨s_u,s_v⟩.
pub type Strain = [f64; 3];

/// Past strains `reference` (one per element) and 1/β in 1/s; 1/β = 0 switches viscosity off.
#[derive(Clone, Copy, Debug)]
pub struct StrainHistory<'a, Measure> {
    /// ε̂ of each element.
    pub reference: &'a [Measure],
    /// 1/β, in 1/s.
    pub inverse_beta: f64,
}
