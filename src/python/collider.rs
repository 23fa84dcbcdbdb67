// SPDX-License-Identifier: MIT OR Apache-2.0
//! `weft.Collider`.

use super::{
    arrays::{FACES, points, read_faces, read_triangles},
    errors::guarded,
    scalars::number,
};
use crate::{mesh::Polygons, scene::Collider};
use pyo3::prelude::*;

/// A moving triangle mesh that cloth does not pass through. It may be open, and it may intersect
/// itself. Immutable: Simulation.set_collider moves it.
///
/// Args:
///     positions (float64 or float32 array, shape (n, 3)): Where the vertices start, in m.
///     triangles (integer array, shape (m, 3), or a sequence of index sequences): Vertices of each
///         triangle.
///     faces (integer array, shape (m, 3) or (m, 4), or a sequence of index sequences, optional):
///         Faces that the triangles cut, those of each face together and in the order of faces.
///         Whoever draws a face that bends may cut it otherwise: cloth is kept off these triangles
///         too, of faces with up to 8 corners.
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
        signature = (positions, triangles, *, faces=None, friction=None, thickness=None),
        text_signature = "(positions, triangles, *, faces=None, friction=0.3, thickness=0.001)"
    )]
    fn new(
        positions: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        faces: Option<&Bound<'_, PyAny>>,
        friction: Option<&Bound<'_, PyAny>>,
        thickness: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = positions.py();
        let positions = points("positions", positions)?;
        let triangles = read_triangles(triangles)?;
        let friction = friction.map_or(Ok(0.3), |given| number("friction", given))?;
        let thickness = thickness.map_or(Ok(0.001), |given| number("thickness", given))?;
        let faces = faces.map(|given| read_faces(FACES, given)).transpose()?;
        let build = || {
            let count = positions.len();
            let collider = Collider::new(positions, &triangles, friction, thickness)?;
            Ok(Self(match faces {
                Some(faces) => {
                    collider.with_faces(Polygons::new(&faces.counts, &faces.corners, count)?)?
                }
                None => collider,
            }))
        };
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
