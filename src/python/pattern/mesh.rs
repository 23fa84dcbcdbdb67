// SPDX-License-Identifier: MIT OR Apache-2.0
//! `weft.PatternMesh`.

use crate::{
    pattern::PatternMesh,
    python::arrays::{to_array, to_index_array, to_index_list, to_number_rows},
};
use numpy::{PyArray1, PyArray2};
use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};

type Indices<'py> = Bound<'py, PyArray1<i64>>;
type IndexRows<'py> = PyResult<Bound<'py, PyArray2<i64>>>;
type Points<'py> = PyResult<Bound<'py, PyArray2<f64>>>;

/// Triangulated panels of a Pattern, with the vertices that its stitches draw together.
///
/// Cloth takes positions, triangles and uv as they are, seams as its sewing, and flat as its
/// rest positions with a third coordinate of 0.
#[pyclass(name = "PatternMesh", module = "weft", frozen)]
pub(in crate::python) struct PyPatternMesh(pub(super) PatternMesh);

#[pymethods]
impl PyPatternMesh {
    /// Vertices in space where the placement of their panel puts them, in m: float64, shape (n,
    /// 3).
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> Points<'py> {
        to_array(py, &self.0.placed)
    }

    /// Vertices in the plane of their panel, in m: float64, shape (n, 2).
    #[getter]
    fn flat<'py>(&self, py: Python<'py>) -> Points<'py> {
        to_number_rows(py, &self.0.flat)
    }

    /// Vertices in yarn axes, in m: along the warp and along the weft; float64, shape (n,
    /// 2).
    #[getter]
    fn uv<'py>(&self, py: Python<'py>) -> Points<'py> {
        to_number_rows(py, &self.0.uv)
    }

    /// Vertices of each triangle, counter-clockwise seen from the right side: int64, shape (m,
    /// 3).
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> IndexRows<'py> {
        to_index_array(py, &self.0.triangles)
    }

    /// Vertices of each regular cell, which two triangles cut: int64, shape (c, 4).
    #[getter]
    fn cells<'py>(&self, py: Python<'py>) -> IndexRows<'py> {
        to_index_array(py, &self.0.cells)
    }

    /// First of the two triangles of each regular cell, which follow each other: int64, shape
    /// (c,).
    #[getter]
    fn cell_triangles<'py>(&self, py: Python<'py>) -> Indices<'py> {
        to_index_list(py, &self.0.cell_triangles)
    }

    /// Index of the panel of each triangle: int64, shape (m,).
    #[getter]
    fn panel_of_triangle<'py>(&self, py: Python<'py>) -> Indices<'py> {
        to_index_list(py, &self.0.panel_of_triangle)
    }

    /// First vertex of each panel, and the number of all vertices last: int64, shape (panels +
    /// 1,).
    #[getter]
    fn panel_starts<'py>(&self, py: Python<'py>) -> Indices<'py> {
        to_index_list(py, &self.0.panel_starts)
    }

    /// Pairs of vertices to be sewn together, each once, in the order of the stitches: int64,
    /// shape (k, 2).
    #[getter]
    fn seams<'py>(&self, py: Python<'py>) -> IndexRows<'py> {
        let pairs: Vec<[u32; 2]> = self.0.seams.iter().map(|pair| pair.vertices).collect();
        to_index_array(py, &pairs)
    }

    /// Index of the stitch of each pair of seams: int64, shape (k,).
    #[getter]
    fn stitch_of_seam<'py>(&self, py: Python<'py>) -> Indices<'py> {
        let stitches: Vec<u32> = self.0.seams.iter().map(|pair| pair.stitch).collect();
        to_index_list(py, &stitches)
    }

    /// Number of the vertex that each vertex becomes where closed seams are welded, in the order
    /// of the first of each: int64, shape (n,). Cloth takes welded[triangles] as its faces, and
    /// flat[triangles], a row for each corner, as its rest positions.
    #[getter]
    fn welded<'py>(&self, py: Python<'py>) -> Indices<'py> {
        to_index_list(py, &self.0.welded())
    }

    /// Internal lines as dicts: "panel" and "line" (indices), and "vertices" along one piece of
    /// it (int64 array).
    #[getter]
    fn internal_lines<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let lines = PyList::empty(py);
        for line in &self.0.internal_lines {
            let entry = PyDict::new(py);
            entry.set_item("panel", line.panel)?;
            entry.set_item("line", line.line)?;
            entry.set_item("vertices", to_index_list(py, &line.vertices))?;
            lines.append(entry)?;
        }
        Ok(lines)
    }

    /// Figures of the mesh of each panel, as dicts: "min_angle" in degrees; "regular_share",
    /// part of the area in regular cells; "mean_edge_ratio", "min_edge_ratio" and
    /// "max_edge_ratio" of edge lengths over those asked for, diagonals of regular cells left
    /// out.
    #[getter]
    fn quality<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for panel in &self.0.quality {
            let entry = PyDict::new(py);
            entry.set_item("min_angle", panel.min_angle)?;
            entry.set_item("regular_share", panel.regular_share)?;
            entry.set_item("mean_edge_ratio", panel.mean_edge_ratio)?;
            entry.set_item("min_edge_ratio", panel.min_edge_ratio)?;
            entry.set_item("max_edge_ratio", panel.max_edge_ratio)?;
            list.append(entry)?;
        }
        Ok(list)
    }

    fn __repr__(&self) -> String {
        let (vertices, triangles) = (self.0.flat.len(), self.0.triangles.len());
        let seams = self.0.seams.len();
        format!(
            "<weft.PatternMesh: {vertices} vertices, {triangles} triangles, {seams} sewn pairs>"
        )
    }
}
