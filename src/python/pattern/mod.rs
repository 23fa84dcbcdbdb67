// SPDX-License-Identifier: MIT OR Apache-2.0
//! `weft.Pattern`.

mod dressing;
mod mesh;
mod trimmed;

pub(super) use dressing::PyDressing;
pub(super) use mesh::PyPatternMesh;
pub(super) use trimmed::PyTrimmedMesh;

use crate::{
    error::Error,
    pattern::{
        Dart, EdgeLengthMap, Finding, Format, MeshOptions, PanelCorners, Pattern, PatternMesh,
        Place, Severity, TrimmedMesh, far_panels, findings,
    },
    python::{
        arrays::{indices, numbers, rows, to_array},
        collider::PyCollider,
        errors::{guarded, type_error},
        scalars::{self, dictionary, index, instances, number, text, type_name},
    },
    scene::Collider,
};
use kurbo::Point;
use numpy::PyArray2;
use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};
use std::path::PathBuf;

/// Edge length of a mesh if none is given, in m.
const EDGE_LENGTH: f64 = 0.01;
const FORMATS: [(&str, Format); 3] =
    [("json", Format::Json), ("svg", Format::Svg), ("dxf", Format::Dxf)];

/// A sewing pattern: flat panels, and the stitches between them. Immutable.
///
/// A file of GarmentCode is a pattern; docs/using.md has its fields and those that Weft adds.
/// SVG and DXF-AAMA (ASTM D6673) are read as well. What is malformed is refused when the pattern
/// is read; what cannot be sewn is found by findings().
///
/// Args:
///     text (str): The contents of a file.
///     format (str): "json", "svg" or "dxf".
///
/// Raises:
///     TypeError: An argument that is no str.
///     ValueError: Something malformed, with its panel and edge.
#[pyclass(name = "Pattern", module = "weft", frozen)]
pub(super) struct PyPattern(Pattern);

#[pymethods]
impl PyPattern {
    #[new]
    #[pyo3(signature = (text, *, format=None), text_signature = "(text, *, format=\"json\")")]
    fn new(text: &Bound<'_, PyAny>, format: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let contents = scalars::text("text", text)?;
        let format = read_format(format)?;
        let parse = || Ok(Self(Pattern::parse(&contents, format)?));
        text.py().detach(|| guarded(parse))
    }

    /// Reads a pattern from a file.
    ///
    /// Args:
    ///     path (str | os.PathLike): The file; its name ends in .json, .svg or .dxf.
    ///
    /// Returns:
    ///     Pattern: What it holds.
    ///
    /// Raises:
    ///     OSError: The file cannot be read.
    ///     TypeError: An argument that is no path.
    ///     ValueError: Something malformed, with its panel and edge, or another ending.
    #[staticmethod]
    fn read(path: &Bound<'_, PyAny>) -> PyResult<Self> {
        let file = read_path(path)?;
        path.py().detach(|| guarded(|| Ok(Self(Pattern::read(&file)?))))
    }

    /// Writes the pattern to a file, whole or not at all: JSON with everything, or SVG at 1:1
    /// with grain, notches and names, to cut cloth from.
    ///
    /// Args:
    ///     path (str | os.PathLike): The file; its name ends in .json or .svg.
    ///
    /// Raises:
    ///     OSError: The file cannot be written.
    ///     TypeError: An argument that is no path.
    ///     ValueError: Another ending.
    fn write(&self, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let file = read_path(path)?;
        path.py().detach(|| guarded(|| Ok(self.0.write(&file)?)))
    }

    /// The contents of a file of the pattern.
    ///
    /// Args:
    ///     format (str): "json" or "svg".
    ///
    /// Returns:
    ///     str: The contents.
    ///
    /// Raises:
    ///     ValueError: Another format.
    #[pyo3(signature = (format=None), text_signature = "(format=\"json\")")]
    fn to_text(&self, format: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        Ok(self.0.text(read_format(format)?)?)
    }

    /// Names of the panels, in their order.
    #[getter]
    fn panel_names(&self) -> Vec<&str> {
        self.0.panels.iter().map(|panel| panel.name.as_str()).collect()
    }

