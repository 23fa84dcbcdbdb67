// SPDX-License-Identifier: MIT OR Apache-2.0
//! `weft.Material`.

mod curves;

use super::scalars::{constructor, dictionary, fields_of, number, set_fields, text};
use crate::material::Material;
use curves::{curve, curve_dict, quality, quality_dict};
use pyo3::{prelude::*, types::PyDict};

const FIELDS: [&str; 15] = [
    "density",
    "stretch_warp",
    "stretch_weft",
    "shear",
    "poisson",
    "bend_warp",
    "bend_weft",
    "bend_twist",
    "stretch_damping",
    "shear_damping",
    "bend_damping",
    "air_drag",
    "air_lift",
    "friction",
    "thickness",
];

/// Fields that are left out of a dict where they are None.
const OPTIONS: [&str; 6] = [
    "stretch_warp_curve",
    "stretch_weft_curve",
    "shear_curve",
    "bend_warp_curve",
    "bend_weft_curve",
    "quality",
];

/// A fabric, in SI units. Immutable, and checked when built.
///
/// Fields that are left out are those of the preset "cotton".
///
/// Args:
///     density (float): Areal density, in kg/m², more than 0.
///     stretch_warp (float): Membrane modulus E·h along the warp, in N/m.
///     stretch_weft (float): Membrane modulus E·h along the weft, in N/m.
///     shear (float): In-plane shear modulus G·h, in N/m: stress = shear · γ with γ = ⟨s_u, s_v⟩.
///     poisson (float): Transverse contraction from warp to weft, 0 or more. The elastic matrix
///         must stay positive definite: poisson² · stretch_weft < stretch_warp, and poisson < 1.
///     bend_warp (float): Bending rigidity per unit width of a strip cut along the warp, in N·m.
///     bend_weft (float): Bending rigidity per unit width of a strip cut along the weft, in N·m.
///     bend_twist (float | None): Twisting rigidity, moment per 2·κ₁₂, in N·m. None is the
///         isotropic equivalent, (√(D₁₁D₂₂) − D₁₂)/2 with D₁₁ = bend_warp/(1 − poisson²), D₂₂ =
///         bend_weft/(1 − poisson²) and D₁₂ = poisson·√(D₁₁D₂₂).
///     stretch_damping (float): Kelvin-Voigt time of stretch, in s: viscosity = damping · modulus.
///     shear_damping (float): Kelvin-Voigt time of shear, in s.
///     bend_damping (float): Kelvin-Voigt time of bending, in s.
///     air_drag (float): Aerodynamic coefficient of the flow across the cloth.
///     air_lift (float): Aerodynamic coefficient of the flow along the cloth.
///     friction (float): Coulomb coefficient of friction.
///     thickness (float): Contact thickness, in m: the gap that the cloth keeps on its side.
///     stretch_warp_curve (dict | sequence | None): Measured curve of a strip along the warp in
///         place of stretch_warp: {"load": points, "unload": points}, each point a strain and a
///         stress in N/m, or one list of points that is followed up and down alike. The strain
///         grows along "load" and falls along "unload"; between them it changes with the modulus,
///         or with the steepest slope of the curve where that is more. "virgin": points that are
///         followed beyond the largest and the smallest strain so far; beside it "cycles": dicts of
///         "load" and "unload" in place of the outer ones while no strain has been beyond
///         "largest" and "smallest", the widest last. Strain is ½(λ² − 1) for a stretch λ, stress
///         the force per width over λ.
///     stretch_weft_curve (dict | sequence | None): The same along the weft.
///     shear_curve (dict | sequence | None): The same for shear: stress in N/m over γ = ⟨s_u, s_v⟩.
///     bend_warp_curve (dict | sequence | None): The same for bending a strip along the warp:
///         moment per width in N over curvature in 1/m.
///     bend_weft_curve (dict | sequence | None): The same along the weft.
///     quality (dict | None): {"q": Q, "low": Hz, "high": Hz}: the part 2π/Q of the energy of every
///         cycle is lost between two frequencies, from stretch, shear and bending alike. Moduli are
///         then those of slow changes. Q is 1 or more, high at most 1000 · low.
///
/// Strain and stress of stretch are those of the model: all but "fem" measure λ − 1 and the force
/// per width. Curves of bending need a model with curvatures, "fem", "particles", "baraff_witkin"
/// or "choi_ko"; a simulation with another refuses them by name.
///
/// Raises:
///     TypeError: A field that does not exist, or a value that is no number.
///     ValueError: A value that is not finite or out of range.
#[pyclass(name = "Material", module = "weft", frozen, eq)]
#[derive(PartialEq)]
pub(super) struct PyMaterial(pub(super) Material);

