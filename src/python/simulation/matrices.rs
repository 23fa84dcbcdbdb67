// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sparse matrices as arrays for SciPy.

use crate::{python::arrays::to_array, system::LinearisedMatrices};
use numpy::PyArray1;
use pyo3::{prelude::*, types::PyDict};
use sprs::CsMatI;

/// Matrices by name.
pub(super) fn to_dict<'py>(
    py: Python<'py>,
    matrices: &LinearisedMatrices,
) -> PyResult<Bound<'py, PyDict>> {
    let named = PyDict::new(py);
    let LinearisedMatrices { stiffness, damping, system, .. } = matrices;
    for (name, matrix) in [("stiffness", stiffness), ("damping", damping), ("system", system)] {
        named.set_item(name, compressed_rows(py, matrix))?;
    }
    named.set_item("masses", PyArray1::from_slice(py, &matrices.masses))?;
    named.set_item("rest_positions", to_array(py, &matrices.rest_positions)?)?;
    named.set_item("positions", to_array(py, &matrices.positions)?)?;
    Ok(named)
}

/// Values, columns and row starts of a matrix.
type CompressedRows<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

fn compressed_rows<'py>(py: Python<'py>, matrix: &CsMatI<f64, i64>) -> CompressedRows<'py> {
    let starts = matrix.indptr();
    (
        PyArray1::from_slice(py, matrix.data()),
        PyArray1::from_slice(py, matrix.indices()),
        PyArray1::from_slice(py, starts.raw_storage()),
    )
}
