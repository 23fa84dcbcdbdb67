// SPDX-License-Identifier: MIT OR Apache-2.0
//! `weft.Report`.

use crate::{scene::Report, system::Energy};
use pyo3::{prelude::*, types::PyDict};

/// Account of an advance or a step.
///
/// Cloths that do not touch are advanced independently, with steps of their own: counts and times
/// by stage are sums over these groups.
#[pyclass(name = "Report", module = "weft", frozen)]
pub(super) struct PyReport(pub(super) Report);

#[pymethods]
impl PyReport {
    /// Steps taken.
    #[getter]
    fn steps(&self) -> usize {
        self.0.steps
    }

    /// Steps given up and tried again with a shorter length.
    #[getter]
    fn rejected_steps(&self) -> usize {
        self.0.rejected_steps
    }

    /// Number of rejected steps by the criterion that they violated first; their sum is
    /// rejected_steps. "newton_step": the last Newton step, or update of the fixed-point
    /// solver, is too long at the iteration limit. "stagnation": Newton steps in contact
    /// stopped getting shorter. "force_balance": the net residual force on a cloth in contact
    /// is too large. "force_residual": the residual forces of the fixed-point solver allow too
    /// large an error. "penetration": its displacements are not certified free of
    /// intersections. "linear_solve": conjugate gradients found no descent direction.
    /// "not_finite": overflow. "stretch_change": a linearised step changes the stretch of a
    /// triangle drastically. "truncated_displacement": displacements were truncated to avoid
    /// intersections, which raised the energy. "instability": an explicit scheme throws the
    /// cloth away.
    #[getter]
    fn rejections<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rejections = PyDict::new(py);
        for (reason, count) in self.0.rejections() {
            rejections.set_item(reason, count)?;
        }
        Ok(rejections)
    }

    /// Newton iterations of all steps, or updates of the fixed-point solver.
    #[getter]
    fn newton_iterations(&self) -> usize {
        self.0.newton_iterations
    }

    /// Conjugate gradient iterations of all steps.
    #[getter]
    fn linear_iterations(&self) -> usize {
        self.0.linear_iterations
    }

    /// Pairs that press on each other at the end: a vertex and a triangle, or two edges.
    #[getter]
    fn contacts(&self) -> usize {
        self.0.contacts
    }

    /// Places where surfaces cross, added up over all steps: edges that go through triangles
    /// where a step begins, and pairs that it could not keep from crossing.
    #[getter]
    fn unresolved_contacts(&self) -> usize {
        self.0.unresolved_contacts
    }

    /// Cloth and vertex wherever colliders left the cloth no room and held it at the end.
    #[getter]
    fn pinched_vertices(&self) -> Vec<(usize, usize)> {
        self.0.pinched_vertices.iter().map(|one| (one.cloth, one.vertex)).collect()
    }

    /// The largest residual of any step taken, measured as Settings.tolerance is.
    #[getter]
    fn residual(&self) -> f64 {
        self.0.residual
    }

    /// Whether every step was solved as closely as Settings.tolerance says, and none had to stop
    /// a vertex for good so that it crosses nothing. Where contacts come and go,
    /// eight times the tolerance will do; four times where the equations are linear.
    #[getter]
    fn converged(&self) -> bool {
        self.0.converged
    }

    /// Time by stage of the work, in s; "total" is all of it.
    #[getter]
    fn seconds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let seconds = PyDict::new(py);
        for (stage, time) in self.0.seconds() {
            seconds.set_item(stage, time)?;
        }
        seconds.set_item("total", self.0.total_seconds)?;
        Ok(seconds)
    }

    /// The largest principal stretch of any triangle at the end, less 1, against its lengths at
    /// rest as rest_scale makes them.
    #[getter]
    fn max_stretch(&self) -> f64 {
        self.0.max_stretch
    }

    fn __repr__(&self) -> String {
        let Report { steps, rejected_steps, newton_iterations, contacts, .. } = &self.0;
        let outcome = if self.0.converged { "converged" } else { "not converged" };
        format!(
            "<weft.Report: {steps} steps ({rejected_steps} rejected), {newton_iterations} Newton and {} \
             linear iterations, {contacts} contacts, residual {:.3e} ({outcome}), largest stretch \
             {:.3} %, {:.3} s>",
            self.0.linear_iterations,
            self.0.residual,
            100.0 * self.0.max_stretch,
            self.0.total_seconds,
        )
    }
}

/// Energies by name; those of seams and soft pins where there are any.
pub(super) fn energies<'py>(
    py: Python<'py>,
    energy: &Energy,
    has_springs: [bool; 2],
) -> PyResult<Bound<'py, PyDict>> {
    let energies = PyDict::new(py);
    energies.set_item("kinetic", energy.kinetic)?;
    energies.set_item("stretch", energy.stretch)?;
    energies.set_item("shear", energy.shear)?;
    energies.set_item("bend", energy.bend)?;
    let of_springs = [("sewing", energy.sewing), ("pins", energy.pins)];
    for ((name, value), _) in of_springs.into_iter().zip(has_springs).filter(|(_, has)| *has) {
        energies.set_item(name, value)?;
    }
    energies.set_item("gravity", energy.gravity)?;
    energies.set_item("total", energy.total())?;
    Ok(energies)
}
