// SPDX-License-Identifier: MIT OR Apache-2.0
//! NumPy in and out: the only file that knows dtypes, shapes and strides.
//!
//! Everything is copied, so that no other thread can change it under a computation.

use super::{
    errors::{caused_by, type_error},
    scalars::{NOT_NEGATIVE, type_name, whole},
};
use crate::{error::Error, vec3::Vec3};
use numpy::{
    Element, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods,
    PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::{prelude::*, types::PyIterator};

/// Faces of a mesh.
pub(super) const FACES: FaceKind = FaceKind {
    argument: "faces",
    element: "face",
    widths: &[3, 4],
    wanted: "integers, shape (m, 3) or (m, 4), or a sequence of sequences of vertex indices",
};

/// Input polygons: corner counts, and all corners in one list.
pub(super) struct FaceCorners {
    pub(super) counts: Vec<usize>,
    pub(super) corners: Vec<usize>,
}

/// An array argument, for error messages.
#[derive(Clone, Copy)]
struct ExpectedArray<'text> {
    argument: &'text str,
    /// Expected elements and shape, for error messages.
    text: &'text str,
    /// Its shape; `None` is any number.
    shape: &'text [Option<usize>],
}

impl ExpectedArray<'_> {
    fn check_shape(&self, array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
        let found = array.shape();
        let is_wanted =
            |(found, wanted): (&usize, &Option<usize>)| wanted.is_none_or(|w| w == *found);
        if found.len() == self.shape.len() && found.iter().zip(self.shape).all(is_wanted) {
            return Ok(());
        }
        let found = format!("shape {}", array.getattr("shape")?);
        Err(Error::value(self.argument, found, self.text).into())
    }

    fn wrong_kind(&self, found: String) -> PyErr {
        type_error(Error::value(self.argument, found, self.text))
    }
}

/// A polygon argument, for error messages.
#[derive(Clone, Copy)]
pub(super) struct FaceKind {
    /// Name of the argument.
    pub(super) argument: &'static str,
    /// Name of one of its faces.
    pub(super) element: &'static str,
    /// Corners that the faces of an array may have.
    pub(super) widths: &'static [usize],
    /// Expected argument, for error messages.
    pub(super) wanted: &'static str,
}

impl FaceKind {
    pub(super) fn refused(self, face: usize, found: String, wanted: &str) -> Error {
        Error::element(self.argument, self.element, face, found, wanted)
    }
}

