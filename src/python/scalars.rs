// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversion of single arguments; each error names the argument, the value found and the value expected.

use super::errors::{caused_by, type_error};
use crate::error::Error;
use pyo3::{
    PyClass,
    exceptions::PyOverflowError,
    prelude::*,
    pybacked::PyBackedBytes,
    types::{PyBool, PyDict},
};

/// Expected value of an index, for error messages.
pub(super) const NOT_NEGATIVE: &str = "an integer, 0 or more, of 64 bits";
/// Largest length of a value in an error message, in characters.
const MAX_SHOWN_LENGTH: usize = 60;

/// A number, finite or not; the core checks the range.
pub(super) fn number(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<f64> {
    let wanted = "a number";
    if given.is_instance_of::<PyBool>() {
        return Err(type_error(Error::value(argument, type_name(given), wanted)));
    }
    given.extract().map_err(|cause: PyErr| {
        let py = given.py();
        if cause.is_instance_of::<PyOverflowError>(py) {
            return Error::value(argument, shortened_repr(given), "a number of float64").into();
        }
        caused_by(type_error(Error::value(argument, type_name(given), wanted)), cause, py)
    })
}

/// Bytes.
pub(super) fn bytes(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<PyBackedBytes> {
    let refused = |_| type_error(Error::value(argument, type_name(given), "bytes"));
    given.extract().map_err(refused)
}

/// A whole number, 0 or more.
pub(super) fn index(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<usize> {
    whole(given, |found, wanted| Error::value(argument, found, wanted))
}

/// A whole number, 0 or more; `refused(found, expected)` makes the error.
pub(super) fn whole(
    given: &Bound<'_, PyAny>,
    refused: impl Fn(String, &str) -> Error,
) -> PyResult<usize> {
    if given.is_instance_of::<PyBool>() {
        return Err(type_error(refused(type_name(given), "an integer")));
    }
    given.extract().map_err(|cause: PyErr| {
        if cause.is_instance_of::<PyOverflowError>(given.py()) {
            return refused(shortened_repr(given), NOT_NEGATIVE).into();
        }
        caused_by(type_error(refused(type_name(given), "an integer")), cause, given.py())
    })
}

/// True or False.
pub(super) fn flag(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<bool> {
    let refused = |_| type_error(Error::value(argument, type_name(given), "True or False"));
    given.extract().map_err(refused)
}

/// A text.
pub(super) fn text(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<String> {
    let refused = |_| type_error(Error::value(argument, type_name(given), "str"));
    given.extract().map_err(refused)
}

/// A dict.
pub(super) fn dictionary<'py>(
    argument: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let refused = |_| type_error(Error::value(argument, type_name(given), "dict"));
    given.cast().cloned().map_err(refused)
}

/// One of this module's own objects.
pub(super) fn instance<'py, Class: PyClass>(
    argument: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, Class>> {
    given.cast::<Class>().cloned().map_err(|_| {
        let wanted = format!("weft.{}", Class::NAME);
        type_error(Error::value(argument, type_name(given), wanted))
    })
}

/// Several of this module's own objects.
pub(super) fn instances<Class: PyClass>(
    argument: &'static str,
    given: &Bound<'_, PyAny>,
) -> PyResult<Vec<Py<Class>>> {
    let wanted = format!("a sequence of weft.{}", Class::NAME);
    let members = given.try_iter().map_err(|cause| {
        let error = type_error(Error::value(argument, type_name(given), &wanted));
        caused_by(error, cause, given.py())
    })?;
    let take = |(position, member): (usize, PyResult<Bound<'_, PyAny>>)| {
        let member = member?;
        member.cast::<Class>().map(|member| member.clone().unbind()).map_err(|_| {
            let wanted = format!("weft.{}", Class::NAME);
            let found = type_name(&member);
            type_error(Error::element(argument, "entry", position, found, wanted))
        })
    };
    members.enumerate().map(take).collect()
}

/// Calls `set` with every keyword; it returns whether `class` has such a field.
pub(super) fn set_fields(
    class: &str,
    fields: Option<&Bound<'_, PyDict>>,
    known: &[&str],
    mut set: impl FnMut(&str, &Bound<'_, PyAny>) -> PyResult<bool>,
) -> PyResult<()> {
    for (name, value) in fields.into_iter().flatten() {
        let name = text("name of a field", &name)?;
        if !set(&name, &value)? {
            let wanted = format!("one of {}", known.join(", "));
            return Err(type_error(Error::value(class, format!("no field {name}"), wanted)));
        }
    }
    Ok(())
}

/// The attributes of an object by name.
pub(super) fn fields_of<'py>(
    object: &Bound<'py, PyAny>,
    names: &[&str],
) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(object.py());
    for name in names {
        fields.set_item(name, object.getattr(*name)?)?;
    }
    Ok(fields)
}

/// Constructor call of an object with these fields.
pub(super) fn constructor(class: &str, fields: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut parts = Vec::new();
    for (name, value) in fields {
        parts.push(format!("{name}={}", value.repr()?));
    }
    Ok(format!("{class}({})", parts.join(", ")))
}

/// Name of the type of an argument.
pub(super) fn type_name(given: &Bound<'_, PyAny>) -> String {
    given.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string())
}

/// The `repr` of an argument, or its type if that is long or fails.
fn shortened_repr(given: &Bound<'_, PyAny>) -> String {
    match given.repr().map(|text| text.to_string()) {
        Ok(text) if text.len() <= MAX_SHOWN_LENGTH => text,
        _ => format!("an {} of many digits", type_name(given)),
    }
}