#[pymethods]
impl PyMaterial {
    #[new]
    #[pyo3(
        signature = (**fields),
        text_signature = "(*, density=..., stretch_warp=..., stretch_weft=..., shear=..., poisson=..., \
            bend_warp=..., bend_weft=..., bend_twist=None, stretch_damping=..., shear_damping=..., \
            bend_damping=..., air_drag=..., air_lift=..., friction=..., thickness=..., \
            stretch_warp_curve=None, stretch_weft_curve=None, shear_curve=None, \
            bend_warp_curve=None, bend_weft_curve=None, quality=None)"
    )]
    fn new(fields: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        with_fields(Material::default(), fields)
    }

    /// A fabric by name; weft.preset_names() lists them.
    ///
    /// Args:
    ///     name (str): Name of the preset.
    ///
    /// Raises:
    ///     ValueError: There is no such preset.
    #[staticmethod]
    fn preset(name: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(Material::preset(&text("name", name)?)?))
    }

    /// A fabric from the fields that to_dict gives.
    ///
    /// Args:
    ///     d (dict[str, Any]): Fields by name, as in the constructor.
    #[staticmethod]
    fn from_dict(d: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::new(Some(&dictionary("d", d)?))
    }

    /// All fields by name; bend_twist is None where it follows from the others, curves and
    /// quality are left out where there are none.
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let fields = fields_of(slf.as_any(), &FIELDS)?;
        for name in OPTIONS {
            let value = slf.getattr(name)?;
            if !value.is_none() {
                fields.set_item(name, value)?;
            }
        }
        Ok(fields)
    }

    /// The same fabric with some fields changed.
    ///
    /// Args:
    ///     **fields (Any): The new values, as in the constructor.
    #[pyo3(signature = (**fields))]
    fn replace(&self, fields: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        with_fields(self.0.clone(), fields)
    }

    /// Areal density, in kg/m².
    #[getter]
    fn density(&self) -> f64 {
        self.0.density
    }

    /// Membrane modulus E·h along the warp, in N/m.
    #[getter]
    fn stretch_warp(&self) -> f64 {
        self.0.stretch_warp
    }

    /// Membrane modulus E·h along the weft, in N/m.
    #[getter]
    fn stretch_weft(&self) -> f64 {
        self.0.stretch_weft
    }

    /// In-plane shear modulus G·h, in N/m.
    #[getter]
    fn shear(&self) -> f64 {
        self.0.shear
    }

    /// Transverse contraction from warp to weft.
    #[getter]
    fn poisson(&self) -> f64 {
        self.0.poisson
    }

    /// Bending rigidity per unit width of a strip cut along the warp, in N·m.
    #[getter]
    fn bend_warp(&self) -> f64 {
        self.0.bend_warp
    }

    /// Bending rigidity per unit width of a strip cut along the weft, in N·m.
    #[getter]
    fn bend_weft(&self) -> f64 {
        self.0.bend_weft
    }

    /// Twisting rigidity, in N·m; None where it is the isotropic equivalent.
    #[getter]
    fn bend_twist(&self) -> Option<f64> {
        self.0.bend_twist
    }

    /// Kelvin-Voigt time of stretch, in s.
    #[getter]
    fn stretch_damping(&self) -> f64 {
        self.0.stretch_damping
    }

    /// Kelvin-Voigt time of shear, in s.
    #[getter]
    fn shear_damping(&self) -> f64 {
        self.0.shear_damping
    }

    /// Kelvin-Voigt time of bending, in s.
    #[getter]
    fn bend_damping(&self) -> f64 {
        self.0.bend_damping
    }

    /// Aerodynamic coefficient of the flow across the cloth.
    #[getter]
    fn air_drag(&self) -> f64 {
        self.0.air_drag
    }

    /// Aerodynamic coefficient of the flow along the cloth.
    #[getter]
    fn air_lift(&self) -> f64 {
        self.0.air_lift
    }

    /// Coulomb coefficient of friction.
    #[getter]
    fn friction(&self) -> f64 {
        self.0.friction
    }

    /// Contact thickness, in m.
    #[getter]
    fn thickness(&self) -> f64 {
        self.0.thickness
    }

    /// Measured curve of a strip along the warp; None where there is none.
    #[getter]
    fn stretch_warp_curve<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        curve_dict(py, self.0.curves.stretch_warp.as_ref())
    }

    /// Measured curve of a strip along the weft; None where there is none.
    #[getter]
    fn stretch_weft_curve<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        curve_dict(py, self.0.curves.stretch_weft.as_ref())
    }

    /// Measured curve of shear; None where there is none.
    #[getter]
    fn shear_curve<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        curve_dict(py, self.0.curves.shear.as_ref())
    }

    /// Measured curve of bending a strip along the warp; None where there is none.
    #[getter]
    fn bend_warp_curve<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        curve_dict(py, self.0.curves.bend_warp.as_ref())
    }

    /// Measured curve of bending a strip along the weft; None where there is none.
    #[getter]
    fn bend_weft_curve<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        curve_dict(py, self.0.curves.bend_weft.as_ref())
    }

    /// Loss of energy in every cycle; None where there is none.
    #[getter]
    fn quality<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        quality_dict(py, self.0.quality)
    }

    fn __getnewargs_ex__<'py>(slf: &Bound<'py, Self>) -> PyResult<((), Bound<'py, PyDict>)> {
        Ok(((), Self::to_dict(slf)?))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        constructor("Material", &Self::to_dict(slf)?)
    }
}