/// Points or vectors, shape `(n, 3)`.
pub(super) fn points(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<Vec3>> {
    Ok(rows::<3>(argument, given)?.into_iter().map(Vec3::from).collect())
}

/// Rows of `WIDTH` numbers, shape `(n, WIDTH)`.
pub(super) fn rows<const WIDTH: usize>(
    argument: &str,
    given: &Bound<'_, PyAny>,
) -> PyResult<Vec<[f64; WIDTH]>> {
    let text = format!("float64 or float32, shape (n, {WIDTH})");
    let wanted = ExpectedArray { argument, text: &text, shape: &[None, Some(WIDTH)] };
    Ok(floats(wanted, given)?.as_chunks::<WIDTH>().0.to_vec())
}

/// One vector, shape `(3,)`.
pub(super) fn vector(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec3> {
    let text = "float64 or float32, shape (3,)";
    let values = floats(ExpectedArray { argument, text, shape: &[Some(3)] }, given)?;
    Ok(Vec3::new(values[0], values[1], values[2]))
}

/// Numbers, shape `(n,)`.
pub(super) fn numbers(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let text = "float64 or float32, shape (n,)";
    floats(ExpectedArray { argument, text, shape: &[None] }, given)
}

/// Indices, shape `(k,)`, or a sequence of them.
pub(super) fn indices(argument: &'static str, given: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let refused = |entry: usize, found: String, wanted: &str| {
        Error::element(argument, "entry", entry, found, wanted)
    };
    let wanted = ExpectedArray { argument, text: "integers, shape (k,)", shape: &[None] };
    if let Ok(array) = given.cast::<PyUntypedArray>() {
        check_integers(wanted, array)?;
        wanted.check_shape(array)?;
        return integers(array, refused);
    }
    let members = sequence_items(given, |found| wanted.wrong_kind(found))?;
    let take = |(entry, member): (usize, PyResult<Bound<'_, PyAny>>)| {
        whole(&member?, |found, wanted| refused(entry, found, wanted))
    };
    members.enumerate().map(take).collect()
}

/// Faces, as an array with one face a row or as a sequence of sequences of indices.
pub(super) fn read_faces(kind: FaceKind, given: &Bound<'_, PyAny>) -> PyResult<FaceCorners> {
    match given.cast::<PyUntypedArray>() {
        Ok(array) => face_rows(kind, array),
        Err(_) => face_sequences(kind, given),
    }
}

const TRIANGLES: FaceKind = FaceKind {
    argument: "triangles",
    element: "triangle",
    widths: &[3],
    wanted: "integers, shape (m, 3), or a sequence of sequences of three vertex indices",
};

/// Triangles, as [`read_faces`] reads them.
pub(super) fn read_triangles(given: &Bound<'_, PyAny>) -> PyResult<Vec<[usize; 3]>> {
    let read = read_faces(TRIANGLES, given)?;
    if let Some(triangle) = read.counts.iter().position(|count| *count != 3) {
        let found = format!("{} corners", read.counts[triangle]);
        return Err(TRIANGLES.refused(triangle, found, "three corners").into());
    }
    Ok(read.corners.as_chunks::<3>().0.to_vec())
}

fn face_rows(kind: FaceKind, array: &Bound<'_, PyUntypedArray>) -> PyResult<FaceCorners> {
    let known = kind.widths.iter().find(|width| array.shape().last() == Some(width));
    let width = known.copied().unwrap_or(kind.widths[0]);
    let shape = [None, Some(width)];
    let wanted = ExpectedArray { argument: kind.argument, text: kind.wanted, shape: &shape };
    check_integers(wanted, array)?;
    wanted.check_shape(array)?;
    let corners = integers(array, |index, found, wanted| {
        kind.refused(index / width, format!("corner {}: {found}", index % width), wanted)
    })?;
    Ok(FaceCorners { counts: vec![width; array.shape()[0]], corners })
}

fn face_sequences(kind: FaceKind, given: &Bound<'_, PyAny>) -> PyResult<FaceCorners> {
    let (mut counts, mut corners) = (Vec::new(), Vec::new());
    let refused = |found| type_error(Error::value(kind.argument, found, kind.wanted));
    for (face, member) in sequence_items(given, refused)?.enumerate() {
        let wanted = "a sequence of vertex indices";
        let vertices =
            sequence_items(&member?, |found| type_error(kind.refused(face, found, wanted)))?;
        let before = corners.len();
        for (corner, vertex) in vertices.enumerate() {
            corners.push(whole(&vertex?, |found, wanted| {
                kind.refused(face, format!("corner {corner}: {found}"), wanted)
            })?);
        }
        counts.push(corners.len() - before);
    }
    Ok(FaceCorners { counts, corners })
}

/// Points or vectors as a new array, float64 of shape `(n, 3)`.
pub(super) fn to_array<'py>(
    py: Python<'py>,
    points: &[Vec3],
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let array = PyArray2::zeros(py, [points.len(), 3], false);
    let mut filled = array.try_readwrite()?;
    for (row, point) in filled.as_slice_mut()?.as_chunks_mut::<3>().0.iter_mut().zip(points) {
        *row = (*point).into();
    }
    Ok(array)
}

/// Rows of indices, such as triangles, as a new array, int64 of shape `(m, WIDTH)`.
pub(super) fn to_index_array<'py, const WIDTH: usize>(
    py: Python<'py>,
    rows: &[[u32; WIDTH]],
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let array = PyArray2::zeros(py, [rows.len(), WIDTH], false);
    let mut filled = array.try_readwrite()?;
    for (row, indices) in filled.as_slice_mut()?.as_chunks_mut::<WIDTH>().0.iter_mut().zip(rows) {
        *row = indices.map(i64::from);
    }
    Ok(array)
}

