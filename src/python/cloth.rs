// SPDX-License-Identifier: MIT OR Apache-2.0
//! `weft.Cloth`.

use super::{
    arrays::{Corners, FaceKind, numbers, points, read_faces, rows},
    errors::guarded,
    material::PyMaterial,
    scalars::instance,
};
use crate::{
    Cloth, Error,
    mesh::{Polygons, Uv, check_positions},
};
use pyo3::prelude::*;

const FACES: FaceKind = FaceKind {
    argument: "faces",
    element: "face",
    widths: &[3, 4],
    wanted: "integers, shape (m, 3) or (m, 4), or a sequence of sequences of vertex indices",
};

/// A sheet of cloth: triangles, quads, n-gons or a mixture, in one piece or several. Immutable.
///
/// Args:
///     positions (float64 or float32 array, shape (n, 3)): Where the vertices start, in m.
///     faces (integer array, shape (m, 3) or (m, 4), or a sequence of index sequences): Vertices
///         around each face.
///     material (Material): The fabric.
///     rest_positions (float64 or float32 array, shape (n, 3), optional): Undeformed shape, in m;
///         positions where not given.
///     uv (float64 or float32 array, shape (n, 2) or (corners, 2), optional): Yarn axes, in m, per
///         vertex or per face corner; u runs along the warp. Lengths at rest still come from
///         rest_positions. Without uv the warp follows the longest axis of each piece.
///     vertex_mass_scale (float64 or float32 array, shape (n,), optional): Factor on the mass of
///         each vertex, more than 0.
///     rest_scale (float64 or float32 array, shape (n, 2), optional): Factors b_u, b_v on the
///         lengths at rest along warp and weft at each vertex, more than 0: below 1 for cuffs and
///         waistbands, above 1 for fullness. An element takes the mean over its vertices.
///     stiffness_scale (float64 or float32 array, shape (n,), optional): Factor on the stiffness of
///         the springs at each vertex, more than 0. Only models of springs take it.
///     sewing (None): Does not exist yet.
///
/// Raises:
///     TypeError: An array of the wrong dtype, or an object of the wrong type.
///     ValueError: A coordinate that is not finite, an index that is no vertex, a degenerate face,
///         an edge of more than two faces, an array of the wrong shape.
#[pyclass(name = "Cloth", module = "weft", frozen)]
pub(super) struct PyCloth(pub(super) Cloth);

#[pymethods]
impl PyCloth {
    #[new]
    #[pyo3(signature = (
        positions, faces, material, *, rest_positions=None, uv=None, vertex_mass_scale=None,
        rest_scale=None, stiffness_scale=None, sewing=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        positions: &Bound<'_, PyAny>,
        faces: &Bound<'_, PyAny>,
        material: &Bound<'_, PyAny>,
        rest_positions: Option<&Bound<'_, PyAny>>,
        uv: Option<&Bound<'_, PyAny>>,
        vertex_mass_scale: Option<&Bound<'_, PyAny>>,
        rest_scale: Option<&Bound<'_, PyAny>>,
        stiffness_scale: Option<&Bound<'_, PyAny>>,
        sewing: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        if sewing.is_some() {
            let wanted = "None: sewing does not exist yet";
            return Err(Error::value("sewing", "vertex pairs", wanted).into());
        }
        let py = positions.py();
        let positions = points("positions", positions)?;
        check_positions("positions", &positions)?;
        let Corners { counts, corners } = read_faces(FACES, faces)?;
        let polygons = Polygons::new(&counts, &corners, positions.len())?;
        let material = instance::<PyMaterial>("material", material)?.get().0.clone();
        let rest = rest_positions.map(|given| points("rest_positions", given)).transpose()?;
        let uv = uv.map(|given| read_uv(given, positions.len(), &polygons)).transpose()?;
        let factors = |name: &str, given: Option<&Bound<'_, PyAny>>| {
            given.map(|given| numbers(name, given)).transpose()
        };
        let mass_scale = factors("vertex_mass_scale", vertex_mass_scale)?;
        let stiffness_scale = factors("stiffness_scale", stiffness_scale)?;
        let rest_scale = rest_scale.map(|given| rows::<2>("rest_scale", given)).transpose()?;
        py.detach(|| {
            guarded(|| {
                let mut cloth =
                    Cloth::new(positions, &polygons, material, rest.as_deref(), uv.as_ref())?;
                if let Some(scale) = mass_scale {
                    cloth = cloth.with_mass_scale(scale)?;
                }
                if let Some(scale) = rest_scale {
                    cloth = cloth.with_rest_scale(scale)?;
                }
                if let Some(scale) = stiffness_scale {
                    cloth = cloth.with_stiffness_scale(scale)?;
                }
                Ok(Self(cloth))
            })
        })
    }

    /// Number of vertices.
    #[getter]
    fn vertex_count(&self) -> usize {
        self.0.vertex_count()
    }

    fn __repr__(&self) -> String {
        let triangles = self.0.mesh.topology.triangles.len();
        format!("<weft.Cloth: {} vertices, {triangles} triangles>", self.0.vertex_count())
    }
}

/// One coordinate pair per vertex, or per corner where that is another number.
fn read_uv(given: &Bound<'_, PyAny>, vertex_count: usize, polygons: &Polygons) -> PyResult<Uv> {
    let rows = rows::<2>("uv", given)?;
    let corner_count = polygons.corner_count();
    if rows.len() == vertex_count {
        return Ok(Uv::Vertex(rows));
    }
    if rows.len() == corner_count {
        return Ok(Uv::Corner(rows));
    }
    let wanted = format!("{vertex_count}, one per vertex, or {corner_count}, one per face corner");
    Err(Error::value("uv", format!("{} rows", rows.len()), wanted).into())
}