    /// The panels, as dicts: "name", "edges" (number of edges of the outline), "cutouts" (their
    /// number), "area" in m², "grain" in degrees from x, "edge_length" in m, "fabric" and "label"
    /// (None where nothing is stated).
    #[getter]
    fn panels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let panels = PyList::empty(py);
        for panel in &self.0.panels {
            let entry = PyDict::new(py);
            entry.set_item("name", &panel.name)?;
            entry.set_item("edges", panel.outline.edges.len())?;
            entry.set_item("cutouts", panel.cutouts.len())?;
            entry.set_item("area", panel.area())?;
            entry.set_item("grain", panel.grain.to_degrees())?;
            entry.set_item("edge_length", panel.edge_length)?;
            entry.set_item("fabric", panel.fabric.as_deref())?;
            entry.set_item("label", panel.label.as_deref())?;
            panels.append(entry)?;
        }
        Ok(panels)
    }

    /// The stitches, as dicts: "panels", "cutouts" (None for the outline) and "edges" of both
    /// sides, "reversed" (whether the start of the first run meets the end of the second),
    /// "lengths" of both runs in m, "ratio" of the first to the second, and "label".
    #[getter]
    fn stitches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let stitches = PyList::empty(py);
        for (place, stitch) in self.0.stitches.iter().enumerate() {
            let [first, second] = &stitch.runs;
            let name = |panel: usize| self.0.panels[panel].name.as_str();
            let entry = PyDict::new(py);
            entry.set_item("panels", (name(first.panel), name(second.panel)))?;
            entry.set_item("cutouts", (first.cutout, second.cutout))?;
            entry.set_item("edges", (first.edges.clone(), second.edges.clone()))?;
            entry.set_item("reversed", stitch.is_reversed)?;
            let lengths = self.0.seam_lengths(place);
            entry.set_item("lengths", (lengths[0], lengths[1]))?;
            entry.set_item("ratio", lengths[0] / lengths[1])?;
            entry.set_item("label", stitch.label.as_deref())?;
            stitches.append(entry)?;
        }
        Ok(stitches)
    }

    /// Points along an edge where its panel is placed in space, to draw it.
    ///
    /// Args:
    ///     panel (str): Name of the panel.
    ///     edge (int): Index of the edge.
    ///     cutout (int | None): Index of the cut-out; None is the outline.
    ///
    /// Returns:
    ///     float64 array, shape (k, 3): The points in m, both ends included.
    ///
    /// Raises:
    ///     ValueError: No such panel, cut-out or edge.
    #[pyo3(signature = (panel, edge, *, cutout=None))]
    fn edge_points<'py>(
        &self,
        py: Python<'py>,
        panel: &Bound<'_, PyAny>,
        edge: &Bound<'_, PyAny>,
        cutout: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let name = text("panel", panel)?;
        let edge = index("edge", edge)?;
        let cutout = cutout.map(|given| index("cutout", given)).transpose()?;
        to_array(py, &self.0.edge_points(&name, cutout, edge)?)
    }

    /// Everything that is wrong with the pattern, or hardly meant.
    ///
    /// Args:
    ///     edge_length (float): Edge length in m that edges count as tiny against.
    ///
    /// Returns:
    ///     list[dict]: For each finding "kind", "severity" ("error" or "warning"), "panel",
    ///         "cutout", "edge", "stitch" (None where it has none) and "message". Kinds are
    ///         "empty", "duplicate_name", "value", "crossing", "degenerate", "outside",
    ///         "tiny_edge", "missing_edge", "broken_run", "stitched_twice", "ratio",
    ///         "mobius_band" and "unstitched".
    #[pyo3(signature = (edge_length=None), text_signature = "(edge_length=0.01)")]
    fn findings<'py>(
        &self,
        py: Python<'py>,
        edge_length: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let edge_length = read_edge_length(edge_length)?;
        let found = py.detach(|| guarded(|| Ok(findings(&self.0, edge_length))))?;
        self.listed(py, &found)
    }

    /// Panels that are far from every collider, whose units or placement are hardly meant.
    ///
    /// Args:
    ///     colliders (sequence of Collider): Bodies that the pattern is to dress.
    ///
    /// Returns:
    ///     list[dict]: As of findings(), of kind "far".
    fn far_panels<'py>(
        &self,
        py: Python<'py>,
        colliders: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let given = instances::<PyCollider>("colliders", colliders)?;
        let bodies: Vec<&Collider> = given.iter().map(|body| &body.get().0).collect();
        let found = py.detach(|| guarded(|| Ok(far_panels(&self.0, &bodies))))?;
        self.listed(py, &found)
    }

    /// The pattern with a dart cut into the outline of a panel, and its legs sewn together. The
    /// edge becomes two with the legs between them; edges behind it are three numbers further
    /// on.
    ///
    /// Args:
    ///     panel (str): Name of the panel.
    ///     edge (int): Index of the edge of its outline, which no stitch has.
    ///     position (float): Middle of the dart along the edge, from 0 at its start to 1 at its
    ///         end.
    ///     width (float): Width at the edge, in m.
    ///     tip (float64 or float32 array, shape (2,)): Tip in m of the panel.
    ///
    /// Returns:
    ///     Pattern: The pattern with it.
    ///
    /// Raises:
    ///     ValueError: No such panel or edge, a dart that does not fit, or an edge that is sewn
    ///         already.
    fn with_dart(
        &self,
        panel: &Bound<'_, PyAny>,
        edge: &Bound<'_, PyAny>,
        position: &Bound<'_, PyAny>,
        width: &Bound<'_, PyAny>,
        tip: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let name = text("panel", panel)?;
        let tip = match numbers("tip", tip)?[..] {
            [x, y] => Point::new(x, y),
            ref other => {
                return Err(Error::value("tip", format!("{} numbers", other.len()), "two").into());
            }
        };
        let dart = Dart {
            edge: index("edge", edge)?,
            position: number("position", position)?,
            width: number("width", width)?,
            tip,
        };
        let mut pattern = self.0.clone();
        pattern.add_dart(&name, &dart)?;
        Ok(Self(pattern))
    }

    /// Meshes all panels: regular cells along the grain, and a strip of triangles along the
    /// outline. Both sides of a stitch get the same number of vertices.
    ///
    /// Args:
    ///     edge_length (float): Length of edges in m, of panels that state none.
    ///     edge_length_factors (dict | None): Painted edge lengths: for names of panels a pair
    ///         of points of the panel in m, shape (n, 2), and factors of its edge length, shape
    ///         (n,), which are interpolated between the points.
    ///
    /// Returns:
    ///     PatternMesh: The mesh.
    ///
    /// Raises:
    ///     ValueError: The first error of findings(), with its panel and edge; an edge length
    ///         that is not more than 0 or too long for a panel.
    #[pyo3(
        signature = (edge_length=None, *, edge_length_factors=None),
        text_signature = "(edge_length=0.01, *, edge_length_factors=None)"
    )]
    fn mesh(
        &self,
        py: Python<'_>,
        edge_length: Option<&Bound<'_, PyAny>>,
        edge_length_factors: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyPatternMesh> {
        let mut options = MeshOptions::new(read_edge_length(edge_length)?);
        if let Some(given) = edge_length_factors {
            for (name, map) in dictionary("edge_length_factors", given)? {
                let name = text("edge_length_factors", &name)?;
                let panel = self.0.checked_panel_index("edge_length_factors", &name)?;
                options.maps.insert(panel, read_map(&map)?);
            }
        }
        let mesh = || Ok(PyPatternMesh(PatternMesh::new(&self.0, &options)?));
        py.detach(|| guarded(mesh))
    }

    /// Meshes all panels with quads between their four sides, along curvilinear coordinates
    /// (Etzmuss 2002, section 2.7). Opposite sides get the same number of vertices, as do both
    /// sides of a stitch, which joins whole sides.
    ///
    /// Args:
    ///     edge_length (float): Length of edges in m, of panels that state none.
    ///     corners (dict | None): For names of panels four indices of outline points, at which the
    ///         sides meet, in the order of the outline. A panel with four edges needs none.
    ///
    /// Returns:
    ///     PatternMesh: The mesh, all of whose triangles are halves of its cells.
    ///
    /// Raises:
    ///     ValueError: The first error of findings(), with its panel and edge; a panel without
    ///         four sides, or with quads that fold over; a stitch of a part of a side; an edge
    ///         length that is not more than 0.
    #[pyo3(
        signature = (edge_length=None, *, corners=None),
        text_signature = "(edge_length=0.01, *, corners=None)"
    )]
    fn curvilinear_mesh(
        &self,
        py: Python<'_>,
        edge_length: Option<&Bound<'_, PyAny>>,
        corners: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyPatternMesh> {
        let length = read_edge_length(edge_length)?;
        let corners = corners.map_or(Ok(PanelCorners::new()), |given| self.read_corners(given))?;
        py.detach(|| {
            guarded(|| Ok(PyPatternMesh(PatternMesh::curvilinear(&self.0, length, &corners)?)))
        })
    }

    /// Inscribes all panels in regular grids of quads along the grain, which carry a visible
    /// mesh (Etzmuss 2002, section 2.7): trimmed surfaces, for the models of particles.
    ///
    /// Args:
    ///     edge_length (float): Length of the sides of cells in m, of panels that state none.
    ///
    /// Returns:
    ///     TrimmedMesh: The grids, and the visible mesh.
    ///
    /// Raises:
    ///     ValueError: The first error of findings(), with its panel and edge; a pattern with
    ///         stitches; a panel with a gap that is narrower than a cell; an edge length that is
    ///         not more than 0.
    #[pyo3(signature = (edge_length=None), text_signature = "(edge_length=0.01)")]
    fn trimmed_mesh(
        &self,
        py: Python<'_>,
        edge_length: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyTrimmedMesh> {
        let length = read_edge_length(edge_length)?;
        py.detach(|| guarded(|| Ok(PyTrimmedMesh(TrimmedMesh::new(&self.0, length)?))))
    }

    fn __repr__(&self) -> String {
        let (panels, stitches) = (self.0.panels.len(), self.0.stitches.len());
        format!("<weft.Pattern: {panels} panels, {stitches} stitches>")
    }
}

impl PyPattern {
    fn read_corners(&self, given: &Bound<'_, PyAny>) -> PyResult<PanelCorners> {
        let argument = "corners";
        let mut corners = PanelCorners::new();
        for (name, points) in dictionary(argument, given)? {
            let panel = self.0.checked_panel_index(argument, &text(argument, &name)?)?;
            let points = indices(argument, &points)?;
            let found = format!("{} points", points.len());
            let four = points.try_into().map_err(|_| Error::value(argument, found, "four"))?;
            corners.insert(panel, four);
        }
        Ok(corners)
    }

    fn listed<'py>(&self, py: Python<'py>, found: &[Finding]) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for finding in found {
            let Place { panel, cutout, edge, stitch } = finding.place;
            let entry = PyDict::new(py);
            entry.set_item("kind", finding.kind.name())?;
            let is_error = finding.severity == Severity::Error;
            entry.set_item("severity", if is_error { "error" } else { "warning" })?;
            let name = panel.and_then(|panel| self.0.panels.get(panel));
            entry.set_item("panel", name.map(|panel| panel.name.as_str()))?;
            entry.set_item("cutout", cutout)?;
            entry.set_item("edge", edge)?;
            entry.set_item("stitch", stitch)?;
            entry.set_item("message", finding.to_string())?;
            list.append(entry)?;
        }
        Ok(list)
    }
}

fn read_edge_length(given: Option<&Bound<'_, PyAny>>) -> PyResult<f64> {
    given.map_or(Ok(EDGE_LENGTH), |given| number("edge_length", given))
}

fn read_format(given: Option<&Bound<'_, PyAny>>) -> PyResult<Format> {
    let Some(given) = given else { return Ok(Format::Json) };
    let name = text("format", given)?;
    let found = FORMATS.iter().find(|(known, _)| *known == name);
    let known = FORMATS.map(|(known, _)| known);
    Ok(found.map(|(_, format)| *format).ok_or_else(|| Error::unknown("format", name, &known))?)
}

fn read_path(given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let wanted = "str or os.PathLike";
    given.extract().map_err(|_| type_error(Error::value("path", type_name(given), wanted)))
}

fn read_map(given: &Bound<'_, PyAny>) -> PyResult<EdgeLengthMap> {
    let wanted = "a pair of points and factors";
    let refused = |_| type_error(Error::value("edge_length_factors", type_name(given), wanted));
    let (points, factors): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
        given.extract().map_err(refused)?;
    let points = rows::<2>("edge_length_factors", &points)?;
    let factors = numbers("edge_length_factors", &factors)?;
    Ok(EdgeLengthMap::new(&points, &factors)?)
}
