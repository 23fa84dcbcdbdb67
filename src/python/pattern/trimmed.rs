// SPDX-License-Identifier: MIT OR Apache-2.0
//! `weft.TrimmedMesh`.

use crate::{
    error::Error,
    pattern::TrimmedMesh,
    python::arrays::{points, to_array, to_index_array, to_index_list, to_number_rows},
};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

type Indices<'py> = Bound<'py, PyArray1<i64>>;
type IndexRows<'py> = PyResult<Bound<'py, PyArray2<i64>>>;
type NumberRows<'py> = PyResult<Bound<'py, PyArray2<f64>>>;

/// Regular grids of quads that the panels of a Pattern are inscribed in, and the visible mesh of
/// the panels that they carry (Etzmuss 2002, section 2.7).
///
/// Cloth takes positions, cells as its faces, triangles, uv and corner_coverage as they are, and
/// flat as its rest positions with a third coordinate of 0, for a model of particles. Contact
/// acts on the whole cells, of which the visible mesh is a part.
#[pyclass(name = "TrimmedMesh", module = "weft", frozen)]
pub(in crate::python) struct PyTrimmedMesh(pub(super) TrimmedMesh);

#[pymethods]
impl PyTrimmedMesh {
    /// Vertices of the grids in space where the placement of their panel puts them, in m:
    /// float64, shape (n, 3).
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> NumberRows<'py> {
        to_array(py, &self.0.placed)
    }

    /// Vertices of the grids in the plane of their panel, in m: float64, shape (n, 2).
    #[getter]
    fn flat<'py>(&self, py: Python<'py>) -> NumberRows<'py> {
        to_number_rows(py, &self.0.flat)
    }

    /// Vertices of the grids in yarn axes, in m: along the warp and along the weft; float64,
    /// shape (n, 2).
    #[getter]
    fn uv<'py>(&self, py: Python<'py>) -> NumberRows<'py> {
        to_number_rows(py, &self.0.uv)
    }

    /// Vertices of each cell, counter-clockwise seen from the right side: int64, shape
    /// (c, 4).
    #[getter]
    fn cells<'py>(&self, py: Python<'py>) -> IndexRows<'py> {
        to_index_array(py, &self.0.cells)
    }

    /// Vertices of both triangles of each cell, in the order of the cells: int64, shape
    /// (2c, 3).
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> IndexRows<'py> {
        to_index_array(py, &self.0.triangles)
    }

    /// Part of each corner of each cell that is cloth, more than 0 and at most 1, in the order
    /// of the cells: float64, shape (4c,).
    #[getter]
    fn corner_coverage<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.0.corner_coverage.as_flattened().iter().copied())
    }

    /// Index of the panel of each cell: int64, shape (c,).
    #[getter]
    fn panel_of_cell<'py>(&self, py: Python<'py>) -> Indices<'py> {
        to_index_list(py, &self.0.panel_of_cell)
    }

    /// First vertex of the grid of each panel, and the number of all vertices last: int64, shape
    /// (panels + 1,).
    #[getter]
    fn panel_starts<'py>(&self, py: Python<'py>) -> Indices<'py> {
        to_index_list(py, &self.0.panel_starts)
    }

    /// Visible vertices in the plane of their panel, in m: float64, shape (k, 2).
    #[getter]
    fn visible_flat<'py>(&self, py: Python<'py>) -> NumberRows<'py> {
        to_number_rows(py, &self.0.visible.flat)
    }

    /// Visible vertices in yarn axes, in m: float64, shape (k, 2).
    #[getter]
    fn visible_uv<'py>(&self, py: Python<'py>) -> NumberRows<'py> {
        to_number_rows(py, &self.0.visible.uv)
    }

    /// Vertices of each visible triangle, counter-clockwise seen from the right side: int64,
    /// shape (m, 3). Each triangle lies in one of triangles.
    #[getter]
    fn visible_triangles<'py>(&self, py: Python<'py>) -> IndexRows<'py> {
        to_index_array(py, &self.0.visible.triangles)
    }

    /// First visible vertex of each panel, and the number of all of them last: int64, shape
    /// (panels + 1,).
    #[getter]
    fn visible_panel_starts<'py>(&self, py: Python<'py>) -> Indices<'py> {
        to_index_list(py, &self.0.visible.panel_starts)
    }

    /// Vertices of the triangle of a grid that carries each visible vertex: int64, shape
    /// (k, 3).
    #[getter]
    fn visible_corners<'py>(&self, py: Python<'py>) -> IndexRows<'py> {
        to_index_array(py, &self.0.visible.corners)
    }

    /// Barycentric coordinates of each visible vertex in that triangle: float64, shape
    /// (k, 3).
    #[getter]
    fn visible_weights<'py>(&self, py: Python<'py>) -> NumberRows<'py> {
        to_number_rows(py, &self.0.visible.weights)
    }

    /// Where the visible vertices are.
    ///
    /// Args:
    ///     positions (float64 or float32 array, shape (n, 3)): Where the vertices of the grids
    ///         are, in m.
    ///
    /// Returns:
    ///     float64 array, shape (k, 3): Positions in m.
    ///
    /// Raises:
    ///     TypeError: An array of the wrong dtype.
    ///     ValueError: Not one position for each vertex of the grids.
    fn visible_positions<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'_, PyAny>,
    ) -> NumberRows<'py> {
        let places = points("positions", positions)?;
        let count = self.0.flat.len();
        if places.len() != count {
            let found = format!("{} positions", places.len());
            let wanted = format!("{count}, one for each vertex of the grids");
            return Err(Error::value("positions", found, wanted).into());
        }
        to_array(py, &py.detach(|| self.0.visible.carried_by(&places)))
    }

    fn __repr__(&self) -> String {
        let (cells, visible) = (self.0.cells.len(), self.0.visible.triangles.len());
        format!("<weft.TrimmedMesh: {cells} cells, {visible} visible triangles>")
    }
}