/// Indices as a new array, int64 of shape `(k,)`.
pub(super) fn to_index_list<'py>(py: Python<'py>, indices: &[u32]) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_iter(py, indices.iter().copied().map(i64::from))
}

/// Rows of numbers, such as points of a plane, as a new array, float64 of shape `(n, WIDTH)`.
pub(super) fn to_number_rows<'py, const WIDTH: usize>(
    py: Python<'py>,
    rows: &[[f64; WIDTH]],
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let array = PyArray2::zeros(py, [rows.len(), WIDTH], false);
    let mut filled = array.try_readwrite()?;
    filled.as_slice_mut()?.as_chunks_mut::<WIDTH>().0.copy_from_slice(rows);
    Ok(array)
}

/// Members of a sequence; `refused` makes the error of an argument of another type.
fn sequence_items<'py>(
    given: &Bound<'py, PyAny>,
    refused: impl FnOnce(String) -> PyErr,
) -> PyResult<Bound<'py, PyIterator>> {
    given.try_iter().map_err(|cause| caused_by(refused(type_name(given)), cause, given.py()))
}

/// Numbers of an array of float64 or float32, or of anything else that NumPy makes an array of numbers
/// from.
fn floats(wanted: ExpectedArray<'_>, given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let (array, is_converted) = match given.cast::<PyUntypedArray>() {
        Ok(array) => (array.clone(), false),
        Err(_) => (converted(wanted, given)?, true),
    };
    let dtype = array.dtype();
    match (dtype.kind(), dtype.itemsize()) {
        (b'f', 4 | 8) => {}
        (b'i' | b'u', _) if is_converted => {}
        _ if is_converted => {
            return Err(wanted.wrong_kind(format!("{} of dtype {dtype}", type_name(given))));
        }
        _ => return Err(wanted.wrong_kind(format!("dtype {dtype}"))),
    }
    wanted.check_shape(&array)?;
    Ok(contiguous::<f64>(&array)?.as_slice()?.to_vec())
}

fn converted<'py>(
    wanted: ExpectedArray<'_>,
    given: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = given.py();
    let array = py.import("numpy")?.call_method1("asarray", (given,)).map_err(|cause| {
        let found = format!("{} that is no regular array", type_name(given));
        caused_by(wanted.wrong_kind(found), cause, py)
    })?;
    Ok(array.cast_into()?)
}

fn check_integers(wanted: ExpectedArray<'_>, array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    match array.dtype().kind() {
        b'i' | b'u' => Ok(()),
        _ => Err(wanted.wrong_kind(format!("dtype {}", array.dtype()))),
    }
}

/// Indices of an array of integers; `refused(index, found, expected)` makes the error.
fn integers(
    array: &Bound<'_, PyUntypedArray>,
    refused: impl Fn(usize, String, &str) -> Error,
) -> PyResult<Vec<usize>> {
    if array.dtype().kind() == b'u' {
        Ok(not_negative(contiguous::<u64>(array)?.as_slice()?, refused)?)
    } else {
        Ok(not_negative(contiguous::<i64>(array)?.as_slice()?, refused)?)
    }
}

fn not_negative<Integer: Copy + ToString + TryInto<usize>>(
    values: &[Integer],
    refused: impl Fn(usize, String, &str) -> Error,
) -> crate::error::Result<Vec<usize>> {
    let check = |(place, value): (usize, &Integer)| {
        (*value).try_into().map_err(|_| refused(place, value.to_string(), NOT_NEGATIVE))
    };
    values.iter().enumerate().map(check).collect()
}

/// The array itself, or a copy where its dtype, byte order, strides or alignment are others.
fn contiguous<'py, T: Element>(
    array: &Bound<'py, PyUntypedArray>,
) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    let py = array.py();
    let require = py.import("numpy")?.getattr("require")?;
    let plain = require.call1((array, numpy::dtype::<T>(py), ["C", "A"]))?;
    Ok(plain.cast_into::<PyArrayDyn<T>>()?.try_readonly()?)
}
