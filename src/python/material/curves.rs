// SPDX-License-Identifier: MIT OR Apache-2.0
//! Curves and quality of a material, as Python writes them.

use crate::{
    error::Error,
    material::{ConstantQ, CurvePoint, Hysteresis, HysteresisCycle},
    python::{
        errors::{caused_by, type_error},
        scalars::{dictionary, number, text, type_name},
    },
};
use pyo3::{
    prelude::*,
    types::{PyDict, PyString},
};

/// A list of points, or a dict of branches; `None` is no curve.
pub(super) fn curve(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Option<Hysteresis>> {
    if given.is_none() {
        return Ok(None);
    }
    if !given.is_instance_of::<PyDict>() {
        return Ok(Some(Hysteresis::elastic(points(argument, given)?)));
    }
    let given = dictionary(argument, given)?;
    known_keys(argument, &given, &["load", "unload", "virgin", "cycles"])?;
    let virgin = match optional(&given, "virgin")? {
        Some(virgin) => Some(points(&format!("{argument}.virgin"), &virgin)?),
        None => None,
    };
    let mut cycles = Vec::new();
    if let Some(list) = optional(&given, "cycles")? {
        let name = format!("{argument}.cycles");
        let refused = || type_error(Error::value(&name, type_name(&list), "a sequence of dicts"));
        let members = list.try_iter().map_err(|cause| caused_by(refused(), cause, list.py()))?;
        for (index, member) in members.enumerate() {
            cycles.push(cycle(&format!("{argument}.cycles[{index}]"), &member?)?);
        }
    }
    let [load, unload] = branches(argument, &given)?;
    Ok(Some(Hysteresis { load, unload, virgin, cycles }))
}

fn cycle(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<HysteresisCycle> {
    let given = dictionary(argument, given)?;
    known_keys(argument, &given, &["load", "unload", "largest", "smallest"])?;
    let bound = |name: &str| match optional(&given, name)? {
        Some(bound) => number(&format!("{argument}.{name}"), &bound).map(Some),
        None => Ok(None),
    };
    let [load, unload] = branches(argument, &given)?;
    Ok(HysteresisCycle { largest: bound("largest")?, smallest: bound("smallest")?, load, unload })
}

fn branches(argument: &str, given: &Bound<'_, PyDict>) -> PyResult<[Vec<CurvePoint>; 2]> {
    let branch = |name: &str| points(&format!("{argument}.{name}"), &entry(argument, given, name)?);
    Ok([branch("load")?, branch("unload")?])
}

/// An entry of a dict unless it is missing or `None`.
fn optional<'py>(given: &Bound<'py, PyDict>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(given.get_item(key)?.filter(|value| !value.is_none()))
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

/// A curve as a dict of lists.
pub(super) fn curve_dict<'py>(
    py: Python<'py>,
    curve: Option<&Hysteresis>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(curve) = curve else { return Ok(None) };
    let dict = branches_dict(py, &curve.load, &curve.unload)?;
    if let Some(virgin) = &curve.virgin {
        dict.set_item("virgin", lists(virgin))?;
    }
    let mut cycles = Vec::new();
    for cycle in &curve.cycles {
        let branches = branches_dict(py, &cycle.load, &cycle.unload)?;
        for (name, bound) in [("largest", cycle.largest), ("smallest", cycle.smallest)] {
            if let Some(bound) = bound {
                branches.set_item(name, bound)?;
            }
        }
        cycles.push(branches);
    }
    if !cycles.is_empty() {
        dict.set_item("cycles", cycles)?;
    }
    Ok(Some(dict))
}

fn branches_dict<'py>(
    py: Python<'py>,
    load: &[CurvePoint],
    unload: &[CurvePoint],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("load", lists(load))?;
    dict.set_item("unload", lists(unload))?;
    Ok(dict)
}

fn lists(points: &[CurvePoint]) -> Vec<Vec<f64>> {
    points.iter().map(|point| point.to_vec()).collect()
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
