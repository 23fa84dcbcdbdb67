// SPDX-License-Identifier: MIT OR Apache-2.0
//! A fabric: its parameters in SI units, checked when built.

mod constant_q;
mod curve;
mod presets;

pub(crate) use constant_q::BRANCHES;
pub use constant_q::{ChainElement, ConstantQ, MemoryBranch};
pub use curve::{CurvePoint, Curves, Hysteresis, HysteresisCycle};
pub(crate) use curve::{mirrored, stress_at, upper_envelope};
pub use presets::preset_names;

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A fabric. Immutable once built: every value in it has been checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Material {
    /// Areal density, in kg/m².
    pub density: f64,
    /// Membrane modulus along the warp, in N/m.
    pub stretch_warp: f64,
    /// Membrane modulus along the weft, in N/m.
    pub stretch_weft: f64,
    /// In-plane shear modulus, in N/m: stress = shear · γ with γ = ⟨s_u, s_v⟩.
    pub shear: f64,
    /// Transverse contraction along the weft when the warp is stretched.
    pub poisson: f64,
    /// Bending rigidity per unit width of a strip cut along the warp, in N·m.
    pub bend_warp: f64,
    /// Bending rigidity per unit width of a strip cut along the weft, in N·m.
    pub bend_weft: f64,
    /// Twisting rigidity (twisting moment per 2·κ₁₂), in N·m. `None`: the isotropic equivalent,
    /// (√(D₁₁D₂₂) − D₁₂)/2.
    pub bend_twist: Option<f64>,
    /// Kelvin-Voigt time of warp and weft stretch, in s: viscosity = damping · modulus.
    pub stretch_damping: f64,
    /// Kelvin-Voigt time of shear, in s.
    pub shear_damping: f64,
    /// Kelvin-Voigt time of bending, in s.
    pub bend_damping: f64,
    /// Aerodynamic coefficient of the flow across the face.
    pub air_drag: f64,
    /// Aerodynamic coefficient of the flow along the face.
    pub air_lift: f64,
    /// Coulomb coefficient of friction.
    pub friction: f64,
    /// Contact thickness, in m: this cloth's share of the smallest gap of a contact.
    pub thickness: f64,
    /// Measured curves of stress over strain. Small reversals have the modulus of the same name, or the steepest slope of
    /// the curve where that is more.
    pub curves: Curves,
    /// Loss of energy in every cycle at any speed, of stretch, shear and bending alike. Moduli are then those of
    /// slow changes; fast ones are stiffer.
    pub quality: Option<ConstantQ>,
}

impl Default for Material {
    /// A light plain-weave cotton, the `cotton` preset.
    fn default() -> Self {
        presets::COTTON
    }
}

/// The matrix of an orthotropic plate, D in N·m, for the curvatures (κ₁₁, κ₂₂, 2κ₁₂).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlateRigidity {
    /// Moment about the weft per curvature along the warp.
    pub d11: f64,
    /// Moment about the warp per curvature along the weft.
    pub d22: f64,
    /// Coupling of both.
    pub d12: f64,
    /// Twisting moment per 2·κ₁₂.
    pub d66: f64,
}

impl Material {
    /// Returns the material if every field is valid.
    ///
    /// # Errors
    /// Names the first field that is not finite, out of range, or makes the elastic matrix
    /// indefinite.
    pub fn checked(self) -> Result<Self> {
        for (name, value) in self.fields() {
            if !value.is_finite() {
                return Err(Error::value(name, value, "a finite number"));
            }
        }
        let positive = [("density", self.density)];
        for (name, value) in positive {
            if value <= 0.0 {
                return Err(Error::value(name, value, "more than 0"));
            }
        }
        for (name, value) in self.fields() {
            if value < 0.0 {
                return Err(Error::value(name, value, "0 or more"));
            }
        }
        self.check_definite()?;
        let moduli =
            [self.stretch_warp, self.stretch_weft, self.shear, self.bend_warp, self.bend_weft];
        for ((name, curve), modulus) in self.curves.by_name().into_iter().zip(moduli) {
            curve.map_or(Ok(()), |curve| curve.check(name, modulus))?;
        }
        self.quality.map_or(Ok(()), |quality| quality.check())?;
        Ok(self)
    }

