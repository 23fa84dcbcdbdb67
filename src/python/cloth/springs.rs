// SPDX-License-Identifier: MIT OR Apache-2.0
//! Springs of a cloth from the arguments of `weft.Cloth` and of `weft.Simulation.set_springs`.

use super::{OptionalArgument, read_pairs};
use crate::{
    error::Error,
    python::{
        arrays::{FaceKind, numbers},
        scalars::number,
    },
    scene::Springs,
};
use pyo3::{prelude::*, types::PyFloat};

const SPRINGS: FaceKind = FaceKind {
    argument: "springs",
    element: "spring",
    widths: &[2],
    wanted: "integers, shape (k, 2), or a sequence of pairs of vertex indices",
};

/// Arguments of springs.
const NAMES: [&str; 4] =
    ["spring_stiffness", "spring_compression", "spring_damping", "spring_lengths"];

/// Springs of a cloth with so many vertices; `values` are their stiffness, compression, damping and lengths.
pub(in crate::python) fn given_springs(
    pairs: OptionalArgument<'_, '_>,
    values: [OptionalArgument<'_, '_>; 4],
    vertex_count: usize,
) -> PyResult<Option<Springs>> {
    let Some(pairs) = pairs else {
        let stray = values.iter().position(Option::is_some);
        return stray.map_or(Ok(None), |place| {
            Err(Error::value(NAMES[place], "no springs", "springs as well").into())
        });
    };
    let pairs = read_pairs(SPRINGS, pairs, vertex_count)?;
    let count = pairs.len();
    let read = |place: usize| {
        values[place].map(|given| number_for_each(NAMES[place], given, count)).transpose()
    };
    let Some(stiffness) = read(0)? else {
        return Err(Error::value(NAMES[0], "None", "a stiffness of the springs").into());
    };
    Ok(Some(Springs {
        compression: read(1)?.unwrap_or_else(|| stiffness.clone()),
        damping: read(2)?.unwrap_or_else(|| vec![0.0; count]),
        lengths: read(3)?,
        stiffness,
        pairs,
    }))
}

/// One number for each spring, or one for all.
fn number_for_each(name: &str, given: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<f64>> {
    if given.is_instance_of::<PyFloat>() || given.is_instance_of::<pyo3::types::PyInt>() {
        return Ok(vec![number(name, given)?; count]);
    }
    numbers(name, given)
}
