// SPDX-License-Identifier: MIT OR Apache-2.0
//! `weft.Collider`.

use super::{
    arrays::{FaceKind, points, read_faces},
    errors::guarded,
    scalars::number,
};
use crate::scene::Collider;
use pyo3::prelude::*;

const TRIANGLES: FaceKind = FaceKind {
    argument: "triangles",
    element: "triangle",
    widths: &[3],
    wanted: "integers, shape (m, 3), or a sequence of sequences of three vertex indices",
};

/// A moving triangle mesh that cloth does not pass through. It may be open, and it may intersect
/// itself. Immutable: Simulation.set_collider moves it.
///
/// Args:
///     positions (float64 or float32 array, shape (n, 3)): Where the vertices start, in m.
///     triangles (integer array, shape (m, 3), or a sequence of index sequences): Vertices of each
///         triangle.
///     friction (float): Coulomb coefficient of friction, 0 or more.
///     thickness (float): Contact thickness, in m: the gap that the collider keeps on its side.
///
/// Raises:
///     TypeError: An array of the wrong dtype, or a value that is no number.
///     ValueError: A coordinate that is not finite, an index that is no vertex, a negative value.
#[pyclass(name = "Collider", module = "weft", frozen)]
pub(super) struct PyCollider(pub(super) Collider);

#[pymethods]
impl PyCollider {
    #[new]
    #[pyo3(
        signature = (positions, triangles, *, friction=None, thickness=None),
        text_signature = "(positions, triangles, *, friction=0.3, thickness=0.001)"
    )]
    fn new(
        positions: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        friction: Option<&Bound<'_, PyAny>>,
        thickness: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = positions.py();
        let positions = points("positions", positions)?;
        let triangles = read_triangles(triangles)?;
        let friction = friction.map_or(Ok(0.3), |given| number("friction", given))?;
        let thickness = thickness.map_or(Ok(0.001), |given| number("thickness", given))?;
        let build = || Ok(Self(Collider::new(positions, &triangles, friction, thickness)?));
        py.detach(|| guarded(build))
    }

    /// Number of vertices.
    #[getter]
    fn vertex_count(&self) -> usize {
        self.0.vertex_count()
    }

    fn __repr__(&self) -> String {
        let Collider { friction, thickness, .. } = &self.0;
        let count = self.0.vertex_count();
        format!("<weft.Collider: {count} vertices, friction {friction}, thickness {thickness} m>")
    }
}

fn read_triangles(given: &Bound<'_, PyAny>) -> PyResult<Vec<[usize; 3]>> {
    let read = read_faces(TRIANGLES, given)?;
    if let Some(triangle) = read.counts.iter().position(|count| *count != 3) {
        let found = format!("{} corners", read.counts[triangle]);
        return Err(TRIANGLES.refused(triangle, found, "three corners").into());
    }
    Ok(read.corners.as_chunks::<3>().0.to_vec())
}