    /// Whether stress is not a function of strain and its rate alone: then the history matters.
    #[must_use]
    pub fn is_inelastic(&self) -> bool {
        self.quality.is_some() || self.curves != Curves::NONE
    }

    fn check_definite(&self) -> Result<()> {
        if self.poisson > 0.0 && self.poisson.powi(2) * self.stretch_weft >= self.stretch_warp {
            return Err(Error::value(
                "poisson",
                self.poisson,
                "poisson² · stretch_weft < stretch_warp, or the elastic matrix is not positive definite",
            ));
        }
        if self.poisson >= 1.0 {
            return Err(Error::value(
                "poisson",
                self.poisson,
                "less than 1, or the bending matrix is not positive definite",
            ));
        }
        Ok(())
    }

    /// The numeric fields by name, in the order of the Python constructor.
    #[must_use]
    pub fn fields(&self) -> Vec<(&'static str, f64)> {
        let mut fields = vec![
            ("density", self.density),
            ("stretch_warp", self.stretch_warp),
            ("stretch_weft", self.stretch_weft),
            ("shear", self.shear),
            ("poisson", self.poisson),
            ("bend_warp", self.bend_warp),
            ("bend_weft", self.bend_weft),
        ];
        fields.extend(self.bend_twist.map(|twist| ("bend_twist", twist)));
        fields.extend([
            ("stretch_damping", self.stretch_damping),
            ("shear_damping", self.shear_damping),
            ("bend_damping", self.bend_damping),
            ("air_drag", self.air_drag),
            ("air_lift", self.air_lift),
            ("friction", self.friction),
            ("thickness", self.thickness),
        ]);
        fields
    }

    /// The membrane matrix (C₁₁, C₂₂, C₁₂, C₃₃) in N/m for the Green strains (E₁₁, E₂₂, 2E₁₂).
    ///
    /// Symmetric orthotropy: ν₂₁ E₁ = ν₁₂ E₂ (Huber 2018, eq. 2.82, index corrected).
    #[must_use]
    pub fn membrane_moduli(&self) -> [f64; 4] {
        let nu12 = self.poisson;
        let nu21 = if self.stretch_warp > 0.0 {
            nu12 * self.stretch_weft / self.stretch_warp
        } else {
            0.0
        };
        let scale = 1.0 / (1.0 - nu12 * nu21);
        [
            scale * self.stretch_warp,
            scale * self.stretch_weft,
            scale * nu12 * self.stretch_weft,
            self.shear,
        ]
    }

    /// The plate matrix whose *strips* have the rigidities given.
    ///
    /// A strip with free long edges bends with D₁₁ − D₁₂²/D₂₂, the rigidity that a cantilever test measures; so D₁₁ =
    /// bend_warp/(1 − ν²), D₂₂ = bend_weft/(1 − ν²), D₁₂ = ν√(D₁₁D₂₂), and unless `bend_twist` is given D₆₆ =
    /// (√(D₁₁D₂₂) − D₁₂)/2, the isotropic value.
    #[must_use]
    pub fn plate_rigidity(&self) -> PlateRigidity {
        let scale = 1.0 / (1.0 - self.poisson.powi(2));
        let (d11, d22) = (scale * self.bend_warp, scale * self.bend_weft);
        let mean = (d11 * d22).sqrt();
        let d12 = self.poisson * mean;
        PlateRigidity { d11, d22, d12, d66: self.bend_twist.unwrap_or(0.5 * (mean - d12)) }
    }

    /// The fabric with its stiffness against stretch, shear and bending multiplied; its curves are not changed.
    pub(crate) fn with_stiffness_factors(&self, [stretch, shear, bend]: [f64; 3]) -> Self {
        Self {
            stretch_warp: stretch * self.stretch_warp,
            stretch_weft: stretch * self.stretch_weft,
            shear: shear * self.shear,
            bend_warp: bend * self.bend_warp,
            bend_weft: bend * self.bend_weft,
            bend_twist: self.bend_twist.map(|twist| bend * twist),
            ..self.clone()
        }
    }

    /// A measured fabric by name.
    ///
    /// # Errors
    /// Lists the names there are when `name` is none of them.
    pub fn preset(name: &str) -> Result<Self> {
        presets::find(name)
    }
}
