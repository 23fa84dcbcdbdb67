// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of the core and panics become Python exceptions in this file only.

use crate::error::Error;
use pyo3::{
    create_exception,
    exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError},
    prelude::*,
};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

create_exception!(
    weft,
    NotFiniteError,
    PyRuntimeError,
    "A position, velocity or force stopped being a number, or a vertex was thrown away; the\n\
     state before that step is kept."
);

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Value { .. }
            | Error::Unknown { .. }
            | Error::Checkpoint { .. }
            | Error::Pattern { .. } => PyValueError::new_err(message),
            Error::NotFinite { .. } => NotFiniteError::new_err(message),
            Error::File { .. } => PyOSError::new_err(message),
            Error::System { .. } => PyRuntimeError::new_err(message),
        }
    }
}

/// Error as a `TypeError`: the argument has a wrong type.
pub(super) fn type_error(error: Error) -> PyErr {
    PyTypeError::new_err(error.to_string())
}

/// Adds the exception of Python or NumPy as the cause.
pub(super) fn caused_by(error: PyErr, cause: PyErr, py: Python<'_>) -> PyErr {
    error.set_cause(py, Some(cause));
    error
}

/// Turns a panic, which is a bug in this library, into a `RuntimeError`.
pub(super) fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = format!("internal error, please report it: {}", message(panic.as_ref()));
        Err(PyRuntimeError::new_err(message))
    })
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
