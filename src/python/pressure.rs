// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pressure inside a cloth from the arguments of `weft.Simulation.set_pressure`.

use super::{arrays::numbers, scalars::number};
use crate::forces::PressureLaw;
use pyo3::prelude::*;

/// Law of a pressure; `None` where there is none at any volume.
pub(super) fn law(
    pressure: &Bound<'_, PyAny>,
    stiffness: Option<&Bound<'_, PyAny>>,
    volume: Option<&Bound<'_, PyAny>>,
    fluid_density: Option<&Bound<'_, PyAny>>,
    weights: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<PressureLaw>> {
    let optional = |name: &str, value: Option<&Bound<'_, PyAny>>| -> PyResult<f64> {
        value.map_or(Ok(0.0), |value| number(name, value))
    };
    let law = PressureLaw {
        pressure: number("pressure", pressure)?,
        stiffness: optional("stiffness", stiffness)?,
        volume: optional("volume", volume)?,
        fluid_density: optional("fluid_density", fluid_density)?,
        weights: weights.map_or(Ok(Vec::new()), |weights| numbers("weights", weights))?,
    };
    let is_absent =
        [law.pressure, law.stiffness, law.fluid_density].iter().all(|value| *value == 0.0);
    Ok((!is_absent).then_some(law))
}
