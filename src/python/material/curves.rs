// SPDX-License-Identifier: MIT OR Apache-2.0
//! Curves and quality of a material, as Python writes them.

use crate::{
    error::Error,
    material::{ConstantQ, CurvePoint, Hysteresis},
    python::{
        errors::{caused_by, type_error},
        scalars::{dictionary, number, text, type_name},
    },
};
use pyo3::{
    prelude::*,
    types::{PyDict, PyString},
};

/// A list of points, or a dict of two; `None` is no curve.
pub(super) fn curve(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Option<Hysteresis>> {
    if given.is_none() {
        return Ok(None);
    }
    if !given.is_instance_of::<PyDict>() {
        return Ok(Some(Hysteresis::elastic(points(argument, given)?)));
    }
    let given = dictionary(argument, given)?;
    known_keys(argument, &given, &["load", "unload"])?;
    let branch =
        |name: &str| points(&format!("{argument}.{name}"), &entry(argument, &given, name)?);
    Ok(Some(Hysteresis { load: branch("load")?, unload: branch("unload")? }))
}

/// A dict of three numbers; `None` is no quality.
pub(super) fn quality(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Option<ConstantQ>> {
    if given.is_none() {
        return Ok(None);
    }
    let given = dictionary(argument, given)?;
    known_keys(argument, &given, &["q", "low", "high"])?;
    let part = |name: &str| number(&format!("{argument}.{name}"), &entry(argument, &given, name)?);
    Ok(Some(ConstantQ { q: part("q")?, low: part("low")?, high: part("high")? }))
}

/// A curve as a dict of two lists.
pub(super) fn curve_dict<'py>(
    py: Python<'py>,
    curve: Option<&Hysteresis>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(curve) = curve else { return Ok(None) };
    let dict = PyDict::new(py);
    for (name, points) in [("load", &curve.load), ("unload", &curve.unload)] {
        dict.set_item(name, points.iter().map(|point| point.to_vec()).collect::<Vec<_>>())?;
    }
    Ok(Some(dict))
}

/// Quality as a dict of three numbers.
pub(super) fn quality_dict(
    py: Python<'_>,
    quality: Option<ConstantQ>,
) -> PyResult<Option<Bound<'_, PyDict>>> {
    let Some(ConstantQ { q, low, high }) = quality else { return Ok(None) };
    let dict = PyDict::new(py);
    for (name, value) in [("q", q), ("low", low), ("high", high)] {
        dict.set_item(name, value)?;
    }
    Ok(Some(dict))
}

fn known_keys(argument: &str, given: &Bound<'_, PyDict>, known: &[&str]) -> PyResult<()> {
    for key in given.keys() {
        let key = text(argument, &key)?;
        if !known.contains(&key.as_str()) {
            let wanted = format!("the keys {}", known.join(", "));
            return Err(Error::value(argument, format!("key {key}"), wanted).into());
        }
    }
    Ok(())
}

fn entry<'py>(
    argument: &str,
    given: &Bound<'py, PyDict>,
    key: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let missing = || Error::value(argument, format!("no {key}"), format!("a dict with {key}"));
    Ok(given.get_item(key)?.ok_or_else(missing)?)
}

fn points(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<CurvePoint>> {
    let refused =
        || type_error(Error::value(argument, type_name(given), "a sequence of (strain, stress)"));
    if given.is_instance_of::<PyString>() {
        return Err(refused());
    }
    let members = given.try_iter().map_err(|cause| caused_by(refused(), cause, given.py()))?;
    let mut points = Vec::new();
    for (index, member) in members.enumerate() {
        let member = member?;
        let refused = || {
            let found = type_name(&member);
            Error::element(argument, "point", index, found, "two numbers, (strain, stress)")
        };
        let parts = member.try_iter().map_err(|_| type_error(refused()))?;
        let parts = parts.collect::<PyResult<Vec<_>>>()?;
        let [strain, stress] = parts.as_slice() else { return Err(refused().into()) };
        points.push([number(argument, strain)?, number(argument, stress)?]);
    }
    Ok(points)
}
