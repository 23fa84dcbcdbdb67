// SPDX-License-Identifier: MIT OR Apache-2.0
//! `weft.Dressing`.

use crate::{
    dressing::{Dressing, lift, open_pairs},
    error::Result,
    python::{
        arrays::vector,
        cloth::PyCloth,
        collider::PyCollider,
        errors::guarded,
        report::PyReport,
        scalars::{flag, instance, instances, number},
        simulation::PySimulation,
    },
    scene::Collider,
    simulation::Simulation,
    vec3::Vec3,
};
use pyo3::{
    exceptions::PyRuntimeError,
    prelude::*,
    types::{PyDict, PyList},
};
use std::sync::{Mutex, MutexGuard};

/// A pre-roll that sews the garments of a simulation together around its colliders.
///
/// Without gravity and friction and in dense air the sewing of every cloth closes, then both act
/// until all is at rest. The simulation may be read meanwhile, and is advanced by nothing else. It
/// goes on from there once is_over; gravity, friction and air are then those from before. Where
/// nothing is sewn, as in garments that were welded once the phase is "settling", all settles.
///
/// Args:
///     simulation (Simulation): Cloths with sewing, where their panels are placed.
///     guards_seams (bool): Whether other cloth is kept out of the strips between both sides of
///         closing seams. Either may lead a garment so that it cannot close; the other may help.
///
/// Raises:
///     TypeError: An object of the wrong type.
#[pyclass(name = "Dressing", module = "weft", frozen)]
pub(in crate::python) struct PyDressing {
    simulation: Py<PySimulation>,
    dressing: Mutex<Dressing>,
}

impl PyDressing {
    /// Runs `work` on a copy, and keeps the copy if it succeeds: a lock held without the GIL would block whoever reads
    /// the phase with the GIL.
    fn change<Value: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Dressing, &mut Simulation) -> Result<Value> + Send,
    ) -> PyResult<Value> {
        let mut dressing = self.locked()?.clone();
        let (dressing, value) = self.simulation.get().compute(py, move |simulation| {
            let value = work(&mut dressing, simulation)?;
            Ok((dressing, value))
        })?;
        *self.locked()? = dressing;
        Ok(value)
    }

    fn locked(&self) -> PyResult<MutexGuard<'_, Dressing>> {
        self.dressing.lock().map_err(|_poisoned| {
            PyRuntimeError::new_err("this dressing was stopped by an internal error")
        })
    }
}

#[pymethods]
impl PyDressing {
    #[new]
    #[pyo3(signature = (simulation, guards_seams=None), text_signature = "(simulation, guards_seams=True)")]
    fn new(
        py: Python<'_>,
        simulation: &Bound<'_, PyAny>,
        guards_seams: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let simulation = instance::<PySimulation>("simulation", simulation)?.unbind();
        let guards = guards_seams.map_or(Ok(true), |given| flag("guards_seams", given))?;
        let dressing =
            simulation.get().compute(py, move |simulation| Dressing::begin(simulation, guards))?;
        Ok(Self { simulation, dressing: Mutex::new(dressing) })
    }

    /// Distance along `up` by which a cloth is best moved before it is dressed: bodies are then
    /// between the fewest of its sewn vertices, and seams close on the side of a limb that is
    /// theirs. 0 where no other height is better; at most 0.2 m.
    ///
    /// Args:
    ///     cloth (Cloth): With sewing, where its panels are placed.
    ///     colliders (sequence of Collider): The bodies.
    ///     up (float64 or float32 array, shape (3,)): Direction, of any length but 0.
    ///
    /// Returns:
    ///     float: The distance, in m.
    ///
    /// Raises:
    ///     TypeError: An object of the wrong type.
    ///     ValueError: A direction that is 0 or not finite.
    #[staticmethod]
    #[pyo3(signature = (cloth, colliders, up=None), text_signature = "(cloth, colliders, up=(0.0, 0.0, 1.0))")]
    fn lift(
        py: Python<'_>,
        cloth: &Bound<'_, PyAny>,
        colliders: &Bound<'_, PyAny>,
        up: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<f64> {
        let cloth = instance::<PyCloth>("cloth", cloth)?.unbind();
        let given = instances::<PyCollider>("colliders", colliders)?;
        let bodies: Vec<&Collider> = given.iter().map(|body| &body.get().0).collect();
        let up = up.map_or(Ok(Vec3::z()), |up| vector("up", up))?;
        py.detach(|| guarded(|| Ok(lift(&cloth.get().0, &bodies, &up)?)))
    }

    /// Simulates, and goes to the next phase where one is done.
    ///
    /// Args:
    ///     duration (float): Length of the frame, in s, more than 0.
    ///
    /// Returns:
    ///     Report: What was done.
    ///
    /// Raises:
    ///     NotFiniteError: As in Simulation.advance.
    ///     ValueError: A duration that Simulation.advance refuses, or the dressing is over.
    fn advance(&self, py: Python<'_>, duration: &Bound<'_, PyAny>) -> PyResult<PyReport> {
        let duration = number("duration", duration)?;
        self.change(py, move |dressing, simulation| dressing.advance(simulation, duration))
            .map(PyReport)
    }

    /// Ends the dressing where it is. The phase is then "open" or "moving", unless it was
    /// over.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, Dressing::cancel)
    }

    /// Pairs of sewn vertices that are farther apart than an eightieth of the mean edge length:
    /// what still has to be closed, or could not be.
    ///
    /// Returns:
    ///     list[dict[str, float]]: For each pair "cloth", its index; "pair", its index in the
    ///         sewing of that cloth, as in PatternMesh.stitch_of_seam; "gap", in m.
    fn open_pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let open = self.simulation.get().compute(py, |simulation| Ok(open_pairs(simulation)))?;
        let list = PyList::empty(py);
        for pair in open {
            let entry = PyDict::new(py);
            entry.set_item("cloth", pair.cloth)?;
            entry.set_item("pair", pair.pair)?;
            entry.set_item("gap", pair.gap)?;
            list.append(entry)?;
        }
        Ok(list)
    }

    /// Phase: "sewing", "settling"; once it is over, "worn", "open" (seams could not be closed
    /// in time) or "moving" (they are closed, but the garment did not come to rest in time).
    #[getter]
    fn phase(&self) -> PyResult<&'static str> {
        Ok(self.locked()?.phase().name())
    }

    /// Whether nothing remains to be done.
    #[getter]
    fn is_over(&self) -> PyResult<bool> {
        Ok(self.locked()?.phase().is_over())
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("<weft.Dressing: {}>", self.phase()?))
    }
}