fn with_fields(mut material: Material, fields: Option<&Bound<'_, PyDict>>) -> PyResult<PyMaterial> {
    let known = [FIELDS.as_slice(), OPTIONS.as_slice()].concat();
    set_fields("Material", fields, &known, |name, value| {
        if name == "bend_twist" {
            material.bend_twist = if value.is_none() { None } else { Some(number(name, value)?) };
            return Ok(true);
        }
        if name == "quality" {
            material.quality = quality(name, value)?;
            return Ok(true);
        }
        if let Some(place) = material.curves.get_mut(name) {
            *place = curve(name, value)?;
            return Ok(true);
        }
        let Some(field) = field_mut(&mut material, name) else { return Ok(false) };
        *field = number(name, value)?;
        Ok(true)
    })?;
    Ok(PyMaterial(material.checked()?))
}

fn field_mut<'material>(
    material: &'material mut Material,
    name: &str,
) -> Option<&'material mut f64> {
    Some(match name {
        "density" => &mut material.density,
        "stretch_warp" => &mut material.stretch_warp,
        "stretch_weft" => &mut material.stretch_weft,
        "shear" => &mut material.shear,
        "poisson" => &mut material.poisson,
        "bend_warp" => &mut material.bend_warp,
        "bend_weft" => &mut material.bend_weft,
        "stretch_damping" => &mut material.stretch_damping,
        "shear_damping" => &mut material.shear_damping,
        "bend_damping" => &mut material.bend_damping,
        "air_drag" => &mut material.air_drag,
        "air_lift" => &mut material.air_lift,
        "friction" => &mut material.friction,
        "thickness" => &mut material.thickness,
        _ => return None,
    })
}
